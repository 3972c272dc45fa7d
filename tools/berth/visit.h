// A person's visit to a session: this terminal on it, until one leaves or it ends.
#ifndef BERTH_TOOLS_BERTH_VISIT_H_
#define BERTH_TOOLS_BERTH_VISIT_H_

#include <optional>

#include "absl/status/statusor.h"
#include "runtime/session.h"
#include "tools/berth/detach_key.h"
#include "tools/berth/signal_fd.h"

namespace berth::cli {

struct VisitEnd {
  bool ended = false;              // the session did
  std::optional<int> signal = {};  // or one that asks berth to end came
};

// Standard input and output must be terminals. Leaves the terminal as it was, whatever the program
// had switched on.
absl::StatusOr<VisitEnd> VisitSession(Session* session, SignalFd* signals, const DetachKey& key);

}  // namespace berth::cli

#endif  // BERTH_TOOLS_BERTH_VISIT_H_
