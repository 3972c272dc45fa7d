#include "tests/tmux/tmux_test_base.h"

#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status_matchers.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "runtime/process.h"
#include "runtime/runtime.h"
#include "sandbox/base/wait_fd.h"

namespace berth {

using ::absl_testing::IsOk;

std::unique_ptr<Session> TmuxTest::Start(const std::string& name, const std::string& line,
                                         SessionSpec spec) {
  spec.name = name;
  spec.backend = "tmux";
  spec.command = Command::Shell(line);
  auto session = runtime_->CreateSession(spec);
  EXPECT_THAT(session, IsOk());
  return session.ok() ? *std::move(session) : nullptr;
}

std::string TmuxTest::Until(Session& session, absl::string_view text) {
  auto output = session.OpenOutput({});
  EXPECT_THAT(output, IsOk());
  return output.ok() ? ReadUntil(output->fd.get(), text) : "";
}

std::string TmuxTest::Tmux(std::vector<std::string> words) {
  words.insert(words.begin(), {"tmux", "-N", "-S", dir_ + "/run/tmux"});
  auto process = runtime_->Spawn({.command = Command::Argv(std::move(words))});
  EXPECT_THAT(process, IsOk());
  if (!process.ok()) return "";
  auto out = (*process)->TakeStdout();
  const std::string text = out.ok() ? ReadAll(out->get()) : "";
  EXPECT_THAT((*process)->Wait(Soon()), IsOk());
  return std::string(absl::StripAsciiWhitespace(text));
}

std::string TmuxTest::SessionName(const Session& session) {
  return absl::StrCat("berth-", session.handle().substr(session.handle().find(':') + 1));
}

std::string TmuxTest::Tmux(const Session& session, std::vector<std::string> words) {
  words.insert(words.begin() + 1, {"-t", absl::StrCat("=", SessionName(session), ":")});
  return Tmux(std::move(words));
}

UniqueFd TmuxTest::ServerProcess() {
  pid_t pid = 0;
  EXPECT_TRUE(absl::SimpleAtoi(Tmux({"display-message", "-p", "#{pid}"}), &pid));
  return UniqueFd(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
}

void TmuxTest::Signal(const UniqueFd& pidfd, int signal) {
  EXPECT_EQ(syscall(SYS_pidfd_send_signal, pidfd.get(), signal, nullptr, 0), 0);
}

void TmuxTest::AwaitEnd(const UniqueFd& pidfd) {
  EXPECT_THAT(WaitFd(pidfd.get(), POLLIN, Soon(), "wait for a process's end"), IsOk());
}

}  // namespace berth
