// Scenarios 21 and 22: results without an exit, silence, rate limits, budgets, stop.

#include <poll.h>
#include <signal.h>
#include <sys/stat.h>

#include <memory>
#include <string>
#include <thread>

#include "absl/status/status.h"
#include "absl/status/status_matchers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/agent/agent_run.h"
#include "runtime/agent/context.h"
#include "runtime/agent/event.h"
#include "runtime/agent/result.h"
#include "runtime/types.h"
#include "sandbox/base/wait_fd.h"
#include "tests/agent/agent_test.h"

namespace berth {
namespace {

using ::absl_testing::IsOk;
using ::absl_testing::StatusIs;
using ::testing::HasSubstr;
using ::testing::SizeIs;

using Kind = AgentEvent::Kind;

using Runs = AgentTest;
using ResultButNoExit = AgentTest;
using ClosedStdin = AgentTest;
using Inactivity = AgentTest;
using Budget = AgentTest;
using Stops = AgentTest;
using Waiting = AgentTest;

const char kForever[] = "sleep 1000\n";

TEST_F(Runs, GoesToItsEndAndSaysWhatItDid) {
  auto run = Start(Context(
      "claude", absl::StrCat("cat >prompt; printf '%s\\n' \"$@\" >args\n", Say(ClaudeInit("s-1")),
                             Say(ClaudeText("m1", "hi")), Say(ClaudeResult("done")))));
  ASSERT_NE(run, nullptr);
  EXPECT_EQ(run->status(), AgentStatus::kRunning);
  const Events events = Finish(run.get());
  const AgentResult result = run->result();
  EXPECT_EQ(result.status, AgentStatus::kCompleted);
  EXPECT_EQ(result.reason, AgentEnd::kSuccess);
  EXPECT_EQ(result.text, "done");
  EXPECT_EQ(result.session_id, "s-1");
  EXPECT_EQ(result.turns, 1);
  EXPECT_EQ(result.usage, (Usage{.input = 10, .output = 5, .cost_usd = 0.25}));
  EXPECT_EQ(result.exit.reason, EndReason::kExited);
  EXPECT_EQ(result.log_error, "");
  EXPECT_EQ(Bytes(work_ + "/prompt"), "do it");
  EXPECT_EQ(Bytes(work_ + "/args"), "--print\n--output-format\nstream-json\n--verbose\n");
  for (size_t i = 0; i < events.size(); ++i) {
    EXPECT_EQ(events[i].sequence, static_cast<int64_t>(i) + 1);
  }
  EXPECT_EQ(events.front().raw, ClaudeInit("s-1"));
}

TEST_F(Runs, GivesTheDriverWhatTheContextAsksFor) {
  AgentContext context = Context("codex",
                                 "cat >/dev/null; printf '%s\\n' \"$@\" >args; "
                                 "echo $BERTH_STORY,$BERTH_AGENT,$BERTH_MCP_URL >env");
  context.args = {"--model", "a b"};
  context.resume = "thread-7";
  context.mcp_port = 3001;
  context.story_id = "42_story";
  context.agent_name = "coder-1";
  auto run = Start(context);
  Finish(run.get());
  EXPECT_EQ(Bytes(work_ + "/args"),
            "exec\n--json\n--model\na b\nresume\nthread-7\n-c\n"
            "mcp_servers.berth.url=\"http://127.0.0.1:3001/mcp\"\n-\n");
  EXPECT_EQ(Bytes(work_ + "/env"), "42_story,coder-1,http://127.0.0.1:3001/mcp\n");
}

TEST_F(Runs, ThatEndsWithoutAResultSaysWhy) {
  auto run = Start(Context("claude", "echo 'API key is missing' >&2; exit 3"));
  Finish(run.get());
  EXPECT_EQ(run->result().status, AgentStatus::kFailed);
  EXPECT_EQ(run->result().reason, AgentEnd::kNoResult);
  EXPECT_EQ(run->result().exit.code, 3);
  EXPECT_THAT(run->result().detail, HasSubstr("code 3"));
  EXPECT_THAT(run->result().detail, HasSubstr("API key is missing"));
}

TEST_F(Runs, ThatCannotStartLeavesNothing) {
  AgentContext context = Context("claude", "");
  context.command = "/no/such/agent";
  EXPECT_FALSE(AgentRun::Start(runtime_.get(), context).ok());
  EXPECT_TRUE(runtime_->List()->empty());
  context.agent = "clod";
  EXPECT_THAT(AgentRun::Start(runtime_.get(), context),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("claude")));
}

TEST_F(Runs, RefusesAContextThatCannotBeMeant) {
  const auto refused = [&](auto change) {
    AgentContext context = Context("claude", "true");
    change(&context);
    EXPECT_THAT(AgentRun::Start(runtime_.get(), context),
                StatusIs(absl::StatusCode::kInvalidArgument));
  };
  refused([](AgentContext* context) { context->prompt = " \n"; });
  refused([](AgentContext* context) { context->resume = "--dangerous"; });
  refused([](AgentContext* context) { context->resume = "a b"; });
  refused([](AgentContext* context) { context->place.name = "../x"; });
  refused([](AgentContext* context) { context->inactivity = absl::ZeroDuration(); });
  refused([](AgentContext* context) { context->budget.cost_usd = -1; });
  refused([](AgentContext* context) { context->redact.patterns = {"("}; });
  EXPECT_TRUE(runtime_->List()->empty());
}

TEST_F(Runs, CanBeDrivenByAnEventLoopThatNeverBlocks) {
  auto run = Start(Context(
      "claude", absl::StrCat(Say(ClaudeInit("s")), "sleep 0.2\n", Say(ClaudeResult("done")))));
  int events = 0;
  while (!run->finished()) {
    ASSERT_THAT(WaitFd(run->fd(), POLLIN, Soon(), "the run's descriptor"), IsOk());
    const auto event = run->Next(absl::InfinitePast());
    ASSERT_THAT(event, IsOk());
    if (event->has_value()) ++events;
  }
  EXPECT_EQ(events, 2);
  EXPECT_THAT(WaitFd(run->fd(), POLLIN, absl::InfinitePast(), "finished"), IsOk());
}

TEST_F(Runs, EndsWithItsObject) {
  auto run = Start(
      Context("claude", absl::StrCat(Say(ClaudeInit("s")), "setsid sleep 1000 & ", kForever)));
  Until(run.get(), Kind::kStarted);
  run.reset();
  EXPECT_TRUE(runtime_->List()->empty());
}

TEST_F(ResultButNoExit, IsFinishedAtOnceAndEndedAfterTheGrace) {
  AgentContext context =
      Context("claude", absl::StrCat(Say(ClaudeInit("s")), Say(ClaudeResult("done")), kForever));
  context.result_grace = absl::Seconds(2);
  auto run = Start(context);
  Until(run.get(), Kind::kResult);
  EXPECT_EQ(run->status(), AgentStatus::kCompleted);
  EXPECT_FALSE(run->finished());
  EXPECT_EQ(runtime_->List()->size(), 1u);
  Finish(run.get());
  EXPECT_EQ(run->result().status, AgentStatus::kCompleted);
  EXPECT_EQ(run->result().reason, AgentEnd::kSuccess);
  EXPECT_EQ(run->result().exit.signal, SIGTERM);
  EXPECT_TRUE(runtime_->List()->empty());
}

TEST_F(ResultButNoExit, OfOneThatIgnoresTermIsKilled) {
  AgentContext context = Context("claude", absl::StrCat("trap '' TERM\n", Say(ClaudeResult("done")),
                                                        "while :; do sleep 1; done"));
  context.result_grace = context.stop_grace = absl::Milliseconds(300);
  auto run = Start(context);
  Finish(run.get());
  EXPECT_EQ(run->result().status, AgentStatus::kCompleted);
  EXPECT_TRUE(runtime_->List()->empty());
}

TEST_F(ResultButNoExit, OfOneThatLeavesADaemonOnItsOutputIsBounded) {
  auto run =
      Start(Context("claude", absl::StrCat(Say(ClaudeResult("done")), "sleep 1000 & exit 0")));
  Finish(run.get());
  EXPECT_EQ(run->result().status, AgentStatus::kCompleted);
  EXPECT_EQ(run->result().exit.code, 0);
}

TEST_F(ClosedStdin, NeverHangsAStart) {
  AgentContext context = Context("claude", absl::StrCat("exec <&-\n", Say(ClaudeResult("done"))));
  context.prompt = std::string(4 << 20, 'x');  // more than a pipe takes
  auto run = Start(context);
  Finish(run.get());
  EXPECT_EQ(run->status(), AgentStatus::kCompleted);
}

TEST_F(ClosedStdin, NorDoesOneThatIsNeverRead) {
  AgentContext context =
      Context("claude", absl::StrCat(Say(ClaudeInit("s")), Say(ClaudeResult("done")), kForever));
  context.prompt = std::string(4 << 20, 'x');
  context.result_grace = absl::Milliseconds(100);
  auto run = Start(context);
  Finish(run.get());
  EXPECT_EQ(run->status(), AgentStatus::kCompleted);
}

TEST_F(ClosedStdin, ComesAfterTheWholePromptHoweverLateThatIsRead) {
  AgentContext context =
      Context("claude", absl::StrCat("sleep 0.5; cat >prompt\n", Say(ClaudeResult("done"))));
  context.prompt = std::string(3 << 20, 'x') + "end";
  auto run = Start(context);
  Finish(run.get());
  EXPECT_EQ(run->status(), AgentStatus::kCompleted);
  EXPECT_TRUE(Bytes(work_ + "/prompt") == context.prompt);
}

TEST_F(Inactivity, OfASilentAgentIsItsEnd) {
  AgentContext context = Context("claude", absl::StrCat(Say(ClaudeInit("s-9")), kForever));
  context.inactivity = absl::Milliseconds(700);
  auto run = Start(context);
  Finish(run.get());
  EXPECT_EQ(run->result().status, AgentStatus::kFailed);
  EXPECT_EQ(run->result().reason, AgentEnd::kInactivity);
  EXPECT_EQ(run->result().session_id, "s-9");
}

TEST_F(Inactivity, IsNotThatOfOneThatSpeaks) {
  AgentContext context = Context(
      "claude", absl::StrCat("for i in 1 2 3 4 5 6 7 8; do sleep 0.5; ",
                             Say(ClaudeText("m", "tick")), "done\n", Say(ClaudeResult("done"))));
  context.inactivity = absl::Seconds(3);
  auto run = Start(context);
  Finish(run.get());
  EXPECT_EQ(run->result().reason, AgentEnd::kSuccess);
}

std::string RateLimit(absl::string_view status, absl::Time resets_at) {
  return absl::StrCat(R"({"type":"rate_limit_event","rate_limit_info":{"status":")", status,
                      R"(","resetsAt":)", absl::ToUnixSeconds(resets_at), "}}");
}

TEST_F(Inactivity, IsExtendedToTheResetOfAHardRateLimit) {
  AgentContext context =
      Context("claude", absl::StrCat(Say(RateLimit("rejected", absl::Now() + absl::Seconds(60))),
                                     "sleep 4\n", Say(ClaudeResult("done"))));
  context.inactivity = absl::Seconds(1);
  auto run = Start(context);
  const Events events = Finish(run.get());
  EXPECT_EQ(run->result().reason, AgentEnd::kSuccess) << run->result().detail;
  EXPECT_TRUE(Only(events, Kind::kRateLimit)[0].hard);
}

TEST_F(Inactivity, EndsAfterTheResetIfNothingComes) {
  AgentContext context = Context(
      "claude", absl::StrCat(Say(RateLimit("rejected", absl::Now() + absl::Seconds(3))), kForever));
  context.inactivity = absl::Seconds(1);
  const absl::Time begun = absl::Now();
  auto run = Start(context);
  Finish(run.get());
  EXPECT_EQ(run->result().reason, AgentEnd::kInactivity);
  EXPECT_GT(absl::Now() - begun, absl::Seconds(2));
}

TEST_F(Inactivity, IsNotExtendedByAWarning) {
  AgentContext context = Context(
      "claude",
      absl::StrCat(Say(RateLimit("allowed_warning", absl::Now() + absl::Seconds(600))), kForever));
  context.inactivity = absl::Seconds(1);
  auto run = Start(context);
  const Events events = Finish(run.get());
  EXPECT_EQ(run->result().reason, AgentEnd::kInactivity);
  EXPECT_FALSE(Only(events, Kind::kRateLimit)[0].hard);
}

TEST_F(Budget, OfTurnsEndsTheRun) {
  AgentContext context = Context(
      "claude",
      absl::StrCat("for i in 1 2 3 4 5; do ",
                   "printf '{\"type\":\"assistant\",\"message\":{\"id\":\"m%s\"}}\\n' $i; done\n",
                   kForever));
  context.budget.turns = 3;
  auto run = Start(context);
  Finish(run.get());
  EXPECT_EQ(run->result().reason, AgentEnd::kTurns);
  EXPECT_EQ(run->result().status, AgentStatus::kFailed);
}

TEST_F(Budget, OfMoneyIsCountedByPricesIfTheAgentTellsNone) {
  AgentContext context =
      Context("claude", absl::StrCat(R"(printf '{"type":"assistant","message":{"id":"m","usage":)",
                                     R"({"input_tokens":100000,"output_tokens":100000}}}\n')", "\n",
                                     kForever));
  context.budget.cost_usd = 1;
  context.budget.prices = {.input = 3, .output = 15};
  auto run = Start(context);
  Finish(run.get());
  EXPECT_EQ(run->result().reason, AgentEnd::kCost);
  EXPECT_DOUBLE_EQ(run->result().usage.cost_usd, 1.8);
}

TEST_F(Budget, OfTimeEndsEvenAnAgentThatNeverPauses) {
  AgentContext context =
      Context("claude", absl::StrCat("while :; do ", Say(ClaudeText("m", "x")), "done"));
  context.budget.wall = absl::Seconds(1);
  auto run = Start(context);
  Finish(run.get());
  EXPECT_EQ(run->result().reason, AgentEnd::kWall);
}

TEST_F(Stops, FromAnotherThreadEndsTheWholeTree) {
  auto run = Start(
      Context("claude", absl::StrCat(Say(ClaudeInit("s")),
                                     "setsid sh -c 'trap \"\" TERM; sleep 1000' & ", kForever)));
  Until(run.get(), Kind::kStarted);
  std::thread stopper([&] { run->Stop(); });
  Finish(run.get());
  stopper.join();
  EXPECT_EQ(run->result().status, AgentStatus::kFailed);
  EXPECT_EQ(run->result().reason, AgentEnd::kStopped);
  EXPECT_TRUE(runtime_->List()->empty());
}

TEST_F(Stops, AfterTheResultDoesNotUndoIt) {
  AgentContext context = Context("claude", absl::StrCat(Say(ClaudeResult("done")), kForever));
  context.result_grace = absl::Hours(1);
  auto run = Start(context);
  Until(run.get(), Kind::kResult);
  run->Stop();
  Finish(run.get());
  EXPECT_EQ(run->result().reason, AgentEnd::kSuccess);
}

TEST_F(Waiting, ForAPersonIsToldAndMayBeTheEnd) {
  AgentContext context =
      Context("claude",
              absl::StrCat(Say(ClaudeInit("s")), "printf 'Trust this folder? [y/N] '\n", kForever));
  auto run = Start(context);
  const Events events = Until(run.get(), Kind::kWaiting);
  EXPECT_EQ(events.back().text, "Trust this folder? [y/N]");
  EXPECT_EQ(run->status(), AgentStatus::kRunning);
  run->Stop();
  Finish(run.get());
  context.place.name = "again";
  context.stop_when_waiting = true;
  auto again = Start(context);
  Finish(again.get());
  EXPECT_EQ(again->result().reason, AgentEnd::kWaiting);
  EXPECT_EQ(again->result().detail, "Trust this folder? [y/N]");
}

}  // namespace
}  // namespace berth
