// `berth run` in a session: for commands that others may look at (--name) or that have limits in
// time.
#ifndef BERTH_TOOLS_BERTH_NAMED_RUN_H_
#define BERTH_TOOLS_BERTH_NAMED_RUN_H_

#include "absl/status/statusor.h"
#include "runtime/runtime.h"
#include "runtime/spec.h"
#include "tools/berth/signal_fd.h"

namespace berth::cli {

// Makes the ephemeral session that `spec` describes, stays until its program has ended, and
// destroys it.
absl::StatusOr<int> RunInSession(Runtime* runtime, SessionSpec spec, SignalFd* signals);

}  // namespace berth::cli

#endif  // BERTH_TOOLS_BERTH_NAMED_RUN_H_
