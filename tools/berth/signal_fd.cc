#include "tools/berth/signal_fd.h"

#include <errno.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <memory>
#include <optional>

#include "absl/memory/memory.h"
#include "absl/status/statusor.h"
#include "sandbox/base/errno_status.h"

namespace berth::cli {

absl::StatusOr<std::unique_ptr<SignalFd>> SignalFd::Create() {
  auto signals = absl::WrapUnique(new SignalFd);
  sigset_t wanted;
  sigemptyset(&wanted);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGWINCH}) {
    struct sigaction now;
    // A blocked signal is kept even if it is ignored: one that the caller ignores must stay out of
    // this.
    if (sigaction(signal, nullptr, &now) == 0 && now.sa_handler != SIG_IGN) {
      sigaddset(&wanted, signal);
    }
  }
  sigprocmask(SIG_BLOCK, &wanted, nullptr);
  signals->fd_ = UniqueFd(signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!signals->fd_.ok()) return ErrnoStatus(errno, "make a descriptor for signals");
  return signals;
}

std::optional<int> SignalFd::Next() {
  signalfd_siginfo info;
  if (read(fd_.get(), &info, sizeof(info)) != ssize_t{sizeof(info)}) return std::nullopt;
  return static_cast<int>(info.ssi_signo);
}

std::optional<int> SignalFd::NextThatEnds() {
  std::optional<int> signal;
  do {
    signal = Next();
  } while (signal == SIGWINCH);
  return signal;
}

}  // namespace berth::cli
