// Loop: waits on descriptors and a timer, and serves what is ready. One thread; nothing is polled
// in vain.
#ifndef BERTH_TOOLS_BERTH_LOOP_H_
#define BERTH_TOOLS_BERTH_LOOP_H_

#include <poll.h>

#include <functional>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"

namespace berth::cli {

// Something that waits for one thing at a time.
class Source {
 public:
  virtual ~Source() = default;
  // What it waits for now; a descriptor of -1 is nothing.
  virtual pollfd Want() const = 0;
  // It is there.
  virtual absl::Status Ready() = 0;
};

class Loop {
 public:
  using Callback = std::function<absl::Status()>;

  // Not owned; must live as long as Run.
  void Add(Source* source) { sources_.push_back(source); }
  // Calls `callback` once, at `when`; a second call replaces the first.
  void SetTimer(absl::Time when, Callback callback);
  // Until `done` is true, which is looked at after each round, or something fails.
  absl::Status Run(const std::function<bool()>& done);

 private:
  std::vector<Source*> sources_;
  absl::Time when_ = absl::InfiniteFuture();
  Callback callback_;
};

// A source that calls back whenever `fd` is readable.
class Watch final : public Source {
 public:
  Watch(int fd, Loop::Callback callback) : fd_(fd), callback_(std::move(callback)) {}
  pollfd Want() const override { return {fd_, POLLIN, 0}; }
  absl::Status Ready() override { return callback_(); }
  // Waits for nothing any more.
  void Stop() { fd_ = -1; }

 private:
  int fd_;
  const Loop::Callback callback_;
};

}  // namespace berth::cli

#endif  // BERTH_TOOLS_BERTH_LOOP_H_
