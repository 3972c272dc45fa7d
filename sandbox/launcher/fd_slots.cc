#include "sandbox/launcher/fd_slots.h"

#include <fcntl.h>
#include <linux/close_range.h>
#include <linux/sched.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "sandbox/launcher/kernel.h"

namespace berth::launcher {
namespace {

// Of this process, set once.
bool reserved = false, raised = false;
rlimit files_before = {};
// Whether a child has yet to call Separate. In memory that it shares with us.
int* awaited = nullptr;

}  // namespace

FdSlots* FdSlots::holder_ = nullptr;

void FdSlots::Reserve() {
  for (int fd = kFirst; fd < kFirst + kCount; ++fd) {
    // Something is there that is not ours to close: then not.
    if (fcntl(fd, F_GETFD) >= 0 || dup3(0, fd, O_CLOEXEC) != fd) return;
  }
  if (getrlimit(RLIMIT_NOFILE, &files_before) != 0) return;
  void* shared =
      mmap(nullptr, sizeof(int), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) return;
  awaited = static_cast<int*>(shared);
  reserved = true;
  MakeRoom(kFirst + kCount);
}

void FdSlots::MakeRoom(int fd) {
  constexpr rlim_t kSomeStarts = 256;
  if (!reserved || raised || static_cast<rlim_t>(fd) + kSomeStarts < files_before.rlim_cur) return;
  rlimit most = files_before;
  most.rlim_cur = most.rlim_max;
  raised = setrlimit(RLIMIT_NOFILE, &most) == 0;
}

void FdSlots::Separate() {
  if (!reserved) return;
  CloseRange(kFirst + kCount, ~0u, CLOSE_RANGE_UNSHARE);
  __atomic_store_n(awaited, 0, __ATOMIC_RELEASE);
}

void FdSlots::RestoreLimit() {
  if (raised) setrlimit(RLIMIT_NOFILE, &files_before);
}

// False if a child may still look at what another has put there.
bool FdSlots::Hold() {
  if (!reserved || __atomic_load_n(awaited, __ATOMIC_ACQUIRE) != 0) return false;
  if (holder_ != nullptr) holder_->Free();
  holder_ = this;
  return true;
}

void FdSlots::Free() {
  for (int i = 0; i < used_; ++i) dup3(0, kFirst + i, O_CLOEXEC);
  used_ = 0;
  holder_ = nullptr;
}

FdSlots::FdSlots(const ChildPlan& plan) : plan_(plan), all_(Hold()) {
  for (int& fd : plan_.stdio) Put(&fd);
  for (int* fd : {&plan_.exe_fd, &plan_.trampoline_fd, &plan_.keep_fd, &plan_.gate_fd,
                  &plan_.error_fd, &plan_.proxy_fd, &plan_.report_fd, &plan_.ruleset_fd}) {
    Put(fd);
  }
  if (plan.limit_count > kLimits) all_ = false;
  for (int i = 0; all_ && i < plan.limit_count; ++i) {
    limit_fds_[i] = plan.limit_fds[i];
    Put(&limit_fds_[i]);
  }
  if (all_ && plan.limit_count > 0) plan_.limit_fds = limit_fds_;
  if (all_) __atomic_store_n(awaited, 1, __ATOMIC_RELEASE);
}

FdSlots::~FdSlots() {
  if (holder_ != this) return;
  __atomic_store_n(awaited, 0, __ATOMIC_RELEASE);
  Free();
}

void FdSlots::Put(int* fd) {
  if (!all_ || *fd < kFirst) return;
  if (used_ == kCount || dup3(*fd, kFirst + used_, O_CLOEXEC) < 0) {
    all_ = false;
    return;
  }
  *fd = kFirst + used_++;
}

uint64_t FdSlots::clone_flags() const { return all_ ? uint64_t{CLONE_FILES} : 0; }

}  // namespace berth::launcher
