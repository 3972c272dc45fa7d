// berth-reaper sweep for more than one user.

#include <grp.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "reaper/cli/cli_test.h"
#include "reaper/test_records.h"
#include "runtime/record/test_dir.h"

namespace berth::reaper {
namespace {

namespace fs = std::filesystem;

TEST_F(ReaperCli, RootSweepsEachUsersDirectoryAsThatUser) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can become others";
  OpenToOthers();
  const auto own = Open("own");
  MakeOrphan(*own, "mine", dead_);
  for (const uid_t uid : {70001, 70002}) {
    const std::string state = dir_ / absl::StrCat("u", uid);
    const auto store = Open(absl::StrCat("u", uid));
    MakeOrphan(*store, "theirs", dead_);
    for (const auto& entry : fs::recursive_directory_iterator(state)) {
      ASSERT_EQ(lchown(entry.path().c_str(), uid, uid), 0);
    }
    ASSERT_EQ(lchown(state.c_str(), uid, uid), 0);
  }
  // One user's directory that leads to another's.
  fs::create_directory_symlink(dir_ / "own", dir_ / "link");
  const Ran ran = Run({"sweep", "--json", "--state-dir", dir_ / "own", "--state-dir",
                       dir_ / "u70001", "--state-dir", dir_ / "u70002"});
  EXPECT_EQ(ran.code, 10) << ran.out << ran.err;
  const auto json = nlohmann::json::parse(ran.out);
  ASSERT_EQ(json.size(), 3u);
  for (const auto& each : json) EXPECT_EQ(each["done"], 1) << each;
  for (const char* name : {"own", "u70001", "u70002"}) {
    EXPECT_EQ(fs::directory_iterator(dir_ / absl::StrCat(name, "/sessions")),
              fs::directory_iterator())
        << name;
  }
  EXPECT_EQ(Run({"sweep", "--state-dir", dir_ / "link"}).code, 125);
  // What was written there is the user's, not root's.
  struct stat lock;
  ASSERT_EQ(stat((dir_ / "u70001/reaper.lock").c_str(), &lock), 0);
  EXPECT_EQ(lock.st_uid, 70001u);
}

TEST_F(ReaperCli, RootSweepsAllUsersOfTheMachine) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can become others";
  OpenToOthers();
  MakeHome("ann", 70001);
  MakeHome("bob", 70002);
  WriteText(dir_ / "passwd", absl::StrCat("root:x:0:0::", dir_ / "root", ":/bin/sh\n",
                                          "ann:x:70001:70001::", dir_ / "ann", ":/bin/sh\n",
                                          "torn:x:70003\n",  //
                                          "nobody:x:70004:70004::/nonexistent:/bin/sh\n",
                                          "bob:x:70002:70002::", dir_ / "bob", ":/bin/sh\n"));
  const std::string passwd = dir_ / "passwd";
  const Ran ran = Run({"sweep", "--all-users", "--json"}, [&] {
    if (unshare(CLONE_NEWNS) != 0 ||
        mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        mount(passwd.c_str(), "/etc/passwd", nullptr, MS_BIND, nullptr) != 0) {
      _exit(126);
    }
  });
  EXPECT_EQ(ran.code, 10) << ran.out << ran.err;
  const auto json = nlohmann::json::parse(ran.out);
  ASSERT_EQ(json.size(), 2u) << ran.out;
  for (const char* name : {"ann", "bob"}) {
    EXPECT_TRUE(fs::is_empty(dir_ / absl::StrCat(name, "/.local/state/berth/sessions"))) << name;
  }
  EXPECT_FALSE(fs::exists(dir_ / "root"));  // nobody gets a state directory by being swept
}

TEST_F(ReaperCli, EachUserSweepsItsOwnDirectoryAndNoOther) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can become others";
  OpenToOthers();
  MakeHome("ann", 70001);
  MakeHome("bob", 70002);
  const auto as_ann = [&] {
    setenv("HOME", (dir_ / "ann").c_str(), 1);
    if (setgroups(0, nullptr) != 0 || setresgid(70001, 70001, 70001) != 0 ||
        setresuid(70001, 70001, 70001) != 0) {
      _exit(126);
    }
  };
  const Ran others = Run({"sweep", "--state-dir", dir_ / "bob/.local/state/berth"}, as_ann);
  EXPECT_EQ(others.code, 125) << others.out;
  EXPECT_FALSE(fs::is_empty(dir_ / "bob/.local/state/berth/sessions"));
  EXPECT_EQ(Run({"sweep", "--all-users"}, as_ann).code, 2);
  const Ran own = Run({"sweep"}, as_ann);
  EXPECT_EQ(own.code, 10) << own.out << own.err;
  EXPECT_TRUE(fs::is_empty(dir_ / "ann/.local/state/berth/sessions"));
}

}  // namespace
}  // namespace berth::reaper
