#include "sandbox/launcher/enter/network_maker.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <net/if.h>
#include <sched.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "sandbox/launcher/kernel.h"

namespace berth::launcher {
namespace {

// Of the thread. One for the whole process, which makes one network.
constexpr size_t kStackBytes = 16 << 10;
alignas(16) char stack[kStackBytes];

// Both of these by raw calls, since the thread runs them too.
int BringUpLoopback() {
  const long fd = RawCall(SYS_socket, AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return static_cast<int>(-fd);
  ifreq request = {};
  memcpy(request.ifr_name, "lo", 3);
  request.ifr_flags = IFF_UP | IFF_RUNNING;
  const long up = RawCall(SYS_ioctl, fd, SIOCSIFFLAGS, RawPointer(&request));
  RawCall(SYS_close, fd);
  return static_cast<int>(-up);
}

int Make() {
  const long made = RawCall(SYS_unshare, CLONE_NEWNET);
  return made < 0 ? static_cast<int>(-made) : BringUpLoopback();
}

bool Take(int* state, int from, int to) {
  return __atomic_compare_exchange_n(state, &from, to, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
}

}  // namespace

void NetworkMaker::Run(void* self) {
  NetworkMaker* maker = static_cast<NetworkMaker*>(self);
  if (Take(&maker->state_, kOpen, kTaken)) {
    int error = Make();
    if (error == 0) {
      const long fd = RawCall(SYS_openat, AT_FDCWD, RawPointer("/proc/thread-self/ns/net"),
                              O_RDONLY | O_CLOEXEC);
      maker->fd_ = static_cast<int>(fd);
      if (fd < 0) error = static_cast<int>(-fd);
    }
    maker->error_ = error;
    __atomic_store_n(&maker->state_, kMade, __ATOMIC_RELEASE);
    RawCall(SYS_futex, RawPointer(&maker->state_), FUTEX_WAKE_PRIVATE, 1);
  }
  for (;;) RawCall(SYS_exit, 0);
}

void NetworkMaker::Begin() {
  clone_args args{};
  args.flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM;
  args.stack = reinterpret_cast<uint64_t>(stack);
  args.stack_size = kStackBytes;
  // The numbers that come next are the program's, as if there had been no thread.
  pid_t number = 300;
  args.set_tid = reinterpret_cast<uint64_t>(&number);
  args.set_tid_size = 1;
  CloneBeside(&args, &NetworkMaker::Run, this);
}

int NetworkMaker::Enter() {
  if (Take(&state_, kOpen, kTaken)) return Make();
  while (__atomic_load_n(&state_, __ATOMIC_ACQUIRE) == kTaken) {
    RawCall(SYS_futex, RawPointer(&state_), FUTEX_WAIT_PRIVATE, kTaken);
  }
  if (error_ != 0) return error_;
  const int error = setns(fd_, CLONE_NEWNET) != 0 ? errno : 0;
  RawCall(SYS_close, fd_);
  return error;
}

}  // namespace berth::launcher
