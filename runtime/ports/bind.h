// Binding TCP sockets to ports of this host, for port.cc and port_lease.cc. Stateless; any thread.
#ifndef BERTH_RUNTIME_PORTS_BIND_H_
#define BERTH_RUNTIME_PORTS_BIND_H_

#include <cstdint>

#include "sandbox/base/unique_fd.h"

namespace berth {

enum class BindAddress { kLoopback4, kAny4, kLoopback6, kAny6 };

// 0 and a bound close-on-exec socket, without SO_REUSEADDR; or errno. IPv6 sockets are for IPv6
// only.
int BindTcp(BindAddress address, uint16_t port, UniqueFd* socket);

// Whether `error` of a bind to an IPv6 address means that there is no IPv6 here.
bool NoIpv6(int error);

// Ports to try, in random order without end; see FindFreePort for the range.
class PortChoice {
 public:
  PortChoice();
  uint16_t Next();

 private:
  uint32_t first_, count_, at_, step_;
};

}  // namespace berth

#endif  // BERTH_RUNTIME_PORTS_BIND_H_
