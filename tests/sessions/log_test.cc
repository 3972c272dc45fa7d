// The log: all output to a file while it runs, rotated at its cap, followed across that; disks that
// are full.

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/status_matchers.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/runtime.h"
#include "runtime/session.h"
#include "runtime/spec.h"
#include "sandbox/base/unique_fd.h"
#include "sandbox/base/wait_fd.h"
#include "tests/sessions/probe.h"
#include "tests/support/runtime_test.h"

namespace berth {
namespace {

using ::absl_testing::IsOk;
using ::absl_testing::StatusIs;
using ::testing::HasSubstr;

class Log : public RuntimeTest {
 protected:
  void SetUp() override {
    RuntimeTest::SetUp();
    log_ = work_ + "/log";
  }
  std::string log_;
};

// Reads a log as `tail -F` does: holds the file, reads it to its end, opens the path again once
// another is there.
class Follower {
 public:
  explicit Follower(std::string path)
      : path_(std::move(path)), changes_(inotify_init1(IN_CLOEXEC | IN_NONBLOCK)) {
    const std::string folder = std::filesystem::path(path_).parent_path().string();
    EXPECT_GE(
        inotify_add_watch(changes_.get(), folder.c_str(), IN_MODIFY | IN_CREATE | IN_MOVED_TO), 0);
    Reopen();
  }
  // Until `size` bytes have been read in all.
  void ReadTo(size_t size) {
    const absl::Time deadline = absl::Now() + absl::Seconds(20);
    while (true) {
      struct stat held, now;
      const bool rotated = fstat(fd_.get(), &held) == 0 && stat(path_.c_str(), &now) == 0 &&
                           held.st_ino != now.st_ino;
      ReadRest();
      if (rotated) {
        ++rotations_;
        Reopen();
        continue;
      }
      if (bytes_.size() >= size) return;
      const absl::Status changed = WaitFd(changes_.get(), POLLIN, deadline, "the log grows");
      ASSERT_THAT(changed, IsOk()) << bytes_.size() << " of " << size;
      char events[4096];
      while (read(changes_.get(), events, sizeof(events)) > 0) {
      }
    }
  }
  const std::string& bytes() const { return bytes_; }
  int rotations() const { return rotations_; }

 private:
  void Reopen() { fd_ = UniqueFd(open(path_.c_str(), O_RDONLY | O_CLOEXEC)); }
  void ReadRest() {
    char buffer[65536];
    ssize_t n;
    while ((n = read(fd_.get(), buffer, sizeof(buffer))) > 0)
      bytes_.append(buffer, static_cast<size_t>(n));
  }
  const std::string path_;
  const UniqueFd changes_;
  UniqueFd fd_;
  std::string bytes_;
  int rotations_ = 0;
};

TEST_F(Log, HasBothStreamsAndIsReadByItsOwnerOnly) {
  auto session = runtime_->CreateSession({.name = "logged",
                                          .command = Command::Shell("echo out; echo err >&2"),
                                          .pty = false,
                                          .log_path = log_});
  ASSERT_THAT(session, IsOk());
  ASSERT_THAT((*session)->Wait(Soon()), IsOk());
  ReadAll((*session)->OpenOutput({})->fd.get());
  const std::string text = FileBytes(log_);
  EXPECT_TRUE(text == "out\nerr\n" || text == "err\nout\n") << text;
  struct stat st;
  ASSERT_EQ(stat(log_.c_str(), &st), 0);
  EXPECT_EQ(st.st_mode & 0777, 0600u);
  EXPECT_EQ((*session)->Info()->log_path, log_);
  // It is the user's: it stays when the session goes.
  EXPECT_THAT((*session)->Destroy(absl::ZeroDuration()), IsOk());
  EXPECT_EQ(FileBytes(log_), text);
}

TEST_F(Log, IsFollowedAcrossRotationsWithoutLoss) {
  constexpr int kPieces = 20, kSize = 20000;
  auto session = runtime_->CreateSession(
      {.name = "rotated",
       .command = Command::Shell(absl::StrCat("i=0; while read piece; do i=$((i+1)); head -c ",
                                              kSize, " /dev/zero | tr '\\0' \"$piece\"; done")),
       .pty = false,
       .log_path = log_,
       .log_cap_bytes = 3 * kSize + 777});
  ASSERT_THAT(session, IsOk());
  Follower follower(log_);
  std::string whole;
  for (int i = 0; i < kPieces; ++i) {
    const std::string piece(1, static_cast<char>('a' + i));
    ASSERT_THAT((*session)->Send({.text = piece}), IsOk());
    whole.append(kSize, piece[0]);
    ASSERT_NO_FATAL_FAILURE(follower.ReadTo(whole.size()));
  }
  EXPECT_TRUE(follower.bytes() == whole);
  EXPECT_GE(follower.rotations(), 5);
  // One old file, none larger than the cap, together the end of the whole.
  const std::string old = FileBytes(log_ + ".1"), now = FileBytes(log_);
  EXPECT_EQ(old.size(), size_t{3 * kSize + 777});
  EXPECT_LE(now.size(), size_t{3 * kSize + 777});
  EXPECT_TRUE(whole.ends_with(old + now));
  EXPECT_FALSE(std::filesystem::exists(log_ + ".2"));
}

TEST_F(Log, IsStartedMovedAndEndedWhileTheProgramRuns) {
  auto session =
      runtime_->CreateSession({.name = "moved", .command = Command::Argv({"cat"}), .pty = false});
  ASSERT_THAT(session, IsOk());
  auto output = (*session)->OpenOutput({});
  ASSERT_THAT(output, IsOk());
  const auto say = [&](const std::string& text) {
    EXPECT_THAT((*session)->Send({.text = text}), IsOk());
    ReadUntil(output->fd.get(), text + "\n");
  };
  say("before");
  ASSERT_THAT((*session)->SetLog(log_, 0), IsOk());
  say("first");
  ASSERT_THAT((*session)->SetLog(log_ + ".other", 0), IsOk());
  EXPECT_EQ((*session)->Info()->log_path, log_ + ".other");
  say("second");
  // One that cannot be opened changes nothing.
  EXPECT_THAT((*session)->SetLog(work_ + "/not/there", 0),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr(work_ + "/not/there")));
  EXPECT_THAT((*session)->SetLog(work_, 0), testing::Not(IsOk()));
  EXPECT_THAT((*session)->SetLog("relative", 0), StatusIs(absl::StatusCode::kInvalidArgument));
  ASSERT_EQ(symlink("/dev/null", (work_ + "/link").c_str()), 0);
  EXPECT_THAT((*session)->SetLog(work_ + "/link", 0), testing::Not(IsOk()));
  say("third");
  ASSERT_THAT((*session)->SetLog("", 0), IsOk());
  say("after");
  EXPECT_EQ(FileBytes(log_), "first\n");
  EXPECT_EQ(FileBytes(log_ + ".other"), "second\nthird\n");
  EXPECT_EQ((*session)->Info()->log_path, "");
}

TEST_F(Log, ThatCannotBeOpenedFailsTheStartAndLeavesNothing) {
  EXPECT_THAT(
      runtime_->CreateSession({.name = "x",
                               .command = Command::Argv({"touch", work_ + "/ran"}),
                               .log_path = work_ + "/not/there"}),
      StatusIs(absl::StatusCode::kNotFound, HasSubstr("open log '" + work_ + "/not/there'")));
  EXPECT_THAT(
      runtime_->CreateSession(
          {.name = "x", .command = Command::Argv({"touch", work_ + "/ran"}), .log_path = "x"}),
      StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_FALSE(std::filesystem::exists(work_ + "/ran"));
  EXPECT_TRUE(runtime_->List()->empty());
}

TEST_F(Log, OnAFullDiskLosesItsRestAndNothingElse) {
  const std::string disk = work_ + "/disk";
  ASSERT_EQ(mkdir(disk.c_str(), 0700), 0);
  // Only this process and what it starts sees the mount.
  if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
      mount("small", disk.c_str(), "tmpfs", 0, "size=64k") != 0) {
    GTEST_SKIP() << "cannot mount a small disk here: " << strerror(errno);
  }
  auto session = runtime_->CreateSession({.name = "full",
                                          .command = Command::Shell("read go; seq 100000; exit 3"),
                                          .pty = false,
                                          .log_path = disk + "/log"});
  ASSERT_THAT(session, IsOk());
  auto output = (*session)->OpenOutput({});
  ASSERT_THAT(output, IsOk());
  ASSERT_THAT((*session)->Send({.text = "go"}), IsOk());
  const std::string all = ReadAll(output->fd.get());
  std::string expected;
  for (int i = 1; i <= 100000; ++i) absl::StrAppend(&expected, i, "\n");
  EXPECT_TRUE(all == expected);
  EXPECT_EQ((*session)->Wait(Soon())->code, 3);
  const std::string logged = FileBytes(disk + "/log");
  EXPECT_EQ(logged.size(), size_t{64 << 10});
  EXPECT_TRUE(expected.starts_with(logged));
  EXPECT_THAT((*session)->Destroy(absl::ZeroDuration()), IsOk());
  EXPECT_EQ(umount2(disk.c_str(), MNT_DETACH), 0);
}

// SIGXFSZ of a log that reached the user's limit for files had killed the keeper.
TEST_F(Log, AtTheLimitForFilesLosesItsRestAndNothingElse) {
  rlimit old;
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &old), 0);
  const rlimit small{16 << 20, old.rlim_max};  // more than the helper's own image
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  auto session = runtime_->CreateSession(
      {.name = "limited",
       .command = Command::Shell("read go; head -c 20000000 /dev/zero; exit 3"),
       .pty = false,
       .log_path = log_,
       .log_cap_bytes = 0});
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &old), 0);
  ASSERT_THAT(session, IsOk());
  auto output = (*session)->OpenOutput({});
  ASSERT_THAT(output, IsOk());
  ASSERT_THAT((*session)->Send({.text = "go"}), IsOk());
  EXPECT_EQ(ReadAll(output->fd.get()).size(), 20000000u);
  auto end = (*session)->Wait(Soon());
  ASSERT_THAT(end, IsOk());
  EXPECT_EQ(end->code, 3);
  EXPECT_EQ(std::filesystem::file_size(log_), uintmax_t{16 << 20});
}

// A program must not find signals ignored because its helper does.
TEST_F(Log, AProgramHasTheSignalsOfAFreshProcess) {
  const Command command =
      Command::Shell("grep SigIgn /proc/self/status; grep SigBlk /proc/self/status");
  auto session = runtime_->CreateSession({.name = "signals", .command = command, .pty = false});
  ASSERT_THAT(session, IsOk());
  const std::string none = "SigIgn:\t0000000000000000\nSigBlk:\t0000000000000000\n";
  EXPECT_EQ(ReadAll((*session)->OpenOutput({})->fd.get()), none);
  auto process = runtime_->Spawn({.command = command});
  ASSERT_THAT(process, IsOk());
  EXPECT_EQ(ReadAll((*process)->TakeStdout()->get()), none);
}

}  // namespace
}  // namespace berth
