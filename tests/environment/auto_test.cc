// `auto`, with real engines: whichever it picks, the policy holds there, and where it cannot hold
// nothing runs.

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/status_matchers.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/choose.h"
#include "runtime/runtime.h"
#include "runtime/session.h"
#include "runtime/spec.h"
#include "sandbox/policy.h"
#include "tests/environment/engine_place.h"
#include "tests/support/runtime_test.h"

namespace berth {
namespace {

namespace fs = std::filesystem;
using ::absl_testing::IsOk;
using ::absl_testing::StatusIs;
using ::testing::HasSubstr;

class Auto : public RuntimeTest {
 protected:
  // Before any Runtime is made.
  static void SetUpTestSuite() { docker_ = EnginePlace::StartEngine("docker"); }
  void SetUp() override {
    RuntimeTest::SetUp();
    std::ofstream(work_ + "/secret") << "a secret\n";
  }
  void TearDown() override {
    place_.reset();
    RuntimeTest::TearDown();
  }

  // A session for `auto` that looks for what its policy does not show.
  SessionSpec Spec(const std::string& backend) {
    place_ = std::make_unique<EnginePlace>(backend, work_);
    SessionSpec spec;
    place_->Complete(&spec);
    spec.name = "s";
    spec.backend = "auto";
    spec.pty = false;
    spec.command = Command::Shell(absl::StrCat("cat ", work_, "/secret 2>&1; echo x >written"));
    spec.policy = *Policy::Strict().ReadWrite(place_->project()).Build();
    return spec;
  }
  void ExpectHolds(const SessionSpec& spec, const std::string& backend) {
    EXPECT_EQ(runtime_->Choose(spec)->backend, backend);
    auto session = runtime_->CreateSession(spec);
    ASSERT_THAT(session, IsOk());
    EXPECT_EQ((*session)->Info()->backend, backend);
    EXPECT_THAT(ReadAll((*session)->OpenOutput({})->fd.get()), HasSubstr("No such file"));
    EXPECT_TRUE(fs::exists(place_->project() + "/written")) << "what it may do, it can";
  }
  void ExpectNothingRuns(const SessionSpec& spec, absl::StatusCode code, const std::string& why) {
    EXPECT_THAT(runtime_->CreateSession(spec), StatusIs(code, HasSubstr(why)));
    EXPECT_TRUE(runtime_->List()->empty());
    EXPECT_FALSE(fs::exists(place_->project() + "/written"));
  }

  static absl::Status docker_;
  std::unique_ptr<EnginePlace> place_;
};

absl::Status Auto::docker_;

TEST_F(Auto, NativeHoldsThePolicy) { ExpectHolds(Spec("native"), "native"); }

TEST_F(Auto, NixHoldsThePolicy) { ExpectHolds(Spec("nix"), "nix"); }

TEST_F(Auto, DockerHoldsThePolicy) {
  if (!docker_.ok()) GTEST_SKIP() << docker_.message();
  ExpectHolds(Spec("docker"), "docker");
}

TEST_F(Auto, WithoutANixTheSamePolicyHoldsOnNative) {
  SessionSpec spec = Spec("nix");
  fs::copy_file(spec.nix.flake + "/flake.nix", spec.cwd + "/flake.nix");
  spec.nix = {};
  const std::string path = getenv("PATH");
  setenv("PATH", (work_ + "/nix/home").c_str(), 1);
  EXPECT_THAT(runtime_->Choose(spec)->reason, HasSubstr("nix is not on PATH"));
  spec.env.Set("PATH", path);
  ExpectHolds(spec, "native");
  setenv("PATH", path.c_str(), 1);
}

TEST_F(Auto, AnImageIsNeverRunElsewhere) {
  SessionSpec spec = Spec("native");
  spec.container.image = "debian:12";
  setenv("DOCKER_HOST", absl::StrCat("unix://", work_, "/no.sock").c_str(), 1);
  ExpectNothingRuns(spec, runtime_->Choose(spec).status().code(), "debian:12");
  unsetenv("DOCKER_HOST");
}

// A container is the engine's own kind of isolation: not the one that was asked for.
TEST_F(Auto, ATierThatTheEngineDoesNotHaveIsRefused) {
  if (!docker_.ok()) GTEST_SKIP() << docker_.message();
  SessionSpec spec = Spec("docker");
  spec.policy = *Policy::Builder(*spec.policy).Tier(Tier::kNamespaces).Build();
  EXPECT_EQ(runtime_->Choose(spec)->backend, "docker");
  const absl::Status refused = runtime_->CreateSession(spec).status();
  EXPECT_FALSE(refused.ok());
  ExpectNothingRuns(spec, refused.code(), "tier 'namespaces'");
}

}  // namespace
}  // namespace berth
