#include "runtime/docker/relay/inside.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/docker/relay/frames.h"
#include "runtime/docker/relay/queue.h"
#include "sandbox/base/unique_fd.h"
#include "sandbox/launcher/cgroup.h"
#include "sandbox/launcher/child.h"
#include "sandbox/launcher/kernel.h"
#include "sandbox/launcher/pty.h"
#include "sandbox/launcher/tree.h"
#include "sandbox/launcher/wire.h"

namespace berth::relay {
namespace {

using launcher::ChildPlan;
using launcher::Step;

constexpr size_t kOutputQueue = 256 << 10;  // read from the program, not yet taken by the engine
constexpr size_t kPiece = 32 << 10;
// Milliseconds until a container ends whose maker died before it could tell what to run. A relay
// that comes later than that starts it again.
constexpr int kSetupWait = 5000;
constexpr int kLastWords = 10000;  // milliseconds for the engine to take what is left at the end

// In the child. On top of the engine's own filter; both must agree.
bool Confine(std::vector<sock_filter>* filter) {
  if (filter->empty()) return true;
  sock_fprog program{static_cast<unsigned short>(filter->size()), filter->data()};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) == 0;
}

class Inside {
 public:
  explicit Inside(bool first) : first_(first) {}
  int Run();

 private:
  bool Take(char type, std::string_view body);
  bool SetUp(std::string_view body);
  ChildPlan::Error StartProgram(const char* cwd, const std::vector<const char*>& argv,
                                std::vector<const char*> env);
  void Poll();
  void ReadStdin();
  bool ReadOutput(UniqueFd* fd, char type);
  void TakeSignals();
  void Reap();
  void SignalTree(int signal);
  void KillTree();
  int End();

  const bool first_;
  UniqueFd signals_;
  std::optional<launcher::Tree> tree_;  // of an exec
  FrameReader frames_;
  Queue out_, input_;
  bool input_ends_ = false, outside_gone_ = false, set_up_ = false, failed_ = false;

  std::vector<sock_filter> filter_;  // of system calls, for the program
  bool pty_ = false;
  UniqueFd terminal_, slave_, stdin_, stdout_, stderr_;
  pid_t main_ = -1;
  bool ended_ = false;
  int status_ = 0;
  uint64_t sent_ = 0;      // signals from outside, bit n - 1 is signal n
  bool stopping_ = false;  // one was for the whole tree
};

void Inside::SignalTree(int signal) {
  stopping_ = true;
  if (!first_) {
    tree_->Signal(signal);
    return;
  }
  kill(-1, signal);  // everybody in this pid namespace but us
  if (signal == SIGTERM) kill(-1, SIGCONT);
}

void Inside::KillTree() {
  if (first_) {
    kill(-1, SIGKILL);
  } else if (!tree_->Empty()) {
    tree_->Kill();
  }
}

ChildPlan::Error Inside::StartProgram(const char* cwd, const std::vector<const char*>& argv,
                                      std::vector<const char*> env) {
  UniqueFd theirs[3];
  const auto make_pipe = [](UniqueFd* reads, UniqueFd* writes) {
    int fds[2];
    if (pipe2(fds, O_CLOEXEC) != 0) return false;
    reads->reset(fds[0]);
    writes->reset(fds[1]);
    return true;
  };
  ChildPlan plan;
  if (pty_) {
    for (UniqueFd& fd : theirs) fd.reset(fcntl(slave_.get(), F_DUPFD_CLOEXEC, 3));
  } else if (!make_pipe(&theirs[0], &stdin_) || !make_pipe(&stdout_, &theirs[1]) ||
             !make_pipe(&stderr_, &theirs[2])) {
    return {Step::kStdio, errno};
  }
  for (int fd : {terminal_.get(), stdin_.get(), stdout_.get(), stderr_.get()}) {
    if (fd >= 0) SetNonBlocking(fd);
  }
  UniqueFd errors, errors_write;
  if (!make_pipe(&errors, &errors_write)) return {Step::kStdio, errno};
  for (int i = 0; i < 3; ++i) plan.stdio[i] = theirs[i].get();
  plan.cwd = cwd;
  plan.argv = argv.data();
  plan.env = env.data();
  plan.own_session = true;
  plan.terminal = pty_;
  plan.dies_with_parent = false;
  plan.error_fd = errors_write.get();
  // Not clone3, which the engine's seccomp filter refuses.
  main_ = fork();
  if (main_ < 0) return {Step::kClone, errno};
  if (main_ == 0) {
    if (Confine(&filter_)) launcher::RunChild(&plan);
    const ChildPlan::Error refused{Step::kExec, errno};
    [[maybe_unused]] const ssize_t n = write(plan.error_fd, &refused, sizeof(refused));
    _exit(127);
  }
  errors_write.reset();
  ChildPlan::Error error;
  ssize_t n;
  while ((n = read(errors.get(), &error, sizeof(error))) < 0 && errno == EINTR) {
  }
  if (n == 0) return {};  // executed: its end of the pipe closed by that
  return n == ssize_t{sizeof(error)} ? error : ChildPlan::Error{Step::kExec, EIO};
}

bool Inside::SetUp(std::string_view body) {
  launcher::Reader in(body.data(), body.size());
  pty_ = in.Get<uint8_t>() != 0;
  const uint16_t rows = in.Get<uint16_t>(), cols = in.Get<uint16_t>();
  const char* cwd = in.GetString();
  const std::vector<const char*> argv = in.GetStrings(1 << 20);
  std::vector<const char*> env = in.GetStrings(1 << 20);
  const std::string_view filter = in.GetBytes();
  if (!in.done() || env.empty() || filter.size() % sizeof(sock_filter) != 0) return false;
  filter_.resize(filter.size() / sizeof(sock_filter));
  memcpy(filter_.data(), filter.data(), filter.size());
  // What the engine knows and the outside does not: the home of the image's user.
  std::string home = "HOME=";
  bool has_home = false;
  for (const char* entry : env) has_home |= entry != nullptr && strncmp(entry, "HOME=", 5) == 0;
  if (const char* ours = getenv("HOME"); ours != nullptr && !has_home) {
    home += ours;
    env.insert(env.begin(), home.c_str());
  }
  set_up_ = true;
  ChildPlan::Error error;
  if (pty_) {
    launcher::Pty pty;
    if (int opened = launcher::OpenPty(rows, cols, &pty); opened != 0) {
      error = {Step::kTerminal, opened};
    } else {
      terminal_ = std::move(pty.master);
      slave_ = std::move(pty.slave);
    }
  }
  // No command: the container waits, and programs come by exec.
  if (error.step == Step::kNone && argv.size() > 1) error = StartProgram(cwd, argv, std::move(env));
  launcher::Writer out;
  if (error.step != Step::kNone) {
    out.Put(error.step).Put(int32_t{error.error});
    out_.Push(Frame(kNotStarted, out.body()));
    failed_ = ended_ = true;
  } else {
    out_.Push(Frame(kStarted, ""));
  }
  return true;
}

bool Inside::Take(char type, std::string_view body) {
  launcher::Reader in(body.data(), body.size());
  if (!set_up_) return type == kSetUp && SetUp(body);
  switch (type) {
    case kInput:
      if (ended_ || (!pty_ && !stdin_.ok())) {
        launcher::Writer out;  // nobody takes it: gone as far as the outside is concerned
        out.Put(static_cast<uint32_t>(body.size()));
        out_.Push(Frame(kTaken, out.body()));
      } else {
        input_.Push(body);
      }
      return true;
    case kInputEnd:
      input_ends_ = true;
      return true;
    case kSize: {
      const uint16_t rows = in.Get<uint16_t>(), cols = in.Get<uint16_t>();
      if (terminal_.ok() && in.done()) launcher::ResizePty(terminal_.get(), rows, cols);
      return true;
    }
    case kSignal: {
      const uint8_t signal = in.Get<uint8_t>();
      if (!in.done() || signal == 0 || signal > 64 || main_ <= 0 || ended_) return true;
      sent_ |= uint64_t{1} << (signal - 1);
      kill(main_, signal);  // our child, not reaped: nobody else can have its number
      return true;
    }
    case kSignalTree:
      SignalTree(in.Get<uint8_t>());
      return true;
    default:
      return true;
  }
}

void Inside::ReadStdin() {
  char buffer[kPiece];
  const ssize_t n = read(0, buffer, sizeof(buffer));
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
  const bool whole =
      n > 0 && frames_.Feed({buffer, static_cast<size_t>(n)},
                            [this](char type, std::string_view body) { return Take(type, body); });
  if (whole) return;
  outside_gone_ = true;
  // A session goes on without its outside; an exec belongs to it.
  if (!first_ || !set_up_) KillTree();
  if (!first_ && main_ > 0 && !ended_) kill(main_, SIGKILL);
}

// False at the end of the stream.
bool Inside::ReadOutput(UniqueFd* fd, char type) {
  char buffer[kPiece];
  while (fd->ok() && out_.size() < kOutputQueue) {
    const ssize_t n = read(fd->get(), buffer, sizeof(buffer));
    if (n > 0) {
      out_.Push(Frame(type, {buffer, static_cast<size_t>(n)}));
      continue;
    }
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) return true;
    fd->reset();  // EIO from a terminal that nobody has open any more
  }
  return fd->ok();
}

void Inside::TakeSignals() {
  signalfd_siginfo info;
  while (read(signals_.get(), &info, sizeof(info)) == ssize_t{sizeof(info)}) {
    const int signal = static_cast<int>(info.ssi_signo);
    if (signal == SIGCHLD) continue;
    if (!first_ || info.ssi_pid != 0) continue;  // only the engine is outside this pid namespace
    if (signal == SIGTERM || signal == SIGINT || signal == SIGHUP || signal == SIGQUIT) {
      SignalTree(signal);
      if (main_ <= 0) ended_ = true;  // a container that only waits
    } else if (main_ > 0 && !ended_) {
      sent_ |= uint64_t{1} << (signal - 1);
      kill(main_, signal);
    }
  }
}

void Inside::Reap() {
  int status;
  for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG)) > 0;) {
    if (pid != main_ || ended_) continue;
    ended_ = true;
    status_ = status;
  }
}

void Inside::Poll() {
  const short reads = out_.size() < kOutputQueue ? POLLIN : 0;
  const bool writes = !input_.empty();
  pollfd fds[] = {
      {signals_.get(), POLLIN, 0},
      {outside_gone_ ? -1 : 0, POLLIN, 0},
      {out_.empty() ? -1 : 1, POLLOUT, 0},
      {terminal_.get(), static_cast<short>(reads | (writes ? POLLOUT : 0)), 0},
      {writes ? stdin_.get() : -1, POLLOUT, 0},
      {reads != 0 ? stdout_.get() : -1, POLLIN, 0},
      {reads != 0 ? stderr_.get() : -1, POLLIN, 0},
  };
  const int ready = poll(fds, sizeof(fds) / sizeof(fds[0]), set_up_ ? -1 : kSetupWait);
  if (ready == 0) outside_gone_ = true;
  if (ready <= 0) return;
  if (fds[1].revents != 0) ReadStdin();
  ReadOutput(&terminal_, kOutput);
  ReadOutput(&stdout_, kOutput);
  ReadOutput(&stderr_, kErrors);
  if (!input_.empty()) {
    size_t taken = 0;
    if (!input_.Write(pty_ ? terminal_.get() : stdin_.get(), &taken)) {
      taken += input_.size();
      input_.Clear();
      stdin_.reset();
    }
    if (taken > 0) {
      launcher::Writer out;
      out.Put(static_cast<uint32_t>(taken));
      out_.Push(Frame(kTaken, out.body()));
    }
  }
  if (input_ends_ && input_.empty()) stdin_.reset();
  if (!out_.Write(1)) out_.Clear();
  if (fds[0].revents != 0) TakeSignals();
  Reap();
}

// Nothing outlives the main program. Then what it had written, then how it ended.
int Inside::End() {
  slave_.reset();
  // Of the first process, whatever is left dies with it: one that it may not signal (another
  // user's) does not hold it up.
  const uint64_t give_up = launcher::NowNs() + uint64_t{kLastWords} * 1000000;
  while (launcher::NowNs() < give_up) {
    KillTree();
    int status;
    pid_t pid;
    while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
    }
    if (pid < 0) break;
    pollfd wait{signals_.get(), POLLIN, 0};
    poll(&wait, 1, 100);
    TakeSignals();
  }
  const auto flush = [this] {
    pollfd wait{1, POLLOUT, 0};
    while (!out_.empty()) {
      if (poll(&wait, 1, kLastWords) == 0 || !out_.Write(1)) return false;
    }
    return true;
  };
  // In rounds, because the queue is bounded: everybody who could write is gone, so this ends.
  for (bool more = true; more;) {
    more = ReadOutput(&terminal_, kOutput) && out_.size() >= kOutputQueue;
    more |= ReadOutput(&stdout_, kOutput) && out_.size() >= kOutputQueue;
    more |= ReadOutput(&stderr_, kErrors) && out_.size() >= kOutputQueue;
    if (!flush()) break;
  }
  const int signal = WIFSIGNALED(status_) ? WTERMSIG(status_) : 0;
  const int code = signal == 0 ? WEXITSTATUS(status_) : 0;
  const bool stopped = stopping_ || (signal != 0 && (sent_ >> (signal - 1) & 1) != 0);
  launcher::Writer out;
  out.Put(int32_t{code}).Put(int32_t{signal}).Put(stopped);
  if (!failed_) out_.Push(Frame(kEnded, out.body()));
  flush();
  return failed_ ? 127 : signal != 0 ? 128 + signal : code;
}

int Inside::Run() {
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, nullptr);
  signals_.reset(signalfd(-1, &all, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!signals_.ok()) return 126;
  if (!first_) tree_.emplace(launcher::Cgroup());
  SetNonBlocking(0);
  SetNonBlocking(1);
  while (!ended_) {
    Poll();
    if (outside_gone_ && !set_up_) return 126;  // never started, and never will be
    if (outside_gone_ && !first_ && main_ <= 0) return 126;
  }
  return End();
}

}  // namespace

int RunInside(bool first) {
  // The first process signals everybody it sees: that is the container only where it is pid 1, and
  // not with the pid namespace of somebody else.
  if (first && getpid() != 1) return 126;
  return Inside(first).Run();
}

}  // namespace berth::relay
