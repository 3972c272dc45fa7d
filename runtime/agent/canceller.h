// Canceller: ends what another thread is doing: a wait, or an HTTP request at whatever point it is.
//
// Cancelled once, for good. Threads: all calls from any thread.
#ifndef BERTH_RUNTIME_AGENT_CANCELLER_H_
#define BERTH_RUNTIME_AGENT_CANCELLER_H_

#include <memory>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "sandbox/base/unique_fd.h"

namespace berth {

class Canceller {
 public:
  static absl::StatusOr<std::unique_ptr<Canceller>> Create();

  void Cancel();
  bool cancelled() const;
  // Readable once it is cancelled. For poll; never read it.
  int fd() const { return event_.get(); }

  // The socket that a request is about to connect and use: shut down by Cancel until Forget. If it
  // is too late for the request, the descriptor is made one that cannot be connected.
  void Watch(int socket);
  void Forget();

 private:
  explicit Canceller(UniqueFd event) : event_(std::move(event)) {}

  const UniqueFd event_;
  mutable absl::Mutex mutex_;
  bool cancelled_ ABSL_GUARDED_BY(mutex_) = false;
  UniqueFd socket_ ABSL_GUARDED_BY(mutex_);  // a duplicate: its number cannot become another's
};

}  // namespace berth

#endif  // BERTH_RUNTIME_AGENT_CANCELLER_H_
