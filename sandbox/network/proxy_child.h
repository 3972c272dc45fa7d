// ProxyChild: a proxy as the helper that owns it holds it. It ends with this object, and with the
// helper.
// Used by the helper: no Abseil, no exceptions. Not thread-safe.
#ifndef BERTH_SANDBOX_NETWORK_PROXY_CHILD_H_
#define BERTH_SANDBOX_NETWORK_PROXY_CHILD_H_

#include <poll.h>
#include <stdint.h>

#include <string>
#include <vector>

#include "sandbox/base/unique_fd.h"
#include "sandbox/launcher/enter/failure.h"
#include "sandbox/launcher/own_program.h"
#include "sandbox/launcher/sandbox_plan.h"
#include "sandbox/network/proxy_config.h"

namespace berth::network {

struct Denial {
  std::string what;    // "connect evil.org:443"
  std::string reason;  // "not on the list of domains"
  uint32_t lost = 0;   // how many before it were not told
};

class ProxyChild {
 public:
  ProxyChild() = default;
  ProxyChild(ProxyChild&&) = default;
  ProxyChild& operator=(ProxyChild&&) = default;

  // Starts one for a plan with SandboxNetwork::kProxy, from the helper's own program; fine, and
  // nothing is started, for other plans. Returns once it is configured. Whoever reaps the helper's
  // children finds it among them.
  bool Start(const launcher::SandboxPlan& plan, launcher::OpenProgram open_program,
             launcher::Failure* failure);

  // For OpenDoor; -1 if there is no proxy.
  int channel() const { return channel_.get(); }
  // What it has denied since, without waiting. Poll channel() for POLLIN. False once it is gone:
  // from then on the session has no network.
  bool TakeDenials(std::vector<Denial>* denials);
  // It ends at once.
  void Stop();

 private:
  UniqueFd channel_, pidfd_;
};

}  // namespace berth::network

#endif  // BERTH_SANDBOX_NETWORK_PROXY_CHILD_H_
