#include "tests/support/tree_test.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "runtime/record/record.h"
#include "runtime/record/store.h"
#include "sandbox/base/wait_fd.h"
#include "tests/support/world.h"

namespace berth {

Fifo::Fifo(const std::string& path) : path_(path) {
  EXPECT_EQ(mkfifo(path.c_str(), 0600), 0) << path << ": " << strerror(errno);
  // For both: so there is no end of file while no actor has it open.
  fd_ = UniqueFd(open(path.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC));
  EXPECT_TRUE(fd_.ok()) << path << ": " << strerror(errno);
}

std::vector<std::string> Fifo::Lines(size_t count, absl::Duration limit) {
  const absl::Time deadline = absl::Now() + limit;
  std::vector<std::string> lines;
  while (true) {
    for (size_t end; lines.size() < count && (end = pending_.find('\n')) != std::string::npos;) {
      lines.push_back(pending_.substr(0, end));
      pending_.erase(0, end + 1);
    }
    if (lines.size() == count) return lines;
    const absl::Status ready = WaitFd(fd_.get(), POLLIN, deadline, "wait for a report");
    EXPECT_TRUE(ready.ok()) << ready << ": got " << lines.size() << " of " << count
                            << " lines: " << absl::StrJoin(lines, " | ") << "; " << pending_;
    if (!ready.ok()) return lines;
    char buffer[4096];
    const ssize_t n = read(fd_.get(), buffer, sizeof(buffer));
    if (n > 0) pending_.append(buffer, static_cast<size_t>(n));
  }
}

bool Fifo::Quiet() const {
  pollfd fd{fd_.get(), POLLIN, 0};
  return pending_.empty() && poll(&fd, 1, 0) == 0;
}

void TreeTest::SetUp() {
  if (!World::Exists())
    printf("leftovers are not looked for in all detail: %s\n", World::WhyNot().c_str());
  RuntimeTest::SetUp();
}

void TreeTest::TearDown() {
  RuntimeTest::TearDown();
  const std::vector<std::string> left = World::Leftovers();
  EXPECT_TRUE(left.empty()) << "left behind:\n  " << absl::StrJoin(left, "\n  ");
}

std::unique_ptr<Session> TreeTest::Create(SessionSpec spec) {
  absl::StatusOr<std::unique_ptr<Session>> session = runtime_->CreateSession(spec);
  EXPECT_TRUE(session.ok()) << session.status();
  if (!session.ok()) return nullptr;
  const absl::StatusOr<SessionInfo> info = (*session)->Info();
  EXPECT_TRUE(info.ok()) << info.status();
  if (info.ok()) {
    EXPECT_EQ(info->tree, World::Tree());
  }
  return *std::move(session);
}

Record TreeTest::RecordOf(const std::string& name) const {
  const auto store = Store::Open(dir_);
  EXPECT_TRUE(store.ok()) << store.status();
  if (!store.ok()) return {};
  const absl::StatusOr<Record> record = (*store)->Find(name);
  EXPECT_TRUE(record.ok()) << record.status();
  return record.ok() ? *record : Record();
}

UniqueFd TreeTest::PidfdOf(pid_t pid) {
  return UniqueFd(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
}

bool TreeTest::IsAlive(pid_t pid) {
  const UniqueFd pidfd = PidfdOf(pid);
  pollfd ended{pidfd.get(), POLLIN, 0};
  return pidfd.ok() && poll(&ended, 1, 0) == 0;
}

void TreeTest::ExpectGone(pid_t pid, absl::Duration limit) {
  const UniqueFd pidfd = PidfdOf(pid);
  if (!pidfd.ok()) return;
  const absl::Status gone =
      WaitFd(pidfd.get(), POLLIN, absl::Now() + limit, "wait for a process's end");
  EXPECT_TRUE(gone.ok()) << "process " << pid << " still runs";
}

}  // namespace berth
