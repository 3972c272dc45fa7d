// Scenario 9, docker: an engine that is gone or does not answer says nothing of its sessions. And
// an engine that is killed in the middle of each operation: an error, no hang, and the truth when
// it is back.

#include <poll.h>

#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/status_matchers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/runtime.h"
#include "runtime/session.h"
#include "runtime/spec.h"
#include "sandbox/base/wait_fd.h"
#include "tests/docker/docker_test.h"

namespace berth {
namespace {

using ::absl_testing::IsOk;
using ::absl_testing::StatusIs;
using ::testing::HasSubstr;
using ::testing::Not;

class LostEngine : public DockerTest {};

TEST_F(LostEngine, IsUnknownWithTheReasonAndOneEventAndTheTruthWhenItIsBack) {
  auto session = Start("lost", "cat");
  ASSERT_NE(session, nullptr);
  EXPECT_EQ(session->CheckLiveness().liveness, Liveness::kAlive);
  ASSERT_THAT(engine().Kill(), IsOk());
  const LivenessReport report = session->CheckLiveness();
  EXPECT_EQ(report.liveness, Liveness::kUnknown);
  EXPECT_THAT(report.reason, HasSubstr("does not answer"));
  auto info = session->Info();
  ASSERT_THAT(info, IsOk());
  EXPECT_EQ(info->state, SessionState::kUnknown);
  EXPECT_THAT(session->Wait(Soon()), StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_THAT(session->Stop(absl::ZeroDuration()), StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_THAT(session->Destroy(absl::ZeroDuration()), StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_THAT(session->GetStats(), StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_THAT(session->Exec({.command = Command::Argv({"true"})}), Not(IsOk()));
  EXPECT_THAT(Create({.name = "more", .command = Command::Argv({"cat"})}),
              StatusIs(absl::StatusCode::kUnavailable));
  auto list = runtime_->List();
  ASSERT_THAT(list, IsOk());
  ASSERT_EQ(list->size(), 1u);
  EXPECT_EQ((*list)[0].state, SessionState::kUnknown);

  ASSERT_THAT(WaitFd(runtime_->event_fd(), POLLIN, Soon(), "wait for the event"), IsOk());
  auto event = runtime_->NextEvent();
  ASSERT_THAT(event, IsOk());
  ASSERT_TRUE(event->has_value());
  EXPECT_EQ((*event)->kind, Event::Kind::kLost) << (*event)->detail;
  auto again = runtime_->NextEvent();
  ASSERT_THAT(again, IsOk());
  EXPECT_FALSE(again->has_value());

  ASSERT_THAT(engine().Restart(), IsOk());
  // It was killed with its containers: now that is known, and not before.
  EXPECT_EQ(session->CheckLiveness().liveness, Liveness::kDead);
  EXPECT_THAT(session->Wait(Soon()), IsOk());
  EXPECT_THAT(session->Destroy(absl::ZeroDuration()), IsOk());
}

TEST_F(LostEngine, OneThatDoesNotAnswerIsUnknownAndThenAliveAgain) {
  auto session = Start("frozen", "cat");
  ASSERT_NE(session, nullptr);
  ASSERT_THAT(engine().Freeze(), IsOk());
  EXPECT_EQ(session->CheckLiveness().liveness, Liveness::kUnknown);
  ASSERT_THAT(engine().Thaw(), IsOk());
  EXPECT_EQ(session->CheckLiveness().liveness, Liveness::kAlive);
  auto output = session->OpenOutput({});
  ASSERT_THAT(output, IsOk());
  ASSERT_THAT(session->Send({.text = "still here"}), IsOk());
  ReadUntil(output->fd.get(), "still here\r\nstill here");
}

TEST_F(LostEngine, OneThatIsFrozenFailsEachOperationInTimeAndTellsTheTruthAfterwards) {
  struct Case {
    const char* name;
    std::function<absl::Status(Session&)> act;
  };
  const std::vector<Case> cases = {
      {"wait", [&](Session& s) { return s.Wait(absl::Now() + absl::Seconds(2)).status(); }},
      {"stop", [](Session& s) { return s.Stop(absl::Seconds(1)).status(); }},
      {"destroy", [](Session& s) { return s.Destroy(absl::ZeroDuration()); }},
      {"exec", [](Session& s) { return s.Exec({.command = Command::Argv({"true"})}).status(); }},
      {"stats", [](Session& s) { return s.GetStats().status(); }},
      {"exit descriptor", [](Session& s) { return s.ExitFd().status(); }},
      {"create",
       [&](Session&) {
         return Create({.name = "more", .command = Command::Argv({"cat"})}).status();
       }},
      {"list",
       [&](Session&) -> absl::Status {
         auto list = runtime_->List();
         if (!list.ok()) return list.status();
         for (const SessionInfo& info : *list)
           if (info.state != SessionState::kUnknown) return absl::OkStatus();
         return absl::UnavailableError("all unknown");
       }},
  };
  std::vector<std::unique_ptr<Session>> sessions;
  for (size_t i = 0; i < cases.size(); ++i) {
    sessions.push_back(Start(absl::StrCat("s", i), "cat"));
    ASSERT_NE(sessions.back(), nullptr);
  }
  ASSERT_THAT(engine().Freeze(), IsOk());
  std::vector<absl::Status> statuses(cases.size());
  std::vector<std::thread> threads;
  for (size_t i = 0; i < cases.size(); ++i) {
    threads.emplace_back([&, i] { statuses[i] = cases[i].act(*sessions[i]); });
  }
  for (std::thread& thread : threads) thread.join();
  // Streams are the keeper's, and do not ask the engine.
  EXPECT_THAT(sessions[0]->Attach(), IsOk());
  EXPECT_THAT(sessions[0]->Capture({}), IsOk());
  ASSERT_THAT(engine().Thaw(), IsOk());
  for (size_t i = 0; i < cases.size(); ++i) {
    EXPECT_FALSE(statuses[i].ok()) << cases[i].name;
    // What it was asked for while it was frozen it may do now; in any case it knows.
    EXPECT_NE(sessions[i]->CheckLiveness().liveness, Liveness::kUnknown) << cases[i].name;
  }
  EXPECT_EQ(sessions[0]->CheckLiveness().liveness, Liveness::kAlive);
}

TEST_F(LostEngine, InTheMiddleOfEachOperationIsAnErrorAndNeverAHang) {
  struct Case {
    const char* name;
    std::function<void(Session&)> act;
  };
  const std::vector<Case> cases = {
      {"wait", [&](Session& s) { EXPECT_THAT(s.Wait(Soon()), Not(IsOk())); }},
      {"stop", [](Session& s) { s.Stop(absl::Seconds(20)).IgnoreError(); }},
      {"destroy", [](Session& s) { s.Destroy(absl::Seconds(20)).IgnoreError(); }},
      {"exec",
       [&](Session& s) {
         auto process = s.Exec({.command = Command::Argv({"sleep", "1000"})});
         if (process.ok()) (*process)->Wait(absl::Now() + absl::Seconds(3)).IgnoreError();
       }},
      {"create",
       [&](Session&) {
         for (int i = 0; i < 50; ++i) {
           auto made = Create({.name = absl::StrCat("made", i), .command = Command::Argv({"cat"})});
           if (!made.ok()) return;
         }
       }},
  };
  for (const Case& each : cases) {
    SCOPED_TRACE(each.name);
    // Deaf to TERM: whoever stops it is in the middle of that when the engine goes.
    auto session = Start(each.name, "trap '' TERM; echo up; while :; do sleep 1000; done");
    ASSERT_NE(session, nullptr);
    auto output = session->OpenOutput({});
    ASSERT_THAT(output, IsOk());
    ReadUntil(output->fd.get(), "up");
    const absl::Time began = absl::Now();
    std::thread actor([&] { each.act(*session); });
    // Some way into it; wherever that is, what follows must hold.
    ASSERT_THAT(engine().Shell("docker version >/dev/null; docker ps -a >/dev/null"), IsOk());
    ASSERT_THAT(engine().Kill(), IsOk());
    actor.join();
    EXPECT_LT(absl::Now() - began, absl::Minutes(2));
    ASSERT_THAT(engine().Restart(), IsOk());
    auto list = runtime_->List();
    ASSERT_THAT(list, IsOk());
    for (const SessionInfo& info : *list) {
      auto found = runtime_->Open(info.handle);
      if (!found.ok()) continue;
      EXPECT_NE((*found)->CheckLiveness().liveness, Liveness::kAlive) << info.name;
      EXPECT_THAT((*found)->Destroy(absl::ZeroDuration()), IsOk()) << info.name;
    }
  }
  // A container whose make was not answered has no record that names it; its labels do, and they
  // are the reaper's to judge.
  Docker("ps -aq | xargs -r docker rm -f");
}

}  // namespace
}  // namespace berth
