// Scenarios 4, 5 and 7: what goes in arrives byte by byte, and is seen nowhere else.

#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/status_matchers.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/env.h"
#include "runtime/session.h"
#include "runtime/spec.h"
#include "tests/conformance/conformance.h"

namespace berth {
namespace {

using ::absl_testing::IsOk;
using ::absl_testing::StatusIs;
using ::testing::HasSubstr;
using ::testing::Not;

using Environment = Conformance;
using Input = Conformance;

// Bytes of every value, none of them the end of a terminal's line.
std::string Pattern(size_t size) {
  std::string bytes(size, '\0');
  uint32_t state = 12345;
  for (char& byte : bytes) {
    state = state * 1664525 + 1013904223;
    byte = static_cast<char>(state >> 24);
  }
  return bytes;
}

TEST_F(Environment, HostileKeysAreRefusedByName) {
  const auto session = Start("place", "cat");
  ASSERT_NE(session, nullptr);
  for (const std::string key : {"A;B", "`id`", "$(id)", "A\nB", "A|B", "A&&B", "A>B", "1A", "A B",
                                "A-B", "A.B", "", "=", "A=B", "A\"B"}) {
    Env env = Env::Clean();
    env.Set(key, "value");
    EXPECT_THAT(Create({.name = "x", .command = Command::Shell("true"), .env = env}),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("environment variable")))
        << key;
    EXPECT_THAT(session->SetEnvironment(key, "value"), StatusIs(absl::StatusCode::kInvalidArgument))
        << key;
  }
}

TEST_F(Environment, ValuesArriveByteByByteAndAreSeenNowhereElse) {
  const std::string secret = "s3cret-that-nobody-may-see";
  const std::vector<std::string> values = {"\"double\" 'single' `back`",
                                           "$(id) ${HOME} \\$",
                                           "two\nlines\n\ttab\r",
                                           "",
                                           "=a=b",
                                           "\xff\x80 raw",
                                           "; rm -rf / #",
                                           Pattern(100 << 10),
                                           secret};
  Env env = Env::Clean();
  env.Set("PATH", "/usr/bin:/bin");
  std::string expected;
  std::string line = "stty -opost 2>/dev/null; ";
  for (size_t i = 0; i < values.size(); ++i) {
    const std::string value = absl::StrReplaceAll(values[i], {{std::string(1, '\0'), "x"}});
    env.Set(absl::StrCat("V", i), value);
    absl::StrAppend(&expected, Here("md5sum", value));
    absl::StrAppend(&line, "printf %s \"$V", i, "\" | md5sum; ");
  }
  const auto session = Start("values", line + "echo end; cat", {.env = env});
  ASSERT_NE(session, nullptr);
  const std::string output = Until(*session, "end");
  EXPECT_EQ(absl::StrReplaceAll(output, {{"\r", ""}}).substr(0, expected.size()), expected);
  EXPECT_FALSE(Runs(secret));
  for (const auto& entry : std::filesystem::recursive_directory_iterator(dir_)) {
    if (!entry.is_regular_file()) continue;
    std::ifstream in(entry.path(), std::ios::binary);
    std::ostringstream text;
    text << in.rdbuf();
    EXPECT_THAT(text.str(), Not(HasSubstr(secret))) << entry.path();
  }
}

TEST_F(Environment, CleanShowsNothingOfTheHost) {
  ASSERT_EQ(setenv("BERTH_HOST_ONLY", "of-the-host", 1), 0);
  Env env = Env::Clean();
  env.Set("PATH", "/usr/bin:/bin");
  const auto session = Start("clean", "env; echo end; cat", {.env = env});
  unsetenv("BERTH_HOST_ONLY");
  ASSERT_NE(session, nullptr);
  EXPECT_THAT(Until(*session, "\nend"), Not(HasSubstr("of-the-host")));
}

TEST_F(Input, ArrivesByteExactOnceAndInOrder) {
  std::vector<std::string> texts = {"Enter",
                                    "-x",
                                    "abc;",
                                    "~",
                                    "\xf0\x9f\x9a\xa2",
                                    "",
                                    "C-c",
                                    "$(id) `id` \\ \" '",
                                    "a\tb",
                                    "\xff\xfe\x80",
                                    "\x03\x04\x1a\x1b[A\x7f",
                                    "line 1\nline 2\r\nline 3\r"};
  texts.push_back(Pattern(17 << 10));
  texts.push_back(Pattern(1 << 20));
  std::string all;
  for (const std::string& text : texts) all += text;
  const auto session = Start("sink", absl::StrCat("stty raw -echo; echo ready; head -c ",
                                                  all.size(), " | md5sum; echo end; cat"));
  ASSERT_NE(session, nullptr);
  Until(*session, "ready");
  for (const std::string& text : texts) {
    EXPECT_THAT(session->Send({.text = text, .submit = "", .paste = false},
                              absl::Now() + absl::Seconds(60)),
                IsOk());
  }
  EXPECT_THAT(absl::StrReplaceAll(Until(*session, "end"), {{"\r", ""}}),
              HasSubstr(Here("md5sum", all)));
}

TEST_F(Input, ConcurrentSendersDoNotInterleave) {
  constexpr int kSenders = 16;
  const auto session =
      Start("crowd",
            "stty raw -echo; echo ready; n=0; while [ $n -lt 16 ]; do IFS= read -r line; "
            "echo \"${#line} $(printf %s \"$line\" | tr -s 'a-z' | head -c 9)\"; n=$((n+1)); "
            "done; echo end; cat");
  ASSERT_NE(session, nullptr);
  Until(*session, "ready");
  std::vector<std::thread> threads;
  for (int i = 0; i < kSenders; ++i) {
    threads.emplace_back([&session, i] {
      const std::string text = std::string(2000, static_cast<char>('a' + i)) + "\n";
      EXPECT_THAT(session->Send({.text = text, .submit = "", .paste = false},
                                absl::Now() + absl::Seconds(60)),
                  IsOk());
    });
  }
  for (std::thread& thread : threads) thread.join();
  const std::string output = absl::StrReplaceAll(Until(*session, "end"), {{"\r", ""}});
  for (int i = 0; i < kSenders; ++i) {
    const std::string whole =
        absl::StrCat("2000 ", std::string(1, static_cast<char>('a' + i)), "\n");
    EXPECT_THAT(output, HasSubstr(whole)) << output;
  }
}

TEST_F(Input, KeysAreKnownByName) {
  const auto session = Start("keys", "stty raw -echo; echo ready; head -c 6 | od -An -tx1; cat");
  ASSERT_NE(session, nullptr);
  Until(*session, "ready");
  EXPECT_THAT(session->SendKeys({"Enter", "C-c", "Escape", "Tab", "x", "M-y"}), IsOk());
  EXPECT_THAT(session->SendKeys({"NoSuchKey"}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("NoSuchKey")));
  Until(*session, "0d 03 1b 09 78 1b");
}

TEST_F(Input, TheTerminalHasTheSizeItWasGiven) {
  const auto session = Start("size", "stty size; read line; stty size; echo end; cat",
                             {.size = {.rows = 30, .cols = 100}});
  ASSERT_NE(session, nullptr);
  Until(*session, "30 100");
  ASSERT_THAT(session->Resize({.rows = 50, .cols = 200}), IsOk());
  EXPECT_THAT(session->Send({.text = ""}), IsOk());
  Until(*session, "50 200");
  EXPECT_EQ(session->Info()->size, (TerminalSize{50, 200}));
}

}  // namespace
}  // namespace berth
