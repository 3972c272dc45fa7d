#include "tests/cli/cli_test.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "sandbox/base/unique_fd.h"
#include "sandbox/base/wait_fd.h"

namespace berth {
namespace {

constexpr absl::Duration kLimit = absl::Seconds(60);

std::string Binary() {
  const char* path = getenv("BERTH");
  EXPECT_NE(path, nullptr) << "BERTH is not set; run this with bazel test";
  return path == nullptr ? "" : std::filesystem::absolute(path).string();
}

std::pair<UniqueFd, UniqueFd> Pipe() {
  int fds[2];
  EXPECT_EQ(pipe2(fds, O_CLOEXEC), 0) << strerror(errno);
  return {UniqueFd(fds[0]), UniqueFd(fds[1])};
}

void SetSize(int terminal, uint16_t rows, uint16_t cols) {
  const winsize size{rows, cols, 0, 0};
  EXPECT_EQ(ioctl(terminal, TIOCSWINSZ, &size), 0) << strerror(errno);
}

pid_t Spawn(const std::vector<std::string>& args, const std::vector<std::string>& env,
            posix_spawn_file_actions_t* actions, posix_spawnattr_t* attributes) {
  const std::string binary = Binary();
  std::vector<char*> argv{const_cast<char*>("berth")}, environment;
  for (const std::string& arg : args) argv.push_back(const_cast<char*>(arg.c_str()));
  for (const std::string& entry : env) environment.push_back(const_cast<char*>(entry.c_str()));
  argv.push_back(nullptr);
  environment.push_back(nullptr);
  pid_t pid = -1;
  const int error =
      posix_spawn(&pid, binary.c_str(), actions, attributes, argv.data(), environment.data());
  EXPECT_EQ(error, 0) << binary << ": " << strerror(error);
  return pid;
}

}  // namespace

Berth::~Berth() {
  if (pid <= 0) return;
  kill(pid, SIGKILL);
  waitpid(pid, nullptr, 0);
}

int Berth::Wait() {
  const UniqueFd pidfd(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
  const absl::Status ended =
      WaitFd(pidfd.get(), POLLIN, absl::Now() + kLimit, "wait for berth to end");
  EXPECT_TRUE(ended.ok()) << ended;
  if (!ended.ok()) return -1;
  int status = 0;
  waitpid(std::exchange(pid, -1), &status, 0);
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

void Berth::Signal(int signal) { EXPECT_EQ(kill(pid, signal), 0) << strerror(errno); }

void Berth::SignalAfter(absl::Duration time, int signal) {
  const UniqueFd pidfd(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
  if (!WaitFd(pidfd.get(), POLLIN, absl::Now() + time, "").ok()) Signal(signal);
}

void Berth::Type(absl::string_view keys) {
  EXPECT_EQ(write(in.get(), keys.data(), keys.size()), static_cast<ssize_t>(keys.size()))
      << strerror(errno);
}

void Berth::Resize(uint16_t rows, uint16_t cols) { SetSize(in.get(), rows, cols); }

std::string Berth::Expect(absl::string_view text) {
  const absl::Time deadline = absl::Now() + kLimit;
  while (true) {
    if (const size_t at = unseen_.find(text); at != std::string::npos) {
      const std::string seen = unseen_.substr(0, at + text.size());
      unseen_.erase(0, at + text.size());
      return seen;
    }
    const absl::Status ready = WaitFd(out.get(), POLLIN, deadline, "read berth's output");
    char buffer[65536];
    const ssize_t n = ready.ok() ? read(out.get(), buffer, sizeof(buffer)) : 0;
    if (n <= 0) {
      ADD_FAILURE() << "no '" << text << "' but '" << unseen_ << "', then " << ready;
      return unseen_;
    }
    unseen_.append(buffer, static_cast<size_t>(n));
  }
}

bool Berth::More() {
  char buffer[65536];
  const absl::Status ready = WaitFd(out.get(), POLLIN, absl::Now() + kLimit, "read berth's output");
  const ssize_t n = ready.ok() ? read(out.get(), buffer, sizeof(buffer)) : 0;
  if (n > 0) unseen_.append(buffer, static_cast<size_t>(n));
  return n > 0;
}

std::string Berth::Rest() {
  std::string all = std::exchange(unseen_, "");
  char buffer[65536];
  while (WaitFd(out.get(), POLLIN, absl::Now() + kLimit, "").ok()) {
    const ssize_t n = read(out.get(), buffer, sizeof(buffer));
    if (n <= 0) break;
    all.append(buffer, static_cast<size_t>(n));
  }
  return all;
}

void CliTest::SetUp() {
  RuntimeTest::SetUp();
  env_ = {absl::StrCat("BERTH_STATE_DIR=", dir_), "PATH=/usr/bin:/bin", "TERM=xterm-256color",
          absl::StrCat("HOME=", work_)};
  signal(SIGPIPE, SIG_IGN);  // a berth that does not read its input is no reason to die
}

std::string CliTest::Quoted() const {
  return absl::StrCat("BERTH_STATE_DIR='", dir_, "' '", Binary(), "'");
}

std::string CliTest::ExpectOnScreen(const std::string& session, absl::string_view text) {
  // Every byte that could change the screen wakes us up.
  Berth follow = Start({"logs", "-f", session});
  while (true) {
    std::string screen = Run({"capture", session}).out;
    if (absl::StrContains(screen, text)) return screen;
    if (!follow.More()) {
      ADD_FAILURE() << "no '" << text << "' on the screen, but: " << screen;
      return screen;
    }
  }
}

std::string CliTest::BinFolder() {
  const std::string folder = work_ + "/bin";
  std::filesystem::create_directories(folder);
  if (!std::filesystem::exists(folder + "/berth")) {
    std::filesystem::create_symlink(Binary(), folder + "/berth");
  }
  return folder;
}

Berth CliTest::Start(const std::vector<std::string>& args) {
  auto [in_read, in_write] = Pipe();
  auto [out_read, out_write] = Pipe();
  auto [err_read, err_write] = Pipe();
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, in_read.get(), 0);
  posix_spawn_file_actions_adddup2(&actions, out_write.get(), 1);
  posix_spawn_file_actions_adddup2(&actions, err_write.get(), 2);
  Berth berth;
  berth.pid = Spawn(args, env_, &actions, nullptr);
  posix_spawn_file_actions_destroy(&actions);
  berth.in = std::move(in_write);
  berth.out = std::move(out_read);
  berth.err = std::move(err_read);
  return berth;
}

Result CliTest::Run(const std::vector<std::string>& args, absl::string_view input) {
  Berth berth = Start(args);
  Result result;
  fcntl(berth.in.get(), F_SETFL, O_NONBLOCK);
  if (input.empty()) berth.in.reset();
  const absl::Time deadline = absl::Now() + kLimit;
  while (berth.out.ok() || berth.err.ok()) {
    pollfd fds[3] = {
        {berth.in.get(), POLLOUT, 0}, {berth.out.get(), POLLIN, 0}, {berth.err.get(), POLLIN, 0}};
    const int left = static_cast<int>(absl::ToInt64Milliseconds(deadline - absl::Now()));
    if (poll(fds, 3, std::max(left, 0)) <= 0) {
      ADD_FAILURE() << "berth did not end in time; it said '" << result.out << "' and '"
                    << result.err << "'";
      return result;
    }
    if (fds[0].revents != 0) {
      const ssize_t n = write(berth.in.get(), input.data(), input.size());
      if (n > 0) input.remove_prefix(static_cast<size_t>(n));
      if (input.empty() || (n < 0 && errno != EAGAIN)) berth.in.reset();
    }
    const std::pair<UniqueFd*, std::string*> streams[] = {{&berth.out, &result.out},
                                                          {&berth.err, &result.err}};
    for (int i = 0; i < 2; ++i) {
      if (fds[i + 1].revents == 0) continue;
      char buffer[65536];
      const ssize_t n = read(streams[i].first->get(), buffer, sizeof(buffer));
      if (n > 0) {
        streams[i].second->append(buffer, static_cast<size_t>(n));
      } else {
        streams[i].first->reset();
      }
    }
  }
  result.code = berth.Wait();
  return result;
}

Berth CliTest::StartInTerminal(const std::vector<std::string>& args, uint16_t rows, uint16_t cols) {
  UniqueFd master(posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
  EXPECT_TRUE(master.ok()) << strerror(errno);
  grantpt(master.get());
  unlockpt(master.get());
  SetSize(master.get(), rows, cols);
  char slave[64];
  EXPECT_EQ(ptsname_r(master.get(), slave, sizeof(slave)), 0);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  // The first terminal that a session leader opens becomes its own.
  posix_spawn_file_actions_addopen(&actions, 0, slave, O_RDWR, 0);
  posix_spawn_file_actions_adddup2(&actions, 0, 1);
  posix_spawn_file_actions_adddup2(&actions, 0, 2);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID);
  Berth berth;
  berth.pid = Spawn(args, env_, &actions, &attributes);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  berth.in = UniqueFd(fcntl(master.get(), F_DUPFD_CLOEXEC, 3));
  berth.out = std::move(master);
  return berth;
}

}  // namespace berth
