// An engine with live-restore: it is killed alone and comes back, and its containers have run on
// meanwhile. Sessions live, end, and take execs, as if nothing had happened; only the streams of
// their main programs do not come back.

#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <fstream>
#include <memory>
#include <string>

#include "absl/status/status_matchers.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "runtime/runtime.h"
#include "runtime/session.h"
#include "runtime/spec.h"
#include "tests/docker/dockerd.h"
#include "tests/support/runtime_test.h"

namespace berth {
namespace {

using ::absl_testing::IsOk;
using ::absl_testing::IsOkAndHolds;

class LiveRestore : public RuntimeTest {
 protected:
  void SetUp() override {
    auto engine = DockerEngine::Start({.flags = "--live-restore", .restarts = true});
    ASSERT_THAT(engine, IsOk());
    engine_ = *std::move(engine);
    RuntimeTest::SetUp();
    setenv("DOCKER_HOST", engine_->address().c_str(), 1);
  }
  void TearDown() override {
    RuntimeTest::TearDown();
    if (engine_ == nullptr) return;
    EXPECT_THAT(engine_->Shell("docker ps -aq"), IsOkAndHolds(""));
    engine_.reset();
  }
  std::unique_ptr<Session> Start(const std::string& name, const std::string& line) {
    auto session =
        runtime_->CreateSession({.name = name,
                                 .backend = "docker",
                                 .command = Command::Shell(line),
                                 .pty = false,
                                 .container = {.image = DockerEngine::kImage,
                                               .mounts = {{.source = work_, .target = "/shared"}},
                                               .network = "none"}});
    EXPECT_THAT(session, IsOk());
    return session.ok() ? *std::move(session) : nullptr;
  }

  std::unique_ptr<DockerEngine> engine_;
};

TEST_F(LiveRestore, SessionsOutliveTheEngineAndTheirEndsAreTrue) {
  auto stays = Start("stays", "trap 'exit 3' TERM; while :; do sleep 0.1; done");
  auto ends = Start("ends", "while [ ! -e /shared/go ]; do sleep 0.1; done; exit 9");
  auto later = Start("later", "while [ ! -e /shared/later ]; do sleep 0.1; done; exit 11");
  ASSERT_TRUE(stays != nullptr && ends != nullptr && later != nullptr);
  std::ofstream(work_ + "/go") << "now";
  ASSERT_THAT(engine_->KillDaemon(), IsOk());

  EXPECT_EQ(stays->CheckLiveness().liveness, Liveness::kAlive);
  EXPECT_EQ(later->CheckLiveness().liveness, Liveness::kAlive);
  // While the engine was away, which then does not know how; or just before.
  auto ended = ends->Wait(Soon());
  ASSERT_THAT(ended, IsOk());
  EXPECT_TRUE(ended->reason == EndReason::kUnknown || ended->code == 9) << Describe(*ended);
  // When it is back.
  std::ofstream(work_ + "/later") << "now";
  EXPECT_THAT(later->Wait(Soon()), IsOkAndHolds(ExitStatus{11, 0, EndReason::kExited}));

  auto exec = stays->Exec({.command = Command::Shell("echo still here")});
  ASSERT_THAT(exec, IsOk());
  auto output = (*exec)->TakeStdout();
  ASSERT_THAT(output, IsOk());
  EXPECT_EQ(ReadAll(output->get()), "still here\n");
  EXPECT_THAT(stays->GetStats(), IsOk());
  auto end = stays->Stop(absl::Seconds(20));
  ASSERT_THAT(end, IsOk());
  EXPECT_EQ(end->code, 3);
  EXPECT_THAT(stays->Destroy(absl::ZeroDuration()), IsOk());
}

}  // namespace
}  // namespace berth
