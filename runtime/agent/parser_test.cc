// Scenario 23: streams as the formats' documentation describes them, read by the drivers.

#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/agent/driver.h"
#include "runtime/agent/event.h"
#include "runtime/agent/line_splitter.h"
#include "runtime/agent/usage.h"

namespace berth {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

using Kind = AgentEvent::Kind;
using Events = std::vector<AgentEvent>;

std::string Fixture(absl::string_view name) {
  std::ostringstream text;
  text << std::ifstream(absl::StrCat("runtime/agent/testdata/", name, ".jsonl")).rdbuf();
  EXPECT_NE(text.str(), "") << name;
  return text.str();
}

Events Parse(const AgentDriver& driver, absl::string_view text) {
  const std::unique_ptr<AgentParser> parser = driver.make_parser();
  LineSplitter splitter(0);
  Events events;
  splitter.Feed(text, [&](const LineSplitter::Line& line) { parser->Parse(line.text, &events); });
  return events;
}

Events Only(const Events& events, Kind kind) {
  Events some;
  for (const AgentEvent& event : events) {
    if (event.kind == kind) some.push_back(event);
  }
  return some;
}

Usage Tally(const Events& events) {
  UsageTally tally;
  for (const AgentEvent& event : Only(events, Kind::kUsage)) {
    tally.Add(event.message_id, event.usage);
  }
  return tally.total();
}

int Turns(const Events& events) {
  int turns = 0;
  for (const AgentEvent& event : events) turns += event.new_turn ? 1 : 0;
  return turns;
}

TEST(Claude, RepeatedMessageIdsAddUpToTheTotalsOfTheResult) {
  const Events events = Parse(ClaudeDriver(), Fixture("claude"));
  const Events results = Only(events, Kind::kResult);
  ASSERT_THAT(results, SizeIs(1));
  Usage told = results[0].usage;
  EXPECT_DOUBLE_EQ(told.cost_usd, 0.0421);
  told.cost_usd = 0;
  EXPECT_EQ(Tally(events), told);
  EXPECT_EQ(told.output, 228);
  EXPECT_GT(Only(events, Kind::kUsage).size(), 5u);
  EXPECT_EQ(results[0].turns, Turns(events));
  EXPECT_FALSE(results[0].is_error);
  EXPECT_EQ(results[0].text, "main is in a.c and returns 0.");
}

TEST(Claude, TellsWhatHappenedInOrder) {
  const Events events = Parse(ClaudeDriver(), Fixture("claude"));
  EXPECT_EQ(events[0].kind, Kind::kStarted);
  EXPECT_EQ(events[0].session_id, "0b6f1f6e-55b2-4ac8-9c11-5a3c8e6b7d01");
  EXPECT_EQ(events[0].model, "claude-sonnet-4-5");
  std::string pieces, whole;
  for (const AgentEvent& event : Only(events, Kind::kText)) {
    if (event.message_id != "msg_1") continue;
    (event.partial ? pieces : whole) += event.text;
  }
  EXPECT_EQ(pieces, "I will look at two files.");
  EXPECT_EQ(whole, pieces);
  const Events calls = Only(events, Kind::kToolCall), results = Only(events, Kind::kToolResult);
  ASSERT_THAT(calls, SizeIs(3));
  EXPECT_EQ(calls[0].tool_name, "Read");
  EXPECT_EQ(calls[0].text, R"({"file_path":"/project/a.c"})");
  EXPECT_EQ(calls[0].parent_id, "");
  EXPECT_EQ(calls[2].tool_name, "Bash");
  EXPECT_EQ(calls[2].parent_id, "toolu_2") << "of a sub-agent";
  ASSERT_THAT(results, SizeIs(3));
  EXPECT_EQ(results[0].text, "int main() { return 0; }\n");
  EXPECT_TRUE(results[1].is_error);
  EXPECT_EQ(results[2].text, "main is in a.c");
}

TEST(Claude, UnknownEventsAndOnesThatAreNotJsonAreRaw) {
  for (const absl::string_view line :
       {R"({"type":"a_type_of_next_year"})", R"({"type":7})", "[]", "null", "", "Hello!",
        "{\"type\":", R"({"type":"system","subtype":"compact_boundary"})",
        R"({"type":"user","message":{"content":"a plain prompt"}})"}) {
    const Events events = Parse(ClaudeDriver(), absl::StrCat(line, "\n"));
    ASSERT_THAT(events, SizeIs(1)) << line;
    EXPECT_EQ(events[0].kind, Kind::kRaw) << line;
  }
}

// anthropics/claude-code issue 49640: both halves are kept, neither is taken for something else.
TEST(Claude, AnEventWrittenIntoTheMiddleOfAnotherIsRaw) {
  const Events events =
      Parse(ClaudeDriver(),
            "{\"type\":\"assistant\",\"message\":{\"content\":[{\"type\":\"text\",\"text\":\"half"
            "{\"type\":\"rate_limit_event\",\"rate_limit_info\":{\"status\":\"rejected\"}}\nrest\"}"
            "]}}\n");
  ASSERT_THAT(events, SizeIs(2));
  EXPECT_EQ(events[0].kind, Kind::kRaw);
  EXPECT_EQ(events[1].kind, Kind::kRaw);
}

TEST(Claude, OnlyARejectedRequestIsAHardRateLimit) {
  const auto limit = [](absl::string_view info) {
    const Events events =
        Parse(ClaudeDriver(),
              absl::StrCat(R"({"type":"rate_limit_event","rate_limit_info":{)", info, "}}\n"));
    EXPECT_EQ(events[0].kind, Kind::kRateLimit);
    return events[0];
  };
  EXPECT_FALSE(limit(R"("status":"allowed","resetsAt":1784283600)").hard);
  EXPECT_FALSE(limit(R"("status":"allowed_warning","resetsAt":1784283600)").hard);
  EXPECT_FALSE(
      limit(R"("status":"rejected","isUsingOverage":true,"overageStatus":"allowed")").hard);
  const AgentEvent hard = limit(R"("status":"rejected","resetsAt":1784283600)");
  EXPECT_TRUE(hard.hard);
  EXPECT_EQ(hard.resets_at, absl::FromUnixSeconds(1784283600));
  EXPECT_EQ(limit(R"("status":"rejected","resetsAt":1784283600000)").resets_at, hard.resets_at);
  EXPECT_EQ(limit(R"("status":"rejected")").resets_at, absl::InfinitePast());
}

TEST(Claude, ARefusedResumeNamesItsReason) {
  const Events events =
      Parse(ClaudeDriver(),
            R"({"type":"result","subtype":"error_during_execution","is_error":true,"num_turns":0,)"
            R"("errors":["No conversation found with session ID: abc"]})"
            "\n");
  ASSERT_THAT(events, SizeIs(1));
  EXPECT_TRUE(events[0].is_error);
  EXPECT_THAT(events[0].text, HasSubstr("No conversation found with session ID: abc"));
}

TEST(Claude, AQuestionIsWaitingForAPerson) {
  const Events asked =
      Parse(ClaudeDriver(),
            R"({"type":"assistant","message":{"id":"m","content":[{"type":"tool_use","id":"t",)"
            R"("name":"AskUserQuestion","input":{"questions":[{"question":"Which?"}]}}]}})"
            "\n");
  ASSERT_THAT(asked, SizeIs(2));
  EXPECT_EQ(asked[0].kind, Kind::kToolCall);
  EXPECT_EQ(asked[1].kind, Kind::kWaiting);
  EXPECT_THAT(asked[1].text, HasSubstr("Which?"));
  const Events permission =
      Parse(ClaudeDriver(),
            R"({"type":"control_request","request":{"subtype":"can_use_tool","tool_name":"Bash"}})"
            "\n");
  EXPECT_EQ(permission[0].kind, Kind::kWaiting);
}

TEST(Claude, NestingThatWouldUseUpTheStackIsRaw) {
  std::string line = R"({"type":"assistant","message":{"content":[{"type":"tool_use","input":)";
  line += std::string(2'000'000, '[') + std::string(2'000'000, ']') + "}]}}\n";
  EXPECT_EQ(Parse(ClaudeDriver(), line)[0].kind, Kind::kRaw);
  // Brackets in a string are not nesting.
  const std::string text = R"({"type":"assistant","message":{"content":[{"type":"text","text":")" +
                           std::string(100'000, '[') + "\\\"{\"}]}}\n";
  EXPECT_EQ(Parse(ClaudeDriver(), text)[0].kind, Kind::kText);
}

TEST(Codex, UsageOfATurnIsThatOfTheThreadSoFar) {
  const Events events = Parse(CodexDriver(), Fixture("codex"));
  const Events results = Only(events, Kind::kResult);
  ASSERT_THAT(results, SizeIs(2));
  EXPECT_EQ(Tally(events), results.back().usage);
  EXPECT_EQ(results.back().usage, (Usage{.input = 1900, .output = 150, .cache_read = 48000}));
  EXPECT_EQ(results.back().turns, 2);
  EXPECT_EQ(Turns(events), 2);
  EXPECT_EQ(results.back().session_id, "0199a213-81c0-7800-8aa1-bbab2a035a53");
  EXPECT_EQ(results.back().text, "All done.");
}

TEST(Codex, TellsItemsAsToolsAndTexts) {
  const Events events = Parse(CodexDriver(), Fixture("codex"));
  const Events calls = Only(events, Kind::kToolCall), results = Only(events, Kind::kToolResult);
  ASSERT_THAT(calls, SizeIs(3));
  EXPECT_EQ(calls[0].text, R"({"command":"bash -lc ls"})");
  EXPECT_EQ(calls[1].tool_name, "file_change");
  EXPECT_EQ(calls[2].tool_name, "berth.list_ports");
  ASSERT_THAT(results, SizeIs(3));
  EXPECT_EQ(results[0].text, "docs\nsrc\n");
  EXPECT_FALSE(results[0].is_error);
  EXPECT_TRUE(results[2].is_error);
  EXPECT_EQ(results[2].text, "server gone");
  EXPECT_THAT(Only(events, Kind::kText), SizeIs(2));
  ASSERT_THAT(Only(events, Kind::kRateLimit), SizeIs(1));
}

TEST(Codex, AFailedTurnIsAnErrorAndAQuestionIsWaiting) {
  const Events failed =
      Parse(CodexDriver(), "{\"type\":\"turn.failed\",\"error\":{\"message\":\"model gone\"}}\n");
  ASSERT_THAT(failed, SizeIs(1));
  EXPECT_EQ(failed[0].kind, Kind::kResult);
  EXPECT_TRUE(failed[0].is_error);
  EXPECT_EQ(failed[0].text, "model gone");
  const Events asked = Parse(
      CodexDriver(), "{\"type\":\"request_user_input\",\"id\":\"1\",\"questions\":[\"Which?\"]}\n");
  EXPECT_EQ(asked[0].kind, Kind::kWaiting);
}

TEST(Gemini, ToldTotalsAreTheResult) {
  const Events events = Parse(GeminiDriver(), Fixture("gemini"));
  const Events results = Only(events, Kind::kResult);
  ASSERT_THAT(results, SizeIs(1));
  EXPECT_EQ(results[0].usage, (Usage{.input = 500, .output = 150, .cache_read = 800}));
  EXPECT_EQ(results[0].text, "There are a.c and b.c.");
  EXPECT_EQ(results[0].session_id, "5f3c7f6a-0d0c-4c8f-b0f6-1d2d6f4a9e10");
  EXPECT_EQ(results[0].turns, 3);
  EXPECT_EQ(Turns(events), 3);
}

TEST(Gemini, TellsToolsAndTheirErrors) {
  const Events events = Parse(GeminiDriver(), Fixture("gemini"));
  const Events calls = Only(events, Kind::kToolCall), results = Only(events, Kind::kToolResult);
  ASSERT_THAT(calls, SizeIs(2));
  EXPECT_EQ(calls[0].text, R"({"command":"ls"})");
  ASSERT_THAT(results, SizeIs(2));
  EXPECT_EQ(results[0].text, "a.c\nb.c");
  EXPECT_TRUE(results[1].is_error);
  EXPECT_EQ(results[1].text, "File not found");
}

TEST(Streams, ATornLastLineIsNotAnEvent) {
  for (const AgentDriver* driver : {&ClaudeDriver(), &CodexDriver(), &GeminiDriver()}) {
    const std::string whole = Fixture(driver->name);
    const size_t lines = static_cast<size_t>(std::count(whole.begin(), whole.end(), '\n'));
    const std::string torn = whole.substr(0, whole.size() - 1);
    LineSplitter splitter(0);
    size_t seen = 0;
    splitter.Feed(torn, [&](const LineSplitter::Line&) { ++seen; });
    EXPECT_EQ(seen, lines - 1);
    EXPECT_THAT(Only(Parse(*driver, torn), Kind::kResult).size() + 1,
                Only(Parse(*driver, whole), Kind::kResult).size());
  }
}

TEST(Drivers, AreFoundByTheirNamesExactly) {
  EXPECT_EQ((*FindAgentDriver("codex"))->program, "codex");
  EXPECT_THAT(FindAgentDriver("Claude").status().message(), HasSubstr("claude, codex, gemini"));
}

}  // namespace
}  // namespace berth
