// TCP ports on loopback: which are free, which are bound, and when one becomes unbound.
//
// All of this is about the network namespace of the calling thread. Stateless; any thread.
#ifndef BERTH_RUNTIME_PORTS_PORT_H_
#define BERTH_RUNTIME_PORTS_PORT_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace berth {

// Whether any server could bind `port` now: on 127.0.0.1, 0.0.0.0, and on ::1 and :: where there is
// IPv6.
//
// Asked without SO_REUSEADDR, the strict way: with that option a bind also succeeds over
// connections that linger in TIME_WAIT or FIN_WAIT, and over a bound socket of another program that
// has the option too and does not listen yet. So a port that a server with SO_REUSEADDR could take
// back at once may not be free to this function, but one that is free is so for servers with and
// without it. False for 0, and for ports that this user may not bind (below 1024, mostly).
bool IsFreePort(uint16_t port);

// A port that was free a moment ago. Nothing keeps it so: see PortLease. It is taken from below the
// range out of which the kernel serves outgoing connections, where there is room, so that none of
// those can take it. ResourceExhausted if none was found.
absl::StatusOr<uint16_t> FindFreePort();

// So many of them, no two the same, which those of one call after the other may be.
absl::StatusOr<std::vector<uint16_t>> FindFreePorts(size_t count);

// Whether a process has a TCP socket bound to `port` on any address: listening, connected, or only
// bound. What the kernel alone still holds after its process (TIME_WAIT, FIN_WAIT) does not count:
// a server with SO_REUSEADDR, as servers have, can bind over it. False for 0.
bool IsBound(uint16_t port);

// Returns as soon as IsBound(port) is false, DeadlineExceeded if it is still true at `deadline`,
// InvalidArgument for 0.
//
// The kernel tells of each TCP socket that it destroys (sock_diag's multicast groups, open to every
// user); the port is looked at again for each one that had it. Only a connection can become unbound
// without such a message, when its process leaves it to the kernel in FIN_WAIT: so while all that
// holds the port are connections, or where there are no messages (no CONFIG_INET_DIAG), it is
// looked at again every 20 ms too.
absl::Status WaitUnbound(uint16_t port, absl::Time deadline);

}  // namespace berth

#endif  // BERTH_RUNTIME_PORTS_PORT_H_
