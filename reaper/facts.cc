#include "reaper/facts.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status_macros.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "runtime/record/host_id.h"
#include "runtime/record/identity.h"
#include "runtime/record/lease.h"
#include "runtime/record/session_name.h"
#include "runtime/remains/end_processes.h"
#include "runtime/remains/tokens.h"
#include "sandbox/launcher/cgroup.h"
#include "sandbox/launcher/proc.h"

namespace berth::reaper {
namespace {

// Of two processes either of which is the session's main one.
Presence Either(Presence a, Presence b) {
  for (const Presence each : {Presence::kAlive, Presence::kUnknown, Presence::kDead}) {
    if (a == each || b == each) return each;
  }
  return Presence::kNone;
}

Place PlaceOf(const Record& record, const Surroundings& here) {
  if (record.boot_id == here.boot_id) return Place::kThisBoot;
  if (record.host_id.empty() || here.host_id.empty()) return Place::kUnknown;
  return record.host_id == here.host_id ? Place::kEarlierBoot : Place::kOtherHost;
}

bool IsWithin(absl::string_view path, absl::string_view group) {
  return !group.empty() && absl::StartsWith(path, group) &&
         (path.size() == group.size() || path[group.size()] == '/');
}

std::string Show(const Identity& identity) {
  return absl::StrCat("process ", identity.pid, " (start time ", identity.start_time, ")");
}

}  // namespace

absl::StatusOr<Surroundings> Surroundings::Here() {
  Surroundings here;
  ABSL_ASSIGN_OR_RETURN(here.boot_id, BootId());
  here.host_id = HostId();
  here.cgroup = launcher::CgroupOf(getpid());
  if (const char* token = getenv("BERTH_TOKEN")) here.token = token;
  launcher::ProcStat stat;
  for (pid_t pid = getpid(); pid > 1 && launcher::ReadProcStat(pid, &stat); pid = stat.parent) {
    here.ancestors.push_back(pid);
  }
  return here;
}

Observer::Observer(const Store* store, const Options* options, const Surroundings* here,
                   const Engines* engines)
    : store_(store), options_(options), here_(here), engines_(engines), now_(absl::Now()) {}

const std::vector<FoundCgroup>& Observer::cgroups() {
  if (!cgroups_.has_value()) cgroups_ = FindCgroups();
  return *cgroups_;
}

const Observer::Owner& Observer::OwnerOf(const Record& record) {
  const std::string key = absl::StrCat(record.owner_id, "/", record.owner.pid, "/",
                                       record.owner.start_time, "/", record.owner.boot_id);
  auto [it, added] = owners_.try_emplace(key);
  if (added) {
    it->second = {ProbeLease(store_->dir(), record.owner_id), identities_.Check(record.owner),
                  record.owner};
  }
  return it->second;
}

void Observer::AddLiving(std::vector<Identity>* living) const {
  living->insert(living->end(), keepers_.begin(), keepers_.end());
  for (const auto& [key, owner] : owners_) {
    if (owner.liveness == Liveness::kAlive) living->push_back(owner.identity);
  }
}

Presence Observer::PresenceOf(const Identity& identity) const {
  if (identity.pid == 0) return Presence::kNone;
  switch (identities_.Check(identity)) {
    case Liveness::kAlive:
      return Presence::kAlive;
    case Liveness::kDead:
      return Presence::kDead;
    case Liveness::kUnknown:
      break;
  }
  return Presence::kUnknown;
}

bool Observer::HoldsUs(const Record& record) const {
  if (!here_->token.empty() && here_->token == record.token) return true;
  if (IsWithin(here_->cgroup, record.cgroup)) return true;
  for (const Identity* each : {&record.keeper, &record.leader, &record.pid_namespace_init}) {
    const auto& line = here_->ancestors;
    // A number that was ours before is another's identity, and proven dead by that.
    if (each->pid != 0 && std::find(line.begin(), line.end(), each->pid) != line.end() &&
        identities_.Check(*each) != Liveness::kDead) {
      return true;
    }
  }
  return false;
}

bool Observer::Remains(const Record& record) {
  if (!record.cgroup.empty() && launcher::Cgroup::Open(record.cgroup).ok()) return true;
  struct stat entry;
  if (!record.socket.empty() && lstat(record.socket.c_str(), &entry) == 0) return true;
  for (const std::string& path : record.temp_dirs) {
    if (lstat(path.c_str(), &entry) == 0) return true;
  }
  if (record.tree != kTreeSubreaper) return false;
  if (!tokens_.has_value()) tokens_ = TokensInUse();
  return tokens_->contains(record.token);
}

Observed Observer::Look(Record record) {
  Observed seen{std::move(record), {}};
  Record& it = seen.record;
  Facts& facts = seen.facts;
  const absl::Duration age = now_ - absl::FromUnixNanos(it.created_at_unix_ns);
  facts.chosen = options_->filter.Chooses(it) && age >= options_->older_than;
  facts.forgettable = age >= options_->forget_ended;
  facts.our_install = it.install_id == store_->dir().install_id();
  facts.place = PlaceOf(it, *here_);
  facts.durable = it.durable;
  facts.started = it.state == kStateRunning;
  facts.keeper = facts.main = facts.engine = Presence::kUnknown;
  const Owner& owner = OwnerOf(it);
  facts.lease = owner.lease;
  facts.owner = owner.liveness;
  if (!facts.chosen || !facts.our_install) return seen;
  Engine* const engine = NeedsEngine(it) ? EngineOf(*engines_, it) : nullptr;
  if (engine != nullptr) engine->Note(it);

  const bool mortal = !facts.durable || !facts.started;
  if (mortal && reaper::OwnerOf(facts) != Liveness::kDead) return seen;
  facts.keeper = PresenceOf(it.keeper);
  if (!mortal && facts.keeper == Presence::kAlive) {
    keepers_.push_back(it.keeper);
    return seen;
  }
  facts.main = Either(PresenceOf(it.leader), PresenceOf(it.pid_namespace_init));
  facts.engine = Presence::kNone;
  if (NeedsEngine(it)) {
    facts.engine = engine != nullptr ? engine->Look(it) : Presence::kUnknown;
  }
  // A window shows what the keeper has; without both it is only something that was left.
  const bool window_left = facts.engine == Presence::kAlive && it.container_id.empty() &&
                           facts.keeper == Presence::kDead && facts.main == Presence::kDead;
  if (window_left) facts.engine = Presence::kDead;
  if (it.cgroup.empty() && facts.place == Place::kThisBoot) {
    // Killed before the record knew of the group.
    for (const FoundCgroup& group : cgroups()) {
      if (IsCgroupOf(it, group.path) && group.owner == geteuid()) it.cgroup = group.path;
    }
  }
  facts.holds_us = HoldsUs(it);
  facts.remains = !mortal && (window_left || Remains(it));
  return seen;
}

std::vector<std::string> EvidenceOf(const Observed& observed, absl::Time now) {
  const Record& record = observed.record;
  const Facts& facts = observed.facts;
  std::vector<std::string> lines;
  lines.push_back(
      absl::StrCat("session ", record.uid, " on ", record.backend, ": ",
                   record.durable ? "durable" : "ephemeral", ", ", record.state, ", made ",
                   absl::FormatDuration(absl::Trunc(
                       now - absl::FromUnixNanos(record.created_at_unix_ns), absl::Seconds(1))),
                   " ago on ", PlaceName(facts.place)));
  if (!facts.our_install) {
    lines.push_back(absl::StrCat("installation ", record.install_id));
  }
  lines.push_back(absl::StrCat("owner ", Show(record.owner), ": ", LivenessName(facts.owner),
                               "; its lease ", record.owner_id, ": ", LeaseStateName(facts.lease)));
  for (const auto& [what, identity, presence] :
       {std::tuple("keeper", &record.keeper, facts.keeper),
        std::tuple("main process", &record.leader, facts.main),
        std::tuple("first process of its pid namespace", &record.pid_namespace_init, facts.main)}) {
    if (identity->pid == 0) continue;
    lines.push_back(absl::StrCat(what, " ", Show(*identity), ": ", PresenceName(presence)));
  }
  if (NeedsEngine(record)) {
    lines.push_back(absl::StrCat(
        record.container_id.empty() ? "tmux session " : "container ",
        ShowText(record.container_id.empty() ? record.tmux_session : record.container_id), ": ",
        PresenceName(facts.engine),
        record.container_id.empty() && facts.remains ? ", its window may be left" : ""));
  }
  if (!record.cgroup.empty()) lines.push_back(absl::StrCat("cgroup ", record.cgroup));
  if (!record.socket.empty()) lines.push_back(absl::StrCat("socket ", record.socket));
  for (const std::string& path : record.temp_dirs) lines.push_back(absl::StrCat("folder ", path));
  return lines;
}

}  // namespace berth::reaper
