#include <errno.h>
#include <fcntl.h>
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

}  // namespace

Screen* Keeper::screen() {
  if (screen_ == nullptr) {
    screen_ = std::make_unique<Screen>(spec_.rows, spec_.cols,
                                       static_cast<size_t>(spec_.scrollback_lines));
    // Answers to the program's questions, as long as no person's terminal is there to give its own.
    screen_->set_reply(
        [](void* self, const char* bytes, size_t size) {
          auto* keeper = static_cast<Keeper*>(self);
          if (keeper->viewers_.empty()) keeper->input_.Push({.bytes = std::string(bytes, size)});
        },
        this);
  }
  return screen_.get();
}

void Keeper::TakeOutput(std::string_view bytes, Output* output) {
  last_output_at_ = NowNs();
  output->Append(bytes);
  log_.Write(bytes);
  if (spec_.pty) {
    screen()->Feed(bytes);
  } else {
    mixed_.Append(bytes, ~uint64_t{0});
  }
  input_.OutputSeen();
}

// False at end of file.
bool Keeper::ReadStream(int fd, Output* output) {
  static char buffer[kReadSize];
  // One buffer at a time while it runs: others want to be served too. Then a full pipe: what the
  // main process wrote is within that, and a daemon that writes without end does not keep us here.
  size_t most = sizeof(buffer);
  if (phase_ != Phase::kRunning)
    most = static_cast<size_t>(std::max(int{kPipeSize}, fcntl(fd, F_GETPIPE_SZ)));
  while (most > 0) {
    size_t room = std::min(most, sizeof(buffer));
    // At the end this is the last chance to read it, whoever lags.
    if (phase_ != Phase::kGone) room = output->Room(room);
    if (room == 0) return true;  // a reader that we wait for has not read: so the program waits
    const ssize_t n = read(fd, buffer, room);
    if (n > 0) {
      TakeOutput({buffer, static_cast<size_t>(n)}, output);
      most -= static_cast<size_t>(n);
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
