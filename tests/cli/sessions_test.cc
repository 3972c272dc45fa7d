// Durable sessions by hand: start, send, keys, capture, logs, wait, kill, rm, rename, stats, ports.

#include <string>
#include <vector>

#include "absl/strings/strip.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tests/cli/cli_test.h"

namespace berth {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;
using Json = nlohmann::json;

using Sessions = CliTest;
using Logs = CliTest;
using JsonOutput = CliTest;
using Ports = CliTest;

std::vector<std::string> Keys(const Json& object) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : object.items()) keys.push_back(key);
  return keys;
}

TEST_F(Sessions, StartSendCaptureWaitRemove) {
  const Result started =
      Run({"start", "talk", "--", "sh", "-c", "read line; echo \"got $line\"; exit 6"});
  ASSERT_EQ(started.code, 0) << started.err;
  EXPECT_THAT(started.out, StartsWith("native:"));
  EXPECT_THAT(Run({"ls"}).out, HasSubstr("talk"));
  EXPECT_EQ(Run({"wait", "talk", "--timeout", "50ms"}).code, 124);
  EXPECT_EQ(Run({"send", "talk", "hello", "[there]", "--await", "written"}).code, 0);
  EXPECT_EQ(Run({"wait", "talk"}).code, 6);
  EXPECT_EQ(Run({"capture", "talk"}).out, "hello [there]\ngot hello [there]\n");
  EXPECT_EQ(Run({"capture", "talk", "-n", "1"}).out, "got hello [there]\n");
  EXPECT_THAT(Run({"ps"}).out, HasSubstr("exited (6)"));
  EXPECT_EQ(Run({"rm", "talk"}).code, 0);
  const Result empty = Run({"ls"});
  EXPECT_EQ(empty.out, "");
  EXPECT_THAT(empty.err, HasSubstr("no sessions"));
}

TEST_F(Sessions, AreAddressedByHandleToo) {
  const std::string handle(absl::StripSuffix(Run({"start", "one", "--", "cat"}).out, "\n"));
  EXPECT_EQ(Run({"rename", handle, "two"}).code, 0);
  EXPECT_EQ(Run({"send", "two", "--", "--text"}).code, 0);
  EXPECT_EQ(Run({"rm", handle}).code, 0);
  EXPECT_EQ(Run({"rm", "two"}).code, 125);
}

TEST_F(Sessions, TakeAMessageFromStdin) {
  ASSERT_EQ(Run({"start", "cat", "--pipes", "--", "sh", "-c", "head -c 300000 | wc -c"}).code, 0);
  EXPECT_EQ(Run({"send", "cat", "--submit", "none", "-"}, std::string(300000, 'x')).code, 0);
  EXPECT_EQ(Run({"wait", "cat"}).code, 0);
  EXPECT_EQ(Run({"logs", "cat"}).out, "300000\n");
}

TEST_F(Sessions, TakeKeysByName) {
  ASSERT_EQ(Run({"start", "keys", "--", "cat"}).code, 0);
  EXPECT_EQ(Run({"keys", "keys", "a", "b", "Enter", "C-d"}).code, 0);
  EXPECT_EQ(Run({"wait", "keys"}).code, 0);
  EXPECT_EQ(Run({"capture", "keys"}).out, "ab\nab\n");
  ASSERT_EQ(Run({"start", "more", "--", "cat"}).code, 0);
  const Result unknown = Run({"keys", "more", "Entr"});
  EXPECT_EQ(unknown.code, 2);
  EXPECT_THAT(unknown.err, HasSubstr("Entr"));
}

TEST_F(Sessions, AreKilledButStayForInspection) {
  ASSERT_EQ(Run({"start", "one", "--", "sh", "-c", "echo last words; sleep 1000"}).code, 0);
  ASSERT_EQ(Run({"start", "two", "--", "sh", "-c",
                 "trap 'exit 3' USR1; echo ready; while :; do sleep 1; done"})
                .code,
            0);
  EXPECT_EQ(Run({"kill", "one"}).code, 0);
  EXPECT_EQ(Run({"wait", "one"}).code, 143);
  EXPECT_EQ(Run({"capture", "one"}).out, "last words\n");
  Berth follow = Start({"logs", "-f", "two"});
  follow.Expect("ready");
  EXPECT_EQ(Run({"kill", "two", "--signal", "usr1"}).code, 0);
  EXPECT_EQ(Run({"wait", "two"}).code, 3);
  EXPECT_EQ(Run({"kill", "two", "--signal", "NONE"}).code, 2);
  EXPECT_EQ(Run({"rm", "--all"}).code, 0);
  EXPECT_EQ(follow.Wait(), 0);
  EXPECT_EQ(Run({"rm"}).code, 2);
}

TEST_F(Sessions, AStartThatFailsLeavesNothing) {
  const Result missing = Run({"start", "bad", "--", "no-such-program"});
  EXPECT_EQ(missing.code, 127);
  ASSERT_EQ(Run({"start", "good", "--", "cat"}).code, 0);
  const Result twice = Run({"start", "good", "--", "cat"});
  EXPECT_EQ(twice.code, 125);
  EXPECT_THAT(twice.err, HasSubstr("berth rm good"));
  EXPECT_EQ(Run({"start", "a/b", "--", "cat"}).code, 2);
  EXPECT_EQ(Json::parse(Run({"ls", "--json"}).out).size(), 1u);
}

TEST_F(Sessions, RunOnTheEngineThatWasAskedFor) {
  EXPECT_EQ(Run({"start", "pane", "--backend", "tmux", "--", "cat"}).code, 0);
  EXPECT_THAT(Run({"ls"}).out, HasSubstr("tmux"));
  EXPECT_EQ(Run({"send", "pane", "hello"}).code, 0);
  EXPECT_EQ(Run({"rm", "pane", "--grace", "0"}).code, 0);
  const Result none = Run({"start", "x", "--backend", "vax", "--", "cat"});
  EXPECT_EQ(none.code, 2);
  EXPECT_THAT(none.err, HasSubstr("tmux"));
  const Result flake = Run({"start", "x", "--flake", work_, "--", "cat"});
  EXPECT_EQ(flake.code, 125);
  EXPECT_THAT(flake.err, HasSubstr("flake.nix"));
}

TEST_F(Logs, ArePrintedAndFollowedAcrossTheEnd) {
  ASSERT_EQ(Run({"start", "job", "--pipes", "--", "sh", "-c",
                 "echo one; echo bad >&2; read x; echo two; read x; echo three"})
                .code,
            0);
  Berth follow = Start({"logs", "-f", "job"});
  follow.Expect("one\n");
  EXPECT_EQ(Run({"logs", "job"}).out, "one\n");
  EXPECT_EQ(Run({"send", "job", "go"}).code, 0);
  follow.Expect("two\n");
  EXPECT_EQ(Run({"send", "job", "go"}).code, 0);
  EXPECT_EQ(follow.Rest(), "three\n");
  EXPECT_EQ(follow.Wait(), 0);
  EXPECT_EQ(Run({"logs", "job", "--from", "4"}).out, "two\nthree\n");
  EXPECT_EQ(Run({"logs", "job", "--stderr"}).out, "bad\n");
}

TEST_F(Logs, EndWhenTheirReaderGoesAway) {
  ASSERT_EQ(Run({"start", "job", "--pipes", "--", "sh", "-c", "echo one; read x"}).code, 0);
  Berth follow = Start({"logs", "-f", "job"});
  follow.Expect("one\n");
  follow.out.reset();
  EXPECT_EQ(follow.Wait(), 125);
}

TEST_F(JsonOutput, HasTheDocumentedKeys) {
  const std::vector<std::string> session = {
      "attached", "backend",     "created", "cwd",  "durable",      "exit", "handle",
      "labels",   "last_output", "log",     "name", "output_bytes", "pid",  "state",
      "terminal", "tier",        "title",   "tree", "violations"};
  const std::vector<std::string> exit = {"code", "description", "exit_code", "reason", "signal"};
  const Json started = Json::parse(Run({"start", "web", "--json", "--", "sleep", "1000"}).out);
  EXPECT_EQ(Keys(started), session);
  const Json list = Json::parse(Run({"ls", "--json"}).out);
  ASSERT_EQ(list.size(), 1u);
  EXPECT_EQ(Keys(list[0]), session);
  EXPECT_EQ(list[0]["name"], "web");
  EXPECT_EQ(list[0]["state"], "running");
  EXPECT_EQ(list[0]["exit"], nullptr);
  EXPECT_EQ(list[0]["terminal"]["cols"], 80);
  const std::vector<std::string> stats = {"cpu_seconds", "memory_bytes", "name",       "processes",
                                          "read_bytes",  "source",       "write_bytes"};
  EXPECT_EQ(Keys(Json::parse(Run({"stats", "web", "--json"}).out)), stats);
  EXPECT_EQ(Keys(Json::parse(Run({"stats", "--json"}).out)[0]), stats);
  EXPECT_EQ(Json::parse(Run({"send", "web", "--json", "x"}).out)["delivery"], "submitted");
  EXPECT_EQ(Keys(Json::parse(Run({"capture", "web", "--json"}).out)),
            (std::vector<std::string>{"name", "text"}));
  const Json killed = Json::parse(Run({"kill", "web", "--json"}).out);
  EXPECT_EQ(Keys(killed["exit"]), exit);
  const Json waited = Json::parse(Run({"wait", "web", "--json"}).out);
  EXPECT_EQ(waited["exit"]["signal"], 15);
  EXPECT_EQ(waited["exit"]["code"], nullptr);
  EXPECT_EQ(waited["exit"]["exit_code"], 143);
  EXPECT_EQ(Json::parse(Run({"rename", "web", "old", "--json"}).out)["name"], "old");
  EXPECT_EQ(Json::parse(Run({"rm", "old", "--json"}).out)["removed"], Json::array({"old"}));
  EXPECT_EQ(Json::parse(Run({"ls", "--json"}).out), Json::array());
  EXPECT_EQ(Keys(Json::parse(Run({"version", "--json"}).out)), std::vector<std::string>{"version"});
}

TEST_F(Ports, AreFoundLeasedAndWaitedFor) {
  EXPECT_GT(std::stoi(Run({"ports", "free"}).out), 0);
  EXPECT_GT(std::stoi(Run({"ports", "lease", "--variable", "P", "--", "sh", "-c", "echo $P"}).out),
            0);
  EXPECT_EQ(Run({"ports", "wait", "1"}).code, 0);
  EXPECT_EQ(Run({"ports", "wait", "0"}).code, 2);
  EXPECT_EQ(Run({"ports"}).code, 2);
}

}  // namespace
}  // namespace berth
