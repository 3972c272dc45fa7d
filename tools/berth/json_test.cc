// Json is written by us and read by everybody: what it writes is what another library reads and
// would write.

#include "tools/berth/json.h"

#include <limits>
#include <random>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace berth::cli {
namespace {

using Peer = nlohmann::ordered_json;

TEST(JsonText, IsWhatAPeerWritesOfTheSameValues) {
  const Json json = {{"text", "a \"b\" \\ \n\t\x01 é 🚢"},
                     {"empty", ""},
                     {"null", nullptr},
                     {"yes", true},
                     {"least", std::numeric_limits<int64_t>::min()},
                     {"most", std::numeric_limits<uint64_t>::max()},
                     {"half", 0.5},
                     {"whole", 3.0},
                     {"tiny", 1.5e-300},
                     {"object", {{"a", 1}, {"b", Json::Array(std::vector<Json>{1, "x", nullptr})}}},
                     {"none", Json::Array(std::vector<Json>{})},
                     {"nothing", Json::Object({})}};
  const Peer read = Peer::parse(json.text());
  EXPECT_EQ(read.dump(), json.text());
  EXPECT_EQ(read.dump(2), json.Pretty());
}

TEST(JsonText, OfAnyBytesIsWhatAPeerReads) {
  std::mt19937 random(7);
  // Letters, quotes, controls, and the bytes that begin and go on with UTF-8 sequences.
  const std::string bytes =
      "ab\"\\/\n\r\x7f\x01\x80\xbf\xc2\xc3\xe0\xa0\xed\x9f\xef\xf0\x90\xf4\x8f";
  for (int i = 0; i < 20000; ++i) {
    std::string text;
    for (size_t n = random() % 8; n > 0; --n) text += bytes[random() % bytes.size()];
    const Peer read = Peer::parse(Json(text).text());
    if (Peer valid = text; valid.dump(-1, ' ', false, Peer::error_handler_t::ignore) ==
                           valid.dump(-1, ' ', false, Peer::error_handler_t::replace)) {
      EXPECT_EQ(read.get<std::string>(), text);
    }
  }
}

TEST(JsonText, OfWhatIsNoNumberIsNull) {
  EXPECT_EQ(Json(std::numeric_limits<double>::quiet_NaN()).text(), "null");
  EXPECT_EQ(Json(std::numeric_limits<double>::infinity()).text(), "null");
}

}  // namespace
}  // namespace berth::cli
