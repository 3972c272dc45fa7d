// What helpers tell of violations, as the API has it.
#ifndef BERTH_RUNTIME_NATIVE_NATIVE_VIOLATIONS_H_
#define BERTH_RUNTIME_NATIVE_NATIVE_VIOLATIONS_H_

#include <stdint.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "runtime/native/keeper_channel.h"
#include "runtime/session.h"
#include "sandbox/launcher/sandbox_plan.h"
#include "sandbox/violation.h"

namespace berth {

// The body of an answer to kViolations or kProcessViolations.
absl::StatusOr<std::vector<Violation>> ReadViolations(absl::string_view body);

// Those of a keeper's session after number `seen`, as they come.
absl::StatusOr<std::unique_ptr<ViolationFeed>> FeedOfKeeper(const KeeperChannel& channel,
                                                            int64_t seen);

// "namespaces", "pooled", "landlock"; "" for none.
std::string TierText(launcher::SandboxTier tier);

}  // namespace berth

#endif  // BERTH_RUNTIME_NATIVE_NATIVE_VIOLATIONS_H_
