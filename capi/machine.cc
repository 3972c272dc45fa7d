// What this machine can enforce, and what its kernel says of single processes.

#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/types.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/status_macros.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "capi/berth.h"
#include "capi/boundary.h"
#include "capi/handles.h"
#include "capi/objects.h"
#include "runtime/doctor/doctor.h"
#include "runtime/record/identity.h"
#include "runtime/tracked.h"

namespace berth::capi {
namespace {

struct AbilitiesObject {
  static constexpr Kind kKind = Kind::kAbilities;
  std::vector<Check> all;
};

absl::StatusOr<Identity> GetIdentity(const berth_identity* identity) {
  if (identity == nullptr) return NoObject(nullptr, "identity");
  const size_t size = strnlen(identity->boot_id, sizeof(identity->boot_id));
  if (size == sizeof(identity->boot_id)) {
    return absl::InvalidArgumentError("identity: the boot id has no end");
  }
  return Identity{.pid = identity->pid,
                  .boot_id = std::string(identity->boot_id, size),
                  .start_time = identity->start_time,
                  .pidfs_inode = identity->pidfs_inode,
                  .pid_namespace = identity->pid_namespace};
}

static_assert(static_cast<int>(ProcessState::kWaking) == BERTH_PROCESS_WAKING &&
              static_cast<int>(ProcessState::kZombie) == BERTH_PROCESS_ZOMBIE &&
              static_cast<int>(CheckState::kMissing) == BERTH_ABILITY_MISSING);

}  // namespace
}  // namespace berth::capi

using namespace berth::capi;  // NOLINT: see spec.cc
using ::berth::Identity;

int32_t berth_doctor(berth_abilities** abilities, const char* state_dir, size_t state_dir_size,
                     berth_error** error) {
  return Guard(error, [&]() -> absl::Status {
    ABSL_RETURN_IF_ERROR(CheckOut(abilities, "abilities"));
    ABSL_ASSIGN_OR_RETURN(const absl::string_view dir,
                          Text(state_dir, state_dir_size, "state_dir"));
    auto object = std::make_shared<AbilitiesObject>();
    object->all = berth::Examine({.state_dir = std::string(dir)});
    return Put(std::move(object), abilities);
  });
}

size_t berth_abilities_count(const berth_abilities* abilities) {
  const std::shared_ptr<AbilitiesObject> object = Handles::Find<AbilitiesObject>(abilities);
  return object == nullptr ? 0 : object->all.size();
}

int32_t berth_abilities_at(berth_ability* ability, const berth_abilities* abilities, size_t index,
                           berth_error** error) {
  return Guard(error, [&]() -> absl::Status {
    ABSL_RETURN_IF_ERROR(CheckOut(ability, "ability"));
    ABSL_ASSIGN_OR_RETURN(const auto object, Get<AbilitiesObject>(abilities, "abilities"));
    if (index >= object->all.size()) return NotInRange(index, "ability");
    const berth::Check& it = object->all[index];
    berth_ability filled = {};
    filled.area = GiveText(&it.area, &filled.area_size);
    filled.name = GiveText(&it.name, &filled.name_size);
    filled.detail = GiveText(&it.detail, &filled.detail_size);
    filled.reason = GiveText(&it.reason, &filled.reason_size);
    filled.remedy = GiveText(&it.remedy, &filled.remedy_size);
    filled.state = static_cast<int32_t>(it.state);
    *ability = filled;
    return absl::OkStatus();
  });
}

void berth_abilities_free(berth_abilities* abilities) {
  Handles::Remove<AbilitiesObject>(abilities);
}

int32_t berth_identify(berth_identity* identity, int32_t pid, berth_error** error) {
  return Guard(error, [&]() -> absl::Status {
    ABSL_RETURN_IF_ERROR(CheckOut(identity, "identity"));
    if (pid <= 0) return NoSuch("process", pid);
    ABSL_ASSIGN_OR_RETURN(const Identity it, berth::IdentifyProcess(pid));
    berth_identity filled = {it.pid, it.start_time, it.pidfs_inode, it.pid_namespace, {}};
    if (it.boot_id.size() >= sizeof(filled.boot_id)) {
      return absl::InternalError(absl::StrCat("a boot id of ", it.boot_id.size(), " bytes"));
    }
    memcpy(filled.boot_id, it.boot_id.data(), it.boot_id.size());
    *identity = filled;
    return absl::OkStatus();
  });
}

int32_t berth_identity_liveness(int32_t* liveness, const berth_identity* identity,
                                berth_error** error) {
  return Guard(error, [&]() -> absl::Status {
    ABSL_RETURN_IF_ERROR(CheckOut(liveness, "liveness"));
    ABSL_ASSIGN_OR_RETURN(const Identity it, GetIdentity(identity));
    *liveness = LivenessNumber(berth::CheckIdentity(it));
    return absl::OkStatus();
  });
}

int32_t berth_identity_open(int32_t* pidfd, const berth_identity* identity, berth_error** error) {
  return Guard(error, [&]() -> absl::Status {
    ABSL_RETURN_IF_ERROR(CheckOut(pidfd, "pidfd"));
    ABSL_ASSIGN_OR_RETURN(const Identity it, GetIdentity(identity));
    return PutFd(berth::OpenProcess(it), pidfd);
  });
}

const char* berth_process_state_name(int32_t state) {
  const bool known = state >= BERTH_PROCESS_UNKNOWN && state <= BERTH_PROCESS_WAKING;
  return GiveName(known,
                  known ? berth::ProcessStateName(static_cast<berth::ProcessState>(state)) : "");
}

int32_t berth_track(berth_tracked* tracked, const berth_identity* identity, berth_error** error) {
  return Guard(error, [&]() -> absl::Status {
    ABSL_RETURN_IF_ERROR(CheckOut(tracked, "tracked"));
    ABSL_ASSIGN_OR_RETURN(const Identity it, GetIdentity(identity));
    const berth::TrackedProcess now = berth::Track(it);
    *tracked = {absl::ToInt64Nanoseconds(now.cpu), now.memory_bytes,
                static_cast<int32_t>(now.state), 0};
    return absl::OkStatus();
  });
}
