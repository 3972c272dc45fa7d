// Scenario 15: two streams that stay apart and do not wait for each other. Scenario 17: any bytes,
// exactly.

#include <fstream>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/status_matchers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/runtime.h"
#include "runtime/session.h"
#include "runtime/spec.h"
#include "tests/sessions/probe.h"
#include "tests/support/runtime_test.h"

namespace berth {
namespace {

using ::absl_testing::IsOk;
using ::absl_testing::StatusIs;

using Streams = RuntimeTest;

constexpr OutputOptions kStderr{.stream = OutputStream::kStderr};

constexpr char kInterleaved[] =
    "i=0; while [ $i -lt 300 ]; do printf \"out$i \"; printf \"err$i \" >&2; i=$((i+1)); done; "
    "echo; echo >&2";

std::string Counted(const char* word) {
  std::string text;
  for (int i = 0; i < 300; ++i) absl::StrAppend(&text, word, i, " ");
  return text + "\n";
}

TEST_F(Streams, OfASessionNeverMixPartialLines) {
  auto session = runtime_->CreateSession(
      {.name = "two", .command = Command::Shell(kInterleaved), .pty = false});
  ASSERT_THAT(session, IsOk());
  auto out = (*session)->OpenOutput({});
  auto err = (*session)->OpenOutput(kStderr);
  ASSERT_THAT(out, IsOk());
  ASSERT_THAT(err, IsOk());
  EXPECT_EQ(ReadAll(out->fd.get()), Counted("out"));
  EXPECT_EQ(ReadAll(err->fd.get()), Counted("err"));
}

TEST_F(Streams, OfAProcessNeverMixPartialLines) {
  auto process = runtime_->Spawn({.command = Command::Shell(kInterleaved)});
  ASSERT_THAT(process, IsOk());
  EXPECT_EQ(ReadAll((*process)->TakeStdout()->get()), Counted("out"));
  EXPECT_EQ(ReadAll((*process)->TakeStderr()->get()), Counted("err"));
}

TEST_F(Streams, TenMegabytesOnStderrDoNotHoldUpStdout) {
  const std::string file = work_ + "/ten";
  const std::string bytes = Pattern(10 << 20);
  std::ofstream(file, std::ios::binary) << bytes;
  auto session = runtime_->CreateSession(
      {.name = "loud",
       .command = Command::Shell(absl::StrCat("read go; cat ", file, " >&2; echo first")),
       .pty = false});
  ASSERT_THAT(session, IsOk());
  auto out = (*session)->OpenOutput({});
  auto err = (*session)->OpenOutput(kStderr);
  ASSERT_THAT(out, IsOk());
  ASSERT_THAT(err, IsOk());
  ASSERT_THAT((*session)->Send({.text = "go"}), IsOk());
  EXPECT_EQ(ReadAll(out->fd.get()), "first\n");
  EXPECT_TRUE(ReadAll(err->fd.get()) == bytes);
}

TEST_F(Streams, NobodyReadsAndNobodyWaits) {
  auto session = runtime_->CreateSession(
      {.name = "unread",
       .command =
           Command::Shell("head -c 5000000 /dev/zero; head -c 5000000 /dev/zero >&2; exit 3"),
       .pty = false});
  ASSERT_THAT(session, IsOk());
  auto end = (*session)->Wait(Soon());
  ASSERT_THAT(end, IsOk());
  EXPECT_EQ(end->code, 3);
  EXPECT_EQ((*session)->Info()->output_bytes, 10000000);
}

TEST_F(Streams, OfATerminalAreOne) {
  auto session = runtime_->CreateSession(
      {.name = "terminal", .command = Command::Shell("printf o; printf e >&2; printf o")});
  ASSERT_THAT(session, IsOk());
  auto out = (*session)->OpenOutput({});
  ASSERT_THAT(out, IsOk());
  EXPECT_EQ(ReadAll(out->fd.get()), "oeo");
  EXPECT_THAT((*session)->OpenOutput(kStderr), StatusIs(absl::StatusCode::kFailedPrecondition));
}

// All 256 bytes, all pairs that matter, code points cut everywhere.
std::string HostileBytes() {
  std::string bytes;
  for (int i = 0; i < 256; ++i) bytes.push_back(static_cast<char>(i));
  bytes += "\r\n\n\r\r\n";
  bytes += std::string("\0\0", 2);
  bytes +=
      "\xf0\x9f\x9a\xa2\xe2\x82\xac\xc3\xa4\xc3\x28\xe2\x28\xa1\xf0\x28\x8c\x28\xed\xa0\x80\xfe"
      "\xff";
  bytes +=
      "\x1b[31m\x1b]0;title\x07\x1b[6n\x1bP+q\x1b\\\x9b"
      "5n no newline at the end \xe2\x82";
  return bytes;
}

class Bytes : public RuntimeTest, public testing::WithParamInterface<const char*> {};
INSTANTIATE_TEST_SUITE_P(Writes, Bytes, testing::Values("cat ", "dd bs=1 status=none if="),
                         [](const auto& param) {
                           return param.index == 0 ? "AtOnce" : "OneByOne";
                         });

TEST_P(Bytes, OfAPipeAreExact) {
  const std::string file = work_ + "/bytes";
  std::ofstream(file, std::ios::binary) << HostileBytes();
  const Command command = Command::Shell(absl::StrCat(GetParam(), file));
  auto session = runtime_->CreateSession({.name = "pipes", .command = command, .pty = false});
  ASSERT_THAT(session, IsOk());
  EXPECT_EQ(ReadAll((*session)->OpenOutput({})->fd.get()), HostileBytes());
  auto process = runtime_->Spawn({.command = command});
  ASSERT_THAT(process, IsOk());
  EXPECT_EQ(ReadAll((*process)->TakeStdout()->get()), HostileBytes());
}

TEST_P(Bytes, OfATerminalAreExactAsTheProgramWroteThem) {
  const std::string file = work_ + "/bytes";
  std::ofstream(file, std::ios::binary) << HostileBytes();
  auto session = runtime_->CreateSession(
      {.name = "terminal",
       .command = Command::Shell(absl::StrCat("stty raw -echo; ", GetParam(), file)),
       .log_path = work_ + "/log"});
  ASSERT_THAT(session, IsOk());
  EXPECT_EQ(ReadAll((*session)->OpenOutput({})->fd.get()), HostileBytes());
  EXPECT_EQ(FileBytes(work_ + "/log"), HostileBytes());
}

}  // namespace
}  // namespace berth
