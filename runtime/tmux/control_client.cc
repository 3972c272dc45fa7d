#include "runtime/tmux/control_client.h"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/status_macros.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "runtime/tmux/words.h"
#include "sandbox/base/wait_fd.h"

namespace berth::tmux {
namespace {

constexpr absl::Duration kPatience = absl::Seconds(5);
constexpr absl::Duration kLeastPatience = absl::Seconds(1);

}  // namespace

ControlClient::Ticket ControlClient::Begin(absl::string_view line, int commands) {
  auto ticket = std::make_shared<Pending>(Pending{.commands = commands, .begun = absl::Now()});
  absl::MutexLock lock(mutex_);
  if (!broken_.ok()) {
    ticket->done = true;
    ticket->error = broken_;
    return ticket;
  }
  pending_.push_back(ticket);
  absl::StrAppend(&unsent_, line, "\n");
  Flush();
  return ticket;
}

void ControlClient::Flush() {
  while (!unsent_.empty()) {
    const ssize_t n =
        send(socket_.get(), unsent_.data(), unsent_.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno != EAGAIN) Break("it closed its connection");
    if (n < 0) return;
    unsent_.erase(0, static_cast<size_t>(n));
  }
}

void ControlClient::Break(absl::string_view why) {
  if (!broken_.ok()) return;
  broken_ = absl::UnavailableError(absl::StrCat("the tmux server is gone: ", why));
  unsent_.clear();
  for (const Ticket& ticket : pending_) {
    ticket->done = true;
    ticket->error = broken_;
  }
  pending_.clear();
  changed_.SignalAll();
}

void ControlClient::Take(const ControlEvent& event) {
  using Kind = ControlEvent::Kind;
  if (event.kind == Kind::kExit) {
    return Break(event.text.empty() ? "it ended the connection" : event.text);
  }
  if (event.kind == Kind::kNotification) return;
  if (!event.ours && !started_.has_value()) {
    started_ = event.kind == Kind::kError ? CommandError(event.text) : absl::OkStatus();
  }
  if (!event.ours || pending_.empty()) return;
  const Ticket ticket = pending_.front();
  if (event.kind == Kind::kError) {
    ticket->error = CommandError(event.text);
  } else {
    ticket->text += event.text;
  }
  if (++ticket->replies < ticket->commands && ticket->error.ok()) return;
  ticket->done = true;
  pending_.pop_front();
}

void ControlClient::Read(absl::Time deadline) {
  reading_ = true;
  const short events = static_cast<short>(POLLIN | (unsent_.empty() ? 0 : POLLOUT));
  mutex_.unlock();
  char buffer[16 << 10];
  ssize_t n = -1;
  int error = EAGAIN;
  if (WaitFd(socket_.get(), events, deadline, "wait for tmux").ok()) {
    n = recv(socket_.get(), buffer, sizeof(buffer), MSG_DONTWAIT);
    error = errno;
  }
  mutex_.lock();
  reading_ = false;
  if (n > 0) {
    std::vector<ControlEvent> parsed;
    parser_.Feed({buffer, static_cast<size_t>(n)}, &parsed);
    for (const ControlEvent& event : parsed) Take(event);
    if (parser_.broken()) Break("it gave a reply without an end");
  } else if (n == 0 || (error != EAGAIN && error != EINTR)) {
    Break("it closed its connection");
  }
  Flush();
  changed_.SignalAll();
}

absl::Status ControlClient::AwaitStart(absl::Time deadline) {
  absl::MutexLock lock(mutex_);
  while (!started_.has_value()) {
    ABSL_RETURN_IF_ERROR(broken_);
    if (absl::Now() >= deadline) return absl::UnavailableError("the tmux server does not answer");
    if (reading_) {
      changed_.WaitWithDeadline(&mutex_, deadline);
    } else {
      Read(deadline);
    }
  }
  return *started_;
}

absl::StatusOr<std::string> ControlClient::Await(const Ticket& ticket, absl::Time deadline) {
  absl::MutexLock lock(mutex_);
  if (!pending_.empty()) {
    deadline = std::min(
        deadline, std::max(pending_.front()->begun + kPatience, absl::Now() + kLeastPatience));
  }
  while (!ticket->done) {
    if (reading_) {
      changed_.WaitWithDeadline(&mutex_, deadline);
    } else {
      Read(deadline);
    }
    if (!ticket->done && absl::Now() >= deadline) {
      return absl::UnavailableError("the tmux server does not answer");
    }
  }
  if (!ticket->error.ok()) return ticket->error;
  return ticket->text;
}

bool ControlClient::gone() const {
  absl::MutexLock lock(mutex_);
  if (!broken_.ok()) return true;
  if (reading_) return false;  // the reader finds out
  char byte;
  return recv(socket_.get(), &byte, 1, MSG_DONTWAIT | MSG_PEEK) == 0;
}

}  // namespace berth::tmux
