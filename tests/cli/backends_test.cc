// The same commands on every engine, from the command line.

#include <unistd.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tests/cli/cli_test.h"
#include "tests/docker/dockerd.h"
#include "tests/nix/nix_store.h"

namespace berth {
namespace {

using ::testing::HasSubstr;

using Json = nlohmann::json;

class Backends : public CliTest {
 protected:
  // A line is answered; exec sees the same place; all of it ends.
  void LiveThrough(const std::string& backend, std::vector<std::string> options) {
    std::vector<std::string> args = {"start", "one", "--backend", backend};
    args.insert(args.end(), options.begin(), options.end());
    for (const char* word : {"--", "sh", "-c", "while read x; do echo \"got $x\"; done; exit 3"}) {
      args.push_back(word);
    }
    const Result started = Run(args);
    ASSERT_EQ(started.code, 0) << started.err;
    EXPECT_THAT(started.out, HasSubstr(backend + ":"));
    const Json listed = Json::parse(Run({"ls", "--json"}).out);
    EXPECT_EQ(listed[0]["backend"], backend);
    EXPECT_EQ(listed[0]["state"], "running");
    EXPECT_EQ(Run({"send", "one", "--await", "confirmed", "hello"}).code, 0);
    ExpectOnScreen("one", "got hello");
    EXPECT_EQ(Run({"exec", "one", "--", "sh", "-c", "echo inside; exit 4"}).out, "inside\n");
    EXPECT_EQ(Run({"exec", "one", "--", "sh", "-c", "exit 4"}).code, 4);
    EXPECT_GE(Json::parse(Run({"stats", "one", "--json"}).out)["processes"], 1);
    EXPECT_EQ(Run({"rename", "one", "two"}).code, 0);
    EXPECT_EQ(Run({"keys", "two", "C-d"}).code, 0);
    EXPECT_EQ(Run({"wait", "two"}).code, 3);
    EXPECT_EQ(Run({"rm", "two"}).code, 0);
    EXPECT_EQ(Json::parse(Run({"ls", "--json"}).out), Json::array());
  }
};

TEST_F(Backends, Native) { LiveThrough("native", {}); }

TEST_F(Backends, Tmux) { LiveThrough("tmux", {}); }

TEST_F(Backends, Docker) {
  absl::StatusOr<std::unique_ptr<DockerEngine>> engine = DockerEngine::Start();
  if (!engine.ok()) GTEST_SKIP() << engine.status();
  env_.push_back(absl::StrCat("DOCKER_HOST=", (*engine)->address()));
  LiveThrough("docker", {"--image", DockerEngine::kImage});
  // An image that nobody has is an error of the engine's, after a word that it is looked for.
  const Result none = Run({"start", "x", "--image", "127.0.0.1:1/none:1", "--", "true"});
  EXPECT_EQ(none.code, 125);
  EXPECT_THAT(none.err, HasSubstr("berth: pulling 127.0.0.1:1/none:1"));
  EXPECT_EQ(Json::parse(Run({"ls", "--json"}).out), Json::array());
  Berth shown = StartInTerminal({"start", "x", "--image", "127.0.0.1:1/none:1", "--", "true"});
  EXPECT_EQ(shown.Wait(), 125);
}

TEST_F(Backends, Nix) {
  const std::string folder = work_ + "/nix";
  std::filesystem::create_directory(folder);
  {
    const NixStore store(folder);
    const std::string flake = store.MakeFlake("flake", "{ OF_THE_FLAKE = \"yes\"; }");
    env_.clear();
    for (char** entry = environ; *entry != nullptr; ++entry) env_.push_back(*entry);
    env_.push_back(absl::StrCat("BERTH_STATE_DIR=", dir_));
    LiveThrough("nix", {"--flake", flake});
    ASSERT_EQ(
        Run({"start", "x", "--flake", flake, "--", "sh", "-c", "echo $OF_THE_FLAKE; exec cat"})
            .code,
        0);
    ExpectOnScreen("x", "yes");
    EXPECT_EQ(Run({"rm", "x", "--grace", "0"}).code, 0);
  }
}

}  // namespace
}  // namespace berth
