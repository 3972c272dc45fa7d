// What policies have stopped.

#include <stddef.h>
#include <stdint.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/status_macros.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "capi/berth.h"
#include "capi/boundary.h"
#include "capi/handles.h"
#include "capi/objects.h"
#include "runtime/change.h"
#include "runtime/session.h"
#include "sandbox/violation.h"

namespace berth::capi {
namespace {

struct ViolationsObject {
  static constexpr Kind kKind = Kind::kViolations;
  std::vector<Violation> violations;
  std::vector<std::string> texts;  // Describe of each
};

struct ViolationFeedObject {
  static constexpr Kind kKind = Kind::kViolationFeed;
  explicit ViolationFeedObject(std::unique_ptr<ViolationFeed> made) : feed(std::move(made)) {}
  absl::Mutex mutex;  // a feed is for one thread at a time
  const std::unique_ptr<ViolationFeed> feed ABSL_PT_GUARDED_BY(mutex);
};

struct ChangesObject {
  static constexpr Kind kKind = Kind::kChanges;
  std::vector<::berth::Change> changes;
};

}  // namespace

absl::Status PutViolationFeed(std::unique_ptr<ViolationFeed> feed, berth_violation_feed** out) {
  return Put(std::make_shared<ViolationFeedObject>(std::move(feed)), out);
}

absl::Status PutChanges(std::vector<::berth::Change> changes, berth_changes** out) {
  return Put(std::make_shared<ChangesObject>(ChangesObject{std::move(changes)}), out);
}

absl::Status PutViolations(std::vector<Violation> violations, berth_violations** out) {
  auto object = std::make_shared<ViolationsObject>();
  for (const Violation& violation : violations) object->texts.push_back(Describe(violation));
  object->violations = std::move(violations);
  return Put(std::move(object), out);
}

}  // namespace berth::capi

using namespace berth::capi;  // NOLINT: see spec.cc
using ::berth::Violation;

const char* berth_violation_layer_name(int32_t layer) {
  const bool known = layer >= BERTH_VIOLATION_SYSCALL && layer <= BERTH_VIOLATION_FILE_SIZE;
  return GiveName(known,
                  known ? berth::ViolationLayerName(static_cast<Violation::Layer>(layer)) : "");
}

size_t berth_violations_count(const berth_violations* violations) {
  const std::shared_ptr<ViolationsObject> object = Handles::Find<ViolationsObject>(violations);
  return object == nullptr ? 0 : object->violations.size();
}

int32_t berth_violations_at(berth_violation* violation, const berth_violations* violations,
                            size_t index, berth_error** error) {
  return Guard(error, [&]() -> absl::Status {
    ABSL_RETURN_IF_ERROR(CheckOut(violation, "violation"));
    ABSL_ASSIGN_OR_RETURN(const auto object, Get<ViolationsObject>(violations, "violations"));
    if (index >= object->violations.size()) return NotInRange(index, "violation");
    const Violation& it = object->violations[index];
    berth_violation filled = {};
    filled.what = GiveText(&it.what, &filled.what_size);
    filled.reason = GiveText(&it.reason, &filled.reason_size);
    filled.text = GiveText(&object->texts[index], &filled.text_size);
    filled.when_unix_ns = absl::ToUnixNanos(it.when);
    filled.number = it.number;
    filled.layer = static_cast<int32_t>(it.layer);
    filled.pid = it.pid;
    *violation = filled;
    return absl::OkStatus();
  });
}

void berth_violations_free(berth_violations* violations) {
  Handles::Remove<ViolationsObject>(violations);
}

int32_t berth_violation_feed_fd(int32_t* fd, berth_violation_feed* feed, berth_error** error) {
  return Guard(error, [&]() -> absl::Status {
    ABSL_RETURN_IF_ERROR(CheckOut(fd, "fd"));
    ABSL_ASSIGN_OR_RETURN(const auto object, Get<ViolationFeedObject>(feed, "feed"));
    absl::MutexLock lock(object->mutex);
    return PutFdCopy(object->feed->fd(), fd);
  });
}

int32_t berth_violation_feed_next(berth_violations** violations, berth_violation_feed* feed,
                                  berth_error** error) {
  return Guard(error, [&]() -> absl::Status {
    ABSL_RETURN_IF_ERROR(CheckOut(violations, "violations"));
    ABSL_ASSIGN_OR_RETURN(const auto object, Get<ViolationFeedObject>(feed, "feed"));
    absl::MutexLock lock(object->mutex);
    ABSL_ASSIGN_OR_RETURN(std::vector<Violation> come, object->feed->Next());
    return PutViolations(std::move(come), violations);
  });
}

void berth_violation_feed_free(berth_violation_feed* feed) {
  Handles::Remove<ViolationFeedObject>(feed);
}

size_t berth_changes_count(const berth_changes* changes) {
  const std::shared_ptr<ChangesObject> object = Handles::Find<ChangesObject>(changes);
  return object == nullptr ? 0 : object->changes.size();
}

int32_t berth_changes_at(berth_change* change, const berth_changes* changes, size_t index,
                         berth_error** error) {
  return Guard(error, [&]() -> absl::Status {
    ABSL_RETURN_IF_ERROR(CheckOut(change, "change"));
    ABSL_ASSIGN_OR_RETURN(const auto object, Get<ChangesObject>(changes, "changes"));
    if (index >= object->changes.size()) return NotInRange(index, "change");
    const berth::Change& it = object->changes[index];
    *change = {it.folder.c_str(),
               it.folder.size(),
               it.path.c_str(),
               it.path.size(),
               it.bytes,
               static_cast<int32_t>(it.kind),
               static_cast<int32_t>(it.type)};
    return absl::OkStatus();
  });
}

void berth_changes_free(berth_changes* changes) { Handles::Remove<ChangesObject>(changes); }
