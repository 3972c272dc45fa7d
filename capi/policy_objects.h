// The objects behind policies and their builders.
#ifndef BERTH_CAPI_POLICY_OBJECTS_H_
#define BERTH_CAPI_POLICY_OBJECTS_H_

#include "absl/status/status.h"
#include "capi/berth.h"
#include "capi/handles.h"
#include "sandbox/policy.h"

namespace berth::capi {

struct PolicyObject {
  static constexpr Kind kKind = Kind::kPolicy;
  Policy policy;
};

struct PolicyBuilderObject {
  static constexpr Kind kKind = Kind::kPolicyBuilder;
  Policy::Builder builder;
  absl::Status error;  // of what never came to the builder
};

absl::Status PutPolicy(Policy policy, berth_policy** out);

}  // namespace berth::capi

#endif  // BERTH_CAPI_POLICY_OBJECTS_H_
