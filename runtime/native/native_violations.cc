#include "runtime/native/native_violations.h"

#include <poll.h>
#include <stdint.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/status_macros.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "runtime/native/keeper_channel.h"
#include "runtime/session.h"
#include "sandbox/base/unique_fd.h"
#include "sandbox/base/wait_fd.h"
#include "sandbox/launcher/protocol.h"
#include "sandbox/launcher/wire.h"

namespace berth {
namespace {

std::string NetworkRule(launcher::SandboxNetwork network) {
  switch (network) {
    case launcher::SandboxNetwork::kNone:
      return "network: none";
    case launcher::SandboxNetwork::kHost:
      return "network: host";
    case launcher::SandboxNetwork::kProxy:
      return "network: allow-list";
  }
  return "network";
}

// One connection on which the keeper is asked for the next ones again and again; it answers when
// there are some. What it has answered is here, whatever becomes of the session.
class KeeperFeed final : public ViolationFeed {
 public:
  KeeperFeed(UniqueFd socket, int64_t seen) : socket_(std::move(socket)), seen_(seen) {}
  int fd() const override { return socket_.get(); }

  absl::Status Ask() {
    launcher::Writer out;
    out.Put(static_cast<uint64_t>(seen_));
    return KeeperChannel::Send(socket_.get(), launcher::kAwaitViolations, out.body(), nullptr, 0);
  }

  absl::StatusOr<std::vector<Violation>> Next() override {
    if (!WaitFd(socket_.get(), POLLIN, absl::InfinitePast(), "").ok()) {
      return std::vector<Violation>();
    }
    absl::StatusOr<launcher::Message> answer =
        KeeperChannel::Receive(socket_.get(), absl::Now() + absl::Seconds(5));
    if (absl::IsUnavailable(answer.status())) return Over();  // destroyed
    ABSL_RETURN_IF_ERROR(answer.status());
    ABSL_ASSIGN_OR_RETURN(std::vector<Violation> violations, ReadViolations(answer->body));
    if (violations.empty()) return Over();
    seen_ = violations.back().number;
    Ask().IgnoreError();  // a keeper that is gone is found gone by the next call
    return violations;
  }

 private:
  static absl::Status Over() { return absl::OutOfRangeError("the session is over"); }

  const UniqueFd socket_;
  int64_t seen_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<ViolationFeed>> FeedOfKeeper(const KeeperChannel& channel,
                                                            int64_t seen) {
  ABSL_ASSIGN_OR_RETURN(UniqueFd socket, channel.Connect());
  auto feed = std::make_unique<KeeperFeed>(std::move(socket), std::max<int64_t>(seen, 0));
  ABSL_RETURN_IF_ERROR(feed->Ask());
  return feed;
}

absl::StatusOr<std::vector<Violation>> ReadViolations(absl::string_view body) {
  launcher::Reader in(body.data(), body.size());
  in.Get<uint64_t>();  // how many there have been
  const uint64_t first = in.Get<uint64_t>();
  const uint32_t count = in.Get<uint32_t>();
  std::vector<Violation> violations;
  for (uint32_t i = 0; i < count && in.ok(); ++i) {
    Violation violation;
    violation.layer = static_cast<Violation::Layer>(in.Get<uint8_t>());
    violation.pid = in.Get<int32_t>();
    violation.when = absl::FromUnixNanos(static_cast<int64_t>(in.Get<uint64_t>()));
    violation.what = in.GetString();
    violation.reason =
        violation.layer == Violation::Layer::kFile ? in.GetString() : "system call filter";
    violation.number = static_cast<int64_t>(first + i + 1);
    violations.push_back(std::move(violation));
  }
  const std::string rule = NetworkRule(in.Get<launcher::SandboxNetwork>());
  if (!in.done()) return absl::InternalError("the helper's list of violations is malformed");
  for (Violation& violation : violations) {
    if (violation.layer == Violation::Layer::kNetwork) violation.reason = rule;
    if (violation.layer == Violation::Layer::kMemory) violation.reason = "memory limit";
    if (violation.layer == Violation::Layer::kPids) violation.reason = "process limit";
    if (violation.layer == Violation::Layer::kWall) violation.reason = "wall limit";
    if (violation.layer == Violation::Layer::kFileSize) violation.reason = "file size limit";
  }
  return violations;
}

std::string TierText(launcher::SandboxTier tier) {
  switch (tier) {
    case launcher::SandboxTier::kNone:
      return "";
    case launcher::SandboxTier::kNamespaces:
      return "namespaces";
    case launcher::SandboxTier::kPooled:
      return "pooled";
    case launcher::SandboxTier::kLandlock:
      return "landlock";
  }
  return "unknown";
}

}  // namespace berth
