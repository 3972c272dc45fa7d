#include "tools/berth/top_survey.h"

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/status_macros.h"
#include "absl/status/statusor.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"

namespace berth::cli {

absl::Status Survey::Refresh(size_t first, size_t detailed) {
  ABSL_ASSIGN_OR_RETURN(std::vector<SessionInfo> all, runtime_->List());
  std::map<std::string, Known> kept;
  rows_.clear();
  for (SessionInfo& info : all) {
    if (auto known = known_.find(info.handle); known != known_.end()) {
      kept[info.handle] = std::move(known->second);
    }
    const Known& known = kept[info.handle];
    rows_.push_back({.info = std::move(info),
                     .cpu = known.cores,
                     .memory_bytes = known.memory,
                     .last_line = known.last_line});
  }
  known_ = std::move(kept);
  Sort();
  for (size_t i = first; i < std::min(rows_.size(), first + detailed); ++i) Detail(&rows_[i]);
  return absl::OkStatus();
}

Session* Survey::Open(const std::string& handle) {
  Known& known = known_[handle];
  if (known.session == nullptr) {
    absl::StatusOr<std::unique_ptr<Session>> session = runtime_->Open(handle);
    if (session.ok()) known.session = *std::move(session);
  }
  return known.session.get();
}

void Survey::Detail(TopRow* row) {
  Session* const session = Open(row->info.handle);
  // An engine that does not answer would hold up everything.
  if (session == nullptr || row->info.state == SessionState::kUnknown) return;
  Known& known = known_[row->info.handle];
  if (row->info.state == SessionState::kRunning) {
    if (const absl::StatusOr<Stats> stats = session->GetStats(); stats.ok()) {
      const absl::Time now = absl::Now();
      if (known.when != absl::InfinitePast() && now > known.when) {
        known.cores = std::max(0.0, absl::FDivDuration(stats->cpu - known.used, now - known.when));
      }
      known.used = stats->cpu;
      known.when = now;
      known.memory = stats->memory_bytes;
    }
  } else {
    known.cores = known.memory = -1;
  }
  if (row->info.output_bytes != known.seen_bytes) {
    known.seen_bytes = row->info.output_bytes;
    if (absl::StatusOr<std::string> text = session->Capture({.lines = 1}); text.ok()) {
      known.last_line = *std::move(text);
    }
  }
  row->cpu = known.cores;
  row->memory_bytes = known.memory;
  row->last_line = known.last_line;
}

void Survey::Sort() {
  std::stable_sort(rows_.begin(), rows_.end(), [this](const TopRow& a, const TopRow& b) {
    if (order_ == Order::kCpu && a.cpu != b.cpu) return a.cpu > b.cpu;
    if (order_ == Order::kMemory && a.memory_bytes != b.memory_bytes) {
      return a.memory_bytes > b.memory_bytes;
    }
    return a.info.name < b.info.name;
  });
}

}  // namespace berth::cli
