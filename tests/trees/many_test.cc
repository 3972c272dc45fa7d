// Hundreds of sessions of one user, all at once: each has its pipes, however little of the user's
// allowance for them (fs.pipe-user-pages-soft) is left.

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status_matchers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "runtime/session.h"
#include "runtime/spec.h"
#include "runtime/types.h"
#include "sandbox/base/unique_fd.h"
#include "tests/support/tree_test.h"

namespace berth {
namespace {

using ::absl_testing::IsOk;

using Many = TreeTest;

TEST_F(Many, FiveHundredSessionsWithPipesAllWork) {
  constexpr size_t kSessions = 500;
  std::vector<std::unique_ptr<Session>> sessions;
  for (size_t i = 0; i < kSessions; ++i) {
    auto session = Create({.name = absl::StrCat("s", i),
                           .command = Command::Shell("read word; echo got $word; exit 7"),
                           .pty = false});
    ASSERT_NE(session, nullptr);
    sessions.push_back(std::move(session));
  }
  for (size_t i = 0; i < kSessions; ++i) {
    ASSERT_THAT(sessions[i]->Send({.text = absl::StrCat(i, "\n"), .submit = ""}, Soon()), IsOk());
    const auto end = sessions[i]->Wait(absl::Now() + absl::Seconds(60));
    ASSERT_THAT(end, IsOk());
    EXPECT_EQ(end->code, 7) << i;
    const auto out = sessions[i]->OpenOutput({});
    ASSERT_THAT(out, IsOk());
    EXPECT_EQ(ReadAll(out->fd.get()), absl::StrCat("got ", i, "\n"));
    ASSERT_THAT(sessions[i]->Destroy(absl::ZeroDuration()), IsOk());
  }
}

// They took 5 MiB each once, and a plain user has 64 MiB.
TEST_F(Many, SessionsLeaveRoomForOthersPipes) {
  std::vector<std::unique_ptr<Session>> sessions;
  for (int i = 0; i < 40; ++i) {
    sessions.push_back(
        Create({.name = absl::StrCat("s", i), .command = Command::Shell("read x"), .pty = false}));
    ASSERT_NE(sessions.back(), nullptr);
  }
  int fds[2];
  ASSERT_EQ(pipe2(fds, O_CLOEXEC), 0);
  const UniqueFd reads(fds[0]), writes(fds[1]);
  EXPECT_EQ(fcntl(reads.get(), F_SETPIPE_SZ, 1 << 20), 1 << 20) << strerror(errno);
  for (const auto& session : sessions) ASSERT_THAT(session->Destroy(absl::ZeroDuration()), IsOk());
}

}  // namespace
}  // namespace berth
