// Scenario 34: dev shells of a real nix, evaluated once.

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/status_matchers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/env.h"
#include "runtime/nix/nix_tool.h"
#include "runtime/runtime.h"
#include "runtime/session.h"
#include "runtime/spec.h"
#include "sandbox/policy.h"
#include "tests/nix/nix_store.h"
#include "tests/support/runtime_test.h"

namespace berth {
namespace {

namespace fs = std::filesystem;
using ::absl_testing::IsOk;
using ::absl_testing::StatusIs;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class Nix : public RuntimeTest {
 protected:
  void SetUp() override {
    RuntimeTest::SetUp();
    store_ = std::make_unique<NixStore>(work_);
  }
  void TearDown() override {
    store_.reset();
    RuntimeTest::TearDown();
  }

  // What `line` prints in the dev shell of `flake`, and in *how whether nix was run for it.
  std::string Print(const std::string& flake, const std::string& line, std::string* how = nullptr,
                    const Env& env = Env::Basic(), bool wrapped = false) {
    auto session = runtime_->CreateSession({.name = absl::StrCat("s", ++count_),
                                            .backend = "nix",
                                            .command = Command::Shell(line),
                                            .env = env,
                                            .pty = false,
                                            .nix = {.flake = flake, .wrapped = wrapped}});
    EXPECT_THAT(session, IsOk());
    if (!session.ok()) return "";
    if (how != nullptr) *how = (*session)->Info()->labels["berth.nix"];
    auto output = (*session)->OpenOutput({});
    EXPECT_THAT(output, IsOk());
    return ReadAll(output->fd.get());
  }

  std::unique_ptr<NixStore> store_;
  int count_ = 0;
};

TEST_F(Nix, TheSecondStartRunsNoNix) {
  const std::string flake = store_->MakeFlake("flake", R"({ MY_VAR = "it's $HOME \"quoted\""; })");
  std::string how;
  EXPECT_EQ(Print(flake, "printf %s \"$MY_VAR\"", &how), "it's $HOME \"quoted\"");
  EXPECT_EQ(how, "evaluated: it is the first time");
  const int runs = store_->Runs();
  EXPECT_GE(runs, 1);
  EXPECT_EQ(Print(flake, "printf %s \"$MY_VAR\"", &how), "it's $HOME \"quoted\"");
  EXPECT_EQ(how, "kept");
  EXPECT_EQ(store_->Runs(), runs);
  // In another process too.
  runtime_ = OtherRuntime();
  Print(flake, "true", &how);
  EXPECT_EQ(how, "kept");
  EXPECT_EQ(store_->Runs(), runs);
}

TEST_F(Nix, AChangeOfTheFlakeOrOfWhatItImportsIsSeen) {
  const std::string flake = store_->MakeFlake("flake", "(import ./more.nix)");
  std::ofstream(flake + "/more.nix") << "{ V = \"one\"; }";
  std::string how;
  EXPECT_EQ(Print(flake, "echo $V"), "one\n");
  std::ofstream(flake + "/more.nix") << "{ V = \"two\"; }";
  EXPECT_EQ(Print(flake, "echo $V", &how), "two\n");
  EXPECT_EQ(how, "evaluated: more.nix has changed");
  store_->MakeFlake("flake", "{ V = \"three\"; }");
  EXPECT_EQ(Print(flake, "echo $V", &how), "three\n");
  EXPECT_EQ(how, "evaluated: flake.nix has changed");
  std::ofstream(flake + "/flake.lock") << R"({"nodes":{"root":{}},"root":"root","version":7})";
  EXPECT_EQ(Print(flake, "echo $V", &how), "three\n");
  EXPECT_EQ(how, "evaluated: flake.lock has changed");
  Print(flake, "true", &how);
  EXPECT_EQ(how, "kept");
}

TEST_F(Nix, ALostRootOrADamagedCacheIsAMissWithTheReason) {
  const std::string flake = store_->MakeFlake("flake", "{ V = \"one\"; }");
  std::string how;
  Print(flake, "true");
  const fs::path place = fs::directory_iterator(dir_ + "/nix")->path();
  const fs::path kept = fs::canonical(place / "root");
  for (const auto& entry : fs::directory_iterator(place)) {
    if (entry.is_symlink()) fs::remove(entry);
  }
  auto gc = runtime_->Spawn({.command = Command::Argv({"nix", "--extra-experimental-features",
                                                       "nix-command", "store", "gc"}),
                             .env = Env::Inherit()});
  ASSERT_THAT(gc, IsOk());
  ASSERT_TRUE((*gc)->Wait(Soon())->success());
  ASSERT_FALSE(fs::exists(kept));
  EXPECT_EQ(Print(flake, "echo $V", &how), "one\n");
  EXPECT_EQ(how, "evaluated: its GC root is gone");
  std::fstream(place / "env", std::ios::in | std::ios::out).seekp(100) << "x";
  EXPECT_EQ(Print(flake, "echo $V", &how), "one\n");
  EXPECT_EQ(how, "evaluated: what was kept of it is damaged");
  Print(flake, "true", &how);
  EXPECT_EQ(how, "kept");
}

TEST_F(Nix, HomeAndTmpdirCanBeUsedAndTheCallersWordStands) {
  const std::string flake = store_->MakeFlake("flake", "{ V = \"of the shell\"; W = \"w\"; }");
  Env env = Env::Basic();
  env.Set("V", "of the caller").Set("TMPDIR", work_);
  EXPECT_EQ(Print(flake, "echo $V $W; touch $HOME/a && mktemp -u | grep -c ^$TMPDIR", nullptr, env),
            "of the caller w\n1\n");
}

TEST_F(Nix, TheShellHookRunsWithItsFunctionsAtEachStart) {
  const std::string flake = store_->MakeFlake(
      "flake", R"({ shellHook = "greet() { export GREETING=\"hello $1\"; }; greet you"; })");
  std::string how;
  for (int i = 0; i < 2; ++i) EXPECT_EQ(Print(flake, "echo $GREETING", &how), "hello you\n");
  EXPECT_EQ(how, "kept");
}

// What a shell has that is not exported comes before its hook; of nixpkgs' own that is 100 KiB. The
// kernel lets no word of a command line have more than 128.
TEST_F(Nix, AShellHookMayBeLongerThanOneWordOfACommandLine) {
  const std::string flake = store_->MakeFlake(
      "flake", R"({ stdenv = ./stdenv; shellHook = "greet you; export SIZE=\${#big}"; })");
  fs::create_directories(flake + "/stdenv");
  std::ofstream(flake + "/stdenv/setup")
      << "big='" << std::string(400 << 10, 'x') << "'\n"
      << "words=(one 'two  three' \"it's\")\n"
      << "greet() { export GREETING=\"$1: ${words[1]}, ${words[2]} $#\"; }\n";
  std::string how;
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(Print(flake, "echo \"$GREETING\" $SIZE $#; env | grep -c _berth_", &how),
              "you: two  three, it's 1 409600 0\n0\n");
  }
  EXPECT_EQ(how, "kept");
}

TEST_F(Nix, IsTheSameAsNixDevelop) {
  const std::string flake = store_->MakeFlake(
      "flake", R"({ V = "a\nb  c"; LIST = [ "x" "y z" ]; shellHook = "export H=$V"; })");
  const std::string line = "printf '%s|' \"$V\" \"$LIST\" \"$H\" \"$IN_NIX_SHELL\" \"$name\"";
  EXPECT_EQ(Print(flake, line), Print(flake, line, nullptr, Env::Basic(), /*wrapped=*/true));
}

TEST_F(Nix, ABrokenNixIsToldLoudlyAndNothingIsLeft) {
  const std::string flake = store_->MakeFlake("flake", "{ V = \"one\"; }");
  store_->BreakNix();
  EXPECT_THAT(runtime_->CreateSession({.name = "x",
                                       .backend = "nix",
                                       .command = Command::Shell("true"),
                                       .nix = {.flake = flake}}),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       AllOf(HasSubstr("code 3"), HasSubstr("the store is on fire"))));
  EXPECT_TRUE(runtime_->List()->empty());
}

TEST_F(Nix, AFlakeThatIsWrongIsToldWithWhatNixSays) {
  const std::string flake = store_->MakeFlake("flake", "{ V = nowhere; }");
  EXPECT_THAT(runtime_->CreateSession({.name = "x",
                                       .backend = "nix",
                                       .command = Command::Shell("true"),
                                       .nix = {.flake = flake}}),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("nowhere")));
  EXPECT_THAT(runtime_->CreateSession({.name = "x",
                                       .backend = "nix",
                                       .command = Command::Shell("true"),
                                       .nix = {.flake = work_ + "/home"}}),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("flake.nix")));
}

TEST_F(Nix, WithoutNixTheMessageSaysWhatToInstall) {
  const std::string path = getenv("PATH");
  setenv("PATH", (work_ + "/home").c_str(), 1);
  EXPECT_FALSE(IsNixInstalled());
  const auto none = runtime_->CreateSession(
      {.name = "x", .backend = "nix", .command = Command::Shell("true"), .nix = {.flake = work_}});
  setenv("PATH", path.c_str(), 1);
  EXPECT_THAT(none, StatusIs(absl::StatusCode::kFailedPrecondition,
                             AllOf(HasSubstr("nix is not on PATH"), HasSubstr("install"))));
  EXPECT_TRUE(IsNixInstalled());
  EXPECT_TRUE(IsNixSupported());
}

// A program of the store, which no preset lists.
TEST_F(Nix, UnderAPolicyTheStoreIsSeenAndCannotBeWritten) {
  const std::string flake = store_->MakeFlake("flake", "{ V = ./tool; }");
  std::ofstream(flake + "/tool") << "#!/bin/sh\necho from the store\n";
  fs::permissions(flake + "/tool", fs::perms::owner_all);
  fs::create_directories(work_ + "/project");
  std::ofstream(work_ + "/secret") << "secret";
  const auto print = [&](const Policy& policy, const std::string& line) {
    auto session = runtime_->CreateSession({.name = absl::StrCat("s", ++count_),
                                            .backend = "nix",
                                            .command = Command::Shell(line),
                                            .cwd = work_ + "/project",
                                            .pty = false,
                                            .policy = policy,
                                            .nix = {.flake = flake}});
    EXPECT_THAT(session, IsOk());
    if (!session.ok()) return std::string();
    EXPECT_NE((*session)->Info()->tier, "");
    return ReadAll((*session)->OpenOutput({})->fd.get());
  };
  const std::string line = absl::StrCat("$V; touch $V 2>/dev/null && echo written; cat ", work_,
                                        "/secret 2>/dev/null && echo seen; echo end");
  const auto agent = Policy::Agent(work_ + "/project").Build();
  ASSERT_THAT(agent, IsOk());
  EXPECT_EQ(print(*agent, line), "from the store\nend\n");
  // Whoever lists it says how it is seen.
  const auto hidden = Policy::Agent(work_ + "/project").Hide(work_ + "/store").Build();
  ASSERT_THAT(hidden, IsOk());
  EXPECT_EQ(print(*hidden, "test -e $V || echo hidden"), "hidden\n");
}

// Nix itself runs inside of the policy then, so the policy shows what it reads and writes.
TEST_F(Nix, AWrappedShellRunsUnderAPolicyThatShowsWhatNixNeeds) {
  const std::string flake = store_->MakeFlake("flake", "{ V = \"from the shell\"; }");
  fs::create_directories(work_ + "/project");
  std::ofstream(work_ + "/secret") << "secret";
  auto builder = Policy::Agent(work_ + "/project");
  for (const char* read : {"/flake", "/conf", "/bin"}) builder.ReadOnly(work_ + read);
  for (const char* written : {"/store", "/var", "/log"}) {
    fs::create_directories(work_ + written);
    builder.ReadWrite(work_ + written);
  }
  std::ofstream(work_ + "/runs").close();  // the counter of NixStore
  builder.ReadWrite(work_ + "/runs");
  const auto policy = builder.Build();
  ASSERT_THAT(policy, IsOk());
  auto session = runtime_->CreateSession(
      {.name = "wrapped",
       .backend = "nix",
       .command =
           Command::Shell(absl::StrCat("echo $V; cat ", work_, "/secret && echo seen; exit 7")),
       .cwd = work_ + "/project",
       .pty = false,
       .policy = *policy,
       .nix = {.flake = flake, .wrapped = true}});
  ASSERT_THAT(session, IsOk());
  EXPECT_NE((*session)->Info()->tier, "");
  EXPECT_EQ(ReadAll((*session)->OpenOutput({})->fd.get()), "from the shell\n");
  EXPECT_EQ((*session)->Wait(Soon())->code, 7);
  EXPECT_EQ(store_->Runs(), 1);
}

TEST_F(Nix, ASessionIsOpenedAgainByItsHandle) {
  const std::string flake = store_->MakeFlake("flake", "{ V = \"one\"; }");
  auto session = runtime_->CreateSession({.name = "dev",
                                          .backend = "nix",
                                          .command = Command::Shell("read line; exit 4"),
                                          .nix = {.flake = flake}});
  ASSERT_THAT(session, IsOk());
  EXPECT_THAT((*session)->handle(), StartsWith("nix:"));
  auto other = OtherRuntime();
  auto again = other->Open((*session)->handle());
  ASSERT_THAT(again, IsOk());
  EXPECT_EQ((*again)->Info()->backend, "nix");
  EXPECT_THAT((*again)->Send({.text = ""}), IsOk());
  EXPECT_EQ((*again)->Wait(Soon())->code, 4);
}

}  // namespace
}  // namespace berth
