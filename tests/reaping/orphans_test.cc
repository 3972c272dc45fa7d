// Scenario 26, and 10 after the owner was SIGKILLed, on native and tmux: owners are killed, and
// with them what would have cleaned up after them. After one sweep nothing is left of what was to
// end with them, and all else is as it was.

#include <netinet/in.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status_matchers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "reaper/decide.h"
#include "reaper/filter.h"
#include "reaper/options.h"
#include "reaper/report.h"
#include "runtime/ports/port_lease.h"
#include "runtime/process.h"
#include "runtime/record/identity.h"
#include "runtime/record/record.h"
#include "runtime/record/store.h"
#include "runtime/runtime.h"
#include "runtime/session.h"
#include "runtime/spec.h"
#include "tests/reaping/reaping_test.h"
#include "tests/support/actor.h"
#include "tests/support/test_backend.h"
#include "tests/support/world.h"

namespace berth {
namespace {

using ::absl_testing::IsOk;
using ::testing::Contains;
using ::testing::HasSubstr;

namespace fs = std::filesystem;

// Serves a port and reports `NAME PID PORT`.
[[noreturn]] void Serve(const std::string& fifo, const std::string& name) {
  const int server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  auto* const any = reinterpret_cast<sockaddr*>(&address);
  if (bind(server, any, size) != 0 || listen(server, 1) != 0 ||
      getsockname(server, any, &size) != 0) {
    _exit(1);
  }
  Report(fifo, absl::StrCat(name, " ", getpid(), " ", ntohs(address.sin_port)));
  StayForever();
}

// Serves as itself, as a child of a session of its own, and as a daemon whose parent is gone. Deaf
// to TERM and HUP.
int Family(const std::vector<std::string>& args) {
  for (int each : {SIGTERM, SIGHUP}) signal(each, SIG_IGN);
  prctl(PR_SET_PDEATHSIG, 0);  // so that not even the end of its keeper ends it
  if (fork() == 0) {
    setsid();
    Serve(args[0], args[1] + "-setsid");
  }
  if (fork() == 0) {
    setsid();
    if (fork() != 0) _exit(0);
    Serve(args[0], args[1] + "-daemon");
  }
  wait(nullptr);
  Serve(args[0], args[1]);
}
constexpr size_t kFamily = 3;

SessionSpec FamilySpec(const std::string& name, const std::string& fifo, bool durable) {
  return {.name = name,
          .command = Command::Argv(ActorCommand({"family", fifo, name})),
          .pty = !HasPipes(),
          .durable = durable,
          .grace = absl::Milliseconds(100)};
}

// An owner of one session of each kind, of a process, and of a port.
int Own(const std::vector<std::string>& args) {
  auto runtime = CreateTestRuntime(args[0]);
  if (!runtime.ok()) return 1;
  auto ephemeral = (*runtime)->CreateSession(FamilySpec("ephemeral", args[1], false));
  auto durable = (*runtime)->CreateSession(FamilySpec("durable", args[1], true));
  auto spawned =
      (*runtime)->Spawn({.command = Command::Argv(ActorCommand({"family", args[1], "spawned"}))});
  auto port = PortLease::Acquire(args[0] + "/ports");
  if (!ephemeral.ok() || !durable.ok() || !spawned.ok() || !port.ok()) return 2;
  StayForever();
}

// An owner whose session is an owner of the next, and so on.
int Nest(const std::vector<std::string>& args) {
  const int depth = atoi(args[2].c_str());
  prctl(PR_SET_PDEATHSIG, 0);
  signal(SIGHUP, SIG_IGN);  // nor that of its terminal
  // The variables that tell which program this is, and of which backend, do not reach into
  // sessions.
  setenv("BERTH_TEST_SELF", fs::read_symlink("/proc/self/exe").c_str(), 1);
  setenv("BERTH_TEST_BACKEND", args[3].c_str(), 1);
  auto runtime = CreateTestRuntime(args[0]);
  if (!runtime.ok()) return 1;
  const std::string name = absl::StrCat("nested", depth);
  auto session = (*runtime)->CreateSession(
      depth == 0 ? FamilySpec(name, args[1], false)
                 : SessionSpec{.name = name,
                               .command = Command::Argv(ActorCommand(
                                   {"nest", args[0], args[1], absl::StrCat(depth - 1), args[3]})),
                               .pty = !HasPipes(),
                               .durable = false,
                               .grace = absl::Milliseconds(100)});
  if (!session.ok()) return 2;
  StayForever();
}

// An owner of nothing but a process, which is the owner of a session.
int Spawner(const std::vector<std::string>& args) {
  auto runtime = CreateTestRuntime(args[0]);
  if (!runtime.ok()) return 1;
  auto spawned = (*runtime)->Spawn(
      {.command = Command::Argv(ActorCommand({"nest", args[0], args[1], "0", args[2]}))});
  if (!spawned.ok()) return 2;
  StayForever();
}

const Actor kSpawnerActor("spawner", &Spawner);
const Actor kFamilyActor("family", &Family);
const Actor kOwnActor("own", &Own);
const Actor kNestActor("nest", &Nest);

class Orphans : public ReapingTest {
 protected:
  static bool Has(const std::vector<pid_t>& pids, pid_t pid) {
    return std::find(pids.begin(), pids.end(), pid) != pids.end();
  }
  static pid_t ParentOf(pid_t pid) {
    std::ifstream status(absl::StrCat("/proc/", pid, "/status"));
    for (std::string line; std::getline(status, line);) {
      if (line.starts_with("PPid:")) return atoi(line.c_str() + 5);
    }
    return 0;
  }
  // What was spawned may take its supervisor a moment.
  void ExpectAllGone() {
    for (const auto& [name, pid] : pids_) {
      if (name.starts_with("spawned")) ExpectGone(pid, absl::Seconds(20));
      EXPECT_FALSE(IsAlive(pid)) << name;
      EXPECT_TRUE(IsFree(ports_[name])) << name;
    }
  }
  // All that could clean up by itself, but for those of `spared`: they are killed before they can.
  void KillHelpers(const std::vector<pid_t>& spared = {}) {
    // Stopped first, so that none sees another's end.
    std::vector<pid_t> helpers = World::MembersNamed("berth-keeper");
    const std::vector<pid_t> launchers = World::MembersNamed("berth-launcher");
    for (const pid_t pid : launchers) {
      // A supervisor is a launcher's child and has its name. It is all that holds what was spawned
      // where there are no cgroups: two things may die at once, not three.
      if (!Has(launchers, ParentOf(pid))) helpers.push_back(pid);
    }
    std::erase_if(helpers, [&](pid_t pid) { return Has(spared, pid); });
    for (const pid_t pid : helpers) kill(pid, SIGSTOP);
    for (const pid_t pid : helpers) kill(pid, SIGKILL);
    for (const pid_t pid : helpers) ExpectGone(pid, absl::Seconds(20));
  }
};

TEST_F(Orphans, OfAKilledOwnerAreGoneAfterOneSweep) {
  if (!World::Exists()) GTEST_SKIP() << "helpers cannot be found: " << World::WhyNot();
  const pid_t owner = StartOwner("own");
  TakePids(3 * kFamily);
  const Record durable = RecordOf("durable");
  const pid_t keeper = static_cast<pid_t>(durable.keeper.pid);
  kill(owner, SIGSTOP);
  KillHelpers({keeper});
  KillChild(owner);

  const reaper::Report report = Sweep();
  EXPECT_EQ(reaper::ExitCodeOf(report), reaper::kExitDone) << reaper::ToText(report, true, false);
  for (const auto& [name, pid] : pids_) {
    if (name.starts_with("spawned")) ExpectGone(pid, absl::Seconds(20));
    EXPECT_EQ(IsAlive(pid), name.starts_with("durable")) << name;
    EXPECT_EQ(IsFree(ports_[name]), !name.starts_with("durable")) << name;
  }
  EXPECT_THAT(store_->Find("ephemeral"), ::absl_testing::StatusIs(absl::StatusCode::kNotFound));
  EXPECT_EQ(RecordOf("durable"), durable);
  EXPECT_EQ(CheckIdentity(durable.keeper), Liveness::kAlive);
  ExpectEmpty("owners");
  ExpectEmpty("ports");
  for (const auto& entry : fs::directory_iterator(dir_ + "/run")) {
    const std::string name = entry.path().filename();
    EXPECT_TRUE(name == durable.uid || (!HasPipes() && name.starts_with("tmux"))) << name;
  }
  // The groups of the launcher and of the ephemeral session.
  for (const auto& entry : fs::recursive_directory_iterator(World::Folder())) {
    const std::string name = entry.path().filename();
    if (entry.is_directory() && name.starts_with("berth-")) {
      EXPECT_EQ(name, "berth-" + durable.uid);
    }
  }
  // And once more: nothing to do.
  EXPECT_EQ(reaper::ExitCodeOf(Sweep()), reaper::kExitNothing);
}

TEST_F(Orphans, WhoseLeaderIsGoneAreFoundAllTheSame) {
  if (!World::Exists()) GTEST_SKIP() << "helpers cannot be found: " << World::WhyNot();
  const pid_t owner = StartOwner("own");
  TakePids(3 * kFamily);
  kill(owner, SIGSTOP);
  KillHelpers();
  for (const char* name : {"ephemeral", "durable", "spawned"}) KillOther(pids_[name]);
  KillChild(owner);
  ASSERT_TRUE(IsAlive(pids_["ephemeral-daemon"]));
  ASSERT_TRUE(IsAlive(pids_["durable-setsid"]));
  const reaper::Report report = Sweep();
  EXPECT_EQ(reaper::ExitCodeOf(report), reaper::kExitDone) << reaper::ToText(report, true, false);
  ExpectAllGone();
  // The durable one has ended: what it left is cleared, and its record is there for who asks.
  const reaper::Item* item = ItemOf(report, "durable");
  ASSERT_NE(item, nullptr);
  EXPECT_EQ(item->verdict, reaper::Verdict::kClear);
  EXPECT_THAT(runtime_->Find("durable"), IsOk());
  ExpectEmpty("run");
}

TEST_F(Orphans, NestedOwnersGoInOneSweep) {
  if (!World::Exists()) GTEST_SKIP() << "helpers cannot be found: " << World::WhyNot();
  const pid_t owner = StartOwner("nest", {"2", TestBackend()});
  TakePids(kFamily);
  const Record outer = RecordOf("nested2"), middle = RecordOf("nested1"),
               inner = RecordOf("nested0");
  kill(owner, SIGSTOP);
  KillHelpers();
  KillChild(owner);
  // Each but the first has an owner that lives.
  EXPECT_EQ(CheckIdentity(middle.owner), Liveness::kAlive);
  EXPECT_EQ(CheckIdentity(inner.owner), Liveness::kAlive);
  const reaper::Report report = Sweep();
  EXPECT_EQ(reaper::ExitCodeOf(report), reaper::kExitDone) << reaper::ToText(report, true, false);
  EXPECT_TRUE(store_->List()->records.empty());
  ExpectAllGone();
  ExpectEmpty("owners");
  ExpectEmpty("run");
}

TEST_F(Orphans, NestedOwnersThatWereOnlySpawnedGoInOneSweepToo) {
  if (!World::Exists()) GTEST_SKIP() << "helpers cannot be found: " << World::WhyNot();
  const pid_t owner = StartOwner("spawner", {TestBackend()});
  TakePids(kFamily);
  const Record inner = RecordOf("nested0");
  kill(owner, SIGSTOP);
  KillHelpers();
  KillChild(owner);
  if (World::Tree() == "cgroup") {
    EXPECT_EQ(CheckIdentity(inner.owner), Liveness::kAlive);
  } else {
    // Its supervisor ends it.
    ExpectGone(static_cast<pid_t>(inner.owner.pid), absl::Seconds(20));
  }
  const reaper::Report report = Sweep();
  EXPECT_EQ(reaper::ExitCodeOf(report), reaper::kExitDone) << reaper::ToText(report, true, false);
  ExpectAllGone();
  ExpectNothing();
}

TEST_F(Orphans, WhatASessionChangedCopyOnWriteGoesWithIt) {
  const pid_t owner = StartOwner("own");
  TakePids(3 * kFamily);
  const Record record = RecordOf("ephemeral");
  kill(owner, SIGSTOP);
  // As an overlay leaves it: closed to its own owner, and as deep as the program liked.
  const std::string changes = absl::StrCat(dir_, "/sessions/", record.uid, "/changes/0");
  const std::string closed = changes + "/closed/inner";
  fs::create_directories(closed);
  fs::permissions(closed, fs::perms::none);
  std::string deep = changes + "/upper";
  for (int i = 0; i < 200; ++i) deep += "/d";
  fs::create_directories(deep);
  std::ofstream(deep + "/file") << "x";
  KillOther(static_cast<pid_t>(record.keeper.pid));
  KillChild(owner);
  const reaper::Report report = Sweep();
  EXPECT_EQ(report.failed, 0) << reaper::ToText(report, true, false);
  EXPECT_THAT(store_->Find("ephemeral"), ::absl_testing::StatusIs(absl::StatusCode::kNotFound));
  EXPECT_FALSE(fs::exists(absl::StrCat(dir_, "/sessions/", record.uid)));
}

TEST_F(Orphans, AKeeperThatIsEndingItsSessionIsLetFinish) {
  const pid_t owner = StartOwner("own");
  TakePids(3 * kFamily);
  KillChild(owner);
  const reaper::Report report = Sweep();
  EXPECT_EQ(report.failed, 0) << reaper::ToText(report, true, false);
  EXPECT_THAT(store_->Find("ephemeral"), ::absl_testing::StatusIs(absl::StatusCode::kNotFound));
  EXPECT_FALSE(IsAlive(pids_["ephemeral-daemon"]));
  EXPECT_TRUE(IsAlive(pids_["durable-daemon"]));
}

TEST_F(Orphans, OfLivingOwnersAreLeftAlone) {
  ASSERT_NE(Create(FamilySpec("mine", reports_->path(), false)), nullptr);
  TakePids(kFamily);
  const Record before = RecordOf("mine");
  const reaper::Report report = Sweep({.show_kept = true});
  EXPECT_EQ(reaper::ExitCodeOf(report), reaper::kExitNothing)
      << reaper::ToText(report, true, false);
  for (const auto& [name, pid] : pids_) EXPECT_TRUE(IsAlive(pid)) << name;
  EXPECT_EQ(RecordOf("mine"), before);
  const reaper::Item* item = ItemOf(report, "mine");
  ASSERT_NE(item, nullptr);
  EXPECT_EQ(item->because.back(), "its owner lives");
}

TEST_F(Orphans, OfAnotherInstallationAreLeftAlone) {
  const pid_t owner = StartOwner("own");
  TakePids(3 * kFamily);
  Record record = RecordOf("durable");
  const std::string ours = record.install_id;
  KillChild(owner);
  ExpectGone(pids_["ephemeral-daemon"], absl::Seconds(20));
  // Its keeper is lost, so that it would be in doubt; but it is not ours to doubt.
  KillOther(static_cast<pid_t>(record.keeper.pid));
  record.install_id = std::string(32, 'a');
  ASSERT_THAT(store_->Write(record), IsOk());
  const reaper::Report report = Sweep({.show_kept = true, .forget_ended = absl::ZeroDuration()});
  const reaper::Item* item = ItemOf(report, "durable");
  ASSERT_NE(item, nullptr);
  EXPECT_EQ(item->verdict, reaper::Verdict::kKeep);
  EXPECT_THAT(item->because, Contains("another installation made it"));
  EXPECT_TRUE(IsAlive(pids_["durable-daemon"]));
  EXPECT_TRUE(IsAlive(pids_["durable"]));
  record.install_id = ours;
  ASSERT_THAT(store_->Write(record), IsOk());
}

TEST_F(Orphans, ADurableSessionThatLostItsKeeperIsADoubt) {
  const pid_t owner = StartOwner("own");
  TakePids(3 * kFamily);
  const Record record = RecordOf("durable");
  KillChild(owner);
  ExpectGone(pids_["ephemeral-daemon"], absl::Seconds(20));
  KillOther(static_cast<pid_t>(record.keeper.pid));
  const reaper::Report report = Sweep();
  EXPECT_EQ(reaper::ExitCodeOf(report), reaper::kExitDoubt);
  const reaper::Item* item = ItemOf(report, "durable");
  ASSERT_NE(item, nullptr);
  EXPECT_THAT(item->because.back(), HasSubstr("lost its keeper"));
  EXPECT_TRUE(IsAlive(pids_["durable"]));
}

TEST_F(Orphans, ADryRunTellsAndTouchesNothing) {
  if (!World::Exists()) GTEST_SKIP() << "helpers cannot be found: " << World::WhyNot();
  const pid_t owner = StartOwner("own");
  TakePids(3 * kFamily);
  kill(owner, SIGSTOP);
  KillHelpers();
  KillChild(owner);
  const reaper::Report plan = Sweep({.dry_run = true});
  EXPECT_EQ(plan.done, 0);
  EXPECT_GT(plan.planned, 0);
  const reaper::Item* item = ItemOf(plan, "ephemeral");
  ASSERT_NE(item, nullptr);
  EXPECT_EQ(item->verdict, reaper::Verdict::kReap);
  EXPECT_TRUE(IsAlive(pids_["ephemeral-daemon"]));
  EXPECT_THAT(store_->Find("ephemeral"), IsOk());
  // What is not chosen is not touched either.
  auto filter = reaper::Filter::Make({"^nobody$"}, {});
  ASSERT_THAT(filter, IsOk());
  EXPECT_EQ(reaper::ExitCodeOf(Sweep({.filter = *filter})), reaper::kExitNothing);
  Sweep({.older_than = absl::Hours(1)});
  EXPECT_TRUE(IsAlive(pids_["ephemeral-daemon"]));
  KillOther(pids_["durable"]);
  Sweep();
  EXPECT_FALSE(IsAlive(pids_["ephemeral-daemon"]));
}

TEST_F(Orphans, TemporaryFoldersGoWithTheirSessionAndOnlyTheirs) {
  const pid_t owner = StartOwner("own");
  TakePids(3 * kFamily);
  Record record = RecordOf("ephemeral");
  const pid_t keeper = static_cast<pid_t>(record.keeper.pid);
  kill(owner, SIGSTOP);
  const std::string ours = Path(absl::StrCat("berth-", record.uid, "-upper"));
  const std::string other = Path("precious");
  fs::create_directories(ours + "/a/b");
  fs::create_directories(other);
  std::ofstream(other + "/file") << "x";
  fs::create_symlink(other, ours + "/a/link");
  record.temp_dirs = {ours, other};
  ASSERT_THAT(store_->Write(record), IsOk());
  KillOther(keeper);
  KillChild(owner);
  const reaper::Report report = Sweep();
  EXPECT_EQ(reaper::ExitCodeOf(report), reaper::kExitPartial);
  const reaper::Item* item = ItemOf(report, "ephemeral");
  ASSERT_NE(item, nullptr);
  EXPECT_THAT(std::string(item->error.message()), HasSubstr("precious"));
  EXPECT_FALSE(IsAlive(pids_["ephemeral-daemon"]));
  EXPECT_FALSE(fs::exists(ours));
  EXPECT_TRUE(fs::exists(other + "/file"));
  record.temp_dirs = {};
  ASSERT_THAT(store_->Write(record), IsOk());
  EXPECT_EQ(reaper::ExitCodeOf(Sweep()), reaper::kExitDone);
}

}  // namespace
}  // namespace berth
