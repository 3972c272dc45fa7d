#include "capi/handles.h"

#include <stdint.h>
#include <sys/types.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <memory>
#include <unordered_map>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"

namespace berth::capi {
namespace {

static_assert(sizeof(void*) == 8, "handles need 64 bits");

// Not canonical on x86-64 and arm64: nothing can be mapped there.
constexpr uintptr_t kMark = uintptr_t{1} << 63;

struct Entry {
  Kind kind;
  const void* owner;
  std::shared_ptr<void> object;
};

struct Shard {
  absl::Mutex mutex;
  // Of the standard library, whose maps stay whole when memory runs out; Abseil's do not.
  std::unordered_map<uintptr_t, Entry> entries ABSL_GUARDED_BY(mutex);
};

struct Table {
  const pid_t pid = getpid();
  std::array<Shard, 16> shards;

  Shard& ShardOf(uintptr_t number) { return shards[number % shards.size()]; }
};

// Of the process that made it. Never deleted: handles may be freed while the program's statics are
// destroyed.
std::atomic<Table*> current_table = nullptr;
std::atomic<uintptr_t> last_number = 0;

// Null if this process has none yet.
Table* FindTable() {
  Table* table = current_table.load(std::memory_order_acquire);
  return table != nullptr && table->pid == getpid() ? table : nullptr;
}

Table& MakeTable() {
  if (Table* table = FindTable()) return *table;
  Table* before = current_table.load(std::memory_order_acquire);
  auto made = std::make_unique<Table>();
  if (current_table.compare_exchange_strong(before, made.get(), std::memory_order_acq_rel)) {
    return *made.release();
  }
  return *before;  // another thread was first
}

uintptr_t NumberOf(const void* handle) { return reinterpret_cast<uintptr_t>(handle) & ~kMark; }

bool IsMarked(const void* handle) { return (reinterpret_cast<uintptr_t>(handle) & kMark) != 0; }

}  // namespace

void* Handles::AddAny(Kind kind, std::shared_ptr<void> object, const void* owner) {
  Table& table = MakeTable();
  const uintptr_t number = last_number.fetch_add(1, std::memory_order_relaxed) + 1;
  Shard& shard = table.ShardOf(number);
  absl::MutexLock lock(shard.mutex);
  shard.entries.try_emplace(number, Entry{kind, owner, std::move(object)});
  return reinterpret_cast<void*>(number | kMark);
}

std::shared_ptr<void> Handles::FindAny(Kind kind, const void* handle) {
  Table* const table = IsMarked(handle) ? FindTable() : nullptr;
  if (table == nullptr) return nullptr;
  Shard& shard = table->ShardOf(NumberOf(handle));
  absl::MutexLock lock(shard.mutex);
  const auto it = shard.entries.find(NumberOf(handle));
  return it != shard.entries.end() && it->second.kind == kind ? it->second.object : nullptr;
}

void Handles::RemoveAny(Kind kind, const void* handle) {
  Table* const table = IsMarked(handle) ? FindTable() : nullptr;
  if (table == nullptr) return;
  Shard& shard = table->ShardOf(NumberOf(handle));
  std::shared_ptr<void> removed;  // goes after the lock: ending a process can take a while
  absl::MutexLock lock(shard.mutex);
  const auto it = shard.entries.find(NumberOf(handle));
  if (it == shard.entries.end() || it->second.kind != kind) return;
  removed = std::move(it->second.object);
  shard.entries.erase(it);
}

void Handles::RemoveOwnedBy(const void* owner) {
  Table* const table = FindTable();
  if (table == nullptr) return;
  for (Shard& shard : table->shards) {
    // One at a time, for no memory is needed that way.
    for (bool more = true; more;) {
      std::shared_ptr<void> removed;
      absl::MutexLock lock(shard.mutex);
      more = false;
      for (auto it = shard.entries.begin(); it != shard.entries.end(); ++it) {
        if (it->second.owner != owner) continue;
        removed = std::move(it->second.object);
        shard.entries.erase(it);
        more = true;
        break;
      }
    }
  }
}

}  // namespace berth::capi
