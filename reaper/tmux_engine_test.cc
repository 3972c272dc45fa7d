// A real tmux server: sessions are found and ended by their exact names, and a server that does not
// answer tells nothing.

#include "reaper/tmux_engine.h"

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <utility>

#include "absl/status/status_matchers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "reaper/decide.h"
#include "reaper/engine.h"
#include "reaper/report.h"
#include "reaper/sweep.h"
#include "reaper/test_records.h"
#include "runtime/record/record.h"
#include "runtime/record/store.h"
#include "runtime/record/test_dir.h"

namespace berth::reaper {
namespace {

using ::absl_testing::IsOk;
using ::absl_testing::StatusIs;

class Tmux : public testing::Test {
 protected:
  void TearDown() override { Run("kill-server"); }
  int Run(const std::string& command) {
    return system(
        absl::StrCat("tmux -f /dev/null -S ", socket_, " ", command, " >/dev/null 2>&1").c_str());
  }
  Record RecordOf(const std::string& uid) {
    Record record;
    record.uid = uid;
    record.tmux_socket = socket_;
    record.tmux_session = "berth-" + uid;
    return record;
  }
  static EndOptions Soon() { return {.deadline = absl::Now() + absl::Seconds(30)}; }

  TestDir dir_;
  const std::string socket_ = dir_ / "tmux";
  TmuxEngine engine_;
};

TEST_F(Tmux, SessionsAreFoundAndEndedByTheirExactNames) {
  ASSERT_EQ(Run("new-session -d -s berth-abc"), 0);
  ASSERT_EQ(Run("new-session -d -s berth-abcd"), 0);
  EXPECT_EQ(engine_.Look(RecordOf("abc")), Presence::kAlive);
  EXPECT_EQ(engine_.Look(RecordOf("ab")), Presence::kDead);
  EXPECT_THAT(engine_.End(RecordOf("ab"), Soon()), IsOk());
  EXPECT_THAT(engine_.End(RecordOf("abc"), Soon()), IsOk());
  EXPECT_EQ(engine_.Look(RecordOf("abc")), Presence::kDead);
  EXPECT_EQ(engine_.Look(RecordOf("abcd")), Presence::kAlive);
  // The last one: the server ends with it.
  EXPECT_THAT(engine_.End(RecordOf("abcd"), Soon()), IsOk());
  EXPECT_EQ(engine_.Look(RecordOf("abcd")), Presence::kDead);
}

TEST_F(Tmux, ASessionThatIsNotTheRecordsIsLeftAlone) {
  ASSERT_EQ(Run("new-session -d -s precious"), 0);
  Record record = RecordOf("abc");
  record.tmux_session = "precious";
  EXPECT_EQ(engine_.Look(record), Presence::kUnknown);
  EXPECT_THAT(engine_.End(record, Soon()), StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_EQ(Run("has-session -t =precious"), 0);
}

TEST_F(Tmux, AServerThatIsGoneHasNothing) {
  EXPECT_EQ(engine_.Look(RecordOf("abc")), Presence::kDead);
  WriteText(socket_, "not a socket");
  EXPECT_EQ(engine_.Look(RecordOf("abc")), Presence::kUnknown);
}

TEST_F(Tmux, ASweepTakesAwayWhatADeadOwnerLeft) {
  auto store = Store::Open(dir_ / "state");
  ASSERT_THAT(store, IsOk());
  const Record made = MakeOrphan(**store, "orphan", DeadProcess(), [&](Record& it) {
    it.backend = "tmux";
    it.tmux_socket = socket_;
    it.tmux_session = "berth-" + it.uid;
  });
  ASSERT_EQ(Run("new-session -d -s other"), 0);
  ASSERT_EQ(Run(absl::StrCat("new-session -d -s berth-", made.uid)), 0);
  Engines engines;
  engines.push_back(std::make_unique<TmuxEngine>());
  const absl::StatusOr<Report> report = Sweep(**store, {}, engines);
  ASSERT_THAT(report, IsOk());
  EXPECT_EQ(report->done, 1) << ToText(*report, false, true, false);
  EXPECT_NE(Run(absl::StrCat("has-session -t =berth-", made.uid)), 0);
  EXPECT_EQ(Run("has-session -t =other"), 0);
  // Without an engine that knows it, it would have stayed.
  MakeOrphan(**store, "next", DeadProcess(), [&](Record& it) { it.tmux_session = "berth-x"; });
  const absl::StatusOr<Report> kept = Sweep(**store, {});
  ASSERT_THAT(kept, IsOk());
  EXPECT_EQ(ExitCodeOf(*kept), kExitNothing);
}

}  // namespace
}  // namespace berth::reaper
