// Scenario 6: one submit for one message, to a program that turned bracketed paste on and redraws
// all the time.

#include <stdint.h>
#include <string.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status_matchers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
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
using ::absl_testing::IsOkAndHolds;

// One submit as the program saw it.
struct Submit {
  uint32_t pastes, typed;
  std::string pasted;
};

std::vector<Submit> ReadSubmits(const std::string& path) {
  const std::string bytes = FileBytes(path);
  std::vector<Submit> submits;
  for (size_t at = 0; at + 12 <= bytes.size();) {
    uint32_t header[3];
    memcpy(header, bytes.data() + at, sizeof(header));
    submits.push_back({header[0], header[1], bytes.substr(at + 12, header[2])});
    at += 12 + header[2];
  }
  return submits;
}

class OneSubmit : public RuntimeTest {
 protected:
  void SetUp() override {
    RuntimeTest::SetUp();
    file_ = work_ + "/submits";
    auto session = runtime_->CreateSession(
        {.name = "prompt", .command = Command::Argv({ProbePath(), "paste", file_})});
    ASSERT_THAT(session, IsOk());
    session_ = *std::move(session);
    // Reads along without being waited for, as a viewer would.
    auto output = session_->OpenOutput({.buffer_bytes = 0});
    ASSERT_THAT(output, IsOk());
    ReadUntil(output->fd.get(), "ready");
  }
  std::vector<Submit> Quit() {
    EXPECT_THAT(session_->Send({.text = "quit"}), IsOkAndHolds(Delivery::kSubmitted));
    auto end = session_->Wait(Soon());
    EXPECT_THAT(end, IsOk());
    EXPECT_TRUE(end->success()) << Describe(*end);
    return ReadSubmits(file_);
  }

  std::string file_;
  std::unique_ptr<Session> session_;
};

TEST_F(OneSubmit, HundredMessagesOfManyLinesAreHundredSubmits) {
  std::vector<std::string> texts;
  for (unsigned i = 0; i < 100; ++i) {
    std::string text = absl::StrCat("message ", i, "\n");
    while (text.size() < 4096)
      absl::StrAppend(&text, Pattern(60, i + static_cast<unsigned>(text.size())), "\r\n\n");
    texts.push_back(text);
    EXPECT_THAT(session_->Send({.text = texts.back()}), IsOkAndHolds(Delivery::kSubmitted));
  }
  const std::vector<Submit> submits = Quit();
  ASSERT_EQ(submits.size(), texts.size() + 1);
  for (size_t i = 0; i < texts.size(); ++i) {
    EXPECT_EQ(submits[i].pastes, 1u) << i;
    EXPECT_EQ(submits[i].typed, 0u) << i;
    EXPECT_TRUE(submits[i].pasted == texts[i]) << i << ": " << submits[i].pasted;
  }
}

TEST_F(OneSubmit, APasteEndInsideOfTheTextCannotBreakOut) {
  const std::vector<std::string> texts = {"a\x1b[201~\rrm -rf /\r", "\x1b[201~",
                                          "\x1b\x1b[201~[201~\rx", "a\x1b[200~b\x1b[201~\rc",
                                          "x\x1b[201~\x1b[201~\r"};
  for (const std::string& text : texts) {
    EXPECT_THAT(session_->Send({.text = text}), IsOkAndHolds(Delivery::kSubmitted));
  }
  const std::vector<Submit> submits = Quit();
  ASSERT_EQ(submits.size(), texts.size() + 1);
  for (size_t i = 0; i < texts.size(); ++i) {
    EXPECT_EQ(submits[i].pastes, 1u) << i;
    EXPECT_EQ(submits[i].typed, 0u) << i;
    // Only the introducer of the marker is gone.
    std::string without = texts[i];
    while (absl::StrReplaceAll({{"\x1b[201~", "[201~"}}, &without) > 0) {
    }
    EXPECT_EQ(submits[i].pasted, without) << i;
  }
}

TEST_F(OneSubmit, WithoutPasteTheTextIsTyped) {
  EXPECT_THAT(session_->Send({.text = "typed", .paste = false}),
              IsOkAndHolds(Delivery::kSubmitted));
  const std::vector<Submit> submits = Quit();
  ASSERT_EQ(submits.size(), 2u);
  EXPECT_EQ(submits[0].pastes, 0u);
  EXPECT_EQ(submits[0].typed, 5u);
}

}  // namespace
}  // namespace berth
