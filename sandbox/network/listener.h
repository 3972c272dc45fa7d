// The proxy's door in a session's network namespace. A listening socket stays in the namespace it
// was made in, whoever holds it: so the session's first process makes one on its own loopback,
// before it runs the program, and hands it out to the proxy, which lives in the host's namespace.
// Nothing relays between the two, and when the proxy dies the door is gone with it.
//
// For a child between clone and exec: no heap, no locks, errnos.
#ifndef BERTH_SANDBOX_NETWORK_LISTENER_H_
#define BERTH_SANDBOX_NETWORK_LISTENER_H_

#include <stdint.h>

namespace berth::network {

// Listens on 127.0.0.1:`port` of the namespace that the caller is in (its loopback must be up) and
// hands the socket to the proxy over `channel`, the owner's end of its control socket. 0 or an
// errno.
int OpenDoor(int channel, uint16_t port);

// Where there is no namespace of its own (the landlock tier): a socket on the host's loopback, at a
// port that the kernel chooses. Returns the socket, or -1 with errno.
int ListenOnLoopback(uint16_t* port);

}  // namespace berth::network

#endif  // BERTH_SANDBOX_NETWORK_LISTENER_H_
