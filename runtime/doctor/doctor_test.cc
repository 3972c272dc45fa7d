// The doctor on the machine that runs this, and where things are taken from it.

#include "runtime/doctor/doctor.h"

#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace berth {
namespace {

using ::testing::HasSubstr;

class Doctor : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = absl::StrCat(::testing::TempDir(), "/doctor.XXXXXX");
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override {
    for (const char* name : {"DOCKER_HOST", "DOCKER_CONTEXT"}) unsetenv(name);
    setenv("PATH", path_.c_str(), 1);
    std::filesystem::remove_all(folder_);
  }
  Check Find(absl::string_view name) const {
    for (const Check& check : Examine({.state_dir = folder_ + "/state"})) {
      if (check.name == name) return check;
    }
    ADD_FAILURE() << "there is no check " << name;
    return {};
  }

  std::string folder_, path_ = getenv("PATH");
};

TEST_F(Doctor, SaysOfEachThingWhatThereIsOrWhyNotAndWhatToDo) {
  const std::vector<Check> checks = Examine({.state_dir = folder_ + "/state"});
  std::set<std::string> names, areas;
  for (const Check& check : checks) {
    EXPECT_TRUE(names.insert(check.name).second) << check.name;
    areas.insert(check.area);
    if (check.state == CheckState::kOk) {
      EXPECT_NE(check.detail, "") << check.name;
      EXPECT_EQ(check.reason + check.remedy, "") << check.name;
    } else {
      EXPECT_NE(check.reason, "") << check.name;
      EXPECT_NE(check.remedy, "") << check.name;
    }
  }
  EXPECT_EQ(areas,
            (std::set<std::string>{"kernel", "sandbox", "limits", "tiers", "engines", "state"}));
  for (const char* name : {"linux",
                           "pidfd",
                           "user namespaces",
                           "apparmor",
                           "container",
                           "private /proc",
                           "landlock",
                           "seccomp",
                           "cgroup layout",
                           "memory",
                           "swap",
                           "pids",
                           "cpus",
                           "tier namespaces",
                           "tier pooled",
                           "tier landlock",
                           "native",
                           "tmux",
                           "docker",
                           "nix",
                           "state directory"}) {
    EXPECT_EQ(names.count(name), 1u) << name;
  }
}

TEST_F(Doctor, FindsNoTmuxAndNoNixWithoutAPath) {
  setenv("PATH", folder_.c_str(), 1);
  for (const char* name : {"tmux", "nix"}) {
    const Check check = Find(name);
    EXPECT_EQ(check.state, CheckState::kMissing) << name;
    EXPECT_THAT(check.remedy, HasSubstr("install")) << name;
  }
}

TEST_F(Doctor, SaysWhyAnEngineIsOutOfReach) {
  setenv("DOCKER_HOST", absl::StrCat("unix://", folder_, "/none.sock").c_str(), 1);
  Check docker = Find("docker");
  EXPECT_EQ(docker.state, CheckState::kMissing);
  EXPECT_THAT(docker.remedy, HasSubstr("systemctl start docker"));
  setenv("DOCKER_HOST", "fd://somewhere", 1);
  docker = Find("docker");
  EXPECT_EQ(docker.state, CheckState::kMissing);
  EXPECT_THAT(docker.remedy, HasSubstr("DOCKER_HOST"));
}

// A socket whose listener is gone, as after a crash.
TEST_F(Doctor, TellsAnEngineThatDoesNotListenFromOneThatIsNotThere) {
  const std::string path = folder_ + "/dead.sock";
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof(address.sun_path) - 1);
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  ASSERT_EQ(bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  close(fd);
  setenv("DOCKER_HOST", absl::StrCat("unix://", path).c_str(), 1);
  const Check docker = Find("docker");
  EXPECT_EQ(docker.state, CheckState::kMissing);
  EXPECT_THAT(docker.remedy, HasSubstr("docker info"));
}

TEST_F(Doctor, ExaminesOnWithoutAStateDirectory) {
  const std::vector<Check> checks = Examine({.state_dir = "/proc/nowhere"});
  bool found = false;
  for (const Check& check : checks) {
    if (check.name != "state directory") continue;
    found = true;
    EXPECT_EQ(check.state, CheckState::kMissing);
    EXPECT_THAT(check.reason, HasSubstr("/proc/nowhere"));
    EXPECT_THAT(check.remedy, HasSubstr("BERTH_STATE_DIR"));
  }
  EXPECT_TRUE(found);
}

}  // namespace
}  // namespace berth
