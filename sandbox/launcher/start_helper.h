// Running the embedded helper from a host of any size and any number of threads.
#ifndef BERTH_SANDBOX_LAUNCHER_START_HELPER_H_
#define BERTH_SANDBOX_LAUNCHER_START_HELPER_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "sandbox/base/unique_fd.h"

namespace berth::launcher {

// Runs the helper in launcher mode. Returns the other end of its control socket. It is not a child
// of this process, unless it was offered. `tag` is in the name of the cgroup that it makes.
absl::StatusOr<UniqueFd> StartHelper(const std::string& tag);

// For a program that has a launcher already (forked.h): the next StartHelper takes that.
void OfferHelper(UniqueFd control);
// It is not to be taken any more, and hears so if it was not.
void WithdrawHelper();

// The helper's program, or any, in a sealed memfd. Not ok(): errno.
UniqueFd SealedHelper();
UniqueFd SealedProgram(const char* name, absl::string_view program);

}  // namespace berth::launcher

#endif  // BERTH_SANDBOX_LAUNCHER_START_HELPER_H_
