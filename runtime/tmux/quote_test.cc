#include "runtime/tmux/quote.h"

#include <string>

#include "absl/strings/string_view.h"
#include "gtest/gtest.h"

namespace berth::tmux {
namespace {

TEST(Quote, LeavesPlainWordsReadable) {
  EXPECT_EQ(Quote("=berth-x:"), "\"=berth-x:\"");
  EXPECT_EQ(Quote("/tmp/a b/c"), "\"/tmp/a b/c\"");
  EXPECT_EQ(Quote(""), "\"\"");
}

TEST(Quote, TakesTheMeaningFromWhatTmuxWouldExpand) {
  EXPECT_EQ(Quote("$HOME"), "\"\\044HOME\"");
  EXPECT_EQ(Quote("~"), "\"\\176\"");
  EXPECT_EQ(Quote("a;"), "\"a\\073\"");
  EXPECT_EQ(Quote("\"\\"), "\"\\042\\134\"");
  EXPECT_EQ(Quote("{}"), "\"\\173\\175\"");
  EXPECT_EQ(Quote("a\nkill-server"), "\"a\\012kill-server\"");
}

TEST(Quote, KeepsDigitsBehindAnEscapeApart) { EXPECT_EQ(Quote("\n7"), "\"\\0127\""); }

TEST(Quote, KeepsBytesThatAreNotUtf8) { EXPECT_EQ(Quote("\xff"), "\"\\377\""); }

TEST(Quote, LeavesOutNul) { EXPECT_EQ(Quote(absl::string_view("a\0b", 3)), "\"ab\""); }

TEST(QuoteFormat, DoublesTheSignThatStartsAFormat) {
  EXPECT_EQ(QuoteFormat("#{pid}"), "\"##\\173pid\\175\"");
}

}  // namespace
}  // namespace berth::tmux
