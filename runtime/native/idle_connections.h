// IdleConnections: connections to keepers on which nothing is under way, kept for the next call. A
// session that is asked often is asked over one connection; one that is not asked any more costs a
// descriptor until others need its place.
//
// Threads: any, at once. In a child that the host has forked there are none: they are its parent's.
#ifndef BERTH_RUNTIME_NATIVE_IDLE_CONNECTIONS_H_
#define BERTH_RUNTIME_NATIVE_IDLE_CONNECTIONS_H_

#include <stddef.h>
#include <sys/types.h>
#include <unistd.h>

#include <deque>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "sandbox/base/unique_fd.h"

namespace berth {

class IdleConnections {
 public:
  // Not ok() if there is none to that session's keeper.
  UniqueFd Take(const std::string& uid);
  // Closes the one that has been idle for longest, if there are too many.
  void Give(const std::string& uid, UniqueFd socket);

 private:
  // A small part of the 1024 descriptors that a program may have by default.
  static constexpr size_t kMost = 128;

  absl::Mutex mutex_;
  pid_t owner_ ABSL_GUARDED_BY(mutex_) = getpid();
  std::deque<std::pair<std::string, UniqueFd>> idle_ ABSL_GUARDED_BY(mutex_);  // oldest first
};

}  // namespace berth

#endif  // BERTH_RUNTIME_NATIVE_IDLE_CONNECTIONS_H_
