#include "runtime/native/status_views.h"

#include <poll.h>
#include <sys/types.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "sandbox/launcher/kernel.h"
#include "sandbox/launcher/wire.h"

namespace berth {
namespace {

// Its parent has not reaped it as far as we know, so the pid is still its own.
bool HasEnded(pid_t pid) {
  const UniqueFd pidfd(launcher::PidfdOpen(pid));
  pollfd ended{pidfd.get(), POLLIN, 0};
  return !pidfd.ok() || poll(&ended, 1, 0) != 0;
}

}  // namespace

std::optional<launcher::Status> StatusViews::Read(const Record& record,
                                                  const IdentityChecker& checker) {
  launcher::Status status;
  {
    absl::MutexLock lock(mutex_);
    const auto found = entries_.find(record.uid);
    if (found == entries_.end() || found->second.keeper != record.keeper ||
        !found->second.view.Read(&status)) {
      return std::nullopt;
    }
  }
  if (!checker.IsAwake(record.keeper)) return std::nullopt;
  launcher::Reader in(status.info.data(), status.info.size());
  const bool runs = in.Get<uint8_t>() == 1;
  const pid_t main = in.Get<int32_t>();
  if (!in.ok() || (runs && HasEnded(main))) return std::nullopt;
  return status;
}

void StatusViews::Add(const Record& record, const UniqueFd& page) {
  launcher::StatusView view(page.get());
  if (!view.ok()) return;
  absl::MutexLock lock(mutex_);
  if (entries_.size() >= kMost) return;
  entries_.insert_or_assign(record.uid, Entry{record.backend, record.keeper, std::move(view)});
}

void StatusViews::KeepOnly(const std::vector<Record>& records) {
  absl::MutexLock lock(mutex_);
  if (entries_.empty() || records.empty()) return;
  absl::flat_hash_set<absl::string_view> uids;
  for (const Record& record : records) uids.insert(record.uid);
  absl::erase_if(entries_, [&](const auto& each) {
    return each.second.backend == records[0].backend && !uids.contains(each.first);
  });
}

}  // namespace berth
