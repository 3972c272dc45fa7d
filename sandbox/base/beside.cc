#include "sandbox/base/beside.h"

#include <pthread.h>
#include <signal.h>

#include <functional>
#include <utility>

namespace berth {

Beside::Beside(std::function<void()> work) : work_(std::move(work)) {
  sigset_t all, old;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &old);  // a thread begins with its maker's
  // Not std::thread, which throws where the user may make no more of them.
  const auto run = [](void* self) -> void* {
    static_cast<const Beside*>(self)->work_();
    return nullptr;
  };
  running_ = pthread_create(&thread_, nullptr, run, this) == 0;
  pthread_sigmask(SIG_SETMASK, &old, nullptr);
  if (!running_) work_();
}

void Beside::Wait() {
  if (running_) pthread_join(thread_, nullptr);
  running_ = false;
}

}  // namespace berth
