// Starting `tmux -C`, and with it a server if there is none.
#ifndef BERTH_RUNTIME_TMUX_START_CONTROL_H_
#define BERTH_RUNTIME_TMUX_START_CONTROL_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "sandbox/base/unique_fd.h"
#include "sandbox/launcher/client.h"

namespace berth::tmux {

struct ControlProcess {
  UniqueFd socket;  // its standard input and output
  UniqueFd errors;  // its standard error
  UniqueFd life;    // it is killed when this is closed
};

// Runs `argv` outside of every tree that ends with this program: a server that it starts stays.
// NotFound if there is no such program.
absl::StatusOr<ControlProcess> StartControl(launcher::LauncherClient& launcher,
                                            const std::string& cwd,
                                            const std::vector<std::string>& argv,
                                            const std::vector<std::string>& env);

}  // namespace berth::tmux

#endif  // BERTH_RUNTIME_TMUX_START_CONTROL_H_
