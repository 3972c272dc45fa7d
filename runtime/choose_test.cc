#include "runtime/choose.h"

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "absl/status/status.h"
#include "absl/status/status_matchers.h"
#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/spec.h"

namespace berth {
namespace {

using ::absl_testing::IsOk;
using ::absl_testing::StatusIs;
using ::testing::HasSubstr;

absl::Status AllWork(absl::string_view) { return absl::OkStatus(); }
absl::Status NoneWorks(absl::string_view backend) {
  return absl::UnavailableError(std::string(backend) + " does not answer");
}

class Choose : public testing::Test {
 protected:
  void SetUp() override {
    std::string path = testing::TempDir() + "/chooseXXXXXX";
    ASSERT_NE(mkdtemp(path.data()), nullptr);
    folder_ = path;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  void MakeFlake() { std::ofstream(folder_ + "/flake.nix") << "{}"; }
  std::string folder_;
};

TEST_F(Choose, AsAsked) {
  MakeFlake();
  auto choice = ChooseBackend({.backend = "tmux", .cwd = folder_, .container = {.image = "debian"}},
                              NoneWorks);
  ASSERT_THAT(choice, IsOk());
  EXPECT_EQ(choice->backend, "tmux");
  EXPECT_EQ(choice->reason, "as asked");
}

TEST_F(Choose, DockerForAnImageAndNothingElseIfItCannot) {
  MakeFlake();
  const SessionSpec spec = {.cwd = folder_, .container = {.image = "debian"}};
  EXPECT_EQ(ChooseBackend(spec, AllWork)->backend, "docker");
  EXPECT_THAT(ChooseBackend(spec, NoneWorks),
              StatusIs(absl::StatusCode::kUnavailable, HasSubstr("docker does not answer")));
}

TEST_F(Choose, NixForAFlakeIfThereIsANix) {
  EXPECT_EQ(ChooseBackend({.backend = "auto", .cwd = folder_}, AllWork)->backend, "native");
  MakeFlake();
  EXPECT_EQ(ChooseBackend({.backend = "auto", .cwd = folder_}, AllWork)->backend, "nix");
  const auto without = ChooseBackend({.cwd = folder_}, NoneWorks);
  ASSERT_THAT(without, IsOk());
  EXPECT_EQ(without->backend, "native");
  EXPECT_THAT(without->reason, HasSubstr("nix does not answer"));
}

TEST_F(Choose, AFlakeThatWasNamedIsNotPassedOver) {
  EXPECT_THAT(ChooseBackend({.nix = {.flake = folder_}}, AllWork),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("flake.nix")));
  MakeFlake();
  EXPECT_EQ(ChooseBackend({.nix = {.flake = folder_}}, AllWork)->backend, "nix");
  EXPECT_THAT(ChooseBackend({.nix = {.flake = folder_}}, NoneWorks),
              StatusIs(absl::StatusCode::kUnavailable));
}

}  // namespace
}  // namespace berth
