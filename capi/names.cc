// The words for values of enumerations.

#include <stdint.h>

#include "absl/strings/string_view.h"
#include "capi/berth.h"
#include "capi/boundary.h"
#include "capi/objects.h"
#include "reaper/decide.h"
#include "reaper/report.h"
#include "runtime/change.h"
#include "runtime/doctor/doctor.h"
#include "runtime/record/identity.h"
#include "runtime/session.h"
#include "runtime/types.h"

namespace berth::capi {
namespace {

// Of an enumeration whose numbers are those of the C ABI, from `first` to `last`.
template <typename Value>
const char* NameOf(int32_t number, int32_t first, int32_t last,
                   absl::string_view (*name)(Value value)) {
  const bool known = number >= first && number <= last;
  return GiveName(known, known ? name(static_cast<Value>(number)) : "");
}

// In C, 0 is what is not known.
Liveness LivenessOf(int32_t liveness) {
  if (liveness == BERTH_ALIVE) return Liveness::kAlive;
  return liveness == BERTH_DEAD ? Liveness::kDead : Liveness::kUnknown;
}

SessionState StateOf(int32_t state) {
  switch (state) {
    case BERTH_STATE_STARTING:
      return SessionState::kStarting;
    case BERTH_STATE_RUNNING:
      return SessionState::kRunning;
    case BERTH_STATE_EXITED:
      return SessionState::kExited;
  }
  return SessionState::kUnknown;
}

}  // namespace

int32_t LivenessNumber(Liveness liveness) {
  switch (liveness) {
    case Liveness::kAlive:
      return BERTH_ALIVE;
    case Liveness::kDead:
      return BERTH_DEAD;
    case Liveness::kUnknown:
      break;
  }
  return BERTH_LIVENESS_UNKNOWN;
}

}  // namespace berth::capi

using namespace berth::capi;  // NOLINT: see spec.cc

const char* berth_liveness_name(int32_t liveness) {
  return berth::LivenessName(LivenessOf(liveness)).data();
}

const char* berth_session_state_name(int32_t state) {
  return berth::SessionStateName(StateOf(state)).data();
}

const char* berth_delivery_name(int32_t delivery) {
  return NameOf(delivery, BERTH_QUEUED, BERTH_CONFIRMED, berth::DeliveryName);
}

const char* berth_change_kind_name(int32_t kind) {
  return NameOf(kind, BERTH_CHANGE_ADDED, BERTH_CHANGE_DELETED, berth::ChangeKindName);
}

const char* berth_change_type_name(int32_t type) {
  return NameOf(type, BERTH_CHANGE_FILE, BERTH_CHANGE_OTHER, berth::ChangeTypeName);
}

const char* berth_ability_state_name(int32_t state) {
  return NameOf(state, BERTH_ABILITY_OK, BERTH_ABILITY_MISSING, berth::CheckStateName);
}

const char* berth_verdict_name(int32_t verdict) {
  return NameOf(verdict, BERTH_VERDICT_KEEP, BERTH_VERDICT_DOUBT, berth::reaper::VerdictName);
}

const char* berth_sweep_result_name(int32_t result) {
  return NameOf(result, BERTH_SWEPT_NOTHING, BERTH_SWEPT_OUT_OF_TIME, berth::reaper::ResultName);
}
