// The part of Workloads that keeps sandboxes ready: of the tier `pooled`, and, without namespaces,
// of the tier `landlock`. And of others with namespaces an init that is early (enter/init.h), which
// has none of the host's files yet, and so shows them as they are when it is used.
//
// A spare is a Workload without a program: its init is parked (enter/init.h) with all of its
// namespaces, its groups and its limits, and with every mount that nobody can see or disturb. It is
// used once, so what it encloses is enclosed as by a new one. It is thrown away as soon as it would
// show something else than a new one would: a mount of the host has come or gone, or another file
// is at the path of a source. While it waits it holds no descriptor of others and no directory; it
// dies with this process, or when it has not been asked for in a while.

#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sandbox/launcher/enter/report.h"
#include "sandbox/launcher/enter/sources.h"
#include "sandbox/launcher/kernel.h"
#include "sandbox/launcher/workloads.h"

namespace berth::launcher {
namespace {

constexpr size_t kSparesEach = 2;
constexpr size_t kMostKinds = 4;
constexpr uint64_t kIdleNs = uint64_t{60} * 1000000000;
// Spares are made when nobody has asked for anything in this time: a start is not to wait for them,
// nor a program that was just started to share its processor with them.
constexpr uint64_t kQuietNs = 5000000;
constexpr size_t kMostMounts = kMaxReportText / sizeof(SourceIdentity);

}  // namespace

bool Workloads::CanBePrepared(const SandboxPlan& plan) const {
  // A supervisor knows what to run from its birth.
  if (plan.tier == SandboxTier::kLandlock) return group_->ok() && ReadyChild::Fits(plan);
  // One start has a proxy and a token of its own; an overlay's layers can be in use once.
  if (plan.tier != SandboxTier::kPooled || plan.network == SandboxNetwork::kProxy ||
      plan.mounts.size() > kMostMounts) {
    return false;
  }
  return std::none_of(plan.mounts.begin(), plan.mounts.end(), [](const SandboxMount& mount) {
    return mount.kind == SandboxMount::Kind::kOverlay;
  });
}

Workloads::Prepared* Workloads::PreparedFor(const ChildPlan& plan) {
  for (Prepared& kind : prepared_) {
    if (kind.plan == plan.sandbox_bytes) return &kind;
  }
  return nullptr;
}

std::unique_ptr<Workloads::Workload> Workloads::TakeSpare(const ChildPlan& plan) {
  if (mounts_.fd() >= 0 && mounts_.Changed()) ForgetMounts();
  Prepared* kind = plan.sandbox != nullptr ? PreparedFor(plan) : nullptr;
  if (kind != nullptr && kind->sandbox.tier == SandboxTier::kLandlock && plan.own_session) {
    return nullptr;
  }
  while (kind != nullptr && !kind->spares.empty()) {
    std::unique_ptr<Workload> spare = std::move(kind->spares.front());
    kind->spares.erase(kind->spares.begin());
    if (IsOfUse(spare.get(), plan)) return spare;
    Discard(std::move(spare));
  }
  return nullptr;
}

bool Workloads::IsOfUse(Workload* spare, const ChildPlan& plan) {
  if (spare->ready == nullptr) return spare->enclosure.Take(plan);
  return spare->ready->waits() && rulesets_.Get(plan.sandbox_bytes, *plan.sandbox) >= 0 &&
         rulesets_.last() == spare->ruleset;
}

void Workloads::Discard(std::unique_ptr<Workload> spare) {
  PidfdSignal(spare->init.get(), SIGKILL);
  if (spare->ready != nullptr) spare->process = spare->ready->End();
  spare->ready = nullptr;
  Add(std::move(spare));  // until it is reaped
}

void Workloads::DropSpares() {
  for (Prepared& kind : prepared_) Drop(&kind);
}

bool Workloads::MakeSpare(Prepared* kind) {
  auto spare = NewWorkload(&kind->sandbox);
  ChildPlan plan;
  plan.sandbox = &kind->sandbox;
  plan.trampoline_fd = trampoline_fd_;
  plan.sandbox_bytes = kind->plan;
  bool made = Limit(spare.get(), &plan);
  if (made && kind->sandbox.tier == SandboxTier::kLandlock) {
    made = MakeReadySpare(spare.get(), &plan);
  } else if (made) {
    const int group = spare->tree.has_value() ? spare->tree->cgroup_fd() : -1;
    int init = -1;
    spare->pid = spare->enclosure.Park(&plan, group, &init);
    spare->init.reset(init);
    made = spare->init.ok();
  }
  if (!made) {
    GiveUp(spare.get());
    return false;
  }
  kind->spares.push_back(std::move(spare));
  return true;
}

bool Workloads::MakeReadySpare(Workload* spare, ChildPlan* plan) {
  if (!spare->tree.has_value()) return false;
  const bool notifies = plan->sandbox->notifies;
  if (notifies && !spare->enclosure.Listen(plan)) return false;
  plan->ruleset_fd = rulesets_.Get(plan->sandbox_bytes, *plan->sandbox);
  if (plan->ruleset_fd < 0) return false;
  spare->ruleset = rulesets_.last();
  plan->parent = getpid();
  spare->ready = ReadyChild::Start(plan, spare->tree->cgroup_fd());
  Failure failure;
  if (spare->ready == nullptr || !spare->ready->Await(&failure)) return false;
  spare->pid = spare->ready->pid();
  if (!notifies || spare->enclosure.TakeListener(&failure)) return true;
  spare->ready = nullptr;
  waitpid(spare->pid, nullptr, 0);
  return false;
}

void Workloads::Polled(const std::vector<pollfd>& fds) {
  for (const pollfd& fd : fds) {
    if (fd.fd >= 0 && fd.fd == mounts_.fd() && MountWatch::Told(fd)) ForgetMounts();
  }
}

void Workloads::ForgetMounts() {
  DropSpares();
  if (keeps_) DropEarly();
  rulesets_.Drop();
  layout_.reset();
}

void Workloads::Prepare(const ChildPlan& plan) {
  if (!keeps_) return;
  MakeReady(plan.sandbox != nullptr);
  if (plan.sandbox == nullptr) return;
  if (!CanBePrepared(*plan.sandbox)) return ExpectAnother(*plan.sandbox);
  if (!mounts_.Open()) return;
  Prepared* kind = PreparedFor(plan);
  if (kind == nullptr) {
    // The one that was not asked for the longest makes room.
    if (prepared_.size() >= kMostKinds) {
      auto oldest = std::min_element(
          prepared_.begin(), prepared_.end(),
          [](const Prepared& a, const Prepared& b) { return a.last_start < b.last_start; });
      Drop(&*oldest);
      prepared_.erase(oldest);
    }
    prepared_.push_back({.plan = std::string(plan.sandbox_bytes), .sandbox = *plan.sandbox});
    kind = &prepared_.back();
  }
  kind->last_start = NowNs();
  kind->due = ++kind->starts >= kStartsBefore;
}

void Workloads::Drop(Prepared* kind) {
  for (auto& spare : kind->spares) Discard(std::move(spare));
  kind->spares.clear();
  kind->due = false;
}

void Workloads::MakeSpares(Prepared* kind) {
  kind->due = false;
  while (kind->spares.size() < kSparesEach && MakeSpare(kind)) {
  }
}

size_t Workloads::PrepareNow(const ChildPlan& plan) {
  Prepare(plan);
  if (mounts_.fd() >= 0 && mounts_.Changed()) ForgetMounts();
  Prepared* kind = plan.sandbox != nullptr ? PreparedFor(plan) : nullptr;
  if (kind == nullptr) {
    if (plan.sandbox == nullptr || !CanBeExpected(*plan.sandbox)) return 0;
    expected_ = LimitsOf(*plan.sandbox);
    MakeExpected();
    return early_ != nullptr ? 1 : 0;
  }
  MakeSpares(kind);
  // Those that cannot be made are none.
  for (size_t i = 0; i < kind->spares.size();) {
    if (kind->spares[i]->ready != nullptr || kind->spares[i]->enclosure.AwaitParked()) {
      ++i;
    } else {
      Discard(std::move(kind->spares[i]));
      kind->spares.erase(kind->spares.begin() + static_cast<ptrdiff_t>(i));
    }
  }
  return kind->spares.size();
}

void Workloads::MakeExpected() {
  expects_ = false;
  const bool there = early_ != nullptr && early_->init.ok() && early_->limits.limits() == expected_;
  if (!there) Expect(expected_, true);
}

// A spare that died by itself is one more that is gone.
void Workloads::SpareEnded(pid_t pid) {
  if (early_ != nullptr && early_->pid == pid) return Add(std::move(early_));
  for (Prepared& kind : prepared_) {
    for (auto spare = kind.spares.begin(); spare != kind.spares.end(); ++spare) {
      if ((*spare)->pid != pid) continue;
      Add(std::move(*spare));
      kind.spares.erase(spare);
      return;
    }
  }
}

uint64_t Workloads::TendSpares() {
  uint64_t next = kNever;
  const uint64_t now = NowNs();
  const bool quiet = now >= last_start_ + kQuietNs;
  // The start that it was made for failed before it was asked for, or there was none.
  if (early_ != nullptr && now >= early_since_ + kIdleNs) DropEarly();
  if (expects_ && quiet) MakeExpected();
  if (expects_) next = last_start_ + kQuietNs;
  if (early_ != nullptr) next = std::min(next, early_since_ + kIdleNs);
  for (Prepared& kind : prepared_) {
    if (now >= kind.last_start + kIdleNs) Drop(&kind);
    if (!kind.spares.empty()) next = std::min(next, kind.last_start + kIdleNs);
    if (kind.due && !quiet) next = std::min(next, last_start_ + kQuietNs);
    if (!kind.due || !quiet) continue;
    MakeSpares(&kind);
    next = std::min(next, kind.last_start + kIdleNs);
  }
  return next;
}

}  // namespace berth::launcher
