#include "tools/berth/visit.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/status_macros.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "runtime/session.h"
#include "sandbox/base/errno_status.h"
#include "sandbox/base/unique_fd.h"
#include "tools/berth/detach_key.h"
#include "tools/berth/exit_code.h"
#include "tools/berth/loop.h"
#include "tools/berth/output.h"
#include "tools/berth/pump.h"
#include "tools/berth/signal_fd.h"
#include "tools/berth/terminal.h"

namespace berth::cli {
namespace {

// Everything that a program may have switched on, off: its alternate screen, mouse, paste brackets,
// keyboard protocol, colours, a hidden cursor, a scroll region. The cursor goes below all that was
// drawn.
constexpr absl::string_view kLeave =
    "\x1b[?1049l\x1b[?1000;1002;1003;1004;1005;1006;1015;2004l\x1b[<u\x1b[>4m\x1b[?1l\x1b>\x1b["
    "r\x1b[m\x1b[?25h\x1b[999;1H\r\n";

// One visit: until the session ends, the person detaches, or a signal ends berth.
class Visit {
 public:
  Visit(Session* session, SignalFd* signals, const DetachKey& key)
      : session_(session), signals_(signals), key_(key) {}

  absl::Status Run();
  std::optional<int> signal() const { return signal_; }
  bool ended() const { return output_->end() == Pump::End::kEndOfFile; }

 private:
  absl::Status OnSignals();
  absl::Status Connect();

  Session* const session_;
  SignalFd* const signals_;
  const DetachKey& key_;
  std::unique_ptr<Pump> input_, output_;
  std::optional<int> signal_;
};

absl::Status Visit::OnSignals() {
  while (const std::optional<int> signal = signals_->Next()) {
    if (*signal != SIGWINCH) {
      signal_ = signal;
    } else if (absl::Status resized = session_->Resize(CurrentSize()); absl::IsNotFound(resized)) {
      return absl::OkStatus();  // destroyed: the end of its output tells
    }
  }
  return absl::OkStatus();
}

absl::Status Visit::Connect() {
  // The one who comes last decides on the size. An ended session keeps its own.
  if (absl::Status resized = session_->Resize(CurrentSize()); !resized.ok()) {
    return WithHint(resized, absl::StrCat("'berth logs ", session_->name(), "' shows its output"));
  }
  ABSL_ASSIGN_OR_RETURN(UniqueFd socket, session_->Attach());
  UniqueFd writes(fcntl(socket.get(), F_DUPFD_CLOEXEC, 3));
  if (!writes.ok()) return ErrnoStatus(errno, "duplicate the viewer's socket");
  input_ = std::make_unique<Pump>(STDIN_FILENO, std::move(writes));
  input_->set_filter([this](std::string* bytes) { return !key_.CutAt(bytes); });
  output_ = std::make_unique<Pump>(std::move(socket), STDOUT_FILENO);
  return absl::OkStatus();
}

absl::Status Visit::Run() {
  ABSL_RETURN_IF_ERROR(Connect());
  ABSL_ASSIGN_OR_RETURN(const std::unique_ptr<RawTerminal> raw, RawTerminal::Enter(STDIN_FILENO));
  Watch signals(signals_->fd(), [this] { return OnSignals(); });
  Loop loop;
  loop.Add(input_.get());
  loop.Add(output_.get());
  loop.Add(&signals);
  const absl::Status status = loop.Run([this] {
    const Pump::End input = input_->end();
    return output_->done() || input == Pump::End::kStopped || input == Pump::End::kEndOfFile ||
           signal_.has_value();
  });
  Print(kLeave).IgnoreError();
  return status;
}

}  // namespace

absl::StatusOr<VisitEnd> VisitSession(Session* session, SignalFd* signals, const DetachKey& key) {
  Visit visit(session, signals, key);
  ABSL_RETURN_IF_ERROR(visit.Run());
  return VisitEnd{.ended = visit.ended(), .signal = visit.signal()};
}

}  // namespace berth::cli
