#include "runtime/record/proc_stat.h"

#include <optional>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"

namespace berth {

std::optional<ProcStat> ParseProcStat(absl::string_view text) {
  // No field after the comm holds a parenthesis, so the last one ends it.
  const size_t end = text.rfind(')');
  if (end == absl::string_view::npos || end + 2 > text.size()) return std::nullopt;
  ProcStat stat;
  int number = 3;
  // Not beyond the last one that is wanted: there are fifty, and this is read for each of hundreds
  // of sessions.
  for (const absl::string_view field :
       absl::StrSplit(text.substr(end + 1), ' ', absl::SkipEmpty())) {
    if (number == 3) {
      if (field.size() != 1) return std::nullopt;
      stat.state = field[0];
    } else if (number == 20) {
      if (!absl::SimpleAtoi(field, &stat.threads)) return std::nullopt;
    } else if (number == 22) {
      if (!absl::SimpleAtoi(field, &stat.start_time)) return std::nullopt;
      return stat;
    }
    ++number;
  }
  return std::nullopt;
}

}  // namespace berth
