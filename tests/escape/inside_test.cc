// What a program in a sandbox of the tier `namespaces` is and sees, and how it ends.

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <filesystem>
#include <set>
#include <string>

#include "absl/status/status_matchers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "sandbox/base/unique_fd.h"
#include "sandbox/base/wait_fd.h"
#include "tests/escape/enclosed_test.h"

namespace berth {
namespace {

using ::absl_testing::IsOk;
using ::absl_testing::StatusIs;
using ::testing::HasSubstr;
using Kind = launcher::SandboxMount::Kind;

using InsideTest = EnclosedTest;

TEST_F(InsideTest, TheProgramRunsInItsWorkspaceAndItsFilesAreOnTheHost) {
  const Outcome outcome = Shell(Plan(), "pwd; echo hello > made; echo oops >&2; exit 3");
  EXPECT_EQ(outcome.out, work_ + "\n");
  EXPECT_EQ(outcome.err, "oops\n");
  EXPECT_EQ(outcome.exit.code, 3);
  EXPECT_EQ(outcome.exit.signal, 0);
  EXPECT_EQ(Read("made"), "hello\n");
  struct stat st;
  ASSERT_EQ(stat(Path("made").c_str(), &st), 0);
  EXPECT_EQ(st.st_uid, geteuid());
}

TEST_F(InsideTest, ItHasTheCallersIdsIsNotPidOneAndSeesNoOtherProcess) {
  const Outcome outcome =
      Shell(Plan(), "id -u; id -g; echo $$; cat /proc/1/comm; set -- /proc/[0-9]*; echo $#");
  EXPECT_EQ(outcome.out, absl::StrCat(geteuid(), "\n", getegid(), "\n2\nberth-init\n2\n"))
      << outcome.err;
}

TEST_F(InsideTest, ADeathBySignalIsToldAsOne) {
  const Outcome outcome = Shell(Plan(), "kill -USR1 $$");
  EXPECT_EQ(outcome.exit.signal, SIGUSR1);
}

TEST_F(InsideTest, AProgramThatEndsAtOnceIsStillKnownByItsNumber) {
  for (int i = 0; i < 20; ++i) {
    absl::StatusOr<launcher::Spawned> spawned = Start(Plan(), {"/bin/true"}, work_, -1, -1);
    ASSERT_THAT(spawned, IsOk());
    EXPECT_GT(spawned->pid, 1);
    EXPECT_EQ(AwaitEnd(*spawned).code, 0);
    AwaitGone(*spawned);
  }
}

TEST_F(InsideTest, StopEndsATreeThatIgnoresEverything) {
  int fds[2];
  ASSERT_EQ(pipe2(fds, O_CLOEXEC), 0);
  const UniqueFd reads(fds[0]), writes(fds[1]);
  absl::StatusOr<launcher::Spawned> spawned =
      Start(Plan(),
            {"/bin/sh", "-c",
             "trap '' TERM HUP INT; (setsid sleep 1000 > /dev/null &); echo up; sleep 1000"},
            work_, writes.get(), -1);
  ASSERT_THAT(spawned, IsOk());
  ASSERT_THAT(WaitFd(reads.get(), POLLIN, absl::Now() + absl::Seconds(60), "up"), IsOk());
  ASSERT_THAT(client_->Stop(spawned->pid, 0), IsOk());
  AwaitGone(*spawned);
  const launcher::ExitNotice end = AwaitEnd(*spawned);
  EXPECT_EQ(end.signal, SIGKILL);
  EXPECT_TRUE(end.stopped);
}

TEST_F(InsideTest, StopLetsTheProgramSayGoodbye) {
  int fds[2];
  ASSERT_EQ(pipe2(fds, O_CLOEXEC), 0);
  const UniqueFd reads(fds[0]), writes(fds[1]);
  absl::StatusOr<launcher::Spawned> spawned = Start(
      Plan(),
      {"/bin/sh", "-c", "trap 'echo bye > bye; exit 5' TERM; echo up; while :; do sleep 0.1; done"},
      work_, writes.get(), -1);
  ASSERT_THAT(spawned, IsOk());
  // The trap is set then; a TERM that came earlier would end it without a word.
  ASSERT_THAT(WaitFd(reads.get(), POLLIN, absl::Now() + absl::Seconds(60), "up"), IsOk());
  ASSERT_THAT(client_->Stop(spawned->pid, 30000), IsOk());
  AwaitGone(*spawned);
  EXPECT_EQ(AwaitEnd(*spawned).code, 5);
  EXPECT_EQ(Read("bye"), "bye\n");
}

TEST_F(InsideTest, WhatIsNotListedIsNotThere) {
  const Outcome outcome =
      Shell(Plan(), absl::StrCat("ls -a /; ls ", outside_, "; ls ", work_, "/.."));
  // The first folder on the way to the workspace is there too, wherever that is.
  const std::string first = work_.substr(1, work_.find('/', 1) - 1);
  std::set<std::string> expected{"bin",  "dev",  "etc", "lib", "lib64", "probe",
                                 "proc", "sbin", "tmp", "usr", first};
  EXPECT_EQ(outcome.out, absl::StrCat(".\n..\n", absl::StrJoin(expected, "\n"), "\nspace\n"));
  EXPECT_THAT(outcome.err, HasSubstr("No such file or directory"));
}

TEST_F(InsideTest, TheSystemAndTheRootAreReadOnly) {
  const Outcome outcome = Shell(
      Plan(),
      "for d in / /usr /etc /dev /bin; do touch $d/x && echo wrote $d; done; echo 1 > /probe");
  EXPECT_EQ(outcome.out, "");
  EXPECT_THAT(outcome.err, HasSubstr("Read-only file system"));
}

TEST_F(InsideTest, DevicesTerminalsAndSharedMemoryWork) {
  const Outcome outcome =
      Shell(Plan(),
            "head -c 4 /dev/zero | wc -c; echo x > /dev/null; head -c 2 /dev/urandom | wc -c; "
            "echo y > /dev/shm/y; cat /dev/shm/y; ls /dev/pts; echo z | tee /dev/stderr; "
            "script -qc 'tty' /dev/null < /dev/null");
  EXPECT_EQ(outcome.out, "4\n2\ny\nptmx\nz\n/dev/pts/0\r\n") << outcome.err;
}

TEST_F(InsideTest, TheHostNameIsItsOwn) {
  EXPECT_EQ(Shell(Plan(), "cat /proc/sys/kernel/hostname").out, "berth\n");
}

TEST_F(InsideTest, OnlyTheThreeStreamsAreOpen) {
  const Outcome outcome = Shell(Plan(), "ls /proc/self/fd");
  EXPECT_EQ(outcome.out, "0\n1\n2\n3\n");  // 3 is ls's own
}

TEST_F(InsideTest, AProgramThatIsNotThereIsNamed) {
  EXPECT_THAT(Start(Plan(), {"/no/such"}, work_, -1, -1),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("'/no/such'")));
}

TEST_F(InsideTest, AWorkingDirectoryOutsideIsRefused) {
  EXPECT_THAT(Start(Plan(), {"/bin/true"}, outside_, -1, -1),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr(outside_)));
}

TEST_F(InsideTest, AMissingSourceIsNamedUnlessItIsOptional) {
  launcher::SandboxPlan plan = Plan();
  plan.mounts.push_back({.kind = Kind::kBind, .source = "/no/such/source", .target = "/x"});
  EXPECT_THAT(Start(plan, {"/bin/true"}, work_, -1, -1),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("'/no/such/source'")));
  plan.mounts.back().optional = true;
  EXPECT_EQ(Shell(plan, "exit 4").exit.code, 4);
}

TEST_F(InsideTest, BytesThatAreNoPlanAreRefused) {
  launcher::SandboxPlan none;
  EXPECT_THAT(Start(none, {"/bin/true"}, work_, -1, -1),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("plan")));
}

TEST_F(InsideTest, AnOverlayKeepsChangesApart) {
  Write("file", "before\n");
  Write("gone", "here\n");
  std::filesystem::create_directory(outside_ + "/upper");
  std::filesystem::create_directory(outside_ + "/scratch");
  launcher::SandboxPlan plan = Plan();
  for (Mount& mount : plan.mounts) {
    if (mount.target != work_) continue;
    mount.kind = Kind::kOverlay;
    mount.upper = outside_ + "/upper";
    mount.work = outside_ + "/scratch";
  }
  const Outcome outcome = Shell(plan, "cat file; echo after > file; rm gone; cat file; ls");
  EXPECT_EQ(outcome.out, "before\nafter\nfile\n") << outcome.err;
  EXPECT_EQ(Read("file"), "before\n");
  EXPECT_EQ(Read("gone"), "here\n");
  // The kernel leaves a directory of its own there that even its owner may not open.
  for (const auto& entry : std::filesystem::directory_iterator(outside_ + "/scratch")) {
    std::filesystem::permissions(entry, std::filesystem::perms::owner_all);
  }
}

TEST_F(InsideTest, AHiddenPathIsEmpty) {
  std::filesystem::create_directory(Path("secrets"));
  Write("secrets/key", "k");
  Write("token", "t");
  launcher::SandboxPlan plan = Plan();
  for (const char* name : {"secrets", "token", "absent"}) {
    plan.mounts.push_back({.kind = Kind::kMask, .target = Path(name)});
  }
  const Outcome outcome =
      Shell(plan, "ls secrets; cat token; echo x > token; touch secrets/x; mv secrets s");
  EXPECT_EQ(outcome.out, "");
  EXPECT_THAT(outcome.err, HasSubstr("Read-only"));
  EXPECT_EQ(Read("secrets/key"), "k");
  EXPECT_EQ(Read("token"), "t");
}

}  // namespace
}  // namespace berth
