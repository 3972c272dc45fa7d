// The same agents on every engine, free and under a policy.

#include <filesystem>
#include <fstream>
#include <memory>
#include <ostream>
#include <string>

#include "absl/status/status.h"
#include "absl/status/status_matchers.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/agent/agent_run.h"
#include "runtime/agent/context.h"
#include "runtime/agent/event.h"
#include "runtime/agent/result.h"
#include "sandbox/policy.h"
#include "tests/agent/agent_test.h"
#include "tests/environment/engine_place.h"

namespace berth {
namespace {

namespace fs = std::filesystem;
using ::absl_testing::StatusIs;
using ::testing::HasSubstr;
using ::testing::SizeIs;

using Kind = AgentEvent::Kind;

struct Place {
  const char* name;
  const char* backend;
  bool policy;
  friend std::ostream& operator<<(std::ostream& out, const Place& place) {
    return out << place.name;
  }
};

class OnEveryEngine : public AgentTest, public testing::WithParamInterface<Place> {
 protected:
  void SetUp() override {
    const absl::Status engine = EnginePlace::StartEngine(backend());
    if (absl::IsFailedPrecondition(engine)) GTEST_SKIP() << engine.message();
    ASSERT_TRUE(engine.ok()) << engine;
    AgentTest::SetUp();
    place_ = std::make_unique<EnginePlace>(backend(), work_);
    project_ = place_->project();
  }
  void TearDown() override {
    place_.reset();
    AgentTest::TearDown();
  }

  std::string backend() const { return GetParam().backend; }
  bool on_terminal() const { return backend() == "tmux"; }

  AgentContext ContextHere(absl::string_view agent, absl::string_view script) {
    AgentContext context = Context(agent, script);
    const std::string command = project_ + "/agent";
    fs::rename(context.command, command);
    context.command = command;
    place_->Complete(&context.place);
    if (GetParam().policy) {
      absl::StatusOr<Policy> policy =
          (backend() == "docker" ? Policy::Strict().ReadWrite(project_) : Policy::Agent(project_))
              .Build();
      EXPECT_TRUE(policy.ok()) << policy.status();
      context.place.policy = *policy;
    }
    return context;
  }

  std::string project_;
  std::unique_ptr<EnginePlace> place_;
};

INSTANTIATE_TEST_SUITE_P(
    All, OnEveryEngine,
    testing::Values(Place{"native", "native", false}, Place{"nativeUnderAPolicy", "native", true},
                    Place{"tmux", "tmux", false}, Place{"tmuxUnderAPolicy", "tmux", true},
                    Place{"docker", "docker", false}, Place{"dockerUnderAPolicy", "docker", true},
                    Place{"nix", "nix", false}, Place{"nixUnderAPolicy", "nix", true}),
    [](const auto& param) { return std::string(param.param.name); });

TEST_P(OnEveryEngine, ARunGoesToItsEndAndSaysWhatItDid) {
  AgentContext context = ContextHere(
      "claude", absl::StrCat("cat >prompt; echo \"${V-}\" >variable; env >environment\n",
                             Say(ClaudeInit("s-1")), Say(ClaudeText("m1", "hi")),
                             "echo 'not an event' >&2\n", Say(ClaudeResult("done"))));
  // More than one variable or a terminal's line can hold, and words that a shell would take amiss.
  context.prompt = "$HOME `id` \"quoted\" 'too' \\\nEND\n";
  for (int i = 0; i < 20'000; ++i) absl::StrAppend(&context.prompt, "line ", i, "\r\n");
  context.place.env.Set("API_TOKEN", "hunter2222");
  auto run = Start(context);
  ASSERT_NE(run, nullptr);
  const Events events = Finish(run.get());
  const AgentResult result = run->result();
  EXPECT_EQ(result.reason, AgentEnd::kSuccess) << result.detail;
  EXPECT_EQ(result.text, "done");
  EXPECT_EQ(result.session_id, "s-1");
  EXPECT_EQ(result.exit.code, 0);
  EXPECT_EQ(result.usage.output, 5);
  EXPECT_EQ(result.torn_bytes, 0);
  ASSERT_THAT(Only(events, Kind::kText), SizeIs(1));
  EXPECT_EQ(Only(events, Kind::kText)[0].raw, ClaudeText("m1", "hi"));
  const Events raw = Only(events, Kind::kRaw);
  ASSERT_THAT(raw, SizeIs(1));
  EXPECT_EQ(raw[0].raw, "not an event");
  EXPECT_EQ(raw[0].from_stderr, !on_terminal());
  EXPECT_TRUE(Bytes(project_ + "/prompt") == context.prompt + (on_terminal() ? "\n" : ""));
  EXPECT_EQ(Bytes(project_ + "/variable"), backend() == "nix" ? "nix\n" : "\n");
  EXPECT_EQ(Bytes(project_ + "/environment").find("BERTH_PROMPT"), std::string::npos);
  EXPECT_TRUE(runtime_->List()->empty());
}

TEST_P(OnEveryEngine, ARefusedResumeFallsBackToAFreshStart) {
  AgentContext context = ContextHere(
      "gemini",
      absl::StrCat("case \"$*\" in *--resume*) echo 'Error resuming session: Invalid session "
                   "identifier \"old\".' >&2; exit 42;; esac\ncat stream\n"));
  fs::copy_file(Fixture("gemini"), project_ + "/stream");
  context.resume = "old";
  auto run = Start(context);
  Finish(run.get());
  EXPECT_EQ(run->status(), AgentStatus::kCompleted) << run->result().detail;
  EXPECT_TRUE(run->result().resume_refused);
}

TEST_P(OnEveryEngine, AStopEndsTheWholeTree) {
  auto run = Start(ContextHere(
      "claude", absl::StrCat(Say(ClaudeInit("s")),
                             "setsid sh -c 'trap \"\" TERM HUP; sleep 1000' &\nsleep 1000\n")));
  Until(run.get(), Kind::kStarted);
  run->Stop();
  Finish(run.get());
  EXPECT_EQ(run->result().reason, AgentEnd::kStopped);
  EXPECT_TRUE(runtime_->List()->empty());
}

TEST_P(OnEveryEngine, AResultButNoExitIsEndedAfterTheGrace) {
  AgentContext context = ContextHere(
      "claude", absl::StrCat(Say(ClaudeInit("s")), Say(ClaudeResult("done")), "sleep 1000\n"));
  context.result_grace = absl::Milliseconds(200);
  auto run = Start(context);
  Until(run.get(), Kind::kResult);
  EXPECT_EQ(run->status(), AgentStatus::kCompleted);
  Finish(run.get());
  EXPECT_EQ(run->result().reason, AgentEnd::kSuccess);
  EXPECT_TRUE(runtime_->List()->empty());
}

TEST_P(OnEveryEngine, ItsPolicyHolds) {
  if (!GetParam().policy) return;  // there is nothing to hold
  std::ofstream(work_ + "/secret") << "of another project\n";
  auto run = Start(ContextHere(
      "claude", absl::StrCat("cat ", work_, "/secret >found 2>&1\necho x >/usr/x 2>>found\n",
                             Say(ClaudeResult("done")))));
  ASSERT_NE(run, nullptr);
  Finish(run.get());
  EXPECT_EQ(run->status(), AgentStatus::kCompleted) << run->result().detail;
  EXPECT_THAT(Bytes(project_ + "/found"), HasSubstr("No such file"));
  EXPECT_EQ(Bytes(project_ + "/found").find("another project"), std::string::npos);
  EXPECT_FALSE(fs::exists("/usr/x"));
}

TEST_P(OnEveryEngine, AnMcpServerThatItCouldNotReachIsRefused) {
  AgentContext context = ContextHere("claude", Say(ClaudeResult("done")));
  context.mcp_port = 3001;
  if (!GetParam().policy && backend() != "docker") {
    auto run = Start(context);
    Finish(run.get());
    EXPECT_EQ(run->status(), AgentStatus::kCompleted);
    return;
  }
  EXPECT_THAT(AgentRun::Start(runtime_.get(), context),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("port 3001")));
}

}  // namespace
}  // namespace berth
