// A forked child for tests, with a pipe in each direction. It is killed and reaped by the
// destructor. Test threads: one.
#ifndef BERTH_RUNTIME_PORTS_TEST_PROCESS_H_
#define BERTH_RUNTIME_PORTS_TEST_PROCESS_H_

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <utility>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "sandbox/base/unique_fd.h"
#include "sandbox/base/wait_fd.h"

namespace berth {

class TestProcess {
 public:
  // In the child: what it says to and hears from its parent.
  struct Parent {
    int in, out;
    void Say(uint16_t number) const {
      if (write(out, &number, sizeof(number)) != sizeof(number)) _exit(1);
    }
    // Returns when the parent says go on, or is gone.
    void Await() const {
      char c;
      while (read(in, &c, 1) < 0) {
      }
    }
  };

  template <typename Body>
  explicit TestProcess(Body body) {
    int up[2], down[2];
    if (pipe2(up, O_CLOEXEC) != 0 || pipe2(down, O_CLOEXEC) != 0) abort();
    pid_ = fork();
    if (pid_ == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      close(up[0]);
      close(down[1]);
      body(Parent{down[0], up[1]});
      _exit(0);
    }
    close(up[1]);
    close(down[0]);
    from_.reset(up[0]);
    to_.reset(down[1]);
  }
  TestProcess(TestProcess&& other) noexcept
      : pid_(std::exchange(other.pid_, -1)),
        from_(std::move(other.from_)),
        to_(std::move(other.to_)) {}
  ~TestProcess() { Kill(); }

  // What the child says next; 0 if it says nothing within ten seconds.
  uint16_t Hear() {
    uint16_t number = 0;
    if (!WaitFd(from_.get(), POLLIN, absl::Now() + absl::Seconds(10), "child").ok()) return 0;
    return read(from_.get(), &number, sizeof(number)) == sizeof(number) ? number : 0;
  }
  void GoOn() { to_.reset(); }
  void Signal() { kill(pid_, SIGKILL); }
  void Kill() {
    if (pid_ <= 0) return;
    Signal();
    waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }

 private:
  pid_t pid_ = -1;
  UniqueFd from_, to_;
};

}  // namespace berth

#endif  // BERTH_RUNTIME_PORTS_TEST_PROCESS_H_
