#include "sandbox/launcher/start_helper.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <utility>

#include "absl/base/attributes.h"
#include "absl/base/const_init.h"
#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/status_macros.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "sandbox/base/errno_status.h"
#include "sandbox/base/unique_fd.h"
#include "sandbox/launcher/helper_image.h"
#include "sandbox/launcher/kernel.h"
#include "sandbox/launcher/protocol.h"
#include "sandbox/launcher/wire.h"

#ifndef MFD_EXEC
#define MFD_EXEC 0x0010U
#endif

namespace berth::launcher {
namespace {

ABSL_CONST_INIT absl::Mutex offered_mutex(absl::kConstInit);
int offered ABSL_GUARDED_BY(offered_mutex) = -1;

UniqueFd TakeOffered() {
  absl::MutexLock lock(offered_mutex);
  return UniqueFd(std::exchange(offered, -1));
}

absl::Status SendTag(int control, const std::string& tag) {
  Writer out;
  out.Put(tag);
  const int error = SendMessage(control, kTag, out.body(), nullptr, 0);
  if (error == EPIPE || error == ECONNRESET) return absl::UnavailableError("the launcher is gone");
  return error == 0 ? absl::OkStatus() : ErrnoStatus(error, "tell the launcher its name");
}

// Shared by the host and the two children, which run while it waits.
struct Plan {
  int image, control, null;
  int error = 0;
};

// System calls only, as after vfork. Not instrumented, nor by way of libc: a sanitizer would take
// this for the host's own thread, and its descriptors for the host's.
#define BERTH_IN_CHILD __attribute__((no_sanitize("address", "thread", "undefined")))

BERTH_IN_CHILD void Fail(Plan* plan, long error) {
  plan->error = static_cast<int>(-error);
  RawExit(127);
}

BERTH_IN_CHILD void ExecHelper(void* arg) {
  Plan* plan = static_cast<Plan*>(arg);
  // Above the three and the control descriptor, so that placing one does not close another.
  int fds[] = {plan->null, plan->control, plan->image};
  for (int& fd : fds) {
    const long copy = RawCall(SYS_fcntl, fd, F_DUPFD_CLOEXEC, 10);
    if (copy < 0) Fail(plan, copy);
    fd = static_cast<int>(copy);
  }
  const auto [null, control, image] = fds;
  for (int fd = 0; fd <= kControlFd; ++fd) {
    const long placed = RawCall(SYS_dup3, fd < kControlFd ? null : control, fd, 0);
    if (placed < 0) Fail(plan, placed);
  }
  // The host may have descriptors without O_CLOEXEC; none of them is the helper's business.
  CloseRange(4, ~0u, CLOSE_RANGE_CLOEXEC);
  const char* argv[] = {"berth-launcher", kLauncherMode, nullptr};
  const char* env[] = {nullptr};
  syscall(SYS_execveat, image, "", argv, env, AT_EMPTY_PATH);
  Fail(plan, -errno);
}

BERTH_IN_CHILD void CloneHelper(void* arg) {
  Plan* plan = static_cast<Plan*>(arg);
  clone_args args{};
  args.exit_signal = SIGCHLD;
  const long pid = CloneVfork(&args, &ExecHelper, plan);
  if (pid < 0) plan->error = static_cast<int>(-pid);
  RawExit(0);
}

}  // namespace

UniqueFd SealedProgram(const char* name, absl::string_view program) {
  constexpr unsigned kFlags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
  UniqueFd fd(memfd_create(name, kFlags | MFD_EXEC));
  if (!fd.ok() && errno == EINVAL) fd = UniqueFd(memfd_create(name, kFlags));  // before 6.3
  while (fd.ok() && !program.empty()) {
    const ssize_t n = write(fd.get(), program.data(), program.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return UniqueFd();
    program.remove_prefix(static_cast<size_t>(n));
  }
  // Nobody can change the program that runs with others' descriptors (CVE-2019-5736).
  if (fd.ok() &&
      fcntl(fd.get(), F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE) != 0) {
    return UniqueFd();
  }
  return fd;
}

UniqueFd SealedHelper() { return SealedProgram("berth-helper", HelperImage()); }

void OfferHelper(UniqueFd control) {
  absl::MutexLock lock(offered_mutex);
  offered = control.release();
}

void WithdrawHelper() { TakeOffered().reset(); }

absl::StatusOr<UniqueFd> StartHelper(const std::string& tag) {
  if (UniqueFd control = TakeOffered(); control.ok()) {
    ABSL_RETURN_IF_ERROR(SendTag(control.get(), tag));
    return control;
  }
  int pair[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0) {
    return ErrnoStatus(errno, "make the launcher's socket");
  }
  UniqueFd ours(pair[0]);
  const UniqueFd theirs(pair[1]);
  const UniqueFd null(open("/dev/null", O_RDWR | O_CLOEXEC));
  if (!null.ok()) return ErrnoStatus(errno, "open /dev/null");
  const UniqueFd image = SealedHelper();
  if (!image.ok()) return ErrnoStatus(errno, "put the helper into its memfd");
  // It waits there for the launcher.
  ABSL_RETURN_IF_ERROR(SendTag(ours.get(), tag));

  Plan plan{image.get(), theirs.get(), null.get()};
  // No handler of the host may run in a child that shares its memory.
  sigset_t all, old;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &old);
  clone_args args{};
  args.exit_signal = 0;  // no SIGCHLD, and the host's waitpid(-1) does not see it
  const long pid = CloneVfork(&args, &CloneHelper, &plan);
  if (pid > 0) {
    while (waitpid(static_cast<pid_t>(pid), nullptr, __WALL) < 0 && errno == EINTR) {
    }
  }
  pthread_sigmask(SIG_SETMASK, &old, nullptr);
  if (pid < 0) return ErrnoStatus(static_cast<int>(-pid), "start the launcher");
  if (plan.error != 0) return ErrnoStatus(plan.error, "execute the launcher");
  return ours;
}

}  // namespace berth::launcher
