#include "runtime/agent/redact.h"

#include <string>

#include "absl/status/status.h"
#include "absl/status/status_matchers.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace berth {
namespace {

using ::absl_testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

// In pieces, so that no scanner of sources takes them for real ones.
std::string Key(const char* head) { return absl::StrCat(head, "0123456789abcdefghijklmnopqrstuv"); }

TEST(Redactor, TakesOutKeysOfTheWellKnownForms) {
  const Redactor redactor = *Redactor::Create({});
  for (const std::string& secret : {Key("sk-"
                                        "ant-api03-"),
                                    Key("gh"
                                        "p_"),
                                    Key("AI"
                                        "za"),
                                    Key("glp"
                                        "at-"),
                                    Key("xo"
                                        "xb-"),
                                    absl::StrCat("AK", "IA0123456789ABCDEF"),
                                    absl::StrCat(Key("ey"
                                                     "J"),
                                                 ".", Key(""), ".", Key(""))}) {
    EXPECT_EQ(redactor.Redact(absl::StrCat("a ", secret, " z ", secret)),
              "a [redacted] z [redacted]");
  }
}

TEST(Redactor, LeavesTheWordThatTellsAndTakesTheSecretBehindIt) {
  const Redactor redactor = *Redactor::Create({});
  EXPECT_EQ(redactor.Redact("Authorization: Bearer abcdefghijklmnop"),
            "Authorization: Bearer [redacted]");
  EXPECT_EQ(redactor.Redact(R"({"api_key":"hunter22","n":1})"),
            R"({"api_key":"[redacted]","n":1})");
  EXPECT_EQ(redactor.Redact(R"({"x":"{\"password\":\"hunter22\"}"})"),
            R"({"x":"{\"password\":\"[redacted]\"}"})");
  EXPECT_EQ(redactor.Redact("git clone https://me:hunter22@host/x"),
            "git clone https://me:[redacted]@host/x");
  EXPECT_EQ(redactor.Redact("TOKEN=abcdef123 make"), "TOKEN=[redacted] make");
}

TEST(Redactor, TakesOutPrivateKeysWholeOrTorn) {
  const Redactor redactor = *Redactor::Create({});
  const std::string head =
      "-----BEGIN RSA "
      "PRIVATE KEY-----\nMIIE";
  EXPECT_EQ(redactor.Redact(head + "\n-----END RSA "
                                   "PRIVATE KEY----- rest"),
            "[redacted] rest");
  EXPECT_EQ(redactor.Redact("x " + head), "x [redacted]");
}

TEST(Redactor, LeavesOtherTextsAlone) {
  const Redactor redactor = *Redactor::Create({});
  for (const char* text :
       {"", "the token bucket", "sk-short", "https://host/path@v1", "a\xff\xfe b",
        "{\"usage\":{\"input_tokens\":12,\"output_tokens\":100}}"}) {
    EXPECT_EQ(redactor.Redact(text), text);
  }
}

TEST(Redactor, KnowsValuesAndPatternsOfTheCaller) {
  const Redactor redactor = *Redactor::Create(
      {.defaults = false, .patterns = {"corp-[0-9]+", "id=(x+)"}, .values = {"s.e(c", "se.cr(et"}});
  EXPECT_EQ(redactor.Redact("corp-12 se.cr(et secr(et id=xxx sk-0123456789abcdefghij"),
            "[redacted] [redacted] secr(et id=[redacted] sk-0123456789abcdefghij");
  EXPECT_THAT(redactor.Redact("s.e(c"), HasSubstr("s.e(c")) << "too short to be a secret";
  EXPECT_THAT(Redactor::Create({.patterns = {"(open"}}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("(open")));
  // A pattern that matches nothing at all is no reason to hang.
  EXPECT_EQ(Redactor::Create({.defaults = false, .patterns = {"x*"}})->Redact("axxb"),
            "a[redacted]b");
}

TEST(Redactor, FindsSecretsInAnEnvironment) {
  EXPECT_THAT(Redactor::SecretsOf({"PATH=/bin", "OPENAI_API_KEY=abc", "DB_PASSWORD=d=e",
                                   "KEYMAP2=x", "broken", "GH_TOKEN_FILE=/f"}),
              ElementsAre("abc", "d=e", "x", "/f"));
}

}  // namespace
}  // namespace berth
