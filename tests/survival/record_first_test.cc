// Scenario 28: nothing of a workload runs before its record is durable; without a record nothing
// runs at all.

#include <fcntl.h>
#include <linux/fs.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/status_matchers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/record/record.h"
#include "runtime/record/store.h"
#include "runtime/runtime.h"
#include "runtime/session.h"
#include "runtime/spec.h"
#include "sandbox/base/unique_fd.h"
#include "tests/support/actor.h"
#include "tests/support/tree_test.h"

namespace berth {
namespace {

using ::absl_testing::IsOk;
using ::testing::HasSubstr;

namespace fs = std::filesystem;

// The program's first act: to look for its own record. Arguments: state directory, where to report.
int Look(const std::vector<std::string>& args) {
  const auto store = Store::Open(args[0]);
  if (!store.ok()) return 1;
  const absl::StatusOr<Record> record = (*store)->Find(getenv("BERTH_SESSION"));
  if (!record.ok()) {
    Report(args[1], absl::StrCat("no record: ", record.status().message()));
    return 2;
  }
  const bool ours = record->leader.pid == getpid() && record->token == getenv("BERTH_TOKEN") &&
                    CheckIdentity(record->leader) == Liveness::kAlive &&
                    CheckIdentity(record->keeper) == Liveness::kAlive &&
                    record->keeper.pid == getppid();
  Report(args[1], absl::StrCat(record->state, ours ? " and ours" : " but not ours"));
  return 0;
}

int Mark(const std::vector<std::string>& args) {
  Report(args[0], "ran");
  return 0;
}

const Actor kLook("look", &Look);
const Actor kMark("mark", &Mark);

class RecordFirst : public TreeTest {
 protected:
  void SetUp() override {
    TreeTest::SetUp();
    reports_ = std::make_unique<Fifo>(Path("reports"));
  }
  SessionSpec MarkSpec(const std::string& name) {
    return {.name = name, .command = Command::Argv(ActorCommand({"mark", reports_->path()}))};
  }
  // Neither a process nor a file of a session.
  void ExpectNothingMade() {
    EXPECT_TRUE(reports_->Quiet()) << reports_->Line();
    EXPECT_TRUE(runtime_->List()->empty());
    for (const char* folder : {"/sessions", "/run"}) {
      for (const auto& entry : fs::directory_iterator(dir_ + folder)) ADD_FAILURE() << entry.path();
    }
  }
  std::unique_ptr<Fifo> reports_;
};

TEST_F(RecordFirst, TheProgramFindsItsOwnWholeRecordAtItsFirstInstruction) {
  for (int i = 0; i < 20; ++i) {
    auto session = Create({.name = absl::StrCat("look", i),
                           .command = Command::Argv(ActorCommand({"look", dir_, reports_->path()})),
                           .pty = i % 2 == 0,
                           .durable = i % 4 < 2});
    ASSERT_NE(session, nullptr);
    EXPECT_EQ(reports_->Line(), "running and ours");
    EXPECT_EQ(session->Wait(Soon())->code, 0);
  }
}

// Not even root writes there. False where the file system knows no such flag.
bool SetImmutable(const std::string& path, bool on) {
  const UniqueFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  int flags = 0;
  if (ioctl(fd.get(), FS_IOC_GETFLAGS, &flags) != 0) return false;
  flags = on ? flags | FS_IMMUTABLE_FL : flags & ~FS_IMMUTABLE_FL;
  return ioctl(fd.get(), FS_IOC_SETFLAGS, &flags) == 0;
}

TEST_F(RecordFirst, AnUnwritableFolderFailsTheStartAndNothingRuns) {
  for (const std::string folder : {"/sessions", "/names", "/run"}) {
    const std::string path = dir_ + folder;
    const bool root = geteuid() == 0;
    if (root && !SetImmutable(path, true))
      GTEST_SKIP() << "root writes everywhere on this file system";
    if (!root) {
      ASSERT_EQ(chmod(path.c_str(), 0500), 0);
    }
    const auto session = runtime_->CreateSession(MarkSpec("a"));
    if (root) {
      ASSERT_TRUE(SetImmutable(path, false));
    } else {
      ASSERT_EQ(chmod(path.c_str(), 0700), 0);
    }
    EXPECT_EQ(session.status().code(), absl::StatusCode::kPermissionDenied)
        << folder << ": " << session.status();
    ExpectNothingMade();
  }
  // And the name is free.
  auto session = Create(MarkSpec("a"));
  ASSERT_NE(session, nullptr);
  EXPECT_EQ(reports_->Line(), "ran");
}

// The gate is behind the second write of the record, when keeper and program are there and the
// latter waits.
TEST_F(RecordFirst, ARecordThatCannotBeWrittenAtTheGateFailsTheStartAndNothingRuns) {
  auto before = Create(MarkSpec("a"));
  ASSERT_NE(before, nullptr);
  EXPECT_EQ(reports_->Line(), "ran");
  const uintmax_t whole =
      fs::file_size(absl::StrCat(dir_, "/sessions/", RecordOf("a").uid, "/record.json"));
  ASSERT_THAT(before->Destroy(absl::ZeroDuration()), IsOk());

  // The record as it is reserved is far shorter than the whole one, so it is the second write that
  // fails.
  signal(SIGXFSZ, SIG_IGN);
  rlimit old;
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &old), 0);
  rlimit less = old;
  less.rlim_cur = whole - 20;
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &less), 0);
  const absl::Time start = absl::Now();
  const auto session = runtime_->CreateSession(MarkSpec("a"));
  const absl::Duration took = absl::Now() - start;
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &old), 0);
  EXPECT_FALSE(session.ok());
  EXPECT_THAT(session.status().message(), HasSubstr("record"));
  EXPECT_LT(took, absl::Seconds(3)) << "it waited out the grace of a program that never ran";
  ExpectNothingMade();
}

}  // namespace
}  // namespace berth
