#include "sandbox/launcher/forked.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <utility>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "sandbox/base/unique_fd.h"
#include "sandbox/base/wait_fd.h"
#include "sandbox/launcher/kernel.h"
#include "sandbox/launcher/launcher.h"
#include "sandbox/launcher/protocol.h"
#include "sandbox/launcher/settle_in.h"
#include "sandbox/launcher/start_helper.h"
#include "sandbox/launcher/trampoline_image.h"

namespace berth::launcher {
namespace {

// Init runs in a filter that leaves it seven system calls, which no sanitizer can do with.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;
#elif defined(__has_feature)
constexpr bool kSanitized = __has_feature(address_sanitizer) || __has_feature(thread_sanitizer);
#else
constexpr bool kSanitized = false;
#endif

// As the helper finds its descriptors when it is executed; and behind them the trampoline.
constexpr int kTrampolineFd = kControlFd + 1;

bool PlaceDescriptors(int null, int control, int trampoline) {
  int high[] = {null, control, trampoline};
  for (int& fd : high) fd = fcntl(fd, F_DUPFD_CLOEXEC, 10);
  for (int fd = 0; fd < kControlFd; ++fd) {
    if (dup2(high[0], fd) != fd) return false;
  }
  return dup3(high[1], kControlFd, O_CLOEXEC) == kControlFd &&
         dup3(high[2], kTrampolineFd, O_CLOEXEC) == kTrampolineFd &&
         CloseRange(kTrampolineFd + 1, ~0u, 0) == 0;
}

// A keeper outlives us, and a proxy takes what strangers send: they are the helper itself.
int OpenHelperImage() { return SealedHelper().release(); }

// What /proc/PID/cmdline shows: the strings lie one behind the other.
void OverwriteArguments(char** argv) {
  if (argv == nullptr || argv[0] == nullptr) return;
  char* const begin = argv[0];
  char* end = begin;
  for (; *argv == end; ++argv) end += strlen(end) + 1;
  memset(begin, 0, static_cast<size_t>(end - begin));
  snprintf(begin, static_cast<size_t>(end - begin), "berth-launcher");
}

int Launch() {
  LeaveGroup();
  if (!SettleIn()) return 2;
  return RunLauncher(
      {.open_program = &OpenHelperImage, .trampoline_fd = kTrampolineFd, .once = true});
}

}  // namespace

ForkedLauncher::ForkedLauncher(char** argv) {
  int pair[2];
  if (kSanitized || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0) return;
  UniqueFd ours(pair[0]);
  const UniqueFd theirs(pair[1]);
  // What can fail is done before: then there is none, and who starts another finds out why.
  const UniqueFd null(open("/dev/null", O_RDWR | O_CLOEXEC));
  const UniqueFd trampoline = SealedProgram("berth-exec", TrampolineImage());
  if (!null.ok() || !trampoline.ok()) return;
  sigset_t all, before;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, &before);
  pid_ = fork();
  if (pid_ == 0) {
    OverwriteArguments(argv);
    _exit(PlaceDescriptors(null.get(), theirs.get(), trampoline.get()) ? Launch() : 2);
  }
  sigprocmask(SIG_SETMASK, &before, nullptr);
  if (pid_ > 0) OfferHelper(std::move(ours));
}

ForkedLauncher::~ForkedLauncher() {
  WithdrawHelper();
  if (pid_ <= 0) return;
  // Not for ever for one that was stopped.
  const UniqueFd pidfd(PidfdOpen(pid_));
  const absl::Time deadline = absl::Now() + absl::Seconds(60);
  if (pidfd.ok() && !WaitFd(pidfd.get(), POLLIN, deadline, "wait for the launcher").ok()) return;
  while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

}  // namespace berth::launcher
