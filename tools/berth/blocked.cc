#include "tools/berth/blocked.h"

#include <stdint.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "sandbox/violation.h"
#include "tools/berth/output.h"

namespace berth::cli {

std::string DescribeBlocked(const std::vector<Violation>& violations, size_t most) {
  std::vector<std::pair<std::string, int>> lines;  // in the order in which they came
  for (const Violation& violation : violations) {
    // A program chose these words: names of hosts, for one.
    std::string line = Printable(berth::Describe(violation));
    const auto same = std::find_if(lines.begin(), lines.end(),
                                   [&](const auto& other) { return other.first == line; });
    if (same == lines.end()) {
      lines.emplace_back(std::move(line), 1);
    } else {
      ++same->second;
    }
  }
  std::string text;
  size_t told = 0;
  int64_t told_violations = 0;
  for (const auto& [line, times] : lines) {
    if (told++ == most) break;
    told_violations += times;
    absl::StrAppend(&text, text.empty() ? "" : "\n", "berth: ", line,
                    times > 1 ? absl::StrCat(", ", times, " times") : "");
  }
  // Those that were too many to be kept are known by their numbers.
  const int64_t all =
      violations.empty()
          ? 0
          : std::max<int64_t>(violations.back().number, static_cast<int64_t>(violations.size()));
  if (all > told_violations) {
    absl::StrAppend(&text, "\nberth: and ", all - told_violations, " more");
  }
  return text;
}

void ReportBlocked(const std::vector<Violation>& violations) {
  const std::string text = DescribeBlocked(violations);
  if (!text.empty()) Note(text);
}

}  // namespace berth::cli
