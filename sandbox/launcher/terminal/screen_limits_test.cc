// What hostile, large and random output does to a Screen: nothing.
#include <malloc.h>

#include <chrono>
#include <cstdio>
#include <memory>
#include <random>
#include <string>
#include <string_view>

#include "gtest/gtest.h"
#include "sandbox/launcher/terminal/screen.h"

namespace berth::launcher {
namespace {

using Clock = std::chrono::steady_clock;

void ExpectSane(const Screen& screen) {
  ASSERT_GE(screen.cursor_row(), 0);
  ASSERT_LT(screen.cursor_row(), screen.rows());
  ASSERT_GE(screen.cursor_col(), 0);
  ASSERT_LT(screen.cursor_col(), screen.cols());
}

void Try(std::string_view bytes, int rows = 24, int cols = 80) {
  Screen screen(rows, cols);
  screen.Feed(bytes);
  screen.Resize(cols, rows);
  screen.Feed(bytes);
  screen.Capture(0, true, true);
  ExpectSane(screen);
}

std::string Times(int n, std::string_view text) {
  std::string out;
  for (int i = 0; i < n; ++i) out += text;
  return out;
}

TEST(Memory, AnIdleTerminalIsSmall) {
  if (mallinfo2().uordblks == 0) GTEST_SKIP() << "this allocator does not count (sanitizer)";
  const size_t before = mallinfo2().uordblks;
  auto screen = std::make_unique<Screen>(24, 80);
  screen->Feed("$ echo \x1b[32mhello\x1b[m\r\nhello\r\n$ ");
  const size_t idle = mallinfo2().uordblks - before;
  screen->Feed("\x1b[?1049h\x1b[?1049l");
  const size_t alternate = mallinfo2().uordblks - before;
  for (int i = 0; i < 2000; ++i)
    screen->Feed("\x1b[32m2026-01-01\x1b[m a usual line of a log, not too short, not too long\r\n");
  const size_t full = mallinfo2().uordblks - before;
  printf("heap: idle %zu, after an alternate screen %zu, with %zu lines of scrollback %zu bytes\n",
         idle, alternate, screen->scrollback().lines(), full);
  EXPECT_LT(idle, 90u << 10);
  EXPECT_LT(full - alternate, 200u << 10);
}

TEST(Memory, ScrollbackIsBoundedInLines) {
  Screen screen(24, 80, 100);
  for (int i = 0; i < 5000; ++i) screen.Feed(std::to_string(i) + "\r\n");
  EXPECT_EQ(screen.scrollback().lines(), 100u);
  EXPECT_TRUE(screen.Capture(0, false).starts_with("4877\n"));
  EXPECT_TRUE(screen.Capture(0, false).ends_with("4999\n"));
  EXPECT_LT(screen.scrollback().bytes(), 20u << 10);
}

TEST(Memory, ScrollbackIsBoundedInBytes) {
  for (const size_t limit : {size_t{0}, size_t{3}, size_t{500}, size_t{64} << 10}) {
    Screen screen(24, 200, 1 << 20, limit);
    for (int i = 0; i < 3000; ++i) {
      screen.Feed("\x1b[38;2;" + std::to_string(i % 256) + ";2;3m" +
                  std::string(static_cast<size_t>(i) % 200, 'x') + "\x1b[m\r\n");
      ASSERT_LE(screen.scrollback().bytes(), limit);
    }
    EXPECT_EQ(screen.scrollback().lines() > 0, limit >= 500);
  }
}

TEST(Memory, CombiningCharactersWithoutEndAreCut) {
  const std::string marks = Times(1 << 10, "\xcc\x81");
  Screen screen(24, 80);
  screen.Feed("a");
  for (int i = 0; i < 5 << 10; ++i) screen.Feed(marks);  // 10 MB: minutes, and 40 MB, in libvterm
  screen.Feed("\x07\x1b[m" + marks + "b\xcc\x81 c\r\n");
  EXPECT_TRUE(screen.Capture(0, false).ends_with("b\xcc\x81 c\n"));
}

TEST(Hostile, MoreArgumentsThanLibvtermsArrayHolds) {
  Try("\x1b[" + Times(10000, "1;") + "m");
  Try("\x1b[" + Times(30, "38;") + "m");
  Try("\x1b[" + Times(15, "4:") + "m");
  Try("\x1b[" + Times(10000, "9") + "A");
}

TEST(Hostile, RepeatOfNothingWideAndCombining) {
  Try("\x1b[5b");
  Try("\xcc\x81\x1b[99999b");
  Try("\xe6\xbc\xa2\x1b[99999b", 3, 7);
}

TEST(Hostile, CursorSavedOutsideOfAShrunkScreen) {
  Screen screen(50, 100);
  screen.Feed(
      "\x1b[50;100H\x1b"
      "7");
  screen.Resize(2, 2);
  screen.Feed(
      "\x1b"
      "8wrap wrap wrap\r\n\x1bH\t");
  ExpectSane(screen);
  screen.Feed("\x1b[u\x1b[?1048lx");
  ExpectSane(screen);
}

TEST(Hostile, ScrollRegionOutsideOfAShrunkScreen) {
  Screen screen(24, 80);
  screen.Feed("\x1b[20;24r\x1b[24;1H");
  screen.Resize(10, 80);
  screen.Feed(Times(50, "x\n") + "\x1b[5T\x1b[5S\x1bM");
  ExpectSane(screen);
}

TEST(Hostile, C1ControlsMarginsAndDoubleWidth) {
  Try("\xc2\x9b\x1bH\x1b[4hxyz\x1b[4l");
  Try("\x1b[?69h\x1b[80s\x1b[?6h\n\n\x1b[L\x1b[5@");
  Try("\x1b#6\x1b[70G\x1b[5@\x1b[5P");
  Try("\xe3\x81\x8b" + Times(20, "\xe3\x82\x99"), 4, 3);
  Try("\xe6\xbc\xa2\xe6\xbc\xa2", 1, 1);
}

TEST(Hostile, StringsCutAtTheirEscape) {
  Screen screen(24, 80);
  screen.Feed("\x1b]2;a\x1b");
  screen.Feed(std::string_view("\0", 1));
  screen.Feed("\x01");
  screen.Feed("\\b");
  EXPECT_EQ(screen.Capture(0, false), "b\n");
}

TEST(Hostile, ResetInTheAlternateScreen) {
  Screen screen(24, 80);
  screen.Feed(
      "shell\x1b[?1049hvim\x1b[?1006h\x1b[?2004h\x1b"
      "cfresh");
  EXPECT_FALSE(screen.alternate());
  EXPECT_FALSE(screen.bracketed_paste());
  EXPECT_EQ(screen.Capture(0, false), "fresh\n");
}

// Random mixtures of what programs send, fed in random pieces, with resizes: the state stays sane,
// and a terminal that gets Repaint() repaints the same.
TEST(Random, MixturesOfSequencesKeepTheStateSane) {
  const std::string kParts[] = {
      "text ",
      "\r\n",
      "\n",
      "\r",
      "\t",
      "\b",
      "\x1b[",
      "\x1b]2;",
      "\x07",
      "\x1b\\",
      "\x1bP$q",
      "m",
      "H",
      "J",
      "K",
      "r",
      ";",
      "?",
      "h",
      "l",
      "1049",
      "1;31",
      "\x1b[?1049h",
      "\x1b[?1049l",
      "\x1b[2J",
      "\x1b[5;10r",
      "\x1b[r",
      "\x1bM",
      "\x1b"
      "7",
      "\x1b"
      "8",
      "\x1b[L",
      "\x1b[M",
      "\x1b[3@",
      "\x1b[3P",
      "\x1b[4h",
      "\x1b[4l",
      "\x1b[?6h",
      "\x1b[?6l",
      "\x1b[?7l",
      "\x1b[?7h",
      "\x1b[99b",
      "\x1b[S",
      "\x1b[T",
      "\x1b[!p",
      "\x1b"
      "c",
      "\x1bH",
      "\x1b[3g",
      "\x1b[Z",
      "\x1b[I",
      "\xe6\xbc\xa2",
      "\xf0\x9f\x98\x80",
      "\xcc\x81",
      "\xc2\x9b",
      "\xff",
      "\x1b(0",
      "\x1b(B",
      "\x0e",
      "\x0f",
      "\x1bN",
      "\x1b[38;2;1;2",
      "\x1b[?5h",
      "\x1b[?5l",
      "\x1b#8",
      "\x1b#6",
      "\x1b['}",
      "\x1b['~",
      "\x1b[1\"q",
      "\x1b[?J",
      "\x1b[99;99H",
      "\x1b[99X",
      "\x1b[?69h",
      "\x1b[5;9s",
      std::string("\0", 1),
      "\x18",
      "0123456789012345678901234567890",
  };
  std::mt19937 random(20260101);
  for (int round = 0; round < 1500; ++round) {
    Screen screen(static_cast<int>(random() % 30), static_cast<int>(random() % 50), random() % 50,
                  random() % 5000);
    for (unsigned n = random() % 150; n > 0; --n) {
      std::string piece = kParts[random() % std::size(kParts)];
      if (random() % 8 == 0) piece = static_cast<char>(random());
      if (random() % 60 == 0)
        screen.Resize(static_cast<int>(random() % 30), static_cast<int>(random() % 50));
      const size_t cut = random() % (piece.size() + 1);
      screen.Feed(piece.substr(0, cut));
      screen.Feed(piece.substr(cut));
      ExpectSane(screen);
    }
    const std::string text = screen.Capture(0, false, random() % 2);
    ASSERT_EQ(text.find('\x1b'), text.npos);
    ASSERT_EQ(screen.Capture(0, true), screen.Capture(1 << 20, true));
    Screen viewer(screen.rows(), screen.cols());
    viewer.Feed(screen.Repaint());
    ASSERT_EQ(viewer.cursor_row(), screen.cursor_row());
    ASSERT_EQ(viewer.cursor_col(), screen.cursor_col());
    ASSERT_EQ(viewer.alternate(), screen.alternate());
    ASSERT_EQ(viewer.bracketed_paste(), screen.bracketed_paste());
  }
}

TEST(Random, BytesInAnyPiecesGiveTheSameScreen) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    std::string bytes;
    for (int i = 0; i < 2000; ++i)
      bytes += static_cast<char>(random() % 4 ? 0x1b + random() % 100 : random());
    Screen whole(24, 80), pieces(24, 80);
    whole.Feed(bytes);
    for (size_t at = 0; at < bytes.size();) {
      const size_t size = std::min(bytes.size() - at, size_t{1} + random() % 7);
      pieces.Feed(bytes.data() + at, size);
      at += size;
    }
    ASSERT_EQ(whole.Capture(0, true, true), pieces.Capture(0, true, true));
    ASSERT_EQ(whole.Repaint(), pieces.Repaint());
  }
}

TEST(Speed, TenMegabytesOfColouredLines) {
  const std::string block = Times(
      1000,
      "\x1b[32m+\x1b[m a line of a diff \x1b[1mwith\x1b[m some colour in it, sixty columns\r\n");
  Screen screen(24, 80);
  const auto start = Clock::now();
  size_t fed = 0;
  for (; fed < 10 << 20; fed += block.size()) screen.Feed(block);
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  printf("10 MB in %.2f s: %.1f MB/s\n", seconds, static_cast<double>(fed) / 1e6 / seconds);
  EXPECT_EQ(screen.scrollback().lines(), 2000u);
  EXPECT_LT(seconds, 60);
}

TEST(Speed, OneLineOfTenMegabytes) {
  Screen screen(24, 80);
  const std::string block(1 << 20, 'x');
  for (int i = 0; i < 10; ++i) screen.Feed(block);
  screen.Feed("\r\nresult\r\n");
  EXPECT_TRUE(screen.Capture(1, false) == "result\n");
}

}  // namespace
}  // namespace berth::launcher
