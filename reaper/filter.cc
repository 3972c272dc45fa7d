#include "reaper/filter.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "re2/re2.h"
#include "runtime/record/record.h"
#include "runtime/record/session_name.h"

namespace berth::reaper {

absl::StatusOr<Filter> Filter::Make(const std::vector<std::string>& only,
                                    const std::vector<std::string>& except) {
  Filter filter;
  RE2::Options options;
  options.set_log_errors(false);
  for (const auto& [texts, expressions] :
       {std::pair(&only, &filter.only_), std::pair(&except, &filter.except_)}) {
    for (const std::string& text : *texts) {
      auto expression = std::make_shared<const RE2>(text, options);
      if (!expression->ok()) {
        return absl::InvalidArgumentError(
            absl::StrCat("expression ", ShowText(text), ": ", expression->error()));
      }
      expressions->push_back(std::move(expression));
    }
  }
  return filter;
}

bool Filter::Matches(const Expressions& expressions, const Record& record) {
  for (const auto& expression : expressions) {
    if (RE2::PartialMatch(record.name, *expression)) return true;
    for (const auto& [key, value] : record.labels) {
      if (RE2::PartialMatch(absl::StrCat(key, "=", value), *expression)) return true;
    }
  }
  return false;
}

bool Filter::Chooses(const Record& record) const {
  return (only_.empty() || Matches(only_, record)) && !Matches(except_, record);
}

bool Filter::ChoosesUnnamed(absl::string_view id) const {
  for (const auto& expression : except_) {
    if (RE2::PartialMatch(id, *expression)) return false;
  }
  return only_.empty();
}

}  // namespace berth::reaper
