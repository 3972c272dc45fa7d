// Ports and leases of ports.

#include "runtime/ports/port.h"

#include <stddef.h>
#include <stdint.h>

#include <memory>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/status_macros.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "capi/berth.h"
#include "capi/boundary.h"
#include "capi/handles.h"
#include "capi/objects.h"
#include "runtime/ports/port_lease.h"
#include "runtime/record/state_dir.h"
#include "sandbox/base/unique_fd.h"

namespace berth::capi {
namespace {

struct PortLeaseObject {
  static constexpr Kind kKind = Kind::kPortLease;
  explicit PortLeaseObject(PortLease held) : port(held.port()), lease(std::move(held)) {}
  const uint16_t port;
  absl::Mutex mutex;  // a lease is for one thread at a time
  PortLease lease ABSL_GUARDED_BY(mutex);
};

}  // namespace
}  // namespace berth::capi

using namespace berth::capi;  // NOLINT: see spec.cc

int32_t berth_port_is_free(uint16_t port) { return berth::IsFreePort(port) ? 1 : 0; }

int32_t berth_port_is_bound(uint16_t port) { return berth::IsBound(port) ? 1 : 0; }

int32_t berth_port_find_free(uint16_t* port, berth_error** error) {
  return Guard(error, [&]() -> absl::Status {
    ABSL_RETURN_IF_ERROR(CheckOut(port, "port"));
    ABSL_ASSIGN_OR_RETURN(*port, berth::FindFreePort());
    return absl::OkStatus();
  });
}

int32_t berth_port_wait_unbound(uint16_t port, int64_t timeout_ms, berth_error** error) {
  return Guard(error, [&]() -> absl::Status {
    ABSL_ASSIGN_OR_RETURN(const absl::Time deadline, Deadline(timeout_ms));
    return berth::WaitUnbound(port, deadline);
  });
}

int32_t berth_port_lease_new(berth_port_lease** lease, const char* state_dir, size_t state_dir_size,
                             uint16_t preferred, berth_error** error) {
  return Guard(error, [&]() -> absl::Status {
    ABSL_RETURN_IF_ERROR(CheckOut(lease, "lease"));
    ABSL_ASSIGN_OR_RETURN(const absl::string_view path,
                          Text(state_dir, state_dir_size, "state_dir"));
    ABSL_ASSIGN_OR_RETURN(const berth::StateDir dir, berth::StateDir::Open(std::string(path)));
    ABSL_ASSIGN_OR_RETURN(berth::PortLease held,
                          berth::PortLease::Acquire(absl::StrCat(dir.path(), "/ports"), preferred));
    return Put(std::make_shared<PortLeaseObject>(std::move(held)), lease);
  });
}

void berth_port_lease_free(berth_port_lease* lease) { Handles::Remove<PortLeaseObject>(lease); }

uint16_t berth_port_lease_port(const berth_port_lease* lease) {
  const std::shared_ptr<PortLeaseObject> object = Handles::Find<PortLeaseObject>(lease);
  return object == nullptr ? 0 : object->port;
}

int32_t berth_port_lease_take_fd(int32_t* fd, berth_port_lease* lease, berth_error** error) {
  return Guard(error, [&]() -> absl::Status {
    ABSL_RETURN_IF_ERROR(CheckOut(fd, "fd"));
    ABSL_ASSIGN_OR_RETURN(const auto object, Get<PortLeaseObject>(lease, "lease"));
    absl::MutexLock lock(object->mutex);
    berth::UniqueFd socket = object->lease.HandOver();
    if (!socket.ok()) {
      return absl::FailedPreconditionError(
          absl::StrCat("port ", object->port, ": its socket was taken or released before"));
    }
    return PutFd(std::move(socket), fd);
  });
}

int32_t berth_port_lease_release_socket(berth_port_lease* lease, berth_error** error) {
  return Guard(error, [&]() -> absl::Status {
    ABSL_ASSIGN_OR_RETURN(const auto object, Get<PortLeaseObject>(lease, "lease"));
    absl::MutexLock lock(object->mutex);
    object->lease.ReleaseSocket();
    return absl::OkStatus();
  });
}

int32_t berth_port_lease_release(berth_port_lease* lease, berth_error** error) {
  return Guard(error, [&]() -> absl::Status {
    ABSL_ASSIGN_OR_RETURN(const auto object, Get<PortLeaseObject>(lease, "lease"));
    absl::MutexLock lock(object->mutex);
    return object->lease.Release();
  });
}
