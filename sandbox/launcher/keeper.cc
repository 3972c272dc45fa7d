#include "sandbox/launcher/keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <utility>

#include "sandbox/launcher/child.h"
#include "sandbox/launcher/enter/denials.h"
#include "sandbox/launcher/enter/plan_cache.h"
#include "sandbox/launcher/exit_notice.h"
#include "sandbox/launcher/keeper_impl.h"
#include "sandbox/launcher/kernel.h"
#include "sandbox/launcher/proc.h"
#include "sandbox/launcher/pty.h"

namespace berth::launcher {
namespace {

constexpr uint64_t kSupervisorTime = 2000000000;
// Reasons, as EndReason of runtime/types.h counts them.
constexpr uint8_t kWall = 4, kInactivity = 5;

// Of the kernel's default size: all pipes of a user share one allowance (pipe-user-pages-soft), and
// there may be hundreds of sessions.
bool MakePipe(UniqueFd* reads, UniqueFd* writes) {
  int fds[2];
  if (pipe2(fds, O_CLOEXEC) != 0) return false;
  reads->reset(fds[0]);
  writes->reset(fds[1]);
  return true;
}

// For a byte, or an error: takes the least of that allowance.
bool MakeSmallPipe(UniqueFd* reads, UniqueFd* writes) {
  if (!MakePipe(reads, writes)) return false;
  fcntl(reads->get(), F_SETPIPE_SZ, 1);
  return true;
}

void SetNonBlocking(int fd) { fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK); }

}  // namespace

int RunKeeper(bool cgroups) { return Keeper(cgroups).Run(); }

// --- start ---

Step Keeper::SetUp(Message* message, int* error) {
  *error = EINVAL;
  if (!spec_.Decode(*message) || message->fds.size() != 3) return Step::kRequest;
  if (Failure failure; !spec_.plan.empty() && !ReadPlan(spec_.plan, &sandbox_, &failure)) {
    *error = failure.error;
    return failure.step;
  }
  violations_.set_network(sandbox_.network);
  files_.session = message->TakeFd(0);
  files_.names = message->TakeFd(1);
  files_.run = message->TakeFd(2);
  files_.uid = spec_.uid;
  files_.name = spec_.name;
  const size_t keep = static_cast<size_t>(spec_.keep_bytes);
  out_.emplace(keep, spec_.pty ? nullptr : &mixed_);
  err_.emplace(keep, spec_.pty ? nullptr : &mixed_);
  if (!spec_.log_path.empty()) {
    *error = log_.Open(spec_.log_path, spec_.log_cap);
    if (*error != 0) return Step::kStdio;
  }
  listener_ = files_.Listen();
  if (!listener_.ok()) {
    *error = errno;
    return Step::kSocket;
  }
  if (cgroups_) group_ = Cgroup::Home().MakeChild("berth-" + spec_.uid);
  tree_.emplace(group_.MakeChild("main"));
  execs_.emplace(&group_);
  if (Failure failure; !limits_.Make(sandbox_, group_.dir_fd(), "berth-" + spec_.uid, &failure)) {
    *error = failure.error;
    return failure.step;
  }
  execs_->ShareLimits(&limits_);
  execs_->ShareViolations(&violations_);
  if (Failure failure; !proxy_.Start(sandbox_, &failure)) {
    *error = failure.error;
    return failure.step;
  }
  Step step = Step::kNone;
  return StartMain(error, &step) ? Step::kNone : step;
}

bool Keeper::StartMain(int* error, Step* step) {
  UniqueFd child_stdio[3];
  if (spec_.pty) {
    Pty pty;
    if ((*error = OpenPty(spec_.rows, spec_.cols, &pty)) != 0) {
      *step = Step::kTerminal;
      return false;
    }
    pty_ = std::move(pty.master);
    // Kept open: a program that closes its terminal and opens it again finds it as it was.
    pty_slave_ = std::move(pty.slave);
    for (UniqueFd& fd : child_stdio) fd.reset(fcntl(pty_slave_.get(), F_DUPFD_CLOEXEC, 3));
  } else if (!MakePipe(&child_stdio[0], &stdin_) || !MakePipe(&stdout_, &child_stdio[1]) ||
             !MakePipe(&stderr_, &child_stdio[2])) {
    *error = errno;
    *step = Step::kStdio;
    return false;
  } else {
    for (int fd : {stdin_.get(), stdout_.get(), stderr_.get()}) SetNonBlocking(fd);
  }

  UniqueFd gate_read, errors_write;
  if (!MakeSmallPipe(&gate_read, &gate_) || !MakeSmallPipe(&start_errors_, &errors_write)) {
    *error = errno;
    *step = Step::kGate;
    return false;
  }
  std::vector<const char*> argv, env;
  for (const std::string& s : spec_.argv) argv.push_back(s.c_str());
  for (const std::string& s : spec_.env) env.push_back(s.c_str());
  argv.push_back(nullptr);
  env.push_back(nullptr);
  ChildPlan plan;
  for (int i = 0; i < 3; ++i) plan.stdio[i] = child_stdio[i].get();
  plan.cwd = spec_.cwd.c_str();
  plan.argv = argv.data();
  plan.env = env.data();
  plan.own_session = true;
  plan.terminal = spec_.pty;
  plan.gate_fd = gate_read.get();
  plan.error_fd = errors_write.get();
  if (sandboxed()) plan.sandbox = &sandbox_;
  limits_.PutInto(&plan);
  plan.proxy_fd = proxy_.channel();
  int pidfd;
  main_ = StartGated(&plan, tree_->cgroup_fd(), &pidfd);
  if (main_ < 0 && group_.ok() && !limits_.group().ok()) {
    // The group could be made but not entered: the other way, then.
    group_.Remove();
    tree_.emplace(Cgroup());
    main_ = StartGated(&plan, -1, &pidfd);
  }
  if (main_ < 0) {
    *error = plan.error.error;
    *step = plan.error.step;
    return false;
  }
  main_pidfd_.reset(pidfd);
  phase_ = Phase::kGated;
  return true;
}

pid_t Keeper::StartGated(ChildPlan* plan, int cgroup_fd, int* pidfd) {
  if (has_namespaces()) return enclosure_.Start(plan, cgroup_fd, true, nullptr, pidfd);
  if (sandbox_.notifies && !enclosure_.Listen(plan)) return -1;
  return StartGatedChild(plan, cgroup_fd, pidfd);
}

bool Keeper::OpenGate(ChildPlan::Error* error) {
  started_at_ = NowNs();
  if (write(gate_.get(), "g", 1) != 1) {
    *error = {Step::kGate, errno};
    return false;
  }
  gate_.reset();
  if (has_namespaces()) {
    int pidfd;
    const pid_t program = enclosure_.AwaitProgram(&pidfd, error);
    if (program < 0) return false;
    init_ = main_;
    main_ = program;
    main_pidfd_.reset(pidfd);
    phase_ = Phase::kRunning;
    return true;
  }
  // End of file: the program was executed, and closed its end by that. So this waits for exec and
  // for no longer.
  ssize_t n;
  while ((n = read(start_errors_.get(), error, sizeof(*error))) < 0 && errno == EINTR) {
  }
  start_errors_.reset();
  if (n == 0 && sandbox_.notifies && !enclosure_.TakeListener(error)) return false;
  if (n == 0) {
    phase_ = Phase::kRunning;
    return true;
  }
  if (n != sizeof(*error)) *error = {Step::kExec, EIO};
  return false;
}

// --- end ---

void Keeper::BeginStop(uint32_t grace_ms, uint8_t reason) {
  if (phase_ == Phase::kGone) return;
  if (!stopping_) {
    stopping_ = true;
    stop_reason_ = reason;
    if (phase_ == Phase::kGated) {
      // It has not run and will not. It holds its own copy of the gate, so it has to be killed;
      // there is no one to spare.
      gate_.reset();
      grace_ms = 0;
    } else if (!ended()) {
      tree_->Signal(SIGTERM, execs_->Supervisors());
    }
    execs_->StopAll(grace_ms);
  }
  kill_at_ = std::min(kill_at_, NowNs() + uint64_t{grace_ms} * 1000000);
}

void Keeper::ReapChildren() {
  signals_.Drain();
  int status;
  for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG)) > 0;) {
    if (pid == (init_ > 0 ? init_ : main_) && !ended()) {
      if (init_ > 0) enclosure_.TakeEnd(&status);
      MainExited(status);
    } else if (execs_.has_value()) {
      execs_->Reaped(pid, status);
    }
  }
}

void Keeper::MainExited(int status) {
  exit_ = MakeExitNotice(status, stopping_, sandboxed());
  if (exit_.signal != 0 && (signals_sent_ >> (exit_.signal - 1) & 1) != 0) exit_.stopped = 1;
  if (stop_reason_ != 0) exit_.reason = stop_reason_;
  if (sandboxed()) violations_.AddDeath(main_, exit_.signal);
  limits_.Explain(&exit_);
  phase_ = Phase::kExited;
  ReadOutput();  // all that it wrote before anybody is told that it ended
  files_.WriteExit(exit_);
  input_.Write(-1);
  // Nothing outlives the main process.
  kill_at_ = 0;
  execs_->StopAll(0);
}

void Keeper::Settle() {
  if (phase_ == Phase::kNew || phase_ == Phase::kGone) return;
  execs_->Settle();
  if (UniqueFd& listener = enclosure_.listener();
      listener.ok() && !ServeNotifications(listener.get(), &violations_)) {
    listener.reset();
  }
  limits_.Report(&violations_);
  NoteDenials(&proxy_, &violations_);
  if (ended() && execs_->empty() && tree_->Empty()) {
    phase_ = Phase::kGone;
    ReadOutput();
    out_->Close();
    err_->Close();
    out_->Flush();
    err_->Flush();
    stdin_.reset();
    stdout_.reset();
    stderr_.reset();
    pty_slave_.reset();
    tree_->Remove();
    limits_.Remove();
    proxy_.Stop();
    group_.Remove();
    enclosure_.Release();
    kill_at_ = kNever;
    return;
  }
  if (kill_at_ <= NowNs()) {
    // Supervisors have been told, and will tell how their programs ended. One that does not get to
    // it goes too.
    killing_since_ = std::min(killing_since_, NowNs());
    const bool all = NowNs() - killing_since_ > kSupervisorTime;
    tree_->Kill(all ? std::vector<pid_t>() : execs_->Supervisors());
    kill_at_ = NowNs() + 100000000;  // once more if something got away from a pass
  }
}

// --- loop ---

void Keeper::CheckLimits() {
  if (phase_ != Phase::kRunning || stopping_) return;
  const uint64_t now = NowNs();
  const auto passed = [now](uint64_t since, int64_t ms) {
    return ms >= 0 && now >= since + static_cast<uint64_t>(ms) * 1000000;
  };
  if (passed(started_at_, spec_.wall_ms)) {
    if (sandboxed()) violations_.Add(ViolationLog::kWall, main_, "run on");
    BeginStop(spec_.grace_ms, kWall);
  }
  if (passed(std::max(started_at_, last_output_at_), spec_.inactivity_ms))
    BeginStop(spec_.grace_ms, kInactivity);
}

uint64_t Keeper::NextDeadline() {
  uint64_t next = std::min(kill_at_, input_.Expire(NowNs()));
  if (execs_.has_value()) next = std::min(next, execs_->Settle());
  if (phase_ == Phase::kRunning && !stopping_) {
    if (spec_.wall_ms >= 0)
      next = std::min(next, started_at_ + static_cast<uint64_t>(spec_.wall_ms) * 1000000);
    if (spec_.inactivity_ms >= 0) {
      next = std::min(next, std::max(started_at_, last_output_at_) +
                                static_cast<uint64_t>(spec_.inactivity_ms) * 1000000);
    }
  }
  return next;
}

void Keeper::OwnerGone() {
  if (phase_ == Phase::kNew) _exit(0);
  // One that was never let run goes with its owner, and one that is going already tells it when it
  // is gone.
  if (started_at_ != 0 && spec_.durable && !destroying_) {
    owner_end_.reset();
    return;
  }
  destroying_ = true;
  BeginStop(spec_.grace_ms, 0);
}

void Keeper::Accept() {
  const int fd = accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (fd < 0) return;
  UniqueFd socket(fd);
  ucred peer;
  socklen_t size = sizeof(peer);
  // The folder keeps others out already; this does too, should its mode have been changed.
  if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return;
  if (peer.uid != geteuid() && peer.uid != 0) return;
  clients_.push_back({next_client_++, std::move(socket)});
  Serve(&clients_.back());  // who connects asks at once: no need to wait for that again
}

void Keeper::Serve(Client* client) {
  Message message;
  const int error = ReceiveMessage(client->socket.get(), &message);
  if (error == 0) {
    Handle(client, &message);
  } else if (error != EAGAIN) {
    input_.Cancel(client->id);
    // The owner may wait for our end to close: it does when nothing of the session is left.
    if (client->owner) owner_end_ = std::move(client->socket);
    client->socket.reset();
    if (client->owner) OwnerGone();
  }
}

void Keeper::ServeClients(const std::vector<pollfd>& fds, size_t first) {
  const size_t count = fds.size() - first;  // clients accepted since are for the next round
  for (size_t i = 0; i < count; ++i) {
    if (fds[first + i].revents != 0) Serve(&clients_[i]);
  }
  std::erase_if(clients_, [](const Client& client) { return !client.socket.ok(); });
}

void Keeper::Poll() {
  std::vector<pollfd> fds{{signals_.fd(), POLLIN, 0}, {listener_.get(), POLLIN, 0}};
  if (tree_.has_value() && ended() && phase_ != Phase::kGone)
    fds.push_back({tree_->events_fd(), POLLPRI, 0});
  if (execs_.has_value()) execs_->AppendPoll(&fds);
  limits_.AppendPoll(&fds);
  if (proxy_.channel() >= 0) fds.push_back({proxy_.channel(), POLLIN, 0});
  if (enclosure_.listener().ok()) fds.push_back({enclosure_.listener().get(), POLLIN, 0});
  const size_t streams = fds.size();
  if (phase_ >= Phase::kRunning && phase_ != Phase::kGone) {
    const bool room = out_->Room(1) > 0;
    const short reads = room ? POLLIN : 0;
    if (pty_.ok())
      fds.push_back(
          {pty_.get(), static_cast<short>(reads | (input_.wants_write() ? POLLOUT : 0)), 0});
    if (stdin_.ok() && input_.wants_write()) fds.push_back({stdin_.get(), POLLOUT, 0});
    if (stdout_.ok() && room) fds.push_back({stdout_.get(), POLLIN, 0});
    if (stderr_.ok() && err_->Room(1) > 0) fds.push_back({stderr_.get(), POLLIN, 0});
  }
  if (out_.has_value()) {
    out_->AppendPoll(&fds);
    err_->AppendPoll(&fds);
  }
  for (const Viewer& viewer : viewers_) {
    const bool writes = !viewer.pending.empty() || viewer.at < out_->end();
    fds.push_back({viewer.socket.get(), static_cast<short>(POLLIN | (writes ? POLLOUT : 0)), 0});
  }
  const size_t clients = fds.size();
  for (const Client& client : clients_) fds.push_back({client.socket.get(), POLLIN, 0});

  if (poll(fds.data(), fds.size(), PollTimeout(NextDeadline())) < 0) return;
  const bool moved = std::any_of(fds.begin() + static_cast<ptrdiff_t>(streams),
                                 fds.begin() + static_cast<ptrdiff_t>(clients),
                                 [](const pollfd& fd) { return fd.revents != 0; });
  if (moved) {
    out_->DropGone(fds);
    err_->DropGone(fds);
    if (phase_ == Phase::kRunning || phase_ == Phase::kExited) {
      ReadOutput();
      input_.Write(input_fd());
    }
    out_->Flush();
    err_->Flush();
  }
  if (fds[0].revents != 0) ReapChildren();
  ServeClients(fds, clients);
  if (fds[1].revents != 0) Accept();
}

int Keeper::Run() {
  clients_.push_back({next_client_++, UniqueFd(kControlFd), true});
  while (true) {
    Poll();
    CheckLimits();
    input_.Expire(NowNs());
    if (input_.wants_write() && phase_ == Phase::kRunning) input_.Write(input_fd());
    if (stdin_closing_ && !input_.wants_write()) stdin_.reset();
    Settle();
    ServeViewers();
    AnswerInput();
    AnswerViolations();  // before the end: who hears of that has heard of them
    AnswerEnd();
    ShowStatus();
    if (destroying_ && (phase_ == Phase::kGone || phase_ == Phase::kNew)) break;
  }
  files_.Remove();
  RunAtEnd();
  // At once, without destructors: who waits for our end of a connection to close finds nothing of
  // us after that.
  _exit(0);
}

}  // namespace berth::launcher
