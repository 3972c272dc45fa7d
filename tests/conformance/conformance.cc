#include "tests/conformance/conformance.h"

#include <ctype.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/status_matchers.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "runtime/process.h"
#include "runtime/runtime.h"

namespace berth {
namespace {

using ::absl_testing::IsOk;

// One for the whole binary, ended at its end.
class EngineEnvironment final : public testing::Environment {
 public:
  void SetUp() override {
    engine = MakeEngine();
    started = engine->Start();
  }
  void TearDown() override { engine.reset(); }
  std::unique_ptr<Engine> engine;
  absl::Status started;
};

EngineEnvironment* const kEnvironment =
    static_cast<EngineEnvironment*>(testing::AddGlobalTestEnvironment(new EngineEnvironment));

}  // namespace

void Conformance::SetUpTestSuite() { ASSERT_THAT(kEnvironment->started, IsOk()); }

Engine& Conformance::engine() { return *kEnvironment->engine; }

absl::StatusOr<std::unique_ptr<Session>> Conformance::Create(SessionSpec spec) {
  spec.backend = engine().backend();
  engine().Complete(&spec);
  return runtime_->CreateSession(spec);
}

std::unique_ptr<Session> Conformance::Start(const std::string& name, const std::string& line,
                                            SessionSpec spec) {
  spec.name = name;
  spec.command = Command::Shell(line);
  auto session = Create(std::move(spec));
  EXPECT_THAT(session, IsOk());
  return session.ok() ? *std::move(session) : nullptr;
}

std::string Conformance::Until(Session& session, absl::string_view text) {
  auto output = session.OpenOutput({});
  EXPECT_THAT(output, IsOk());
  return output.ok() ? ReadUntil(output->fd.get(), text) : "";
}

std::string Conformance::Everything(Session& session, OutputStream stream) {
  auto output = session.OpenOutput({.stream = stream});
  EXPECT_THAT(output, IsOk());
  return output.ok() ? ReadAll(output->fd.get()) : "";
}

std::string Conformance::Here(const std::string& line, const std::string& input) {
  const std::string path = work_ + "/here";
  std::ofstream(path, std::ios::binary) << input;
  auto process = runtime_->Spawn({.command = Command::Shell("(" + line + ") < " + path)});
  EXPECT_THAT(process, IsOk());
  if (!process.ok()) return "";
  auto out = (*process)->TakeStdout();
  return out.ok() ? ReadAll(out->get()) : "";
}

bool Conformance::Runs(const std::string& mark) {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", error)) {
    const std::string name = entry.path().filename().string();
    if (!isdigit(static_cast<unsigned char>(name[0])) || name == std::to_string(getpid())) continue;
    std::ifstream in(entry.path() / "cmdline", std::ios::binary);
    std::ostringstream text;
    text << in.rdbuf();
    if (absl::StrContains(text.str(), mark)) return true;
  }
  return false;
}

}  // namespace berth
