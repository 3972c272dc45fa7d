// TmuxTest: sessions on tmux, and tmux itself as a person has it at a prompt.
#ifndef BERTH_TESTS_TMUX_TMUX_TEST_BASE_H_
#define BERTH_TESTS_TMUX_TMUX_TEST_BASE_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "runtime/session.h"
#include "runtime/spec.h"
#include "sandbox/base/unique_fd.h"
#include "tests/support/runtime_test.h"

namespace berth {

class TmuxTest : public RuntimeTest {
 protected:
  // Null, and a failed test, if it cannot be had.
  std::unique_ptr<Session> Start(const std::string& name, const std::string& line,
                                 SessionSpec spec = {});
  // All output until `text` has come.
  static std::string Until(Session& session, absl::string_view text);

  // What the tmux command says to these words, on the server of this state directory.
  std::string Tmux(std::vector<std::string> words);
  // The same of one session: `-t` and its name come after the first word.
  std::string Tmux(const Session& session, std::vector<std::string> words);
  static std::string SessionName(const Session& session);

  // The server's process.
  UniqueFd ServerProcess();
  static void Signal(const UniqueFd& pidfd, int signal);
  static void AwaitEnd(const UniqueFd& pidfd);
};

}  // namespace berth

#endif  // BERTH_TESTS_TMUX_TMUX_TEST_BASE_H_
