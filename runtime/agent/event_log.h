// EventLog: the events of one run on disk, one JSON object a line, while they happen; and
// EventLogReader, which reads them from the beginning and goes on while the run does.
//
//   <state>/agents/<run id>.jsonl     0600; <run id> is <name>-<time>-<4 hex digits>
//
// The first line says which run it is, the last ("kind":"end") how it ended; what was started and
// what resulted is synced at once, so that after a crash the session to resume is known. Secrets
// are taken out and long texts cut before a byte is written. Prompts, arguments and environments
// are never written. Whoever writes holds a lock on the file: a log without an end whose lock is
// free is one of a run whose host died. The first line names that process, so that who follows can
// be woken by its death. Not thread-safe; any number of readers in any processes.
#ifndef BERTH_RUNTIME_AGENT_EVENT_LOG_H_
#define BERTH_RUNTIME_AGENT_EVENT_LOG_H_

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "runtime/agent/event.h"
#include "runtime/agent/line_splitter.h"
#include "runtime/agent/redact.h"
#include "runtime/agent/result.h"
#include "runtime/record/identity.h"
#include "sandbox/base/unique_fd.h"

namespace berth {

struct RunHeader {
  std::string run_id = {};
  std::string name = {};  // of the session it runs in
  std::string agent = {};
  std::string agent_name = {};
  std::string story_id = {};
  absl::Time started = absl::InfinitePast();
};

class EventLog {
 public:
  // "" is the default state directory. Of `header`, run_id and started are filled in.
  static absl::StatusOr<std::unique_ptr<EventLog>> Create(const std::string& state_dir,
                                                          RunHeader header, Redactor redactor);

  ~EventLog();
  EventLog(const EventLog&) = delete;
  EventLog& operator=(const EventLog&) = delete;

  const RunHeader& header() const { return header_; }
  // Adds a line. After an error (a full disk) the log has no half line, and may be tried again.
  absl::Status Append(const AgentEvent& event);
  absl::Status End(const AgentResult& result);

 private:
  EventLog(UniqueFd fd, RunHeader header, Redactor redactor)
      : fd_(std::move(fd)), header_(std::move(header)), redactor_(std::move(redactor)) {}
  absl::Status Write(std::string line, bool sync);

  const UniqueFd fd_;
  const RunHeader header_;
  const Redactor redactor_;
};

class EventLogReader {
 public:
  // By run id, or the latest run of a name. NotFound if there is none.
  static absl::StatusOr<std::unique_ptr<EventLogReader>> Open(const std::string& state_dir,
                                                              absl::string_view run);

  const RunHeader& header() const { return header_; }
  // The next event, or nothing at once. Lines that are none are passed over and counted.
  absl::StatusOr<std::optional<AgentEvent>> Next();
  // Readable once there may be more, or whoever wrote has gone. For poll; Next takes care of the
  // rest.
  int fd() const { return wakes_.get(); }
  // How the run ended, once Next has come to that line.
  const std::optional<AgentResult>& end() const { return end_; }
  // Nobody writes to it any more.
  bool abandoned() const;
  int64_t unreadable_lines() const { return unreadable_; }

 private:
  EventLogReader(UniqueFd file, UniqueFd watch, UniqueFd wakes)
      : file_(std::move(file)), watch_(std::move(watch)), wakes_(std::move(wakes)), lines_(0) {}
  absl::Status ReadMore();
  void WatchWriter(const Identity& writer);
  void TakeLine(absl::string_view line);

  const UniqueFd file_, watch_, wakes_;
  UniqueFd writer_;
  LineSplitter lines_;
  RunHeader header_;
  std::vector<AgentEvent> ready_;  // in reverse
  std::optional<AgentResult> end_;
  int64_t unreadable_ = 0;
};

// All runs of a state directory, the latest last.
absl::StatusOr<std::vector<std::string>> ListRuns(const std::string& state_dir);

}  // namespace berth

#endif  // BERTH_RUNTIME_AGENT_EVENT_LOG_H_
