#include "sandbox/launcher/enter/placeholder.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "sandbox/base/unique_fd.h"
#include "sandbox/launcher/placeholder_link.h"

namespace berth::launcher {
namespace {

namespace fs = std::filesystem;

class Placeholders : public testing::Test {
 protected:
  void SetUp() override {
    std::string path = testing::TempDir() + "/held.XXXXXX";
    ASSERT_NE(mkdtemp(path.data()), nullptr);
    path_ = path;
    directory_ = UniqueFd(open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  }
  void TearDown() override { fs::remove_all(path_); }

  // As the first process of a sandbox does.
  UniqueFd Make(const std::vector<std::string>& names) {
    UniqueFd folder = KeepPlaceholders(directory_.get());
    EXPECT_TRUE(folder.ok());
    for (const std::string& name : names) {
      EXPECT_EQ(MakePlaceholder(folder.get(), name, names[0] == name ? "" : names[0]), 0) << name;
    }
    return folder;
  }
  // The same, handed over.
  KeptFolders Sandbox(const std::vector<std::string>& names) {
    KeptFolders kept;
    kept.Add(Make(names));
    return kept;
  }

  std::string Path(const std::string& name) const { return path_ + "/" + name; }
  bool Has(const std::string& name) const {
    return IsPlaceholderLink(directory_.get(), name.c_str());
  }

  // How many there are on the folder, in this process or any other.
  int Locks() const {
    struct stat st;
    if (fstat(directory_.get(), &st) != 0) return -1;
    const std::string folder = ":" + std::to_string(st.st_ino) + " ";
    std::ifstream locks("/proc/locks");
    int count = 0;
    for (std::string line; std::getline(locks, line);) {
      if (line.find("OFDLCK") != line.npos && line.find(folder) != line.npos) ++count;
    }
    return count;
  }

  std::string path_;
  UniqueFd directory_;
};

TEST_F(Placeholders, GoWithTheLastSandboxAndTakeOneLockForAll) {
  KeptFolders first = Sandbox({"a", "b"});
  KeptFolders second = Sandbox({"b", "c"});
  KeptFolders third = Sandbox({"c"});
  EXPECT_EQ(Locks(), 1);
  first.Release();
  EXPECT_TRUE(Has("a") && Has("b") && Has("c"));
  EXPECT_EQ(Locks(), 1);
  third.Release();
  EXPECT_TRUE(Has("b") && Has("c"));
  second.Release();
  EXPECT_TRUE(fs::is_empty(path_));
  EXPECT_EQ(Locks(), 0);
}

TEST_F(Placeholders, StayWhereAnotherHelperNeedsThemWhoeverMadeThem) {
  KeptFolders ours = Sandbox({"a"});
  UniqueFd theirs = Make({"b"});  // never handed over: a lock of its own
  ours.Release();
  EXPECT_TRUE(Has("a") && Has("b"));
  ReleasePlaceholders(std::move(theirs));
  EXPECT_TRUE(fs::is_empty(path_));
}

TEST_F(Placeholders, AreOneSymlinkThatReadsAsNothing) {
  KeptFolders held = Sandbox({"a", "b", "c"});
  struct stat st;
  ASSERT_EQ(lstat(Path("a").c_str(), &st), 0);
  EXPECT_EQ(st.st_nlink, 3u);
  EXPECT_EQ(open(Path("a").c_str(), O_RDONLY | O_CLOEXEC), -1);
  EXPECT_EQ(errno, ENOENT);
}

// They were names of one file once: who wrote to one of them wrote to all, and it stayed.
TEST_F(Placeholders, TakeNothingThatIsWrittenToThem) {
  KeptFolders held = Sandbox({"a", "b"});
  EXPECT_EQ(open(Path("a").c_str(), O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC, 0666), -1);
  EXPECT_EQ(truncate(Path("a").c_str(), 1), -1);
  EXPECT_EQ(chmod(Path("a").c_str(), 0666), -1);
  EXPECT_TRUE(Has("a") && Has("b"));
  held.Release();
  EXPECT_TRUE(fs::is_empty(path_));
}

TEST_F(Placeholders, OfAKilledHelperAreTakenOver) {
  Make({"a", "b"}).reset();
  EXPECT_TRUE(Has("a"));
  Sandbox({"b"}).Release();
  EXPECT_TRUE(fs::is_empty(path_));
}

TEST_F(Placeholders, AreNotWhatTheUserMade) {
  std::ofstream(Path("file")) << "";
  fs::create_directory(Path("folder"));
  fs::create_symlink("/etc/passwd", Path("link"));
  KeptFolders held = Sandbox({"a"});
  const UniqueFd folder = KeepPlaceholders(directory_.get());
  for (const char* name : {"file", "folder", "link"}) {
    EXPECT_EQ(MakePlaceholder(folder.get(), name, "a"), EEXIST) << name;
    EXPECT_EQ(MakePlaceholder(folder.get(), name, ""), EEXIST) << name;
  }
}

TEST_F(Placeholders, AreLeftToWhoeverPutAFileInTheirPlace) {
  KeptFolders held = Sandbox({"a", "b"});
  ASSERT_EQ(unlink(Path("a").c_str()), 0);
  std::ofstream(Path("a")) << "mine";
  held.Release();
  EXPECT_TRUE(fs::exists(Path("a")));
  EXPECT_FALSE(Has("b"));
}

TEST_F(Placeholders, AreNotInTheWayOfAFolderThatIsLocked) {
  KeptFolders held = Sandbox({"a"});
  const UniqueFd users(open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  EXPECT_EQ(flock(users.get(), LOCK_EX | LOCK_NB), 0);
  KeptFolders other = Sandbox({"b"});
  EXPECT_TRUE(Has("b"));
}

TEST_F(Placeholders, AreMadeOnceWhoRemovesIsDone) {
  // As one that is just removing.
  const UniqueFd removes(open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  struct flock lock{};
  lock.l_type = F_RDLCK;
  lock.l_start = 1;
  lock.l_len = 1;
  ASSERT_EQ(fcntl(removes.get(), F_OFD_SETLK, &lock), 0);
  int fds[2];
  ASSERT_EQ(pipe2(fds, O_CLOEXEC), 0);
  const UniqueFd reads(fds[0]);
  UniqueFd writes(fds[1]);
  // Its working directory changes: in a process of its own.
  const pid_t other = fork();
  if (other == 0) {
    const UniqueFd folder = KeepPlaceholders(directory_.get());
    if (!folder.ok() || MakePlaceholder(folder.get(), "a", "") != 0) _exit(1);
    if (write(writes.get(), "d", 1) != 1) _exit(1);
    _exit(0);
  }
  writes.reset();
  // It has said that it needs them, and waits.
  struct flock needed{};
  do {
    needed = {};
    needed.l_type = F_WRLCK;
    needed.l_len = 1;
    ASSERT_EQ(fcntl(removes.get(), F_OFD_GETLK, &needed), 0);
  } while (needed.l_type == F_UNLCK);
  pollfd done{reads.get(), POLLIN, 0};
  EXPECT_EQ(poll(&done, 1, 20), 0);
  EXPECT_FALSE(Has("a"));
  lock.l_type = F_UNLCK;
  ASSERT_EQ(fcntl(removes.get(), F_OFD_SETLK, &lock), 0);
  UniqueFd(open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)).reset();
  int status = -1;
  ASSERT_EQ(waitpid(other, &status, 0), other);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(Has("a"));
}

// What one needs is there as long as it needs it, and nothing is there after the last.
TEST_F(Placeholders, HoldThroughManyThatComeAndGoAtOnce) {
  std::vector<pid_t> helpers;
  for (int i = 0; i < 4; ++i) {
    helpers.push_back(fork());
    if (helpers.back() != 0) continue;
    for (int round = 0; round < 2000; ++round) {
      UniqueFd folder = KeepPlaceholders(directory_.get());
      if (!folder.ok()) _exit(1);
      const std::string own(1, static_cast<char>('a' + i));
      if (MakePlaceholder(folder.get(), "shared", "") != 0) _exit(2);
      if (MakePlaceholder(folder.get(), own, "shared") != 0) _exit(3);
      sched_yield();
      if (!Has("shared") || !Has(own)) _exit(4);
      ReleasePlaceholders(std::move(folder));
    }
    _exit(0);
  }
  for (const pid_t helper : helpers) {
    int status = -1;
    ASSERT_EQ(waitpid(helper, &status, 0), helper);
    EXPECT_EQ(status, 0);
  }
  EXPECT_TRUE(fs::is_empty(path_));
}

}  // namespace
}  // namespace berth::launcher
