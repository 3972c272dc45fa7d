// The engine that the docker tests stand on: it starts, runs, is killed and restarted.

#include "tests/docker/dockerd.h"

#include <sys/stat.h>

#include <string>

#include "absl/status/status_matchers.h"
#include "gtest/gtest.h"

namespace berth {
namespace {

using ::absl_testing::IsOk;
using ::absl_testing::IsOkAndHolds;

TEST(DockerEngine, RunsAContainerAndKeepsItThroughARestartAndLeavesNothing) {
  std::string folder;
  {
    auto engine = DockerEngine::Start();
    ASSERT_THAT(engine, IsOk());
    folder = (*engine)->socket().substr(0, (*engine)->socket().rfind('/'));
    EXPECT_THAT((*engine)->Shell("docker run --rm --net=none bb:1 echo hello"),
                IsOkAndHolds("hello\n"));
    ASSERT_THAT((*engine)->Shell("docker create --name kept bb:1 true"), IsOk());
    ASSERT_THAT((*engine)->Kill(), IsOk());
    ASSERT_THAT((*engine)->Restart(), IsOk());
    EXPECT_THAT((*engine)->Shell("docker ps -a --format '{{.Names}}'"), IsOkAndHolds("kept\n"));
  }
  struct stat st;
  EXPECT_NE(stat(folder.c_str(), &st), 0);
}

}  // namespace
}  // namespace berth
