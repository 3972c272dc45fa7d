// Runtime: the way in. Makes sessions and processes, finds the ones that exist, tells what happens
// to them.
//
//   ABSL_ASSIGN_OR_RETURN(auto runtime, berth::Runtime::Create({}));
//   const SessionSpec spec = {.name = "build", .command = Command::Shell("make")};
//   ABSL_ASSIGN_OR_RETURN(auto session, runtime->CreateSession(spec));
//   ABSL_ASSIGN_OR_RETURN(ExitStatus status, session->Wait(absl::InfiniteFuture()));
//
// Ownership: a Runtime is an owner in the sense of the records: it holds a lease from its first
// session on. Ephemeral sessions and spawned processes end with it, however it ends. Sessions and
// processes must not be used after it. Threads: every call may be made from any thread. No thread
// is started, no signal handled, no child left to the host's waitpid; the host is never forked.
#ifndef BERTH_RUNTIME_RUNTIME_H_
#define BERTH_RUNTIME_RUNTIME_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "runtime/choose.h"
#include "runtime/process.h"
#include "runtime/session.h"
#include "runtime/spec.h"
#include "sandbox/violation.h"

namespace berth {

struct RuntimeOptions {
  std::string state_dir =
      {};  // "": $BERTH_STATE_DIR, else $XDG_STATE_HOME/berth, else ~/.local/state/berth
};

// Something that happened to a session made or opened by this Runtime.
struct Event {
  enum class Kind : uint8_t {
    kExited = 1,  // the main process ended: `exit`
    kLost = 2,  // its engine or supervisor does not answer any more: liveness is unknown, `detail`
                // says why
    kViolation = 3,  // its policy stopped something: `violation`; the session goes on
  };
  Kind kind = Kind::kExited;
  std::string handle = {};
  std::string name = {};
  ExitStatus exit;
  std::string detail = {};
  Violation violation = {};
};

class Runtime {
 public:
  static absl::StatusOr<std::unique_ptr<Runtime>> Create(const RuntimeOptions& options);
  virtual ~Runtime() = default;

  virtual absl::StatusOr<std::unique_ptr<Session>> CreateSession(const SessionSpec& spec) = 0;
  // The backend that CreateSession would use for it, and why: see choose.h. Asks engines.
  virtual absl::StatusOr<Choice> Choose(const SessionSpec& spec) = 0;
  // By handle, exactly. NotFound if there is none (any more).
  virtual absl::StatusOr<std::unique_ptr<Session>> Open(absl::string_view handle) = 0;
  // By name, exactly, never by prefix.
  virtual absl::StatusOr<std::unique_ptr<Session>> Find(absl::string_view name) = 0;
  // All sessions of this state directory, by name. An engine that does not answer gives state
  // kUnknown.
  virtual absl::StatusOr<std::vector<SessionInfo>> List() = 0;

  // The cheap form: no name, no record of its own, ends with its Process object or this Runtime.
  virtual absl::StatusOr<std::unique_ptr<Process>> Spawn(const ProcessSpec& spec) = 0;

  // Readable while NextEvent has something. Owned by the Runtime.
  virtual int event_fd() const = 0;
  // The next event, or nothing at once.
  virtual absl::StatusOr<std::optional<Event>> NextEvent() = 0;
};

}  // namespace berth

#endif  // BERTH_RUNTIME_RUNTIME_H_
