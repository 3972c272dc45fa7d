#include "sandbox/launcher/enter/placeholder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "sandbox/base/unique_fd.h"

namespace berth::launcher {
namespace {

class Held : public testing::Test {
 protected:
  void SetUp() override {
    std::string path = testing::TempDir() + "/held.XXXXXX";
    ASSERT_NE(mkdtemp(path.data()), nullptr);
    path_ = path;
    directory_ = UniqueFd(open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  }
  void TearDown() override { std::filesystem::remove_all(path_); }

  // As a sandbox does: makes them, and hands them over.
  HeldPlaceholders Sandbox(const std::vector<std::string>& names, bool directories = false) {
    std::vector<Placeholder> made;
    for (const std::string& name : names) {
      EXPECT_EQ(AddPlaceholder(directory_.get(), name, directories, &made), 0) << name;
    }
    HeldPlaceholders held;
    for (Placeholder& each : made) held.Add(std::move(each));
    return held;
  }

  bool Has(const std::string& name) const { return std::filesystem::exists(path_ + "/" + name); }

  // How many there are on it, in this process or any other.
  int Locks(const std::string& name) const {
    struct stat st;
    if (stat((path_ + "/" + name).c_str(), &st) != 0) return -1;
    const std::string file = ":" + std::to_string(st.st_ino) + " ";
    std::ifstream locks("/proc/locks");
    int count = 0;
    for (std::string line; std::getline(locks, line);) {
      if (line.find("FLOCK") != std::string::npos && line.find(file) != std::string::npos) ++count;
    }
    return count;
  }

  std::string path_;
  UniqueFd directory_;
};

TEST_F(Held, GoesWithTheLastSandboxAndTakesOneLockForAll) {
  HeldPlaceholders first = Sandbox({"a", "b"});
  HeldPlaceholders second = Sandbox({"b", "c"});
  HeldPlaceholders third = Sandbox({"c"});
  EXPECT_EQ(Locks("a"), 1);
  first.Release();
  EXPECT_TRUE(Has("a") && Has("b") && Has("c"));
  EXPECT_EQ(Locks("b"), 1);
  third.Release();
  EXPECT_TRUE(Has("b") && Has("c"));
  second.Release();
  EXPECT_FALSE(Has("a") || Has("b") || Has("c"));
}

TEST_F(Held, IsTheSameForFolders) {
  HeldPlaceholders first = Sandbox({"d"}, true), second = Sandbox({"d"}, true);
  EXPECT_EQ(Locks("d"), 1);
  first.Release();
  EXPECT_TRUE(Has("d"));
  second.Release();
  EXPECT_FALSE(Has("d"));
}

TEST_F(Held, StaysWhereAnotherHelperHoldsIt) {
  HeldPlaceholders ours = Sandbox({"a"});
  std::vector<Placeholder> theirs;  // never handed over: a lock of its own
  ASSERT_EQ(AddPlaceholder(directory_.get(), "a", false, &theirs), 0);
  ours.Release();
  EXPECT_TRUE(Has("a"));
  HeldPlaceholders others;
  for (Placeholder& each : theirs) others.Add(std::move(each));
  others.Release();
  EXPECT_FALSE(Has("a"));
}

// Who takes it for a file of the user's holds no lock, and it can be removed below him.
TEST_F(Held, IsTakenOverFromWhoHasNotMarkedItYet) {
  ASSERT_EQ(mkdir((path_ + "/d").c_str(), 0), 0);
  ASSERT_EQ(chmod((path_ + "/d").c_str(), 0505), 0);
  UniqueFd file(open((path_ + "/f").c_str(), O_CREAT | O_RDONLY | O_CLOEXEC, 0));
  ASSERT_EQ(fchmod(file.get(), 0404), 0);
  HeldPlaceholders folder = Sandbox({"d"}, true), ours = Sandbox({"f"});
  EXPECT_EQ(Locks("d"), 1);
  EXPECT_EQ(Locks("f"), 1);
  struct stat st;
  ASSERT_EQ(fstat(file.get(), &st), 0);
  EXPECT_EQ(st.st_mode & 07777, 0444);
  EXPECT_EQ(st.st_mtim.tv_sec, 0);
  folder.Release();
  ours.Release();
  EXPECT_FALSE(Has("d") || Has("f"));
}

TEST_F(Held, IsNotWhatTheUserMade) {
  for (const mode_t mode : {0400, 0444, 0644}) {
    const UniqueFd file(open((path_ + "/f").c_str(), O_CREAT | O_RDONLY | O_CLOEXEC, 0));
    ASSERT_EQ(fchmod(file.get(), mode), 0);
    std::vector<Placeholder> made;
    EXPECT_EQ(AddPlaceholder(directory_.get(), "f", false, &made), EEXIST);
    EXPECT_TRUE(made.empty());
    ASSERT_EQ(unlink((path_ + "/f").c_str()), 0);
  }
  ASSERT_EQ(symlink("/etc/passwd", (path_ + "/f").c_str()), 0);
  std::vector<Placeholder> made;
  EXPECT_EQ(AddPlaceholder(directory_.get(), "f", false, &made), EEXIST);
}

TEST_F(Held, IsLeftToWhoeverPutAFileInItsPlace) {
  HeldPlaceholders held = Sandbox({"a"});
  ASSERT_EQ(unlink((path_ + "/a").c_str()), 0);
  std::ofstream(path_ + "/a") << "mine";
  held.Release();
  EXPECT_TRUE(Has("a"));
}

}  // namespace
}  // namespace berth::launcher
