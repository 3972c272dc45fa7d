// Scenario 4: hostile keys are refused, values arrive byte by byte and are seen nowhere else, clean
// is clean.

#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/status_matchers.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/env.h"
#include "runtime/process.h"
#include "runtime/runtime.h"
#include "runtime/session.h"
#include "runtime/spec.h"
#include "sandbox/base/unique_fd.h"
#include "tests/sessions/probe.h"
#include "tests/support/runtime_test.h"

namespace berth {
namespace {

namespace fs = std::filesystem;

using ::absl_testing::IsOk;
using ::absl_testing::StatusIs;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

const char* const kHostileKeys[] = {"A;B", "`id`", "$(id)", "A\nB", "A|B",     "A&&B",
                                    "A>B", "1A",   "A B",   "A-B",  "A.B",     "",
                                    "=",   "A=B",  "A\"B",  "A'B",  "\xc3\xa4"};

class Environment : public RuntimeTest {
 protected:
  // The environment of a session's program, as the kernel has it.
  std::vector<std::string> Entries(const std::string& name, const Env& env) {
    auto session =
        runtime_->CreateSession({.name = name,
                                 .command = Command::Argv({"/bin/cat", "/proc/self/environ"}),
                                 .env = env,
                                 .pty = false});
    EXPECT_THAT(session, IsOk());
    if (!session.ok()) return {};
    auto output = (*session)->OpenOutput({});
    EXPECT_THAT(output, IsOk());
    return absl::StrSplit(ReadAll(output->fd.get()), '\0', absl::SkipEmpty());
  }
  std::vector<std::string> SpawnedEntries(const Env& env) {
    auto process =
        runtime_->Spawn({.command = Command::Argv({"/bin/cat", "/proc/self/environ"}), .env = env});
    EXPECT_THAT(process, IsOk());
    if (!process.ok()) return {};
    const std::string entries = ReadAll((*process)->TakeStdout()->get());
    auto end = (*process)->Wait(Soon());
    EXPECT_TRUE(end.ok() && end->success()) << ReadAll((*process)->TakeStderr()->get());
    return absl::StrSplit(entries, '\0', absl::SkipEmpty());
  }
  // Where `secret` is seen by others: arguments of any process, any file of ours.
  std::vector<std::string> Sightings(const std::string& secret) const {
    std::vector<std::string> seen;
    std::error_code error;
    for (const auto& process : fs::directory_iterator("/proc", error)) {
      const std::string cmdline = process.path().string() + "/cmdline";
      if (absl::StrContains(FileBytes(cmdline), secret)) seen.push_back(cmdline);
    }
    for (const auto& entry : fs::recursive_directory_iterator(work_)) {
      if (entry.is_regular_file() && absl::StrContains(FileBytes(entry.path().string()), secret)) {
        seen.push_back(entry.path().string());
      }
    }
    return seen;
  }
};

TEST_F(Environment, HostileKeysAreRefusedByName) {
  auto session = runtime_->CreateSession({.name = "place", .command = Command::Argv({"cat"})});
  ASSERT_THAT(session, IsOk());
  for (const std::string key : kHostileKeys) {
    Env env = Env::Basic();
    env.Set(key, "value");
    const auto refused =
        StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("environment variable"));
    EXPECT_THAT(
        runtime_->CreateSession({.name = "x", .command = Command::Argv({"true"}), .env = env}),
        refused)
        << key;
    EXPECT_THAT(runtime_->Spawn({.command = Command::Argv({"true"}), .env = env}), refused) << key;
    EXPECT_THAT((*session)->Exec({.command = Command::Argv({"true"}), .env = env}), refused) << key;
    EXPECT_THAT((*session)->SetEnvironment(key, "value"), refused) << key;
    EXPECT_THAT(Env::InheritListed({key}).Resolve(nullptr), refused) << key;
  }
  Env nul = Env::Basic();
  nul.Set("KEY", std::string("a\0b", 3));
  EXPECT_THAT(
      runtime_->CreateSession({.name = "x", .command = Command::Argv({"true"}), .env = nul}),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("NUL")));
  EXPECT_THAT((*session)->SetEnvironment("KEY", std::string("a\0b", 3)),
              StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_EQ(runtime_->List()->size(), 1u);
}

TEST_F(Environment, ValuesArriveByteByByte) {
  const std::vector<std::string> values = {
      "\"double\" 'single' `back`", "$(id) ${HOME} $HOME \\$", "two\nlines\n\ttab\r", "", "=a=b",
      "\xff\x80 not UTF-8",         Pattern(100 << 10, 3),     "; rm -rf / #"};
  Env env = Env::Clean();
  std::vector<std::string> expected;
  for (size_t i = 0; i < values.size(); ++i) {
    env.Set(absl::StrCat("VALUE_", i), values[i]);
    expected.push_back(absl::StrCat("VALUE_", i, "=", values[i]));
  }
  EXPECT_EQ(SpawnedEntries(env), expected);
  std::vector<std::string> entries = Entries("values", env);
  ASSERT_GE(entries.size(), expected.size());
  entries.resize(expected.size());
  EXPECT_EQ(entries, expected);
}

TEST_F(Environment, ValuesAreSeenInNoArgumentRecordOrLog) {
  const std::string secret =
      absl::StrCat("s3cret-", getpid(), "-", Pattern(24, static_cast<unsigned>(getpid())));
  Env env = Env::Basic();
  env.Set("SECRET", secret);
  auto session = runtime_->CreateSession({.name = "holder",
                                          .command = Command::Shell("echo up; cat; :"),
                                          .env = env,
                                          .log_path = work_ + "/log"});
  ASSERT_THAT(session, IsOk());
  auto output = (*session)->OpenOutput({});
  ASSERT_THAT(output, IsOk());
  ReadUntil(output->fd.get(), "up");
  ASSERT_THAT((*session)->SetEnvironment("LATER", secret), IsOk());
  auto inside = (*session)->Exec({.command = Command::Argv({"cat"}), .stdin_ = Stdio::Pipe()});
  ASSERT_THAT(inside, IsOk());
  auto spawned =
      runtime_->Spawn({.command = Command::Argv({"cat"}), .env = env, .stdin_ = Stdio::Pipe()});
  ASSERT_THAT(spawned, IsOk());
  // A program has its arguments and its environment a moment after it was executed: with its first
  // byte it has.
  std::vector<UniqueFd> ends;
  const auto hear = [&ends](Process& cat) {
    auto in = cat.TakeStdin(), out = cat.TakeStdout();
    ASSERT_THAT(in, IsOk());
    ASSERT_THAT(out, IsOk());
    char byte = 'x';
    ASSERT_EQ(write(in->get(), &byte, 1), 1);
    ASSERT_EQ(read(out->get(), &byte, 1), 1);
    ends.push_back(*std::move(in));
    ends.push_back(*std::move(out));
  };
  ASSERT_NO_FATAL_FAILURE(hear(**inside));
  ASSERT_NO_FATAL_FAILURE(hear(**spawned));
  // They do have it.
  for (const pid_t pid : {(*session)->Info()->pid, (*inside)->pid(), (*spawned)->pid()}) {
    EXPECT_THAT(FileBytes(absl::StrCat("/proc/", pid, "/environ")), HasSubstr(secret)) << pid;
  }
  EXPECT_THAT(Sightings(secret), IsEmpty());
  // The same look finds a secret that is an argument.
  auto careless =
      runtime_->Spawn({.command = Command::Argv({"cat", "-", secret}), .stdin_ = Stdio::Pipe()});
  ASSERT_THAT(careless, IsOk());
  ASSERT_NO_FATAL_FAILURE(hear(**careless));
  EXPECT_THAT(Sightings(secret),
              ElementsAre(absl::StrCat("/proc/", (*careless)->pid(), "/cmdline")));
}

TEST_F(Environment, CleanShowsNothingOfTheHost) {
  ASSERT_EQ(setenv("BERTH_TEST_HOST_ONLY", "host", 1), 0);
  EXPECT_THAT(SpawnedEntries(Env::Clean()), IsEmpty());
  EXPECT_THAT(Entries("clean", Env::Clean()),
              ElementsAre("BERTH_SESSION=clean", StartsWith("BERTH_TOKEN=")));
  EXPECT_THAT(Entries("basic", Env::Basic()), Not(Contains("BERTH_TEST_HOST_ONLY=host")));
  EXPECT_THAT(SpawnedEntries(Env::InheritListed({"BERTH_TEST_HOST_ONLY", "NOT_THERE"})),
              ElementsAre("BERTH_TEST_HOST_ONLY=host"));
  EXPECT_THAT(Entries("inherit", Env::Inherit()), Contains("BERTH_TEST_HOST_ONLY=host"));
  unsetenv("BERTH_TEST_HOST_ONLY");
}

TEST_F(Environment, AppendAddsBehindTheSeparator) {
  Env env = Env::Clean();
  env.Set("A", "1").Append("A", "2", ":").Append("B", "3", ":").Unset("C").Set("D", "x").Unset("D");
  EXPECT_THAT(SpawnedEntries(env), ElementsAre("A=1:2", "B=3"));
}

TEST_F(Environment, OfASessionIsThatOfItsExecs) {
  Env env = Env::Clean();
  env.Set("PATH", "/usr/bin:/bin").Set("KEEP", "kept").Set("CHANGE", "old").Set("OVER", "session");
  auto session =
      runtime_->CreateSession({.name = "place", .command = Command::Argv({"cat"}), .env = env});
  ASSERT_THAT(session, IsOk());
  ASSERT_THAT((*session)->SetEnvironment("CHANGE", "new\nline"), IsOk());
  ASSERT_THAT((*session)->SetEnvironment("CHANGE_NOT", "apart"), IsOk());
  Env own = Env::Basic();
  own.Set("OVER", "exec");
  auto process =
      (*session)->Exec({.command = Command::Argv({"cat", "/proc/self/environ"}), .env = own});
  ASSERT_THAT(process, IsOk());
  const std::vector<std::string> entries =
      absl::StrSplit(ReadAll((*process)->TakeStdout()->get()), '\0', absl::SkipEmpty());
  EXPECT_THAT(entries, testing::UnorderedElementsAre(
                           "PATH=/usr/bin:/bin", "KEEP=kept", "CHANGE=new\nline", "OVER=exec",
                           "CHANGE_NOT=apart", "BERTH_SESSION=place", StartsWith("BERTH_TOKEN=")));
  // Of the running program nothing has changed.
  EXPECT_THAT(FileBytes(absl::StrCat("/proc/", (*session)->Info()->pid, "/environ")),
              HasSubstr("CHANGE=old"));
}

}  // namespace
}  // namespace berth
