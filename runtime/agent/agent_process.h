// AgentProcess: the session that an agent runs in, as lines of output and an end. Nothing blocks
// but Start and Remove, which take as long as the engine. Internal to runtime/agent; not
// thread-safe.
//
// The session has three pipes. Where an engine has none to give (tmux), it has a terminal: then
// standard error comes with the output, and the input from a here-document.
#ifndef BERTH_RUNTIME_AGENT_AGENT_PROCESS_H_
#define BERTH_RUNTIME_AGENT_AGENT_PROCESS_H_

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "runtime/agent/line_splitter.h"
#include "runtime/runtime.h"
#include "runtime/session.h"
#include "runtime/spec.h"
#include "runtime/types.h"
#include "sandbox/base/unique_fd.h"

namespace berth {

class AgentProcess {
 public:
  struct Line {
    LineSplitter::Line line;
    bool from_stderr;
  };
  using Callback = absl::FunctionRef<void(const Line&)>;

  // Starts it, gives it `input` on standard input and the end of that. Returns at once even if it
  // reads nothing of it. On failure nothing is left. spec.pty is not looked at.
  static absl::StatusOr<std::unique_ptr<AgentProcess>> Start(Runtime* runtime, SessionSpec spec,
                                                             absl::string_view input,
                                                             size_t max_line);
  ~AgentProcess();

  // To wait for, each -1 once there is nothing more to come from it.
  int stdout_fd() const { return out_.fd.get(); }
  int stderr_fd() const { return err_.fd.get(); }
  int exit_fd() const { return exit_.get(); }

  // Reads what is there, about a megabyte at most. Returns whether anything was.
  bool ReadLines(Callback callback);
  bool drained() const { return stdout_fd() < 0 && stderr_fd() < 0; }
  // Stops waiting for output: something that the agent left behind holds it open.
  void GiveUpOutput();
  absl::string_view unfinished() const { return out_.lines.unfinished(); }
  int64_t unfinished_bytes() const { return out_.lines.unfinished_bytes(); }
  // Bytes of standard output that were written before anyone could read them, and are gone.
  int64_t lost_bytes() const { return lost_; }

  // How it ended, once exit_fd is readable. Unavailable: nobody knows.
  absl::StatusOr<ExitStatus> TakeExit();
  // Asks it to end.
  void Terminate();
  // Ends all that is left of it, and the session. Idempotent.
  absl::Status Remove();

 private:
  struct Stream {
    explicit Stream(size_t max_line) : lines(max_line) {}
    UniqueFd fd;
    LineSplitter lines;
  };

  AgentProcess(std::unique_ptr<Session> session, size_t max_line)
      : session_(std::move(session)), out_(max_line), err_(max_line) {}
  absl::Status OpenStreams(bool pty);
  absl::Status GiveInput(absl::string_view input);
  bool Read(Stream* stream, bool from_stderr, Callback callback);

  std::unique_ptr<Session> session_;
  Stream out_, err_;
  UniqueFd exit_;
  int64_t lost_ = 0;
  std::string buffer_;
};

}  // namespace berth

#endif  // BERTH_RUNTIME_AGENT_AGENT_PROCESS_H_
