#include <errno.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>

#include "sandbox/launcher/keeper_impl.h"
#include "sandbox/launcher/kernel.h"

namespace berth::launcher {
namespace {

constexpr size_t kReadSize = 256 << 10;
// Pages that are shared take as much of a reader's pipe when they are not full.
constexpr int kWorthSharing = 64 << 10;

}  // namespace

Screen* Keeper::screen() {
  if (screen_ == nullptr) {
    screen_ = std::make_unique<Screen>(spec_.rows, spec_.cols,
                                       static_cast<size_t>(spec_.scrollback_lines));
    // Answers to the program's questions, as long as no person's terminal is there to give its own.
    screen_->set_reply(
        [](void* self, const char* bytes, size_t size) {
          auto* keeper = static_cast<Keeper*>(self);
          if (keeper->viewers_.empty() && !keeper->pane_due_)
            keeper->input_.Push({.bytes = std::string(bytes, size)});
        },
        this);
  }
  return screen_.get();
}

size_t Keeper::PassOutput(int fd, size_t most, Output* output) {
  int ready;
  if (spec_.pty || ioctl(fd, FIONREAD, &ready) != 0 || ready < kWorthSharing) return 0;
  // Who fills a pipe is twice as fast with a larger one. It fails, and the pipe stays as it is,
  // once the user's allowance is used up.
  if (fd == stdout_.get() && !stdout_grown_) {
    stdout_grown_ = true;
    fcntl(fd, F_SETPIPE_SZ, kPipeSize);
  }
  (output == &*out_ ? err_ : out_)->Settle();
  if (!log_.path().empty()) {
    output->Share(fd, std::min(most, kReadSize));
    return 0;
  }
  const size_t n = output->Pass(fd, most);
  if (n > 0) OutputSeen();
  return n;
}

void Keeper::OutputSeen() {
  last_output_at_ = NowNs();
  input_.OutputSeen();
}

void Keeper::TakeOutput(std::string_view bytes, Output* output) {
  if (!spec_.pty) (output == &*out_ ? err_ : out_)->Settle();
  output->Append(bytes);
  log_.Write(bytes);
  if (spec_.pty) screen()->Feed(bytes);
  OutputSeen();
}

// False at end of file.
bool Keeper::ReadStream(int fd, Output* output) {
  static char buffer[kReadSize];
  // One pipe's worth at a time while it runs: others want to be served too. After that, all of a
  // full pipe: what the main process wrote is within that, and a daemon that writes without end
  // does not keep us here.
  size_t most = kPipeSize;
  if (phase_ != Phase::kRunning)
    most = static_cast<size_t>(std::max(int{kPipeSize}, fcntl(fd, F_GETPIPE_SZ)));
  while (most > 0) {
    size_t room = most;
    // At the end this is the last chance to read it, whoever lags.
    if (phase_ != Phase::kGone) room = output->Room(room);
    if (room == 0) return true;  // a reader that we wait for has not read: so the program waits
    if (const size_t n = PassOutput(fd, room, output); n > 0) {
      most -= n;
      continue;
    }
    const ssize_t n = read(fd, buffer, std::min(room, sizeof(buffer)));
    if (n > 0) {
      TakeOutput({buffer, static_cast<size_t>(n)}, output);
      most -= static_cast<size_t>(n);
      if (phase_ == Phase::kRunning) return true;
      continue;
    }
    if (n < 0 && errno == EINTR) continue;
    return n < 0 && errno == EAGAIN;
  }
  return true;
}

void Keeper::ReadOutput() {
  if (pty_.ok()) ReadStream(pty_.get(), &*out_);
  if (stdout_.ok() && !ReadStream(stdout_.get(), &*out_)) stdout_.reset();
  if (stderr_.ok() && !ReadStream(stderr_.get(), &*err_)) stderr_.reset();
  ShowStatus();
}

void Keeper::ServeViewers() {
  for (size_t i = 0; i < viewers_.size();) {
    Viewer& viewer = viewers_[i];
    bool gone = false;
    char input[4096];
    ssize_t n;
    while ((n = recv(viewer.socket.get(), input, sizeof(input), MSG_DONTWAIT)) > 0) {
      if (!ended()) input_.Push({.bytes = std::string(input, static_cast<size_t>(n))});
    }
    gone = n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR);
    if (viewer.at < out_->ring().begin()) {
      // Too slow to have seen everything: what counts is the screen as it is now.
      viewer.pending = screen()->Repaint();
      viewer.at = out_->end();
    }
    while (!gone && (!viewer.pending.empty() || viewer.at < out_->end())) {
      const std::string_view piece =
          viewer.pending.empty() ? out_->ring().At(viewer.at) : std::string_view(viewer.pending);
      n = send(viewer.socket.get(), piece.data(), piece.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
      if (n < 0) {
        gone = errno != EAGAIN && errno != EINTR;
        break;
      }
      if (viewer.pending.empty()) {
        viewer.at += static_cast<size_t>(n);
      } else {
        viewer.pending.erase(0, static_cast<size_t>(n));
      }
    }
    const bool finished =
        phase_ == Phase::kGone && viewer.pending.empty() && viewer.at == out_->end();
    if (gone || finished) {
      viewers_.erase(viewers_.begin() + static_cast<ptrdiff_t>(i));
    } else {
      ++i;
    }
  }
}

}  // namespace berth::launcher
