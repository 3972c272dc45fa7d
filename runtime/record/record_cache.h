// RecordCache: records that were read before, for a program that lists them again and again. What
// it gives is what the file says now: a record is replaced as a whole, by another file, and one
// that changed so lately that its next change might look the same is not kept.
//
// Threads: any, at once.
#ifndef BERTH_RUNTIME_RECORD_RECORD_CACHE_H_
#define BERTH_RUNTIME_RECORD_RECORD_CACHE_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "runtime/record/files.h"
#include "runtime/record/record.h"

namespace berth {

class RecordCache {
 public:
  // Keeps files that have been as they are for so long: far more than a tick of any clock that file
  // systems have.
  explicit RecordCache(absl::Duration settled = absl::Seconds(2)) : settled_(settled) {}

  // The record of that uid, as its file has it, if the file is the one that was read.
  std::optional<Record> Find(const std::string& uid, const FileVersion& version);
  void Put(const Record& record, const FileVersion& version);

  // Around a pass over all: those that it neither found nor put are forgotten. Passes of several
  // threads at once forget less.
  void Begin();
  void DropUnused();

 private:
  struct Entry {
    FileVersion version;
    Record record;
    uint64_t used = 0;  // in which pass
  };

  const absl::Duration settled_;
  absl::Mutex mutex_;
  absl::flat_hash_map<std::string, Entry> entries_ ABSL_GUARDED_BY(mutex_);
  uint64_t pass_ ABSL_GUARDED_BY(mutex_) = 0;
  int passes_under_way_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace berth

#endif  // BERTH_RUNTIME_RECORD_RECORD_CACHE_H_
