// A sandboxed program under a keeper: sessions, their terminals and what is executed in them.

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status_matchers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "sandbox/base/unique_fd.h"
#include "sandbox/base/wait_fd.h"
#include "sandbox/launcher/keeper_spec.h"
#include "sandbox/launcher/protocol.h"
#include "sandbox/launcher/wire.h"
#include "tests/escape/enclosed_test.h"

namespace berth {
namespace {

using ::absl_testing::IsOk;
using launcher::Message;
using launcher::Reader;
using launcher::Writer;
using ::testing::HasSubstr;
using Kind = launcher::SandboxMount::Kind;

// The owner of a keeper, as runtime/native is.
class KeptTest : public EnclosedTest {
 protected:
  void SetUp() override {
    EnclosedTest::SetUp();
    for (const char* name : {"session", "names", "run"}) {
      std::filesystem::create_directory(absl::StrCat(outside_, "/", name));
    }
  }
  void TearDown() override {
    if (owner_.ok()) Ask(launcher::kDestroy, Writer().Put(uint32_t{0}).body());
    owner_.reset();
    EnclosedTest::TearDown();
  }

  Message Ask(uint16_t type, const std::string& body, const std::vector<int>& fds = {}) {
    Message answer;
    EXPECT_EQ(
        launcher::SendMessage(owner_.get(), type, body, fds.data(), static_cast<int>(fds.size())),
        0);
    EXPECT_THAT(WaitFd(owner_.get(), POLLIN, absl::Now() + absl::Seconds(60), "keeper"), IsOk());
    EXPECT_EQ(launcher::ReceiveMessage(owner_.get(), &answer), 0);
    return answer;
  }

  // Sets up; true if the program runs.
  bool Create(const launcher::SandboxPlan& plan, std::vector<std::string> argv, bool pty = true) {
    launcher::KeeperSpec spec;
    spec.uid = "0123456789abcdef";
    spec.name = "kept";
    spec.pty = pty;
    spec.cwd = work_;
    spec.argv = std::move(argv);
    spec.env = {"PATH=/usr/bin:/bin", "TERM=dumb"};
    spec.plan = plan.Encode();
    auto owner = client_->StartKeeper("kept");
    EXPECT_THAT(owner, IsOk());
    if (!owner.ok()) return false;
    owner_ = *std::move(owner);
    const UniqueFd session(open((outside_ + "/session").c_str(), O_DIRECTORY | O_CLOEXEC));
    const UniqueFd names(open((outside_ + "/names").c_str(), O_DIRECTORY | O_CLOEXEC));
    const UniqueFd run(open((outside_ + "/run").c_str(), O_DIRECTORY | O_CLOEXEC));
    const Message ready =
        Ask(launcher::kSetup, spec.Encode(), {session.get(), names.get(), run.get()});
    EXPECT_EQ(ready.type, launcher::kOk);
    started_ = Ask(launcher::kGo, "");
    return started_.type == launcher::kOk;
  }

  launcher::ExitNotice Wait() {
    const Message answer = Ask(launcher::kWait, "");
    Reader in = answer.reader();
    launcher::ExitNotice end;
    end.code = in.Get<int32_t>();
    end.signal = in.Get<int32_t>();
    end.stopped = in.Get<uint8_t>();
    end.reason = in.Get<uint8_t>();
    return end;
  }

  // Executes in the session and returns what it wrote and how it ended.
  Outcome Exec(const std::vector<std::string>& argv) {
    Outcome outcome;
    int pair[2], out[2];
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
    EXPECT_EQ(pipe2(out, O_CLOEXEC), 0);
    const UniqueFd exit(pair[0]), reads(out[0]);
    UniqueFd theirs(pair[1]), writes(out[1]);
    Writer body;
    body.Put(static_cast<uint8_t>(launcher::kHasStdio[1] | launcher::kHasStdio[2])).Put("");
    body.PutList(argv).PutList(std::vector<std::string>{});
    const Message answer =
        Ask(launcher::kExec, body.body(), {writes.get(), writes.get(), theirs.get()});
    EXPECT_EQ(answer.type, launcher::kOk);
    writes.reset();
    theirs.reset();
    char buffer[4096];
    ssize_t n = 1;
    while (n > 0 && WaitFd(reads.get(), POLLIN, absl::Now() + absl::Seconds(60), "output").ok()) {
      n = read(reads.get(), buffer, sizeof(buffer));
      if (n > 0) outcome.out.append(buffer, static_cast<size_t>(n));
    }
    EXPECT_THAT(WaitFd(exit.get(), POLLRDHUP, absl::Now() + absl::Seconds(60), "end"), IsOk());
    EXPECT_EQ(recv(exit.get(), &outcome.exit, sizeof(outcome.exit), MSG_DONTWAIT),
              ssize_t{sizeof(outcome.exit)});
    return outcome;
  }

  std::string Screen() {
    const Message answer = Ask(launcher::kCapture, Writer().Put(int32_t{0}).Put(uint8_t{0}).body());
    Reader in = answer.reader();
    return std::string(in.GetBytes());
  }

  UniqueFd owner_;
  Message started_;
};

TEST_F(KeptTest, ASessionHasATerminalOfItsOwnAndItsTrueStatus) {
  ASSERT_TRUE(Create(Plan(), {"/bin/sh", "-c", "test -t 0 && echo > /dev/tty terminal; exit 7"}));
  const launcher::ExitNotice end = Wait();
  EXPECT_EQ(end.code, 7);
  EXPECT_THAT(Screen(), HasSubstr("terminal"));
}

TEST_F(KeptTest, ASignalReachesTheProgramAndIsToldAsItsEnd) {
  ASSERT_TRUE(Create(Plan(), {"/bin/sleep", "1000"}));
  EXPECT_EQ(Ask(launcher::kSignal, Writer().Put(int32_t{SIGUSR2}).body()).type, launcher::kOk);
  const launcher::ExitNotice end = Wait();
  EXPECT_EQ(end.signal, SIGUSR2);
  EXPECT_TRUE(end.stopped);
}

TEST_F(KeptTest, WhatFailsIsToldWithItsPathAndNothingHasRun) {
  launcher::SandboxPlan plan = Plan();
  plan.mounts.push_back({.kind = Kind::kBind, .source = "/no/such", .target = "/x"});
  EXPECT_FALSE(Create(plan, {"/bin/touch", "ran"}));
  Reader in = started_.reader();
  EXPECT_EQ(in.Get<int32_t>(), ENOENT);
  EXPECT_EQ(in.Get<launcher::Step>(), launcher::Step::kSource);
  EXPECT_STREQ(in.GetString(), "/no/such");
  EXPECT_FALSE(std::filesystem::exists(Path("ran")));
  // The keeper is gone by itself.
  EXPECT_THAT(WaitFd(owner_.get(), POLLRDHUP, absl::Now() + absl::Seconds(60), "gone"), IsOk());
  owner_.reset();
}

TEST_F(KeptTest, WhatIsExecutedIsInTheSameSandbox) {
  ASSERT_TRUE(Create(Plan(), {"/bin/sh", "-c", "echo shared > /tmp/private; exec sleep 1000"}));
  // Another process of the session has made it: by the time that it sleeps.
  const Outcome outcome =
      Exec({"/bin/sh", "-c",
            "until cat /tmp/private 2> /dev/null; do sleep 0.01; done; cat /proc/1/comm; "
            "ls /proc/self/fd; touch /usr/x && echo wrote; grep -E '^(CapEff|CapBnd|NoNewPrivs)' "
            "/proc/self/status; cat /proc/sys/kernel/hostname; exit 9"});
  EXPECT_THAT(outcome.out, HasSubstr("shared\nberth-init\n0\n1\n2\n3\n"));
  EXPECT_THAT(outcome.out, HasSubstr("Read-only file system"));
  EXPECT_THAT(outcome.out,
              HasSubstr("CapEff:\t0000000000000000\nCapBnd:\t0000000000000000\nNoNewPrivs:\t1\n"));
  EXPECT_THAT(outcome.out, HasSubstr("berth\n"));
  EXPECT_EQ(outcome.exit.code, 9);
}

TEST_F(KeptTest, StopEndsTheSessionAndWhatIsExecutedInIt) {
  ASSERT_TRUE(Create(Plan(), {"/bin/sh", "-c", "trap '' TERM; setsid sleep 1000 & sleep 1000"}));
  int pair[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
  const UniqueFd exit(pair[0]);
  UniqueFd theirs(pair[1]);
  Writer body;
  body.Put(uint8_t{0}).Put("").PutList(std::vector<std::string>{"/bin/sleep", "1000"});
  body.PutList(std::vector<std::string>{});
  EXPECT_EQ(Ask(launcher::kExec, body.body(), {theirs.get()}).type, launcher::kOk);
  theirs.reset();
  const Message answer = Ask(launcher::kStop, Writer().Put(uint32_t{0}).body());
  EXPECT_EQ(answer.type, launcher::kOk);
  EXPECT_THAT(WaitFd(exit.get(), POLLRDHUP, absl::Now() + absl::Seconds(60), "end"), IsOk());
}

TEST_F(KeptTest, APlaceholderIsGoneWhenTheSessionIs) {
  launcher::SandboxPlan plan = Plan();
  plan.mounts.push_back({.kind = Kind::kCarve, .target = Path(".mcp.json")});
  ASSERT_TRUE(Create(plan, {"/bin/sh", "-c", "echo evil > .mcp.json || exit 3"}));
  EXPECT_EQ(Wait().code, 3);
  Ask(launcher::kDestroy, Writer().Put(uint32_t{0}).body());
  owner_.reset();
  EXPECT_TRUE(std::filesystem::is_empty(work_));
}

}  // namespace
}  // namespace berth
