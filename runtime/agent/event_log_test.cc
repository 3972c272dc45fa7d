#include "runtime/agent/event_log.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/status_matchers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/agent/event.h"
#include "runtime/agent/event_json.h"
#include "runtime/agent/redact.h"
#include "runtime/agent/result.h"
#include "runtime/types.h"
#include "sandbox/base/wait_fd.h"

namespace berth {
namespace {

using ::absl_testing::IsOk;
using ::absl_testing::StatusIs;
using ::testing::HasSubstr;
using ::testing::Not;

namespace fs = std::filesystem;

class EventLogTest : public testing::Test {
 protected:
  EventLogTest() {
    dir_ = testing::TempDir() + "/logXXXXXX";
    EXPECT_NE(mkdtemp(dir_.data()), nullptr);
  }
  ~EventLogTest() override { fs::remove_all(dir_); }

  std::unique_ptr<EventLog> Create(const std::string& name = "fix") {
    auto log = EventLog::Create(dir_, {.name = name, .agent = "claude", .story_id = "42_story"},
                                *Redactor::Create({.values = {"hunter22"}}));
    EXPECT_THAT(log, IsOk());
    return *std::move(log);
  }
  std::string Path(const EventLog& log) const {
    return absl::StrCat(dir_, "/agents/", log.header().run_id, ".jsonl");
  }
  static std::string Bytes(const std::string& path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
  }
  static AgentEvent Text(int64_t sequence, std::string text) {
    AgentEvent event;
    event.kind = AgentEvent::Kind::kText;
    event.sequence = sequence;
    event.time = absl::FromUnixSeconds(1'700'000'000 + sequence);
    event.text = std::move(text);
    return event;
  }

  std::string dir_;
};

TEST_F(EventLogTest, IsReadBackAsItWasWritten) {
  const auto log = Create();
  AgentEvent event = Text(1, "naïve\n\"quoted\"");
  event.kind = AgentEvent::Kind::kResult;
  event.session_id = "s-1";
  event.message_id = "m";
  event.parent_id = "p";
  event.tool_id = "t";
  event.tool_name = "Bash";
  event.is_error = event.partial = event.new_turn = event.hard = event.from_stderr = true;
  event.has_usage = true;
  event.usage = {.input = 1, .output = 2, .cache_creation = 3, .cache_read = 4, .cost_usd = 0.5};
  event.turns = 7;
  event.resets_at = absl::FromUnixSeconds(1'800'000'000);
  event.raw = "{\"type\":\"result\"}";
  event.truncated_bytes = 9;
  ASSERT_THAT(log->Append(event), IsOk());
  auto reader = EventLogReader::Open(dir_, "fix");
  ASSERT_THAT(reader, IsOk());
  EXPECT_EQ((*reader)->header().agent, "claude");
  EXPECT_EQ((*reader)->header().story_id, "42_story");
  const auto back = (*reader)->Next();
  ASSERT_THAT(back, IsOk());
  ASSERT_TRUE(back->has_value());
  EXPECT_EQ(AgentEventToJson(**back), AgentEventToJson(event));
  EXPECT_EQ((*back)->time, event.time);
  EXPECT_EQ((*back)->usage, event.usage);
  EXPECT_EQ((*reader)->Next()->has_value(), false);
}

TEST_F(EventLogTest, CanBeFollowedWhileItIsWritten) {
  auto log = Create();
  auto reader = *EventLogReader::Open(dir_, log->header().run_id);
  for (int i = 1; i <= 50; ++i) {
    EXPECT_FALSE((*reader->Next()).has_value());
    ASSERT_THAT(log->Append(Text(i, "hello")), IsOk());
    ASSERT_THAT(WaitFd(reader->fd(), POLLIN, absl::Now() + absl::Seconds(30), "follow"), IsOk());
    const auto event = reader->Next();
    ASSERT_THAT(event, IsOk());
    ASSERT_TRUE(event->has_value());
    EXPECT_EQ((*event)->sequence, i);
  }
  EXPECT_FALSE(reader->abandoned());
  EXPECT_FALSE(reader->end().has_value());
  ASSERT_THAT(log->End({.status = AgentStatus::kCompleted,
                        .reason = AgentEnd::kSuccess,
                        .session_id = "s",
                        .turns = 3,
                        .exit = {.signal = 15, .reason = EndReason::kStopped}}),
              IsOk());
  log.reset();
  ASSERT_THAT(WaitFd(reader->fd(), POLLIN, absl::Now() + absl::Seconds(30), "end"), IsOk());
  EXPECT_FALSE((*reader->Next()).has_value());
  ASSERT_TRUE(reader->end().has_value());
  EXPECT_EQ(reader->end()->status, AgentStatus::kCompleted);
  EXPECT_EQ(reader->end()->reason, AgentEnd::kSuccess);
  EXPECT_EQ(reader->end()->turns, 3);
  EXPECT_EQ(reader->end()->exit.signal, 15);
  EXPECT_EQ(reader->end()->exit.reason, EndReason::kStopped);
}

TEST_F(EventLogTest, OfAHostThatWasKilledIsAbandonedAndWakesItsFollowers) {
  for (int round = 0; round < 100; ++round) {
    int made[2];
    ASSERT_EQ(pipe2(made, O_CLOEXEC), 0);
    const pid_t host = fork();
    if (host == 0) {
      const auto log = Create();
      (void)!write(made[1], "!", 1);
      while (true) pause();
    }
    close(made[1]);
    char byte;
    ASSERT_EQ(read(made[0], &byte, 1), 1);
    close(made[0]);
    auto reader = *EventLogReader::Open(dir_, "fix");
    EXPECT_FALSE((*reader->Next()).has_value());
    EXPECT_FALSE(reader->abandoned());
    kill(host, SIGKILL);
    while (!reader->abandoned()) {
      ASSERT_THAT(WaitFd(reader->fd(), POLLIN, absl::Now() + absl::Seconds(30), "end"), IsOk());
      EXPECT_FALSE((*reader->Next()).has_value());
    }
    EXPECT_FALSE(reader->end().has_value());
    EXPECT_EQ(waitpid(host, nullptr, 0), host);
  }
}

TEST_F(EventLogTest, ThatIsClosedWithoutAnEndIsAbandonedAndWakesItsFollowers) {
  auto log = Create();
  auto reader = *EventLogReader::Open(dir_, "fix");
  EXPECT_FALSE((*reader->Next()).has_value());
  log.reset();
  ASSERT_THAT(WaitFd(reader->fd(), POLLIN, absl::Now() + absl::Seconds(30), "end"), IsOk());
  EXPECT_FALSE((*reader->Next()).has_value());
  EXPECT_FALSE(reader->end().has_value());
  EXPECT_TRUE(reader->abandoned());
}

TEST_F(EventLogTest, IsForItsOwnerOnlyAndHasNoSecretIn) {
  const auto log = Create();
  AgentEvent event = Text(1, "the password is hunter22");
  event.raw = R"({"type":"x","env":"API_KEY=abcdefghijkl hunter22"})";
  ASSERT_THAT(log->Append(event), IsOk());
  // One that the cut goes through.
  ASSERT_THAT(log->Append(Text(2, std::string((256 << 10) - 4, 'x') + "hunter22")), IsOk());
  struct stat info;
  ASSERT_EQ(stat(Path(*log).c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 0600u);
  EXPECT_THAT(Bytes(Path(*log)), Not(HasSubstr("hunt")));
  EXPECT_THAT(Bytes(Path(*log)), Not(HasSubstr("abcdefghijkl")));
  EXPECT_THAT(Bytes(Path(*log)), HasSubstr("[redacted]"));
}

TEST_F(EventLogTest, CutsLongTextsAndSaysSo) {
  const auto log = Create();
  AgentEvent event = Text(1, "");
  event.raw = std::string(10 << 20, 'x');
  ASSERT_THAT(log->Append(event), IsOk());
  ASSERT_THAT(log->Append(Text(2, "after")), IsOk());
  EXPECT_LT(fs::file_size(Path(*log)), size_t{1} << 20);
  auto reader = *EventLogReader::Open(dir_, "fix");
  const auto cut = reader->Next(), after = reader->Next();
  EXPECT_EQ(static_cast<int64_t>((*cut)->raw.size()) + (*cut)->truncated_bytes, 10 << 20);
  EXPECT_EQ((*after)->text, "after");
}

TEST_F(EventLogTest, OfTheLatestRunIsFoundByItsName) {
  const auto first = Create("fix"), other = Create("fix-2"), second = Create("fix");
  // Two of the same second are told apart by their random end only.
  const auto ids = ListRuns(dir_);
  ASSERT_THAT(ids, IsOk());
  EXPECT_EQ(ids->size(), 3u);
  auto reader = EventLogReader::Open(dir_, "fix");
  ASSERT_THAT(reader, IsOk());
  EXPECT_EQ((*reader)->header().name, "fix");
  EXPECT_EQ((*EventLogReader::Open(dir_, other->header().run_id))->header().name, "fix-2");
  EXPECT_THAT(EventLogReader::Open(dir_, "fi"), StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(EventLogReader::Open(dir_, "../x"), StatusIs(absl::StatusCode::kNotFound));
}

TEST_F(EventLogTest, WithLinesThatAreNoneIsStillRead) {
  const auto log = Create();
  std::ofstream(Path(*log), std::ios::app) << "garbage\n{\"kind\":\"of next year\"}\n\xff\n";
  ASSERT_THAT(log->Append(Text(1, "fine")), IsOk());
  std::ofstream(Path(*log), std::ios::app) << "{\"kind\":\"text\",\"se";
  auto reader = *EventLogReader::Open(dir_, "fix");
  EXPECT_EQ((*reader->Next())->text, "fine");
  EXPECT_FALSE((*reader->Next()).has_value());
  EXPECT_EQ(reader->unreadable_lines(), 3);
}

TEST_F(EventLogTest, ThatIsASymlinkOrAFifoIsRefused) {
  const auto log = Create();
  const std::string path = Path(*log);
  ASSERT_EQ(unlink(path.c_str()), 0);
  ASSERT_EQ(symlink("/etc/passwd", path.c_str()), 0);
  EXPECT_FALSE(EventLogReader::Open(dir_, "fix").ok());
  ASSERT_EQ(unlink(path.c_str()), 0);
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  EXPECT_THAT(EventLogReader::Open(dir_, "fix"), StatusIs(absl::StatusCode::kFailedPrecondition));
}

}  // namespace
}  // namespace berth
