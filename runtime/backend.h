// Backend: an engine that runs sessions. One folder each; `Runtime` owns one of each and callers
// rarely see it. Threads: every call may be made from any thread.
#ifndef BERTH_RUNTIME_BACKEND_H_
#define BERTH_RUNTIME_BACKEND_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "runtime/record/record.h"
#include "runtime/session.h"
#include "runtime/spec.h"
#include "sandbox/base/unique_fd.h"

namespace berth {

// What a backend tells its Runtime of an engine that sessions outlive. May be called inside any
// call of the backend's, on its thread.
struct EngineWatch {
  // There is one: `alive` becomes readable when it ends. Then CheckEngine is to be called.
  std::function<void(UniqueFd alive)> found = [](UniqueFd) {};
  // It does not answer any more: once for each time that it is lost.
  std::function<void(absl::string_view reason)> lost = [](absl::string_view) {};
};

class Backend {
 public:
  virtual ~Backend() = default;

  virtual absl::string_view name() const = 0;
  // Whether the engine answers; the error says what to install or start.
  virtual absl::Status Probe() = 0;
  // The record is durable before the first instruction of the command; on failure nothing is left.
  virtual absl::StatusOr<std::unique_ptr<Session>> Create(const SessionSpec& spec) = 0;
  // A session that exists, from its record. Does not ask the engine: see Session::CheckLiveness.
  virtual absl::StatusOr<std::unique_ptr<Session>> Open(const Record& record) = 0;
  // What Session::Info would tell of each, in any order; those that are gone meanwhile are left
  // out. An engine that can tell of many at once is asked once. One that does not answer gives
  // state kUnknown and holds this up for one deadline, not for one a session. This one opens and
  // asks one session after another.
  virtual std::vector<SessionInfo> Describe(const std::vector<Record>& records);
  // Finds out whether the engine is there, for those that have an EngineWatch.
  virtual void CheckEngine() {}
};

}  // namespace berth

#endif  // BERTH_RUNTIME_BACKEND_H_
