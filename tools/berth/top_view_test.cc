// What berth top draws fits its screen, whatever sessions are called and write.

#include "tools/berth/top_view.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/session.h"
#include "runtime/types.h"

namespace berth::cli {
namespace {

using ::testing::HasSubstr;

TopScreen Sessions(size_t count) {
  TopScreen screen;
  screen.now = absl::FromUnixSeconds(1000);
  for (size_t i = 0; i < count; ++i) {
    TopRow row;
    row.info.name = i % 2 == 0 ? absl::StrCat("s", i) : std::string(64, 'n');
    row.info.backend = "native";
    row.info.state = i % 3 == 0 ? SessionState::kExited : SessionState::kRunning;
    row.info.created = absl::FromUnixSeconds(0);
    row.cpu = static_cast<double>(i);
    row.memory_bytes = int64_t{1} << (i % 50);
    row.last_line = absl::StrCat(std::string(300, 'x'), "\x1b[2J é\n");
    screen.rows.push_back(row);
  }
  return screen;
}

size_t Width(const std::string& line) {
  return static_cast<size_t>(
      std::count_if(line.begin(), line.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

TEST(TopFrame, FitsEverySize) {
  for (const size_t count : {0, 1, 5, 100}) {
    TopScreen screen = Sessions(count);
    for (const uint16_t rows : {1, 2, 3, 4, 24, 50, 200}) {
      for (const uint16_t cols : {1, 2, 10, 40, 80, 200, 500}) {
        screen.size = {rows, cols};
        for (const size_t selected : {size_t{0}, count / 2, count > 0 ? count - 1 : 0}) {
          screen.selected = selected;
          const std::vector<std::string> lines = TopFrame(screen);
          for (const std::string& line : lines) {
            EXPECT_LE(Width(line), cols) << rows << "x" << cols << ": " << line;
            EXPECT_EQ(line.find('\x1b'), std::string::npos) << "a program's own sequence: " << line;
          }
          EXPECT_EQ(lines.size(), rows);
        }
      }
    }
  }
}

TEST(TopFrame, ShowsTheSelectedOneWhereverItIs) {
  TopScreen screen = Sessions(100);
  screen.size = {24, 80};
  for (const size_t selected : {0, 2, 20, 22, 50, 98}) {
    screen.selected = selected;
    const std::vector<std::string> lines = TopFrame(screen);
    const std::string mark = absl::StrCat(">", screen.rows[selected].info.name, " ");
    EXPECT_EQ(std::count_if(lines.begin(), lines.end(),
                            [&](const std::string& line) { return line.rfind(mark, 0) == 0; }),
              1)
        << selected;
  }
}

TEST(TopFrame, SaysHowASessionEnded) {
  TopScreen screen = Sessions(3);
  screen.size = {24, 120};
  screen.rows[0].info.exit = {.code = 3, .signal = 0, .reason = EndReason::kExited};
  screen.rows[1].info.state = SessionState::kExited;
  screen.rows[1].info.exit = {.code = 0, .signal = 9, .reason = EndReason::kSignaled};
  const std::vector<std::string> lines = TopFrame(screen);
  EXPECT_THAT(lines[0], HasSubstr("3 sessions, 1 running"));
  EXPECT_THAT(lines[2], HasSubstr("exit 3"));
  EXPECT_THAT(lines[3], HasSubstr("signal 9"));
}

}  // namespace
}  // namespace berth::cli
