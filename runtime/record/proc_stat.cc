#include "runtime/record/proc_stat.h"

#include <optional>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"

namespace berth {

std::optional<ProcStat> ParseProcStat(absl::string_view text) {
  // No field after the comm holds a parenthesis, so the last one ends it.
  const size_t end = text.rfind(')');
  if (end == absl::string_view::npos || end + 2 > text.size()) return std::nullopt;
  const std::vector<absl::string_view> fields =
      absl::StrSplit(text.substr(end + 1), absl::ByAnyChar(" \n"), absl::SkipEmpty());
  // fields[0] is field 3.
  if (fields.size() < 20 || fields[0].size() != 1) return std::nullopt;
  ProcStat stat;
  stat.state = fields[0][0];
  if (!absl::SimpleAtoi(fields[17], &stat.threads)) return std::nullopt;
  if (!absl::SimpleAtoi(fields[19], &stat.start_time)) return std::nullopt;
  return stat;
}

}  // namespace berth
