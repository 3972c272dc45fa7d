#include "runtime/agent/agent_process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/memory/memory.h"
#include "absl/status/status.h"
#include "absl/status/status_macros.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "runtime/agent/line_splitter.h"
#include "runtime/runtime.h"
#include "runtime/session.h"
#include "runtime/spec.h"
#include "runtime/types.h"
#include "sandbox/base/unique_fd.h"

namespace berth {
namespace {

constexpr size_t kPiece = size_t{256} << 10;
constexpr int kPieces = 4;

// A variable holds less than 128 KiB, all of them and the arguments about 2 MiB (execve(2)).
constexpr size_t kInputPiece = size_t{96} << 10;
constexpr size_t kMaxTerminalInput = size_t{1} << 20;

// A terminal is no way in for a text of any length and any bytes: it cuts lines at 4096 bytes and
// takes some for keys. So the text goes in through the environment, where no list of processes
// shows it, and through a shell that is gone when the agent runs.
absl::Status WrapForTerminal(absl::string_view input, SessionSpec* spec) {
  if (input.size() > kMaxTerminalInput) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the prompt is longer than ", kMaxTerminalInput,
        " bytes, which is what fits where the engine has no pipes; use another backend"));
  }
  std::string values, names;
  for (size_t i = 0; i * kInputPiece < input.size(); ++i) {
    const std::string name = absl::StrCat("BERTH_PROMPT_", i);
    spec->env.Set(name, input.substr(i * kInputPiece, kInputPiece));
    absl::StrAppend(&values, "$", name);
    absl::StrAppend(&names, " ", name);
  }
  // No echo: what a person types into the window must not stand in the middle of an event.
  std::vector<std::string> argv = {"/bin/sh", "-c",
                                   absl::StrCat("stty -echo 2>/dev/null; p=", values, "; unset",
                                                names, "; exec \"$@\" <<END\n$p\nEND\n"),
                                   "sh"};
  argv.insert(argv.end(), spec->command.argv().begin(), spec->command.argv().end());
  spec->command = Command::Argv(std::move(argv));
  spec->pty = true;
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<AgentProcess>> AgentProcess::Start(Runtime* runtime,
                                                                  SessionSpec spec,
                                                                  absl::string_view input,
                                                                  size_t max_line) {
  spec.pty = false;
  absl::StatusOr<std::unique_ptr<Session>> session = runtime->CreateSession(spec);
  if (absl::IsUnimplemented(session.status())) {
    ABSL_RETURN_IF_ERROR(WrapForTerminal(input, &spec));
    session = runtime->CreateSession(spec);
  }
  ABSL_RETURN_IF_ERROR(session.status());
  auto process = absl::WrapUnique(new AgentProcess(*std::move(session), max_line));
  // The destructor removes what was made.
  ABSL_RETURN_IF_ERROR(process->OpenStreams(spec.pty));
  if (!spec.pty) {
    ABSL_RETURN_IF_ERROR(process->GiveInput(input));
  }
  return process;
}

AgentProcess::~AgentProcess() { Remove().IgnoreError(); }

absl::Status AgentProcess::OpenStreams(bool pty) {
  ABSL_ASSIGN_OR_RETURN(exit_, session_->ExitFd());
  ABSL_ASSIGN_OR_RETURN(Output out, session_->OpenOutput({}));
  lost_ = out.begins;
  out_.fd = std::move(out.fd);
  if (!pty) {
    ABSL_ASSIGN_OR_RETURN(Output err, session_->OpenOutput({.stream = OutputStream::kStderr}));
    err_.fd = std::move(err.fd);
  }
  for (const int fd : {out_.fd.get(), err_.fd.get()}) {
    if (fd >= 0) fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
  }
  buffer_.resize(kPiece);
  return absl::OkStatus();
}

absl::Status AgentProcess::GiveInput(absl::string_view input) {
  // Queued and no more: an agent that does not read must not hold this up. One that has closed its
  // standard input, or has ended, is no failure of the start either: its end will tell.
  absl::Status sent =
      session_
          ->Send({.text = input, .submit = "", .paste = false, .await = Delivery::kQueued},
                 absl::Now() + absl::Seconds(30))
          .status();
  if (sent.ok()) sent = session_->CloseStdin();
  return absl::IsUnavailable(sent) || absl::IsUnimplemented(sent) ? sent : absl::OkStatus();
}

bool AgentProcess::ReadLines(Callback callback) {
  const bool out = Read(&out_, /*from_stderr=*/false, callback);
  return Read(&err_, /*from_stderr=*/true, callback) || out;
}

bool AgentProcess::Read(Stream* stream, bool from_stderr, Callback callback) {
  bool any = false;
  for (int i = 0; i < kPieces && stream->fd.ok(); ++i) {
    const ssize_t n = read(stream->fd.get(), buffer_.data(), buffer_.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) break;
    if (n <= 0) {
      stream->fd.reset();
      break;
    }
    any = true;
    stream->lines.Feed(absl::string_view(buffer_).substr(0, static_cast<size_t>(n)),
                       [&](const LineSplitter::Line& line) { callback({line, from_stderr}); });
  }
  return any;
}

void AgentProcess::GiveUpOutput() {
  out_.fd.reset();
  err_.fd.reset();
}

absl::StatusOr<ExitStatus> AgentProcess::TakeExit() {
  exit_.reset();
  return session_->Wait(absl::Now() + absl::Seconds(5));
}

void AgentProcess::Terminate() { session_->Signal(SIGTERM).IgnoreError(); }

absl::Status AgentProcess::Remove() {
  if (session_ == nullptr) return absl::OkStatus();
  const std::unique_ptr<Session> session = std::move(session_);
  GiveUpOutput();
  exit_.reset();
  return session->Destroy(absl::ZeroDuration());
}

}  // namespace berth
