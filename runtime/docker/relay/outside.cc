#include "runtime/docker/relay/outside.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/docker/relay/container.h"
#include "runtime/docker/relay/frames.h"
#include "runtime/docker/relay/http.h"
#include "runtime/docker/relay/queue.h"
#include "runtime/docker/relay/signals.h"
#include "sandbox/base/unique_fd.h"
#include "sandbox/launcher/kernel.h"
#include "sandbox/launcher/signals.h"
#include "sandbox/launcher/wire.h"

namespace berth::relay {
namespace {

using launcher::kNever;

constexpr size_t kPiece = 32 << 10;
constexpr size_t kOutputQueue = 256 << 10;

// Reasons, as EndReason counts them.
constexpr int kWall = 4, kInactivity = 5;

uint64_t After(int64_t ms) { return launcher::NowNs() + static_cast<uint64_t>(ms) * 1000000; }

class Outside {
 public:
  Outside(Container container, std::string report)
      : container_(std::move(container)), report_path_(std::move(report)) {}

  std::string end_path, filter, cwd;
  bool main = true, cleanup = false;
  uint64_t grace_ms = 0;
  int64_t wall_ms = -1, inactivity_ms = -1;  // negative: none
  std::vector<const char*> command;

  int Run();

 private:
  void Report(const std::string& text);
  bool Open();  // the stream, with what runs behind it started
  void SendSetup();
  bool Take(char type, std::string_view body);
  void Pump();
  void ReadStream();
  void ReadInput();
  void TakeSignals();
  void PushSize();
  void Stop();
  void CheckLimits();
  void LearnEnd();
  [[noreturn]] void Finish();

  Container container_;
  const std::string report_path_;
  UniqueFd stream_, signals_;
  std::string early_;  // of the stream, came with the answer's head
  bool terminal_ = false;
  Demux demux_;
  FrameReader frames_;
  Queue to_engine_, out_, err_;
  size_t window_ = kInputWindow;
  bool input_open_ = true, stream_open_ = true, reported_ = false;
  bool ended_ = false;  // the inside has said how
  uint64_t kill_at_ = kNever, wall_at_ = kNever, quiet_at_ = kNever;
  End end_;
};

void Outside::Report(const std::string& text) {
  if (reported_) return;
  reported_ = true;
  // Nobody reads there once whoever started the session has died: not an error.
  const UniqueFd fd(open(report_path_.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW));
  if (fd.ok()) [[maybe_unused]]
    const ssize_t n = write(fd.get(), text.data(), text.size());
}

std::string FromHex(std::string_view text) {
  const auto digit = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
  std::string out;
  for (size_t i = 0; i + 1 < text.size(); i += 2) {
    out.push_back(static_cast<char>(digit(text[i]) << 4 | digit(text[i + 1])));
  }
  return out;
}

std::string Failure(const char* step, const Answer& answer) {
  return "X " + std::to_string(answer.status) + " " + step + ": " + answer.body.substr(0, 2000);
}

bool Outside::Open() {
  Answer answer = main ? container_.Attach(&stream_) : container_.Exec(&stream_);
  if (!stream_.ok())
    return Report(Failure(main ? "attach to the container" : "start the exec", answer)), false;
  early_ = answer.body;
  SetNonBlocking(stream_.get());
  SendSetup();
  if (!main) return true;
  // Whoever made the session may have asked for the start already: then this waits for it.
  answer = container_.Start();
  if (answer.status / 100 != 2 && answer.status != 304)
    return Report(Failure("start the container", answer)), false;
  return true;
}

void Outside::SendSetup() {
  winsize size{};
  if (terminal_) ioctl(0, TIOCGWINSZ, &size);
  std::vector<std::string_view> env;
  for (char** entry = environ; *entry != nullptr; ++entry) env.push_back(*entry);
  launcher::Writer out;
  out.Put(terminal_).Put(uint16_t{size.ws_row}).Put(uint16_t{size.ws_col});
  out.Put(std::string_view(cwd)).PutList(command).PutList(env).Put(std::string_view(filter));
  to_engine_.Push(Frame(kSetUp, out.body()));
  if (!to_engine_.Write(stream_.get())) to_engine_.Clear();
}

bool Outside::Take(char type, std::string_view body) {
  launcher::Reader in(body.data(), body.size());
  switch (type) {
    case kStarted:
      // Time counts from here, not from when a container was asked for.
      if (wall_ms >= 0) wall_at_ = After(wall_ms);
      if (inactivity_ms >= 0) quiet_at_ = After(inactivity_ms);
      Report("R");
      return true;
    case kNotStarted: {
      const uint8_t step = in.Get<uint8_t>();
      const int32_t error = in.Get<int32_t>();
      Report("E " + std::to_string(step) + " " + std::to_string(error));
      return true;
    }
    case kOutput:
    case kErrors:
      (type == kOutput ? out_ : err_).Push(body);
      if (quiet_at_ != kNever) quiet_at_ = After(inactivity_ms);
      return true;
    case kTaken:
      window_ += in.Get<uint32_t>();
      return in.done() && window_ <= kInputWindow;
    case kEnded:
      end_.code = in.Get<int32_t>();
      end_.signal = in.Get<int32_t>();
      end_.stopped = in.Get<uint8_t>() != 0;
      ended_ = in.done();
      // Of an exec this is the last word; the engine takes long to find out that it has ended.
      return ended_ && main;
    default:
      return true;
  }
}

void Outside::ReadStream() {
  char buffer[kPiece];
  const ssize_t n = read(stream_.get(), buffer, sizeof(buffer));
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
  const auto feed = [this](std::string_view bytes) {
    return demux_.Feed(bytes, [this](int stream, std::string_view piece) {
      // What the inside itself says on stderr is none of ours.
      return stream == 2 || frames_.Feed(piece, [this](char type, std::string_view body) {
        return Take(type, body);
      });
    });
  };
  if (!early_.empty()) {
    const std::string early = std::move(early_);
    early_.clear();
    if (!feed(early)) stream_open_ = false;
  }
  if (n <= 0 || !feed({buffer, static_cast<size_t>(n)})) stream_open_ = false;
}

void Outside::ReadInput() {
  char buffer[kPiece];
  const ssize_t n = read(0, buffer, std::min(sizeof(buffer), window_));
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (n <= 0) {
    input_open_ = false;
    if (!terminal_) to_engine_.Push(Frame(kInputEnd, ""));
    return;
  }
  window_ -= static_cast<size_t>(n);
  to_engine_.Push(Frame(kInput, {buffer, static_cast<size_t>(n)}));
}

void Outside::PushSize() {
  winsize size{};
  if (!terminal_ || ioctl(0, TIOCGWINSZ, &size) != 0) return;
  launcher::Writer out;
  out.Put(uint16_t{size.ws_row}).Put(uint16_t{size.ws_col});
  to_engine_.Push(Frame(kSize, out.body()));
}

// The engine ends the container, so that this holds whatever has become of the stream.
void Outside::Stop() {
  if (!main) {
    to_engine_.Push(Frame(kSignalTree, std::string(1, static_cast<char>(SIGTERM))));
    return;
  }
  if (kill_at_ != kNever) return;
  kill_at_ = launcher::NowNs() + grace_ms * 1000000;
  container_.Kill("TERM");
}

void Outside::CheckLimits() {
  const uint64_t now = launcher::NowNs();
  if (std::min(wall_at_, quiet_at_) > now) return;
  if (kill_at_ == kNever) end_.reason = wall_at_ <= now ? kWall : kInactivity;
  wall_at_ = quiet_at_ = kNever;
  Stop();
}

void Outside::TakeSignals() {
  signalfd_siginfo info;
  while (read(signals_.get(), &info, sizeof(info)) == ssize_t{sizeof(info)}) {
    const int number = static_cast<int>(info.ssi_signo);
    if (number == SIGCHLD || number == SIGPIPE) continue;
    if (number == SIGWINCH) {
      PushSize();
    } else if (number == SIGTERM) {
      Stop();
    } else if (number == TermTree() || number == KillTree()) {
      const int sent = number == TermTree() ? SIGTERM : SIGKILL;
      to_engine_.Push(Frame(kSignalTree, std::string(1, static_cast<char>(sent))));
    } else {
      to_engine_.Push(Frame(kSignal, std::string(1, static_cast<char>(Undisguise(number)))));
    }
  }
}

void Outside::Pump() {
  const bool room = out_.size() < kOutputQueue && err_.size() < kOutputQueue;
  const bool takes = input_open_ && window_ > 0 && to_engine_.size() < kOutputQueue;
  pollfd fds[] = {
      {signals_.get(), POLLIN, 0},
      {stream_open_ ? stream_.get() : -1,
       static_cast<short>((room ? POLLIN : 0) | (to_engine_.empty() ? 0 : POLLOUT)), 0},
      {takes && stream_open_ ? 0 : -1, POLLIN, 0},
      {out_.empty() ? -1 : 1, POLLOUT, 0},
      {err_.empty() ? -1 : 2, POLLOUT, 0},
  };
  const uint64_t next = std::min({kill_at_, wall_at_, quiet_at_});
  if (poll(fds, 5, early_.empty() ? launcher::PollTimeout(next) : 0) < 0) return;
  if (fds[0].revents != 0) TakeSignals();
  if ((fds[1].revents & (POLLIN | POLLHUP | POLLERR)) != 0 || !early_.empty()) ReadStream();
  if (fds[2].revents != 0) ReadInput();
  if (stream_open_ && !to_engine_.Write(stream_.get())) to_engine_.Clear();
  // Nobody reads: what is written is for nobody.
  if (!out_.Write(1)) out_.Clear();
  if (!err_.Write(2)) err_.Clear();
  CheckLimits();
  if (kill_at_ <= launcher::NowNs()) {
    kill_at_ = launcher::NowNs() + 5000000000;
    container_.Kill("KILL");
  }
}

// An engine that does not answer says nothing of the container: it is asked again until it does.
void Outside::LearnEnd() {
  // Only a KILL can have been for want of memory; a shell tells that of its program as 137.
  const bool killed = end_.signal == SIGKILL || end_.code == 128 + SIGKILL;
  if (ended_ && (!killed || end_.stopped)) return;
  uint64_t pause_ms = 100;
  while (!container_.AskForEnd(ended_, &end_)) {
    pollfd wait{signals_.get(), POLLIN, 0};
    if (poll(&wait, 1, static_cast<int>(pause_ms)) > 0) {
      signalfd_siginfo info;
      while (read(signals_.get(), &info, sizeof(info)) == ssize_t{sizeof(info)}) {
        if (info.ssi_signo == SIGTERM) return;
      }
    }
    pause_ms = std::min<uint64_t>(pause_ms * 2, 5000);
  }
}

void Outside::Finish() {
  if (main) {
    const std::string text = std::to_string(end_.code) + " " + std::to_string(end_.signal) + " " +
                             (end_.oom ? "1 " : "0 ") + (end_.stopped ? "1 " : "0 ") +
                             std::to_string(end_.reason) + "\n";
    const std::string fresh = end_path + ".new";
    {
      const UniqueFd fd(
          open(fresh.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600));
      if (fd.ok() && write(fd.get(), text.data(), text.size()) == ssize_t(text.size()))
        rename(fresh.c_str(), end_path.c_str());
    }
    if (cleanup && kill_at_ != kNever) container_.Remove();
  }
  if (end_.signal != 0) {
    signal(end_.signal, SIG_DFL);
    sigset_t none;
    sigemptyset(&none);
    kill(getpid(), end_.signal);
    sigprocmask(SIG_SETMASK, &none, nullptr);
  }
  _exit(end_.signal != 0 ? 128 + end_.signal : end_.code);
}

int Outside::Run() {
  sigset_t all;
  sigfillset(&all);
  for (int fault : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT}) sigdelset(&all, fault);
  sigprocmask(SIG_SETMASK, &all, nullptr);
  signals_.reset(signalfd(-1, &all, SFD_CLOEXEC | SFD_NONBLOCK));
  termios settings;
  terminal_ = tcgetattr(0, &settings) == 0;
  if (terminal_) {
    // The terminal that counts is the one in the container; this one is a pipe with a size.
    cfmakeraw(&settings);
    tcsetattr(0, TCSANOW, &settings);
  }
  if (!Open()) return 125;
  // Input is read only when poll says so; output may be a terminal that input shares.
  SetNonBlocking(1);
  SetNonBlocking(2);
  while (stream_open_ || !out_.empty() || !err_.empty()) Pump();
  Report("X 0 the connection to the container was lost before its program started");
  stream_.reset();
  LearnEnd();
  Finish();
}

}  // namespace

int RunMain(int argc, char** argv) {
  if (argc < 11) return 2;
  Outside outside({argv[0], argv[1], argv[2]}, argv[3]);
  outside.end_path = argv[4];
  outside.cleanup = strcmp(argv[5], "remove") == 0;
  outside.grace_ms = strtoull(argv[6], nullptr, 10);
  outside.wall_ms = strtoll(argv[7], nullptr, 10);
  outside.inactivity_ms = strtoll(argv[8], nullptr, 10);
  outside.filter = FromHex(argv[9]);
  outside.cwd = argv[10];
  outside.command.assign(argv + 11, argv + argc);
  return outside.Run();
}

int RunExec(int argc, char** argv) {
  if (argc < 7) return 2;
  Outside outside({argv[0], argv[1], argv[2]}, argv[3]);
  outside.main = false;
  outside.filter = FromHex(argv[4]);
  outside.cwd = argv[5];
  outside.command.assign(argv + 6, argv + argc);
  return outside.Run();
}

}  // namespace berth::relay
