// What a session's proxy denied, noted with all else that its policy stopped.
// Used by the helper: no Abseil, no exceptions.
#ifndef BERTH_SANDBOX_LAUNCHER_ENTER_DENIALS_H_
#define BERTH_SANDBOX_LAUNCHER_ENTER_DENIALS_H_

#include <utility>
#include <vector>

#include "sandbox/launcher/enter/violations.h"
#include "sandbox/network/proxy_child.h"

namespace berth::launcher {

// Takes what has come, without waiting; fine if there is no proxy.
inline void NoteDenials(network::ProxyChild* proxy, ViolationLog* log) {
  std::vector<network::Denial> denials;
  proxy->TakeDenials(&denials);
  for (network::Denial& denial : denials) {
    // That it is not on the list is the rule itself; anything else has to be said.
    if (denial.reason != network::kNotListed) denial.what += ": " + denial.reason;
    log->Add(ViolationLog::kNetwork, 0, std::move(denial.what));
  }
}

}  // namespace berth::launcher

#endif  // BERTH_SANDBOX_LAUNCHER_ENTER_DENIALS_H_
