// Backend: an engine that runs sessions. One folder each; `Runtime` owns one of each and callers
// rarely see it. Threads: every call may be made from any thread.
#ifndef BERTH_RUNTIME_BACKEND_H_
#define BERTH_RUNTIME_BACKEND_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "runtime/record/record.h"
#include "runtime/session.h"
#include "runtime/spec.h"

namespace berth {

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
};

}  // namespace berth

#endif  // BERTH_RUNTIME_BACKEND_H_
