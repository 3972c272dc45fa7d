// The reaper's watch.

#include <poll.h>
#include <stddef.h>
#include <stdint.h>

#include <memory>
#include <string>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/status/status.h"
#include "absl/status/status_macros.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "capi/berth.h"
#include "capi/boundary.h"
#include "capi/handles.h"
#include "capi/objects.h"
#include "capi/sweep_objects.h"
#include "reaper/engine.h"
#include "reaper/engines.h"
#include "reaper/report.h"
#include "reaper/watch.h"
#include "runtime/record/store.h"
#include "sandbox/base/wait_fd.h"

namespace berth::capi {
namespace {

struct SweepWatchObject {
  static constexpr Kind kKind = Kind::kSweepWatch;
  std::unique_ptr<Store> store;
  reaper::Engines engines;
  std::unique_ptr<reaper::Watcher> watcher;
  Turns turns;  // to wait and sweep
};

// Waits until the watch has something to do and has it done. Whether a sweep was made: then it is
// in `report`.
absl::StatusOr<bool> DoNext(reaper::Watcher& watcher, absl::Time deadline,
                            absl::StatusOr<reaper::Report>* report) {
  ABSL_RETURN_IF_ERROR(WaitFd(watcher.fd(), POLLIN, deadline, "wait for something to happen"));
  bool swept = false;
  const absl::Status watched = watcher.Next([&](const absl::StatusOr<reaper::Report>& told) {
    *report = told;
    swept = true;
  });
  if (watched.ok() || absl::IsCancelled(watched)) {
    ABSL_RETURN_IF_ERROR(watched);
    return swept;
  }
  return absl::FailedPreconditionError(watched.message());
}

}  // namespace
}  // namespace berth::capi

using namespace berth::capi;  // NOLINT: see spec.cc
namespace reaper = ::berth::reaper;

int32_t berth_sweep_watch_new(berth_sweep_watch** watch, const char* state_dir,
                              size_t state_dir_size, const berth_sweep_options* options,
                              berth_error** error) {
  return Guard(error, [&]() -> absl::Status {
    ABSL_RETURN_IF_ERROR(CheckOut(watch, "watch"));
    ABSL_ASSIGN_OR_RETURN(const SweepOptionsObject how, GetSweepOptions(options));
    ABSL_ASSIGN_OR_RETURN(const absl::string_view path,
                          Text(state_dir, state_dir_size, "state_dir"));
    auto object = std::make_shared<SweepWatchObject>();
    ABSL_ASSIGN_OR_RETURN(object->store, berth::Store::Open(std::string(path)));
    object->engines = reaper::MakeEngines();
    ABSL_ASSIGN_OR_RETURN(object->watcher, reaper::Watcher::Make(*object->store, how.options,
                                                                 how.watch, object->engines));
    return Put(std::move(object), watch);
  });
}

int32_t berth_sweep_watch_fd(int32_t* fd, berth_sweep_watch* watch, berth_error** error) {
  return Guard(error, [&]() -> absl::Status {
    ABSL_RETURN_IF_ERROR(CheckOut(fd, "fd"));
    ABSL_ASSIGN_OR_RETURN(const auto object, Get<SweepWatchObject>(watch, "watch"));
    return PutFdCopy(object->watcher->fd(), fd);
  });
}

int32_t berth_sweep_watch_next(berth_sweep_report** report, berth_sweep_watch* watch,
                               int64_t timeout_ms, berth_error** error) {
  return Guard(error, [&]() -> absl::Status {
    ABSL_RETURN_IF_ERROR(CheckOut(report, "report"));
    ABSL_ASSIGN_OR_RETURN(const auto object, Get<SweepWatchObject>(watch, "watch"));
    ABSL_ASSIGN_OR_RETURN(const absl::Time deadline, Deadline(timeout_ms));
    if (!object->turns.Take(deadline)) {
      *report = nullptr;
      return absl::OkStatus();
    }
    const absl::Cleanup give_back = [&] { object->turns.GiveBack(); };
    absl::StatusOr<reaper::Report> swept;
    absl::StatusOr<bool> did = false;
    while (did.ok() && !*did) did = DoNext(*object->watcher, deadline, &swept);
    if (absl::IsDeadlineExceeded(did.status())) {
      *report = nullptr;
      return absl::OkStatus();
    }
    ABSL_RETURN_IF_ERROR(did.status());
    ABSL_RETURN_IF_ERROR(swept.status());
    return PutReport(*std::move(swept), report);
  });
}

int32_t berth_sweep_watch_stop(berth_sweep_watch* watch, berth_error** error) {
  return Guard(error, [&]() -> absl::Status {
    ABSL_ASSIGN_OR_RETURN(const auto object, Get<SweepWatchObject>(watch, "watch"));
    object->watcher->Stop();
    return absl::OkStatus();
  });
}

void berth_sweep_watch_free(berth_sweep_watch* watch) {
  // Those who wait on other threads let go of it then.
  const std::shared_ptr<SweepWatchObject> object = Handles::Find<SweepWatchObject>(watch);
  if (object != nullptr) object->watcher->Stop();
  Handles::Remove<SweepWatchObject>(watch);
}
