// Bad input: the right code, a message that names the thing, and nothing run, nothing left.

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/status_matchers.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/runtime.h"
#include "runtime/session.h"
#include "runtime/spec.h"
#include "sandbox/base/unique_fd.h"
#include "tests/sessions/probe.h"
#include "tests/support/runtime_test.h"

namespace berth {
namespace {

namespace fs = std::filesystem;

using ::absl_testing::IsOk;
using ::absl_testing::StatusIs;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class BadInput : public RuntimeTest {
 protected:
  // How a session and a process with this command and directory are refused, in this order.
  std::vector<absl::Status> Refusals(const Command& command, const std::string& cwd = "") {
    std::vector<absl::Status> results;
    for (const bool pty : {true, false}) {
      results.push_back(
          runtime_->CreateSession({.name = "bad", .command = command, .cwd = cwd, .pty = pty})
              .status());
    }
    results.push_back(runtime_->Spawn({.command = command, .cwd = cwd}).status());
    EXPECT_TRUE(runtime_->List()->empty());
    // The name is free at once.
    auto good = runtime_->CreateSession({.name = "bad", .command = Command::Argv({"cat"})});
    EXPECT_THAT(good, IsOk());
    if (good.ok()) {
      EXPECT_THAT((*good)->Destroy(absl::ZeroDuration()), IsOk());
    }
    return results;
  }
  std::string File(const std::string& name, const std::string& text, mode_t mode) const {
    const std::string path = absl::StrCat(work_, "/", name);
    std::ofstream(path) << text;
    EXPECT_EQ(chmod(path.c_str(), mode), 0);
    return path;
  }
};

TEST_F(BadInput, ADirectoryThatIsNotThere) {
  const std::string cwd = work_ + "/not-there";
  for (const absl::Status& status : Refusals(Command::Argv({"true"}), cwd)) {
    EXPECT_THAT(status, StatusIs(absl::StatusCode::kNotFound,
                                 AllOf(HasSubstr("working directory"), HasSubstr(cwd))));
  }
}

TEST_F(BadInput, ADirectoryThatIsNone) {
  const std::string cwd = File("file", "", 0600);
  for (const absl::Status& status : Refusals(Command::Argv({"true"}), cwd)) {
    EXPECT_THAT(status, StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr(cwd)));
  }
  for (const std::string& bad : {std::string("relative"), std::string("/tmp\0x", 6)}) {
    for (const absl::Status& status : Refusals(Command::Argv({"true"}), bad)) {
      EXPECT_THAT(status,
                  StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("working directory")));
    }
  }
}

TEST_F(BadInput, ACommandThatIsNotFound) {
  for (const std::string& name : {std::string("no-such-program"), work_ + "/no-such-program"}) {
    for (const absl::Status& status : Refusals(Command::Argv({name}))) {
      EXPECT_THAT(status, StatusIs(absl::StatusCode::kNotFound,
                                   HasSubstr(absl::StrCat("execute '", name, "'"))));
    }
  }
  const std::string script = File("script", "#!/no/such/interpreter\n", 0700);
  for (const absl::Status& status : Refusals(Command::Argv({script}))) {
    EXPECT_THAT(status, StatusIs(absl::StatusCode::kNotFound, HasSubstr("interpreter")));
  }
}

TEST_F(BadInput, ACommandThatIsNotExecutable) {
  for (const std::string& path : {File("data", "x", 0600), work_}) {
    for (const absl::Status& status : Refusals(Command::Argv({path}))) {
      EXPECT_THAT(status, StatusIs(absl::StatusCode::kPermissionDenied, HasSubstr(path)));
    }
  }
  const std::string garbage = File("garbage",
                                   "\x7f"
                                   "ELF nonsense",
                                   0700);
  for (const absl::Status& status : Refusals(Command::Argv({garbage}))) {
    EXPECT_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(garbage)));
  }
}

TEST_F(BadInput, AnEmptyCommandAndANulByte) {
  for (const Command& command : {Command(), Command::Argv({}), Command::Argv({""})}) {
    for (const absl::Status& status : Refusals(command)) {
      EXPECT_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("empty")));
    }
  }
  for (const absl::Status& status :
       Refusals(Command::Argv({"touch", "a", std::string("b\0c", 3)}))) {
    EXPECT_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("argument 2")));
  }
}

TEST_F(BadInput, ArgumentsOfTwoHundredKilobytes) {
  // In one piece they are more than the kernel takes (128 KiB), in many they are not.
  for (const absl::Status& status :
       Refusals(Command::Argv({"true", std::string(200 << 10, 'x')}))) {
    EXPECT_THAT(status, StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("too large")));
  }
  std::vector<std::string> argv = {"/bin/echo"};
  std::string expected;
  for (unsigned i = 0; i < 200; ++i) {
    argv.push_back(Pattern(1023, i));
    absl::StrAppend(&expected, argv.back(), i == 199 ? "\n" : " ");
  }
  auto session =
      runtime_->CreateSession({.name = "large", .command = Command::Argv(argv), .pty = false});
  ASSERT_THAT(session, IsOk());
  EXPECT_TRUE(ReadAll((*session)->OpenOutput({})->fd.get()) == expected);
  auto process = runtime_->Spawn({.command = Command::Argv(argv)});
  ASSERT_THAT(process, IsOk());
  EXPECT_TRUE(ReadAll((*process)->TakeStdout()->get()) == expected);
}

TEST_F(BadInput, NumbersThatMakeNoSense) {
  SessionSpec spec{.name = "bad", .command = Command::Argv({"true"})};
  const auto refused = [&](SessionSpec bad) {
    EXPECT_THAT(runtime_->CreateSession(bad), StatusIs(absl::StatusCode::kInvalidArgument));
  };
  SessionSpec rows = spec, cols = spec, kept = spec, lines = spec;
  rows.size.rows = 0;
  refused(rows);
  cols.size.cols = 5000;
  refused(cols);
  kept.output_bytes = -1;
  refused(kept);
  lines.scrollback_lines = -1;
  refused(lines);
  SessionSpec backend = spec;
  backend.backend = "no-such-engine";
  EXPECT_THAT(runtime_->CreateSession(backend),
              StatusIs(absl::StatusCode::kUnimplemented, HasSubstr("no-such-engine")));
}

TEST_F(BadInput, ADescriptorThatIsNotOpen) {
  const UniqueFd open_one(open("/dev/null", O_RDWR | O_CLOEXEC));
  const int closed = fcntl(open_one.get(), F_DUPFD_CLOEXEC, 900);
  ASSERT_GE(closed, 900);
  close(closed);
  EXPECT_THAT(runtime_->Spawn({.command = Command::Argv({"true"}), .stdout_ = Stdio::Fd(closed)}),
              AllOf(Not(IsOk()),
                    StatusIs(Not(absl::StatusCode::kUnknown), HasSubstr(absl::StrCat(closed)))));
  EXPECT_THAT(runtime_->Spawn({.command = Command::Argv({"true"}), .stdin_ = Stdio::Fd(-1)}),
              Not(IsOk()));
}

// A daemon has no 0, 1 and 2: what the library opens must not get in the way of what it places
// there.
TEST_F(BadInput, AHostWithoutStandardStreams) {
  std::vector<UniqueFd> kept;
  for (int fd = 0; fd < 3; ++fd) kept.emplace_back(fcntl(fd, F_DUPFD_CLOEXEC, 100));
  for (int fd = 0; fd < 3; ++fd) close(fd);
  std::string out, err, of_session;
  absl::Status spawned, created;
  {
    // All that it opens may be one of the three, so it is gone before they come back.
    const std::unique_ptr<Runtime> fresh = OtherRuntime();
    auto process = fresh->Spawn(
        {.command = Command::Shell("cat; echo out; echo err >&2"), .stdin_ = Stdio::Pipe()});
    spawned = process.status();
    if (process.ok()) {
      (*process)->TakeStdin()->reset();
      out = ReadAll((*process)->TakeStdout()->get());
      err = ReadAll((*process)->TakeStderr()->get());
    }
    auto session = fresh->CreateSession(
        {.name = "daemons", .command = Command::Shell("echo out; echo err >&2"), .pty = false});
    created = session.status();
    if (session.ok()) of_session = ReadAll((*session)->OpenOutput({})->fd.get());
  }
  for (int fd = 0; fd < 3; ++fd) {
    ASSERT_LT(fcntl(fd, F_GETFD), 0) << fd << " was left open";
    dup2(kept[static_cast<size_t>(fd)].get(), fd);
  }
  EXPECT_THAT(spawned, IsOk());
  EXPECT_THAT(created, IsOk());
  EXPECT_EQ(out, "out\n");
  EXPECT_EQ(err, "err\n");
  EXPECT_EQ(of_session, "out\n");
}

TEST_F(BadInput, AStateDirectoryThatCannotBeMade) {
  const std::string file = File("file", "", 0600);
  EXPECT_THAT(Runtime::Create({.state_dir = file + "/state"}),
              StatusIs(Not(absl::StatusCode::kUnknown), HasSubstr(file + "/state")));
  EXPECT_THAT(Runtime::Create({.state_dir = "/proc/berth"}), Not(IsOk()));
  EXPECT_THAT(Runtime::Create({.state_dir = file}),
              StatusIs(Not(absl::StatusCode::kUnknown), HasSubstr(file)));
}

// The record comes before the program: no room for it, no program.
TEST_F(BadInput, AStateDirectoryOnAFullDisk) {
  const std::string disk = work_ + "/disk";
  ASSERT_EQ(mkdir(disk.c_str(), 0700), 0);
  if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
      mount("small", disk.c_str(), "tmpfs", 0, "nr_inodes=100") != 0) {
    GTEST_SKIP() << "cannot mount a small disk here: " << strerror(errno);
  }
  {
    auto runtime = Runtime::Create({.state_dir = disk + "/state"});
    ASSERT_THAT(runtime, IsOk());
    int files = 0;
    while (
        UniqueFd(open(absl::StrCat(disk, "/", files).c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600))
            .ok())
      ++files;
    ASSERT_GT(files, 10);
    const Command command = Command::Argv({"touch", work_ + "/ran"});
    // With no file left to make, then one, two, ….
    int refused = 0;
    for (bool started = false; !started && files > 0;) {
      auto session = (*runtime)->CreateSession({.name = "full", .command = command});
      started = session.ok();
      if (started) {
        EXPECT_GT(refused, 0);
        EXPECT_TRUE((*session)->Wait(Soon())->success());
        EXPECT_TRUE(fs::exists(work_ + "/ran"));
        EXPECT_THAT((*session)->Destroy(absl::ZeroDuration()), IsOk());
      } else {
        ++refused;
        EXPECT_THAT(session, StatusIs(absl::StatusCode::kResourceExhausted)) << files;
        EXPECT_FALSE(fs::exists(work_ + "/ran"));
        EXPECT_TRUE((*runtime)->List()->empty());
        ASSERT_EQ(unlink(absl::StrCat(disk, "/", --files).c_str()), 0);
      }
    }
    EXPECT_GT(files, 0);
  }
  for (const char* folder : {"sessions", "names", "owners", "run"}) {
    for (const auto& entry : fs::directory_iterator(absl::StrCat(disk, "/state/", folder))) {
      EXPECT_EQ(entry.path().filename(), ".lock") << entry.path();
    }
  }
  EXPECT_EQ(umount2(disk.c_str(), MNT_DETACH), 0);
}

}  // namespace
}  // namespace berth
