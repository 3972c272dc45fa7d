// Running the embedded helper from a host of any size and any number of threads.
#ifndef BERTH_SANDBOX_LAUNCHER_START_HELPER_H_
#define BERTH_SANDBOX_LAUNCHER_START_HELPER_H_

#include <string>

#include "absl/status/statusor.h"
#include "sandbox/base/beside.h"
#include "sandbox/base/unique_fd.h"

namespace berth::launcher {

// For a program that starts its only helper soon: gets it ready beside what else is done while this
// lives. The next StartHelper takes it. One at a time.
class HelperAhead {
 public:
  HelperAhead();
  ~HelperAhead();
  // What is ready, or a new one.
  static absl::StatusOr<UniqueFd> Take();

 private:
  absl::StatusOr<UniqueFd> image_;
  Beside making_;
};

// Runs the helper in launcher mode. Returns the other end of its control socket. It is not a child
// of this process. `tag` is in the name of the cgroup that it makes.
absl::StatusOr<UniqueFd> StartHelper(const std::string& tag);

}  // namespace berth::launcher

#endif  // BERTH_SANDBOX_LAUNCHER_START_HELPER_H_
