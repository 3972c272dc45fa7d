// What a filter stops is refused, counted and told, in both tiers.

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <sys/syscall.h>

#include <string>
#include <vector>

#include "absl/status/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "sandbox/launcher/wire.h"
#include "tests/escape/enclosed_test.h"

namespace berth {
namespace {

using ::absl_testing::IsOk;
using launcher::Reader;

// One call, with that action; all others are allowed.
std::string FilterFor(int call, uint32_t action) {
  const sock_filter program[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<uint32_t>(call), 0, 1),
      BPF_STMT(BPF_RET | BPF_K, action),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  return {reinterpret_cast<const char*>(program), sizeof(program)};
}

class ViolationsTest : public EnclosedTest {
 protected:
  std::vector<launcher::SandboxPlan> Plans() const { return {Plan(), LandlockPlan()}; }
};

TEST_F(ViolationsTest, ANotifiedCallIsRefusedAndTold) {
  for (launcher::SandboxPlan plan : Plans()) {
    plan.filter = FilterFor(SYS_chroot, SECCOMP_RET_USER_NOTIF);
    plan.notifies = true;
    absl::StatusOr<launcher::Spawned> spawned = Start(
        plan, {"/bin/sh", "-c", "/usr/sbin/chroot / true; /usr/sbin/chroot /tmp true; exit 2"},
        work_, -1, -1);
    ASSERT_THAT(spawned, IsOk());
    EXPECT_EQ(AwaitEnd(*spawned).code, 2);
    AwaitGone(*spawned);
    absl::StatusOr<std::string> told = client_->Violations(spawned->pid, 0);
    ASSERT_THAT(told, IsOk());
    Reader in(told->data(), told->size());
    EXPECT_EQ(in.Get<uint64_t>(), 2u);
    EXPECT_EQ(in.Get<uint64_t>(), 0u);
    EXPECT_EQ(in.Get<uint32_t>(), 2u);
    EXPECT_EQ(in.Get<uint8_t>(), 1);
    EXPECT_GT(in.Get<int32_t>(), 1);
    EXPECT_GT(in.Get<uint64_t>(), 0u);
    EXPECT_STREQ(in.GetString(), "chroot");
  }
}

TEST_F(ViolationsTest, AProgramThatTriesForEverIsCountedAndNotKept) {
  launcher::SandboxPlan plan = Plan();
  plan.filter = FilterFor(SYS_umask, SECCOMP_RET_USER_NOTIF);
  plan.notifies = true;
  absl::StatusOr<launcher::Spawned> spawned =
      Start(plan, {"/bin/sh", "-c", "i=0; while [ $i -lt 2000 ]; do umask 022; i=$((i+1)); done"},
            work_, -1, -1);
  ASSERT_THAT(spawned, IsOk());
  AwaitGone(*spawned);
  absl::StatusOr<std::string> told = client_->Violations(spawned->pid, 0);
  ASSERT_THAT(told, IsOk());
  Reader in(told->data(), told->size());
  const uint64_t total = in.Get<uint64_t>();
  EXPECT_GE(total, 2000u);
  EXPECT_EQ(in.Get<uint64_t>(), total - 256);
  EXPECT_EQ(in.Get<uint32_t>(), 256u);
}

TEST_F(ViolationsTest, AFileIsToldOfASandboxThatWaitedForItsProgram) {
  launcher::SandboxPlan plan = Plan();
  plan.tier = launcher::SandboxTier::kPooled;
  plan.filter = FilterFor(SYS_openat, SECCOMP_RET_USER_NOTIF);
  plan.notifies = true;
  plan.told_calls = {SYS_openat};
  absl::StatusOr<launcher::Spawned> spawned =
      Start(plan, {"/bin/sh", "-c", "echo x >ok; echo x >/usr/berth-was-here"}, work_, -1, -1);
  ASSERT_THAT(spawned, IsOk());
  // The launcher of a command, which has one program to start, makes none ready.
  EXPECT_EQ(spawned->prepared, !forked_.has_value());
  EXPECT_NE(AwaitEnd(*spawned).code, 0);
  AwaitGone(*spawned);
  EXPECT_EQ(Read("ok"), "x\n");
  absl::StatusOr<std::string> told = client_->Violations(spawned->pid, 0);
  ASSERT_THAT(told, IsOk());
  EXPECT_THAT(*told, testing::HasSubstr("write /usr/berth-was-here"));
  EXPECT_THAT(*told, testing::HasSubstr("read-only"));
}

// A plan that says so of a call that names no file does not open a hole.
TEST_F(ViolationsTest, ACallThatNamesNoFileIsRefusedWhateverThePlanTells) {
  for (launcher::SandboxPlan plan : Plans()) {
    plan.filter = FilterFor(SYS_chroot, SECCOMP_RET_USER_NOTIF);
    plan.notifies = true;
    plan.told_calls = {SYS_chroot};
    const Outcome outcome = Run(plan, {"/usr/sbin/chroot", "/", "true"});
    EXPECT_NE(outcome.exit.code, 0);
    EXPECT_THAT(outcome.err, testing::HasSubstr("not permitted"));
  }
}

TEST_F(ViolationsTest, ADeathByTheFilterIsToldAsAViolation) {
  for (launcher::SandboxPlan plan : Plans()) {
    plan.filter = FilterFor(SYS_chroot, SECCOMP_RET_KILL_PROCESS);
    const Outcome outcome = Run(plan, {"/usr/sbin/chroot", "/", "true"});
    EXPECT_EQ(outcome.exit.signal, SIGSYS);
    EXPECT_EQ(outcome.exit.reason, 8);  // EndReason::kViolation
  }
}

TEST_F(ViolationsTest, AFilterThatIsNoneIsRefused) {
  for (launcher::SandboxPlan plan : Plans()) {
    plan.filter = "nonsense";
    EXPECT_FALSE(Start(plan, {"/bin/true"}, work_, -1, -1).ok());
    plan.filter = "x";
    EXPECT_FALSE(Start(plan, {"/bin/true"}, work_, -1, -1).ok());
  }
}

}  // namespace
}  // namespace berth
