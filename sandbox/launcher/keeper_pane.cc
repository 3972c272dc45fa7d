// The keeper's part for windows that show its session: see pane_protocol.h.
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <utility>
#include <vector>

#include "sandbox/launcher/child.h"
#include "sandbox/launcher/keeper_impl.h"
#include "sandbox/launcher/kernel.h"
#include "sandbox/launcher/pane_protocol.h"

namespace berth::launcher {
namespace {

constexpr size_t kMaxStrings = 4096;

}  // namespace

bool Keeper::HandlePane(Client* client, Message* message) {
  switch (message->type) {
    case kBecome:
      if (!client->owner || phase_ != Phase::kNew) return false;
      Become(client, message);
      return true;
    case kAtEnd:
      if (!client->owner || phase_ != Phase::kGated) return false;
      at_end_ = std::move(*message);
      pane_due_ = true;
      Ok(client);
      return true;
    case kNothingAtEnd:
      at_end_ = Message();
      Ok(client);
      return true;
    case kView: {
      if (phase_ == Phase::kNew) return false;
      UniqueFd socket = message->TakeFd(0);
      if (!socket.ok() || !spec_.pty) return false;
      pane_due_ = false;
      for (Client& each : clients_) {
        if (each.waits != kAwaitView) continue;
        each.waits = 0;
        Ok(&each);
      }
      if (out_->ring().begin() == 0) {
        viewers_.push_back({std::move(socket), "", 0});
      } else {
        viewers_.push_back({std::move(socket), screen()->Repaint(), out_->end()});
      }
      client->waits = kWait;
      return true;
    }
    case kAwaitView:
      if (!client->owner || phase_ != Phase::kGated) return false;
      if (!pane_due_) {
        Ok(client);
      } else {
        client->waits = kAwaitView;
      }
      return true;
    case kClosed:
      if (phase_ == Phase::kNew) return false;
      pane_closed_ = true;
      if (phase_ != Phase::kGated) BeginStop(spec_.grace_ms, 0);
      Ok(client);
      return true;
    case kHowToShow: {
      if (phase_ == Phase::kNew) return false;
      Writer out;
      out.Put(int32_t{spec_.scrollback_lines}).Put(spec_.rows).Put(spec_.cols);
      Ok(client, out.body());
      return true;
    }
    case kResize: {  // a window may be resized before its program runs
      if (phase_ != Phase::kGated) return false;
      Reader in = message->reader();
      Resize(client, &in);
      return true;
    }
    default:
      return false;
  }
}

void Keeper::Become(Client* client, Message* message) {
  Reader in = message->reader();
  const char* const cwd = in.GetString();
  const std::vector<const char*> argv = in.GetStrings(kMaxStrings);
  const std::vector<const char*> env = in.GetStrings(kMaxStrings);
  if (!in.done() || argv.size() < 2 || message->fds.size() != 3)
    return Fail(client, EINVAL, Step::kRequest, "");
  ChildPlan plan;
  plan.cwd = cwd;
  plan.argv = argv.data();
  plan.env = env.data();
  for (int i = 0; i < 3; ++i) plan.stdio[i] = message->fds[static_cast<size_t>(i)].get();
  // A process of its own group and session already; a failure is told by a child that shares our
  // memory, so that we are still here to pass it on.
  plan.own_session = true;
  // It dies with us, too (child.h); a server that it has forked by then does not.
  int pidfd_raw = -1;
  const pid_t pid = StartChild(&plan, -1, &pidfd_raw);
  const UniqueFd pidfd(pidfd_raw);
  if (pid < 0) {
    Fail(client, plan.error.error, plan.error.step, "");
    destroying_ = true;
    return;
  }
  message->fds.clear();
  Ok(client);
  // It ends with whoever asked for it, at once: a server that cannot write to a client any more may
  // keep it, and stay itself, for ever.
  pollfd fds[] = {{client->socket.get(), POLLIN, 0}, {pidfd.get(), POLLIN, 0}};
  while (poll(fds, 2, -1) < 0) {
  }
  if (fds[1].revents == 0) PidfdSignal(pidfd.get(), SIGKILL);
  _exit(0);
}

void Keeper::RunAtEnd() const {
  if (at_end_.type != kAtEnd) return;
  Reader in = at_end_.reader();
  const char* const cwd = in.GetString();
  const std::vector<const char*> argv = in.GetStrings(kMaxStrings);
  const std::vector<const char*> env = in.GetStrings(kMaxStrings);
  if (!in.done() || argv.size() < 2) return;
  ChildPlan plan;
  plan.cwd = cwd;
  plan.argv = argv.data();
  plan.env = env.data();
  plan.dies_with_parent = false;
  RunChild(&plan);
}

}  // namespace berth::launcher
