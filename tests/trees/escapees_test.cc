// Scenario 10: a program starts servers in every way that gets out of a terminal, a process group
// or a session. They hold ports. Once Destroy or Stop has returned, all are gone and the ports bind
// again.

#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/status_matchers.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/ports/port.h"
#include "runtime/process.h"
#include "runtime/runtime.h"
#include "runtime/session.h"
#include "runtime/spec.h"
#include "runtime/types.h"
#include "sandbox/base/unique_fd.h"
#include "tests/support/actor.h"
#include "tests/support/test_backend.h"
#include "tests/support/tree_test.h"

namespace berth {
namespace {

using ::absl_testing::IsOk;
using ::testing::UnorderedElementsAreArray;

// A listening socket, taken the strict way: without SO_REUSEADDR.
UniqueFd Bind(uint16_t port) {
  UniqueFd fd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (bind(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0 ||
      listen(fd.get(), 16) != 0) {
    fd.reset();
  }
  return fd;
}

int Serve(const std::vector<std::string>& args) {
  const UniqueFd fd = Bind(static_cast<uint16_t>(atoi(args[0].c_str())));
  if (!fd.ok()) return 1;
  // Deaf to everything but KILL.
  for (int each : {SIGTERM, SIGHUP, SIGINT, SIGQUIT}) signal(each, SIG_IGN);
  Report(args[1], args[0]);
  StayForever();
}

// As daemon(3) and the daemons of old do it.
int Daemon(const std::vector<std::string>& args) {
  if (fork() != 0) return 0;
  setsid();
  if (fork() != 0) _exit(0);
  if (chdir("/") != 0) _exit(1);
  for (int fd = 0; fd < 256; ++fd) close(fd);
  return Serve(args);
}

// One whose environment is empty and whose parent has gone before it started to listen.
int Bare(const std::vector<std::string>& args) {
  clearenv();
  return Daemon(args);
}

const Actor kServe("serve", &Serve);
const Actor kDaemon("daemon", &Daemon);
const Actor kBare("bare", &Bare);

class Escapees : public TreeTest {
 protected:
  void SetUp() override {
    TreeTest::SetUp();
    reports_ = std::make_unique<Fifo>(Path("reports"));
    const std::vector<std::string> ways = {
        "%s &",        "nohup %s >/dev/null 2>&1 &",
        "setsid %s &", "(setsid %s &)",
        "(%s &)",      "setsid setsid %s </dev/null >/dev/null 2>&1 &"};
    absl::StatusOr<std::vector<uint16_t>> free = FindFreePorts(ways.size() + 2);
    ASSERT_THAT(free, IsOk());
    std::string lines;
    const auto add = [&](const std::string& before, const std::string& actor,
                         const std::string& after) {
      ports_.push_back(free->back());
      free->pop_back();
      absl::StrAppend(&lines, before,
                      ActorLine(absl::StrCat(actor, " ", ports_.back(), " ", reports_->path())),
                      after, "\n");
    };
    for (const std::string& way : ways) {
      const size_t at = way.find("%s");
      add(way.substr(0, at), "serve", way.substr(at + 2));
    }
    add("", "daemon", "");
    add("", "bare", "");
    line_ = lines;
  }

  // Until all servers listen.
  void AwaitServers() {
    std::vector<std::string> expected;
    for (uint16_t port : ports_) expected.push_back(absl::StrCat(port));
    ASSERT_THAT(reports_->Lines(ports_.size()), UnorderedElementsAreArray(expected));
    for (uint16_t port : ports_) ASSERT_FALSE(Bind(port).ok()) << port;
  }

  void ExpectPortsFree() {
    for (uint16_t port : ports_)
      EXPECT_TRUE(Bind(port).ok()) << "port " << port << " is still held";
  }

  std::unique_ptr<Fifo> reports_;
  std::vector<uint16_t> ports_;
  std::string line_;
};

TEST_F(Escapees, DestroyEndsThemAllAndFreesTheirPorts) {
  for (const bool pty : {true, false}) {
    if (!pty && !HasPipes()) continue;
    auto session =
        Create({.name = "servers", .command = Command::Shell(line_ + "read never"), .pty = pty});
    ASSERT_NE(session, nullptr);
    AwaitServers();
    ASSERT_THAT(session->Destroy(absl::Milliseconds(50)), IsOk());
    ExpectPortsFree();
  }
}

TEST_F(Escapees, EndWithTheMainProcess) {
  auto session = Create({.name = "servers",
                         .command = Command::Shell(line_ + "read go; exit 4"),
                         .pty = !HasPipes()});
  ASSERT_NE(session, nullptr);
  AwaitServers();
  ASSERT_THAT(session->Send({.text = "go"}), IsOk());
  const auto status = session->Wait(Soon());
  ASSERT_THAT(status, IsOk());
  EXPECT_EQ(*status, (ExitStatus{4, 0, EndReason::kExited}));
  ASSERT_THAT(session->Stop(absl::ZeroDuration()), IsOk());  // returns once everything is gone
  ExpectPortsFree();
}

TEST_F(Escapees, StopOfASpawnedProcessEndsThemAll) {
  auto process =
      runtime_->Spawn({.command = Command::Shell(line_ + "read never"), .stdin_ = Stdio::Pipe()});
  ASSERT_THAT(process, IsOk());
  AwaitServers();
  ASSERT_THAT((*process)->Stop(absl::Milliseconds(50)), IsOk());
  ExpectPortsFree();
}

TEST_F(Escapees, TheEndOfAProcessObjectEndsThemAll) {
  auto process =
      runtime_->Spawn({.command = Command::Shell(line_ + "read never"), .stdin_ = Stdio::Pipe()});
  ASSERT_THAT(process, IsOk());
  AwaitServers();
  process->reset();
  ExpectPortsFree();
}

TEST_F(Escapees, OfAnExecEndWithItAndTheSessionGoesOn) {
  auto session = Create({.name = "place", .command = Command::Argv({"cat"})});
  ASSERT_NE(session, nullptr);
  auto process =
      session->Exec({.command = Command::Shell(line_ + "read never"), .stdin_ = Stdio::Pipe()});
  ASSERT_THAT(process, IsOk());
  AwaitServers();
  const auto status = (*process)->Stop(absl::Milliseconds(50));
  ASSERT_THAT(status, IsOk());
  EXPECT_EQ(status->reason, EndReason::kStopped);
  ExpectPortsFree();
  EXPECT_EQ(session->CheckLiveness().liveness, Liveness::kAlive);
}

TEST_F(Escapees, OfAnExecEndWithTheSession) {
  auto session = Create({.name = "place", .command = Command::Argv({"cat"})});
  ASSERT_NE(session, nullptr);
  auto process =
      session->Exec({.command = Command::Shell(line_ + "read never"), .stdin_ = Stdio::Pipe()});
  ASSERT_THAT(process, IsOk());
  AwaitServers();
  ASSERT_THAT(session->Destroy(absl::Milliseconds(50)), IsOk());
  ExpectPortsFree();
  // How it ended is known, though the session ended it.
  const auto status = (*process)->Wait(Soon());
  ASSERT_THAT(status, IsOk());
  EXPECT_EQ(status->reason, EndReason::kStopped) << Describe(*status);
}

}  // namespace
}  // namespace berth
