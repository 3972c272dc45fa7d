// Conformance: the fixture of the suite that all backends pass. Programs are lines for a shell that
// busybox has too, so that they run in any image; what they do is judged by their output.
#ifndef BERTH_TESTS_CONFORMANCE_CONFORMANCE_H_
#define BERTH_TESTS_CONFORMANCE_CONFORMANCE_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "runtime/session.h"
#include "runtime/spec.h"
#include "sandbox/base/unique_fd.h"
#include "tests/conformance/engine.h"
#include "tests/support/runtime_test.h"

namespace berth {

class Conformance : public RuntimeTest {
 protected:
  static void SetUpTestSuite();

  static Engine& engine();

  absl::StatusOr<std::unique_ptr<Session>> Create(SessionSpec spec);
  // The same, of a shell line; null, and a failed test, if it cannot be had.
  std::unique_ptr<Session> Start(const std::string& name, const std::string& line,
                                 SessionSpec spec = {});
  // All output until `text` has come.
  std::string Until(Session& session, absl::string_view text);
  // All output until the program has ended; `stream` as OpenOutput has it.
  std::string Everything(Session& session, OutputStream stream = OutputStream::kStdout);
  // What `line` prints on this machine, for comparing with what it printed in a session.
  std::string Here(const std::string& line, const std::string& input);
  // Whether a living process of this machine has `mark` among its arguments.
  static bool Runs(const std::string& mark);
};

// For the tests of what a backend may lack: says so in the result, and checks nothing.
#define REQUIRE_FEATURE(feature)                           \
  do {                                                     \
    if (!engine().Has(feature)) {                          \
      RecordProperty("unimplemented", engine().backend()); \
      return;                                              \
    }                                                      \
  } while (false)

}  // namespace berth

#endif  // BERTH_TESTS_CONFORMANCE_CONFORMANCE_H_
