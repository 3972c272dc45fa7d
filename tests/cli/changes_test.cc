// berth run --workspace cow, berth changes, and what berth run says that it blocked.

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tests/cli/cli_test.h"

namespace berth {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::json;
namespace fs = std::filesystem;

class ChangesCommand : public CliTest {
 protected:
  void SetUp() override {
    CliTest::SetUp();
    fs::create_directory(work_ + "/ws");
    std::ofstream(work_ + "/ws/file") << "before";
  }
  Result Try(const std::string& line) {
    return Run(
        {"run", "--workspace", "cow", "--name", "try", "--cwd", work_ + "/ws", "--shell", line});
  }
  std::string File() const {
    std::ostringstream text;
    text << std::ifstream(work_ + "/ws/file").rdbuf();
    return text.str();
  }
};

TEST_F(ChangesCommand, ARunThatChangedSomethingStaysAndSaysWhatCanBeDone) {
  const Result run = Try("echo -n after >file; echo new >more");
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(run.err, HasSubstr("2 changes are kept apart: 'berth changes try' lists them"));
  EXPECT_EQ(File(), "before");
  EXPECT_EQ(Run({"changes", "try"}).out, "changed file file\nadded file more\n");
  const Json json = Json::parse(Run({"changes", "try", "--json"}).out, nullptr, false);
  EXPECT_EQ(json["changes"][1]["path"], "more");
  EXPECT_EQ(json["changes"][1]["bytes"], 4);
  const Result kept = Run({"changes", "try", "--keep", "file"});
  EXPECT_EQ(kept.code, 0) << kept.err;
  EXPECT_EQ(kept.out, "added file more\n");
  EXPECT_EQ(File(), "after");
  EXPECT_EQ(Run({"rm", "try"}).code, 0);
  EXPECT_FALSE(fs::exists(work_ + "/ws/more"));
}

TEST_F(ChangesCommand, ARunThatChangedNothingLeavesNothing) {
  const Result run = Try("cat file");
  EXPECT_EQ(run.out, "before");
  EXPECT_EQ(run.err, "");
  EXPECT_EQ(Run({"changes", "try"}).code, 125);
}

TEST_F(ChangesCommand, WhatOthersChangedIsRefusedByName) {
  Try("echo -n after >file");
  std::ofstream(work_ + "/ws/file") << "mine";
  const Result kept = Run({"changes", "try", "--keep"});
  EXPECT_EQ(kept.code, 125);
  EXPECT_THAT(kept.err, HasSubstr("'file'"));
  EXPECT_EQ(File(), "mine");
  EXPECT_EQ(Run({"changes", "try", "--discard"}).out, "");
  EXPECT_EQ(Run({"changes", "try", "--keep", "--discard"}).code, 2);
}

TEST_F(ChangesCommand, WhatWasBlockedIsSaidAtTheEndOnce) {
  for (const char* name : {"", "named"}) {
    std::vector<std::string> args{"run", "--preset", "agent", "--cwd", work_ + "/ws"};
    if (*name != '\0') args.insert(args.end(), {"--name", name});
    args.insert(args.end(), {"--", "bash", "-c",
                             "for i in 1 2 3; do echo x >/dev/tcp/192.0.2.7/443; done 2>/dev/null; "
                             "exit 3"});
    const Result run = Run(args);
    EXPECT_EQ(run.code, 3);
    EXPECT_EQ(run.err, "berth: blocked: connect 192.0.2.7:443 (network: none), 3 times\n");
  }
}

TEST_F(ChangesCommand, FilesThatWereBlockedAreSaidIfThatIsAskedFor) {
  std::filesystem::create_directories(work_ + "/ws/.git");
  const std::string line =
      "exec 2>/dev/null; for i in 1 2; do echo x >.git/config; done; echo x >$'/usr/a\\tb'; exit 3";
  const std::string told = absl::StrCat("berth: blocked: write ", work_,
                                        "/ws/.git/config (read-only), 2 times\n"
                                        "berth: blocked: write /usr/a b (read-only)\n");
  for (const char* name : {"", "named"}) {
    for (const bool asks : {false, true}) {
      std::vector<std::string> args{"run", "--preset", "agent", "--cwd", work_ + "/ws"};
      if (asks) args.push_back("--report-files");
      if (*name != '\0') args.insert(args.end(), {"--name", absl::StrCat(name, asks)});
      args.insert(args.end(), {"--", "bash", "-c", line});
      const Result run = Run(args);
      EXPECT_EQ(run.code, 3);
      EXPECT_EQ(run.err, asks ? told : "");
    }
  }
}

TEST_F(ChangesCommand, NothingIsSaidWhereNothingWasBlocked) {
  EXPECT_EQ(Run({"run", "--preset", "agent", "--cwd", work_ + "/ws", "--", "true"}).err, "");
}

}  // namespace
}  // namespace berth
