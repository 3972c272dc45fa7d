// What a keeper is asked, and what it answers. Input and output: keeper_talk.cc.

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "sandbox/launcher/enter/plan_cache.h"
#include "sandbox/launcher/keeper_impl.h"
#include "sandbox/launcher/kernel.h"
#include "sandbox/launcher/proc.h"
#include "sandbox/launcher/usage.h"

namespace berth::launcher {

void Keeper::Ok(Client* client, std::string_view body, int fd) {
  ShowStatus();
  // A client that does not read its answer is no client any more.
  if (SendMessage(client->socket.get(), kOk, body, &fd, fd >= 0 ? 1 : 0) != 0)
    shutdown(client->socket.get(), SHUT_RDWR);
}

void Keeper::Fail(Client* client, int error, Step step, std::string_view detail) {
  Writer out;
  out.Put(int32_t{error}).Put(step).Put(detail);
  if (SendMessage(client->socket.get(), kFailed, out.body(), nullptr, 0) != 0) {
    shutdown(client->socket.get(), SHUT_RDWR);
  }
}

void Keeper::Handle(Client* client, Message* message) {
  Reader in = message->reader();
  if (message->type == kSetup && client->owner && phase_ == Phase::kNew)
    return Setup(client, message);
  if (message->type == kGo && client->owner && phase_ == Phase::kGated) return Go(client);
  if (message->type == kSync && client->owner && phase_ == Phase::kGated) {
    const int error = files_.SyncPlace();
    return error == 0 ? Ok(client) : Fail(client, error, Step::kRecord, "");
  }
  if (HandlePane(client, message)) return;
  if (phase_ < Phase::kRunning)
    return Fail(client, EAGAIN, Step::kRequest, "the session is still being made");
  switch (message->type) {
    case kInfo:
      return Info(client, &in);
    case kSend:
      return Send(client, &in);
    case kKeys:
      return Keys(client, &in);
    case kCapture:
      return Capture(client, &in);
    case kOutput:
      return AddReader(client, message, &in);
    case kResize:
      return Resize(client, &in);
    case kAttach:
      return Attach(client, message);
    case kExec:
      return Exec(client, message);
    case kStats:
      return Stats(client);
    case kCloseStdin:
      if (spec_.pty)
        return Fail(client, ENOTSUP, Step::kRequest,
                    "a terminal has no end of input; send the key C-d");
      stdin_closing_ = true;
      return Ok(client);
    case kSetLog: {
      const std::string path = in.GetString();
      const int64_t cap = in.Get<int64_t>();
      if (!in.done()) break;
      if (path.empty()) {
        log_.Close();
      } else if (int error = log_.Open(path, cap)) {
        return Fail(client, error, Step::kStdio, "open log '" + path + "'");
      }
      return Ok(client);
    }
    case kSetEnv: {
      const std::string entry = in.GetString();
      if (!in.done()) break;
      const std::string key = entry.substr(0, entry.find('=') + 1);
      std::erase_if(spec_.env,
                    [&](const std::string& old) { return old.compare(0, key.size(), key) == 0; });
      spec_.env.push_back(entry);
      return Ok(client);
    }
    case kStopExec: {
      const pid_t pid = in.Get<int32_t>();
      const uint32_t grace = in.Get<uint32_t>();
      if (!in.done()) break;
      execs_->Stop(pid, grace);
      return Ok(client);
    }
    case kViolations: {
      const uint64_t since = in.Get<uint64_t>();
      if (!in.done()) break;
      Writer out;
      violations_.Encode(since, &out);
      return Ok(client, out.body());
    }
    case kAwaitViolations: {
      const uint64_t since = in.Get<uint64_t>();
      if (!in.done()) break;
      if (!sandboxed()) return Fail(client, ENOTSUP, Step::kRequest, "the session has no policy");
      client->waits = kAwaitViolations;
      client->since = since;
      return;  // answered by AnswerViolations
    }
    case kSignal: {
      const int signal = in.Get<int32_t>();
      if (!in.done()) break;
      if (ended()) return Fail(client, ESRCH, Step::kRequest, "the main process has ended");
      if (PidfdSignal(main_pidfd_.get(), signal) != 0)
        return Fail(client, errno, Step::kRequest, "signal");
      if (signal > 0) signals_sent_ |= uint64_t{1} << (signal - 1);
      return Ok(client);
    }
    case kWait:
    case kStop:
    case kDestroy: {
      const uint32_t grace = message->type == kWait ? 0 : in.Get<uint32_t>();
      if (!in.done()) break;
      client->waits = message->type;
      if (message->type != kWait && !ended()) BeginStop(grace, 0);
      if (message->type == kDestroy) destroying_ = true;
      return;  // answered by AnswerEnd
    }
    case kRename: {
      const std::string name = in.GetString();
      if (!in.done() || name.empty() || name.find('/') != std::string::npos) break;
      files_.name = spec_.name = name;
      return Ok(client);
    }
    default:
      break;
  }
  Fail(client, EINVAL, Step::kRequest, "not a request that this keeper knows");
}

void Keeper::Setup(Client* client, Message* message) {
  int error = 0;
  const Step step = SetUp(message, &error);
  if (step != Step::kNone) {
    Fail(client, error, step, "");
    destroying_ = true;
    if (phase_ == Phase::kNew) {
      tree_.reset();
      limits_.Remove();
      proxy_.Stop();
      group_.Remove();
    }
    return;
  }
  ProcStat self, main;
  ReadProcStat(getpid(), &self);
  ReadProcStat(main_, &main);
  char tty[64] = "";
  if (spec_.pty && ttyname_r(pty_slave_.get(), tty, sizeof(tty)) != 0) tty[0] = 0;
  Writer out;
  out.Put(int32_t{getpid()}).Put(self.start_time).Put(int32_t{main_}).Put(main.start_time);
  out.Put(tree_->kind()).Put(group_.path()).Put(std::string_view(tty));
  Ok(client, out.body());
}

void Keeper::Go(Client* client) {
  ChildPlan::Error error;
  if (OpenGate(&error)) {
    if (pane_closed_) BeginStop(spec_.grace_ms, 0);
    return Ok(client);
  }
  Fail(client, error.error, error.step, PathOf(sandbox_, error));
  destroying_ = true;
  BeginStop(0, 0);
}

std::string Keeper::InfoBody(uint64_t output_bytes, uint64_t quiet_ns) const {
  Writer out;
  out.Put(uint8_t{ended() ? uint8_t{2} : uint8_t{1}}).Put(int32_t{main_});
  out.Put(exit_.code).Put(exit_.signal).Put(exit_.stopped).Put(exit_.reason);
  out.Put(spec_.pty).Put(spec_.rows).Put(spec_.cols).Put(static_cast<uint32_t>(viewers_.size()));
  out.Put(output_bytes).Put(quiet_ns);
  out.Put(screen_ != nullptr ? std::string_view(screen_->title()) : std::string_view());
  out.Put(log_.path()).Put(spec_.name).Put(spec_.cwd);
  out.Put(sandbox_.tier).Put(violations_.total());
  return out.body();
}

void Keeper::Info(Client* client, Reader* in) {
  const bool looks_again = in->Get<uint8_t>() != 0;  // 0 of a request that has no body
  // Only now: most sessions are asked little, and this takes a page of memory.
  if (looks_again && page_.fd() < 0) page_.Make();
  Ok(client,
     InfoBody(out_->end() + err_->end(), last_output_at_ == 0 ? kNever : NowNs() - last_output_at_),
     looks_again ? page_.fd() : -1);
}

void Keeper::ShowStatus() {
  if (page_.fd() < 0 || phase_ < Phase::kRunning) return;
  page_.Show(InfoBody(0, kNever), out_->end() + err_->end(), last_output_at_);
}

void Keeper::Exec(Client* client, Message* message) {
  ChildRequest request(message);
  if (!request.ok() || !request.sandbox.empty())
    return Fail(client, EINVAL, Step::kRequest, "exec");
  if (phase_ != Phase::kRunning || stopping_)
    return Fail(client, ESRCH, Step::kRequest, "the session has ended");
  if (request.plan.cwd[0] == '\0') request.plan.cwd = spec_.cwd.c_str();
  // The session's environment, with the request's own variables over it.
  std::vector<const char*> env;
  for (const std::string& entry : spec_.env) {
    const size_t key = entry.find('=') + 1;
    const bool replaced =
        std::any_of(request.env.begin(), request.env.end(), [&](const char* other) {
          return other != nullptr && strncmp(other, entry.c_str(), key) == 0;
        });
    if (!replaced) env.push_back(entry.c_str());
  }
  env.insert(env.end(), request.env.begin(), request.env.end());  // ends with the null pointer
  request.plan.env = env.data();
  if (sandboxed()) request.plan.sandbox = &sandbox_;
  std::string cgroup;
  int pidfd_raw = -1;
  const pid_t pid = execs_->Start(&request.plan, std::move(request.exit_socket), &pidfd_raw,
                                  &cgroup, has_namespaces() ? &enclosure_ : nullptr);
  const UniqueFd pidfd(pidfd_raw);
  if (pid < 0) return Fail(client, request.plan.error.error, request.plan.error.step, "");
  Writer out;
  out.Put(int32_t{pid}).Put(cgroup);
  const int fd = pidfd.get();
  if (SendMessage(client->socket.get(), kOk, out.body(), &fd, 1) != 0) execs_->Stop(pid, 0);
}

void Keeper::Stats(Client* client) {
  Usage usage;
  const char* source = "proc";
  if (!ended() && group_.ok()) {
    source = "cgroup";
    usage = UsageOf(group_.Processes());
    if (const int64_t cpu = group_.CpuNs(); cpu >= 0) usage.cpu_ns = static_cast<uint64_t>(cpu);
    if (const int64_t memory = limits_.group().MemoryBytes(); memory >= 0)
      usage.rss_bytes = memory;  // what the limit counts: files in memory, too
  } else if (!ended()) {
    std::vector<pid_t> pids = Descendants(getpid());
    const std::vector<pid_t> supervisors = execs_->Supervisors();  // ours, not the session's
    std::erase_if(pids, [&](pid_t pid) {
      return std::count(supervisors.begin(), supervisors.end(), pid) != 0;
    });
    usage = UsageOf(pids);
  }
  Writer out;
  out.Put(usage.cpu_ns)
      .Put(usage.rss_bytes)
      .Put(usage.processes)
      .Put(usage.read_bytes)
      .Put(usage.write_bytes);
  out.Put(std::string_view(source));
  Ok(client, out.body());
}

void Keeper::AnswerViolations() {
  for (Client& client : clients_) {
    if (client.waits != kAwaitViolations) continue;
    if (violations_.total() <= client.since && phase_ != Phase::kGone) continue;
    client.waits = 0;
    Writer out;
    violations_.Encode(client.since, &out);
    Ok(&client, out.body());
  }
}

void Keeper::AnswerEnd() {
  if (!ended()) return;
  for (Client& client : clients_) {
    // Wait is about the main process; Stop and Destroy about everything.
    if (client.waits == 0 || client.waits == kAwaitViolations ||
        (client.waits != kWait && phase_ != Phase::kGone))
      continue;
    client.waits = 0;
    Writer out;
    out.Put(exit_.code).Put(exit_.signal).Put(exit_.stopped).Put(exit_.reason);
    Ok(&client, out.body());
  }
}

}  // namespace berth::launcher
