// CliTest: runs the `berth` binary as a person or a script does, in a state directory of its own,
// and fails if anything is left of it at the end.
#ifndef BERTH_TESTS_CLI_CLI_TEST_H_
#define BERTH_TESTS_CLI_CLI_TEST_H_

#include <stdint.h>
#include <sys/types.h>

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "sandbox/base/unique_fd.h"
#include "tests/support/runtime_test.h"

namespace berth {

// A started berth. Ended (KILL) with this object if it has not ended by itself.
class Berth {
 public:
  Berth() = default;
  Berth(Berth&&) = default;
  Berth& operator=(Berth&&) = default;
  ~Berth();

  // The exit code, as a shell would tell it; fails the test if it does not come in time.
  int Wait();
  void Signal(int signal);
  // After some time, or not at all if it has ended before.
  void SignalAfter(absl::Duration time, int signal);
  // The berth of a terminal: the person's side of it.
  void Type(absl::string_view keys);
  void Resize(uint16_t rows, uint16_t cols);
  // Reads until `text` was seen since the last call; returns all that was read in this call.
  std::string Expect(absl::string_view text);
  // Waits for more output, whatever it is; false if there will be none.
  bool More();
  // Reads to the end of the terminal or the pipe.
  std::string Rest();

  pid_t pid = -1;
  UniqueFd in, out, err;  // with a terminal, in and out are its master

 private:
  std::string unseen_;
};

struct Result {
  int code = -1;
  std::string out, err;
};

class CliTest : public RuntimeTest {
 protected:
  void SetUp() override;

  // To its end, with `input` on standard input.
  Result Run(const std::vector<std::string>& args, absl::string_view input = "");
  // With three pipes.
  Berth Start(const std::vector<std::string>& args);
  // On a terminal of this size.
  Berth StartInTerminal(const std::vector<std::string>& args, uint16_t rows = 24,
                        uint16_t cols = 80);
  // Waits until `berth capture` of a session shows `text`; returns all that it shows.
  std::string ExpectOnScreen(const std::string& session, absl::string_view text);
  // A folder for PATH in which this berth is called "berth".
  std::string BinFolder();
  // The command, for a shell: "BERTH_STATE_DIR=… …/berth".
  std::string Quoted() const;

  std::vector<std::string> env_;  // of every berth
};

}  // namespace berth

#endif  // BERTH_TESTS_CLI_CLI_TEST_H_
