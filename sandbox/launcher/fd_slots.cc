#include "sandbox/launcher/fd_slots.h"

#include <fcntl.h>
#include <linux/close_range.h>
#include <linux/sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include "sandbox/launcher/kernel.h"

namespace berth::launcher {
namespace {

// Of this process, set once.
bool reserved = false, raised = false;
rlimit files_before = {};

}  // namespace

void FdSlots::Reserve() {
  for (int fd = kFirst; fd < kFirst + kCount; ++fd) {
    // Something is there that is not ours to close: then not.
    if (fcntl(fd, F_GETFD) >= 0 || dup3(0, fd, O_CLOEXEC) != fd) return;
  }
  if (getrlimit(RLIMIT_NOFILE, &files_before) != 0) return;
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
  if (reserved) CloseRange(kFirst + kCount, ~0u, CLOSE_RANGE_UNSHARE);
}

void FdSlots::RestoreLimit() {
  if (raised) setrlimit(RLIMIT_NOFILE, &files_before);
}

FdSlots::FdSlots(const ChildPlan& plan) : plan_(plan) {
  if (!reserved) return;
  for (int& fd : plan_.stdio) Put(&fd);
  for (int* fd : {&plan_.exe_fd, &plan_.keep_fd, &plan_.gate_fd, &plan_.error_fd, &plan_.proxy_fd,
                  &plan_.report_fd, &plan_.ruleset_fd}) {
    Put(fd);
  }
  if (plan.limit_count > kLimits) all_ = false;
  for (int i = 0; all_ && i < plan.limit_count; ++i) {
    limit_fds_[i] = plan.limit_fds[i];
    Put(&limit_fds_[i]);
  }
  if (all_ && plan.limit_count > 0) plan_.limit_fds = limit_fds_;
}

FdSlots::~FdSlots() {
  for (int i = 0; i < used_; ++i) dup3(0, kFirst + i, O_CLOEXEC);
}

void FdSlots::Put(int* fd) {
  if (!all_ || *fd < kFirst) return;
  if (used_ == kCount || dup3(*fd, kFirst + used_, O_CLOEXEC) < 0) {
    all_ = false;
    return;
  }
  *fd = kFirst + used_++;
}

uint64_t FdSlots::clone_flags() const { return reserved && all_ ? uint64_t{CLONE_FILES} : 0; }

}  // namespace berth::launcher
