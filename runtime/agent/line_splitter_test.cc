#include "runtime/agent/line_splitter.h"

#include <stdint.h>

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace berth {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

using Lines = std::vector<std::pair<std::string, int64_t>>;

Lines Split(absl::string_view text, size_t piece, size_t limit = 0, std::string* rest = nullptr) {
  LineSplitter splitter(limit);
  Lines lines;
  for (size_t at = 0; at < text.size(); at += piece) {
    splitter.Feed(text.substr(at, piece), [&](const LineSplitter::Line& line) {
      lines.emplace_back(line.text, line.truncated_bytes);
    });
  }
  if (rest != nullptr) *rest = splitter.unfinished();
  return lines;
}

TEST(LineSplitter, GivesTheSameLinesHoweverTheBytesCome) {
  for (size_t piece = 1; piece < 20; ++piece) {
    std::string rest;
    EXPECT_THAT(
        Split("one\n\ntwo\r\n\r\nth\rree\nrest", piece, 0, &rest),
        ElementsAre(Pair("one", 0), Pair("", 0), Pair("two", 0), Pair("", 0), Pair("th\rree", 0)));
    EXPECT_EQ(rest, "rest");
  }
}

TEST(LineSplitter, CutsALineAtTheLimitSaysSoAndLosesNothingAfterIt) {
  for (size_t piece = 1; piece < 30; ++piece) {
    EXPECT_THAT(Split("12345\n1234567\n12\n12345678901234567890\nend\n", piece, 5),
                ElementsAre(Pair("12345", 0), Pair("12345", 2), Pair("12", 0), Pair("12345", 15),
                            Pair("end", 0)));
  }
}

TEST(LineSplitter, TakesALineOfAHundredMegabytes) {
  const int64_t size = int64_t{100} << 20;
  const std::string piece(1 << 20, 'x');
  LineSplitter splitter(0);
  int64_t longest = 0;
  std::vector<std::string> others;
  const auto callback = [&](const LineSplitter::Line& line) {
    EXPECT_EQ(line.truncated_bytes, 0);
    if (line.text.size() < 100) return others.emplace_back(line.text), void();
    longest = static_cast<int64_t>(line.text.size());
    EXPECT_EQ(line.text.find_first_not_of('x'), absl::string_view::npos);
  };
  for (int i = 0; i < 100; ++i) splitter.Feed(piece, callback);
  EXPECT_EQ(splitter.unfinished_bytes(), size);
  splitter.Feed("\nthe result\n", callback);
  EXPECT_EQ(longest, size);
  EXPECT_THAT(others, ElementsAre("the result"));
}

TEST(LineSplitter, HoldsNoMoreThanTheLimitOfALongLine) {
  LineSplitter splitter(1000);
  const std::string piece(1 << 20, 'x');
  const auto none = [](const LineSplitter::Line&) { ADD_FAILURE(); };
  for (int i = 0; i < 50; ++i) splitter.Feed(piece, none);
  EXPECT_EQ(splitter.unfinished().size(), 1000u);
  EXPECT_EQ(splitter.unfinished_bytes(), int64_t{50} << 20);
}

}  // namespace
}  // namespace berth
