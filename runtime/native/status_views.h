// StatusViews: what keepers show of their sessions, looked at without waking them. For a program
// that lists many sessions again and again; each keeper is asked for its page once.
//
// A page tells what its keeper said last. It counts only if that keeper is proven, after the
// reading, to run and to be neither stopped nor stuck, and the session's main process not to have
// ended since; whatever else there may be to say is found out by asking.
// What cannot be seen here: a keeper held by the freezer of cgroup v2 looks as if it slept.
//
// Threads: any, at once.
#ifndef BERTH_RUNTIME_NATIVE_STATUS_VIEWS_H_
#define BERTH_RUNTIME_NATIVE_STATUS_VIEWS_H_

#include <stddef.h>

#include <optional>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/synchronization/mutex.h"
#include "runtime/record/identity.h"
#include "runtime/record/record.h"
#include "sandbox/base/unique_fd.h"
#include "sandbox/launcher/status_page.h"

namespace berth {

class StatusViews {
 public:
  // Nothing: ask the keeper.
  std::optional<launcher::Status> Read(const Record& record, const IdentityChecker& checker);
  // The page that its keeper has given.
  void Add(const Record& record, const UniqueFd& page);
  // `records` are all that there are of one backend: forgets its others.
  void KeepOnly(const std::vector<Record>& records);

 private:
  // A mapping each, of the 65530 that a process may have.
  static constexpr size_t kMost = 8192;

  struct Entry {
    std::string backend;
    Identity keeper;
    launcher::StatusView view;
  };

  absl::Mutex mutex_;
  absl::flat_hash_map<std::string, Entry> entries_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace berth

#endif  // BERTH_RUNTIME_NATIVE_STATUS_VIEWS_H_
