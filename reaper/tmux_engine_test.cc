// A real tmux server: sessions are found and ended by their exact names, and a server that does not
// answer tells nothing.

#include "reaper/tmux_engine.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status_matchers.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "reaper/decide.h"
#include "reaper/engine.h"
#include "reaper/report.h"
#include "reaper/sweep.h"
#include "reaper/test_records.h"
#include "reaper/test_watch.h"
#include "reaper/tmux_command.h"
#include "runtime/record/record.h"
#include "runtime/record/store.h"
#include "runtime/record/test_dir.h"
#include "sandbox/base/unique_fd.h"
#include "sandbox/base/wait_fd.h"

namespace berth::reaper {
namespace {

using ::absl_testing::IsOk;
using ::absl_testing::StatusIs;

class Tmux : public testing::Test {
 protected:
  void TearDown() override { Run({"kill-server"}); }
  // What `tmux` with these words exits with.
  int Run(std::vector<std::string> words) { return RunAt(socket_, std::move(words)); }
  int RunAt(const std::string& socket, std::vector<std::string> words) {
    words.insert(words.begin(), {"tmux", "-f", "/dev/null", "-S", socket});
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    posix_spawn_file_actions_t quiet;
    posix_spawn_file_actions_init(&quiet);
    for (const int fd : {1, 2})
      posix_spawn_file_actions_addopen(&quiet, fd, "/dev/null", O_WRONLY, 0);
    pid_t pid = 0;
    EXPECT_EQ(posix_spawnp(&pid, argv[0], &quiet, nullptr, argv.data(), environ), 0);
    posix_spawn_file_actions_destroy(&quiet);
    int status = -1;
    EXPECT_EQ(waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  Record RecordOf(const std::string& uid) {
    Record record;
    record.uid = uid;
    record.tmux_socket = socket_;
    record.tmux_session = "berth-" + uid;
    return record;
  }
  // A pidfd of who listens there.
  static UniqueFd ServerAt(const std::string& socket) {
    const UniqueFd connection = ConnectTo(socket);
    ucred server = {};
    socklen_t size = sizeof server;
    EXPECT_EQ(getsockopt(connection.get(), SOL_SOCKET, SO_PEERCRED, &server, &size), 0);
    return UniqueFd(static_cast<int>(syscall(SYS_pidfd_open, server.pid, 0)));
  }
  static EndOptions Soon() { return {.deadline = absl::Now() + absl::Seconds(30)}; }

  TestDir dir_;
  const std::string socket_ = dir_ / "tmux";
  TmuxEngine engine_;
};

TEST_F(Tmux, SessionsAreFoundAndEndedByTheirExactNames) {
  ASSERT_EQ(Run({"new-session", "-d", "-s", "berth-abc"}), 0);
  ASSERT_EQ(Run({"new-session", "-d", "-s", "berth-abcd"}), 0);
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
  ASSERT_EQ(Run({"new-session", "-d", "-s", "precious"}), 0);
  Record record = RecordOf("abc");
  record.tmux_session = "precious";
  EXPECT_EQ(engine_.Look(record), Presence::kUnknown);
  EXPECT_THAT(engine_.End(record, Soon()), StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_EQ(Run({"has-session", "-t", "=precious"}), 0);
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
  ASSERT_EQ(Run({"new-session", "-d", "-s", "other"}), 0);
  ASSERT_EQ(Run({"new-session", "-d", "-s", "berth-" + made.uid}), 0);
  Engines engines;
  engines.push_back(std::make_unique<TmuxEngine>());
  const absl::StatusOr<Report> report = Sweep(**store, {}, engines);
  ASSERT_THAT(report, IsOk());
  EXPECT_EQ(report->done, 1) << ToText(*report, true, false);
  EXPECT_NE(Run({"has-session", "-t", "=berth-" + made.uid}), 0);
  EXPECT_EQ(Run({"has-session", "-t", "=other"}), 0);
  // Without an engine that knows it, it would have stayed.
  MakeOrphan(**store, "next", DeadProcess(), [&](Record& it) { it.tmux_session = "berth-x"; });
  const absl::StatusOr<Report> kept = Sweep(**store, {});
  ASSERT_THAT(kept, IsOk());
  EXPECT_EQ(ExitCodeOf(*kept), kExitNothing);
}

TEST_F(Tmux, AWatchSeesTheEndOfAServer) {
  auto store = Store::Open(dir_ / "state");
  ASSERT_THAT(store, IsOk());
  const Record made = MakeOrphan(**store, "lasting", DeadProcess(), [&](Record& it) {
    it.backend = "tmux";
    it.durable = true;
    it.tmux_socket = socket_;
    it.tmux_session = "berth-" + it.uid;
  });
  ASSERT_EQ(Run({"new-session", "-d", "-s", "berth-" + made.uid}), 0);
  TestWatch watch(**store, {.forget_ended = absl::ZeroDuration()}, [] {
    Engines engines;
    engines.push_back(std::make_unique<TmuxEngine>());
    return engines;
  });
  EXPECT_EQ(watch.Next(), "done 0 failed 0 kept 1");
  ASSERT_EQ(Run({"kill-server"}), 0);
  watch.Await("done 1 failed 0 kept 0");
  EXPECT_TRUE((*store)->List()->records.empty());
}

TEST_F(Tmux, WindowsWithoutARecordAndTheSocketOfAGoneServerAreRemoved) {
  auto store = Store::Open(dir_ / "state");
  ASSERT_THAT(store, IsOk());
  const std::string own = (*store)->dir().run_path() + "/tmux";
  const auto run = [&](std::vector<std::string> words) { return RunAt(own, std::move(words)); };
  const Record kept =
      MakeOrphan(**store, "kept", DeadProcess(), [](Record& it) { it.durable = true; });
  const std::string stray = absl::StrCat("berth-", std::string(26, 'a'));
  ASSERT_EQ(run({"new-session", "-d", "-s", stray}), 0);
  ASSERT_EQ(run({"new-session", "-d", "-s", "berth-" + kept.uid}), 0);
  ASSERT_EQ(run({"new-session", "-d", "-s", "mine"}), 0);
  Engines engines;
  engines.push_back(std::make_unique<TmuxEngine>());
  const absl::StatusOr<Report> plan = Sweep(**store, {.dry_run = true}, engines);
  ASSERT_THAT(plan, IsOk());
  EXPECT_EQ(plan->planned, 1) << ToText(*plan, true, false);
  EXPECT_EQ(run({"has-session", "-t", "=" + stray}), 0);
  const absl::StatusOr<Report> report = Sweep(**store, {}, engines);
  ASSERT_THAT(report, IsOk());
  EXPECT_EQ(report->done, 1) << ToText(*report, true, false);
  EXPECT_NE(run({"has-session", "-t", "=" + stray}), 0);
  EXPECT_EQ(run({"has-session", "-t", "=berth-" + kept.uid}), 0);
  EXPECT_EQ(run({"has-session", "-t", "=mine"}), 0);
  const UniqueFd server = ServerAt(own);
  ASSERT_EQ(run({"kill-server"}), 0);
  ASSERT_THAT(WaitFd(server.get(), POLLIN, Soon().deadline, "the end of the server"), IsOk());
  ASSERT_THAT(Sweep(**store, {}, engines), IsOk());
  EXPECT_FALSE(std::filesystem::exists(own));
  EXPECT_FALSE(std::filesystem::exists(own + ".lock"));
}

TEST_F(Tmux, ASocketWhosePathIsLongerThanAnAddressIsAskedAllTheSame) {
  const std::string folder = dir_ / std::string(120, 'd');
  std::filesystem::create_directory(folder);
  // As the backend has it: by a short name, in the socket's folder.
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(folder);
  EXPECT_EQ(RunAt("s", {"new-session", "-d", "-s", "berth-abc"}), 0);
  std::filesystem::current_path(before);
  Record record = RecordOf("abc");
  record.tmux_socket = folder + "/s";
  EXPECT_EQ(engine_.Look(record), Presence::kAlive);
  EXPECT_THAT(engine_.End(record, Soon()), IsOk());
  EXPECT_EQ(engine_.Look(record), Presence::kDead);
}

}  // namespace
}  // namespace berth::reaper
