// PortLease: a loopback port that no other berth process of this user is given, and that no
// stranger can bind, until it is handed over.
//
//   ABSL_ASSIGN_OR_RETURN(PortLease lease, PortLease::Acquire(state_dir + "/ports"));
//   start_server(lease.port(), lease.HandOver());  // a server that takes a socket; or
//   lease.ReleaseSocket(); start_server(lease.port());  // one that binds by itself
//
// Two things hold it: an open-file-description lock on <lease_dir>/<port>, against other berth
// processes; and sockets that are bound to 127.0.0.1 and ::1 but do not listen, against everybody
// else. The lock lasts as long as this object (and any process forked from this one that did not
// exec); a process that dies, however it dies, frees it. Files of dead processes are taken over,
// not cleared away; they are empty and at most one a port.
//
// Move-only. One thread at a time. Destruction releases.
#ifndef BERTH_RUNTIME_PORTS_PORT_LEASE_H_
#define BERTH_RUNTIME_PORTS_PORT_LEASE_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "sandbox/base/unique_fd.h"

namespace berth {

class PortLease {
 public:
  // `lease_dir`: a directory of this user alone (0700), the same for all who must not collide; made
  // if it is missing, but not its parents. `preferred`: that port and no other; 0: any that is free
  // (see FindFreePort for the range). AlreadyExists if the preferred one is leased or bound,
  // PermissionDenied if it may not be bound, FailedPrecondition if others can write to lease_dir,
  // ResourceExhausted if no port was found.
  static absl::StatusOr<PortLease> Acquire(absl::string_view lease_dir, uint16_t preferred = 0);

  PortLease(PortLease&& other) noexcept;
  PortLease& operator=(PortLease&& other) noexcept;
  ~PortLease();

  // Stays the same after release.
  uint16_t port() const { return port_; }

  // The socket bound to 127.0.0.1, close-on-exec, for the program to listen on. The lease goes on,
  // and so does the hold on
  // ::1. Not ok() if it was handed over or released before.
  UniqueFd HandOver();

  // Closes the sockets for a program that binds by itself. The lease goes on: no other berth
  // process gets the port. A stranger could, until the program has it.
  void ReleaseSocket();

  // Ends the lease and removes its file. A second call does nothing. The lease has ended also when
  // this fails.
  absl::Status Release();

 private:
  PortLease() = default;
  static absl::StatusOr<PortLease> Take(int directory, uint16_t port);

  uint16_t port_ = 0;
  UniqueFd directory_;
  UniqueFd lock_;
  UniqueFd socket4_;
  UniqueFd socket6_;
};

}  // namespace berth

#endif  // BERTH_RUNTIME_PORTS_PORT_LEASE_H_
