// Scenario 24: resume, refusals, empty prompts.

#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/agent/agent_run.h"
#include "runtime/agent/context.h"
#include "runtime/agent/event.h"
#include "runtime/agent/result.h"
#include "tests/agent/agent_test.h"

namespace berth {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

using Kind = AgentEvent::Kind;

using Resume = AgentTest;

// Notes each start; refuses to resume as Claude does.
std::string Refusing() {
  return absl::StrCat(
      "printf '%s ' \"$@\" >>starts; cat >>starts; echo >>starts\n", "case \"$*\" in *--resume*)\n",
      Say(R"({"type":"result","subtype":"error_during_execution","is_error":true,"num_turns":0,)"
          R"("session_id":"other","errors":["No conversation found with session ID: old"]})"),
      "exit 1;; esac\n", Say(ClaudeInit("fresh")), Say(ClaudeText("m", "hi")),
      Say(ClaudeResult("done")));
}

TEST_F(Resume, GoesOnWithTheSessionThatIsNamed) {
  AgentContext context =
      Context("claude", absl::StrCat("printf '%s ' \"$@\" >args; cat >prompt\n",
                                     Say(ClaudeInit("old")), Say(ClaudeResult("done"))));
  context.resume = "old";
  auto run = Start(context);
  Finish(run.get());
  EXPECT_TRUE(run->result().resumed);
  EXPECT_FALSE(run->result().resume_refused);
  EXPECT_THAT(Bytes(work_ + "/args"), HasSubstr("--resume old"));
  EXPECT_EQ(Bytes(work_ + "/prompt"), "do it");
}

TEST_F(Resume, WithAnEmptyPromptStillSaysSomething) {
  AgentContext context =
      Context("claude", absl::StrCat("cat >prompt\n", Say(ClaudeResult("done"))));
  context.resume = "old";
  context.prompt = "";
  auto run = Start(context);
  Finish(run.get());
  EXPECT_EQ(run->status(), AgentStatus::kCompleted);
  EXPECT_NE(Bytes(work_ + "/prompt"), "");
}

TEST_F(Resume, RefusedFallsBackOnceToAFreshStart) {
  AgentContext context = Context("claude", Refusing());
  context.resume = "old";
  context.prompt = "go on";
  context.cold_prompt = "the whole story";
  auto run = Start(context);
  const Events events = Finish(run.get());
  const AgentResult result = run->result();
  EXPECT_EQ(result.status, AgentStatus::kCompleted);
  EXPECT_EQ(result.reason, AgentEnd::kSuccess);
  EXPECT_TRUE(result.resume_refused);
  EXPECT_FALSE(result.resumed);
  EXPECT_EQ(result.text, "done");
  EXPECT_THAT(Only(events, Kind::kResult), SizeIs(1)) << "the refusal is not the run's result";
  const std::string starts = Bytes(work_ + "/starts");
  EXPECT_THAT(starts, HasSubstr("--resume old go on\n"));
  EXPECT_THAT(starts, HasSubstr("--verbose the whole story\n"));
}

TEST_F(Resume, RefusedOnStandardErrorFallsBackToo) {
  AgentContext context = Context(
      "gemini", absl::StrCat("case \"$*\" in *--resume*) echo 'Error resuming session: Invalid "
                             "session identifier \"old\".' >&2; exit 42;; esac\n",
                             "cat ", Fixture("gemini")));
  context.resume = "old";
  auto run = Start(context);
  Finish(run.get());
  EXPECT_EQ(run->status(), AgentStatus::kCompleted);
  EXPECT_TRUE(run->result().resume_refused);
}

TEST_F(Resume, RefusedWithNothingToStartOnIsTheEnd) {
  AgentContext context = Context("claude", Refusing());
  context.resume = "old";
  context.prompt = "";
  auto run = Start(context);
  Finish(run.get());
  EXPECT_EQ(run->status(), AgentStatus::kFailed);
  EXPECT_EQ(run->result().reason, AgentEnd::kResumeRefused);
}

TEST_F(Resume, ThatFailsForAnotherReasonIsNotTriedAgain) {
  AgentContext context = Context(
      "claude",
      absl::StrCat("echo x >>starts\n",
                   Say(R"({"type":"result","subtype":"error_during_execution","is_error":true,)"
                       R"("errors":["overloaded"]})")));
  context.resume = "old";
  auto run = Start(context);
  Finish(run.get());
  EXPECT_EQ(run->result().reason, AgentEnd::kError);
  EXPECT_THAT(run->result().detail, HasSubstr("overloaded"));
  EXPECT_EQ(Bytes(work_ + "/starts"), "x\n");
}

}  // namespace
}  // namespace berth
