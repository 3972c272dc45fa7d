#include "reaper/users.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/status_matchers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "runtime/record/test_dir.h"

namespace berth::reaper {
namespace {

using ::absl_testing::IsOkAndHolds;
using ::absl_testing::StatusIs;

const User kAnn{"ann", 70001, 70001, "/nonexistent"};

absl::Time Soon() { return absl::Now() + absl::Seconds(30); }

class RunAsTest : public testing::Test {
 protected:
  void SetUp() override {
    if (geteuid() != 0) GTEST_SKIP() << "only root can become others";
  }
};

TEST_F(RunAsTest, HasNothingOfRootsLeft) {
  setenv("BERTH_STATE_DIR", "/of/root", 1);
  EXPECT_THAT(RunAs(
                  kAnn,
                  [] {
                    uid_t real, effective, saved;
                    getresuid(&real, &effective, &saved);
                    const char* dir = getenv("BERTH_STATE_DIR");
                    return absl::StrCat(real, " ", effective, " ", saved, " ",
                                        getgroups(0, nullptr), " ", setuid(0), " ",
                                        dir == nullptr ? "" : dir);
                  },
                  Soon()),
              IsOkAndHolds("70001 70001 70001 1 -1 "));
  unsetenv("BERTH_STATE_DIR");
}

// What util-linux's runuser had to learn: CVE-2016-2779.
TEST_F(RunAsTest, HasNoTerminalOfRootsToTypeInto) {
  EXPECT_THAT(RunAs(
                  kAnn,
                  []() -> std::string {
                    if (getsid(0) != getpid()) return "the session is root's";
                    for (int fd = 0; fd < 3; ++fd) {
                      struct stat file;
                      if (fstat(fd, &file) != 0) continue;
                      if (!S_ISCHR(file.st_mode) || file.st_rdev != makedev(1, 3)) {
                        return absl::StrCat("descriptor ", fd, " is root's");
                      }
                    }
                    return "fine";
                  },
                  Soon()),
              IsOkAndHolds("fine"));
}

TEST_F(RunAsTest, OneThatDoesNotEndIsEnded) {
  EXPECT_THAT(RunAs(
                  kAnn,
                  []() -> std::string {
                    while (true) pause();
                  },
                  absl::Now() + absl::Milliseconds(50)),
              StatusIs(absl::StatusCode::kDeadlineExceeded));
}

TEST(UsersWithState, AreThoseOfThePasswdFileThatHaveOne) {
  const TestDir dir;
  std::filesystem::create_directories(dir / "ann/.local/state/berth");
  std::filesystem::create_directories(dir / "bob");
  WriteText(dir / "passwd", absl::StrCat("ann:x:70001:70002::", dir / "ann", ":/bin/sh\n",
                                         "bob:x:70003:70003::", dir / "bob", ":/bin/sh\n",
                                         "relative:x:1:1::home:/bin/sh\n", "torn:x\n\n"));
  const std::vector<User> users = UsersWithState(dir / "passwd");
  ASSERT_EQ(users.size(), 1u);
  EXPECT_EQ(users[0].name, "ann");
  EXPECT_EQ(users[0].uid, 70001u);
  EXPECT_EQ(users[0].gid, 70002u);
}

}  // namespace
}  // namespace berth::reaper
