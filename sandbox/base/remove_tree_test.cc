#include "sandbox/base/remove_tree.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "gtest/gtest.h"
#include "sandbox/base/unique_fd.h"

namespace berth {
namespace {

namespace fs = std::filesystem;

class RemoveTreeTest : public testing::Test {
 protected:
  void SetUp() override {
    const char* tmp = getenv("TEST_TMPDIR");
    dir_ = std::string(tmp != nullptr ? tmp : "/tmp") + "/rmXXXXXX";
    ASSERT_NE(mkdtemp(dir_.data()), nullptr);
    fd_ = UniqueFd(open(dir_.c_str(), O_DIRECTORY | O_CLOEXEC));
  }
  void TearDown() override {
    EXPECT_TRUE(fs::is_empty(dir_));
    fs::remove_all(dir_);
  }
  std::string dir_;
  UniqueFd fd_;
};

TEST_F(RemoveTreeTest, WhatIsNotThereIsGone) { EXPECT_EQ(RemoveTree(fd_.get(), "none"), 0); }

TEST_F(RemoveTreeTest, NeitherWaitsForAFifoNorFollowsALink) {
  const std::string outside = dir_ + ".outside";
  fs::create_directory(outside);
  std::ofstream(outside + "/kept") << "k";
  fs::create_directories(dir_ + "/t/a/b");
  ASSERT_EQ(mkfifo((dir_ + "/t/a/fifo").c_str(), 0600), 0);
  fs::create_symlink(outside, dir_ + "/t/a/link");
  fs::create_symlink("/", dir_ + "/t/root");
  fs::create_hard_link(outside + "/kept", dir_ + "/t/hard");
  EXPECT_EQ(RemoveTree(fd_.get(), "t"), 0);
  EXPECT_TRUE(fs::exists(outside + "/kept"));
  fs::remove_all(outside);
}

TEST_F(RemoveTreeTest, FoldersThatAreClosedToTheirOwnerAreOpened) {
  fs::create_directories(dir_ + "/t/closed/in");
  std::ofstream(dir_ + "/t/closed/in/file") << "x";
  fs::permissions(dir_ + "/t/closed/in", fs::perms::none);
  fs::permissions(dir_ + "/t/closed", fs::perms::none);
  EXPECT_EQ(RemoveTree(fd_.get(), "t"), 0);
}

TEST_F(RemoveTreeTest, AGreatDepthNeedsFewDescriptors) {
  UniqueFd at(dup(fd_.get()));
  const char* name = "t";
  for (int i = 0; i < 600; ++i) {
    ASSERT_EQ(mkdirat(at.get(), name, 0700), 0);
    at = UniqueFd(openat(at.get(), name, O_DIRECTORY | O_CLOEXEC));
    ASSERT_TRUE(at.ok());
    name = "d";
  }
  at.reset();
  EXPECT_EQ(RemoveTree(fd_.get(), "t"), 0);
}

}  // namespace
}  // namespace berth
