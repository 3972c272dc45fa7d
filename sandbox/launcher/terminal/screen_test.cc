#include "sandbox/launcher/terminal/screen.h"

#include <string>
#include <string_view>

#include "gtest/gtest.h"

namespace berth::launcher {
namespace {

std::string Shown(std::string_view bytes, int rows = 24, int cols = 80) {
  Screen screen(rows, cols);
  screen.Feed(bytes);
  return screen.Capture(0, false);
}

std::string Coloured(std::string_view bytes) {
  Screen screen(24, 80);
  screen.Feed(bytes);
  return screen.Capture(0, true);
}

std::string Answers(std::string_view bytes) {
  std::string answers;
  Screen screen(24, 80);
  screen.set_reply(
      [](void* out, const char* b, size_t n) { static_cast<std::string*>(out)->append(b, n); },
      &answers);
  screen.Feed(bytes);
  return answers;
}

// A second terminal that gets Repaint() is in the same state.
void ExpectSameAfterRepaint(const Screen& screen) {
  Screen viewer(screen.rows(), screen.cols());
  viewer.Feed("\x1b[?1049h\x1b[?2004h\x1b[5;6r\x1b[31mold\x1b]2;old\x07");  // what was there before
                                                                            // does not matter
  viewer.Feed(screen.Repaint());
  Screen without_history(screen.rows(), screen.cols(), 0);
  without_history.Feed(screen.Repaint());
  EXPECT_EQ(viewer.Capture(screen.rows(), true), without_history.Capture(0, true));
  EXPECT_EQ(viewer.cursor_row(), screen.cursor_row());
  EXPECT_EQ(viewer.cursor_col(), screen.cursor_col());
  EXPECT_EQ(viewer.cursor_visible(), screen.cursor_visible());
  EXPECT_EQ(viewer.alternate(), screen.alternate());
  EXPECT_EQ(viewer.bracketed_paste(), screen.bracketed_paste());
  EXPECT_EQ(viewer.application_cursor(), screen.application_cursor());
  EXPECT_EQ(viewer.title(), screen.title());
  EXPECT_EQ(viewer.Repaint(), screen.Repaint());
}

TEST(Capture, IsWhatAPersonSees) {
  EXPECT_EQ(Shown(""), "");
  EXPECT_EQ(Shown("hello"), "hello\n");
  EXPECT_EQ(Shown("one  \r\n\r\n  two\r\n\r\n"), "one\n\n  two\n");
  EXPECT_EQ(Shown("10%\r20%\r100%\r\n"), "100%\n");
  EXPECT_EQ(Shown("a\tb"), "a       b\n");
  EXPECT_EQ(Shown("line one\nline two"),
            "line one\n        line two\n");  // LF alone goes straight down
  EXPECT_EQ(Shown("abc\b\bX"), "aXc\n");
}

TEST(Capture, TakesTheLastLinesOfScrollbackAndScreen) {
  Screen screen(3, 20);
  for (int i = 1; i <= 10; ++i) screen.Feed("line " + std::to_string(i) + "\r\n");
  EXPECT_EQ(screen.Capture(1, false), "line 10\n");
  EXPECT_EQ(screen.Capture(4, false), "line 7\nline 8\nline 9\nline 10\n");
  EXPECT_TRUE(screen.Capture(0, false).starts_with("line 1\nline 2\n"));
  EXPECT_EQ(screen.Capture(0, false), screen.Capture(1000, false));
  screen.Feed("\x1b[3J");
  EXPECT_EQ(screen.Capture(0, false), "line 9\nline 10\n");
}

TEST(Capture, WrappedLinesAreRowsOrOneLineAgain) {
  Screen screen(4, 10);
  screen.Feed("0123456789abcdefghij  xyz\r\nshort\r\n");
  EXPECT_EQ(screen.Capture(0, false), "0123456789\nabcdefghij\n  xyz\nshort\n");
  EXPECT_EQ(screen.Capture(0, false, true), "0123456789abcdefghij  xyz\nshort\n");
  screen.Feed("1\r\n2\r\n3\r\n4\r\n");  // now in the scrollback
  EXPECT_EQ(screen.Capture(0, false, true), "0123456789abcdefghij  xyz\nshort\n1\n2\n3\n4\n");
  EXPECT_EQ(screen.Capture(6, false, true), screen.Capture(0, false, true));
  EXPECT_EQ(screen.Capture(5, false, true), "short\n1\n2\n3\n4\n");
}

TEST(Capture, WideEmojiAndCombiningCharacters) {
  EXPECT_EQ(Shown("\xe6\xbc\xa2\xe5\xad\x97|\r\n\xf0\x9f\x98\x80!\r\ne\xcc\x81\xcc\xa7."),
            "漢字|\n😀!\ne\xcc\x81\xcc\xa7.\n");
  EXPECT_EQ(Shown("abc漢", 4, 4), "abc\n漢\n");  // does not fit at the margin
  EXPECT_EQ(Shown("漢字\rx", 4, 10), "x 字\n");  // a narrow one over the left half
  Screen screen(2, 80);
  screen.Feed("\xe6\xbc\xa2");
  EXPECT_EQ(screen.cursor_col(), 2);
}

TEST(Capture, SplitInvalidAndNulBytes) {
  Screen screen(24, 80);
  for (const char c : std::string_view("ascii \xe6\xbc\xa2 \xff\xfe z\0\0!", 18))
    screen.Feed(&c, 1);
  EXPECT_EQ(screen.Capture(0, false), "ascii 漢 \xef\xbf\xbd\xef\xbf\xbd z!\n");
}

TEST(Capture, ColoursAndAttributes) {
  EXPECT_EQ(Coloured("\x1b[1;31mred\x1b[m plain"), "\x1b[0;1;31mred\x1b[m plain\n");
  EXPECT_EQ(Coloured("\x1b[94;103mx"), "\x1b[0;94;103mx\x1b[m\n");
  EXPECT_EQ(Coloured("\x1b[38;5;208mx\x1b[48:5:17my"),
            "\x1b[0;38;5;208mx\x1b[0;38;5;208;48;5;17my\x1b[m\n");
  EXPECT_EQ(Coloured("\x1b[38;2;1;2;3mx"), "\x1b[0;38;2;1;2;3mx\x1b[m\n");
  EXPECT_EQ(Coloured("\x1b[38:2::1:2:3mx\x1b[0;38:2:4:5:6my"),
            "\x1b[0;38;2;1;2;3mx\x1b[0;38;2;4;5;6my\x1b[m\n");
  EXPECT_EQ(Coloured("\x1b[2;3;4;7;9mx"), "\x1b[0;2;3;4;7;9mx\x1b[m\n");
  EXPECT_EQ(Coloured("\x1b[1;2mx\x1b[22my"), "\x1b[0;1;2mx\x1b[my\n");
  EXPECT_EQ(Coloured("\x1b[4:3mx\x1b[21my\x1b[24mz"), "\x1b[0;4:3mx\x1b[0;21my\x1b[mz\n");
  EXPECT_EQ(Coloured("\x1b[58;2;1;4;7mx\x1b[58:5:9my"),
            "xy\n");  // the colour of underlines, not four codes
  EXPECT_EQ(Coloured("\x1b[44m  \x1b[m  \r\n"), "\x1b[0;44m  \x1b[m\n");
  EXPECT_EQ(Coloured("\x1b[0;1;3;4;38;2;1;2;3;48;2;4;5;6;9mx"),
            "\x1b[0;1;3;4;9;38;2;1;2;3;48;2;4;5;6mx\x1b[m\n");
}

TEST(Capture, EachColouredLineIsCompleteInItself) {
  EXPECT_EQ(Coloured("\x1b[32mone\r\ntwo"), "\x1b[0;32mone\x1b[m\n\x1b[0;32mtwo\x1b[m\n");
}

TEST(Capture, AlternateScreenOnlyWhileItIsShown) {
  Screen screen(5, 20);
  for (int i = 0; i < 10; ++i) screen.Feed("shell\r\n");
  const std::string before = screen.Capture(0, false);
  for (const char* mode : {"1049", "1047", "47"}) {
    screen.Feed("\x1b[?" + std::string(mode) + "h\x1b[2J\x1b[2;3Hvim");
    EXPECT_TRUE(screen.alternate());
    EXPECT_EQ(screen.Capture(0, false), "\n  vim\n");
    screen.Feed("\x1b[?" + std::string(mode) + "l");
    EXPECT_FALSE(screen.alternate());
    EXPECT_EQ(screen.Capture(0, false), before);
  }
}

TEST(Screen, AFullScreenEditor) {
  Screen screen(6, 20);
  screen.Feed("$ vim x\r\n");
  screen.Feed(
      "\x1b[?1049h\x1b[22;0;0t\x1b[>4;2m\x1b[?1h\x1b=\x1b[?2004h\x1b[?1004h\x1b[1;6r\x1b[?12h\x1b[?"
      "12l\x1b[27m\x1b[H\x1b[2J");
  screen.Feed(
      "\x1b[?25l\x1b[6;1H\"x\" "
      "3L\x1b[1;1Hone\r\ntwo\r\nthree\r\n\x1b[94m~\x1b[5;1H~\x1b[m\x1b[1;1H\x1b[34h\x1b[?25h");
  EXPECT_EQ(screen.Capture(0, false), "one\ntwo\nthree\n~\n~\n\"x\" 3L\n");
  EXPECT_TRUE(screen.application_cursor());
  EXPECT_TRUE(screen.bracketed_paste());
  screen.Feed("\x1b[1;5r\x1b[1;1H\x1b[L\x1b[1;6rtop\x1b[1;1H");  // insert a line above
  EXPECT_EQ(screen.Capture(0, false), "top\none\ntwo\nthree\n~\n\"x\" 3L\n");
  ExpectSameAfterRepaint(screen);
  screen.Feed("\x1b[?1004l\x1b[?2004l\x1b[?1l\x1b>\x1b[6;1H\x1b[K\x1b[?1049l\x1b[23;0;0t");
  EXPECT_EQ(screen.Capture(0, false), "$ vim x\n");
  EXPECT_FALSE(screen.application_cursor());
  EXPECT_EQ(screen.cursor_row(), 1);
}

TEST(Screen, ACursesDialogWithLineDrawingAndRepeats) {
  EXPECT_EQ(Shown("\x1b(0lq\x1b[5bk\x1b(B\r\n\x1b(0x\x1b(B\x1b[6Cz\r\n\x1b[3;1H=\x1b[4b"),
            "┌──────┐\n│      z\n=====\n");
}

TEST(Screen, AnAgentThatRedrawsItsPromptInPlace) {
  Screen screen(10, 40);
  for (int i = 0; i < 5; ++i) {
    screen.Feed(
        "\x1b[?2026h\x1b[2K\x1b[1A\x1b[2K\x1b[1A\x1b[2K\x1b[G\x1b[2m\xe2\x95\xad\xe2\x94\x80\x1b["
        "22m\r\n> " +
        std::to_string(i) + "\r\n\x1b[2m\xe2\x95\xb0\xe2\x94\x80\x1b[22m\x1b[?2026l");
  }
  EXPECT_EQ(screen.Capture(0, false), "╭─\n> 4\n╰─\n");
  ExpectSameAfterRepaint(screen);
}

TEST(Screen, SaveAndRestoreCursorAsAnsiPrograms) {
  EXPECT_EQ(Shown("abc\x1b[s\r\nxyz\x1b[u!"), "abc!\nxyz\n");
  EXPECT_EQ(Shown("abc\x1b"
                  "7\r\nxyz\x1b"
                  "8!"),
            "abc!\nxyz\n");
}

TEST(Screen, AnswersQueries) {
  EXPECT_EQ(Answers("ab\x1b[6n"), "\x1b[1;3R");
  EXPECT_EQ(Answers("\x1b[5n"), "\x1b[0n");
  EXPECT_EQ(Answers("\x1b[c"), "\x1b[?1;2c");
  EXPECT_TRUE(Answers("\x1b[>c").starts_with("\x1b[>"));
  EXPECT_EQ(Answers("\x1b[?2004h\x1b[?2004$p"), "\x1b[?2004;1$y");
  EXPECT_EQ(Answers("\x1b[?69$p"), "\x1b[?69;0$y");
  EXPECT_EQ(Answers("\x1bP$qm\x1b\\"), "\x1bP1$rm\x1b\\");
}

TEST(Screen, AsksItselfWithoutTheProgramHearingIt) {
  std::string answers;
  Screen screen(24, 80);
  screen.set_reply(
      [](void* out, const char* b, size_t n) { static_cast<std::string*>(out)->append(b, n); },
      &answers);
  screen.Feed("\x1b]2;half a ti");
  EXPECT_FALSE(screen.bracketed_paste());
  EXPECT_FALSE(screen.application_cursor());
  screen.Repaint();
  screen.Resize(10, 10);
  screen.Feed("tle\x07\xe6\xbc");
  screen.Repaint();
  screen.Feed("\xa2\x1b[?20");
  screen.Repaint();
  screen.Feed("04h");
  EXPECT_TRUE(screen.bracketed_paste());
  EXPECT_EQ(screen.title(), "half a title");
  EXPECT_EQ(screen.Capture(0, false), "漢\n");
  EXPECT_EQ(answers, "");
}

TEST(Screen, TitleIsPrintable) {
  Screen screen(24, 80);
  screen.Feed(
      "\x1b]0;a\xff\xc2\x9b"
      "b\x1b\\");
  EXPECT_EQ(screen.title(),
            "a\xef\xbf\xbd"
            "b");
  screen.Feed("\x1b]2;\x07");
  EXPECT_EQ(screen.title(), "");
}

TEST(Screen, ResizeKeepsWhatWasSeen) {
  Screen screen(6, 20);
  screen.Feed("1\r\n2\r\n3\r\n4\r\n5\r\n6");
  screen.Resize(3, 10);
  EXPECT_EQ(screen.Capture(0, false), "1\n2\n3\n4\n5\n6\n");
  EXPECT_EQ(screen.scrollback().lines(), 3u);
  EXPECT_EQ(screen.cursor_row(), 2);
  screen.Resize(10, 30);
  EXPECT_EQ(screen.Capture(0, false), "1\n2\n3\n4\n5\n6\n");
  ExpectSameAfterRepaint(screen);
}

TEST(Screen, ResizeInTheAlternateScreenKeepsTheOtherOne) {
  Screen screen(6, 20);
  screen.Feed("1\r\n2\r\n3\r\n4\r\n5\r\n6\x1b[?1049h\x1b[H\x1b[2Jeditor");
  screen.Resize(3, 20);
  EXPECT_EQ(screen.Capture(0, false), "editor\n");
  ExpectSameAfterRepaint(screen);
  screen.Feed("\x1b[?1049l");
  EXPECT_EQ(screen.Capture(0, false), "1\n2\n3\n4\n5\n6\n");
}

TEST(Repaint, ReproducesStateAndBothScreens) {
  Screen screen(8, 30);
  screen.Feed("\x1b]2;my title\x07shell\r\n\x1b[1;38;5;99mcoloured\x1b[m\r\n$ ");
  ExpectSameAfterRepaint(screen);
  screen.Feed(
      "\x1b[?1049h\x1b[?1002h\x1b[?1006h\x1b[?25l\x1b[2;7r\x1b[5 "
      "q\x1b=\x1b[4;5H\x1b[45mtext\x1b[7;3H");
  ExpectSameAfterRepaint(screen);
  EXPECT_NE(screen.Repaint().find("\x1b[?1002h\x1b[?1006h"), std::string::npos);
  Screen viewer(8, 30);
  viewer.Feed(screen.Repaint());
  viewer.Feed("\x1b[?1049l");
  EXPECT_EQ(viewer.Capture(0, false), "shell\ncoloured\n$\n");
  EXPECT_EQ(viewer.cursor_col(), 2);
}

TEST(Repaint, EqualsTheScreenItself) {
  Screen screen(5, 12, 0);
  screen.Feed("\x1b[31mfull width!!\x1b[m\r\nx\x1b[44m\x1b[K\x1b[m\r\n\r\n漢字\x1b[7mend");
  Screen viewer(5, 12, 0);
  viewer.Feed(screen.Repaint());
  EXPECT_EQ(viewer.Capture(0, true), screen.Capture(0, true));
}

}  // namespace
}  // namespace berth::launcher
