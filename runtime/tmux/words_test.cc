#include "runtime/tmux/words.h"

#include "absl/status/status.h"
#include "absl/status/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace berth::tmux {
namespace {

using ::absl_testing::IsOk;
using ::absl_testing::StatusIs;
using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(Version, FromThreeTwoOnWillDo) {
  for (const char* version : {"3.2", "3.2a", "3.3", "3.5a", "3.10", "4.0", "10.1", "next-3.2",
                              "next-3.7", "openbsd-7.4", "master"}) {
    EXPECT_THAT(CheckVersion(version), IsOk()) << version;
  }
}

TEST(Version, OlderOnesAndNonsenseAreToldWithWhatToInstall) {
  for (const char* version :
       {"3.1c", "3.0", "2.9a", "1.8", "next-3.1", "", "3", "tmux", "a.b", "-3.5", "3.-5"}) {
    EXPECT_THAT(CheckVersion(version),
                StatusIs(absl::StatusCode::kFailedPrecondition,
                         AllOf(HasSubstr(version), HasSubstr("install tmux 3.2 or newer"))))
        << version;
  }
}

TEST(CommandError, ATargetThatIsNotThereIsNotFoundInTheWordsOfEveryVersion) {
  for (const char* words :
       {"can't find session: berth-x", "can't find window: 3",
        "can't find pane: =berth-x:", "session not found: berth-x", "no such session: berth-x",
        "no current target\n", "no current client", "no sessions"}) {
    EXPECT_THAT(CommandError(words), StatusIs(absl::StatusCode::kNotFound)) << words;
  }
}

TEST(CommandError, ASessionThatIsThereAlreadyExists) {
  EXPECT_THAT(CommandError("duplicate session: berth-x\n"),
              StatusIs(absl::StatusCode::kAlreadyExists, "tmux: duplicate session: berth-x"));
}

TEST(CommandError, AnythingElseIsToldInTmuxsOwnWords) {
  EXPECT_THAT(CommandError("  bad option: x\n"),
              StatusIs(absl::StatusCode::kFailedPrecondition, "tmux: bad option: x"));
}

}  // namespace
}  // namespace berth::tmux
