// SignalFd: signals as something to wait for. From its making on they do not end berth, not on its
// last steps either: what berth tidies up then must not be left behind, and how it ends is decided.
//
// Make it before anything that must not be left behind. Signals that the caller ignores (nohup)
// stay ignored.
#ifndef BERTH_TOOLS_BERTH_SIGNAL_FD_H_
#define BERTH_TOOLS_BERTH_SIGNAL_FD_H_

#include <memory>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "sandbox/base/unique_fd.h"

namespace berth::cli {

class SignalFd {
 public:
  // What a person or a supervisor sends to a program in the foreground, and SIGWINCH.
  static absl::StatusOr<std::unique_ptr<SignalFd>> Create();
  SignalFd(const SignalFd&) = delete;
  SignalFd& operator=(const SignalFd&) = delete;

  int fd() const { return fd_.get(); }
  // The next one that came, or nothing at once.
  std::optional<int> Next();
  // The same without SIGWINCH, which asks nobody to end.
  std::optional<int> NextThatEnds();

 private:
  SignalFd() = default;

  UniqueFd fd_;
};

}  // namespace berth::cli

#endif  // BERTH_TOOLS_BERTH_SIGNAL_FD_H_
