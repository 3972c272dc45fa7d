#include "tests/agent/agent_test.h"

#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "runtime/agent/agent_run.h"
#include "runtime/agent/context.h"
#include "runtime/agent/event.h"

namespace berth {

std::string AgentTest::Script(absl::string_view name, absl::string_view lines) {
  const std::string path = absl::StrCat(work_, "/", name);
  std::ofstream(path) << "#!/bin/sh\n" << lines << "\n";
  EXPECT_EQ(chmod(path.c_str(), 0755), 0);
  return path;
}

std::string AgentTest::Fixture(absl::string_view agent) const {
  return std::filesystem::absolute(absl::StrCat("runtime/agent/testdata/", agent, ".jsonl"));
}

AgentContext AgentTest::Context(absl::string_view agent, absl::string_view script) {
  AgentContext context;
  context.agent = agent;
  context.command = Script("agent", script);
  context.prompt = "do it";
  context.place.name = "fix";
  context.place.cwd = work_;
  context.inactivity = absl::Seconds(60);
  context.state_dir = dir_;
  return context;
}

std::unique_ptr<AgentRun> AgentTest::Start(AgentContext context) {
  absl::StatusOr<std::unique_ptr<AgentRun>> run =
      AgentRun::Start(runtime_.get(), std::move(context));
  EXPECT_TRUE(run.ok()) << run.status();
  return run.ok() ? *std::move(run) : nullptr;
}

AgentTest::Events AgentTest::Finish(AgentRun* run) {
  Events events;
  const absl::Time deadline = absl::Now() + absl::Seconds(100);
  while (!run->finished() && absl::Now() < deadline) {
    absl::StatusOr<std::optional<AgentEvent>> event = run->Next(deadline);
    EXPECT_TRUE(event.ok()) << event.status();
    if (!event.ok()) break;
    if (event->has_value()) events.push_back(**std::move(event));
  }
  EXPECT_TRUE(run->finished());
  return events;
}

AgentTest::Events AgentTest::Until(AgentRun* run, AgentEvent::Kind kind) {
  Events events;
  const absl::Time deadline = absl::Now() + absl::Seconds(60);
  while (!run->finished() && absl::Now() < deadline) {
    absl::StatusOr<std::optional<AgentEvent>> event = run->Next(deadline);
    EXPECT_TRUE(event.ok()) << event.status();
    if (!event.ok()) break;
    if (!event->has_value()) continue;
    events.push_back(**std::move(event));
    if (events.back().kind == kind) return events;
  }
  ADD_FAILURE() << "no event " << AgentEventKindName(kind) << " came";
  return events;
}

AgentTest::Events AgentTest::Only(const Events& events, AgentEvent::Kind kind) {
  Events some;
  for (const AgentEvent& event : events) {
    if (event.kind == kind) some.push_back(event);
  }
  return some;
}

std::string AgentTest::Bytes(const std::string& path) const {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

std::string ClaudeInit(absl::string_view session) {
  return absl::StrCat(R"({"type":"system","subtype":"init","session_id":")", session,
                      R"(","model":"m"})");
}

std::string ClaudeText(absl::string_view id, absl::string_view text) {
  return absl::StrCat(R"({"type":"assistant","message":{"id":")", id,
                      R"(","content":[{"type":"text","text":")", text,
                      R"("}],"usage":{"input_tokens":10,"output_tokens":5}}})");
}

std::string ClaudeResult(absl::string_view text) {
  return absl::StrCat(
      R"({"type":"result","subtype":"success","is_error":false,"num_turns":1,"result":")", text,
      R"(","session_id":"s-1","total_cost_usd":0.25,)"
      R"("usage":{"input_tokens":10,"output_tokens":5}})");
}

std::string Say(absl::string_view line) { return absl::StrCat("printf '%s\\n' '", line, "'\n"); }

}  // namespace berth
