// docs/agents.md on adding an agent: its example is a file of the tree, and runs.

#include <filesystem>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/agent/agent_run.h"
#include "runtime/agent/context.h"
#include "runtime/agent/event.h"
#include "runtime/agent/event_log.h"
#include "runtime/agent/result.h"
#include "runtime/agent/toy_driver.h"
#include "runtime/agent/usage.h"
#include "tests/agent/agent_test.h"

namespace berth {
namespace {

using ::testing::SizeIs;

using Kind = AgentEvent::Kind;

using ADriverOfTheCallersOwn = AgentTest;

TEST_F(ADriverOfTheCallersOwn, RunsLikeAnyOther) {
  AgentContext context = Context(
      "", absl::StrCat("printf '%s ' \"$@\" >args; cat >prompt\n",
                       Say(R"({"event":"hello","session":"t-1"})"),
                       Say(R"({"event":"say","id":"m1","text":"hi","tokens":{"in":9,"out":2}})"),
                       Say(R"({"event":"news"})"), Say(R"({"event":"bye","failed":false})")));
  context.driver = &ToyDriver();
  auto run = Start(context);
  ASSERT_NE(run, nullptr);
  const Events events = Finish(run.get());
  const AgentResult result = run->result();
  EXPECT_EQ(result.reason, AgentEnd::kSuccess);
  EXPECT_EQ(result.text, "hi");
  EXPECT_EQ(result.session_id, "t-1");
  EXPECT_EQ(result.usage, (Usage{.input = 9, .output = 2}));
  EXPECT_EQ(result.turns, 1);
  EXPECT_THAT(Only(events, Kind::kRaw), SizeIs(1));
  EXPECT_EQ(Bytes(work_ + "/args"), "run --json ");
  EXPECT_EQ(Bytes(work_ + "/prompt"), "do it");
  EXPECT_EQ((*EventLogReader::Open(dir_, run->run_id()))->header().agent, "toy");
}

TEST_F(ADriverOfTheCallersOwn, IsResumedAsItsTableSays) {
  AgentContext context = Context(
      "", absl::StrCat("case \"$*\" in *--session*) echo \"$*\" >args; echo 'no such session' >&2; "
                       "exit 1;; esac\n",
                       Say(R"({"event":"bye"})")));
  context.driver = &ToyDriver();
  context.resume = "t-0";
  auto run = Start(context);
  Finish(run.get());
  EXPECT_EQ(run->status(), AgentStatus::kCompleted);
  EXPECT_TRUE(run->result().resume_refused);
  EXPECT_EQ(Bytes(work_ + "/args"), "run --json --session t-0\n");
}

TEST_F(ADriverOfTheCallersOwn, IsWrittenAsTheDocumentShowsIt) {
  const std::string code = Bytes("runtime/agent/toy_driver.cc");
  ASSERT_NE(code, "");
  // A runfile is a link into the tree.
  const std::filesystem::path tree =
      std::filesystem::canonical("runtime/agent/toy_driver.cc").parent_path() / "../..";
  const std::string document = Bytes(tree / "docs/agents.md");
  EXPECT_TRUE(absl::StrContains(document, absl::StrCat("```cpp\n", code, "```\n")))
      << "docs/agents.md does not have runtime/agent/toy_driver.cc as it is";
}

}  // namespace
}  // namespace berth
