// Work that is done beside the caller's own.
#ifndef BERTH_SANDBOX_BASE_BESIDE_H_
#define BERTH_SANDBOX_BASE_BESIDE_H_

#include <pthread.h>

#include <functional>

namespace berth {

// Does `work` in a thread of its own, where no signal of the host's is handled; where there can be
// no thread, at once. It is done when Wait returns, or when this is gone.
class Beside {
 public:
  explicit Beside(std::function<void()> work);
  ~Beside() { Wait(); }
  Beside(const Beside&) = delete;
  Beside& operator=(const Beside&) = delete;
  void Wait();

 private:
  const std::function<void()> work_;
  pthread_t thread_{};
  bool running_ = false;
};

}  // namespace berth

#endif  // BERTH_SANDBOX_BASE_BESIDE_H_
