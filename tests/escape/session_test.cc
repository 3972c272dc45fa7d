// Policies on sessions, from the description to the end: what is enforced, told, and limited.

#include "runtime/session.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status_matchers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/runtime.h"
#include "sandbox/base/unique_fd.h"
#include "sandbox/policy.h"
#include "sandbox/violation.h"
#include "tests/escape/policy_test.h"
#include "tests/support/actor.h"

namespace berth {
namespace {

using ::absl_testing::IsOk;
using ::absl_testing::IsOkAndHolds;
using ::testing::AnyOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class SessionTest : public PolicyTest {};

void AwaitInput() {
  char byte;
  [[maybe_unused]] const ssize_t n = read(0, &byte, 1);
}

void ConnectOut(const char* address) {
  const UniqueFd fd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(443);
  inet_pton(AF_INET, address, &to.sin_addr);
  connect(fd.get(), reinterpret_cast<sockaddr*>(&to), sizeof(to));
}

const Actor kTry("try", [](const std::vector<std::string>&) {
  ConnectOut("192.0.2.1");
  AwaitInput();
  unshare(CLONE_NEWUSER);
  return 5;
});

TEST_P(SessionTest, WhatIsStoppedIsAnEventAtOnceAndTheSessionGoesOn) {
  const auto session = Act("a", {"try"}, Agent());
  ASSERT_NE(session, nullptr);
  Event event = Next(*runtime_);
  EXPECT_EQ(event.kind, Event::Kind::kViolation);
  EXPECT_EQ(event.handle, session->handle());
  EXPECT_EQ(event.name, "a");
  EXPECT_EQ(event.violation.layer, Violation::Layer::kNetwork);
  // Without namespaces there is no socket to connect.
  EXPECT_EQ(event.detail, GetParam() == Tier::kLandlock
                              ? "blocked: socket AF_INET (network: none)"
                              : "blocked: connect 192.0.2.1:443 (network: none)");
  EXPECT_EQ(event.violation.number, 1);
  EXPECT_GT(event.violation.pid, 1);
  EXPECT_EQ(session->CheckLiveness().liveness, Liveness::kAlive);
  ASSERT_THAT(session->Send({.text = "x"}), IsOk());
  event = Next(*runtime_);
  EXPECT_EQ(event.kind, Event::Kind::kViolation);
  EXPECT_EQ(event.violation.what, "unshare CLONE_NEWUSER");
  EXPECT_EQ(event.violation.number, 2);
  event = Next(*runtime_);
  EXPECT_EQ(event.kind, Event::Kind::kExited);
  EXPECT_EQ(event.exit.code, 5);
  EXPECT_THAT(session->Violations(), IsOkAndHolds(SizeIs(2)));
}

TEST_P(SessionTest, ASecondRuntimeIsToldOfWhatWasAndWhatComes) {
  const auto session = Act("a", {"try"}, Agent());
  ASSERT_NE(session, nullptr);
  EXPECT_EQ(Next(*runtime_).violation.number, 1);
  auto other = OtherRuntime();
  ASSERT_THAT(other->Open(session->handle()), IsOk());
  EXPECT_EQ(Next(*other).violation.number, 1);
  ASSERT_THAT(session->Send({.text = "x"}), IsOk());
  EXPECT_EQ(Next(*other).violation.what, "unshare CLONE_NEWUSER");
  EXPECT_EQ(Next(*other).kind, Event::Kind::kExited);
}

const Actor kTryMuch("try-much", [](const std::vector<std::string>&) {
  for (int i = 0; i < 1000; ++i) unshare(CLONE_NEWUSER);
  return 0;
});

TEST_P(SessionTest, OneThatTriesAllTheTimeIsCountedAndTheLastAreKept) {
  const auto session = Act("a", {"try-much"}, Agent(), /*durable=*/false);
  ASSERT_NE(session, nullptr);
  EXPECT_EQ(End(*session).code, 0);
  const auto info = session->Info();
  ASSERT_THAT(info, IsOk());
  EXPECT_EQ(info->violations, 1000);
  const auto kept = session->Violations();
  ASSERT_THAT(kept, IsOkAndHolds(SizeIs(256)));
  EXPECT_EQ(kept->back().number, 1000);
  Event event;
  int told = 0;
  while ((event = Next(*runtime_)).kind == Event::Kind::kViolation) ++told;
  EXPECT_GE(told, 256);
  EXPECT_EQ(event.kind, Event::Kind::kExited);
}

TEST_P(SessionTest, WhatIsExecutedInItIsStoppedAndToldAsItsOwn) {
  const auto session = Act("a", {"try"}, Agent());
  ASSERT_NE(session, nullptr);
  EXPECT_EQ(Next(*runtime_).violation.number, 1);
  ProcessSpec spec;
  spec.command = Command::Argv(ActorCommand({"try-much"}));
  const auto process = session->Exec(spec);
  ASSERT_THAT(process, IsOk());
  ASSERT_THAT((*process)->Wait(Soon()), IsOk());
  EXPECT_EQ(Next(*runtime_).violation.what, "unshare CLONE_NEWUSER");
  EXPECT_EQ(session->Info()->violations, 1001);
}

TEST_P(SessionTest, ItsTierIsToldWhileItRunsAndAfterItsEnd) {
  const auto session = Shell("a", "read x", Agent());
  ASSERT_NE(session, nullptr);
  EXPECT_EQ(session->Info()->tier, TierName(GetParam()));
  ASSERT_THAT(session->Stop(absl::ZeroDuration()), IsOk());
  EXPECT_EQ(session->Info()->tier, TierName(GetParam()));
  EXPECT_EQ(RecordOf("a").tier, TierName(GetParam()));
}

TEST_P(SessionTest, OneWithoutAPolicyHasNoTierAndNoViolations) {
  auto session = runtime_->CreateSession({.name = "a", .command = Command::Shell("true")});
  ASSERT_THAT(session, IsOk());
  EXPECT_EQ((*session)->Info()->tier, "");
  EXPECT_FALSE((*session)->WatchViolations(0).ok());
  EXPECT_EQ(Next(*runtime_).kind, Event::Kind::kExited);
}

TEST_P(SessionTest, TheWallLimitEndsItAndIsToldAsTheReason) {
  const auto session = Shell("a", "read x", Agent().Wall(absl::Milliseconds(50)));
  ASSERT_NE(session, nullptr);
  EXPECT_EQ(End(*session).reason, EndReason::kWall);
  EXPECT_THAT(session->Violations(),
              IsOkAndHolds(Contains(Field(&Violation::layer, Violation::Layer::kWall))));
}

TEST_P(SessionTest, AFileThatGrowsPastItsLimitEndsWhoWritesIt) {
  const auto session =
      Shell("a", "exec head -c 2000000 /dev/zero > big", Agent().FileSize(1 << 20));
  ASSERT_NE(session, nullptr);
  EXPECT_EQ(End(*session).signal, SIGXFSZ);
  EXPECT_THAT(session->Violations(),
              IsOkAndHolds(Contains(Field(&Violation::layer, Violation::Layer::kFileSize))));
  EXPECT_EQ(Read("big").size(), size_t{1} << 20);
}

// Scenario 31. A plain user without groups has limits by process: then what is asked for is
// refused, and no event tells of it.
TEST_P(SessionTest, ABlastStaysInItsOwnSession) {
  const auto sibling = Shell("sibling", "read x; exit 7", Agent());
  ASSERT_NE(sibling, nullptr);
  if (geteuid() != 0) {
    const auto memory = Shell("memory", "tail /dev/zero", Agent().Memory(int64_t{96} << 20));
    ASSERT_NE(memory, nullptr);
    EXPECT_NE(End(*memory).code, 0);
  } else {
    const auto memory =
        Shell("memory", "tail /dev/zero", Agent().Memory(int64_t{96} << 20).Swap(0));
    ASSERT_NE(memory, nullptr);
    EXPECT_EQ(End(*memory).reason, EndReason::kOom);
    const auto forks =
        Shell("forks", "for i in $(seq 200); do sleep 1000 & done; exit 0", Agent().Pids(32));
    ASSERT_NE(forks, nullptr);
    EXPECT_EQ(End(*forks).reason, EndReason::kPids);
    std::vector<std::string> named;
    for (int i = 0; i < 4; ++i) {
      const Event event = Next(*runtime_);
      if (event.kind != Event::Kind::kViolation) continue;
      named.push_back(absl::StrCat(event.name, ": ", event.detail));
    }
    EXPECT_THAT(named, Contains("memory: blocked: oom (memory limit)"));
    EXPECT_THAT(named, Contains("forks: blocked: fork (process limit)"));
  }
  EXPECT_EQ(sibling->CheckLiveness().liveness, Liveness::kAlive);
  ASSERT_THAT(sibling->Send({.text = "x"}), IsOk());
  EXPECT_EQ(End(*sibling).code, 7);
}

INSTANTIATE_TEST_SUITE_P(Tiers, SessionTest, AllTiers(), TierOf);

}  // namespace
}  // namespace berth
