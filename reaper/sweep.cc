#include "reaper/sweep.h"

#include <stdlib.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/status/status_macros.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "reaper/act.h"
#include "reaper/codefly.h"
#include "reaper/decide.h"
#include "reaper/leftovers.h"
#include "reaper/lock.h"
#include "runtime/record/record.h"
#include "runtime/record/session_name.h"

namespace berth::reaper {
namespace {

// Each pass ends at least one owner, so this is how deep they may be nested.
constexpr int kMaxPasses = 100;

Item ItemOf(const Observed& observed, const Decision& decision, bool with_evidence) {
  Item item{.kind = "session",
            .id = observed.record.uid,
            .name = observed.record.name,
            .verdict = decision.verdict};
  item.deed = decision.verdict == Verdict::kClear ? "cleared" : "ended and removed";
  if (with_evidence || decision.verdict != Verdict::kKeep) {
    item.because.assign(decision.because.begin(), decision.because.end());
    item.evidence = EvidenceOf(observed, absl::Now());
  }
  return item;
}

// One pass over all that can be an owner's: sessions, and what was started without one. What failed
// once is not tried again in this sweep.
class Pass {
 public:
  Pass(const Scope& scope, const Engines& engines, absl::flat_hash_set<std::string>* failed)
      : scope_(scope),
        engines_(engines),
        failed_(failed),
        observer_(&scope.store, &scope.options, &scope.here, &engines) {}

  // Whether something changed.
  absl::StatusOr<bool> Run(Report* report) {
    ABSL_ASSIGN_OR_RETURN(Listing listing, scope_.store.List());
    report->living.clear();  // of the pass before
    report->sessions = std::max(report->sessions, static_cast<int>(listing.records.size()));
    bool changed = false;
    for (Record& record : listing.records) {
      known_.insert(record.uid);
      Observed observed = observer_.Look(std::move(record));
      const Decision decision = Decide(observed.facts);
      if (decision.verdict == Verdict::kKeep && !scope_.options.show_kept) {
        ++kept_;
        continue;
      }
      Item item = ItemOf(observed, decision, scope_.options.show_kept);
      const bool act = decision.verdict == Verdict::kReap || decision.verdict == Verdict::kClear;
      if (act && !scope_.options.dry_run) {
        if (failed_->contains(observed.record.uid)) continue;  // reported before
        Act(observed, &item);
        changed = changed || item.result == Result::kDone;
        if (item.result != Result::kDone) failed_->insert(observed.record.uid);
        report->Add(std::move(item), true);
      } else {
        quiet_.push_back(std::move(item));
      }
    }
    broken_ = std::move(listing.broken);
    return SweepCgroups(scope_, observer_.cgroups(), failed_, report) || changed;
  }

  // After the last pass: what stays, and what has no record.
  void Finish(Report* report) {
    report->kept += kept_;
    for (Item& item : quiet_) report->Add(std::move(item), scope_.options.show_kept);
    SweepBroken(scope_, broken_, report);
    if (!scope_.options.dry_run) {
      if (absl::Status tidied = scope_.store.Tidy(); !tidied.ok()) {
        report->Add({.kind = "state directory",
                     .id = scope_.store.dir().path(),
                     .result = Result::kFailed,
                     .error = std::move(tidied)},
                    true);
      }
    }
    SweepLeases(scope_, report);
    SweepPorts(scope_, report);
    SweepSockets(scope_, known_, report);
    if (const char* home = getenv("HOME"); scope_.options.adopt_codefly && home != nullptr) {
      SweepCodefly(absl::StrCat(home, "/.codefly/runs"), scope_.options, scope_.deadline, report);
    }
    for (const auto& engine : engines_) {
      engine->SweepStrays(scope_.store, scope_.options, scope_.deadline, report);
    }
    observer_.AddLiving(&report->living);
  }

 private:
  void Act(const Observed& seen, Item* item) {
    if (absl::Now() >= scope_.deadline) {
      item->result = Result::kOutOfTime;
      return;
    }
    // Once more, as it is now: others may have removed it, or a long pass may lie between.
    absl::StatusOr<Record> record = scope_.store.Read(seen.record.uid);
    if (absl::IsNotFound(record.status())) {
      item->result = Result::kDone;  // by others
      return;
    }
    item->error = record.status();
    if (record.ok()) {
      Observer fresh(&scope_.store, &scope_.options, &scope_.here, &engines_);
      const Observed now = fresh.Look(*std::move(record));
      const Verdict verdict = Decide(now.facts).verdict;
      if (verdict != item->verdict) {
        item->verdict = verdict;  // it changed while it was looked at
        return;
      }
      const EndOptions end{
          .grace = scope_.options.grace,
          .deadline = std::min(absl::Now() + scope_.options.time_per_object, scope_.deadline)};
      item->error = verdict == Verdict::kReap ? Reap(scope_.store, now.record, engines_, end)
                                              : Clear(scope_.store, now.record, engines_, end);
    }
    item->result = item->error.ok() ? Result::kDone : Result::kFailed;
  }

  const Scope& scope_;
  const Engines& engines_;
  absl::flat_hash_set<std::string>* failed_;
  Observer observer_;
  absl::flat_hash_set<std::string> known_;  // uids
  int kept_ = 0;
  std::vector<Item> quiet_;
  std::vector<BrokenRecord> broken_;
};

}  // namespace

absl::StatusOr<Report> SweepFrom(const Surroundings& here, const Store& store,
                                 const Options& options, const Engines& engines) {
  const absl::Time start = absl::Now();
  ABSL_ASSIGN_OR_RETURN(const Lock lock, Lock::Take(store.dir(), start + options.lock_wait));
  for (const auto& engine : engines) engine->Begin();
  const Scope scope{store, options, here, absl::Now() + options.time};
  Report report;
  report.state_dir = store.dir().path();
  report.dry_run = options.dry_run;
  absl::flat_hash_set<std::string> failed;
  while (true) {
    Pass pass(scope, engines, &failed);
    ABSL_ASSIGN_OR_RETURN(const bool changed, pass.Run(&report));
    ++report.passes;
    if (changed && report.passes < kMaxPasses && absl::Now() < scope.deadline) continue;
    pass.Finish(&report);
    break;
  }
  report.took = absl::Now() - start;
  return report;
}

absl::StatusOr<Report> Sweep(const Store& store, const Options& options, const Engines& engines) {
  ABSL_ASSIGN_OR_RETURN(const Surroundings here, Surroundings::Here());
  return SweepFrom(here, store, options, engines);
}

absl::StatusOr<Item> Explain(const Store& store, const std::string& id, const Options& options,
                             const Engines& engines) {
  absl::StatusOr<Record> record = store.Find(id);
  if (!record.ok()) {
    absl::StatusOr<Record> by_uid = store.Read(id);
    if (!by_uid.ok()) return record.status();
    record = std::move(by_uid);
  }
  ABSL_ASSIGN_OR_RETURN(const Surroundings here, Surroundings::Here());
  Observer observer(&store, &options, &here, &engines);
  const Observed observed = observer.Look(*std::move(record));
  return ItemOf(observed, Decide(observed.facts), true);
}

}  // namespace berth::reaper
