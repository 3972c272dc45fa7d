// Scenario 9 on tmux, and servers that cannot be had: a lost server is not a session's death.
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/status_matchers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/record/identity.h"
#include "runtime/runtime.h"
#include "runtime/session.h"
#include "runtime/spec.h"
#include "sandbox/base/unique_fd.h"
#include "sandbox/base/wait_fd.h"
#include "tests/tmux/tmux_test_base.h"

namespace berth {
namespace {

using ::absl_testing::IsOk;
using ::absl_testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

namespace fs = std::filesystem;

using Server = TmuxTest;

// The events that wait, as "name: why".
std::vector<std::string> Lost(Runtime& runtime) {
  std::vector<std::string> lost;
  while (true) {
    auto event = runtime.NextEvent();
    EXPECT_THAT(event, IsOk());
    if (!event.ok() || !event->has_value()) return lost;
    EXPECT_EQ((*event)->kind, Event::Kind::kLost) << (*event)->name;
    lost.push_back(absl::StrCat((*event)->name, ": ", (*event)->detail));
  }
}

TEST_F(Server, ThatIsKilledTakesNoSessionWithItAndTheNextOneShowsThemAgain) {
  const auto session = Start("kept", "echo up; exec cat");
  ASSERT_NE(session, nullptr);
  Until(*session, "up");
  ASSERT_EQ(session->CheckLiveness().liveness, Liveness::kAlive);
  const UniqueFd server = ServerProcess();
  Signal(server, SIGKILL);
  AwaitEnd(server);

  const LivenessReport lost = session->CheckLiveness();
  EXPECT_EQ(lost.liveness, Liveness::kUnknown);
  EXPECT_THAT(lost.reason, HasSubstr("tmux server"));
  auto info = session->Info();
  ASSERT_THAT(info, IsOk());
  EXPECT_EQ(info->state, SessionState::kUnknown);
  ASSERT_THAT(session->Send({.text = "while it is away"}), IsOk());

  const auto other = Start("other", "exec cat");  // and with it a server
  ASSERT_NE(other, nullptr);
  EXPECT_EQ(session->CheckLiveness().liveness, Liveness::kAlive);
  EXPECT_EQ(Tmux(*session, {"display-message", "-p", "#{session_name} #{pane_dead}"}),
            absl::StrCat(SessionName(*session), " 0"));
  EXPECT_THAT(Until(*session, "while it is away"), HasSubstr("while it is away"));
}

TEST_F(Server, ThatIsStoppedLeavesUnknownWhatItWouldKnow) {
  const auto session = Start("kept", "echo up; exec cat");
  ASSERT_NE(session, nullptr);
  Until(*session, "up");
  const UniqueFd server = ServerProcess();
  Signal(server, SIGSTOP);
  const LivenessReport lost = session->CheckLiveness();
  EXPECT_EQ(lost.liveness, Liveness::kUnknown);
  EXPECT_THAT(lost.reason, HasSubstr("does not answer"));
  EXPECT_THAT(session->Send({.text = "all the same"}), IsOk());
  Until(*session, "all the same");
  EXPECT_EQ((*runtime_->List())[0].state, SessionState::kUnknown);
  EXPECT_THAT(Lost(*runtime_), ElementsAre(HasSubstr("does not answer")));
  Signal(server, SIGCONT);
  EXPECT_EQ(session->CheckLiveness().liveness, Liveness::kAlive);
  EXPECT_EQ((*runtime_->List())[0].state, SessionState::kRunning);
  EXPECT_THAT(Lost(*runtime_), IsEmpty());
}

TEST_F(Server, WithoutItsSocketIsUnknownUntilItIsBack) {
  const auto session = Start("kept", "exec cat");
  ASSERT_NE(session, nullptr);
  fs::rename(dir_ + "/run/tmux", dir_ + "/run/away");
  EXPECT_EQ(session->CheckLiveness().liveness, Liveness::kUnknown);
  const auto other = OtherRuntime();
  auto again = other->Open(session->handle());
  ASSERT_THAT(again, IsOk());
  EXPECT_EQ((*again)->CheckLiveness().liveness, Liveness::kUnknown);
  fs::rename(dir_ + "/run/away", dir_ + "/run/tmux");
  EXPECT_EQ(session->CheckLiveness().liveness, Liveness::kAlive);
  EXPECT_EQ((*again)->CheckLiveness().liveness, Liveness::kAlive);
}

TEST_F(Server, ThatIsKilledIsOneEventForEachSessionThoughNobodyAsks) {
  const auto one = Start("one", "read x; exit 4");
  const auto two = Start("two", "exec cat");
  ASSERT_TRUE(one != nullptr && two != nullptr);
  const UniqueFd server = ServerProcess();
  Signal(server, SIGKILL);
  ASSERT_THAT(WaitFd(runtime_->event_fd(), POLLIN, Soon(), "wait for an event"), IsOk());
  EXPECT_THAT(Lost(*runtime_),
              UnorderedElementsAre(HasSubstr("one: the tmux server"), HasSubstr("two: the tmux")));
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(one->CheckLiveness().liveness, Liveness::kUnknown);
    EXPECT_EQ((*runtime_->List())[0].state, SessionState::kUnknown);
  }
  EXPECT_THAT(Lost(*runtime_), IsEmpty());
  // An end is an event all the same, and is known without a server.
  ASSERT_THAT(one->Send({.text = "go"}), IsOk());
  ASSERT_THAT(WaitFd(runtime_->event_fd(), POLLIN, Soon(), "wait for an event"), IsOk());
  auto end = runtime_->NextEvent();
  ASSERT_THAT(end, IsOk());
  ASSERT_TRUE(end->has_value());
  EXPECT_EQ((*end)->kind, Event::Kind::kExited);
  EXPECT_EQ((*end)->exit.code, 4);
  EXPECT_EQ(one->CheckLiveness().liveness, Liveness::kDead);
  EXPECT_EQ(one->Info()->state, SessionState::kExited);
}

TEST_F(Server, ThatIsLostAndFoundAndLostAgainIsTwoEvents) {
  const auto session = Start("kept", "exec cat");
  ASSERT_NE(session, nullptr);
  for (int i = 0; i < 2; ++i) {
    fs::rename(dir_ + "/run/tmux", dir_ + "/run/away");
    EXPECT_EQ(session->CheckLiveness().liveness, Liveness::kUnknown);
    EXPECT_EQ(session->Info()->state, SessionState::kUnknown);
    EXPECT_THAT(session->Rename(absl::StrCat("kept", i)), IsOk());
    EXPECT_EQ(session->CheckLiveness().liveness, Liveness::kUnknown);
    EXPECT_THAT(Lost(*runtime_), ElementsAre(HasSubstr("is not there")));
    fs::rename(dir_ + "/run/away", dir_ + "/run/tmux");
    EXPECT_EQ(session->CheckLiveness().liveness, Liveness::kAlive);
    EXPECT_THAT(Lost(*runtime_), IsEmpty());
  }
}

TEST_F(Server, GoesWithTheLastSessionOfAnOwnerThatWasKilled) {
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  runtime_.reset();  // a child that is forked without exec must share nothing of it
  const pid_t owner = fork();
  if (owner == 0) {
    auto runtime = Runtime::Create({.state_dir = dir_});
    if (!runtime.ok()) _exit(1);
    auto session = (*runtime)->CreateSession(
        {.name = "short", .backend = "tmux", .command = Command::Argv({"cat"}), .durable = false});
    if (!session.ok() || write(ready[1], "r", 1) != 1) _exit(1);
    while (true) pause();
  }
  close(ready[1]);
  char byte;
  ASSERT_EQ(read(ready[0], &byte, 1), 1);
  close(ready[0]);
  runtime_ = OtherRuntime();
  const UniqueFd server = ServerProcess();
  kill(owner, SIGKILL);
  waitpid(owner, nullptr, 0);
  AwaitEnd(server);
  EXPECT_THAT(runtime_->Find("short"), StatusIs(absl::StatusCode::kNotFound));
  // What whoever connects next, and a reaper, would remove.
  fs::remove(dir_ + "/run/tmux");
  for (const auto& lease : fs::directory_iterator(dir_ + "/owners")) fs::remove(lease.path());
}

class Path {
 public:
  explicit Path(const std::string& path) : old_(getenv("PATH")) { setenv("PATH", path.c_str(), 1); }
  ~Path() { setenv("PATH", old_.c_str(), 1); }

 private:
  const std::string old_;
};

TEST_F(Server, ThatIsNotInstalledIsTold) {
  const Path path(work_);
  EXPECT_THAT(
      runtime_->CreateSession(
          {.name = "none", .backend = "tmux", .command = Command::Argv({"/bin/true"})}),
      StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("install tmux 3.2 or newer")));
}

TEST_F(Server, ThatIsTooOldIsTold) {
  std::ofstream(work_ + "/tmux") << "#!/bin/sh\necho 'usage: tmux [-2CluvV]' >&2; exit 1\n";
  fs::permissions(work_ + "/tmux", fs::perms::owner_all);
  const Path path(absl::StrCat(work_, ":", getenv("PATH")));
  EXPECT_THAT(
      runtime_->CreateSession(
          {.name = "none", .backend = "tmux", .command = Command::Argv({"/bin/true"})}),
      StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("install tmux 3.2 or newer")));
}

}  // namespace
}  // namespace berth
