// The objects behind the handles.
#ifndef BERTH_CAPI_OBJECTS_H_
#define BERTH_CAPI_OBJECTS_H_

#include <stdint.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/cleanup/cleanup.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/status_macros.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "capi/berth.h"
#include "capi/boundary.h"
#include "capi/handles.h"
#include "runtime/change.h"
#include "runtime/env.h"
#include "runtime/process.h"
#include "runtime/record/identity.h"
#include "runtime/runtime.h"
#include "runtime/session.h"
#include "runtime/spec.h"
#include "runtime/types.h"
#include "sandbox/policy.h"
#include "sandbox/violation.h"

namespace berth::capi {

struct StringsObject {
  static constexpr Kind kKind = Kind::kStrings;
  std::vector<std::string> texts;
  absl::Status error;  // the first one of a setter, for the call that takes it; so below
};

struct EnvObject {
  static constexpr Kind kKind = Kind::kEnv;
  Env env;
  absl::Status error;
};

struct SessionSpecObject {
  static constexpr Kind kKind = Kind::kSessionSpec;
  SessionSpec spec;
  std::vector<std::string> args;
  absl::Status error;
};

struct ProcessSpecObject {
  static constexpr Kind kKind = Kind::kProcessSpec;
  ProcessSpec spec;
  std::vector<std::string> args;
  absl::Status error;
};

struct RuntimeObject {
  static constexpr Kind kKind = Kind::kRuntime;
  std::unique_ptr<Runtime> runtime;
};

// The runtime comes first, so that it goes last: its sessions and processes must not outlive it.
struct SessionObject {
  static constexpr Kind kKind = Kind::kSession;
  std::shared_ptr<RuntimeObject> runtime;
  const void* runtime_handle;
  std::unique_ptr<Session> session;
};

struct ProcessObject {
  static constexpr Kind kKind = Kind::kProcess;
  std::shared_ptr<RuntimeObject> runtime;
  std::unique_ptr<Process> process;
};

// Gives an object a handle that goes with the runtime's, then has `fill` make what it holds.
template <typename Object, typename Handle, typename Fill>
absl::Status PutOwned(std::shared_ptr<Object> object, const void* owner, Handle** out,
                      Fill&& fill) {
  Handle* const handle = Handles::Add<Handle>(object, owner);
  absl::Cleanup remove = [handle] { Handles::Remove<Object>(handle); };
  ABSL_RETURN_IF_ERROR(fill(*object));
  // Freed meanwhile, by another thread, which may not have seen this handle.
  if (Handles::Find<RuntimeObject>(owner) == nullptr) return NoObject(owner, "runtime");
  std::move(remove).Cancel();
  *out = handle;
  return absl::OkStatus();
}

// Makes a session or process and gives it a handle that goes with the runtime's. The handle is made
// first, so that nothing can fail once something runs.
using MakeSession = absl::FunctionRef<absl::StatusOr<std::unique_ptr<Session>>()>;
using MakeProcess = absl::FunctionRef<absl::StatusOr<std::unique_ptr<Process>>()>;
absl::Status PutSession(std::shared_ptr<RuntimeObject> runtime, const void* runtime_handle,
                        berth_session** out, MakeSession make);
absl::Status PutProcess(std::shared_ptr<RuntimeObject> runtime, const void* runtime_handle,
                        berth_process** out, MakeProcess make);

// Of what is for one thread at a time and takes long, so that the others wait no longer than they
// were told to.
class Turns {
 public:
  // Whether it is this thread's turn by then.
  bool Take(absl::Time deadline) {
    const auto free = [this]() ABSL_SHARED_LOCKS_REQUIRED(mutex_) { return !taken_; };
    absl::MutexLock lock(mutex_);
    if (!mutex_.AwaitWithDeadline(absl::Condition(&free), deadline)) return false;
    taken_ = true;
    return true;
  }
  void GiveBack() {
    absl::MutexLock lock(mutex_);
    taken_ = false;
  }

 private:
  absl::Mutex mutex_;
  bool taken_ ABSL_GUARDED_BY(mutex_) = false;
};

// A call on a session: `body` takes it and returns a Status.
template <typename Body>
int32_t OnSession(const berth_session* session, berth_error** error, Body&& body) {
  return Guard(error, [&]() -> absl::Status {
    ABSL_ASSIGN_OR_RETURN(const auto object, Get<SessionObject>(session, "session"));
    return body(*object->session);
  });
}

// For what needs no owner.
template <typename Handle, typename Object>
absl::Status Put(std::shared_ptr<Object> object, Handle** out) {
  *out = Handles::Add<Handle>(std::move(object));
  return absl::OkStatus();
}

absl::Status PutViolations(std::vector<Violation> violations, berth_violations** out);
absl::Status PutViolationFeed(std::unique_ptr<ViolationFeed> feed, berth_violation_feed** out);
absl::Status PutChanges(std::vector<::berth::Change> changes, berth_changes** out);
absl::StatusOr<Policy> GetPolicy(const berth_policy* policy);
absl::Status PutStrings(std::vector<std::string> texts, berth_strings** out);
absl::Status PutInfos(std::vector<SessionInfo> infos, berth_infos** out);

// In C, 0 is what is not known.
int32_t LivenessNumber(Liveness liveness);

// Null `out` is fine for these two.
absl::Status PutExit(const absl::StatusOr<ExitStatus>& status, berth_exit* out);
absl::Status PutStats(const absl::StatusOr<Stats>& stats, berth_stats* out);

// The spec with its arguments, or the first error of its setters.
absl::StatusOr<ProcessSpec> GetSpec(const berth_process_spec* spec);
absl::StatusOr<SessionSpec> GetSpec(const berth_session_spec* spec);
absl::StatusOr<std::vector<std::string>> GetStrings(const berth_strings* strings,
                                                    const char* argument);
// NULL is the empty list.
absl::StatusOr<std::vector<std::string>> GetStringsOrNone(const berth_strings* strings,
                                                          const char* argument);

}  // namespace berth::capi

#endif  // BERTH_CAPI_OBJECTS_H_
