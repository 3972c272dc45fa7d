#include "runtime/ports/sock_diag.h"

#include <errno.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "sandbox/base/errno_status.h"

namespace berth {
namespace {

constexpr int kBoundInactive =
    13;  // TCP_BOUND_INACTIVE, Linux 6.8; older kernels do not list sockets that are only bound
constexpr size_t kBuffer = 32 << 10;

struct Request {
  nlmsghdr header;
  inet_diag_req_v2 diag;
  nlattr attribute;
  inet_diag_bc_op filter[4];
};

Request MakeRequest(int family, uint16_t port) {
  Request request = {};
  request.header = {sizeof(request), SOCK_DIAG_BY_FAMILY, NLM_F_REQUEST | NLM_F_DUMP, 1, 0};
  request.diag.sdiag_family = static_cast<uint8_t>(family);
  request.diag.sdiag_protocol = IPPROTO_TCP;
  request.diag.idiag_states = ~0u;
  request.attribute = {sizeof(nlattr) + sizeof(request.filter), INET_DIAG_REQ_BYTECODE};
  // source port >= port and <= port. An operand is the `no` of the operation that follows; a jump
  // to four bytes past the end refuses the socket.
  request.filter[0] = {INET_DIAG_BC_S_GE, 8, 20};
  request.filter[1] = {INET_DIAG_BC_NOP, 0, port};
  request.filter[2] = {INET_DIAG_BC_S_LE, 8, 12};
  request.filter[3] = {INET_DIAG_BC_NOP, 0, port};
  return request;
}

void Count(const inet_diag_msg& message, PortUse* use) {
  const int state = message.idiag_state;
  // Connections in the queue of a listener have no inode either; their listener is counted.
  if (message.idiag_inode == 0) {
    ++use->ownerless;
  } else if (state == TCP_LISTEN || state == kBoundInactive) {
    ++use->listening;
  } else {
    ++use->connected;
  }
}

// 0 or errno.
int Dump(int fd, int family, uint16_t port, PortUse* use) {
  const Request request = MakeRequest(family, port);
  if (send(fd, &request, sizeof(request), 0) < 0) return errno;
  alignas(nlmsghdr) char buffer[kBuffer];
  while (true) {
    const ssize_t got = recv(fd, buffer, sizeof(buffer), 0);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return errno;
    int left = static_cast<int>(got);
    for (const nlmsghdr* h = reinterpret_cast<nlmsghdr*>(buffer);
         NLMSG_OK(h, static_cast<unsigned>(left)); h = NLMSG_NEXT(h, left)) {
      if (h->nlmsg_type == NLMSG_DONE) return 0;
      if (h->nlmsg_type == NLMSG_ERROR) return -static_cast<const nlmsgerr*>(NLMSG_DATA(h))->error;
      const auto* message = static_cast<const inet_diag_msg*>(NLMSG_DATA(h));
      if (message->id.idiag_sport == htons(port)) Count(*message, use);
    }
  }
}

}  // namespace

absl::StatusOr<PortUse> ReadPortUse(uint16_t port) {
  UniqueFd fd(socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG));
  if (!fd.ok()) return ErrnoStatus(errno, "open sock_diag");
  PortUse use;
  if (const int error = Dump(fd.get(), AF_INET, port, &use); error != 0)
    return ErrnoStatus(error, "list TCP sockets");
  // ENOENT: a kernel without IPv6.
  if (const int error = Dump(fd.get(), AF_INET6, port, &use); error != 0 && error != ENOENT) {
    return ErrnoStatus(error, "list TCP sockets of IPv6");
  }
  return use;
}

absl::StatusOr<DestroyedSockets> DestroyedSockets::Open() {
  UniqueFd fd(socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_SOCK_DIAG));
  if (!fd.ok()) return ErrnoStatus(errno, "open sock_diag");
  // Open to every user: the family has NL_CFG_F_NONROOT_RECV.
  sockaddr_nl name = {};
  name.nl_family = AF_NETLINK;
  name.nl_groups = 1u << (SKNLGRP_INET_TCP_DESTROY - 1) | 1u << (SKNLGRP_INET6_TCP_DESTROY - 1);
  if (bind(fd.get(), reinterpret_cast<const sockaddr*>(&name), sizeof(name)) != 0) {
    return ErrnoStatus(errno, "listen for destroyed TCP sockets");
  }
  return DestroyedSockets(std::move(fd));
}

bool DestroyedSockets::TakeAny(uint16_t port) {
  bool any = false;
  alignas(nlmsghdr) char buffer[kBuffer];
  while (true) {
    const ssize_t got = recv(fd_.get(), buffer, sizeof(buffer), 0);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == ENOBUFS) {
      any = true;
      continue;
    }
    if (got < 0) return any;
    int left = static_cast<int>(got);
    for (const nlmsghdr* h = reinterpret_cast<nlmsghdr*>(buffer);
         NLMSG_OK(h, static_cast<unsigned>(left)); h = NLMSG_NEXT(h, left)) {
      const auto* message = static_cast<const inet_diag_msg*>(NLMSG_DATA(h));
      // A socket that was never connected may have lost its port by the time the message is made.
      if (message->id.idiag_sport == htons(port) || message->id.idiag_sport == 0) any = true;
    }
  }
}

}  // namespace berth
