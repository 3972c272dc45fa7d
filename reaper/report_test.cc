#include "reaper/report.h"

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace berth::reaper {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(ReportText, NothingThatOthersChoseIsObeyedByATerminal) {
  Report report;
  report.state_dir = "/s\u202ee";
  report.items.push_back({.kind = "session",
                          .name = "n\u009b2J\x9b"
                                  "1J",
                          .because = {"b\x1b[0m\x9d"},
                          .evidence = {"e\u2066\xc2"}});
  report.items.push_back({.kind = "socket", .id = "é", .error = absl::UnknownError("m\x90")});
  EXPECT_THAT(ToText(report, /*evidence=*/true, /*colour=*/false),
              AllOf(HasSubstr("session n 2J?1J: b [0m?\n"), HasSubstr("    e??\n"),
                    HasSubstr("socket é: m?\n"), HasSubstr("/s?e: "), Not(HasSubstr("\x9b"))));
}

}  // namespace
}  // namespace berth::reaper
