#include "runtime/native/native_backend.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/status_macros.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "runtime/changes/changes.h"
#include "runtime/native/keeper_channel.h"
#include "runtime/native/native_process.h"
#include "runtime/native/native_session.h"
#include "runtime/native/remains.h"
#include "runtime/native/session_info.h"
#include "runtime/record/identity.h"
#include "runtime/record/session_name.h"
#include "runtime/start_request.h"
#include "sandbox/base/errno_status.h"
#include "sandbox/base/unique_fd.h"
#include "sandbox/base/wait_fd.h"
#include "sandbox/launcher/keeper_spec.h"
#include "sandbox/launcher/protocol.h"
#include "sandbox/launcher/wire.h"

namespace berth {
namespace {

constexpr absl::Duration kStartTime = absl::Seconds(60);

int64_t LimitMs(absl::Duration limit) {
  // The keeper counts nanoseconds in 64 bits: past 278 years there is no limit.
  constexpr int64_t kMost = int64_t{1} << 43;
  const int64_t ms = std::max<int64_t>(absl::ToInt64Milliseconds(limit), 0);
  return ms > kMost ? -1 : ms;
}

absl::StatusOr<launcher::KeeperSpec> ToKeeperSpec(const SessionSpec& spec) {
  ABSL_RETURN_IF_ERROR(CheckSessionName(spec.name));
  ABSL_RETURN_IF_ERROR(CheckCommand(spec.command));
  if (spec.size.rows == 0 || spec.size.cols == 0 || spec.size.rows > 1024 ||
      spec.size.cols > 4096) {
    return absl::InvalidArgumentError("a terminal has 1 to 1024 rows and 1 to 4096 columns");
  }
  if (spec.output_bytes < 0 || spec.output_bytes > (int64_t{1} << 30)) {
    return absl::InvalidArgumentError("between 0 and 1 GiB of output can be kept");
  }
  if (spec.scrollback_lines < 0)
    return absl::InvalidArgumentError("the scrollback cannot have fewer than 0 lines");
  if (!spec.log_path.empty() && spec.log_path[0] != '/') {
    return absl::InvalidArgumentError(
        absl::StrCat("log '", spec.log_path, "': give an absolute path"));
  }
  launcher::KeeperSpec out;
  out.name = spec.name;
  out.durable = spec.durable;
  out.pty = spec.pty;
  out.rows = spec.size.rows;
  out.cols = spec.size.cols;
  out.wall_ms = LimitMs(spec.wall_limit);
  out.inactivity_ms = LimitMs(spec.inactivity_limit);
  out.grace_ms =
      static_cast<uint32_t>(std::clamp<int64_t>(absl::ToInt64Milliseconds(spec.grace), 0, 1 << 30));
  out.scrollback_lines = spec.scrollback_lines;
  out.keep_bytes = spec.output_bytes;
  out.log_path = spec.log_path;
  out.log_cap = spec.log_cap_bytes;
  out.argv = spec.command.argv();
  ABSL_ASSIGN_OR_RETURN(out.cwd, ResolveCwd(spec.cwd));
  ABSL_ASSIGN_OR_RETURN(out.env, ResolveEnv(spec.env));
  return out;
}

// A keeper's refusal during the start, as the step that failed.
absl::Status StartRefused(const launcher::Message& message, const launcher::KeeperSpec& spec) {
  launcher::Reader in = message.reader();
  const int error = in.Get<int32_t>();
  const launcher::Step step = in.Get<launcher::Step>();
  const absl::string_view path = in.GetString();
  if (step == launcher::Step::kStdio && !spec.log_path.empty()) {
    return ErrnoStatus(error, absl::StrCat("open log '", spec.log_path, "'"));
  }
  return launcher::StartError(step, error, spec.argv[0], spec.cwd, path);
}

absl::StatusOr<launcher::Message> Hear(int keeper, const launcher::KeeperSpec& spec) {
  ABSL_RETURN_IF_ERROR(
      WaitFd(keeper, POLLIN, absl::Now() + kStartTime, "wait for the session's keeper"));
  launcher::Message answer;
  if (launcher::ReceiveMessage(keeper, &answer) != 0)
    return absl::UnavailableError("the session's keeper went away");
  if (answer.type == launcher::kFailed) return StartRefused(answer, spec);
  return answer;
}

absl::StatusOr<launcher::Message> Ask(int keeper, uint16_t type, absl::string_view body,
                                      const int* fds, int count, const launcher::KeeperSpec& spec) {
  ABSL_RETURN_IF_ERROR(KeeperChannel::Send(keeper, type, body, fds, count));
  return Hear(keeper, spec);
}

// Leaves a keeper whose session must not outlive us, and waits until it is gone.
void Leave(int owner, absl::Duration grace) {
  shutdown(owner, SHUT_WR);
  WaitFd(owner, POLLRDHUP, absl::Now() + grace + kStartTime, "wait for the session's keeper to go")
      .IgnoreError();
}

}  // namespace

NativeBackend::~NativeBackend() {
  absl::MutexLock lock(mutex_);
  for (const UniqueFd& owner : ephemeral_) shutdown(owner.get(), SHUT_WR);  // all at once
  for (const UniqueFd& owner : ephemeral_) Leave(owner.get(), absl::ZeroDuration());
}

absl::StatusOr<std::shared_ptr<launcher::LauncherClient>> NativeBackend::Launcher() {
  absl::MutexLock lock(mutex_);
  if (launcher_ != nullptr && launcher_->gone()) launcher_ = nullptr;
  if (launcher_ == nullptr) {
    // The reaper finds what is left by it, if this program and its launcher are killed.
    ABSL_ASSIGN_OR_RETURN(launcher_, launcher::LauncherClient::Begin(store_->dir().install_id()));
  }
  return launcher_;
}

absl::Status NativeBackend::ApplyPolicy(const SessionSpec& spec, Record* record,
                                        launcher::KeeperSpec* keeper) {
  if (!spec.policy.has_value()) return absl::OkStatus();
  keeper->wall_ms = LimitMs(std::min(spec.wall_limit, spec.policy->limits().wall));
  ABSL_ASSIGN_OR_RETURN(
      const CompiledPolicy compiled,
      policies_.Apply(*spec.policy, {.env = &keeper->env,
                                     .cwd = &keeper->cwd,
                                     .cwd_given = !spec.cwd.empty(),
                                     .inherits_all = spec.env.inherits_all(),
                                     .plan = &keeper->plan,
                                     .session_dir = absl::StrCat(store_->dir().path(), "/sessions/",
                                                                 record->uid)}));
  record->tier = TierName(compiled.tier);
  record->copy_on_write = compiled.copy_on_write;
  return absl::OkStatus();
}

absl::Status NativeBackend::Start(const Guise& guise, const SessionSpec& spec, Record* record,
                                  UniqueFd* owner) {
  ABSL_ASSIGN_OR_RETURN(launcher::KeeperSpec keeper_spec, ToKeeperSpec(spec));
  keeper_spec.uid = record->uid;
  keeper_spec.has_engine = !record->container_id.empty();
  // Of a host that runs in a session itself, and hands on its environment: that is another session.
  std::erase_if(keeper_spec.env, [](const std::string& entry) {
    return absl::StartsWith(entry, "BERTH_SESSION=") || absl::StartsWith(entry, "BERTH_TOKEN=");
  });
  keeper_spec.env.push_back(absl::StrCat("BERTH_SESSION=", spec.name));
  keeper_spec.env.push_back(absl::StrCat("BERTH_TOKEN=", record->token));
  ABSL_RETURN_IF_ERROR(ApplyPolicy(spec, record, &keeper_spec));
  ABSL_ASSIGN_OR_RETURN(const auto launcher, Launcher());
  ABSL_ASSIGN_OR_RETURN(*owner, launcher->StartKeeper(spec.name));
  ABSL_ASSIGN_OR_RETURN(const UniqueFd session_dir, store_->OpenSessionDir(record->uid));
  ABSL_RETURN_IF_ERROR(MakeChangeFolders(session_dir.get(), record->copy_on_write));
  const int fds[3] = {session_dir.get(), store_->dir().names_fd(), store_->dir().run_fd()};
  ABSL_ASSIGN_OR_RETURN(
      const launcher::Message ready,
      Ask(owner->get(), launcher::kSetup, keeper_spec.Encode(), fds, 3, keeper_spec));
  launcher::Reader in = ready.reader();
  const pid_t keeper_pid = in.Get<int32_t>();
  const uint64_t keeper_start = in.Get<uint64_t>();
  const pid_t main_pid = in.Get<int32_t>();
  const uint64_t main_start = in.Get<uint64_t>();
  const launcher::TreeKind tree = in.Get<launcher::TreeKind>();
  record->cgroup = in.GetString();
  in.GetString();  // the terminal's name
  if (!in.done()) return absl::InternalError("the session's keeper gave a malformed answer");
  ABSL_ASSIGN_OR_RETURN(record->keeper, IdentifyProcess(keeper_pid));
  ABSL_ASSIGN_OR_RETURN(record->leader, IdentifyProcess(main_pid));
  if (record->keeper.start_time != keeper_start || record->leader.start_time != main_start) {
    return absl::UnavailableError("the session's processes went away while it was made");
  }
  record->tree = tree == launcher::TreeKind::kCgroup ? kTreeCgroup : kTreeSubreaper;
  record->socket = absl::StrCat(store_->dir().run_path(), "/", record->uid);
  record->state = kStateRunning;
  if (guise.prepare != nullptr) {
    ABSL_RETURN_IF_ERROR(guise.prepare(owner->get(), record));
  }
  // Durable first; only then may the program run. The keeper syncs half of it: each of these waits
  // for the disk, and together they wait as long as one.
  if (guise.reserved == nullptr) {
    ABSL_RETURN_IF_ERROR(KeeperChannel::Send(owner->get(), launcher::kSync, "", nullptr, 0));
  }
  ABSL_RETURN_IF_ERROR(store_->Write(*record));
  if (guise.reserved == nullptr) {
    ABSL_RETURN_IF_ERROR(Hear(owner->get(), keeper_spec).status());
  }
  if (guise.before_go != nullptr) {
    ABSL_RETURN_IF_ERROR(guise.before_go(*record));
  }
  return Ask(owner->get(), launcher::kGo, "", nullptr, 0, keeper_spec).status();
}

absl::StatusOr<std::unique_ptr<Session>> NativeBackend::Create(const SessionSpec& spec) {
  return CreateAs(Guise{}, spec);
}

absl::StatusOr<std::unique_ptr<Session>> NativeBackend::CreateAs(const Guise& guise,
                                                                 const SessionSpec& spec) {
  // Everything that can be wrong with the description is found before anything is made.
  ABSL_ASSIGN_OR_RETURN(launcher::KeeperSpec checked, ToKeeperSpec(spec));
  Record record;
  ABSL_RETURN_IF_ERROR(ApplyPolicy(spec, &record, &checked));
  record.name = spec.name;
  record.backend = spec.backend.empty() ? "native" : spec.backend;  // or one that runs on this one
  record.durable = spec.durable;
  record.owner_id = owner_id_;
  record.log = spec.log_path;
  record.labels.insert(spec.labels.begin(), spec.labels.end());
  // What `reserved` makes may outlast this boot; what we make does not.
  ABSL_ASSIGN_OR_RETURN(
      record,
      store_->Reserve(std::move(record), guise.reserved != nullptr ? Sync::kNow : Sync::kLater));
  SessionSpec completed = spec;
  absl::Status started = absl::OkStatus();
  if (guise.reserved != nullptr) started = guise.reserved(&record, &completed);
  UniqueFd owner;
  if (started.ok()) started = Start(guise, completed, &record, &owner);
  if (!started.ok()) {
    // A keeper hears that its owner has left, or left by itself: wait for it, then nothing else is
    // there; but for what one that was killed has left. What cannot be removed now has its record,
    // which the reaper finds.
    if (owner.ok()) Leave(owner.get(), spec.grace);
    RemoveRemains(*store_, record).IgnoreError();
    return started;
  }
  if (!spec.durable) {
    absl::MutexLock lock(mutex_);
    // Forgets those that are gone meanwhile.
    std::erase_if(ephemeral_, [](const UniqueFd& fd) {
      return WaitFd(fd.get(), POLLRDHUP, absl::InfinitePast(), "").ok();
    });
    ephemeral_.push_back(std::move(owner));
  }
  return std::make_unique<NativeSession>(store_, idle_, std::move(record));
}

absl::StatusOr<std::unique_ptr<Session>> NativeBackend::Open(const Record& record) {
  return std::make_unique<NativeSession>(store_, idle_, record);
}

std::vector<SessionInfo> NativeBackend::Describe(const std::vector<Record>& records) {
  return DescribeAll(*store_, records, &views_, absl::Now() + absl::Seconds(5));
}

absl::StatusOr<launcher::Spawned> NativeBackend::StartProgram(
    const ProcessSpec& spec, const ProcessStreams& streams, bool hopes,
    std::shared_ptr<launcher::LauncherClient>* launcher) {
  launcher::SpawnRequest request;
  request.argv = spec.command.argv();
  ABSL_ASSIGN_OR_RETURN(request.cwd, ResolveCwd(spec.cwd));
  ABSL_ASSIGN_OR_RETURN(request.env, ResolveEnv(spec.env));
  // First, so that it gets ready beside what follows.
  ABSL_ASSIGN_OR_RETURN(*launcher, Launcher());
  if (spec.policy.has_value()) {
    (*launcher)->Expect(
        policies_.Limits(*spec.policy, hopes),
        spec.policy->tier() != Tier::kLandlock && spec.policy->network() == Policy::Network::kNone);
    ABSL_RETURN_IF_ERROR(policies_
                             .Apply(*spec.policy, {.env = &request.env,
                                                   .cwd = &request.cwd,
                                                   .cwd_given = !spec.cwd.empty(),
                                                   .inherits_all = spec.env.inherits_all(),
                                                   .plan = &request.plan,
                                                   .hopes = hopes})
                             .status());
  }
  request.terminal = spec.pty;
  for (int i = 0; i < 3; ++i) request.stdio[i] = streams.theirs[i];
  return (*launcher)->Spawn(request);
}

absl::StatusOr<std::unique_ptr<Process>> NativeBackend::Spawn(const ProcessSpec& spec) {
  ABSL_RETURN_IF_ERROR(CheckCommand(spec.command));
  ABSL_ASSIGN_OR_RETURN(ProcessStreams streams, ProcessStreams::Make(spec));
  std::shared_ptr<launcher::LauncherClient> launcher;
  const bool hopes = spec.policy.has_value() && policies_.Hopes();
  absl::StatusOr<launcher::Spawned> spawned = StartProgram(spec, streams, hopes, &launcher);
  // What cannot be enforced here fails as a start. Why, and what can be, a probe tells. Not if the
  // launcher did not start or was lost: of a request to that nobody knows what became.
  const bool refused = !spawned.ok() && !absl::IsUnavailable(spawned.status());
  if (hopes && launcher != nullptr && refused && policies_.Verify()) {
    spawned = StartProgram(spec, streams, /*hopes=*/false, &launcher);
  }
  ABSL_RETURN_IF_ERROR(spawned.status());
  const pid_t pid = spawned->pid;
  auto stopper = [launcher, pid](absl::Duration grace) {
    return launcher->Stop(pid, static_cast<uint32_t>(std::clamp<int64_t>(
                                   absl::ToInt64Milliseconds(grace), 0, 1 << 30)));
  };
  return std::make_unique<NativeProcess>(*std::move(spawned), std::move(streams), spec.pty,
                                         std::move(stopper),
                                         [launcher, pid] { return launcher->Violations(pid, 0); });
}

}  // namespace berth
