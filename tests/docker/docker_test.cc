#include "tests/docker/docker_test.h"

#include <stdlib.h>

#include <memory>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "runtime/runtime.h"

namespace berth {
namespace {

// Ended with the test binary, not with a suite: one engine serves all of them.
class Holder : public testing::Environment {
 public:
  void TearDown() override { engine.reset(); }
  std::unique_ptr<DockerEngine> engine;
};

Holder* holder() {
  static Holder* const only = static_cast<Holder*>(testing::AddGlobalTestEnvironment(new Holder));
  return only;
}

}  // namespace

void DockerTest::SetUpTestSuite() {
  if (holder()->engine != nullptr) return;
  auto engine = DockerEngine::Start();
  ASSERT_TRUE(engine.ok()) << engine.status();
  holder()->engine = *std::move(engine);
  setenv("DOCKER_HOST", holder()->engine->address().c_str(), 1);
}

DockerEngine& DockerTest::engine() { return *holder()->engine; }

void DockerTest::SetUp() {
  ASSERT_NE(holder()->engine, nullptr);
  RuntimeTest::SetUp();
}

void DockerTest::TearDown() {
  RuntimeTest::TearDown();
  EXPECT_EQ(Docker("ps -aq --filter label=berth.session"), "") << "containers are left";
  Docker("ps -aq | xargs -r docker rm -f");
}

absl::StatusOr<std::unique_ptr<Session>> DockerTest::Create(SessionSpec spec) {
  spec.backend = "docker";
  if (spec.container.image.empty()) spec.container.image = DockerEngine::kImage;
  if (spec.container.network.empty()) spec.container.network = "none";
  return runtime_->CreateSession(spec);
}

std::unique_ptr<Session> DockerTest::Start(const std::string& name, const std::string& line,
                                           SessionSpec spec) {
  spec.name = name;
  spec.command = Command::Shell(line);
  auto session = Create(std::move(spec));
  EXPECT_TRUE(session.ok()) << session.status();
  return session.ok() ? *std::move(session) : nullptr;
}

std::string DockerTest::Docker(const std::string& arguments) {
  auto text = engine().Shell(absl::StrCat("docker ", arguments));
  EXPECT_TRUE(text.ok()) << text.status();
  return text.ok() ? std::string(absl::StripTrailingAsciiWhitespace(*text)) : "";
}

std::string DockerTest::Container(const Session& session) {
  const std::string uid = session.handle().substr(session.handle().find(':') + 1);
  return Docker(absl::StrCat("ps -aq --no-trunc --filter label=berth.session=", uid));
}

std::string DockerTest::Everything(Session& session, OutputStream stream) {
  auto output = session.OpenOutput({.stream = stream});
  EXPECT_TRUE(output.ok()) << output.status();
  return output.ok() ? ReadAll(output->fd.get()) : "";
}

}  // namespace berth
