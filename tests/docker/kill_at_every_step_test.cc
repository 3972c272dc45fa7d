// Scenario 30, docker: the program that makes a session is SIGKILLed at each of its steps in turn,
// a step being a system call that others can see: a file, a message to the engine, the keeper or
// the launcher. Then one sweep, and either the session is there, whole, or nothing is: no
// container, no process, no record.

#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/status_matchers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "reaper/docker_engine.h"
#include "reaper/engine.h"
#include "reaper/options.h"
#include "reaper/report.h"
#include "reaper/sweep.h"
#include "runtime/record/store.h"
#include "runtime/runtime.h"
#include "runtime/session.h"
#include "runtime/spec.h"
#include "tests/docker/docker_test.h"
#include "tests/docker/dockerd.h"

namespace berth {
namespace {

using ::absl_testing::IsOk;

namespace fs = std::filesystem;

// Between two of these nothing changes for anybody else.
bool IsStep(const __ptrace_syscall_info& info) {
  static constexpr uint64_t kSteps[] = {
      SYS_write,  SYS_sendto,   SYS_sendmsg,   SYS_connect,   SYS_mkdirat, SYS_unlinkat, SYS_unlink,
      SYS_linkat, SYS_renameat, SYS_renameat2, SYS_rename,    SYS_mknodat, SYS_fsync,    SYS_clone,
      SYS_clone3, SYS_vfork,    SYS_flock,     SYS_symlinkat, SYS_shutdown};
  if (info.entry.nr == SYS_openat) return (info.entry.args[2] & O_CREAT) != 0;
  return std::find(std::begin(kSteps), std::end(kSteps), info.entry.nr) != std::end(kSteps);
}

class KillAtEveryStep : public DockerTest {
 protected:
  void SetUp() override {
    DockerTest::SetUp();
    runtime_.reset();  // a child that is forked without exec must share no lease of ours
  }
  void TearDown() override {
    runtime_ = OtherRuntime();
    DockerTest::TearDown();
  }

  // False if it needed fewer steps than that.
  bool MakeAndDieAt(int nth, bool durable, int* steps) {
    const pid_t pid = fork();
    if (pid == 0) {
      auto runtime = Runtime::Create({.state_dir = dir_});
      if (!runtime.ok() || ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) _exit(77);
      raise(SIGSTOP);
      auto session = (*runtime)->CreateSession(
          {.name = "made",
           .backend = "docker",
           .command = Command::Shell("echo ran; exec cat"),
           .pty = false,
           .durable = durable,
           .grace = absl::ZeroDuration(),
           .container = {.image = DockerEngine::kImage, .network = "none"}});
      if (session.ok()) kill(getpid(), SIGKILL);
      _exit(1);
    }
    int status = 0;
    *steps = 0;
    waitpid(pid, &status, 0);
    EXPECT_TRUE(WIFSTOPPED(status)) << "the child could not be traced: " << status;
    ptrace(PTRACE_SETOPTIONS, pid, nullptr, PTRACE_O_EXITKILL | PTRACE_O_TRACESYSGOOD);
    while (WIFSTOPPED(status)) {
      ptrace(PTRACE_SYSCALL, pid, nullptr, nullptr);
      waitpid(pid, &status, 0);
      if (!WIFSTOPPED(status) || WSTOPSIG(status) != (SIGTRAP | 0x80)) continue;
      __ptrace_syscall_info info{};
      ptrace(PTRACE_GET_SYSCALL_INFO, pid, sizeof(info), &info);
      if (info.op != PTRACE_SYSCALL_INFO_ENTRY || !IsStep(info)) continue;
      if (++*steps == nth) {
        kill(pid, SIGKILL);
        waitpid(pid, &status, 0);
        return true;
      }
    }
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) << "status " << status;
    return false;
  }

  // What it did, for people.
  std::string Sweep() {
    auto store = Store::Open(dir_);
    EXPECT_THAT(store, IsOk());
    reaper::Engines engines;
    engines.push_back(std::make_unique<reaper::DockerEngine>());
    auto report = reaper::Sweep(**store, {.grace = absl::ZeroDuration()}, engines);
    EXPECT_THAT(report, IsOk());
    return report.ok() ? reaper::ToText(*report, /*evidence=*/true, /*colour=*/false) : "";
  }

  void ExpectNothingIsLeft() {
    EXPECT_EQ(Docker("ps -a --format '{{.Names}} {{.Status}}'"), "")
        << Docker("ps -aq | xargs docker inspect 2>&1");
    for (const char* folder : {"/sessions", "/run", "/owners", "/names"}) {
      for (const auto& entry : fs::directory_iterator(dir_ + folder)) {
        const std::string name = entry.path().filename();
        EXPECT_TRUE(name == ".lock" || name == ".take") << entry.path();
      }
    }
  }

  void DieEverywhere(bool durable) {
    int alive = 0, nothing = 0, steps = 0;
    bool killed = true;
    for (int nth = 1; killed && !HasFailure(); ++nth) {
      SCOPED_TRACE(absl::StrCat(durable ? "durable" : "ephemeral", ", step ", nth));
      killed = MakeAndDieAt(nth, durable, &steps);
      auto other = OtherRuntime();
      auto found = other->Find("made");
      // What was let run gets to it, however long the engine takes; of what was not, the output
      // ends.
      const bool whole = durable && found.ok() && [&] {
        auto output = (*found)->OpenOutput({});
        return output.ok() && ReadUntil(output->fd.get(), "ran", absl::Seconds(20)) != "";
      }();
      if (whole) {
        Sweep();
        EXPECT_EQ((*found)->CheckLiveness().liveness, Liveness::kAlive) << "it was to stay";
        EXPECT_THAT((*found)->Destroy(absl::ZeroDuration()), IsOk());
        ++alive;
      } else {
        // At once, whatever the engine is still about to do for it.
        ++nothing;
      }
      found = absl::NotFoundError("");
      other.reset();
      SCOPED_TRACE(Sweep());
      ExpectNothingIsLeft();
    }
    RecordProperty("steps", steps);
    RecordProperty("alive", alive);
    EXPECT_GT(steps, 40);
    EXPECT_GT(nothing, 20);
    EXPECT_EQ(alive > 0, durable);
  }
};

TEST_F(KillAtEveryStep, ADurableSessionIsThereWholeOrNothingIs) { DieEverywhere(true); }

TEST_F(KillAtEveryStep, AnEphemeralSessionIsGone) { DieEverywhere(false); }

}  // namespace
}  // namespace berth
