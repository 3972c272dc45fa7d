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

#include "sandbox/launcher/enter/denials.h"
#include "sandbox/launcher/exit_notice.h"
#include "sandbox/launcher/keeper_impl.h"
#include "sandbox/launcher/kernel.h"
#include "sandbox/launcher/proc.h"

namespace berth::launcher {
namespace {

constexpr uint64_t kSupervisorTime = 2000000000;
// Reasons, as EndReason of runtime/types.h counts them.
constexpr uint8_t kWall = 4, kInactivity = 5;

}  // namespace

int RunKeeper(bool cgroups) { return Keeper(cgroups).Run(); }

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
  gave_up_ = started_at_ == 0 && !destroying_;
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
  if (gave_up_ && spec_.has_engine) {
    files_.GiveUp();
  } else {
    files_.Remove();
  }
  RunAtEnd();
  // At once, without destructors: who waits for our end of a connection to close finds nothing of
  // us after that.
  _exit(0);
}

}  // namespace berth::launcher
