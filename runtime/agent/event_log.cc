#include "runtime/agent/event_log.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/memory/memory.h"
#include "absl/status/status.h"
#include "absl/status/status_macros.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "runtime/agent/event.h"
#include "runtime/agent/event_json.h"
#include "runtime/agent/json_line.h"
#include "runtime/agent/line_splitter.h"
#include "runtime/agent/redact.h"
#include "runtime/agent/result.h"
#include "runtime/agent/run_files.h"
#include "runtime/record/identity.h"
#include "sandbox/base/errno_status.h"
#include "sandbox/base/unique_fd.h"

namespace berth {
namespace {

using agent_json::Json;
using agent_json::Text;

constexpr size_t kMaxText = size_t{256} << 10;
constexpr int kFormat = 1;

bool Wake(int wakes, int fd, uint32_t events) {
  epoll_event event = {.events = events, .data = {.fd = fd}};
  return epoll_ctl(wakes, EPOLL_CTL_ADD, fd, &event) == 0;
}

}  // namespace

absl::StatusOr<std::unique_ptr<EventLog>> EventLog::Create(const std::string& state_dir,
                                                           RunHeader header, Redactor redactor) {
  ABSL_ASSIGN_OR_RETURN(const UniqueFd folder, OpenRunsFolder(state_dir));
  header.started = absl::Now();
  ABSL_ASSIGN_OR_RETURN(header.run_id, NewRunId(header.name, header.started));
  const std::string file = RunFileName(header.run_id);
  UniqueFd fd(openat(folder.get(), file.c_str(),
                     O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!fd.ok()) return ErrnoStatus(errno, absl::StrCat("make the event log '", file, "'"));
  if (flock(fd.get(), LOCK_EX | LOCK_NB) != 0) {
    return ErrnoStatus(errno, absl::StrCat("lock the event log '", file, "'"));
  }
  auto log = absl::WrapUnique(new EventLog(std::move(fd), header, std::move(redactor)));
  const Identity self = IdentifySelf().value_or(Identity());
  const Json line = {
      {"kind", "run"},
      {"format", kFormat},
      {"run", header.run_id},
      {"name", header.name},
      {"agent", header.agent},
      {"agent_name", header.agent_name},
      {"story_id", header.story_id},
      {"writer",
       {{"pid", self.pid},
        {"boot_id", self.boot_id},
        {"start_time", self.start_time},
        {"pid_namespace", self.pid_namespace}}},
      {"started", absl::FormatTime(absl::RFC3339_full, header.started, absl::UTCTimeZone())}};
  ABSL_RETURN_IF_ERROR(log->Write(agent_json::Dump(line), /*sync=*/true));
  if (fsync(folder.get()) != 0) return ErrnoStatus(errno, "sync the folder of runs");
  return log;
}

// First the lock: who is told of the close looks at it at once.
EventLog::~EventLog() { flock(fd_.get(), LOCK_UN); }

absl::Status EventLog::Append(const AgentEvent& event) {
  return Write(AgentEventToJson(event, {.redactor = &redactor_, .max_text = kMaxText}),
               event.kind == AgentEvent::Kind::kStarted || event.kind == AgentEvent::Kind::kResult);
}

absl::Status EventLog::End(const AgentResult& result) {
  return Write(
      absl::StrCat(R"({"kind":"end","result":)",
                   AgentResultToJson(result, {.redactor = &redactor_, .max_text = kMaxText}), "}"),
      /*sync=*/true);
}

absl::Status EventLog::Write(std::string line, bool sync) {
  line += '\n';
  const off_t before = lseek(fd_.get(), 0, SEEK_END);
  absl::string_view left = line;
  while (!left.empty()) {
    const ssize_t n = write(fd_.get(), left.data(), left.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) {
      const int error = errno;
      // A half line would spoil the next one too.
      if (before >= 0 && ftruncate(fd_.get(), before) != 0)
        return ErrnoStatus(errno, "mend the event log");
      return ErrnoStatus(error, absl::StrCat("write the event log '", header_.run_id, "'"));
    }
    left.remove_prefix(static_cast<size_t>(n));
  }
  if (sync && fdatasync(fd_.get()) != 0) {
    return ErrnoStatus(errno, absl::StrCat("sync the event log '", header_.run_id, "'"));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<EventLogReader>> EventLogReader::Open(const std::string& state_dir,
                                                                     absl::string_view run) {
  ABSL_ASSIGN_OR_RETURN(const UniqueFd folder, OpenRunsFolder(state_dir));
  ABSL_ASSIGN_OR_RETURN(const std::vector<std::string> ids, ListRunIds(folder.get()));
  std::string id;
  for (const std::string& candidate : ids) {
    if (NameOfRun(candidate) == run) id = candidate;  // the latest
  }
  if (std::find(ids.begin(), ids.end(), run) != ids.end()) id = run;
  if (id.empty()) return absl::NotFoundError(absl::StrCat("there is no run '", run, "'"));
  UniqueFd file(openat(folder.get(), RunFileName(id).c_str(),
                       O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  if (!file.ok()) return ErrnoStatus(errno, absl::StrCat("open the event log '", id, "'"));
  struct stat info;
  if (fstat(file.get(), &info) != 0) return ErrnoStatus(errno, "stat the event log");
  if (!S_ISREG(info.st_mode) || info.st_uid != geteuid()) {
    return absl::FailedPreconditionError(absl::StrCat("the event log '", id, "' is not ours"));
  }
  // Before the first read, so that nothing is written between them unseen.
  UniqueFd watch(inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
  if (!watch.ok()) return ErrnoStatus(errno, "watch the event log");
  if (inotify_add_watch(watch.get(), absl::StrCat("/proc/self/fd/", file.get()).c_str(),
                        IN_MODIFY | IN_CLOSE_WRITE) < 0) {
    return ErrnoStatus(errno, absl::StrCat("watch the event log '", id, "'"));
  }
  UniqueFd wakes(epoll_create1(EPOLL_CLOEXEC));
  if (!wakes.ok() || !Wake(wakes.get(), watch.get(), EPOLLIN)) {
    return ErrnoStatus(errno, absl::StrCat("watch the event log '", id, "'"));
  }
  auto reader =
      absl::WrapUnique(new EventLogReader(std::move(file), std::move(watch), std::move(wakes)));
  reader->header_.run_id = id;
  reader->header_.name = NameOfRun(id);
  ABSL_RETURN_IF_ERROR(reader->ReadMore());
  return reader;
}

bool EventLogReader::abandoned() const {
  if (flock(file_.get(), LOCK_SH | LOCK_NB) != 0) return false;
  flock(file_.get(), LOCK_UN);
  return true;
}

// The kernel tells of the close of a file before it frees the lock, so a writer that was killed is
// waited for itself. One whom nobody can see from here has only the close.
void EventLogReader::WatchWriter(const Identity& writer) {
  absl::StatusOr<UniqueFd> process = OpenProcess(writer);
  if (!process.ok() || !Wake(wakes_.get(), process->get(), EPOLLIN | EPOLLONESHOT)) return;
  writer_ = *std::move(process);
}

absl::Status EventLogReader::ReadMore() {
  epoll_event woken[2];
  epoll_wait(wakes_.get(), woken, 2, 0);
  char notices[4096];
  while (read(watch_.get(), notices, sizeof(notices)) > 0) {
  }
  std::string buffer(size_t{64} << 10, '\0');
  // Until there is an event, so that a long log is not held in memory.
  while (ready_.empty()) {
    const ssize_t n = read(file_.get(), buffer.data(), buffer.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return ErrnoStatus(errno, absl::StrCat("read the event log '", header_.run_id, "'"));
    if (n == 0) break;
    lines_.Feed(absl::string_view(buffer).substr(0, static_cast<size_t>(n)),
                [this](const LineSplitter::Line& line) { TakeLine(line.text); });
    std::reverse(ready_.begin(), ready_.end());
  }
  return absl::OkStatus();
}

void EventLogReader::TakeLine(absl::string_view line) {
  absl::StatusOr<AgentEvent> event = AgentEventFromJson(line);
  if (event.ok()) {
    ready_.push_back(*std::move(event));
    return;
  }
  const Json json = agent_json::Parse(line);
  if (Text(json, "kind") == "run") {
    header_.agent = Text(json, "agent");
    header_.agent_name = Text(json, "agent_name");
    header_.story_id = Text(json, "story_id");
    absl::ParseTime(absl::RFC3339_full, Text(json, "started"), &header_.started, nullptr);
    const Json& writer = agent_json::Get(json, "writer");
    WatchWriter(
        {.pid = agent_json::Count(writer, "pid"),
         .boot_id = std::string(Text(writer, "boot_id")),
         .start_time = static_cast<uint64_t>(agent_json::Count(writer, "start_time")),
         .pid_namespace = static_cast<uint64_t>(agent_json::Count(writer, "pid_namespace"))});
  } else if (Text(json, "kind") == "end") {
    const absl::StatusOr<AgentResult> result =
        AgentResultFromJson(agent_json::Dump(agent_json::Get(json, "result")));
    if (result.ok()) end_ = *result;
  } else {
    ++unreadable_;
  }
}

absl::StatusOr<std::optional<AgentEvent>> EventLogReader::Next() {
  if (ready_.empty()) {
    ABSL_RETURN_IF_ERROR(ReadMore());
  }
  if (ready_.empty()) return std::nullopt;
  AgentEvent event = std::move(ready_.back());
  ready_.pop_back();
  return event;
}

absl::StatusOr<std::vector<std::string>> ListRuns(const std::string& state_dir) {
  ABSL_ASSIGN_OR_RETURN(const UniqueFd folder, OpenRunsFolder(state_dir));
  return ListRunIds(folder.get());
}

}  // namespace berth
