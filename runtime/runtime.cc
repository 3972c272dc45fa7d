#include "runtime/runtime.h"

#include <errno.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <deque>
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
#include "runtime/record/record_cache.h"
#include "runtime/record/session_name.h"
#include "runtime/record/store.h"
#include "runtime/tmux/tmux_backend.h"
#include "sandbox/base/errno_status.h"
#include "sandbox/base/unique_fd.h"

namespace berth {
namespace {

class RuntimeImpl final : public Runtime {
 public:
  RuntimeImpl(std::shared_ptr<const Store> store, std::string owner_id, UniqueFd events,
              UniqueFd more)
      : store_(std::move(store)),
        owner_id_(std::move(owner_id)),
        tmux_(store_, &native_,
              {.found = [this](UniqueFd alive) { WatchEngine(&tmux_, std::move(alive)); },
               .lost = [this](absl::string_view why) { TellLost(tmux_, why); }}),
        native_(store_, owner_id_),
        nix_(store_, &native_, [this](const ProcessSpec& spec) { return native_.Spawn(spec); }),
        docker_(store_, &native_),
        backends_{&native_, &nix_, &tmux_, &docker_},
        events_(std::move(events)),
        more_(std::move(more)) {
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.fd = more_.get();
    epoll_ctl(events_.get(), EPOLL_CTL_ADD, more_.get(), &event);
  }

  absl::StatusOr<std::unique_ptr<Session>> CreateSession(const SessionSpec& spec) override {
    ABSL_RETURN_IF_ERROR(CheckSessionName(spec.name));
    ABSL_ASSIGN_OR_RETURN(const Choice choice, Choose(spec));
    ABSL_ASSIGN_OR_RETURN(Backend * backend, FindBackend(choice.backend));
    ABSL_RETURN_IF_ERROR(HoldLease());
    SessionSpec chosen = spec;
    chosen.backend = choice.backend;  // what the record and the handle say
    ABSL_ASSIGN_OR_RETURN(std::unique_ptr<Session> session, backend->Create(chosen));
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
    ABSL_ASSIGN_OR_RETURN(Listing listing, store_->List(&records_));
    absl::flat_hash_map<std::string, std::vector<Record>> by_backend;
    for (Record& record : listing.records) {
      by_backend[record.backend].push_back(std::move(record));
    }
    std::vector<SessionInfo> infos;
    for (Backend* backend : backends_) {
      const auto theirs = by_backend.find(backend->name());
      if (theirs == by_backend.end()) continue;
      for (SessionInfo& info : backend->Describe(theirs->second)) infos.push_back(std::move(info));
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
    if (std::optional<Event> event = TakePending()) return event;
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
    epoll_ctl(events_.get(), EPOLL_CTL_DEL, ready.data.fd, nullptr);
    if (watched.engine != nullptr) {
      watched.engine->CheckEngine();  // which tells, if it is lost
    } else if (watched.feed != nullptr) {
      TellViolations(std::move(watched));
    } else {
      TellEnd(std::move(watched));
    }
    return TakePending();
  }

 private:
  // The end of a session or of an engine, or what a session's policy stops.
  struct Watched {
    UniqueFd exit;
    std::unique_ptr<ViolationFeed> feed;
    std::string handle, name;
    Backend* engine = nullptr;
    int64_t told = 0;  // of a feed: the number of the last one that was
    int fd() const { return feed != nullptr ? feed->fd() : exit.get(); }
  };

  // Events that came together and are handed out one by one; `more_` is readable while there are.
  void AddPending(std::vector<Event> events) {
    absl::MutexLock lock(mutex_);
    const bool was_empty = pending_.empty();
    for (Event& event : events) pending_.push_back(std::move(event));
    if (was_empty && !pending_.empty()) eventfd_write(more_.get(), 1);
  }
  std::optional<Event> TakePending() {
    absl::MutexLock lock(mutex_);
    if (pending_.empty()) return std::nullopt;
    Event event = std::move(pending_.front());
    pending_.pop_front();
    eventfd_t count;
    if (pending_.empty()) eventfd_read(more_.get(), &count);
    return event;
  }

  // False if the feed has ended.
  static bool ReadFeed(Watched* watched, std::vector<Event>* events) {
    const absl::StatusOr<std::vector<Violation>> violations = watched->feed->Next();
    if (violations.ok()) AddNew(*violations, watched, events);
    return violations.ok();
  }
  static void AddNew(const std::vector<Violation>& violations, Watched* watched,
                     std::vector<Event>* events) {
    for (const Violation& violation : violations) {
      if (violation.number <= watched->told) continue;
      watched->told = violation.number;
      Event event;
      event.kind = Event::Kind::kViolation;
      event.handle = watched->handle;
      event.name = watched->name;
      event.detail = Describe(violation);
      event.violation = violation;
      events->push_back(std::move(event));
    }
  }

  void TellViolations(Watched watched) {
    std::vector<Event> events;
    const bool goes_on = ReadFeed(&watched, &events);
    AddPending(std::move(events));
    if (goes_on) {
      AddWatch(std::move(watched));
    } else if (std::optional<Watched> end = TakeWatch(watched.handle, /*feed=*/false)) {
      // Nothing of it runs any more: its end is what there is to tell, ready or about to be.
      epoll_ctl(events_.get(), EPOLL_CTL_DEL, end->fd(), nullptr);
      TellEnd(*std::move(end));
    }
  }

  // What the policy stopped until the end comes before it, and nothing after it: so that a session
  // whose end was told is done with.
  void TellEnd(const Watched& watched) {
    std::vector<Event> events;
    if (std::optional<Watched> violations = TakeWatch(watched.handle, /*feed=*/true)) {
      epoll_ctl(events_.get(), EPOLL_CTL_DEL, violations->fd(), nullptr);
      ReadFeed(&*violations, &events);
      // The last ones may not have come through it yet; the session knows them all.
      const absl::StatusOr<std::unique_ptr<Session>> session = Open(watched.handle);
      const absl::StatusOr<std::vector<Violation>> all =
          session.ok() ? (*session)->Violations() : session.status();
      if (all.ok()) AddNew(*all, &*violations, &events);
    }
    if (std::optional<Event> end = ToEvent(watched)) events.push_back(*std::move(end));
    AddPending(std::move(events));
  }

  void WatchEngine(Backend* engine, UniqueFd alive) {
    {
      absl::MutexLock lock(mutex_);
      absl::erase_if(watched_, [&](const auto& each) { return each.second.engine == engine; });
    }
    AddWatch({std::move(alive), nullptr, "", "", engine});
  }

  // Of each session on it that has not ended; their ends are events all the same.
  void TellLost(const Backend& engine, absl::string_view why) {
    std::vector<Event> events;
    {
      absl::MutexLock lock(mutex_);
      for (const auto& [fd, watched] : watched_) {
        if (watched.feed != nullptr || watched.engine != nullptr) continue;
        if (!absl::StartsWith(watched.handle, absl::StrCat(engine.name(), ":"))) continue;
        Event event;
        event.kind = Event::Kind::kLost;
        event.handle = watched.handle;
        event.name = watched.name;
        event.detail = why;
        events.push_back(std::move(event));
      }
    }
    AddPending(std::move(events));
  }

  // The one of a session that tells of its violations, or of its end.
  std::optional<Watched> TakeWatch(const std::string& handle, bool feed) {
    absl::MutexLock lock(mutex_);
    for (auto it = watched_.begin(); it != watched_.end(); ++it) {
      if ((it->second.feed != nullptr) != feed || it->second.handle != handle) continue;
      Watched watched = std::move(it->second);
      watched_.erase(it);
      return watched;
    }
    return std::nullopt;
  }

  bool AddWatch(Watched watched) {
    absl::MutexLock lock(mutex_);
    epoll_event event{};
    const int fd = watched.fd();
    event.events = EPOLLIN | EPOLLRDHUP;
    event.data.fd = fd;
    if (epoll_ctl(events_.get(), EPOLL_CTL_ADD, fd, &event) != 0) return false;
    watched_[fd] = std::move(watched);
    return true;
  }

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
    bool many = false;
    {
      absl::MutexLock lock(mutex_);
      if (!known_.insert(session.handle()).second) return;
      many = known_.size() > forget_at_;
    }
    if (many) ForgetDestroyed();
    // First: whose end is known has no events left.
    if (absl::StatusOr<std::unique_ptr<ViolationFeed>> feed = session.WatchViolations(0);
        feed.ok()) {
      AddWatch({UniqueFd(), *std::move(feed), session.handle(), session.name()});
    }
    absl::StatusOr<UniqueFd> exit = session.ExitFd();
    if (!exit.ok()) return;
    AddWatch({*std::move(exit), nullptr, session.handle(), session.name()});
  }

  // A handle whose record is gone is never opened again. They are looked through whenever there are
  // twice as many as there were the last time.
  void ForgetDestroyed() {
    absl::flat_hash_set<std::string> gone;
    {
      absl::MutexLock lock(mutex_);
      gone = known_;
    }
    const absl::StatusOr<Listing> listing = store_->List(&records_);
    if (!listing.ok()) return;
    for (const Record& record : listing->records) {
      gone.erase(absl::StrCat(record.backend, ":", record.uid));
    }
    absl::MutexLock lock(mutex_);
    for (const std::string& handle : gone) known_.erase(handle);
    forget_at_ = std::max<size_t>(128, 2 * known_.size());
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
  RecordCache records_;
  absl::Mutex mutex_;
  std::optional<Lease> lease_
      ABSL_GUARDED_BY(mutex_);  // outlives what the backends end with this Runtime
  TmuxBackend tmux_;            // outlives native_, whose sessions it shows
  NativeBackend native_;
  NixBackend nix_;
  DockerBackend docker_;
  const std::vector<Backend*> backends_;
  const UniqueFd events_, more_;
  std::deque<Event> pending_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_map<int, Watched> watched_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_set<std::string> known_
      ABSL_GUARDED_BY(mutex_);  // handles that are watched or were
  size_t forget_at_ ABSL_GUARDED_BY(mutex_) = 128;
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
  UniqueFd more(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!events.ok() || !more.ok()) return ErrnoStatus(errno, "make an event descriptor");
  return absl::WrapUnique(
      new RuntimeImpl(std::move(store), std::move(owner_id), std::move(events), std::move(more)));
}

}  // namespace berth
