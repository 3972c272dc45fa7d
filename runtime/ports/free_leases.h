// Leases of ports whose holders died without giving them back. They do no harm (whoever wants such
// a port takes them over), but they are files that someone has to remove one day.
#ifndef BERTH_RUNTIME_PORTS_FREE_LEASES_H_
#define BERTH_RUNTIME_PORTS_FREE_LEASES_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace berth {

// The ports in `dir_fd`, a folder as PortLease::Acquire has it, that nobody holds. Only looks.
absl::StatusOr<std::vector<std::string>> FreePortLeases(int dir_fd);

// Removes the file of one that nobody holds; fine if there is none, FailedPrecondition if it is
// held or is no file of this user.
absl::Status RemoveFreePortLease(int dir_fd, const std::string& port);

}  // namespace berth

#endif  // BERTH_RUNTIME_PORTS_FREE_LEASES_H_
