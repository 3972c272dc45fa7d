#include "runtime/nix/flake_files.h"

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "absl/status/status.h"
#include "absl/status/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace berth {
namespace {

namespace fs = std::filesystem;
using ::absl_testing::IsOk;
using ::absl_testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::Key;

class FlakeFiles : public testing::Test {
 protected:
  void SetUp() override {
    std::string path = testing::TempDir() + "/flakeXXXXXX";
    ASSERT_NE(mkdtemp(path.data()), nullptr);
    folder_ = path;
  }
  void TearDown() override { fs::remove_all(folder_); }
  void Write(const std::string& name, const std::string& text) {
    fs::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name) << text;
  }
  fs::path folder_;
};

TEST_F(FlakeFiles, AreThoseThatTheCodeNamesFromOneToTheNext) {
  Write("flake.nix", "{ outputs = x: import ./nix/shell.nix { hooks = ./hooks; }; }");
  Write("nix/shell.nix", "import ../versions.nix # and ./gone.nix");
  Write("versions.nix", "{}");
  Write("hooks/deep/a.sh", "echo a");
  Write("src/main.c", "int main;");
  auto files = HashFlakeFiles(folder_);
  ASSERT_THAT(files, IsOk());
  EXPECT_THAT(*files, ElementsAre(Key("flake.lock"), Key("flake.nix"), Key("hooks/deep/a.sh"),
                                  Key("nix/gone.nix"), Key("nix/shell.nix"), Key("versions.nix")));
  Write("src/main.c", "int changed;");
  EXPECT_EQ(DescribeChange(*files, *HashFlakeFiles(folder_)), "");
  Write("hooks/deep/a.sh", "echo b");
  EXPECT_EQ(DescribeChange(*files, *HashFlakeFiles(folder_)), "hooks/deep/a.sh has changed");
  Write("hooks/deep/a.sh", "echo a");
  Write("nix/gone.nix", "{}");
  EXPECT_EQ(DescribeChange(*files, *HashFlakeFiles(folder_)), "nix/gone.nix has changed");
}

TEST_F(FlakeFiles, TheWholeTreeIfTheCodeNamesIt) {
  Write("flake.nix", "{ src = ./.; }");
  Write("src/main.c", "int main;");
  Write(".git/index", "x");
  auto files = HashFlakeFiles(folder_);
  ASSERT_THAT(files, IsOk());
  EXPECT_THAT(*files, ElementsAre(Key("flake.lock"), Key("flake.nix"), Key("src/main.c")));
  Write("src/new.c", "");
  EXPECT_EQ(DescribeChange(*files, *HashFlakeFiles(folder_)), "src/new.c is new");
}

TEST_F(FlakeFiles, NoneWithoutAFlake) {
  EXPECT_THAT(HashFlakeFiles(folder_), StatusIs(absl::StatusCode::kNotFound));
}

TEST_F(FlakeFiles, ALoopOfLinksEnds) {
  Write("flake.nix", "{ a = ./.; }");
  fs::create_directory_symlink(".", folder_ / "self");
  auto files = HashFlakeFiles(folder_);
  ASSERT_THAT(files, IsOk());
  EXPECT_EQ(files->at("self"), "-> .");
}

}  // namespace
}  // namespace berth
