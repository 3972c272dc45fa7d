#include "runtime/record/lease.h"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/record/identity.h"
#include "runtime/record/record.h"
#include "runtime/record/state_dir.h"
#include "runtime/record/test_dir.h"

namespace berth {
namespace {

using ::absl_testing::IsOk;
using ::absl_testing::StatusIs;

class LeaseTest : public ::testing::Test {
 protected:
  // A child that holds the lease "owner" and `also` does something after.
  template <typename Also>
  std::unique_ptr<TestChild> Owner(Also also) {
    return std::make_unique<TestChild>([this, also](int ready) {
      static std::optional<absl::StatusOr<Lease>> lease;
      lease.emplace(Lease::Acquire(dir_, "owner"));
      if (!lease->ok()) _exit(1);
      also();
      SayReady(ready);
    });
  }
  Record RecordOf(const TestChild& owner) {
    Record record;
    record.owner_id = "owner";
    record.owner = *IdentifyProcess(owner.pid());
    return record;
  }

  TestDir test_;
  StateDir dir_ = *StateDir::Open(test_ / "state");
};

TEST_F(LeaseTest, IsHeldAsLongAsTheObjectLivesAndThenLeavesNothing) {
  EXPECT_EQ(ProbeLease(dir_, "owner"), LeaseState::kMissing);
  {
    absl::StatusOr<Lease> lease = Lease::Acquire(dir_, "owner");
    ASSERT_THAT(lease, IsOk());
    EXPECT_EQ(ProbeLease(dir_, "owner"), LeaseState::kHeld);
    EXPECT_EQ(IdentityFromJson(ReadText(test_ / "state/owners/owner")).value(), *IdentifySelf());
    const Lease moved = *std::move(lease);
    EXPECT_EQ(ProbeLease(dir_, "owner"), LeaseState::kHeld);
    EXPECT_THAT(Lease::Acquire(dir_, "owner"), StatusIs(absl::StatusCode::kAlreadyExists));
    EXPECT_THAT(RemoveFreeLease(dir_, "owner"), StatusIs(absl::StatusCode::kFailedPrecondition));
    EXPECT_EQ(ProbeLease(dir_, "owner"), LeaseState::kHeld);
  }
  EXPECT_EQ(ProbeLease(dir_, "owner"), LeaseState::kMissing);
  EXPECT_TRUE(std::filesystem::is_empty(test_ / "state/owners"));
}

TEST_F(LeaseTest, HasARandomNameUnlessOneIsGiven) {
  const absl::StatusOr<Lease> one = Lease::Acquire(dir_), two = Lease::Acquire(dir_);
  ASSERT_THAT(one, IsOk());
  ASSERT_THAT(two, IsOk());
  EXPECT_NE(one->owner_id(), two->owner_id());
  for (const char* bad : {"..", ".", "a/b", "-x", "a b"}) {
    EXPECT_THAT(Lease::Acquire(dir_, bad), StatusIs(absl::StatusCode::kInvalidArgument)) << bad;
    EXPECT_EQ(ProbeLease(dir_, bad), LeaseState::kUnknown) << bad;
  }
}

TEST_F(LeaseTest, OfAKilledOwnerIsFreeAndTheOwnerDead) {
  const auto owner = Owner([] {});
  ASSERT_TRUE(owner->ready());
  const Record record = RecordOf(*owner);
  EXPECT_EQ(OwnerLiveness(dir_, record), Liveness::kAlive);
  owner->Kill();
  owner->WaitUntilZombie();
  EXPECT_EQ(ProbeLease(dir_, "owner"), LeaseState::kFree);
  EXPECT_EQ(OwnerLiveness(dir_, record), Liveness::kDead);
  EXPECT_THAT(RemoveFreeLease(dir_, "owner"), IsOk());
  EXPECT_THAT(RemoveFreeLease(dir_, "owner"), IsOk());
  EXPECT_EQ(ProbeLease(dir_, "owner"), LeaseState::kMissing);
  EXPECT_EQ(OwnerLiveness(dir_, record), Liveness::kDead);
}

TEST_F(LeaseTest, KeptByAForkedChildOfADeadOwnerIsDoubt) {
  int tie[2];
  ASSERT_EQ(pipe(tie), 0);
  const auto owner = Owner([&tie] {
    if (fork() == 0) {
      // Lives until the test lets go of its end.
      close(tie[1]);
      char byte;
      if (read(tie[0], &byte, 1) >= 0) _exit(0);
    }
  });
  ASSERT_TRUE(owner->ready());
  const Record record = RecordOf(*owner);
  owner->KillAndReap();
  EXPECT_EQ(ProbeLease(dir_, "owner"), LeaseState::kHeld);
  EXPECT_EQ(CheckIdentity(record.owner), Liveness::kDead);
  EXPECT_EQ(OwnerLiveness(dir_, record), Liveness::kUnknown);
  close(tie[0]);
  close(tie[1]);
}

TEST_F(LeaseTest, LostByALivingOwnerIsDoubt) {
  Record record;
  record.owner_id = "owner";
  record.owner = *IdentifySelf();
  EXPECT_EQ(OwnerLiveness(dir_, record), Liveness::kUnknown);
  record.owner_id = "";
  EXPECT_EQ(OwnerLiveness(dir_, record), Liveness::kUnknown);
}

TEST_F(LeaseTest, IsNotGivenUpByAForkedChildThatEndsInOrder) {
  absl::StatusOr<Lease> lease = Lease::Acquire(dir_, "owner");
  ASSERT_THAT(lease, IsOk());
  const pid_t child = fork();
  if (child == 0) {
    {
      const Lease copy = *std::move(lease);
    }
    _exit(0);
  }
  waitpid(child, nullptr, 0);
  EXPECT_EQ(ProbeLease(dir_, "owner"), LeaseState::kHeld);
}

TEST_F(LeaseTest, OfADeadOwnerIsTakenOver) {
  const auto owner = Owner([] {});
  const Record record = RecordOf(*owner);
  owner->KillAndReap();
  const absl::StatusOr<Lease> lease = Lease::Acquire(dir_, "owner");
  ASSERT_THAT(lease, IsOk());
  EXPECT_EQ(IdentityFromJson(ReadText(test_ / "state/owners/owner")).value(), *IdentifySelf());
  EXPECT_EQ(OwnerLiveness(dir_, record), Liveness::kUnknown);
}

TEST_F(LeaseTest, ThatIsNoFileIsUnknown) {
  ASSERT_EQ(mkfifo((test_ / "state/owners/fifo").c_str(), 0600), 0);
  std::filesystem::create_symlink("/etc/passwd", test_ / "state/owners/link");
  std::filesystem::create_directory(test_ / "state/owners/folder");
  for (const char* name : {"fifo", "link", "folder"}) {
    EXPECT_EQ(ProbeLease(dir_, name), LeaseState::kUnknown) << name;
    EXPECT_FALSE(Lease::Acquire(dir_, name).ok()) << name;
    EXPECT_FALSE(RemoveFreeLease(dir_, name).ok()) << name;
  }
}

}  // namespace
}  // namespace berth
