#include "tests/reaping/reaping_test.h"

#include <netinet/in.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "reaper/report.h"
#include "reaper/sweep.h"
#include "reaper/tmux_engine.h"
#include "runtime/record/store.h"
#include "sandbox/base/unique_fd.h"
#include "sandbox/launcher/proc.h"
#include "tests/support/actor.h"
#include "tests/support/world.h"

namespace berth {

void ReapingTest::SetUp() {
  TreeTest::SetUp();
  reports_ = std::make_unique<Fifo>(Path("reports"));
  auto store = Store::Open(dir_);
  ASSERT_TRUE(store.ok()) << store.status();
  store_ = *std::move(store);
  engines_.push_back(std::make_unique<reaper::TmuxEngine>());
  mounts_ = launcher::ReadSmallFile("/proc/self/mountinfo");
}

void ReapingTest::TearDown() {
  store_.reset();
  TreeTest::TearDown();
}

pid_t ReapingTest::StartOwner(const std::string& actor, const std::vector<std::string>& args) {
  std::vector<std::string> words{actor, dir_, reports_->path()};
  words.insert(words.end(), args.begin(), args.end());
  const std::vector<std::string> command = ActorCommand(std::move(words));
  std::vector<char*> argv;
  for (const std::string& word : command) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  const pid_t pid = fork();
  if (pid == 0) {
    execv(argv[0], argv.data());
    _exit(127);
  }
  return pid;
}

void ReapingTest::KillChild(pid_t pid) {
  kill(pid, SIGKILL);
  EXPECT_EQ(waitpid(pid, nullptr, 0), pid);
}

void ReapingTest::KillOther(pid_t pid) {
  const UniqueFd pidfd = PidfdOf(pid);
  if (!pidfd.ok()) return;
  syscall(SYS_pidfd_send_signal, pidfd.get(), SIGKILL, nullptr, 0);
  ExpectGone(pid, absl::Seconds(20));
}

void ReapingTest::TakePids(size_t count) {
  for (const std::string& line : reports_->Lines(count)) {
    const std::vector<std::string> words = absl::StrSplit(line, ' ');
    ASSERT_EQ(words.size(), 3u) << line;
    pids_[words[0]] = atoi(words[1].c_str());
    ports_[words[0]] = static_cast<uint16_t>(atoi(words[2].c_str()));
  }
}

bool ReapingTest::IsFree(uint16_t port) {
  const UniqueFd fd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0;
}

reaper::Report ReapingTest::Sweep(reaper::Options options) {
  // They are deaf to TERM: a long grace would only be waited out.
  options.grace = absl::Milliseconds(200);
  absl::StatusOr<reaper::Report> report = reaper::Sweep(*store_, options, engines_);
  EXPECT_TRUE(report.ok()) << report.status();
  if (!report.ok()) return {};
  SCOPED_TRACE(reaper::ToText(*report, true, false));
  return *std::move(report);
}

void ReapingTest::ExpectEmpty(const std::string& folder) const {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(dir_ + "/" + folder, error)) {
    const std::string name = entry.path().filename();
    EXPECT_TRUE(name == ".lock" || name == ".take") << entry.path();
  }
}

void ReapingTest::ExpectNothing() const {
  const std::vector<std::string> left = World::Leftovers(absl::Seconds(10));
  EXPECT_TRUE(left.empty()) << absl::StrJoin(left, "\n");
  for (const char* folder : {"sessions", "names", "owners", "ports", "run", "quarantine"}) {
    ExpectEmpty(folder);
  }
  EXPECT_EQ(launcher::ReadSmallFile("/proc/self/mountinfo"), mounts_);
}

const reaper::Item* ReapingTest::ItemOf(const reaper::Report& report,
                                        const std::string& name) const {
  for (const reaper::Item& item : report.items) {
    if (item.name == name || item.id == name) return &item;
  }
  return nullptr;
}

}  // namespace berth
