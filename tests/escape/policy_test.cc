#include "tests/escape/policy_test.h"

#include <poll.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status_matchers.h"
#include "absl/status/statusor.h"
#include "sandbox/base/wait_fd.h"
#include "tests/support/actor.h"

namespace berth {

using ::absl_testing::IsOk;
namespace fs = std::filesystem;

void PolicyTest::SetUp() {
  TreeTest::SetUp();
  space_ = Path("space");
  outside_ = Path("outside");
  fs::create_directory(space_);
  fs::create_directory(outside_);
}

Policy::Builder PolicyTest::Agent() const {
  return Policy::Agent(space_).ReadOnly(getenv("BERTH_TEST_SELF")).Tier(GetParam());
}

std::unique_ptr<Session> PolicyTest::Act(const std::string& name, std::vector<std::string> actor,
                                         const Policy::Builder& policy, bool durable) {
  SessionSpec spec;
  spec.name = name;
  spec.command = Command::Argv(ActorCommand(std::move(actor)));
  spec.pty = false;
  spec.durable = durable;
  const absl::StatusOr<Policy> built = policy.Build();
  EXPECT_THAT(built, IsOk());
  if (!built.ok()) return nullptr;
  spec.policy = *built;
  absl::StatusOr<std::unique_ptr<Session>> session = runtime_->CreateSession(spec);
  EXPECT_THAT(session, IsOk());
  return session.ok() ? *std::move(session) : nullptr;
}

std::unique_ptr<Session> PolicyTest::Shell(const std::string& name, const std::string& line,
                                           const Policy::Builder& policy, bool durable) {
  SessionSpec spec;
  spec.name = name;
  spec.command = Command::Shell(line);
  spec.cwd = space_;
  spec.pty = false;
  spec.durable = durable;
  const absl::StatusOr<Policy> built = policy.Build();
  EXPECT_THAT(built, IsOk());
  if (!built.ok()) return nullptr;
  spec.policy = *built;
  absl::StatusOr<std::unique_ptr<Session>> session = runtime_->CreateSession(spec);
  EXPECT_THAT(session, IsOk());
  return session.ok() ? *std::move(session) : nullptr;
}

ExitStatus PolicyTest::End(Session& session) {
  const absl::StatusOr<ExitStatus> end = session.Wait(Soon());
  EXPECT_THAT(end, IsOk());
  return end.value_or(ExitStatus{});
}

Event PolicyTest::Next(Runtime& runtime) {
  EXPECT_THAT(WaitFd(runtime.event_fd(), POLLIN, Soon(), "an event"), IsOk());
  const absl::StatusOr<std::optional<Event>> event = runtime.NextEvent();
  EXPECT_THAT(event, IsOk());
  EXPECT_TRUE(event.ok() && event->has_value());
  return event.ok() && event->has_value() ? **event : Event{};
}

std::string PolicyTest::Read(const std::string& name) const {
  std::ostringstream text;
  text << std::ifstream(space_ + "/" + name, std::ios::binary).rdbuf();
  return text.str();
}

void PolicyTest::Write(const std::string& name, const std::string& text) const {
  std::ofstream(space_ + "/" + name, std::ios::binary) << text;
}

std::string TierOf(const testing::TestParamInfo<Tier>& tier) {
  return std::string(TierName(tier.param));
}

}  // namespace berth
