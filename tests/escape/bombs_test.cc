// Row 20 of the list of escapes: bombs. Each meets the limit that is for it; siblings, the host and
// the supervisor do not notice.

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/status_matchers.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/runtime.h"
#include "runtime/session.h"
#include "sandbox/base/unique_fd.h"
#include "sandbox/policy.h"
#include "tests/escape/policy_test.h"
#include "tests/support/actor.h"

namespace berth {
namespace {

using ::absl_testing::IsOk;
using ::testing::HasSubstr;

constexpr int64_t kMiB = 1 << 20;

class BombsTest : public PolicyTest {
 protected:
  // Only root has groups here; a plain user's limits are each process's own.
  static bool groups() { return geteuid() == 0; }
  bool landlock() const { return GetParam() == Tier::kLandlock; }

  // The most memory that the session's keeper has had, in bytes.
  int64_t KeeperPeak(const std::string& name) const {
    std::ifstream status(absl::StrCat("/proc/", RecordOf(name).keeper.pid, "/status"));
    for (std::string line; std::getline(status, line);) {
      const std::vector<std::string> words = absl::StrSplit(line, ' ', absl::SkipEmpty());
      int64_t kib = 0;
      if (absl::StartsWith(line, "VmHWM:") && words.size() > 1 &&
          absl::SimpleAtoi(words[words.size() - 2], &kib)) {
        return kib * 1024;
      }
    }
    ADD_FAILURE() << "the keeper's memory cannot be read";
    return 0;
  }
  // Still answers, and is not held up.
  void ExpectSiblingLives() {
    const auto sibling = Shell("sibling", "exit 7", Agent());
    ASSERT_NE(sibling, nullptr);
    EXPECT_EQ(End(*sibling).code, 7);
  }
};

TEST_P(BombsTest, OfMemoryInAPrivateFolderEndsAtItsSize) {
  if (landlock()) return;  // which has none
  const auto session = Shell("bomb", "head -c 100000000 /dev/zero > /tmp/x; stat -c %s /tmp/x",
                             Agent().TmpSize(8 * kMiB));
  ASSERT_NE(session, nullptr);
  EXPECT_EQ(End(*session).code, 0);
  EXPECT_THAT(*session->Capture({}), HasSubstr(absl::StrCat(8 * kMiB)));
  ExpectSiblingLives();
}

const Actor kInodes("inodes", [](const std::vector<std::string>& args) {
  for (int i = 0; i < 50000; ++i) {
    const UniqueFd fd(open(absl::StrCat(args[0], "/", i).c_str(), O_CREAT | O_WRONLY, 0600));
    if (!fd.ok()) return errno == ENOSPC && i > 1000 ? 7 : 8;
  }
  return 0;
});

TEST_P(BombsTest, OfEmptyFilesInAPrivateFolderEndsAtItsSize) {
  if (landlock()) return;
  for (const char* place : {"/tmp", "/dev/shm"}) {
    const auto session =
        Act(absl::StrCat("bomb", strlen(place)), {"inodes", place}, Agent().TmpSize(8 * kMiB));
    ASSERT_NE(session, nullptr);
    EXPECT_EQ(End(*session).code, 7) << place;
  }
}

const Actor kMemfd("memfd", [](const std::vector<std::string>&) {
  const UniqueFd fd(memfd_create("bomb", MFD_CLOEXEC));
  std::string block(kMiB, 'x');
  for (int i = 0; i < 512; ++i) {
    if (write(fd.get(), block.data(), block.size()) != static_cast<ssize_t>(block.size())) return 1;
  }
  return 0;
});

TEST_P(BombsTest, OfMemoryThatIsAFileEndsAsOneOfMemory) {
  if (!groups()) return;  // RLIMIT_AS does not count it, and the report of the tier says so
  const auto session = Act("bomb", {"memfd"}, Agent().Memory(96 * kMiB).Swap(0));
  ASSERT_NE(session, nullptr);
  EXPECT_EQ(End(*session).reason, EndReason::kOom);
  ExpectSiblingLives();
}

TEST_P(BombsTest, OfPageCacheIsTakenBackAndEndsNobody) {
  if (!groups()) return;
  const auto session =
      Shell("bomb", "head -c 150000000 /dev/zero > big && cat big big > /dev/null; rm big",
            Agent().Memory(64 * kMiB).Swap(0));
  ASSERT_NE(session, nullptr);
  EXPECT_EQ(End(*session).reason, EndReason::kExited);
}

TEST_P(BombsTest, OfOutputLeavesTheSupervisorSmall) {
  const auto session =
      Shell("bomb", "head -c 10000000000 /dev/zero; head -c 100000000 /dev/zero >&2", Agent());
  ASSERT_NE(session, nullptr);
  const absl::StatusOr<ExitStatus> end = session->Wait(absl::Now() + absl::Minutes(10));
  ASSERT_THAT(end, IsOk());
  EXPECT_EQ(end->code, 0);
  EXPECT_EQ(session->Info()->output_bytes, 10100000000);
  EXPECT_LT(KeeperPeak("bomb"), 48 * kMiB);
}

TEST_P(BombsTest, OfInputThatIsNeverReadLeavesTheSupervisorSmall) {
  const auto session = Act("bomb", {"stay"}, Agent());
  ASSERT_NE(session, nullptr);
  const std::string text(16 * kMiB, 'x');
  absl::Status refused;
  for (int i = 0; i < 64 && refused.ok(); ++i) {
    refused = session
                  ->Send({.text = text, .submit = "", .await = Delivery::kQueued},
                         absl::Now() + absl::Milliseconds(20))
                  .status();
    // One that is not taken in time is taken back; what is queued whole stays until it is full.
    if (absl::IsDeadlineExceeded(refused)) break;
  }
  EXPECT_FALSE(refused.ok());
  EXPECT_LT(KeeperPeak("bomb"), 256 * kMiB);
  ExpectSiblingLives();
}

const Actor kStay("stay", [](const std::vector<std::string>&) {
  StayForever();
  return 0;
});

const Actor kBurn("burn", [](const std::vector<std::string>&) {
  printf("burning\n");  // threads that spin leave it no time to say so later
  fflush(stdout);
  pthread_attr_t small;
  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, 64 << 10);
  for (int i = 0; i < 1000; ++i) {
    pthread_t thread;
    const auto spin = [](void*) -> void* {
      while (true) asm volatile("");
    };
    if (pthread_create(&thread, &small, spin, nullptr) != 0) return 1;
  }
  StayForever();
  return 0;
});

TEST_P(BombsTest, OfAThousandThreadsLetsOthersRunAndIsEnded) {
  if (!groups()) return;  // a limit of CPU is refused then: see below
  const auto session = Act("bomb", {"burn"}, Agent().Cpus(0.3).Pids(2000));
  ASSERT_NE(session, nullptr);
  const auto output = session->OpenOutput({});
  ASSERT_THAT(output, IsOk());
  ReadUntil(output->fd.get(), "burning");
  ExpectSiblingLives();
  ASSERT_THAT(session->Stop(absl::ZeroDuration()), IsOk());
}

TEST_P(BombsTest, WhereThereAreNoGroupsALimitOfCpuIsRefusedWithTheRemedy) {
  if (groups()) return;
  SessionSpec spec;
  spec.name = "cpu";
  spec.command = Command::Shell("touch ran");
  spec.cwd = space_;
  spec.policy = *Agent().Cpus(0.5).Build();
  EXPECT_THAT(runtime_->CreateSession(spec),
              absl_testing::StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("cpu")));
  EXPECT_EQ(access((space_ + "/ran").c_str(), F_OK), -1);
}

INSTANTIATE_TEST_SUITE_P(Tiers, BombsTest, AllTiers(), TierOf);

}  // namespace
}  // namespace berth
