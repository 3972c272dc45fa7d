// Environment: a place in which several processes run side by side, on any backend. It is a session
// whose main process only waits, and processes that are started in it.
//
//   Environment tools(runtime, {.name = "tools", .container = {.image = "node:22"}});
//   ABSL_RETURN_IF_ERROR(tools.Init());
//   const auto npm = [](const char* verb) { return ProcessSpec{Command::Argv({"npm", verb})}; };
//   ABSL_ASSIGN_OR_RETURN(auto build, tools.Start(npm("ci"), {.name = "install"}));
//   ABSL_ASSIGN_OR_RETURN(auto server, tools.Start(npm("start"), {.wait_on = {"install"}}));
//   …
//   ABSL_RETURN_IF_ERROR(tools.Shutdown(absl::Seconds(5)));
//
// Ownership: the place ends with Stop, with Shutdown, or with its Runtime, which must outlive this
// object; it does not end with this object. Processes belong to who started them. Threads: every
// call may be made from any thread.
#ifndef BERTH_RUNTIME_ENVIRONMENT_H_
#define BERTH_RUNTIME_ENVIRONMENT_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/btree_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "runtime/process.h"
#include "runtime/runtime.h"
#include "runtime/session.h"
#include "runtime/spec.h"
#include "runtime/types.h"
#include "sandbox/base/unique_fd.h"

namespace berth {

// How one process stands to the others of its environment.
struct ProcessPlace {
  std::string name = {};                  // for the others' wait_on; "" is none
  std::vector<std::string> wait_on = {};  // starts once these have ended
  absl::Time wait_deadline = absl::InfiniteFuture();
};

class Environment {
 public:
  // Of `spec`, command and pty are not looked at. Nothing is started before Init. Outside of a
  // container the host's files and ports are seen as they are: mounts and port mappings that would
  // move them are InvalidArgument from Init.
  Environment(Runtime* runtime, SessionSpec spec);

  // Starts the place; fine if it is up. After Stop: starts it again, a container afresh from its
  // image.
  absl::Status Init();

  // A process in the place, with its environment below spec.env's changes (what those append is
  // behind what the place has) and its folder if spec.cwd is "". FailedPrecondition before Init.
  absl::StatusOr<std::unique_ptr<Process>> Start(const ProcessSpec& spec,
                                                 const ProcessPlace& place = {});
  // Start and Wait.
  absl::StatusOr<ExitStatus> Run(const ProcessSpec& spec, absl::Time deadline,
                                 const ProcessPlace& place = {});

  // NotFound if a program of that name is not on the place's PATH.
  absl::Status CheckBinary(absl::string_view name);
  // The host's port that leads to `inside`.
  absl::StatusOr<uint16_t> HostPort(uint16_t inside) const;

  // Ends everything in it. It can be started again.
  absl::Status Stop(absl::Duration grace);
  // Ends everything in it and removes what it had. Any number of times.
  absl::Status Shutdown(absl::Duration grace);

  // The session behind it: Info, GetStats, …. NotFound if it is not up.
  absl::StatusOr<std::unique_ptr<Session>> session();

 private:
  absl::Status AwaitOthers(const ProcessPlace& place);

  Runtime* const runtime_;
  mutable absl::Mutex mutex_;
  SessionSpec spec_ ABSL_GUARDED_BY(mutex_);
  std::string handle_ ABSL_GUARDED_BY(mutex_);  // "": not up
  std::string backend_ ABSL_GUARDED_BY(mutex_);
  absl::btree_map<std::string, UniqueFd> ends_ ABSL_GUARDED_BY(mutex_);  // by process name
};

}  // namespace berth

#endif  // BERTH_RUNTIME_ENVIRONMENT_H_
