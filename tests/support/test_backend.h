// One set of tests for several backends: where a test leaves the choice of a backend to berth, it
// is $BERTH_TEST_BACKEND's, if that is set. See tree_test.bzl.
#ifndef BERTH_TESTS_SUPPORT_TEST_BACKEND_H_
#define BERTH_TESTS_SUPPORT_TEST_BACKEND_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "runtime/runtime.h"

namespace berth {

// "native" if it is not set.
std::string TestBackend();

// Whether SessionSpec::pty may be false there.
bool HasPipes();

// As Runtime::Create. For tests, and for the programs that they play the host with.
absl::StatusOr<std::unique_ptr<Runtime>> CreateTestRuntime(const std::string& state_dir);

}  // namespace berth

#endif  // BERTH_TESTS_SUPPORT_TEST_BACKEND_H_
