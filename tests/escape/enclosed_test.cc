#include "tests/escape/enclosed_test.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "sandbox/base/unique_fd.h"
#include "sandbox/base/wait_fd.h"
#include "tests/support/world.h"

namespace berth {
namespace {

namespace fs = std::filesystem;
using launcher::SandboxMount;
using launcher::SandboxPlan;

constexpr absl::Duration kLimit = absl::Seconds(60);
constexpr uint64_t kRead =
    LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR;
constexpr uint64_t kAll = (uint64_t{1} << 16) - 1;

std::string Self() { return getenv("BERTH_TEST_SELF"); }

// Both to their ends, whichever comes first.
void ReadBoth(int out, int err, Outcome* outcome) {
  const absl::Time deadline = absl::Now() + kLimit;
  pollfd fds[2] = {{out, POLLIN, 0}, {err, POLLIN, 0}};
  std::string* texts[2] = {&outcome->out, &outcome->err};
  while (fds[0].fd >= 0 || fds[1].fd >= 0) {
    const int left = static_cast<int>(absl::ToInt64Milliseconds(deadline - absl::Now()));
    ASSERT_GT(left, 0) << "the program's streams do not end: " << outcome->out << outcome->err;
    if (poll(fds, 2, left) < 0) continue;
    for (int i = 0; i < 2; ++i) {
      if (fds[i].fd < 0 || fds[i].revents == 0) continue;
      char buffer[65536];
      const ssize_t n = read(fds[i].fd, buffer, sizeof(buffer));
      if (n > 0) texts[i]->append(buffer, static_cast<size_t>(n));
      if (n == 0) fds[i].fd = -1;
    }
  }
}

}  // namespace

void EnclosedTest::SetUp() {
  const char* tmp = getenv("TEST_TMPDIR");
  base_ = absl::StrCat(tmp != nullptr ? tmp : "/tmp", "/eXXXXXX");
  ASSERT_NE(mkdtemp(base_.data()), nullptr) << strerror(errno);
  work_ = base_ + "/space";
  outside_ = base_ + "/outside";
  fs::create_directory(work_);
  fs::create_directory(outside_);
  // The same tests with a launcher as the command has it.
  if (getenv("BERTH_TEST_FORKED") != nullptr) forked_.emplace(nullptr);
  auto client = launcher::LauncherClient::Start("test");
  ASSERT_TRUE(client.ok()) << client.status();
  client_ = *std::move(client);
}

void EnclosedTest::TearDown() {
  client_.reset();
  forked_.reset();
  std::error_code error;
  fs::remove_all(base_, error);
  EXPECT_FALSE(error) << base_ << ": " << error.message();
  const std::vector<std::string> left = World::Leftovers();
  EXPECT_TRUE(left.empty()) << "left behind:\n  " << absl::StrJoin(left, "\n  ");
}

SandboxPlan EnclosedTest::Plan() const {
  using Kind = SandboxMount::Kind;
  SandboxPlan plan;
  plan.tier = launcher::SandboxTier::kNamespaces;
  const auto read_only = [&](const std::string& source, const std::string& target) {
    plan.mounts.push_back(
        {.kind = Kind::kBind, .read_only = true, .source = source, .target = target});
  };
  read_only("/usr", "/usr");
  read_only("/etc", "/etc");
  for (const char* name : {"bin", "sbin", "lib", "lib64"}) {
    plan.mounts.push_back({.kind = Kind::kSymlink,
                           .source = absl::StrCat("usr/", name),
                           .target = absl::StrCat("/", name)});
  }
  plan.mounts.push_back({.kind = Kind::kProc, .target = "/proc"});
  plan.mounts.push_back({.kind = Kind::kDev, .target = "/dev", .size = 16 << 20});
  plan.mounts.push_back({.kind = Kind::kTmpfs, .target = "/tmp", .size = 16 << 20});
  plan.mounts.push_back({.kind = Kind::kBind, .source = work_, .target = work_});
  read_only(Self(), "/probe");
  plan.hostname = "berth";
  plan.ready_child = true;
  return plan;
}

SandboxPlan EnclosedTest::LandlockPlan() const {
  SandboxPlan plan;
  plan.tier = launcher::SandboxTier::kLandlock;
  plan.landlock_fs = kAll;
  plan.landlock_net = 3;
  plan.landlock_scope = 3;
  for (const char* path : {"/usr", "/etc", "/bin", "/lib", "/lib64", "/proc"}) {
    plan.landlock.push_back({.path = path, .access = kRead, .optional = true});
  }
  plan.landlock.push_back({.path = "/dev/null", .access = kAll});
  plan.landlock.push_back({.path = Self(), .access = kRead});
  plan.landlock.push_back({.path = work_, .access = kAll});
  plan.ready_child = true;
  return plan;
}

std::string EnclosedTest::Denying(const std::vector<int>& calls) {
  std::vector<sock_filter> program;
  program.push_back(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)));
  for (const int call : calls) {
    program.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<uint32_t>(call), 0, 1));
    program.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM));
  }
  program.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  return {reinterpret_cast<const char*>(program.data()), program.size() * sizeof(sock_filter)};
}

absl::StatusOr<launcher::Spawned> EnclosedTest::Start(const SandboxPlan& plan,
                                                      const std::vector<std::string>& argv,
                                                      const std::string& cwd, int out, int err) {
  launcher::SpawnRequest request;
  request.argv = argv;
  request.env = {"PATH=/usr/bin:/bin", "HOME=/tmp"};
  request.cwd = cwd;
  request.stdio[1] = out;
  request.stdio[2] = err;
  request.plan = plan.Encode();
  if (plan.tier != launcher::SandboxTier::kNamespaces && prepares_) {
    const absl::StatusOr<int> waiting = client_->Prepare(request.plan);
    EXPECT_TRUE(waiting.ok()) << waiting.status();
  }
  if (forked_.has_value()) {
    client_->Expect({.memory_bytes = plan.memory_bytes,
                     .swap_bytes = plan.swap_bytes,
                     .pids = plan.pids,
                     .cpu_millis = plan.cpu_millis},
                    plan.tier != launcher::SandboxTier::kLandlock &&
                        plan.network == launcher::SandboxNetwork::kNone);
  }
  return client_->Spawn(request);
}

Outcome EnclosedTest::Run(const SandboxPlan& plan, const std::vector<std::string>& argv) {
  Outcome outcome;
  int out[2], err[2];
  EXPECT_EQ(pipe2(out, O_CLOEXEC), 0);
  EXPECT_EQ(pipe2(err, O_CLOEXEC), 0);
  UniqueFd out_read(out[0]), out_write(out[1]), err_read(err[0]), err_write(err[1]);
  absl::StatusOr<launcher::Spawned> spawned =
      Start(plan, argv, work_, out_write.get(), err_write.get());
  EXPECT_TRUE(spawned.ok()) << spawned.status();
  if (!spawned.ok()) return outcome;
  out_write.reset();
  err_write.reset();
  ReadBoth(out_read.get(), err_read.get(), &outcome);
  outcome.prepared = spawned->prepared;
  outcome.exit = AwaitEnd(*spawned);
  AwaitGone(*spawned);
  return outcome;
}

Outcome EnclosedTest::Act(const SandboxPlan& plan, std::vector<std::string> command) {
  const bool inside = plan.tier != launcher::SandboxTier::kLandlock;
  std::vector<std::string> argv{inside ? "/probe" : Self(), "act"};
  argv.insert(argv.end(), command.begin(), command.end());
  return Run(plan, argv);
}

launcher::ExitNotice EnclosedTest::AwaitEnd(const launcher::Spawned& spawned) {
  launcher::ExitNotice notice;
  const absl::Status ended =
      WaitFd(spawned.exit_socket.get(), POLLIN, absl::Now() + kLimit, "wait for the end");
  EXPECT_TRUE(ended.ok()) << ended;
  EXPECT_EQ(recv(spawned.exit_socket.get(), &notice, sizeof(notice), MSG_PEEK | MSG_DONTWAIT),
            ssize_t{sizeof(notice)});
  return notice;
}

void EnclosedTest::AwaitGone(const launcher::Spawned& spawned) {
  const absl::Status gone =
      WaitFd(spawned.exit_socket.get(), POLLRDHUP, absl::Now() + kLimit, "wait for the tree");
  EXPECT_TRUE(gone.ok()) << gone;
}

std::vector<pid_t> EnclosedTest::Waiting() const {
  std::ifstream file(absl::StrCat("/proc/", client_->pid(), "/task/", client_->pid(), "/children"));
  std::vector<pid_t> pids;
  for (pid_t pid; file >> pid;) pids.push_back(pid);
  return pids;
}

std::string EnclosedTest::Path(absl::string_view name) const {
  return absl::StrCat(work_, "/", name);
}

void EnclosedTest::Write(absl::string_view name, absl::string_view text) const {
  std::ofstream(Path(name), std::ios::binary) << text;
}

std::string EnclosedTest::Read(absl::string_view name) const {
  std::ostringstream text;
  text << std::ifstream(Path(name), std::ios::binary).rdbuf();
  return text.str();
}

}  // namespace berth
