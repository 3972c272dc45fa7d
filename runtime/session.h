// Session: a named place with one main process, a terminal or three pipes, a log, limits and a
// record.
//
//   const SessionSpec spec = {.name = "fix-42", .command = Command::Shell("claude")};
//   ABSL_ASSIGN_OR_RETURN(auto session, runtime->CreateSession(spec));
//   ABSL_RETURN_IF_ERROR(session->Send({.text = "run the tests"}).status());
//   ABSL_ASSIGN_OR_RETURN(std::string screen, session->Capture({.lines = 40}));
//
// Ownership: the object is a view. Destroying it ends nothing: a durable session goes on until
// Destroy, an ephemeral one until Destroy or the death of the Runtime that made it. Another process
// opens it again by its handle. Threads: every call may be made from any thread, any number at
// once; sends to one session never interleave. Failure: an engine that does not answer is
// Unavailable, never "dead"; a session that is gone is NotFound; what an engine cannot do is
// Unimplemented. Every call has a deadline of its own or ends by itself.
#ifndef BERTH_RUNTIME_SESSION_H_
#define BERTH_RUNTIME_SESSION_H_

#include <stdint.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "runtime/change.h"
#include "runtime/process.h"
#include "runtime/spec.h"
#include "runtime/types.h"
#include "sandbox/base/unique_fd.h"
#include "sandbox/violation.h"

namespace berth {

enum class SessionState : uint8_t { kStarting = 0, kRunning = 1, kExited = 2, kUnknown = 3 };
absl::string_view SessionStateName(SessionState state);

struct SessionInfo {
  std::string handle = {};
  std::string name = {};
  std::string backend = {};
  SessionState state = SessionState::kUnknown;
  bool durable = false;
  bool pty = false;
  TerminalSize size = {};
  pid_t pid = 0;
  std::string cwd = {};
  absl::Time created;
  ExitStatus exit;           // if state is kExited
  std::string tree = {};     // how the whole tree is held: "cgroup", "subreaper", "pidns"
  int attached = 0;          // viewers now
  int64_t output_bytes = 0;  // written by the program so far
  absl::Time last_output;    // InfinitePast: none yet
  std::string title = {};    // as set by the program
  std::string log_path = {};
  std::string tier = {};     // how its policy is enforced; "" if it has none
  int64_t violations = 0;    // that its policy has stopped so far
  std::string address = {};  // where its engine is, if that is not this machine's default
  absl::btree_map<std::string, std::string> labels = {};
};

// One message to the program, sent whole or not at all.
struct Message {
  absl::string_view text = {};  // any bytes; 1 MB works
  // Key to press after the text ("Enter", "C-m", …); "" presses none.
  absl::string_view submit = "Enter";
  // Bracketed paste when the program asked for it; a paste-end marker inside the text cannot break
  // out.
  bool paste = true;
  // How far delivery is awaited.
  Delivery await = Delivery::kSubmitted;
};

struct CaptureOptions {
  int lines = 0;        // the last N; 0 is all that is kept
  bool colour = false;  // with SGR sequences
};

enum class OutputStream : uint8_t { kStdout = 0, kStderr = 1 };

struct OutputOptions {
  OutputStream stream = OutputStream::kStdout;  // a terminal has only kStdout
  // First byte wanted, counted from the session's first one; -1 is "from now on".
  int64_t from = 0;
  // A reader that lags is waited for up to this many bytes; then the program waits. 0: the program
  // never waits, and what the reader missed is skipped.
  int64_t buffer_bytes = int64_t{64} << 20;
};

// A byte stream to read until end of file, and where it really begins: later than asked if older
// bytes are gone.
struct Output {
  UniqueFd fd;
  int64_t begins = 0;
};

// What a policy stops, as it happens. For one thread at a time; may outlive its Session.
class ViolationFeed {
 public:
  virtual ~ViolationFeed() = default;
  virtual int fd() const = 0;  // readable while Next has something
  // Those that have come since the last call, oldest first, without waiting. OutOfRange: nothing of
  // the session runs any more, and there will be no others.
  virtual absl::StatusOr<std::vector<Violation>> Next() = 0;
};

class Session {
 public:
  virtual ~Session() = default;

  virtual const std::string& handle() const = 0;  // opaque; stays the same through Rename
  virtual std::string name() const = 0;

  virtual absl::StatusOr<SessionInfo> Info() = 0;
  virtual LivenessReport CheckLiveness() = 0;

  // Returns what is known of the delivery; at least kQueued, as much as `await` asks where
  // `deadline` allows it. On an error nothing of the message was sent.
  virtual absl::StatusOr<Delivery> Send(const Message& message, absl::Time deadline) = 0;
  absl::StatusOr<Delivery> Send(const Message& message) {
    return Send(message, absl::Now() + absl::Seconds(30));
  }
  // Keys by name: "Enter", "C-c", "Up", "F5", "M-x"; InvalidArgument names the one that is not
  // known.
  virtual absl::Status SendKeys(const std::vector<std::string>& keys) = 0;

  // What a person would see, as text: the same on every backend.
  virtual absl::StatusOr<std::string> Capture(const CaptureOptions& options) = 0;
  virtual absl::StatusOr<Output> OpenOutput(const OutputOptions& options) = 0;
  // The session's standard input (pipes: until closed by CloseStdin).
  virtual absl::Status CloseStdin() = 0;

  virtual absl::Status Resize(TerminalSize size) = 0;
  // A viewer: a socket that carries the screen now and all output after it, and takes input.
  // Several at once.
  virtual absl::StatusOr<UniqueFd> Attach() = 0;
  // The command that attaches a person's terminal to this session.
  virtual std::vector<std::string> AttachCommand() const = 0;

  // Starts, moves or ("") ends the log.
  virtual absl::Status SetLog(absl::string_view path, int64_t cap_bytes) = 0;
  // For programs that Exec starts from now on; a running program's environment cannot be changed.
  virtual absl::Status SetEnvironment(absl::string_view key, absl::string_view value) = 0;

  virtual absl::StatusOr<std::unique_ptr<Process>> Exec(const ProcessSpec& spec) = 0;
  virtual absl::StatusOr<Stats> GetStats() = 0;
  // What its policy has stopped, oldest first: the last ones, if there are many.
  virtual absl::StatusOr<std::vector<Violation>> Violations() { return std::vector<Violation>(); }
  // The same from number `seen` + 1 on, and those to come. FailedPrecondition if it has no policy.
  virtual absl::StatusOr<std::unique_ptr<ViolationFeed>> WatchViolations(
      [[maybe_unused]] int64_t seen) {
    return absl::FailedPreconditionError("the session has no policy that tells what it stops");
  }

  // What it changed in the folders that its policy shows copy-on-write: see runtime/change.h. While
  // it runs, what it has changed so far.
  virtual absl::StatusOr<std::vector<Change>> Changes() { return std::vector<Change>(); }
  // Makes these changes where the folders really are: all, or those at and below `paths` (as
  // Change::path). FailedPrecondition, and nothing is done, while it runs or where something else
  // has changed one of them since it began. They go on being listed until they are made.
  virtual absl::Status KeepChanges([[maybe_unused]] const std::vector<std::string>& paths) {
    return absl::FailedPreconditionError("the session has no copy-on-write folder");
  }
  virtual absl::Status DiscardChanges() {
    return absl::FailedPreconditionError("the session has no copy-on-write folder");
  }

  virtual absl::Status Signal(int signal) = 0;  // to the main process
  virtual absl::StatusOr<ExitStatus> Stop(absl::Duration grace) = 0;
  virtual absl::StatusOr<ExitStatus> Wait(absl::Time deadline) = 0;
  virtual absl::StatusOr<UniqueFd> ExitFd() = 0;
  virtual absl::Status Rename(absl::string_view new_name) = 0;
  // Ends the tree (TERM, `grace`, KILL) and removes all that the session had. Idempotent.
  virtual absl::Status Destroy(absl::Duration grace) = 0;
};

}  // namespace berth

#endif  // BERTH_RUNTIME_SESSION_H_
