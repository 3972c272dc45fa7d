// Scenario 19: the program that made a session is SIGKILLed. What is durable goes on for whoever
// opens its handle; what is not is gone, with everything below it.

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/status_matchers.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/process.h"
#include "runtime/record/lease.h"
#include "runtime/record/record.h"
#include "runtime/record/store.h"
#include "runtime/runtime.h"
#include "runtime/session.h"
#include "runtime/spec.h"
#include "runtime/types.h"
#include "tests/support/actor.h"
#include "tests/support/test_backend.h"
#include "tests/support/tree_test.h"
#include "tests/support/world.h"

namespace berth {
namespace {

using ::absl_testing::IsOk;
using ::absl_testing::StatusIs;

// Reports `NAME PID`, as itself and as a daemon whose parent is gone. Deaf to TERM and HUP.
int Pair(const std::vector<std::string>& args) {
  for (int each : {SIGTERM, SIGHUP}) signal(each, SIG_IGN);
  if (fork() == 0) {
    setsid();
    if (fork() != 0) _exit(0);
    Report(args[0], absl::StrCat(args[1], "-daemon ", getpid()));
    StayForever();
  }
  wait(nullptr);
  Report(args[0], absl::StrCat(args[1], " ", getpid()));
  StayForever();
}

constexpr char kTalk[] =
    "echo before; while read line; do case $line in size) stty size;; end) exit 7;; *) echo \"got "
    "$line\";; esac; done";

// An orchestrator. Arguments: state directory, where to report.
int Orchestrate(const std::vector<std::string>& args) {
  auto runtime = CreateTestRuntime(args[0]);
  if (!runtime.ok()) return 1;
  auto durable = (*runtime)->CreateSession({.name = "durable", .command = Command::Shell(kTalk)});
  auto held =
      (*runtime)->CreateSession({.name = "held",
                                 .command = Command::Argv(ActorCommand({"pair", args[1], "held"})),
                                 .pty = !HasPipes()});
  auto ephemeral = (*runtime)->CreateSession(
      {.name = "ephemeral",
       .command = Command::Argv(ActorCommand({"pair", args[1], "ephemeral"})),
       .durable = false,
       .grace = absl::Milliseconds(100)});
  auto spawned =
      (*runtime)->Spawn({.command = Command::Argv(ActorCommand({"pair", args[1], "spawned"}))});
  if (!durable.ok() || !held.ok() || !ephemeral.ok() || !spawned.ok()) return 2;
  auto in_durable =
      (*held)->Exec({.command = Command::Argv(ActorCommand({"pair", args[1], "exec"}))});
  if (!in_durable.ok()) return 3;
  // Something is written and read before the end.
  if (!(*durable)->Send({.text = "one"}).ok()) return 4;
  Report(args[1], absl::StrCat("handle ", (*durable)->handle()));
  StayForever();
}

const Actor kPair("pair", &Pair);
const Actor kOrchestrate("orchestrate", &Orchestrate);

class OwnerDeath : public TreeTest {
 protected:
  void SetUp() override {
    TreeTest::SetUp();
    reports_ = std::make_unique<Fifo>(Path("reports"));
  }
  void TearDown() override {
    // No reaper yet: the lease of the dead is removed by hand.
    const auto store = Store::Open(dir_);
    ASSERT_THAT(store, IsOk());
    for (const auto& entry : std::filesystem::directory_iterator(dir_ + "/owners")) {
      const std::string owner_id = entry.path().filename();
      if (ProbeLease((*store)->dir(), owner_id) != LeaseState::kFree) continue;
      EXPECT_THAT(RemoveFreeLease((*store)->dir(), owner_id), IsOk());
    }
    TreeTest::TearDown();
  }
  // Runs an orchestrator until it has all it wants, and kills it. Fills pids_ and handle_.
  void LiveAndDie() {
    const std::vector<std::string> command = ActorCommand({"orchestrate", dir_, reports_->path()});
    const pid_t owner = fork();
    if (owner == 0) {
      std::vector<char*> argv;
      for (const std::string& word : command) argv.push_back(const_cast<char*>(word.c_str()));
      argv.push_back(nullptr);
      execv(argv[0], argv.data());
      _exit(127);
    }
    for (const std::string& line : reports_->Lines(9)) {
      const std::vector<std::string> words = absl::StrSplit(line, ' ');
      ASSERT_EQ(words.size(), 2u) << line;
      if (words[0] == "handle") {
        handle_ = words[1];
      } else {
        pids_.emplace_back(words[0], atoi(words[1].c_str()));
      }
    }
    kill(owner, SIGKILL);
    ASSERT_EQ(waitpid(owner, nullptr, 0), owner);
  }

  std::unique_ptr<Fifo> reports_;
  std::string handle_;
  std::vector<std::pair<std::string, pid_t>> pids_;
};

TEST_F(OwnerDeath, ADurableSessionGoesOnForWhoeverOpensIt) {
  LiveAndDie();
  auto session = runtime_->Open(handle_);
  ASSERT_THAT(session, IsOk());
  const LivenessReport report = (*session)->CheckLiveness();
  EXPECT_EQ(report.liveness, Liveness::kAlive) << report.reason;
  auto info = (*session)->Info();
  ASSERT_THAT(info, IsOk());
  EXPECT_EQ(info->name, "durable");
  EXPECT_EQ(info->tree, World::Tree());

  // All that was written before, from its first byte; and from where another reader was.
  auto output = (*session)->OpenOutput({.from = 0});
  ASSERT_THAT(output, IsOk());
  EXPECT_EQ(output->begins, 0);
  const std::string first = ReadUntil(output->fd.get(), "got one\r\n");
  EXPECT_TRUE(absl::StartsWith(first, "before\r\n")) << first;
  auto rest = (*session)->OpenOutput({.from = 8});
  ASSERT_THAT(rest, IsOk());
  EXPECT_EQ(rest->begins, 8);
  EXPECT_EQ("before\r\n" + ReadUntil(rest->fd.get(), "got one\r\n"), first);

  ASSERT_THAT((*session)->Send({.text = "two"}), IsOk());
  ReadUntil(output->fd.get(), "got two\r\n");
  ASSERT_THAT((*session)->Resize({.rows = 33, .cols = 101}), IsOk());
  ASSERT_THAT((*session)->Send({.text = "size"}), IsOk());
  ReadUntil(output->fd.get(), "33 101\r\n");
  EXPECT_THAT((*session)->Wait(absl::Now()), StatusIs(absl::StatusCode::kDeadlineExceeded));
  ASSERT_THAT((*session)->Send({.text = "end"}), IsOk());
  const auto status = (*session)->Wait(Soon());
  ASSERT_THAT(status, IsOk());
  EXPECT_EQ(*status, (ExitStatus{7, 0, EndReason::kExited}));
  ReadAll(output->fd.get());
}

TEST_F(OwnerDeath, EndsWhatWasEphemeralOrSpawnedWithEverythingBelow) {
  LiveAndDie();
  for (const auto& [name, pid] : pids_) {
    if (absl::StartsWith(name, "ephemeral") || absl::StartsWith(name, "spawned")) {
      ExpectGone(pid, absl::Seconds(20));
    } else {
      EXPECT_TRUE(IsAlive(pid)) << name;  // an exec is of its session, and that is durable
    }
  }
  // The keeper goes last, and its record with it.
  auto gone = runtime_->Find("ephemeral");
  if (gone.ok()) {
    auto exit = (*gone)->Destroy(absl::ZeroDuration());  // waits for it
    EXPECT_THAT(exit, IsOk());
  }
  EXPECT_THAT(runtime_->Find("ephemeral"), StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(runtime_->Find("durable"), IsOk());
  EXPECT_THAT(runtime_->Find("held"), IsOk());
}

TEST_F(OwnerDeath, LeavesALeaseThatTellsIt) {
  LiveAndDie();
  const Record record = RecordOf("durable");
  const auto store = Store::Open(dir_);
  ASSERT_THAT(store, IsOk());
  EXPECT_EQ(OwnerLiveness((*store)->dir(), record), Liveness::kDead);
  EXPECT_EQ(CheckIdentity(record.keeper), Liveness::kAlive);
  EXPECT_EQ(CheckIdentity(record.leader), Liveness::kAlive);
}

}  // namespace
}  // namespace berth
