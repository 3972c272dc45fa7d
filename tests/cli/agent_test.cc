// berth agent run, events and usage, with stand-ins for agents.

#include <signal.h>
#include <sys/stat.h>

#include <fstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tests/cli/cli_test.h"

namespace berth {
namespace {

using ::testing::HasSubstr;

using Json = nlohmann::json;

constexpr char kStream[] =
    R"({"type":"system","subtype":"init","session_id":"s-1","model":"m"}
{"type":"assistant","message":{"id":"m1","content":[{"type":"text","text":"hello"}],"usage":{"input_tokens":3,"output_tokens":4}}}
{"type":"result","subtype":"success","num_turns":1,"result":"done","session_id":"s-1","total_cost_usd":0.5,"usage":{"input_tokens":3,"output_tokens":4}}
)";

class AgentCommand : public CliTest {
 protected:
  // A program that prints the stream; `then` is a line of shell after it.
  std::string StandIn(const std::string& then = "") {
    std::ofstream(work_ + "/stream") << kStream;
    const std::string path = work_ + "/agent";
    std::ofstream(path) << "#!/bin/sh\ncat >" << work_ << "/prompt\ncat " << work_ << "/stream\n"
                        << then << "\n";
    EXPECT_EQ(chmod(path.c_str(), 0755), 0);
    return path;
  }
  std::string Prompt() const {
    std::string text;
    std::getline(std::ifstream(work_ + "/prompt"), text, '\0');
    return text;
  }
};

TEST_F(AgentCommand, RunShowsWhatHappensAndHowItEnded) {
  const Result result =
      Run({"agent", "run", "claude", "--command", StandIn(), "fix", "it", "--", "--now"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("hello\n"));
  EXPECT_THAT(result.err, HasSubstr("completed (success), 1 turns, 3 in, 4 out"));
  EXPECT_THAT(result.err, HasSubstr("session s-1"));
  EXPECT_EQ(Prompt(), "fix it --now");
}

TEST_F(AgentCommand, WhatAnAgentSaysIsNoCommandToATerminal) {
  const Result result =
      Run({"agent", "run", "claude", "--command",
           StandIn(R"(printf '%s\n' '{"type":"assistant","message":{"id":"m2","content":[)"
                   R"({"type":"text","text":"one\u001b]0;owned\u0007\n\ttwo"}]}}')"),
           "go"});
  EXPECT_THAT(result.out, HasSubstr("one ]0;owned \n\ttwo\n"));
  EXPECT_EQ(result.out.find('\x1b'), result.out.npos);
}

TEST_F(AgentCommand, RunUnderAPolicySeesItsProjectAndNothingElse) {
  const std::string project = work_ + "/project", path = project + "/agent";
  ASSERT_EQ(mkdir(project.c_str(), 0755), 0);
  std::ofstream(work_ + "/secret") << "a secret";
  std::ofstream(project + "/stream") << kStream;
  std::ofstream(path) << "#!/bin/sh\ncat >prompt; cat " << work_
                      << "/secret >found 2>&1; cat stream\n";
  ASSERT_EQ(chmod(path.c_str(), 0755), 0);
  const Result result = Run({"agent", "run", "claude", "--command", path, "--cwd", project,
                             "--preset", "agent", "--net", "none", "--mem", "512M", "fix", "it"});
  EXPECT_EQ(result.code, 0) << result.err;
  std::string found;
  std::getline(std::ifstream(project + "/found"), found);
  EXPECT_THAT(found, HasSubstr("No such file"));
  EXPECT_EQ(Run({"agent", "run", "claude", "--command", path, "--cwd", project, "--preset", "agent",
                 "--mcp-port", "3001", "go"})
                .code,
            2)
      << "an MCP server that it could not reach";
  EXPECT_EQ(Run({"agent", "run", "claude", "--backend", "vmware", "go"}).code, 2);
}

TEST_F(AgentCommand, RunTakesItsPromptFromStandardInput) {
  EXPECT_EQ(Run({"agent", "run", "claude", "--command", StandIn(), "-"}, "line 1\nline 2").code, 0);
  EXPECT_EQ(Prompt(), "line 1\nline 2");
}

TEST_F(AgentCommand, RunAsJsonIsOneEventALineAndTheResult) {
  const Result result = Run({"agent", "run", "--json", "claude", "--command", StandIn(), "go"});
  std::vector<Json> lines;
  for (const auto line : absl::StrSplit(result.out, '\n', absl::SkipEmpty())) {
    lines.push_back(Json::parse(std::string(line)));
  }
  ASSERT_EQ(lines.size(), 5u) << result.out << result.err;
  EXPECT_EQ(lines[0]["kind"], "started");
  EXPECT_EQ(lines[1]["text"], "hello");
  EXPECT_EQ(lines[3]["kind"], "result");
  EXPECT_EQ(lines[4]["kind"], "end");
  EXPECT_EQ(lines[4]["result"]["status"], "completed");
  EXPECT_EQ(lines[4]["result"]["usage"]["cost_usd"], 0.5);
}

TEST_F(AgentCommand, RunTellsFailuresByItsCode) {
  EXPECT_EQ(Run({"agent", "run", "claude", "--command", "/bin/false", "go"}).code, 1);
  EXPECT_EQ(Run({"agent", "run", "claude", "--command", "/no/such/thing", "go"}).code, 127);
  EXPECT_EQ(Run({"agent", "run", "claude", "--command", "/bin/false"}).code, 2) << "no prompt";
  EXPECT_EQ(Run({"agent", "run", "clod", "go"}).code, 125);
  const std::string silent = work_ + "/silent";
  std::ofstream(silent) << "#!/bin/sh\nexec sleep 1000\n";
  ASSERT_EQ(chmod(silent.c_str(), 0755), 0);
  EXPECT_EQ(
      Run({"agent", "run", "claude", "--command", silent, "--inactivity", "300ms", "go"}).code,
      124);
}

TEST_F(AgentCommand, RunEndsItsAgentWhenItIsInterrupted) {
  const std::string path = work_ + "/waits";
  std::ofstream(path) << "#!/bin/sh\nhead -1 " << work_ << "/stream\nexec sleep 1000\n";
  ASSERT_EQ(chmod(path.c_str(), 0755), 0);
  StandIn();
  Berth berth = Start({"agent", "run", "claude", "--command", path, "go"});
  berth.Expect("started");
  berth.Signal(SIGINT);
  EXPECT_EQ(berth.Wait(), 130);
  EXPECT_EQ(Run({"ls"}).out, "");
}

TEST_F(AgentCommand, EventsAndUsageTellOfARunAfterwards) {
  ASSERT_EQ(Run({"agent", "run", "--name", "fix", "claude", "--command", StandIn(), "go"}).code, 0);
  EXPECT_THAT(Run({"agent", "events", "fix"}).out, HasSubstr("hello\n"));
  EXPECT_THAT(Run({"agent", "events", "-f", "--json", "fix"}).out, HasSubstr(R"("kind":"end")"));
  const Json usage = Json::parse(Run({"agent", "usage", "--json", "fix"}).out);
  EXPECT_EQ(usage["status"], "completed");
  EXPECT_EQ(usage["output"], 4);
  EXPECT_EQ(usage["cost_usd"], 0.5);
  EXPECT_EQ(Json::parse(Run({"agent", "usage", "--json"}).out).size(), 1u);
  EXPECT_THAT(Run({"agent", "usage"}).out, HasSubstr("$0.5000"));
  EXPECT_EQ(Run({"agent", "events", "fi"}).code, 125);
}

TEST_F(AgentCommand, EventsFollowARunThatGoesOn) {
  const std::string path = work_ + "/waits";
  std::ofstream(path) << "#!/bin/sh\nhead -2 " << work_ << "/stream\nread x <" << work_
                      << "/go\ntail -1 " << work_ << "/stream\n";
  ASSERT_EQ(chmod(path.c_str(), 0755), 0);
  StandIn();
  ASSERT_EQ(mkfifo((work_ + "/go").c_str(), 0600), 0);
  Berth run = Start({"agent", "run", "--name", "fix", "claude", "--command", path, "go"});
  run.Expect("hello");
  Berth follower = Start({"agent", "events", "-f", "fix"});
  follower.Expect("hello\n");
  std::ofstream(work_ + "/go") << "go\n";
  EXPECT_EQ(run.Wait(), 0);
  EXPECT_EQ(follower.Wait(), 0);
}

}  // namespace
}  // namespace berth
