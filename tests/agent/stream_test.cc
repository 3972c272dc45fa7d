// Scenarios 16 and 23 end to end: recorded streams, printed slowly, badly and too much.

#include <memory>
#include <string>

#include "absl/status/status_matchers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/agent/agent_run.h"
#include "runtime/agent/context.h"
#include "runtime/agent/event.h"
#include "runtime/agent/event_log.h"
#include "runtime/agent/result.h"
#include "runtime/agent/subscribers.h"
#include "runtime/agent/usage.h"
#include "tests/agent/agent_test.h"

namespace berth {
namespace {

using ::absl_testing::IsOk;
using ::testing::SizeIs;

using Kind = AgentEvent::Kind;

using Recorded = AgentTest;
using LongLine = AgentTest;
using Log = AgentTest;
using Subscribers = AgentTest;

TEST_F(Recorded, ClaudeTalliesToTheTotalsOfItsResult) {
  auto run = Start(Context("claude", "cat " + Fixture("claude")));
  const Events events = Finish(run.get());
  const AgentResult result = run->result();
  EXPECT_EQ(result.status, AgentStatus::kCompleted);
  EXPECT_EQ(result.turns, 2);
  EXPECT_EQ(result.usage, (Usage{.input = 70,
                                 .output = 228,
                                 .cache_creation = 600,
                                 .cache_read = 19100,
                                 .cost_usd = 0.0421}));
  Usage tallied = result.tallied;
  tallied.cost_usd = result.usage.cost_usd;
  EXPECT_EQ(tallied, result.usage);
  // Each message's usage is told once, and again only if it grew.
  EXPECT_THAT(Only(events, Kind::kUsage), SizeIs(4));
  // Every line is there as it was.
  std::string raw;
  for (const AgentEvent& event : events) {
    if (!event.raw.empty()) absl::StrAppend(&raw, event.raw, "\n");
  }
  EXPECT_EQ(raw, Bytes(Fixture("claude")));
}

TEST_F(Recorded, CodexAndGeminiLikewise) {
  auto codex = Start(Context("codex", "cat " + Fixture("codex")));
  Finish(codex.get());
  EXPECT_EQ(codex->result().status, AgentStatus::kCompleted);
  EXPECT_EQ(codex->result().usage, (Usage{.input = 1900, .output = 150, .cache_read = 48000}));
  EXPECT_EQ(codex->result().usage, codex->result().tallied);
  EXPECT_EQ(codex->result().turns, 2);
  auto gemini = Start(Context("gemini", "cat " + Fixture("gemini")));
  Finish(gemini.get());
  EXPECT_EQ(gemini->result().status, AgentStatus::kCompleted);
  EXPECT_EQ(gemini->result().usage, (Usage{.input = 500, .output = 150, .cache_read = 800}));
}

TEST_F(Recorded, PrintedByteByByteItIsTheSame) {
  auto run = Start(Context("claude", "dd bs=1 status=none if=" + Fixture("claude")));
  Finish(run.get());
  EXPECT_EQ(run->result().status, AgentStatus::kCompleted);
  EXPECT_EQ(run->result().usage.output, 228);
}

TEST_F(Recorded, WithATornEndTheTornLineIsNoEvent) {
  auto run = Start(Context("claude", "head -c -20 " + Fixture("claude")));
  const Events events = Finish(run.get());
  EXPECT_THAT(Only(events, Kind::kResult), SizeIs(0));
  EXPECT_EQ(run->result().reason, AgentEnd::kNoResult);
  EXPECT_GT(run->result().torn_bytes, 100);
  EXPECT_EQ(run->result().usage.output, 228) << "what was tallied until then";
  EXPECT_EQ(run->result().session_id, "0b6f1f6e-55b2-4ac8-9c11-5a3c8e6b7d01");
}

// {"type":"assistant",…,"text":"xxx…"} of so many MiB.
std::string PrintLongText(int megabytes) {
  return absl::StrCat(
      R"(printf '{"type":"assistant","message":{"id":"m","content":[{"type":"text","text":"')",
      "\n", "head -c ", megabytes << 20, " /dev/zero | tr '\\0' x\n", R"(printf '"}]}}\n')", "\n",
      Say(ClaudeResult("done")));
}

TEST_F(LongLine, Of15MegabytesIsAnEventLikeAnyOther) {
  auto run = Start(Context("claude", PrintLongText(15)));
  const Events events = Finish(run.get());
  const Events texts = Only(events, Kind::kText);
  ASSERT_THAT(texts, SizeIs(1));
  EXPECT_EQ(texts[0].text.size(), size_t{15} << 20);
  EXPECT_EQ(texts[0].truncated_bytes, 0);
  EXPECT_EQ(run->result().reason, AgentEnd::kSuccess);
}

TEST_F(LongLine, OfAHundredMegabytesToo) {
  auto run = Start(Context("claude", PrintLongText(100)));
  const Events events = Finish(run.get());
  const Events texts = Only(events, Kind::kText);
  ASSERT_THAT(texts, SizeIs(1));
  EXPECT_EQ(texts[0].text.size(), size_t{100} << 20);
  EXPECT_EQ(texts[0].truncated_bytes, 0);
  EXPECT_EQ(run->result().reason, AgentEnd::kSuccess);
}

TEST_F(LongLine, ThatIsNoEventIsKeptAndTheResultAfterItIsSeen) {
  auto run =
      Start(Context("claude", absl::StrCat("head -c ", 100 << 20, " /dev/zero | tr '\\0' x; echo\n",
                                           Say(ClaudeResult("done")))));
  const Events events = Finish(run.get());
  ASSERT_FALSE(events.empty());
  EXPECT_EQ(events[0].raw.size(), size_t{100} << 20);
  EXPECT_EQ(events[0].truncated_bytes, 0);
  EXPECT_EQ(run->result().reason, AgentEnd::kSuccess);
}

TEST_F(LongLine, AboveADeclaredLimitIsCutSaysSoAndLosesNothingAfterIt) {
  AgentContext context = Context("claude", PrintLongText(15));
  context.max_line = 1 << 20;
  auto run = Start(context);
  const Events events = Finish(run.get());
  ASSERT_FALSE(events.empty());
  EXPECT_EQ(events[0].kind, Kind::kRaw);
  EXPECT_EQ(events[0].raw.size(), size_t{1} << 20);
  EXPECT_GT(events[0].truncated_bytes, 14 << 20);
  EXPECT_EQ(run->result().reason, AgentEnd::kSuccess);
}

TEST_F(Log, HoldsTheSessionToResumeAsSoonAsItIsKnown) {
  auto run = Start(Context("claude", absl::StrCat(Say(ClaudeInit("s-77")), "sleep 1000")));
  Until(run.get(), Kind::kStarted);
  // As another process would find it if this one died now.
  auto reader = EventLogReader::Open(dir_, "fix");
  ASSERT_THAT(reader, IsOk());
  const auto event = (*reader)->Next();
  ASSERT_THAT(event, IsOk());
  ASSERT_TRUE(event->has_value());
  EXPECT_EQ((*event)->session_id, "s-77");
  EXPECT_FALSE((*reader)->abandoned());
}

TEST_F(Log, ReplaysTheWholeRunWithoutItsSecrets) {
  AgentContext context = Context(
      "claude", absl::StrCat(Say(ClaudeInit("s-1")), Say(ClaudeText("m", "key is hunter2222")),
                             Say(ClaudeResult("hunter2222"))));
  context.place.env.Set("MY_API_KEY", "hunter2222");
  context.prompt = "a prompt with private words";
  auto run = Start(context);
  const Events live = Finish(run.get());
  EXPECT_EQ(Only(live, Kind::kText)[0].text, "key is hunter2222");
  auto reader = EventLogReader::Open(dir_, run->run_id());
  ASSERT_THAT(reader, IsOk());
  size_t replayed = 0;
  while (true) {
    const auto event = (*reader)->Next();
    ASSERT_THAT(event, IsOk());
    if (!event->has_value()) break;
    EXPECT_EQ((*event)->kind, live[replayed].kind);
    EXPECT_EQ((*event)->sequence, live[replayed].sequence);
    ++replayed;
  }
  EXPECT_EQ(replayed, live.size());
  ASSERT_TRUE((*reader)->end().has_value());
  EXPECT_EQ((*reader)->end()->usage, run->result().usage);
  EXPECT_EQ((*reader)->end()->reason, AgentEnd::kSuccess);
  const std::string bytes = Bytes(absl::StrCat(dir_, "/agents/", run->run_id(), ".jsonl"));
  EXPECT_EQ(bytes.find("hunter"), std::string::npos);
  EXPECT_EQ(bytes.find("private words"), std::string::npos);
}

TEST_F(Subscribers, ThatLagAreToldWhatTheyMissed) {
  AgentContext context = Context(
      "claude",
      absl::StrCat("seq -f '{\"type\":\"x\",\"n\":%g}' 1 500\n", Say(ClaudeResult("done"))));
  context.fan_out.max_events = 10;
  auto run = Start(context);
  auto slow = *run->Subscribe(1);
  Finish(run.get());
  const auto gap = slow->Next();
  ASSERT_TRUE(gap.has_value());
  EXPECT_EQ(gap->missed_first, 1);
  EXPECT_EQ(gap->missed_last, 491);
  int rest = 0;
  while (slow->Next().has_value()) ++rest;
  EXPECT_EQ(rest, 10);
  EXPECT_TRUE(slow->ended());
}

}  // namespace
}  // namespace berth
