#include "tests/support/runtime_test.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "absl/status/status_matchers.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "runtime/runtime.h"
#include "sandbox/base/wait_fd.h"
#include "tests/support/test_backend.h"

namespace berth {
namespace {

namespace fs = std::filesystem;

std::string ReadFile(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

}  // namespace

void RuntimeTest::SetUp() {
  const char* tmp = getenv("TEST_TMPDIR");
  std::string base = absl::StrCat(tmp != nullptr ? tmp : "/tmp", "/bXXXXXX");
  ASSERT_NE(mkdtemp(base.data()), nullptr) << strerror(errno);
  work_ = base;
  dir_ = absl::StrCat(base, "/state");
  auto runtime = CreateTestRuntime(dir_);
  ASSERT_TRUE(runtime.ok()) << runtime.status();
  runtime_ = *std::move(runtime);
}

std::unique_ptr<Runtime> RuntimeTest::OtherRuntime() {
  auto runtime = CreateTestRuntime(dir_);
  EXPECT_TRUE(runtime.ok()) << runtime.status();
  return runtime.ok() ? *std::move(runtime) : nullptr;
}

void RuntimeTest::TearDown() {
  if (runtime_ == nullptr) return;
  auto sessions = runtime_->List();
  ASSERT_TRUE(sessions.ok()) << sessions.status();
  for (const SessionInfo& info : *sessions) {
    auto session = runtime_->Open(info.handle);
    if (session.ok()) {
      const absl::Status destroyed = (*session)->Destroy(absl::ZeroDuration());
      EXPECT_TRUE(destroyed.ok()) << info.name << ": " << destroyed;
    }
  }
  runtime_.reset();
  const std::vector<std::string> left = Leftovers();
  EXPECT_TRUE(left.empty()) << "left behind:\n  " << absl::StrJoin(left, "\n  ");
  fs::remove_all(work_);
}

// Processes are known by BERTH_TOKEN or this state directory in their environment or by a name of
// the helper's with our folder as an open file; cgroups by their name.
std::vector<std::string> RuntimeTest::Leftovers() const {
  std::vector<std::string> left;
  for (const char* folder : {"sessions", "names", "owners", "run"}) {
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(absl::StrCat(dir_, "/", folder), error)) {
      // The lock of the names' folder is a part of the folder.
      if (entry.path().filename() != ".lock") left.push_back(entry.path().string());
    }
  }
  std::error_code error;
  for (const auto& process : fs::directory_iterator("/proc", error)) {
    int pid;
    if (!absl::SimpleAtoi(process.path().filename().string(), &pid) || pid == getpid()) continue;
    const std::string path = process.path().string();
    if (absl::StrContains(ReadFile(path + "/environ"), dir_)) {
      left.push_back(absl::StrCat("process ", pid, ": ", ReadFile(path + "/comm")));
      continue;
    }
    for (const auto& fd : fs::directory_iterator(path + "/fd", error)) {
      const fs::path target = fs::read_symlink(fd.path(), error);
      if (absl::StartsWith(target.string(), dir_)) {
        left.push_back(absl::StrCat("process ", pid, " has ", target.string(),
                                    " open: ", ReadFile(path + "/comm")));
        break;
      }
    }
  }
  return left;
}

std::string RuntimeTest::ReadAll(int fd, absl::Duration limit) {
  const absl::Time deadline = absl::Now() + limit;
  std::string all;
  char buffer[65536];
  while (true) {
    const absl::Status ready = WaitFd(fd, POLLIN, deadline, "read to end of file");
    EXPECT_TRUE(ready.ok()) << ready << ", after " << all.size() << " bytes";
    if (!ready.ok()) return all;
    const ssize_t n = read(fd, buffer, sizeof(buffer));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return all;  // EIO: the end of a terminal
    all.append(buffer, static_cast<size_t>(n));
  }
}

std::string RuntimeTest::ReadUntil(int fd, absl::string_view text, absl::Duration limit) {
  const absl::Time deadline = absl::Now() + limit;
  std::string all;
  char buffer[65536];
  while (!absl::StrContains(all, text)) {
    const absl::Status ready = WaitFd(fd, POLLIN, deadline, "read");
    EXPECT_TRUE(ready.ok()) << ready << "; waited for '" << text << "', got '" << all << "'";
    if (!ready.ok()) return all;
    const ssize_t n = read(fd, buffer, sizeof(buffer));
    if (n < 0 && errno == EINTR) continue;
    EXPECT_GT(n, 0) << "end of file; waited for '" << text << "', got '" << all << "'";
    if (n <= 0) return all;
    all.append(buffer, static_cast<size_t>(n));
  }
  return all;
}

}  // namespace berth
