// Copy-on-write workspaces: what a session changes is kept apart, listed, kept or discarded,
// however hostile it is.

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/status_matchers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/change.h"
#include "runtime/runtime.h"
#include "runtime/session.h"
#include "sandbox/base/unique_fd.h"
#include "sandbox/policy.h"
#include "tests/escape/policy_test.h"
#include "tests/support/actor.h"

namespace berth {
namespace {

using ::absl_testing::IsOk;
using ::absl_testing::IsOkAndHolds;
using ::absl_testing::StatusIs;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
namespace fs = std::filesystem;

class CowTest : public PolicyTest {
 protected:
  void SetUp() override {
    PolicyTest::SetUp();
    Write("changed", "before");
    Write("gone", "here");
    Write("same", "same");
    fs::create_directories(space_ + "/folder/sub");
    Write("folder/file", "in folder");
    Write("folder/sub/file", "in sub");
    fs::create_symlink("changed", space_ + "/link");
  }
  Policy::Builder Cow() const { return Agent().CopyOnWrite(space_); }
  // Runs it to its end.
  std::unique_ptr<Session> Ran(const std::string& line) {
    std::unique_ptr<Session> session = Shell("cow", line, Cow());
    if (session != nullptr) {
      EXPECT_EQ(End(*session).code, 0);
    }
    return session;
  }
  // "added file x", …
  static std::vector<std::string> Changes(Session& session) {
    const absl::StatusOr<std::vector<Change>> changes = session.Changes();
    EXPECT_THAT(changes, IsOk());
    std::vector<std::string> lines;
    for (const Change& change : changes.value_or(std::vector<Change>())) {
      lines.push_back(absl::StrCat(ChangeKindName(change.kind), " ", ChangeTypeName(change.type),
                                   " ", change.path));
    }
    return lines;
  }
  // All that is in the workspace, with what is in it.
  std::string Tree() const {
    std::vector<std::string> lines;
    for (const auto& entry : fs::recursive_directory_iterator(space_)) {
      const std::string name = entry.path().lexically_relative(space_);
      lines.push_back(entry.is_symlink()
                          ? absl::StrCat(name, " -> ", fs::read_symlink(entry.path()).string())
                      : entry.is_directory() ? name + "/"
                                             : absl::StrCat(name, "=", Read(name)));
    }
    std::sort(lines.begin(), lines.end());
    std::string all;
    for (const std::string& line : lines) absl::StrAppend(&all, line, " ");
    return all;
  }
};

constexpr char kMany[] =
    "echo -n after > changed; rm gone; echo -n new > added; mkdir made; echo -n x > made/file; "
    "ln -sf same link; touch same; rm -r folder; mkdir folder; echo -n again > folder/other; "
    "chmod 700 made; cat changed added";

TEST_P(CowTest, ChangesAreSeenInsideListedOutsideAndNotMade) {
  const std::string before = Tree();
  const auto session = Ran(kMany);
  ASSERT_NE(session, nullptr);
  EXPECT_EQ(Tree(), before);
  EXPECT_THAT(
      Changes(*session),
      ElementsAre("added file added", "changed file changed", "added file folder/other",
                  "deleted file folder/file", "deleted folder folder/sub", "deleted file gone",
                  "changed symlink link", "added folder made", "added file made/file"));
  EXPECT_EQ(session->Capture({})->find("afternew"), 0u);
}

TEST_P(CowTest, KeptTheyAreMadeAndNoneIsLeft) {
  const auto session = Ran(kMany);
  ASSERT_NE(session, nullptr);
  ASSERT_THAT(session->KeepChanges({}), IsOk());
  EXPECT_EQ(Tree(),
            "added=new changed=after folder/ folder/other=again link -> same made/ "
            "made/file=x same=same ");
  EXPECT_EQ(fs::status(space_ + "/made").permissions(), fs::perms::owner_all);
  EXPECT_THAT(Changes(*session), IsEmpty());
  EXPECT_THAT(session->KeepChanges({}), IsOk());  // again is fine
}

TEST_P(CowTest, SomeCanBeKept) {
  const auto session = Ran(kMany);
  ASSERT_NE(session, nullptr);
  ASSERT_THAT(session->KeepChanges({"made/file", "gone"}), IsOk());
  EXPECT_EQ(Read("made/file"), "x");
  EXPECT_FALSE(fs::exists(space_ + "/gone"));
  EXPECT_EQ(Read("changed"), "before");
  EXPECT_THAT(Changes(*session),
              AllOf(Contains("changed file changed"), Not(Contains("deleted file gone"))));
  EXPECT_THAT(session->KeepChanges({"nothing/like/it"}),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("nothing/like/it")));
}

TEST_P(CowTest, DiscardedTheyAreGone) {
  const std::string before = Tree();
  const auto session = Ran(kMany);
  ASSERT_NE(session, nullptr);
  ASSERT_THAT(session->DiscardChanges(), IsOk());
  EXPECT_THAT(Changes(*session), IsEmpty());
  EXPECT_EQ(Tree(), before);
}

TEST_P(CowTest, WhatChangedUnderneathIsRefusedByNameAndNothingIsMade) {
  const auto session = Ran(kMany);
  ASSERT_NE(session, nullptr);
  Write("changed", "mine, since");
  Write("added", "mine too");
  Write("folder/sub/file", "and mine");
  const std::string before = Tree();
  const absl::Status kept = session->KeepChanges({});
  EXPECT_THAT(kept, StatusIs(absl::StatusCode::kFailedPrecondition,
                             AllOf(HasSubstr("'changed'"), HasSubstr("'added'"),
                                   HasSubstr("'folder/sub"))));
  EXPECT_EQ(Tree(), before);
  // The others can be.
  EXPECT_THAT(session->KeepChanges({"gone", "made"}), IsOk());
}

TEST_P(CowTest, NothingIsKeptWhileItRuns) {
  const auto session = Shell("cow", "echo x > added; read x", Cow());
  ASSERT_NE(session, nullptr);
  EXPECT_THAT(session->KeepChanges({}),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("running")));
  EXPECT_THAT(session->DiscardChanges(), StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_FALSE(fs::exists(space_ + "/added"));
}

TEST_P(CowTest, ChangesOutliveTheirKeeperAndGoWithTheSession) {
  const auto session = Ran("echo x > added; mkdir -p deep/er; chmod 0 deep");
  ASSERT_NE(session, nullptr);
  const Record record = RecordOf("cow");
  ASSERT_EQ(record.copy_on_write, std::vector<std::string>{fs::canonical(space_)});
  ASSERT_EQ(kill(static_cast<pid_t>(record.keeper.pid), SIGKILL), 0);
  ExpectGone(static_cast<pid_t>(record.keeper.pid), absl::Seconds(30));
  auto other = OtherRuntime();
  const auto opened = other->Find("cow");
  ASSERT_THAT(opened, IsOk());
  EXPECT_THAT(Changes(**opened), Contains("added file added"));
  ASSERT_THAT((*opened)->Destroy(absl::ZeroDuration()), IsOk());
  EXPECT_FALSE(fs::exists(absl::StrCat(dir_, "/sessions/", record.uid)));
}

const Actor kHostile("hostile", [](const std::vector<std::string>& args) {
  if (chdir(args[0].c_str()) != 0) return 1;
  mkfifo("fifo", 0600);
  mknod("socket", S_IFSOCK | 0600, 0);
  if (symlink(args[1].c_str(), "to-outside") != 0) return 2;
  // A folder that becomes a link out, and a file that becomes a folder.
  if (rename("folder", "folder-was") != 0) {
    unlink("folder/file");
    unlink("folder/sub/file");
    rmdir("folder/sub");
    rmdir("folder");
  }
  if (symlink(args[1].c_str(), "folder") != 0) return 3;
  unlink("changed");
  mkdir("changed", 0700);
  // Names that are no text, and look like others.
  for (const char* name : {"new\nline", "\xff\xfe", "-rf", " ", "..x", "$(id)", ".berth-new-0"}) {
    const UniqueFd fd(open(name, O_CREAT | O_WRONLY | O_CLOEXEC, 0));
    if (!fd.ok() || write(fd.get(), "x", 1) != 1) return 4;
  }
  // A terabyte of nothing.
  const UniqueFd sparse(open("sparse", O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
  if (ftruncate(sparse.get(), int64_t{1} << 36) != 0 ||
      pwrite(sparse.get(), "end", 3, 1 << 30) != 3)
    return 5;
  if (link("gone", "gone-too") != 0) return 6;
  mkdir("closed", 0700);
  const UniqueFd inside(open("closed/file", O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
  chmod("closed", 0);
  return 0;
});

TEST_P(CowTest, AHostileTreeNeitherHoldsUpNorLeadsOut) {
  Write("../outside/kept", "mine");
  const auto session = Act("cow", {"hostile", space_, outside_}, Cow());
  ASSERT_NE(session, nullptr);
  ASSERT_EQ(End(*session).code, 0);
  const std::vector<std::string> changes = Changes(*session);
  EXPECT_THAT(changes,
              AllOf(Contains("added other fifo"), Contains("added other socket"),
                    Contains("added symlink to-outside"), Contains("changed folder changed"),
                    Contains("added file new\nline"), Contains("added file sparse")));
  // Fifos and sockets are not made, and said to be what stands in the way.
  EXPECT_THAT(session->KeepChanges({}),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("fifo")));
  for (const char* path : {"folder", "to-outside", "changed", "new\nline", "\xff\xfe", "-rf",
                           "sparse", "gone-too", "closed"}) {
    EXPECT_THAT(session->KeepChanges({path}), IsOk()) << path;
  }
  EXPECT_EQ(fs::read_symlink(space_ + "/folder"), outside_);
  EXPECT_TRUE(fs::is_directory(space_ + "/changed"));
  struct stat st;
  ASSERT_EQ(stat((space_ + "/sparse").c_str(), &st), 0);
  EXPECT_EQ(st.st_size, int64_t{1} << 36);
  EXPECT_LT(st.st_blocks, 1 << 12);
  ASSERT_EQ(lstat((space_ + "/closed").c_str(), &st), 0);
  EXPECT_EQ(st.st_mode & 0777, 0u);
  EXPECT_EQ(Read("../outside/kept"), "mine");
  size_t left = 0;
  for ([[maybe_unused]] const auto& entry : fs::directory_iterator(outside_)) ++left;
  EXPECT_EQ(left, 1u);
  fs::permissions(space_ + "/closed", fs::perms::owner_all);
}

TEST_P(CowTest, AWorkspaceWhoseFolderBecameALinkIsNotFollowed) {
  const auto session = Ran("echo evil > folder/sub/new");
  ASSERT_NE(session, nullptr);
  fs::remove_all(space_ + "/folder/sub");
  fs::create_symlink(outside_, space_ + "/folder/sub");
  EXPECT_FALSE(session->KeepChanges({}).ok());
  EXPECT_TRUE(fs::is_empty(outside_));
}

TEST_P(CowTest, CarveOutsHoldInItAndLeaveNoTrace) {
  fs::create_directories(space_ + "/.git/hooks");
  Write(".git/config", "mine");
  const auto session =
      Ran("echo evil > .git/hooks/pre-commit; echo evil > .git/config; echo evil > .mcp.json; "
          "echo ok > .git/index; true");
  ASSERT_NE(session, nullptr);
  EXPECT_THAT(Changes(*session), ElementsAre("added file .git/index"));
}

TEST_P(CowTest, ASingleProcessHasNoPlaceForThem) {
  ProcessSpec spec;
  spec.command = Command::Shell("true");
  spec.policy = *Cow().Build();
  EXPECT_THAT(runtime_->Spawn(spec),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("sessions")));
}

TEST_P(CowTest, AStateDirectoryInTheWorkspaceIsRefusedWithTheRemedy) {
  auto runtime = Runtime::Create({.state_dir = space_ + "/state"});
  ASSERT_THAT(runtime, IsOk());
  SessionSpec spec;
  spec.name = "in";
  spec.command = Command::Shell("true");
  spec.policy = *Cow().Build();
  EXPECT_THAT((*runtime)->CreateSession(spec),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("Remedy")));
}

INSTANTIATE_TEST_SUITE_P(Tiers, CowTest, testing::Values(Tier::kNamespaces, Tier::kPooled), TierOf);

class CowLandlockTest : public PolicyTest {};

TEST_P(CowLandlockTest, IsRefusedWithTheRemedy) {
  SessionSpec spec;
  spec.name = "cow";
  spec.command = Command::Shell("true");
  spec.policy = *Agent().CopyOnWrite(space_).Build();
  EXPECT_THAT(runtime_->CreateSession(spec),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("tier namespaces")));
}

INSTANTIATE_TEST_SUITE_P(Tiers, CowLandlockTest, testing::Values(Tier::kLandlock), TierOf);

}  // namespace
}  // namespace berth
