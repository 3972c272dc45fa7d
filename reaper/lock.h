// One reaper at a time in a state directory: the file reaper.lock, locked for as long as the object
// lives or its process does.
#ifndef BERTH_REAPER_LOCK_H_
#define BERTH_REAPER_LOCK_H_

#include <utility>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "runtime/record/state_dir.h"
#include "sandbox/base/unique_fd.h"

namespace berth::reaper {

class Lock {
 public:
  // Aborted, naming who has it, if another reaper did not finish until `deadline`.
  static absl::StatusOr<Lock> Take(const StateDir& dir, absl::Time deadline);

  Lock(Lock&&) = default;
  Lock& operator=(Lock&&) = delete;
  ~Lock();

 private:
  explicit Lock(UniqueFd file) : file_(std::move(file)) {}
  UniqueFd file_;
};

}  // namespace berth::reaper

#endif  // BERTH_REAPER_LOCK_H_
