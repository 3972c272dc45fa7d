// List: what all sessions are doing. Asked again and again, it looks at what keepers show instead
// of asking them: so each of these lists once before.

#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <sys/syscall.h>
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
#include "runtime/runtime.h"
#include "runtime/session.h"
#include "runtime/spec.h"
#include "runtime/types.h"
#include "sandbox/base/unique_fd.h"
#include "sandbox/base/wait_fd.h"
#include "tests/support/runtime_test.h"

namespace berth {
namespace {

using ::absl_testing::IsOk;

class List : public RuntimeTest {
 protected:
  std::unique_ptr<Session> Start(const std::string& name, const std::string& line,
                                 SessionSpec spec = {}) {
    spec.name = name;
    spec.command = Command::Shell(line);
    auto session = runtime_->CreateSession(spec);
    EXPECT_THAT(session, IsOk());
    if (!session.ok()) return nullptr;
    EXPECT_EQ(Listed(name).state, SessionState::kRunning);
    return *std::move(session);
  }
  SessionInfo Listed(const std::string& name) {
    auto list = runtime_->List();
    EXPECT_THAT(list, IsOk());
    for (const SessionInfo& info : *list) {
      if (info.name == name) return info;
    }
    ADD_FAILURE() << name << " is not in the list";
    return {};
  }
  static void Until(Session& session, const std::string& text) {
    auto output = session.OpenOutput({});
    ASSERT_THAT(output, IsOk());
    ReadUntil(output->fd.get(), text);
  }
};

TEST_F(List, TellsTheSameAsEachSession) {
  const auto session = Start("a", "printf '\\033]2;the title\\007up\\n'; exec cat",
                             {.cwd = "/usr", .log_path = work_ + "/log", .labels = {{"k", "v"}}});
  ASSERT_NE(session, nullptr);
  Until(*session, "up");
  const SessionInfo seen = Listed("a");
  const SessionInfo told = *session->Info();
  EXPECT_EQ(seen.handle, told.handle);
  EXPECT_EQ(seen.backend, told.backend);
  EXPECT_EQ(seen.state, told.state);
  EXPECT_EQ(seen.pid, told.pid);
  EXPECT_EQ(seen.pty, told.pty);
  EXPECT_EQ(seen.size.rows, told.size.rows);
  EXPECT_EQ(seen.size.cols, told.size.cols);
  EXPECT_EQ(seen.attached, told.attached);
  EXPECT_EQ(seen.output_bytes, told.output_bytes);
  EXPECT_GT(seen.output_bytes, 0);
  EXPECT_LT(absl::AbsDuration(seen.last_output - told.last_output), absl::Milliseconds(50));
  EXPECT_EQ(seen.title, told.title);
  EXPECT_EQ(seen.title, "the title");
  EXPECT_EQ(seen.log_path, told.log_path);
  EXPECT_EQ(seen.cwd, "/usr");
  EXPECT_EQ(seen.tier, told.tier);
  EXPECT_EQ(seen.labels, told.labels);
  EXPECT_EQ(seen.created, told.created);
}

TEST_F(List, KnowsWhatHasJustBeenAnswered) {
  const auto session = Start("a", "exec cat");
  ASSERT_NE(session, nullptr);
  for (uint16_t i = 1; i <= 20; ++i) {
    ASSERT_THAT(session->Resize({.rows = static_cast<uint16_t>(20 + i), .cols = 90}), IsOk());
    ASSERT_EQ(Listed("a").size.rows, 20 + i);
    ASSERT_THAT(session->SetLog(absl::StrCat(work_, "/log", i), 1 << 20), IsOk());
    ASSERT_EQ(Listed("a").log_path, absl::StrCat(work_, "/log", i));
    ASSERT_THAT(session->Rename(absl::StrCat("b", i)), IsOk());
    ASSERT_EQ(Listed(absl::StrCat("b", i)).handle, session->handle());
    ASSERT_THAT(session->Rename("a"), IsOk());
  }
}

TEST_F(List, CountsWhoIsAttached) {
  const auto session = Start("a", "exec cat");
  ASSERT_NE(session, nullptr);
  const int before = Listed("a").attached;
  auto viewer = session->Attach();
  ASSERT_THAT(viewer, IsOk());
  EXPECT_EQ(Listed("a").attached, before + 1);
}

TEST_F(List, KnowsAnEndAtOnce) {
  for (int i = 0; i < 20; ++i) {
    const auto session = Start("a", "read x; exit 7");
    ASSERT_NE(session, nullptr);
    auto ended = session->ExitFd();
    ASSERT_THAT(ended, IsOk());
    ASSERT_THAT(session->Send({.text = "go"}), IsOk());
    ASSERT_THAT(session->Wait(Soon()), IsOk());
    const SessionInfo info = Listed("a");
    ASSERT_EQ(info.state, SessionState::kExited);
    ASSERT_EQ(info.exit, (ExitStatus{7, 0, EndReason::kExited}));
    ASSERT_THAT(session->Destroy(absl::ZeroDuration()), IsOk());
    ASSERT_TRUE(runtime_->List()->empty());
  }
}

// Its keeper may not know it yet: nobody else says that it runs on.
TEST_F(List, KnowsAKilledMainProcessBeforeItsKeeperShowsIt) {
  for (int i = 0; i < 20; ++i) {
    const auto session = Start("a", "exec cat");
    ASSERT_NE(session, nullptr);
    const pid_t pid = Listed("a").pid;
    const UniqueFd main(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
    ASSERT_TRUE(main.ok());
    ASSERT_EQ(kill(pid, SIGKILL), 0);
    ASSERT_THAT(WaitFd(main.get(), POLLIN, Soon(), "wait for its end"), IsOk());
    const SessionInfo info = Listed("a");
    ASSERT_EQ(info.state, SessionState::kExited);
    ASSERT_EQ(info.exit.signal, SIGKILL);
    ASSERT_THAT(session->Destroy(absl::ZeroDuration()), IsOk());
  }
}

TEST_F(List, OfAnotherProgramSeesTheSame) {
  const auto session = Start("a", "exec cat");
  ASSERT_NE(session, nullptr);
  auto other = OtherRuntime();
  ASSERT_EQ(other->List()->size(), 1u);
  ASSERT_THAT(session->Send({.text = "hello"}), IsOk());
  Until(*session, "hello");
  const int64_t told = session->Info()->output_bytes;
  ASSERT_GT(told, 0);
  EXPECT_GE((*other->List())[0].output_bytes, told);
}

}  // namespace
}  // namespace berth
