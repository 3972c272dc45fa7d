#include "reaper/cli/sweep_command.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/status_macros.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "reaper/cli/options.h"
#include "reaper/engines.h"
#include "reaper/report.h"
#include "reaper/sweep.h"
#include "reaper/users.h"
#include "reaper/watch.h"
#include "runtime/record/store.h"
#include "sandbox/base/errno_status.h"
#include "sandbox/base/unique_fd.h"

namespace berth::reaper {
namespace {

constexpr int kExitFailed = 125;

bool WantsColour() {
  const char* term = getenv("TERM");
  const char* no = getenv("NO_COLOR");
  return isatty(STDOUT_FILENO) != 0 && (no == nullptr || *no == '\0') &&
         (term == nullptr || strcmp(term, "dumb") != 0);
}

absl::Status Print(absl::string_view text) {
  if (fwrite(text.data(), 1, text.size(), stdout) != text.size() || fflush(stdout) != 0) {
    return ErrnoStatus(errno, "write to standard output");
  }
  return absl::OkStatus();
}

// Whole or not at all: a collector may read it at any time.
absl::Status WriteMetrics(const std::string& path, const std::vector<Report>& reports) {
  const std::string temporary = absl::StrCat(path, ".", getpid(), ".tmp");
  const std::string text = ToMetrics(reports, absl::Now());
  const UniqueFd file(
      open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644));
  if (!file.ok()) return ErrnoStatus(errno, absl::StrCat("make '", temporary, "'"));
  if (write(file.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size()) ||
      rename(temporary.c_str(), path.c_str()) != 0) {
    const absl::Status failed = ErrnoStatus(errno, absl::StrCat("write '", path, "'"));
    unlink(temporary.c_str());
    return failed;
  }
  return absl::OkStatus();
}

absl::StatusOr<Report> SweepDir(const std::string& dir, const Options& options) {
  ABSL_ASSIGN_OR_RETURN(const std::unique_ptr<Store> store, Store::Open(dir));
  return Sweep(*store, options, MakeEngines());
}

// In a process of its own, as that user. `dir` "": where that user has it, if there is one.
absl::StatusOr<Report> SweepAs(const User& user, const std::string& dir, const Options& options) {
  ABSL_ASSIGN_OR_RETURN(const std::string answer,
                        RunAs(
                            user,
                            [&]() -> std::string {
                              const absl::StatusOr<Report> report = SweepDir(dir, options);
                              return report.ok() ? ToJson(*report)
                                                 : absl::StrCat("!", report.status().message());
                            },
                            absl::Now() + options.lock_wait + options.time + absl::Minutes(1)));
  if (answer.starts_with('!')) {
    return absl::FailedPreconditionError(absl::StrCat(user.name, ": ", answer.substr(1)));
  }
  return ReportFromJson(answer);
}

struct Sum {
  std::vector<Report> reports;
  int code = kExitNothing;
};

// The worst that happened tells the exit code.
void Count(int code, Sum* sum) {
  const auto rank = [](int each) {
    constexpr int kOrder[] = {kExitNothing, kExitDone,    kExitDoubt,
                              kExitBusy,    kExitPartial, kExitFailed};
    return std::find(std::begin(kOrder), std::end(kOrder), each) - std::begin(kOrder);
  };
  if (rank(code) > rank(sum->code)) sum->code = code;
}

void Take(absl::StatusOr<Report> report, Sum* sum) {
  if (report.ok()) {
    Count(ExitCodeOf(*report), sum);
    sum->reports.push_back(*std::move(report));
    return;
  }
  fprintf(stderr, "berth-reaper: %s\n", std::string(report.status().message()).c_str());
  Count(absl::IsAborted(report.status()) ? kExitBusy : kExitFailed, sum);
}

absl::Status Show(const SweepFlags& flags, const std::vector<Report>& reports, bool one) {
  const bool dry = flags.options.dry_run;
  if (flags.json) {
    const std::string all = absl::StrJoin(
        reports, ",\n", [](std::string* out, const Report& each) { *out += ToJson(each); });
    return Print(one && reports.size() == 1 ? all + "\n" : absl::StrCat("[", all, "]\n"));
  }
  std::string text;
  for (const Report& report : reports) {
    if (flags.quiet && ExitCodeOf(report) == kExitNothing) continue;
    text += ToText(report, dry || flags.options.show_kept, WantsColour());
  }
  return Print(text);
}

}  // namespace

absl::StatusOr<int> RunSweep(const SweepFlags& flags) {
  Sum sum;
  if (flags.all_users) {
    for (const User& user : UsersWithState()) Take(SweepAs(user, "", flags.options), &sum);
  } else if (flags.state_dirs.empty()) {
    Take(SweepDir("", flags.options), &sum);
  }
  for (const std::string& dir : flags.state_dirs) {
    const absl::StatusOr<User> owner = OwnerOfDir(dir);
    if (!owner.ok()) {
      Take(owner.status(), &sum);
    } else if (owner->uid != geteuid() && geteuid() == 0) {
      Take(SweepAs(*owner, dir, flags.options), &sum);
    } else {
      Take(SweepDir(dir, flags.options), &sum);
    }
  }
  ABSL_RETURN_IF_ERROR(Show(flags, sum.reports, !flags.all_users && flags.state_dirs.size() < 2));
  if (!flags.metrics.empty()) {
    ABSL_RETURN_IF_ERROR(WriteMetrics(flags.metrics, sum.reports));
  }
  return sum.code;
}

absl::StatusOr<int> RunExplain(const SweepFlags& flags, const std::string& id) {
  if (flags.all_users || flags.state_dirs.size() > 1) {
    return absl::InvalidArgumentError("--explain looks at one state directory");
  }
  ABSL_ASSIGN_OR_RETURN(const std::unique_ptr<Store> store,
                        Store::Open(flags.state_dirs.empty() ? "" : flags.state_dirs.front()));
  Report report;
  report.state_dir = store->dir().path();
  report.dry_run = true;
  ABSL_ASSIGN_OR_RETURN(Item item, Explain(*store, id, flags.options, MakeEngines()));
  report.Add(std::move(item), true);
  ABSL_RETURN_IF_ERROR(
      Print(flags.json ? ToJson(report) + "\n" : ToText(report, true, WantsColour())));
  return ExitCodeOf(report);
}

absl::StatusOr<int> RunWatch(const SweepFlags& flags, const WatchOptions& watch) {
  if (flags.all_users || flags.state_dirs.size() > 1) {
    return absl::InvalidArgumentError(
        "watch looks at one state directory: run one watch for each, as its user");
  }
  sigset_t mask;
  sigemptyset(&mask);
  for (const int each : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&mask, each);
  sigprocmask(SIG_BLOCK, &mask, nullptr);
  const UniqueFd stop(signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!stop.ok()) return ErrnoStatus(errno, "signalfd");
  ABSL_ASSIGN_OR_RETURN(const std::unique_ptr<Store> store,
                        Store::Open(flags.state_dirs.empty() ? "" : flags.state_dirs.front()));
  // One descriptor for each owner and each keeper that lives.
  if (rlimit files; getrlimit(RLIMIT_NOFILE, &files) == 0) {
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
  }
  ABSL_RETURN_IF_ERROR(Watch(*store, flags.options, watch, MakeEngines(), stop.get(),
                             [&](const absl::StatusOr<Report>& report) {
                               Sum sum;
                               Take(report, &sum);
                               const bool dull =
                                   sum.reports.empty() || sum.reports[0].items.empty();
                               // One that has nothing to tell is not told of.
                               if (!dull) Show(flags, sum.reports, true).IgnoreError();
                               if (!flags.metrics.empty() && !sum.reports.empty()) {
                                 const absl::Status written =
                                     WriteMetrics(flags.metrics, sum.reports);
                                 if (!written.ok()) Take(written, &sum);
                               }
                             }));
  return kExitNothing;
}

}  // namespace berth::reaper
