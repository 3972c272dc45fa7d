// A lease says that its owner lives, in a way that no crash can leave behind and no pid can fake: a
// lock that the kernel drops with the owner's last descriptor. It is the file owners/<owner_id> of
// the state directory under an open-file-description lock; in it stands the owner's identity.
//
//   absl::StatusOr<Lease> lease = Lease::Acquire(dir);  // once a Runtime, as long as it lives
//   record.owner_id = lease->owner_id();
//
// A child that the host forks without exec shares the lock and keeps it after the owner's death:
// then lease and identity disagree, and the answer is `unknown`.
#ifndef BERTH_RUNTIME_RECORD_LEASE_H_
#define BERTH_RUNTIME_RECORD_LEASE_H_

#include <sys/types.h>

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "runtime/record/identity.h"
#include "runtime/record/record.h"
#include "runtime/record/state_dir.h"
#include "sandbox/base/unique_fd.h"

namespace berth {

// Movable; not thread-safe. Independent of the StateDir it came from.
class Lease {
 public:
  // `owner_id` "" is a random one; otherwise a name as CheckSessionName has it. One that a dead
  // owner left is taken over. AlreadyExists if another holds it, in this process too.
  static absl::StatusOr<Lease> Acquire(const StateDir& dir, std::string owner_id = "");

  // Removes the file and lets go. In a forked child: only closes the child's descriptor.
  ~Lease();
  Lease(Lease&&) = default;
  Lease& operator=(Lease&&) = delete;

  const std::string& owner_id() const { return owner_id_; }
  const Identity& owner() const { return owner_; }

 private:
  Lease() = default;

  std::string owner_id_;
  Identity owner_;
  UniqueFd owners_;  // the folder
  UniqueFd file_;
};

enum class LeaseState { kHeld, kFree, kMissing, kUnknown };

// "held", "free", "missing" or "unknown".
absl::string_view LeaseStateName(LeaseState state);

// Looks without taking: an owner that acquires at the same time is not disturbed. Thread-safe.
LeaseState ProbeLease(const StateDir& dir, const std::string& owner_id);

// Removes the file of a lease that nobody holds; fine if there is none. FailedPrecondition if it is
// held.
absl::Status RemoveFreeLease(const StateDir& dir, const std::string& owner_id);

// kDead only if the lease is free or missing and the identity is dead, kAlive only if the lease is
// held and the identity alive. If the two disagree, or one is not known: kUnknown.
Liveness OwnerLiveness(const StateDir& dir, const Record& record);

}  // namespace berth

#endif  // BERTH_RUNTIME_RECORD_LEASE_H_
