// What the kernel knows of TCP sockets by their local port, over NETLINK_SOCK_DIAG. One thread per
// object.
#ifndef BERTH_RUNTIME_PORTS_SOCK_DIAG_H_
#define BERTH_RUNTIME_PORTS_SOCK_DIAG_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "sandbox/base/unique_fd.h"

namespace berth {

struct PortUse {
  int listening = 0;  // sockets of processes that listen, or (Linux 6.8 and later) are only bound
  int connected = 0;  // other sockets of processes
  int ownerless = 0;  // TIME_WAIT, FIN_WAIT and so on, after their process
};

// All TCP sockets of this network namespace with that local port, IPv4 and IPv6.
absl::StatusOr<PortUse> ReadPortUse(uint16_t port);

// Hears of TCP sockets that are destroyed, from the time of Open on.
class DestroyedSockets {
 public:
  static absl::StatusOr<DestroyedSockets> Open();
  int fd() const { return fd_.get(); }  // readable when there is something to hear
  // Takes all that there is. Whether a socket with this local port was among them, or some messages
  // were lost.
  bool TakeAny(uint16_t port);

 private:
  explicit DestroyedSockets(UniqueFd fd) : fd_(std::move(fd)) {}
  UniqueFd fd_;
};

}  // namespace berth

#endif  // BERTH_RUNTIME_PORTS_SOCK_DIAG_H_
