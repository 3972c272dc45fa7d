// RuntimeTest: a fixture with a Runtime in a state directory of its own. When a test ends it
// destroys the sessions that are left and fails if anything is still there: a process of ours, a
// cgroup, a socket, a file.
#ifndef BERTH_TESTS_SUPPORT_RUNTIME_TEST_H_
#define BERTH_TESTS_SUPPORT_RUNTIME_TEST_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "runtime/runtime.h"
#include "runtime/session.h"
#include "runtime/spec.h"

namespace berth {

class RuntimeTest : public testing::Test {
 protected:
  void SetUp() override;
  void TearDown() override;

  // A second Runtime on the same state directory, as another process would have it.
  std::unique_ptr<Runtime> OtherRuntime();

  // Everything from `fd` until its end of file; fails the test if that does not come by the
  // deadline.
  static std::string ReadAll(int fd, absl::Duration limit = absl::Seconds(30));
  // Reads until `text` has been seen; returns all that was read.
  static std::string ReadUntil(int fd, absl::string_view text,
                               absl::Duration limit = absl::Seconds(30));

  static absl::Time Soon() { return absl::Now() + absl::Seconds(30); }

  std::string dir_;   // the state directory
  std::string work_;  // a folder for the test's own files
  std::unique_ptr<Runtime> runtime_;

 private:
  std::vector<std::string> Leftovers() const;
};

}  // namespace berth

#endif  // BERTH_TESTS_SUPPORT_RUNTIME_TEST_H_
