// Report: what a sweep found, decided and did.
#ifndef BERTH_REAPER_REPORT_H_
#define BERTH_REAPER_REPORT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "reaper/decide.h"
#include "runtime/record/identity.h"

namespace berth::reaper {

enum class Result : uint8_t {
  kNothing,    // nothing was to be done, or it was a dry run
  kDone,       // and proven
  kFailed,     // see error
  kOutOfTime,  // not begun
};

struct Item {
  std::string kind =
      {};               // "session", "record", "lease", "port", "socket", "cgroup", "container", …
  std::string id = {};  // uid, file name, path
  std::string name = {};  // of a session; else ""
  Verdict verdict = Verdict::kKeep;
  std::string deed = {};                   // what was done or, in a dry run, would be
  std::vector<std::string> because = {};   // of the decision; the last line decided
  std::vector<std::string> evidence = {};  // what was seen
  Result result = Result::kNothing;
  absl::Status error = absl::OkStatus();
};

struct Report {
  std::string state_dir;
  bool dry_run = false;     // nothing was done, only planned
  std::vector<Item> items;  // all but what is kept; that too if it was asked for
  int sessions = 0;         // that there were at the beginning
  int kept = 0, done = 0, doubts = 0, failed = 0, out_of_time = 0, planned = 0;
  int passes = 0;
  absl::Duration took;
  std::vector<Identity> living;  // when one of these ends there may be something to do

  // Counts it in, and keeps it unless it is an uninteresting one.
  void Add(Item item, bool show_kept);
};

// What the program's end says. Part of the command line's contract: docs/reaper.md.
inline constexpr int kExitNothing = 0;   // there was nothing to do
inline constexpr int kExitDone = 10;     // all that was to do is done (or would be: dry run)
inline constexpr int kExitPartial = 11;  // something could not be done, or time ran out
inline constexpr int kExitDoubt = 12;    // something is left alone because its state is not known
int ExitCodeOf(const Report& report);

absl::string_view ResultName(Result result);

// For people: a line for each item, and a summary. `evidence`: with everything that was seen.
std::string ToText(const Report& report, bool evidence, bool colour);
// One JSON object, without a line end.
std::string ToJson(const Report& report);
// The report of a sweep that another process did. InvalidArgument if it is none.
absl::StatusOr<Report> ReportFromJson(absl::string_view json);
// Prometheus text format, for a collector of text files.
std::string ToMetrics(const std::vector<Report>& reports, absl::Time now);

}  // namespace berth::reaper

#endif  // BERTH_REAPER_REPORT_H_
