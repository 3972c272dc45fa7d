// A folder below TEST_TMPDIR that goes with the object, and children that are always reaped. For
// tests.
#ifndef BERTH_RUNTIME_RECORD_TEST_DIR_H_
#define BERTH_RUNTIME_RECORD_TEST_DIR_H_

#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>

#include "gtest/gtest.h"

namespace berth {

class TestDir {
 public:
  TestDir() {
    path_ = ::testing::TempDir() + "/record.XXXXXX";
    if (mkdtemp(path_.data()) == nullptr) abort();
    path_ = std::filesystem::canonical(path_);
  }
  ~TestDir() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TestDir(const TestDir&) = delete;
  TestDir& operator=(const TestDir&) = delete;

  const std::string& path() const { return path_; }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

inline void WriteText(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << text;
}

inline std::string ReadText(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

// A forked child that runs `body` and then stays until it is killed. `body` has the fd on which to
// say that it is ready; the constructor returns once it has said so or is gone.
class TestChild {
 public:
  template <typename Body>
  explicit TestChild(Body body) {
    int ends[2];
    if (pipe(ends) != 0) abort();
    pid_ = fork();
    if (pid_ == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      close(ends[0]);
      body(ends[1]);
      close(ends[1]);
      while (true) pause();
    }
    close(ends[1]);
    char byte;
    ready_ = read(ends[0], &byte, 1) == 1;
    close(ends[0]);
  }
  ~TestChild() { KillAndReap(); }

  pid_t pid() const { return pid_; }
  bool ready() const { return ready_; }
  void Kill() { kill(pid_, SIGKILL); }
  void WaitUntilZombie() {
    siginfo_t info;
    waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOWAIT);
  }
  void KillAndReap() {
    if (pid_ <= 0) return;
    Kill();
    waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }

 private:
  pid_t pid_ = -1;
  bool ready_ = false;
};

inline void SayReady(int fd) {
  if (write(fd, "r", 1) != 1) _exit(3);
}

}  // namespace berth

#endif  // BERTH_RUNTIME_RECORD_TEST_DIR_H_
