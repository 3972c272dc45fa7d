#include "tools/berth/named_run.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/cleanup/cleanup.h"
#include "absl/status/status.h"
#include "absl/status/status_macros.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "runtime/change.h"
#include "runtime/runtime.h"
#include "runtime/session.h"
#include "runtime/spec.h"
#include "runtime/types.h"
#include "sandbox/base/errno_status.h"
#include "sandbox/base/unique_fd.h"
#include "sandbox/base/wait_fd.h"
#include "sandbox/policy.h"
#include "sandbox/violation.h"
#include "tools/berth/blocked.h"
#include "tools/berth/exit_code.h"
#include "tools/berth/foreground.h"
#include "tools/berth/output.h"
#include "tools/berth/program.h"
#include "tools/berth/run_command.h"
#include "tools/berth/signal_fd.h"
#include "tools/berth/terminal.h"

namespace berth::cli {
namespace {

// More than any program writes until its reader is there, so that nothing is lost between start and
// OpenOutput.
constexpr int64_t kKeptOutput = int64_t{64} << 20;

// Sends standard input to a session with pipes. A thread of its own, since a program that does not
// read makes Send wait while its output must still be carried. Ends with the session or with this
// object.
class InputFeeder {
 public:
  explicit InputFeeder(Session* session)
      : session_(session), cancel_(eventfd(0, EFD_CLOEXEC)), thread_([this] { Feed(); }) {}
  ~InputFeeder() {
    const uint64_t one = 1;
    [[maybe_unused]] const ssize_t n = write(cancel_.get(), &one, sizeof(one));
    thread_.join();
  }

 private:
  void Feed() {
    char buffer[64 << 10];
    while (WaitFdOrCancel(STDIN_FILENO, POLLIN, cancel_.get(), absl::InfiniteFuture(), "read input")
               .ok()) {
      const ssize_t n = read(STDIN_FILENO, buffer, sizeof(buffer));
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) break;
      const Message message{.text = absl::string_view(buffer, static_cast<size_t>(n)),
                            .submit = "",
                            .paste = false,
                            .await = Delivery::kWritten};
      // A program that closed its input, or ended, wants no more of it.
      if (!session_->Send(message, absl::InfiniteFuture()).ok()) return;
    }
    session_->CloseStdin().IgnoreError();
  }

  Session* const session_;
  const UniqueFd cancel_;
  std::thread thread_;
};

absl::Status AddTerminal(Session* session, Foreground* foreground) {
  ABSL_ASSIGN_OR_RETURN(UniqueFd socket, session->Attach());
  UniqueFd input(fcntl(socket.get(), F_DUPFD_CLOEXEC, 3));
  if (!input.ok()) return ErrnoStatus(errno, "duplicate the viewer's socket");
  foreground->AddInput(STDIN_FILENO, std::move(input));
  foreground->AddOutput(std::move(socket), STDOUT_FILENO);
  foreground->set_follows_size();
  return absl::OkStatus();
}

absl::Status AddPipes(Session* session, Foreground* foreground) {
  const std::pair<OutputStream, int> streams[] = {{OutputStream::kStdout, STDOUT_FILENO},
                                                  {OutputStream::kStderr, STDERR_FILENO}};
  for (const auto& [stream, fd] : streams) {
    ABSL_ASSIGN_OR_RETURN(Output output, session->OpenOutput({.stream = stream}));
    if (output.begins > 0) {
      return absl::DataLossError("the command wrote more than could be kept before it was read");
    }
    foreground->AddOutput(std::move(output.fd), fd);
  }
  return absl::OkStatus();
}

absl::StatusOr<ExitStatus> Stay(Session* session, const SessionSpec& spec, SignalFd* signals) {
  ABSL_ASSIGN_OR_RETURN(const SessionInfo info, session->Info());
  SessionProgram program(session, info.pid);
  Foreground foreground(&program, signals, spec.grace);
  std::unique_ptr<RawTerminal> raw;
  std::unique_ptr<InputFeeder> feeder;
  // Before the feeder is joined: what it waits for ends with the session.
  const auto stop =
      absl::MakeCleanup([session] { session->Stop(absl::ZeroDuration()).IgnoreError(); });
  if (spec.pty) {
    if (IsTerminal(STDIN_FILENO)) {
      ABSL_ASSIGN_OR_RETURN(raw, RawTerminal::Enter(STDIN_FILENO));
    }
    ABSL_RETURN_IF_ERROR(AddTerminal(session, &foreground));
  } else {
    ABSL_RETURN_IF_ERROR(AddPipes(session, &foreground));
    feeder = std::make_unique<InputFeeder>(session);
  }
  ABSL_ASSIGN_OR_RETURN(const std::optional<ExitStatus> end, foreground.Run());
  return *end;
}

bool KeepsChanges(const SessionSpec& spec) {
  if (!spec.policy.has_value()) return false;
  const std::vector<Policy::Path>& paths = spec.policy->paths();
  return std::any_of(paths.begin(), paths.end(), [](const Policy::Path& path) {
    return path.access == Policy::Access::kCopyOnWrite;
  });
}

// False if there are none: then nothing of the session is worth keeping.
bool TellChanges(Session* session) {
  session->Stop(absl::ZeroDuration()).IgnoreError();  // nothing of it changes any more
  const absl::StatusOr<std::vector<Change>> changes = session->Changes();
  if (changes.ok() && changes->empty()) return false;
  const std::string name = session->name();
  Note(absl::StrCat("berth: ",
                    changes.ok() ? absl::StrCat(changes->size(), " changes are kept apart")
                                 : std::string(changes.status().message()),
                    ": 'berth changes ", name, "' lists them, 'berth changes ", name,
                    " --keep' makes them, 'berth rm ", name, "' discards them"));
  return true;
}

}  // namespace

absl::StatusOr<int> RunInSession(Runtime* runtime, SessionSpec spec, SignalFd* signals) {
  // What it changes in a copy-on-write workspace outlives us: it is for the person to decide.
  const bool keeps_changes = KeepsChanges(spec);
  spec.durable = keeps_changes;
  spec.output_bytes = kKeptOutput;
  if (spec.pty) spec.size = CurrentSize();
  absl::StatusOr<std::unique_ptr<Session>> session = runtime->CreateSession(spec);
  if (!session.ok()) return StartFailure(session.status());
  const absl::StatusOr<ExitStatus> end = Stay(session->get(), spec, signals);
  const absl::StatusOr<std::vector<Violation>> violations = (*session)->Violations();
  if (!keeps_changes || !TellChanges(session->get())) {
    ABSL_RETURN_IF_ERROR((*session)->Destroy(absl::ZeroDuration()));
  }
  ABSL_RETURN_IF_ERROR(end.status());
  if (violations.ok()) ReportBlocked(*violations);
  return ReportEnd(*end);
}

}  // namespace berth::cli
