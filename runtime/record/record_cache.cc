#include "runtime/record/record_cache.h"

#include <algorithm>
#include <optional>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"

namespace berth {

std::optional<Record> RecordCache::Find(const std::string& uid, const FileVersion& version) {
  absl::MutexLock lock(mutex_);
  const auto found = entries_.find(uid);
  if (found == entries_.end() || found->second.version != version) return std::nullopt;
  found->second.used = pass_;
  return found->second.record;
}

void RecordCache::Put(const Record& record, const FileVersion& version) {
  const int64_t newest = std::max(version.changed_ns, version.modified_ns);
  if (absl::FromUnixNanos(newest) + settled_ > absl::Now()) return;
  absl::MutexLock lock(mutex_);
  entries_[record.uid] = {version, record, pass_};
}

void RecordCache::Begin() {
  absl::MutexLock lock(mutex_);
  if (passes_under_way_++ == 0) ++pass_;
}

void RecordCache::DropUnused() {
  absl::MutexLock lock(mutex_);
  if (--passes_under_way_ > 0) return;
  absl::erase_if(entries_, [this](const auto& each) {
    mutex_.AssertHeld();
    return each.second.used != pass_;
  });
}

}  // namespace berth
