// Filter: which sessions a sweep is about, by regular expressions (RE2) that are looked for
// anywhere in a session's name and in its labels, each as "key=value".
//
//   ABSL_ASSIGN_OR_RETURN(Filter filter, Filter::Make({"^ci-"}, {"keep=yes"}));
//
// Cheap to copy. Thread-safe.
#ifndef BERTH_REAPER_FILTER_H_
#define BERTH_REAPER_FILTER_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "re2/re2.h"
#include "runtime/record/record.h"

namespace berth::reaper {

class Filter {
 public:
  Filter() = default;  // chooses everything
  // InvalidArgument, naming it, at an expression that is none.
  static absl::StatusOr<Filter> Make(const std::vector<std::string>& only,
                                     const std::vector<std::string>& except);

  // One of `only` matches (or there is none of them), and none of `except` does.
  bool Chooses(const Record& record) const;
  // Something that has no name, only an id: never where `only` is given.
  bool ChoosesUnnamed(absl::string_view id) const;

 private:
  using Expressions = std::vector<std::shared_ptr<const RE2>>;
  static bool Matches(const Expressions& expressions, const Record& record);

  Expressions only_, except_;
};

}  // namespace berth::reaper

#endif  // BERTH_REAPER_FILTER_H_
