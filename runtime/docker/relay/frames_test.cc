#include "runtime/docker/relay/frames.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace berth::relay {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

std::string EngineFrame(int stream, std::string_view payload) {
  std::string out(8, '\0');
  out[0] = static_cast<char>(stream);
  for (int i = 0; i < 4; ++i) out[4 + i] = static_cast<char>(payload.size() >> (24 - 8 * i));
  return out.append(payload);
}

TEST(Frames, ComeWholeHoweverTheBytesCome) {
  const std::string bytes = Frame('o', "hello") + Frame('X', "") + Frame('e', std::string(3, '\0'));
  for (size_t step = 1; step <= bytes.size(); ++step) {
    FrameReader reader;
    std::vector<std::pair<char, std::string>> seen;
    for (size_t at = 0; at < bytes.size(); at += step) {
      ASSERT_TRUE(reader.Feed(std::string_view(bytes).substr(at, step),
                              [&](char type, std::string_view body) {
                                seen.emplace_back(type, body);
                                return true;
                              }));
    }
    EXPECT_THAT(seen,
                ElementsAre(Pair('o', "hello"), Pair('X', ""), Pair('e', std::string(3, '\0'))));
  }
}

TEST(Frames, OneThatIsTooLongIsRefusedAtItsHead) {
  FrameReader reader;
  EXPECT_FALSE(reader.Feed(std::string_view("o\x7f\xff\xff\xff", 5),
                           [](char, std::string_view) { return true; }));
}

TEST(Demux, KeepsTheStreamsApartHoweverTheBytesCome) {
  const std::string bytes =
      EngineFrame(1, "out") + EngineFrame(2, "err") + EngineFrame(1, "") + EngineFrame(1, "put");
  for (size_t step = 1; step <= bytes.size(); ++step) {
    Demux demux;
    std::string streams[3];
    for (size_t at = 0; at < bytes.size(); at += step) {
      ASSERT_TRUE(demux.Feed(std::string_view(bytes).substr(at, step),
                             [&](int stream, std::string_view piece) {
                               streams[stream].append(piece);
                               return true;
                             }));
    }
    EXPECT_EQ(streams[1], "output");
    EXPECT_EQ(streams[2], "err");
  }
}

TEST(Demux, RefusesWhatIsNoHeader) {
  const auto take = [](int, std::string_view) { return true; };
  EXPECT_FALSE(Demux().Feed(std::string_view("\3\0\0\0\0\0\0\1x", 9), take));
  EXPECT_FALSE(Demux().Feed(std::string_view("\1\0\1\0\0\0\0\1x", 9), take));
  EXPECT_FALSE(Demux().Feed("HTTP/1.1 500 Oops", take));
}

TEST(Demux, HoldsNothingOfALongFrame) {
  Demux demux;
  size_t seen = 0;
  const auto take = [&](int, std::string_view piece) {
    seen += piece.size();
    return true;
  };
  ASSERT_TRUE(demux.Feed(std::string_view("\1\0\0\0\xff\xff\xff\xff", 8), take));
  ASSERT_TRUE(demux.Feed(std::string(100000, 'x'), take));
  EXPECT_EQ(seen, 100000u);
}

}  // namespace
}  // namespace berth::relay
