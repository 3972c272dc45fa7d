#include "sandbox/launcher/pane.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <termios.h>
#include <unistd.h>

#include <string>
#include <string_view>

#include "sandbox/base/unique_fd.h"
#include "sandbox/launcher/kernel.h"
#include "sandbox/launcher/pane_protocol.h"
#include "sandbox/launcher/proc.h"
#include "sandbox/launcher/protocol.h"
#include "sandbox/launcher/wire.h"

namespace berth::launcher {
namespace {

constexpr int kLost = 125;  // there is no session to show, or no keeper any more

// Whether the process runs, and is not on its way out: a killed server closes its terminals before
// it stops being our parent. PF_EXITING of include/linux/sched.h tells (proc_pid_stat(5), field 9).
bool IsRunning(pid_t pid) {
  constexpr uint64_t kExiting = 0x4;
  ProcStat stat;
  return ReadProcStat(pid, &stat) && stat.state != 'Z' && stat.state != 'X' &&
         (stat.flags & kExiting) == 0;
}

bool WriteAll(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    bytes.remove_prefix(static_cast<size_t>(n));
  }
  return true;
}

class Pane {
 public:
  Pane(const char* run, const char* uid)
      : run_(open(run, O_PATH | O_DIRECTORY | O_CLOEXEC)), uid_(uid) {}
  int Run();

 private:
  UniqueFd Connect() const;
  bool Start();
  void TellSize();
  bool TakeSignal();
  int Hangup() const;
  int End() const;

  const pid_t server_ = getppid();
  const UniqueFd run_;
  const char* const uid_;
  termios cooked_{};
  UniqueFd signals_, view_, end_, sizes_;
  bool hung_up_ = false, terminated_ = false;
  bool ended_ = false;
  int code_ = kLost, signal_ = 0;
};

UniqueFd Pane::Connect() const {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const int n =
      snprintf(address.sun_path, sizeof(address.sun_path), "/proc/self/fd/%d/%s", run_.get(), uid_);
  if (n < 0 || static_cast<size_t>(n) >= sizeof(address.sun_path)) return UniqueFd();
  UniqueFd fd(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  if (!fd.ok()) return fd;
  while (connect(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0) {
    if (errno != EINTR) return UniqueFd();
  }
  return fd;
}

bool Pane::Start() {
  sigset_t mask;
  sigemptyset(&mask);
  for (const int each : {SIGHUP, SIGTERM, SIGWINCH}) sigaddset(&mask, each);
  sigprocmask(SIG_SETMASK, &mask, nullptr);
  signals_ = UniqueFd(signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK));
  end_ = Connect();
  sizes_ = Connect();
  int pair[2];
  if (!signals_.ok() || !end_.ok() || !sizes_.ok() ||
      socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) {
    return false;
  }
  view_.reset(pair[0]);
  const UniqueFd theirs(pair[1]);
  // The program's own terminal has echoed and translated everything; this one only shows it.
  if (tcgetattr(0, &cooked_) == 0) {
    termios raw = cooked_;
    cfmakeraw(&raw);
    tcsetattr(0, TCSANOW, &raw);
  }
  const int fd = theirs.get();
  if (SendMessage(end_.get(), kView, "", &fd, 1) != 0) return false;
  TellSize();
  return true;
}

void Pane::TellSize() {
  winsize size{};
  if (ioctl(0, TIOCGWINSZ, &size) != 0 || size.ws_row == 0 || size.ws_col == 0) return;
  Writer out;
  out.Put(uint16_t{size.ws_row}).Put(uint16_t{size.ws_col});
  SendMessage(sizes_.get(), kResize, out.body(), nullptr, 0);
}

// False once it is time to go.
bool Pane::TakeSignal() {
  signalfd_siginfo info;
  while (read(signals_.get(), &info, sizeof(info)) == ssize_t{sizeof(info)}) {
    if (info.ssi_signo == SIGWINCH) TellSize();
    if (info.ssi_signo == SIGHUP) hung_up_ = true;
    if (info.ssi_signo == SIGTERM) terminated_ = true;
  }
  return !hung_up_ && !terminated_;
}

int Pane::Hangup() const {
  if (!ended_ && IsRunning(server_)) {
    // Somebody closed the window: that is how sessions of such a manager are ended.
    if (const UniqueFd socket = Connect(); socket.ok()) {
      SendMessage(socket.get(), kClosed, "", nullptr, 0);
    }
  }
  return kLost;
}

int Pane::End() const {
  tcsetattr(0, TCSADRAIN, &cooked_);
  if (!ended_) {
    static constexpr char kText[] = "\r\nberth: the keeper of this session is gone\r\n";
    WriteAll(1, kText);
    return kLost;
  }
  if (signal_ != 0) {
    // As the program did, so that the window's owner sees the signal; its core is not ours to dump.
    const rlimit none{};
    setrlimit(RLIMIT_CORE, &none);
    sigset_t mask;
    sigfillset(&mask);
    sigdelset(&mask, signal_);
    signal(signal_, SIG_DFL);
    kill(getpid(), signal_);
    sigprocmask(SIG_SETMASK, &mask, nullptr);
    return 128 + signal_;
  }
  return code_;
}

int Pane::Run() {
  if (!Start()) return End();
  static char buffer[64 << 10];
  bool told = false;  // the keeper has said its last word
  while (view_.ok() || !told) {
    pollfd fds[] = {{signals_.get(), POLLIN, 0},
                    {view_.ok() ? 0 : -1, POLLIN, 0},
                    {view_.get(), POLLIN, 0},
                    {told ? -1 : end_.get(), POLLIN, 0},
                    {sizes_.get(), POLLIN, 0}};
    if (poll(fds, 5, -1) < 0) continue;
    if (fds[0].revents != 0 && !TakeSignal()) return terminated_ ? 128 + SIGTERM : Hangup();
    if (fds[2].revents != 0) {
      const ssize_t n = read(view_.get(), buffer, sizeof(buffer));
      if (n > 0) {
        if (!WriteAll(1, {buffer, static_cast<size_t>(n)})) return Hangup();
      } else if (n == 0 || errno != EINTR) {
        view_.reset();
      }
    }
    if (fds[1].revents != 0 && view_.ok()) {
      const ssize_t n = read(0, buffer, sizeof(buffer));
      if (n > 0) {
        WriteAll(view_.get(), {buffer, static_cast<size_t>(n)});
      } else if (n == 0 || errno != EINTR) {
        return Hangup();
      }
    }
    if (fds[3].revents != 0) {
      Message message;
      const int error = ReceiveMessage(end_.get(), &message);
      if (error == 0 && message.type == kOk) {
        Reader in = message.reader();
        code_ = in.Get<int32_t>();
        signal_ = in.Get<int32_t>();
        ended_ = in.ok();
      }
      told = true;
      if (!ended_) view_.reset();
    }
    if (fds[4].revents != 0) {
      Message message;  // the answer to a size, of no interest
      if (ReceiveMessage(sizes_.get(), &message) != 0) sizes_.reset();
    }
  }
  return End();
}

}  // namespace

int RunPane(const char* run, const char* uid) { return Pane(run, uid).Run(); }

int RunHold(const char* pid, const char* start_time, const char* pid_namespace) {
  prctl(PR_SET_NAME, "berth-hold");
  struct stat space;
  UniqueFd host;
  // Another pid namespace's process cannot be watched: then who connects next takes the window
  // away.
  if (stat("/proc/self/ns/pid", &space) == 0 && std::to_string(space.st_ino) == pid_namespace) {
    host.reset(PidfdOpen(atoi(pid)));
    ProcStat stat;
    if (!host.ok() || !ReadProcStat(atoi(pid), &stat) ||
        std::to_string(stat.start_time) != start_time) {
      return 0;
    }
  }
  pollfd ended{host.get(), POLLIN, 0};
  while (poll(&ended, 1, -1) < 0) {
  }
  return 0;
}

}  // namespace berth::launcher
