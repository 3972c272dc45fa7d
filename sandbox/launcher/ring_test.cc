#include "sandbox/launcher/ring.h"

#include <stdint.h>

#include <algorithm>
#include <random>
#include <string>

#include "gtest/gtest.h"

namespace berth::launcher {
namespace {

constexpr uint64_t kNobody = ~uint64_t{0};

std::string From(const Ring& ring, uint64_t offset) {
  std::string bytes;
  for (std::string_view piece; !(piece = ring.At(offset)).empty(); offset += piece.size())
    bytes += piece;
  return bytes;
}

TEST(Ring, KeepsTheLastBytes) {
  Ring ring(10);
  EXPECT_EQ(ring.end(), 0u);
  EXPECT_EQ(ring.At(0), "");
  ring.Append("0123456", kNobody);
  EXPECT_EQ(From(ring, ring.begin()), "0123456");
  ring.Append("789abc", kNobody);
  EXPECT_EQ(ring.begin(), 3u);
  EXPECT_EQ(ring.end(), 13u);
  EXPECT_EQ(From(ring, 3), "3456789abc");
  EXPECT_EQ(From(ring, 12), "c");
  EXPECT_EQ(ring.At(2), "");
  EXPECT_EQ(ring.At(13), "");
}

TEST(Ring, KeepsWhatIsNeededBeyondThat) {
  Ring ring(4);
  ring.Append("abcdef", 1);
  EXPECT_EQ(ring.begin(), 1u);
  ring.Append("ghij", 1);
  EXPECT_EQ(From(ring, 1), "bcdefghij");
  ring.Append("k", kNobody);
  EXPECT_EQ(ring.begin(), 7u);
  EXPECT_EQ(From(ring, 7), "hijk");
}

TEST(Ring, OfNothingKeepsNothing) {
  Ring ring(0);
  ring.Append("abc", kNobody);
  EXPECT_EQ(ring.begin(), 3u);
  EXPECT_EQ(ring.end(), 3u);
  ring.Append("def", 3);
  EXPECT_EQ(From(ring, 3), "def");
}

TEST(Ring, IsTheSameAsAStringOnRandomAppends) {
  std::mt19937 random(7);
  for (const size_t keep : {size_t{0}, size_t{1}, size_t{5000}, size_t{4096}, size_t{100000}}) {
    Ring ring(keep);
    std::string all;
    uint64_t needed = 0;  // only ever grows, as a reader's place does
    for (int i = 0; i < 2000; ++i) {
      std::string bytes(random() % (i % 50 == 0 ? 30000 : 900), '\0');
      for (char& c : bytes) c = static_cast<char>(random());
      // A reader catches up now and then, or is not there.
      if (random() % 8 == 0)
        needed = std::max<uint64_t>(needed, all.size() - random() % (all.size() + 1) / 4);
      needed = std::min<uint64_t>(std::max(needed, ring.begin()), all.size());
      const bool lone = random() % 16 == 0;
      ring.Append(bytes, lone ? kNobody : needed);
      all += bytes;
      ASSERT_EQ(ring.end(), all.size());
      ASSERT_LE(ring.begin(), all.size() - std::min(keep, all.size()));
      ASSERT_TRUE(lone || ring.begin() <= needed);
      if (i % 10 == 0) {
        ASSERT_TRUE(From(ring, ring.begin()) == all.substr(ring.begin())) << i;
      }
      if (lone) needed = std::max(needed, ring.begin());
    }
  }
}

}  // namespace
}  // namespace berth::launcher
