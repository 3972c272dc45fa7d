// An image that an engine does not have yet, brought to it while the person sees how far it is.
#ifndef BERTH_TOOLS_BERTH_PULL_H_
#define BERTH_TOOLS_BERTH_PULL_H_

#include <functional>
#include <string>

#include "absl/status/status.h"

namespace berth::cli {

// Nothing if the engine has it. `go_on` is asked as the pull goes on; false gives it up: Cancelled.
// On a terminal one line of standard error shows the progress, elsewhere a line says that it
// begins.
absl::Status PullMissing(const std::string& image, const std::function<bool()>& go_on);

}  // namespace berth::cli

#endif  // BERTH_TOOLS_BERTH_PULL_H_
