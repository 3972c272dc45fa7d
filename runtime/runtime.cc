#include "runtime/runtime.h"

#include <errno.h>
#include <poll.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/memory/memory.h"
#include "absl/status/status.h"
#include "absl/status/status_macros.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "runtime/backend.h"
#include "runtime/choose.h"
#include "runtime/docker/docker_backend.h"
#include "runtime/native/native_backend.h"
#include "runtime/nix/nix_backend.h"
#include "runtime/record/lease.h"
#include "runtime/record/random_id.h"
#include "runtime/record/record.h"
#include "runtime/record/session_name.h"
#include "runtime/record/store.h"
#include "runtime/tmux/tmux_backend.h"
#include "sandbox/base/errno_status.h"
#include "sandbox/base/unique_fd.h"

namespace berth {
namespace {

class RuntimeImpl final : public Runtime {
 public:
  RuntimeImpl(std::shared_ptr<const Store> store, std::string owner_id, UniqueFd events)
      : store_(std::move(store)),
        owner_id_(std::move(owner_id)),
        tmux_(store_, &native_),
        native_(store_, owner_id_),
        nix_(store_, &native_, [this](const ProcessSpec& spec) { return native_.Spawn(spec); }),
        docker_(store_, &native_),
        backends_{&native_, &nix_, &tmux_, &docker_},
        events_(std::move(events)) {}

  absl::StatusOr<std::unique_ptr<Session>> CreateSession(const SessionSpec& spec) override {
    ABSL_RETURN_IF_ERROR(CheckSessionName(spec.name));
    ABSL_ASSIGN_OR_RETURN(const Choice choice, Choose(spec));
    ABSL_ASSIGN_OR_RETURN(Backend * backend, FindBackend(choice.backend));
    ABSL_RETURN_IF_ERROR(HoldLease());
    ABSL_ASSIGN_OR_RETURN(std::unique_ptr<Session> session, backend->Create(spec));
    Watch(*session);
    return session;
  }

  absl::StatusOr<Choice> Choose(const SessionSpec& spec) override {
    return ChooseBackend(spec, [this](absl::string_view name) -> absl::Status {
      ABSL_ASSIGN_OR_RETURN(Backend * backend, FindBackend(name));
      return backend->Probe();
    });
  }

  absl::StatusOr<std::unique_ptr<Session>> Open(absl::string_view handle) override {
    const std::pair<absl::string_view, absl::string_view> parts =
        absl::StrSplit(handle, absl::MaxSplits(':', 1));
    ABSL_ASSIGN_OR_RETURN(Backend * backend, FindBackend(parts.first));
    absl::StatusOr<Record> record = store_->Read(std::string(parts.second));
    if (absl::IsNotFound(record.status()) || absl::IsInvalidArgument(record.status())) {
      return absl::NotFoundError(
          absl::StrCat("there is no session with the handle '", handle, "'"));
    }
    ABSL_RETURN_IF_ERROR(record.status());
    if (record->backend != parts.first) {
      return absl::NotFoundError(
          absl::StrCat("there is no session with the handle '", handle, "'"));
    }
    return OpenRecord(backend, *record);
  }

  absl::StatusOr<std::unique_ptr<Session>> Find(absl::string_view name) override {
    ABSL_RETURN_IF_ERROR(CheckSessionName(name));
    absl::StatusOr<Record> record = store_->Find(std::string(name));
    if (absl::IsNotFound(record.status())) {
      return absl::NotFoundError(absl::StrCat("there is no session named '", name, "'"));
    }
    ABSL_RETURN_IF_ERROR(record.status());
    ABSL_ASSIGN_OR_RETURN(Backend * backend, FindBackend(record->backend));
    return OpenRecord(backend, *record);
  }

  absl::StatusOr<std::vector<SessionInfo>> List() override {
    ABSL_ASSIGN_OR_RETURN(const Listing listing, store_->List());
    std::vector<SessionInfo> infos;
    for (const Record& record : listing.records) {
      absl::StatusOr<Backend*> backend = FindBackend(record.backend);
      if (!backend.ok()) continue;
      absl::StatusOr<std::unique_ptr<Session>> session = (*backend)->Open(record);
      if (!session.ok()) continue;
      absl::StatusOr<SessionInfo> info = (*session)->Info();
      if (info.ok()) infos.push_back(*std::move(info));  // not ok: destroyed since
    }
    std::sort(infos.begin(), infos.end(),
              [](const SessionInfo& a, const SessionInfo& b) { return a.name < b.name; });
    return infos;
  }

  absl::StatusOr<std::unique_ptr<Process>> Spawn(const ProcessSpec& spec) override {
    return native_.Spawn(spec);
  }

  int event_fd() const override { return events_.get(); }

  absl::StatusOr<std::optional<Event>> NextEvent() override {
    epoll_event ready;
    int n;
    while ((n = epoll_wait(events_.get(), &ready, 1, 0)) < 0) {
      if (errno != EINTR) return ErrnoStatus(errno, "wait for events");
    }
    if (n == 0) return std::nullopt;
    Watched watched;
    {
      absl::MutexLock lock(mutex_);
      auto it = watched_.find(ready.data.fd);
      if (it == watched_.end()) return std::nullopt;  // another thread has it
      watched = std::move(it->second);
      watched_.erase(it);
    }
    const UniqueFd done = std::move(watched.exit);
    epoll_ctl(events_.get(), EPOLL_CTL_DEL, done.get(), nullptr);
    return ToEvent(watched);
  }

 private:
  struct Watched {
    UniqueFd exit;
    std::string handle, name;
  };

  // From the first session on: a program that only looks at sessions, and is interrupted, leaves no
  // lease behind.
  absl::Status HoldLease() {
    absl::MutexLock lock(mutex_);
    if (lease_.has_value()) return absl::OkStatus();
    ABSL_ASSIGN_OR_RETURN(Lease lease, Lease::Acquire(store_->dir(), owner_id_));
    lease_.emplace(std::move(lease));
    return absl::OkStatus();
  }

  absl::StatusOr<Backend*> FindBackend(absl::string_view name) {
    for (Backend* backend : backends_) {
      if (backend->name() == name) return backend;
    }
    const auto append = [](std::string* out, const Backend* backend) {
      absl::StrAppend(out, backend->name());
    };
    return absl::UnimplementedError(
        absl::StrCat("there is no backend '", name,
                     "'; this berth has: ", absl::StrJoin(backends_, ", ", append)));
  }

  absl::StatusOr<std::unique_ptr<Session>> OpenRecord(Backend* backend, const Record& record) {
    ABSL_ASSIGN_OR_RETURN(std::unique_ptr<Session> session, backend->Open(record));
    Watch(*session);
    return session;
  }

  // The session's end will be an event, once, however often it is opened. One whose end cannot be
  // watched is told of when it is asked.
  void Watch(Session& session) {
    {
      absl::MutexLock lock(mutex_);
      if (!known_.insert(session.handle()).second) return;
    }
    absl::StatusOr<UniqueFd> exit = session.ExitFd();
    if (!exit.ok()) return;
    const int fd = exit->get();
    absl::MutexLock lock(mutex_);
    epoll_event event{};
    event.events = EPOLLIN | EPOLLRDHUP;
    event.data.fd = fd;
    if (epoll_ctl(events_.get(), EPOLL_CTL_ADD, fd, &event) != 0) return;
    watched_[fd] = {*std::move(exit), session.handle(), session.name()};
  }

  std::optional<Event> ToEvent(const Watched& watched) {
    Event event;
    event.handle = watched.handle;
    event.name = watched.name;
    absl::StatusOr<std::unique_ptr<Session>> session = Open(watched.handle);
    absl::StatusOr<ExitStatus> status = absl::NotFoundError("");
    if (session.ok()) status = (*session)->Wait(absl::Now() + absl::Seconds(5));
    if (status.ok()) {
      event.kind = Event::Kind::kExited;
      event.exit = *status;
    } else if (absl::IsNotFound(session.status()) || absl::IsNotFound(status.status())) {
      event.kind = Event::Kind::kExited;  // destroyed: it ended, and its record is gone
      event.exit.reason = EndReason::kStopped;
    } else {
      event.kind = Event::Kind::kLost;
      event.detail = status.status().message();
    }
    return event;
  }

  const std::shared_ptr<const Store> store_;
  const std::string owner_id_;
  absl::Mutex mutex_;
  std::optional<Lease> lease_
      ABSL_GUARDED_BY(mutex_);  // outlives what the backends end with this Runtime
  TmuxBackend tmux_;            // outlives native_, whose sessions it shows
  NativeBackend native_;
  NixBackend nix_;
  DockerBackend docker_;
  const std::vector<Backend*> backends_;
  const UniqueFd events_;
  absl::flat_hash_map<int, Watched> watched_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_set<std::string> known_
      ABSL_GUARDED_BY(mutex_);  // handles that are watched or were
};

}  // namespace

absl::string_view SessionStateName(SessionState state) {
  switch (state) {
    case SessionState::kStarting:
      return "starting";
    case SessionState::kRunning:
      return "running";
    case SessionState::kExited:
      return "exited";
    case SessionState::kUnknown:
      return "unknown";
  }
  return "unknown";
}

absl::StatusOr<std::unique_ptr<Runtime>> Runtime::Create(const RuntimeOptions& options) {
  ABSL_ASSIGN_OR_RETURN(std::shared_ptr<const Store> store, Store::Open(options.state_dir));
  ABSL_ASSIGN_OR_RETURN(std::string owner_id, RandomHexId());
  UniqueFd events(epoll_create1(EPOLL_CLOEXEC));
  if (!events.ok()) return ErrnoStatus(errno, "make an event descriptor");
  return absl::WrapUnique(
      new RuntimeImpl(std::move(store), std::move(owner_id), std::move(events)));
}

}  // namespace berth
