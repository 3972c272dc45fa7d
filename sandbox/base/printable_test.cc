#include "sandbox/base/printable.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"

namespace berth {
namespace {

TEST(Printable, LeavesWellFormedTextAsItIs) {
  for (const char* text : {"", "a b ~", "é ß", "日本語", "🚢", "\u00a0", "\u0627\u05d0", "\u2026",
                           "\u2029", "\u2065", "\u206a", "\U0010ffff"}) {
    EXPECT_EQ(Printable(text), text);
  }
}

TEST(Printable, ControlsBecomeSpaces) {
  EXPECT_EQ(Printable(absl::string_view("a\0b\x1b[31m\n\x7f.", 11)), "a b [31m  .");
  EXPECT_EQ(Printable("a\u009b2Jb\u0080\u009f"), "a 2Jb  ");
}

TEST(Printable, ALoneByteThatIsAControlOfAnEightBitTerminalIsNotPassedOn) {
  for (int byte = 0x80; byte <= 0xff; ++byte) {
    const std::string lone(1, static_cast<char>(byte));
    EXPECT_EQ(Printable(lone), "?") << byte;
    EXPECT_EQ(Printable(absl::StrCat("a", lone, "2J")), "a?2J") << byte;
    EXPECT_EQ(Printable(absl::StrCat("é", lone)), "é?") << byte;
  }
}

TEST(Printable, WhatIsNotWellFormedHidesNoControl) {
  EXPECT_EQ(Printable("\xc1\x9b"), "??");            // overlong
  EXPECT_EQ(Printable("\xe0\x82\x9b"), "???");       // U+009B, overlong
  EXPECT_EQ(Printable("\xf0\x80\x82\x9b"), "????");  // the same
  EXPECT_EQ(Printable("\xed\xa0\x80"), "???");       // a surrogate
  EXPECT_EQ(Printable("\xf4\x90\x80\x80"), "????");  // beyond the last
  EXPECT_EQ(Printable("\xe6\x97"), "??");            // cut short
  EXPECT_EQ(Printable("\xe6\x1b[2J"), "? [2J");      // an escape in the middle
  EXPECT_EQ(Printable("\xf0\x9f\x9a\xc2\x9bx"), "??? x");
}

TEST(PrintableLines, KeepsLinesAndTabsAndNothingElse) {
  EXPECT_EQ(PrintableLines("a\tb\nc\r\x1b[2Jd\x07\n"), "a\tb\nc  [2Jd \n");
  EXPECT_EQ(PrintableLines(absl::string_view("\0\n", 2)), " \n");
}

TEST(Printable, WhatTurnsTheDirectionOfWritingIsShown) {
  for (const char* bidi : {"\u061c", "\u200e", "\u200f", "\u202a", "\u202b", "\u202c", "\u202d",
                           "\u202e", "\u2066", "\u2067", "\u2068", "\u2069"}) {
    EXPECT_EQ(Printable(absl::StrCat("a", bidi, "é")), "a?é");
  }
}

}  // namespace
}  // namespace berth
