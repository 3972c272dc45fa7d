// AllowList: the hosts that a session may reach. Nothing else is reached.
//
//   "github.com"         that name, at port 443
//   "*.npmjs.org"        every name below it, not itself
//   "pypi.org:80"        that name, at that port only
//   "10.1.2.3:5432"      that address; without it no address of a private network is ever reached,
//                        neither as such nor by a name that leads there
//
// Used by the helper: no Abseil, no exceptions. Not thread-safe while rules are added.
#ifndef BERTH_SANDBOX_NETWORK_ALLOW_LIST_H_
#define BERTH_SANDBOX_NETWORK_ALLOW_LIST_H_

#include <stdint.h>

#include <string>
#include <string_view>
#include <vector>

#include "sandbox/network/address.h"
#include "sandbox/network/host_name.h"

namespace berth::network {

class AllowList {
 public:
  // False if it is no rule.
  bool Add(std::string_view rule);

  // The host was listed, as itself or below a "*.".
  bool Allows(const Host& host, uint16_t port) const;
  // An address that an allowed name leads to may be used: it is public, or listed itself.
  bool AllowsTarget(const Address& address, uint16_t port) const;

  bool empty() const { return rules_.empty(); }

 private:
  struct Rule {
    Host host;
    bool below = false;  // "*."
    uint16_t port = 0;
  };
  std::vector<Rule> rules_;
};

}  // namespace berth::network

#endif  // BERTH_SANDBOX_NETWORK_ALLOW_LIST_H_
