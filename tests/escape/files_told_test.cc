// What a program is kept from in the file system is told, if its policy asks for that: in each
// tier, of sessions, of what is executed in them, and of single programs. The kernel holds it all
// the same, so each test looks at the files too.

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status_matchers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/process.h"
#include "runtime/runtime.h"
#include "sandbox/base/unique_fd.h"
#include "sandbox/policy.h"
#include "sandbox/violation.h"
#include "tests/escape/policy_test.h"
#include "tests/support/actor.h"

namespace berth {
namespace {

namespace fs = std::filesystem;
using ::absl_testing::IsOk;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;
using ::testing::SizeIs;

class FilesToldTest : public PolicyTest {
 protected:
  void SetUp() override {
    PolicyTest::SetUp();
    fs::create_directories(space_ + "/.git/hooks");
    Write(".git/config", "before");
    Write("file", "x");
    Write("keys", "secret");
  }
  bool landlock() const { return GetParam() == Tier::kLandlock; }
  Policy::Builder Telling() const { return Agent().ReportFiles(); }

  // "write /w/x (read-only)", of those that are about files.
  static std::vector<std::string> Told(const absl::StatusOr<std::vector<Violation>>& violations) {
    EXPECT_THAT(violations, IsOk());
    std::vector<std::string> told;
    if (!violations.ok()) return told;
    for (const Violation& each : *violations) {
      if (each.layer != Violation::Layer::kFile) continue;
      EXPECT_GT(each.pid, 1);
      told.push_back(absl::StrCat(each.what, " (", each.reason, ")"));
    }
    return told;
  }
  std::vector<std::string> OfSession(const std::string& line, const Policy::Builder& policy) {
    const auto session = Shell("a", line, policy);
    if (session == nullptr) return {};
    EXPECT_EQ(End(*session).code, 0);
    return Told(session->Violations());
  }
  std::vector<std::string> OfSpawn(Command command, const Policy::Builder& policy) {
    ProcessSpec spec;
    spec.command = std::move(command);
    spec.cwd = space_;
    spec.policy = *policy.Build();
    const auto process = runtime_->Spawn(spec);
    EXPECT_THAT(process, IsOk());
    if (!process.ok()) return {};
    const auto end = (*process)->Wait(Soon());
    EXPECT_THAT(end, IsOk());
    EXPECT_EQ(end->code, 0);
    return Told((*process)->Violations());
  }

  // What the same deeds are called in each tier.
  std::string Unseen() const { return landlock() ? "(not allowed)" : "(not shown)"; }
};

constexpr char kDeeds[] =
    "(echo x >.git/hooks/pre-commit; cat /no/such/place; echo x >/usr/berth-was-here; "
    "mkdir /usr/berth-folder; rm -f .git/config; mv .git .gone; ln keys /usr/berth-link; "
    "cat ../../../../../../../../../../../../etc/shadow; echo x >../outside/new) 2>/dev/null; true";

TEST_P(FilesToldTest, WhatIsHeldIsToldOfASession) {
  const std::vector<std::string> told = OfSession(kDeeds, Telling());
  EXPECT_THAT(told, IsSupersetOf({absl::StrCat("open /no/such/place ", Unseen()),
                                  std::string("write /usr/berth-was-here (read-only)"),
                                  std::string("make /usr/berth-folder (read-only)"),
                                  absl::StrCat("link ", space_,
                                               "/keys to /usr/berth-link "
                                               "(read-only)"),
                                  absl::StrCat("open /etc/shadow ", Unseen())}));
  EXPECT_FALSE(fs::exists(outside_ + "/new"));
  if (landlock()) {  // no private folders, where this is; no carve-outs
    EXPECT_THAT(told, Contains(absl::StrCat("write ", outside_, "/new (not allowed)")));
    return;
  }
  EXPECT_THAT(
      told,
      IsSupersetOf({absl::StrCat("write ", space_,
                                 "/.git/hooks/pre-commit "
                                 "(read-only)"),
                    absl::StrCat("remove ", space_, "/.git/config (read-only)"),
                    absl::StrCat("rename ", space_, "/.git to ", space_, "/.gone (read-only)")}));
  EXPECT_EQ(Read(".git/config"), "before");
  EXPECT_FALSE(fs::exists(space_ + "/.git/hooks/pre-commit"));
}

TEST_P(FilesToldTest, WhatIsHeldIsToldOfASingleProgram) {
  // Twice and more, so that one of them finds a sandbox that was prepared.
  for (int i = 0; i < 4; ++i) {
    const std::vector<std::string> told = OfSpawn(Command::Shell(kDeeds), Telling());
    EXPECT_THAT(told, Contains("write /usr/berth-was-here (read-only)"));
    EXPECT_THAT(told, Contains(absl::StrCat("open /etc/shadow ", Unseen())));
    if (landlock()) return;
    EXPECT_THAT(told, Contains(absl::StrCat("write ", space_,
                                            "/.git/hooks/pre-commit "
                                            "(read-only)")));
  }
}

TEST_P(FilesToldTest, WhatIsHeldIsToldOfWhatIsExecutedInASession) {
  const auto session = Shell("a", "read x", Telling());
  ASSERT_NE(session, nullptr);
  ProcessSpec spec;
  spec.command = Command::Shell("echo x >/usr/berth-was-here; true");
  const auto process = session->Exec(spec);
  ASSERT_THAT(process, IsOk());
  ASSERT_THAT((*process)->Wait(Soon()), IsOk());
  EXPECT_THAT(Told(session->Violations()), Contains("write /usr/berth-was-here (read-only)"));
  EXPECT_THAT(session->Stop(absl::ZeroDuration()), IsOk());
}

TEST_P(FilesToldTest, ItIsAnEventAtOnce) {
  const auto session = Shell("a", "echo x 2>/dev/null >/usr/berth-was-here; read x", Telling());
  ASSERT_NE(session, nullptr);
  const Event event = Next(*runtime_);
  EXPECT_EQ(event.kind, Event::Kind::kViolation);
  EXPECT_EQ(event.violation.layer, Violation::Layer::kFile);
  EXPECT_EQ(event.detail, "blocked: write /usr/berth-was-here (read-only)");
  EXPECT_THAT(session->Stop(absl::ZeroDuration()), IsOk());
}

TEST_P(FilesToldTest, WhatIsHiddenIsTold) {
  if (landlock()) return;  // it hides nothing in what it shows
  EXPECT_THAT(OfSession("cat keys; true", Telling().Hide(space_ + "/keys")),
              Contains(absl::StrCat("open ", space_, "/keys (hidden)")));
}

// `git init` where there is no repository: the folder that keeps its hooks from being made is
// read-only as a whole.
TEST_P(FilesToldTest, WhatIsInAFolderThatStandsForACarveOutIsTold) {
  if (landlock()) return;
  fs::remove_all(space_ + "/.git");
  EXPECT_THAT(OfSession("echo x 2>/dev/null >.git/HEAD; true", Telling()),
              Contains(absl::StrCat("write ", space_, "/.git/HEAD (read-only)")));
}

TEST_P(FilesToldTest, NothingIsToldWithoutTheOption) {
  EXPECT_THAT(OfSession(kDeeds, Agent()), IsEmpty());
  EXPECT_THAT(OfSpawn(Command::Shell(kDeeds), Agent()), IsEmpty());
}

TEST_P(FilesToldTest, AProgramThatKeepsToItsWorkspaceWorksAndIsNotTold) {
  constexpr char kWork[] =
      "set -e; mkdir -p sub/deep; echo one >sub/a; cp sub/a sub/deep/b; mv sub/a sub/c; "
      "ln sub/c sub/d; ln -s c sub/e; cat sub/e >>sub/deep/b; truncate -s 3 sub/d; rm sub/e; "
      "test \"$(cat sub/deep/b)\" = \"$(printf 'one\\none')\"; : >/dev/null; echo >/dev/stdout; "
      "cat </dev/null; t=$(mktemp -p .); echo x >$t; rm $t; rm -r sub; echo done >result";
  EXPECT_THAT(OfSession(kWork, Telling()), IsEmpty());
  EXPECT_EQ(Read("result"), "done\n");
  EXPECT_THAT(OfSpawn(Command::Shell(kWork), Telling()), IsEmpty());
  EXPECT_FALSE(fs::exists(space_ + "/sub"));
}

const Actor kByFolder("by-folder", [](const std::vector<std::string>& args) {
  const UniqueFd git(open((args[0] + "/.git").c_str(), O_PATH | O_CLOEXEC));
  const UniqueFd sub(open(args[0].c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!git.ok() || !sub.ok() || chdir("/usr/lib") != 0) return 1;
  openat(git.get(), "./hooks//x", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  openat(sub.get(), "../../../../../../../../../../../../etc/./shadow", O_RDONLY | O_CLOEXEC);
  mkdir("../berth-folder", 0700);
  syscall(SYS_renameat2, sub.get(), "file", git.get(), "config", 0);
  // What is no path, and a descriptor that is none, go on to the kernel as they are.
  if (openat(-5, "x", O_RDONLY) != -1 || errno != EBADF) return 2;
  if (syscall(SYS_openat, AT_FDCWD, 1, O_RDONLY) != -1 || errno != EFAULT) return 3;
  if (openat(sub.get(), "", O_RDONLY) != -1 || errno != ENOENT) return 4;
  const UniqueFd keys(openat(sub.get(), "keys", O_RDONLY | O_CLOEXEC));
  return keys.ok() ? 0 : 5;
});

TEST_P(FilesToldTest, ByDescriptorsAndRelativePathsToo) {
  const std::vector<std::string> told =
      OfSpawn(Command::Argv(ActorCommand({"by-folder", space_})), Telling());
  EXPECT_THAT(told, IsSupersetOf({absl::StrCat("open /etc/shadow ", Unseen()),
                                  std::string("make /usr/berth-folder (read-only)")}));
  if (landlock()) return;
  EXPECT_THAT(told, IsSupersetOf({absl::StrCat("write ", space_, "/.git/hooks/x (read-only)"),
                                  absl::StrCat("rename ", space_, "/file to ", space_,
                                               "/.git/config (read-only)")}));
}

const Actor kOpenMuch("open-much", [](const std::vector<std::string>&) {
  constexpr int kThreads = 4, kEach = 250;
  int opened[kThreads] = {}, refused[kThreads] = {};
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&opened, &refused, i] {
      for (int j = 0; j < kEach; ++j) {
        const UniqueFd fd(open("/dev/null", O_RDONLY | O_CLOEXEC));
        opened[i] += fd.ok();
        refused[i] += open("/usr/berth-was-here", O_WRONLY | O_CREAT | O_CLOEXEC, 0600) < 0;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  int all = 0;
  for (int i = 0; i < kThreads; ++i) all += opened[i] + refused[i];
  return all == 2 * kThreads * kEach ? 0 : 1;
});

TEST_P(FilesToldTest, AThousandOpensAreAllAnsweredAndAThousandToldOf) {
  const auto session = Act("a", {"open-much"}, Telling());
  ASSERT_NE(session, nullptr);
  EXPECT_EQ(End(*session).code, 0);
  EXPECT_GE(session->Info()->violations, 1000);
  EXPECT_THAT(Told(session->Violations()),
              AllOf(SizeIs(256), Each(HasSubstr("write /usr/berth-was-here (read-only)"))));
}

const Actor kSetId("set-id", [](const std::vector<std::string>&) {
  const int fd = open("tool", O_WRONLY | O_CREAT | O_CLOEXEC, 04700);
  return fd < 0 && errno == EPERM ? 0 : 1;
});

TEST_P(FilesToldTest, WhatTheFilterRefusesItStillRefuses) {
  ProcessSpec spec;
  spec.command = Command::Argv(ActorCommand({"set-id"}));
  spec.cwd = space_;
  spec.policy = *Telling().DenySyscalls({"symlinkat"}).Build();
  const auto process = runtime_->Spawn(spec);
  ASSERT_THAT(process, IsOk());
  EXPECT_EQ((*process)->Wait(Soon())->code, 0);
  EXPECT_FALSE(fs::exists(space_ + "/tool"));
  const auto violations = (*process)->Violations();
  ASSERT_THAT(violations, IsOk());
  EXPECT_THAT(*violations,
              Contains(AllOf(testing::Field(&Violation::layer, Violation::Layer::kSyscall),
                             testing::Field(&Violation::what, HasSubstr("set-user-id")))));
}

TEST_P(FilesToldTest, ADeniedCallIsRefusedAndNotLetGoOn) {
  const auto session = Shell("a", "ln -s x link; test ! -e link -a ! -L link",
                             Telling().DenySyscalls({"symlinkat", "symlink"}));
  ASSERT_NE(session, nullptr);
  EXPECT_EQ(End(*session).code, 0);
  EXPECT_FALSE(fs::is_symlink(space_ + "/link"));
}

const Actor kWeird("weird", [](const std::vector<std::string>&) {
  // Control characters, bytes that are no UTF-8, and more than is kept.
  open("/usr/\x1b[31m\xff\n", O_WRONLY | O_CLOEXEC);
  open(("/usr/" + std::string(3000, 'x')).c_str(), O_WRONLY | O_CLOEXEC);
  return 0;
});

TEST_P(FilesToldTest, NamesOfAnyBytesAreBounded) {
  const std::vector<std::string> told = OfSpawn(Command::Argv(ActorCommand({"weird"})), Telling());
  EXPECT_THAT(told, Contains("write /usr/\x1b[31m\xff\n (read-only)"));
  for (const std::string& each : told) EXPECT_LT(each.size(), 600u);
}

const Actor kDie("die", [](const std::vector<std::string>&) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([] {
      while (true) UniqueFd(open("/usr/berth-was-here", O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    });
  }
  for (std::thread& thread : threads) thread.join();
  return 0;
});

TEST_P(FilesToldTest, OneThatIsKilledWhileItAsksLeavesTheOthersServed) {
  const auto session = Act("a", {"die"}, Telling());
  ASSERT_NE(session, nullptr);
  EXPECT_EQ(Next(*runtime_).kind, Event::Kind::kViolation);
  ProcessSpec spec;
  spec.command = Command::Shell("cat keys");
  spec.cwd = space_;
  const auto process = session->Exec(spec);
  ASSERT_THAT(process, IsOk());
  EXPECT_EQ((*process)->Wait(Soon())->code, 0);
  ASSERT_THAT(session->Stop(absl::ZeroDuration()), IsOk());
  EXPECT_NE(End(*session).signal, 0);
}

INSTANTIATE_TEST_SUITE_P(Tiers, FilesToldTest, AllTiers(), TierOf);

}  // namespace
}  // namespace berth
