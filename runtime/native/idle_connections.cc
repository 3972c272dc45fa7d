#include "runtime/native/idle_connections.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/synchronization/mutex.h"

namespace berth {

UniqueFd IdleConnections::Take(const std::string& uid) {
  absl::MutexLock lock(mutex_);
  if (owner_ != getpid()) {
    idle_.clear();
    owner_ = getpid();
  }
  // The newest first: it is the likeliest to be asked for.
  const auto found = std::find_if(idle_.rbegin(), idle_.rend(),
                                  [&uid](const auto& each) { return each.first == uid; });
  if (found == idle_.rend()) return UniqueFd();
  UniqueFd socket = std::move(found->second);
  idle_.erase(std::next(found).base());
  return socket;
}

void IdleConnections::Give(const std::string& uid, UniqueFd socket) {
  UniqueFd oldest;  // closed without the lock
  absl::MutexLock lock(mutex_);
  if (owner_ != getpid()) return;
  idle_.emplace_back(uid, std::move(socket));
  if (idle_.size() <= kMost) return;
  oldest = std::move(idle_.front().second);
  idle_.pop_front();
}

}  // namespace berth
