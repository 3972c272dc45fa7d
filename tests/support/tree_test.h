// TreeTest: a RuntimeTest in a World. What a test leaves running, or a cgroup that it leaves, fails
// it.
#ifndef BERTH_TESTS_SUPPORT_TREE_TEST_H_
#define BERTH_TESTS_SUPPORT_TREE_TEST_H_

#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "runtime/record/record.h"
#include "runtime/session.h"
#include "runtime/spec.h"
#include "sandbox/base/unique_fd.h"
#include "tests/support/runtime_test.h"

namespace berth {

// A fifo on which actors report. Nothing is lost if they do so before anybody reads.
class Fifo {
 public:
  explicit Fifo(const std::string& path);
  const std::string& path() const { return path_; }
  // The next `count` lines; fewer, and a failed test, if they do not come in time.
  std::vector<std::string> Lines(size_t count, absl::Duration limit = absl::Seconds(30));
  std::string Line() {
    const std::vector<std::string> lines = Lines(1);
    return lines.empty() ? "" : lines[0];
  }
  // Whether nothing waits to be read.
  bool Quiet() const;

 private:
  std::string path_, pending_;
  UniqueFd fd_;
};

class TreeTest : public RuntimeTest {
 protected:
  void SetUp() override;
  void TearDown() override;

  // A session whose tree is held as this test is about; null, and a failed test, if there is none.
  std::unique_ptr<Session> Create(SessionSpec spec);
  Record RecordOf(const std::string& name) const;
  std::string Path(const std::string& name) const { return work_ + "/" + name; }

  static UniqueFd PidfdOf(pid_t pid);
  static bool IsAlive(pid_t pid);  // a zombie is not
  // Fails the test if the process is not gone by then.
  static void ExpectGone(pid_t pid, absl::Duration limit);
};

}  // namespace berth

#endif  // BERTH_TESTS_SUPPORT_TREE_TEST_H_
