#include "sandbox/launcher/log_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "gtest/gtest.h"

namespace berth::launcher {
namespace {

class Log : public testing::Test {
 protected:
  void SetUp() override {
    const char* tmp = getenv("TEST_TMPDIR");
    std::string folder = std::string(tmp != nullptr ? tmp : "/tmp") + "/logXXXXXX";
    ASSERT_NE(mkdtemp(folder.data()), nullptr);
    folder_ = folder;
    path_ = folder + "/log";
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  static std::string Read(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
  }
  std::string folder_, path_;
  LogFile log_;
};

TEST_F(Log, AppendsToWhatIsThere) {
  std::ofstream(path_) << "old ";
  ASSERT_EQ(log_.Open(path_, 0), 0);
  log_.Write("new");
  EXPECT_EQ(Read(path_), "old new");
  log_.Close();
  log_.Write("nothing");
  EXPECT_EQ(Read(path_), "old new");
  EXPECT_EQ(log_.error(), 0);
}

TEST_F(Log, IsCutAtItsCapAndLosesNothing) {
  ASSERT_EQ(log_.Open(path_, 10), 0);
  log_.Write("0123456789");
  EXPECT_FALSE(std::filesystem::exists(path_ + ".1"));  // full, not over
  log_.Write("abcdefghijklm");
  EXPECT_EQ(Read(path_ + ".1"), "abcdefghij");
  EXPECT_EQ(Read(path_), "klm");
  EXPECT_EQ(log_.error(), 0);
  EXPECT_EQ(log_.lost(), 0u);
}

TEST_F(Log, ThatIsTooLargeAlreadyIsTurnedOver) {
  std::ofstream(path_) << std::string(100, 'o');
  ASSERT_EQ(log_.Open(path_, 10), 0);
  log_.Write("new");
  EXPECT_EQ(Read(path_ + ".1"), std::string(100, 'o'));
  EXPECT_EQ(Read(path_), "new");
}

TEST_F(Log, IsNoLinkFifoFolderOrDevice) {
  ASSERT_EQ(log_.Open(path_, 0), 0);
  ASSERT_EQ(symlink(path_.c_str(), (folder_ + "/link").c_str()), 0);
  ASSERT_EQ(mkfifo((folder_ + "/fifo").c_str(), 0600), 0);
  EXPECT_EQ(log_.Open(folder_ + "/link", 0), ELOOP);
  EXPECT_NE(log_.Open(folder_ + "/fifo", 0), 0);
  EXPECT_NE(log_.Open(folder_, 0), 0);
  EXPECT_EQ(log_.Open("/dev/null", 0), EINVAL);
  EXPECT_EQ(log_.Open(folder_ + "/not/there", 0), ENOENT);
  // The old one goes on.
  log_.Write("still");
  EXPECT_EQ(Read(path_), "still");
  EXPECT_EQ(log_.path(), path_);
}

// The error of a rotation was forgotten as soon as the file was opened again.
TEST_F(Log, ThatCannotBeTurnedOverGoesOnAndSaysSo) {
  ASSERT_EQ(log_.Open(path_, 5), 0);
  ASSERT_EQ(mkdir((path_ + ".1").c_str(), 0700), 0);
  std::ofstream(path_ + ".1/something") << "x";  // a folder that a file cannot replace
  log_.Write("0123456789");
  EXPECT_EQ(Read(path_), "0123456789");
  EXPECT_EQ(log_.error(), EISDIR);
  EXPECT_EQ(log_.lost(), 0u);
}

TEST_F(Log, IsRemadeWhenItWasTakenAway) {
  ASSERT_EQ(log_.Open(path_, 5), 0);
  log_.Write("01234");
  ASSERT_EQ(unlink(path_.c_str()), 0);
  log_.Write("56789");
  EXPECT_EQ(Read(path_), "56789");
}

}  // namespace
}  // namespace berth::launcher
