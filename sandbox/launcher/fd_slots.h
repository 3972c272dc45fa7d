// FdSlots: children of a helper that holds thousands of descriptors, at the cost of a few.
//
// A clone copies the whole table of descriptors, and exec closes most of the copy again: with a
// thousand sandboxes (some seventeen descriptors each) that is milliseconds. So the few that a
// child needs are put at low numbers, kept free for it; the child shares the table (CLONE_FILES)
// and as its first act takes a copy of the low end alone. While one has not come so far, the next
// that is made gets a copy of all.
#ifndef BERTH_SANDBOX_LAUNCHER_FD_SLOTS_H_
#define BERTH_SANDBOX_LAUNCHER_FD_SLOTS_H_

#include <stdint.h>

#include "sandbox/launcher/child.h"

namespace berth::launcher {

class FdSlots {
 public:
  // For the whole process, once, before it opens more than its control socket and its own program:
  // keeps the numbers free. Without it the rest of this does nothing.
  static void Reserve();
  // It has come as far as this number: lets it have as many descriptors as it may, if those that it
  // has are about to run out. Not at once, since each child has to be told of it.
  static void MakeRoom(int fd);
  // In the child, first of all.
  static void Separate();
  // In the child: the limit of open files is again as it was before MakeRoom.
  static void RestoreLimit();

  // `plan` as the child is to have it. Destroy it once the child has called Separate, or failed.
  explicit FdSlots(const ChildPlan& plan);
  ~FdSlots();
  FdSlots(const FdSlots&) = delete;
  FdSlots& operator=(const FdSlots&) = delete;

  ChildPlan* plan() { return &plan_; }
  // For clone.
  uint64_t clone_flags() const;

 private:
  static constexpr int kFirst = 5, kCount = 16, kLimits = 3;
  static FdSlots* holder_;  // of the numbers
  bool Hold();
  void Free();
  void Put(int* fd);

  ChildPlan plan_;
  int limit_fds_[kLimits];
  int used_ = 0;
  bool all_;  // of those that it needs
};

}  // namespace berth::launcher

#endif  // BERTH_SANDBOX_LAUNCHER_FD_SLOTS_H_
