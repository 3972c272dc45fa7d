#include "runtime/ports/port.h"

#include <errno.h>
#include <poll.h>

#include <algorithm>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/status_macros.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "runtime/ports/bind.h"
#include "runtime/ports/sock_diag.h"
#include "sandbox/base/unique_fd.h"
#include "sandbox/base/wait_fd.h"

namespace berth {
namespace {

constexpr absl::Duration kLookAgain = absl::Milliseconds(20);
constexpr size_t kAttempts = 1000;

// Kernels before 6.8 do not list sockets that are only bound. Tried, not read from a version.
bool ListsBoundSockets() {
  static const bool lists = [] {
    PortChoice choice;
    for (size_t i = 0; i < kAttempts; ++i) {
      const uint16_t port = choice.Next();
      UniqueFd socket;
      if (BindTcp(BindAddress::kLoopback4, port, &socket) != 0) continue;
      const absl::StatusOr<PortUse> use = ReadPortUse(port);
      return use.ok() && use->listening > 0;
    }
    return false;
  }();
  return lists;
}

// Whether a socket keeps us from the port. Not the same as one that we may not have: below 1024 a
// plain user is refused (EACCES) with nobody there.
bool IsInTheWay(uint16_t port) {
  for (const BindAddress address :
       {BindAddress::kLoopback4, BindAddress::kAny4, BindAddress::kLoopback6, BindAddress::kAny6}) {
    UniqueFd socket;
    if (BindTcp(address, port, &socket) == EADDRINUSE) return true;
  }
  return false;
}

struct Holders {
  bool any = false;
  bool only_connections = false;
};

Holders FindHolders(uint16_t port) {
  const absl::StatusOr<PortUse> use = ReadPortUse(port);
  if (!use.ok()) return {IsInTheWay(port), true};
  if (use->listening > 0) return {true, false};
  if (use->connected > 0) return {true, true};
  // What is only bound shows by being in the way, where nothing else is.
  if (use->ownerless == 0 && !ListsBoundSockets() && IsInTheWay(port)) return {true, false};
  return {};
}

}  // namespace

bool IsFreePort(uint16_t port) {
  if (port == 0) return false;
  // One after the other: a wildcard socket and a loopback one of ours would be in each other's way.
  for (const BindAddress address :
       {BindAddress::kLoopback4, BindAddress::kAny4, BindAddress::kLoopback6, BindAddress::kAny6}) {
    UniqueFd socket;
    const int error = BindTcp(address, port, &socket);
    const bool six = address == BindAddress::kLoopback6 || address == BindAddress::kAny6;
    if (error != 0 && !(six && NoIpv6(error))) return false;
  }
  return true;
}

absl::StatusOr<uint16_t> FindFreePort() {
  ABSL_ASSIGN_OR_RETURN(const std::vector<uint16_t> ports, FindFreePorts(1));
  return ports.front();
}

absl::StatusOr<std::vector<uint16_t>> FindFreePorts(size_t count) {
  PortChoice choice;
  std::vector<uint16_t> ports;
  std::vector<bool> tried(65536);
  const size_t attempts = std::min(kAttempts + count, tried.size());
  for (size_t i = 0; i < attempts && ports.size() < count; ++i) {
    const uint16_t port = choice.Next();
    if (!tried[port] && IsFreePort(port)) ports.push_back(port);
    tried[port] = true;
  }
  if (ports.size() < count) {
    return absl::ResourceExhaustedError(
        absl::StrCat("find ", count, " free ports: ", ports.size(), " in ", attempts, " attempts"));
  }
  return ports;
}

bool IsBound(uint16_t port) { return port != 0 && FindHolders(port).any; }

absl::Status WaitUnbound(uint16_t port, absl::Time deadline) {
  if (port == 0) return absl::InvalidArgumentError("wait for port 0 to be unbound: no port");
  // Listens before it looks, so that nothing falls between.
  absl::StatusOr<DestroyedSockets> destroyed = DestroyedSockets::Open();
  while (true) {
    const Holders holders = FindHolders(port);
    if (!holders.any) return absl::OkStatus();
    for (bool look = false; !look;) {
      const bool timed = !destroyed.ok() || holders.only_connections;
      const absl::Time until = timed ? std::min(deadline, absl::Now() + kLookAgain) : deadline;
      const absl::Status waited =
          WaitFd(destroyed.ok() ? destroyed->fd() : -1, POLLIN, until, "wait for a port");
      if (waited.ok()) {
        look = destroyed->TakeAny(port);
      } else if (!absl::IsDeadlineExceeded(waited)) {
        return waited;
      } else if (until == deadline) {
        return absl::DeadlineExceededError(
            absl::StrCat("wait for port ", port, " to be unbound: still bound"));
      } else {
        look = true;
      }
    }
  }
}

}  // namespace berth
