// Scenario 33, containers tell the truth; 29, their labels; and what a container is made from.

#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/status_matchers.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "runtime/runtime.h"
#include "runtime/session.h"
#include "runtime/spec.h"
#include "sandbox/policy.h"
#include "tests/docker/docker_test.h"

namespace berth {
namespace {

using ::absl_testing::IsOk;
using ::absl_testing::IsOkAndHolds;
using ::absl_testing::StatusIs;
using ::testing::HasSubstr;
using ::testing::Not;

class Ends : public DockerTest {};
class Made : public DockerTest {};
class Execs : public DockerTest {};

TEST_F(Ends, ACodeOf137IsNotASignal) {
  auto code = Start("code", "exit 137");
  auto killed = Start("killed", "kill -9 $$");
  ASSERT_TRUE(code != nullptr && killed != nullptr);
  EXPECT_THAT(code->Wait(Soon()), IsOkAndHolds(ExitStatus{137, 0, EndReason::kExited}));
  EXPECT_THAT(killed->Wait(Soon()), IsOkAndHolds(ExitStatus{0, SIGKILL, EndReason::kSignaled}));
}

TEST_F(Ends, WantOfMemoryIsTheReason) {
  auto policy = Policy::Strict().Memory(32 << 20).Build();
  ASSERT_THAT(policy, IsOk());
  auto session = Start("greedy", "tail /dev/zero", {.policy = *policy});
  ASSERT_NE(session, nullptr);
  auto end = session->Wait(Soon());
  ASSERT_THAT(end, IsOk());
  // The shell may have executed it in its own place, or tells the signal as a code.
  EXPECT_EQ(end->reason, EndReason::kOom) << Describe(*end);
}

TEST_F(Ends, AContainerKilledBehindOurBackIsToldAsKilled) {
  auto session = Start("victim", "cat");
  ASSERT_NE(session, nullptr);
  Docker("kill " + Container(*session));
  EXPECT_THAT(session->Wait(Soon()), IsOkAndHolds(ExitStatus{0, SIGKILL, EndReason::kStopped}));
}

TEST_F(Ends, ARemovedContainerIsAnEndedSession) {
  auto session = Start("victim", "cat");
  ASSERT_NE(session, nullptr);
  Docker("rm -f " + Container(*session));
  ASSERT_THAT(session->Wait(Soon()), IsOk());
  EXPECT_EQ(session->CheckLiveness().liveness, Liveness::kDead);
  EXPECT_THAT(session->Destroy(absl::ZeroDuration()), IsOk());
}

TEST_F(Ends, AStoppedOneIsContinuedAndStopped) {
  auto session = Start("frozen", "kill -STOP $$; cat");
  ASSERT_NE(session, nullptr);
  auto end = session->Stop(absl::Seconds(20));
  ASSERT_THAT(end, IsOk());
  EXPECT_EQ(end->reason, EndReason::kStopped);
}

TEST_F(Ends, AFailedStartLeavesNoContainer) {
  EXPECT_THAT(Create({.name = "a", .command = Command::Argv({"/no/such/program"})}),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("/no/such/program")));
  EXPECT_THAT(Create({.name = "b", .command = Command::Argv({"/etc/passwd"})}),
              StatusIs(absl::StatusCode::kPermissionDenied));
  EXPECT_THAT(Create({.name = "c", .command = Command::Argv({"true"}), .cwd = "/nowhere"}),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("/nowhere")));
  EXPECT_THAT(
      Create({.name = "d",
              .command = Command::Argv({"true"}),
              .container = {.image = "no-such-image:1", .pull = ContainerSpec::Pull::kNever}}),
      StatusIs(absl::StatusCode::kNotFound, HasSubstr("no-such-image")));
  EXPECT_THAT(Create({.name = "e",
                      .command = Command::Argv({"true"}),
                      .container = {.user = "nobody-of-that-name"}}),
              Not(IsOk()));
  EXPECT_EQ(Docker("ps -aq"), "");
  EXPECT_THAT(runtime_->List(), IsOkAndHolds(testing::IsEmpty()));
}

TEST_F(Ends, TheLeaderEndsTheSessionAndADaemonThatHoldsItsOutputWithIt) {
  auto session = Start("leader", "(setsid sleep 1000 &) ; echo done; exit 5", {.pty = false});
  ASSERT_NE(session, nullptr);
  EXPECT_THAT(session->Wait(Soon()), IsOkAndHolds(ExitStatus{5, 0, EndReason::kExited}));
  EXPECT_EQ(Everything(*session), "done\n");
}

TEST_F(Ends, AWaitingContainerHasNoProgramButExecs) {
  auto session = Create({.name = "pause", .pty = false});
  ASSERT_THAT(session, IsOk());
  auto process = (*session)->Exec({.command = Command::Shell("echo in; exit 6")});
  ASSERT_THAT(process, IsOk());
  auto out = (*process)->TakeStdout();
  ASSERT_THAT(out, IsOk());
  EXPECT_EQ(ReadAll(out->get()), "in\n");
  EXPECT_THAT((*process)->Wait(Soon()), IsOkAndHolds(ExitStatus{6, 0, EndReason::kExited}));
  EXPECT_THAT((*session)->Stop(absl::Seconds(20)), IsOk());
}

TEST_F(Execs, ACancelledOneLeavesNoProcessInside) {
  auto session = Start("place", "cat");
  ASSERT_NE(session, nullptr);
  const std::string id = Container(*session);
  {
    auto process = session->Exec(
        {.command = Command::Shell("(setsid sleep 4321 &); (trap '' TERM; sleep 4321) & echo up; "
                                   "sleep 4321")});
    ASSERT_THAT(process, IsOk());
    auto out = (*process)->TakeStdout();
    ASSERT_THAT(out, IsOk());
    ReadUntil(out->get(), "up");
    EXPECT_THAT(Docker("top " + id), HasSubstr("sleep 4321"));
  }
  EXPECT_THAT(Docker("top " + id), Not(HasSubstr("sleep 4321")));
  EXPECT_EQ(session->CheckLiveness().liveness, Liveness::kAlive);
}

TEST_F(Execs, ItsOutsideKilledEndsItsTree) {
  auto session = Start("place", "cat");
  ASSERT_NE(session, nullptr);
  const std::string id = Container(*session);
  auto process = session->Exec({.command = Command::Shell("echo up; sleep 4321")});
  ASSERT_THAT(process, IsOk());
  auto out = (*process)->TakeStdout();
  ASSERT_THAT(out, IsOk());
  ReadUntil(out->get(), "up");
  // The relay's own KILL, not the program's: found by its arguments, of which the mode is the
  // second.
  int killed = 0;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", error)) {
    int pid = 0;
    if (!absl::SimpleAtoi(entry.path().filename().string(), &pid)) continue;
    std::ifstream file(entry.path().string() + "/cmdline");
    const std::string line(std::istreambuf_iterator<char>(file), {});
    const std::vector<std::string> words = absl::StrSplit(line, '\0');
    if (words.size() < 6 || words[1] != "relay-exec" || words[4] != id) continue;
    kill(pid, SIGKILL);
    ++killed;
  }
  ASSERT_EQ(killed, 1);
  ASSERT_THAT((*process)->Wait(Soon()), IsOk());
  // It ends when it sees that; a second exec waits for that inside.
  auto check = session->Exec(
      {.command = Command::Shell("while ps | grep -q '[s]leep 4321'; do sleep 0.1; done")});
  ASSERT_THAT(check, IsOk());
  EXPECT_THAT((*check)->Wait(Soon()), IsOkAndHolds(ExitStatus{0, 0, EndReason::kExited}));
}

TEST_F(Execs, SignalsAndCodesAndStdin) {
  auto session = Start("place", "cat", {.env = Env::Basic().Set("SHARED", "yes")});
  ASSERT_NE(session, nullptr);
  ASSERT_THAT(session->SetEnvironment("LATER", "too"), IsOk());
  auto process =
      session->Exec({.command = Command::Shell("echo $SHARED $LATER $OWN; cat; exit 200"),
                     .env = Env::Clean().Set("OWN", "mine"),
                     .stdin_ = Stdio::Pipe()});
  ASSERT_THAT(process, IsOk());
  auto in = (*process)->TakeStdin();
  auto out = (*process)->TakeStdout();
  ASSERT_TRUE(in.ok() && out.ok());
  ASSERT_EQ(write(in->get(), "typed\n", 6), 6);
  in->reset();
  EXPECT_EQ(ReadAll(out->get()), "yes too mine\ntyped\n");
  EXPECT_THAT((*process)->Wait(Soon()), IsOkAndHolds(ExitStatus{200, 0, EndReason::kExited}));
  for (const int signal : {SIGTERM, SIGKILL, SIGUSR1}) {
    auto other = session->Exec({.command = Command::Argv({"sleep", "1000"})});
    ASSERT_THAT(other, IsOk());
    EXPECT_THAT((*other)->Signal(signal), IsOk());
    EXPECT_THAT((*other)->Wait(Soon()), IsOkAndHolds(ExitStatus{0, signal, EndReason::kStopped}));
  }
  EXPECT_THAT(session->Exec({.command = Command::Argv({"no-such-program"})}),
              StatusIs(absl::StatusCode::kNotFound));
}

TEST_F(Made, LabelsSayWhoseItIsAndNothingSecretIsToBeSeen) {
  auto session =
      Start("labelled", "echo $SECRET; cat",
            {.env = Env::Basic().Set("SECRET", "hunter-two"), .labels = {{"team", "blue"}}});
  ASSERT_NE(session, nullptr);
  auto output = session->OpenOutput({});
  ASSERT_THAT(output, IsOk());
  ReadUntil(output->fd.get(), "hunter-two");
  const std::string text = Docker("inspect " + Container(*session));
  EXPECT_THAT(text, Not(HasSubstr("hunter")));
  const auto json = nlohmann::json::parse(text, nullptr, false);
  ASSERT_TRUE(json.is_array() && json.size() == 1);
  const auto labels = json[0]["Config"]["Labels"];
  EXPECT_EQ(labels["berth.name"], "labelled");
  EXPECT_EQ(labels["berth.ephemeral"], "false");
  EXPECT_EQ(labels["team"], "blue");
  EXPECT_EQ(absl::StrCat("docker:", labels["berth.session"].get<std::string>()), session->handle());
  for (const char* key : {"berth.owner", "berth.install", "berth.boot", "berth.owner-identity",
                          "berth.config", "berth.reuse"}) {
    EXPECT_TRUE(labels.contains(key)) << key;
  }
  auto info = session->Info();
  ASSERT_THAT(info, IsOk());
  EXPECT_EQ(info->backend, "docker");
  EXPECT_EQ(info->address, engine().address());
  EXPECT_EQ(info->labels.at("team"), "blue");
}

TEST_F(Made, LimitsOfAPolicyAreTheContainers) {
  auto policy = Policy::Strict().Memory(64 << 20).Swap(0).Pids(50).Cpus(0.5).OpenFiles(100).Build();
  ASSERT_THAT(policy, IsOk());
  auto session =
      Start("limited", "ulimit -n; grep CapEff /proc/self/status; cat", {.policy = *policy});
  ASSERT_NE(session, nullptr);
  auto output = session->OpenOutput({});
  ASSERT_THAT(output, IsOk());
  EXPECT_THAT(ReadUntil(output->fd.get(), "0000000000000000"), HasSubstr("100\r\nCapEff:"));
  EXPECT_EQ(
      Docker("inspect -f '{{.HostConfig.Memory}} {{.HostConfig.MemorySwap}} "
             "{{.HostConfig.PidsLimit}} {{.HostConfig.NanoCpus}} {{.HostConfig.NetworkMode}}' " +
             Container(*session)),
      "67108864 67108864 50 500000000 none");
}

TEST_F(Made, APolicysSystemCallsAreRefusedInMainAndInExecs) {
  auto policy = Policy::Strict().DenySyscalls({"mkdir", "mkdirat"}).Build();
  ASSERT_THAT(policy, IsOk());
  auto session = Start("denied", "mkdir /tmp/x || echo refused; cat", {.policy = *policy});
  ASSERT_NE(session, nullptr);
  auto output = session->OpenOutput({});
  ASSERT_THAT(output, IsOk());
  ReadUntil(output->fd.get(), "refused");
  auto exec = session->Exec({.command = Command::Argv({"mkdir", "/tmp/y"})});
  ASSERT_THAT(exec, IsOk());
  auto end = (*exec)->Wait(Soon());
  ASSERT_THAT(end, IsOk());
  EXPECT_NE(end->code, 0);
}

TEST_F(Made, WhatDockerCannotEnforceIsRefused) {
  auto domains = Policy::Strict().AllowDomains({"example.com"}).Build();
  ASSERT_THAT(domains, IsOk());
  EXPECT_THAT(Create({.name = "a", .command = Command::Argv({"true"}), .policy = *domains}),
              StatusIs(absl::StatusCode::kUnimplemented, HasSubstr("domains")));
  auto hidden = Policy::Agent(work_).Build();
  ASSERT_THAT(hidden, IsOk());
  EXPECT_THAT(Create({.name = "b",
                      .command = Command::Argv({"true"}),
                      .policy = *hidden,
                      .container = {.mounts = {{.source = "/", .target = "/host"}}}}),
              StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_THAT(
      Create({.name = "c", .command = Command::Argv({"true"}), .container = {.network = "host"}}),
      StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_EQ(Docker("ps -aq"), "");
}

TEST_F(Made, MountsAreResolvedAndReadOnlyOnesStaySo) {
  ASSERT_EQ(mkdir((work_ + "/real").c_str(), 0755), 0);
  ASSERT_EQ(symlink("real", (work_ + "/link").c_str()), 0);
  std::ofstream(work_ + "/real/file") << "from the host\n";
  auto session = Start(
      "mounted", "cat /in/file; echo x >/in/file || echo refused; echo end; cat",
      {.container = {.mounts = {{.source = work_ + "/link", .target = "/in", .read_only = true}}}});
  ASSERT_NE(session, nullptr);
  auto output = session->OpenOutput({});
  ASSERT_THAT(output, IsOk());
  const std::string text = ReadUntil(output->fd.get(), "end");
  EXPECT_THAT(text, HasSubstr("from the host"));
  EXPECT_THAT(text, HasSubstr("refused"));
  EXPECT_EQ(Docker("inspect -f '{{(index .Mounts 0).Source}}' " + Container(*session)),
            work_ + "/real");
  const std::vector<Mount> bad = {{.source = "relative", .target = "/in"},
                                  {.source = work_ + "/not-there", .target = "/in"},
                                  {.source = work_, .target = "in"},
                                  {.source = work_, .target = "/in/../../etc"},
                                  {.source = work_, .target = "/"},
                                  {.source = work_, .target = "/.berth"},
                                  {.source = engine().socket(), .target = "/docker.sock"},
                                  {.source = work_ + "/a\nb", .target = "/in"}};
  for (const Mount& mount : bad) {
    EXPECT_THAT(
        Create(
            {.name = "bad", .command = Command::Argv({"true"}), .container = {.mounts = {mount}}}),
        Not(IsOk()))
        << mount.source << " at " << mount.target;
  }
}

TEST_F(Made, PortsAreOnLoopbackAndTheUserIsTheOneAsked) {
  auto session =
      Start("ported", "id -u; id -g; pwd; echo end; cat",
            {.cwd = "/tmp",
             .container = {.ports = {{.inside = 8080}}, .user = "1000:1000", .network = "bridge"}});
  ASSERT_NE(session, nullptr);
  auto output = session->OpenOutput({});
  ASSERT_THAT(output, IsOk());
  EXPECT_THAT(ReadUntil(output->fd.get(), "end"), HasSubstr("1000\r\n1000\r\n/tmp\r\n"));
  EXPECT_THAT(Docker("port " + Container(*session)), testing::StartsWith("8080/tcp -> 127.0.0.1:"));
}

TEST_F(Made, AChangedDescriptionMakesANewContainerAndAnUnchangedOneDoesNot) {
  const auto run = [&](int64_t memory, const std::string& line) {
    auto policy = Policy::Strict().Memory(memory).Build();
    auto session =
        Start("kept", line, {.pty = false, .policy = *policy, .container = {.reuse = true}});
    EXPECT_NE(session, nullptr);
    if (session == nullptr) return std::string();
    const std::string text = Everything(*session);
    EXPECT_THAT(session->Wait(Soon()), IsOk());
    EXPECT_THAT(session->Destroy(absl::ZeroDuration()), IsOk());
    return text;
  };
  EXPECT_EQ(run(64 << 20, "echo first >/mark; cat /mark"), "first\n");
  EXPECT_EQ(run(64 << 20, "cat /mark"), "first\n");
  EXPECT_EQ(run(65 << 20, "cat /mark 2>/dev/null || echo new"), "new\n");
  EXPECT_EQ(Docker("ps -aq --filter label=berth.reuse=true | wc -l"), "1");
  Docker("ps -aq --filter label=berth.reuse=true | xargs docker rm -f");
}

TEST_F(Made, ADozenAreListedAndOnlyOurs) {
  Docker("create --name stranger bb:1 true");
  constexpr int kSome = 12;
  for (int i = 0; i < kSome; ++i) ASSERT_NE(Start(absl::StrCat("s", i), "cat"), nullptr);
  auto list = runtime_->List();
  ASSERT_THAT(list, IsOk());
  EXPECT_EQ(list->size(), size_t{kSome});
  for (const SessionInfo& info : *list) EXPECT_EQ(info.state, SessionState::kRunning) << info.name;
  EXPECT_EQ(Docker("ps -aq --filter name=stranger | wc -l"), "1");
}

}  // namespace
}  // namespace berth
