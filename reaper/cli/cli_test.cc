// berth-reaper as people, cron and root run it.

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status_matchers.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "reaper/test_records.h"
#include "runtime/record/identity.h"
#include "runtime/record/lease.h"
#include "runtime/record/record.h"
#include "runtime/record/store.h"
#include "runtime/record/test_dir.h"
#include "sandbox/base/unique_fd.h"
#include "sandbox/base/wait_fd.h"

namespace berth::reaper {
namespace {

using ::absl_testing::IsOk;
using ::testing::HasSubstr;
using ::testing::Not;

namespace fs = std::filesystem;

struct Ran {
  int code = -1;
  std::string out, err;
};

class ReaperCli : public testing::Test {
 protected:
  void SetUp() override {
    const char* path = getenv("BERTH_REAPER");
    ASSERT_NE(path, nullptr);
    program_ = fs::absolute(path);
    dead_ = DeadProcess();
  }
  std::unique_ptr<Store> Open(const std::string& name) {
    auto store = Store::Open(dir_ / name);
    EXPECT_THAT(store, IsOk());
    return store.ok() ? *std::move(store) : nullptr;
  }
  pid_t Start(const std::vector<std::string>& args, const std::string& out,
              const std::string& err) {
    const pid_t pid = fork();
    if (pid != 0) return pid;
    for (const auto& [fd, to] : {std::pair(1, out), std::pair(2, err)}) {
      dup2(open(to.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), fd);
    }
    std::vector<char*> argv{const_cast<char*>("berth-reaper")};
    for (const std::string& arg : args) argv.push_back(const_cast<char*>(arg.c_str()));
    argv.push_back(nullptr);
    setenv("HOME", dir_.path().c_str(), 1);
    setenv("DOCKER_HOST", "unix:///nonexistent/docker.sock", 1);
    for (const char* name : {"BERTH_STATE_DIR", "XDG_STATE_HOME", "XDG_CONFIG_HOME"}) {
      unsetenv(name);
    }
    execv(program_.c_str(), argv.data());
    _exit(127);
  }
  Ran Run(const std::vector<std::string>& args) {
    Ran ran;
    const pid_t pid = Start(args, dir_ / "out", dir_ / "err");
    int status = 0;
    waitpid(pid, &status, 0);
    ran.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    ran.out = ReadText(dir_ / "out");
    ran.err = ReadText(dir_ / "err");
    return ran;
  }

  TestDir dir_;
  std::string program_;
  Identity dead_;
};

TEST_F(ReaperCli, SweepsAndItsExitCodeSaysWhatItFound) {
  const auto store = Open("state");
  const std::vector<std::string> sweep{"sweep", "--state-dir", dir_ / "state"};
  const auto with = [&sweep](std::vector<std::string> more) {
    more.insert(more.begin(), sweep.begin(), sweep.end());
    return more;
  };
  EXPECT_EQ(Run(sweep).code, 0);
  EXPECT_EQ(Run(with({"--quiet"})).out, "");

  MakeOrphan(*store, "orphan", dead_, [](Record& it) { it.labels["team"] = "red"; });
  const Ran plan = Run(with({"--dry-run"}));
  EXPECT_EQ(plan.code, 10) << plan.err;
  EXPECT_THAT(plan.out, HasSubstr("would be ended and removed: session orphan"));
  EXPECT_THAT(plan.out, HasSubstr("owner process"));
  EXPECT_THAT(plan.out, Not(HasSubstr("\x1b")));
  const Ran why = Run(with({"--explain", "orphan"}));
  EXPECT_EQ(why.code, 10);
  EXPECT_THAT(why.out, HasSubstr("nobody needs it"));
  EXPECT_EQ(Run(with({"--except", "^team=red$"})).code, 0);
  EXPECT_EQ(Run(with({"--only", "^other$"})).code, 0);
  EXPECT_EQ(Run(with({"--older-than", "1d"})).code, 0);
  EXPECT_THAT(store->Find("orphan"), IsOk());

  const std::string metrics = dir_ / "berth.prom";
  const Ran done = Run(with({"--json", "--metrics", metrics}));
  EXPECT_EQ(done.code, 10) << done.err;
  const auto json = nlohmann::json::parse(done.out);
  EXPECT_EQ(json["done"], 1);
  EXPECT_EQ(json["items"][0]["name"], "orphan");
  EXPECT_EQ(json["items"][0]["result"], "done");
  EXPECT_THAT(ReadText(metrics), HasSubstr("\nberth_reaper_done 1\n"));
  EXPECT_TRUE(store->List()->records.empty());

  MakeOrphan(*store, "doubtful", *IdentifySelf());
  EXPECT_EQ(Run(sweep).code, 12);
}

TEST_F(ReaperCli, WrongUsageIsToldAndChangesNothing) {
  for (const std::vector<std::string>& args :
       std::vector<std::vector<std::string>>{{},
                                             {"swep"},
                                             {"sweep", "--only", "("},
                                             {"sweep", "--older-than", "soon"},
                                             {"sweep", "--state-dir", "relative"},
                                             {"sweep", "--time", "-1s"},
                                             {"install"},
                                             {"install", "--user", "--system"}}) {
    const Ran ran = Run(args);
    EXPECT_EQ(ran.code, 2) << (args.empty() ? "" : args.back()) << ran.out << ran.err;
    EXPECT_NE(ran.err, "");
  }
  const Ran help = Run({"sweep", "--help"});
  EXPECT_EQ(help.code, 0);
  EXPECT_THAT(help.out, HasSubstr("Examples:"));
  EXPECT_EQ(Run({"sweep", "--state-dir", dir_ / "none"}).code, 125);
  EXPECT_FALSE(fs::exists(dir_ / "none"));
}

TEST_F(ReaperCli, RootSweepsEachUsersDirectoryAsThatUser) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can become others";
  ASSERT_EQ(chmod(dir_.path().c_str(), 0755), 0);
  ASSERT_EQ(chmod(fs::path(dir_.path()).parent_path().c_str(), 0755), 0);
  const auto own = Open("own");
  MakeOrphan(*own, "mine", dead_);
  for (const uid_t uid : {70001, 70002}) {
    const std::string state = dir_ / absl::StrCat("u", uid);
    const auto store = Open(absl::StrCat("u", uid));
    MakeOrphan(*store, "theirs", dead_);
    for (const auto& entry : fs::recursive_directory_iterator(state)) {
      ASSERT_EQ(lchown(entry.path().c_str(), uid, uid), 0);
    }
    ASSERT_EQ(lchown(state.c_str(), uid, uid), 0);
  }
  // One user's directory that leads to another's.
  fs::create_directory_symlink(dir_ / "own", dir_ / "link");
  const Ran ran = Run({"sweep", "--json", "--state-dir", dir_ / "own", "--state-dir",
                       dir_ / "u70001", "--state-dir", dir_ / "u70002"});
  EXPECT_EQ(ran.code, 10) << ran.out << ran.err;
  const auto json = nlohmann::json::parse(ran.out);
  ASSERT_EQ(json.size(), 3u);
  for (const auto& each : json) EXPECT_EQ(each["done"], 1) << each;
  for (const char* name : {"own", "u70001", "u70002"}) {
    EXPECT_EQ(fs::directory_iterator(dir_ / absl::StrCat(name, "/sessions")),
              fs::directory_iterator())
        << name;
  }
  EXPECT_EQ(Run({"sweep", "--state-dir", dir_ / "link"}).code, 125);
  // What was written there is the user's, not root's.
  struct stat lock;
  ASSERT_EQ(stat((dir_ / "u70001/reaper.lock").c_str(), &lock), 0);
  EXPECT_EQ(lock.st_uid, 70001u);
}

TEST_F(ReaperCli, WatchSweepsWhenAnOwnerEnds) {
  const auto store = Open("state");
  TestChild owner([&](int ready) {
    auto lease = Lease::Acquire(store->dir(), "owner");
    if (!lease.ok()) _exit(1);
    Record record;
    record.name = "watched";
    record.backend = "native";
    record.owner_id = "owner";
    auto made = store->Reserve(record);
    if (!made.ok()) _exit(2);
    made->state = kStateRunning;
    if (!store->Write(*made).ok()) _exit(3);
    SayReady(ready);
    while (true) pause();
  });
  ASSERT_TRUE(owner.ready());
  // Its output is a fifo: reading waits until it has something to tell.
  const std::string fifo = dir_ / "fifo";
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  // For both, so that there is no end of file before the watch has it open.
  const UniqueFd reads(open(fifo.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC));
  const pid_t watch = Start({"watch", "--state-dir", dir_ / "state"}, fifo, dir_ / "err");
  owner.KillAndReap();
  std::string text;
  const absl::Time deadline = absl::Now() + absl::Seconds(60);
  while (!absl::StrContains(text, "watched") &&
         WaitFd(reads.get(), POLLIN, deadline, "wait for a report").ok()) {
    char buffer[4096];
    const ssize_t got = read(reads.get(), buffer, sizeof buffer);
    if (got > 0) text.append(buffer, static_cast<size_t>(got));
  }
  EXPECT_THAT(text, HasSubstr("ended and removed: session watched"));
  kill(watch, SIGTERM);
  int status = 0;
  ASSERT_EQ(waitpid(watch, &status, 0), watch);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status << ReadText(dir_ / "err");
  EXPECT_TRUE(store->List()->records.empty());
}

TEST_F(ReaperCli, InstallWritesFilesThatUninstallRemoves) {
  const std::string root = dir_ / "root";
  for (const std::vector<std::string>& kind : std::vector<std::vector<std::string>>{
           {"--user", "--timer"}, {"--user", "--watch"}, {"--system"}, {"--system", "--cron"}}) {
    fs::create_directory(root);
    std::vector<std::string> install{"install", "--root", root},
        uninstall{"uninstall", kind[0], "--root", root};
    install.insert(install.end(), kind.begin(), kind.end());
    const Ran ran = Run(install);
    EXPECT_EQ(ran.code, 0) << ran.err;
    int files = 0;
    for (const auto& entry : fs::recursive_directory_iterator(root)) {
      if (!entry.is_regular_file() || entry.is_symlink()) continue;
      ++files;
      const std::string text = ReadText(entry.path());
      EXPECT_THAT(text, Not(HasSubstr("@PROGRAM@")));
      EXPECT_THAT(text, Not(HasSubstr("@OPTIONS@")));
      if (!absl::EndsWith(entry.path().string(), ".timer")) {
        EXPECT_THAT(text, HasSubstr(fs::canonical(program_).string()));
      }
    }
    EXPECT_GT(files, 0);
    EXPECT_EQ(Run(install).code, 125);  // it is there
    EXPECT_EQ(Run(uninstall).code, 0);
    for (const auto& entry : fs::recursive_directory_iterator(root)) {
      EXPECT_TRUE(entry.is_directory()) << entry.path();
    }
    EXPECT_EQ(Run(uninstall).code, 0);
    fs::remove_all(root);
  }
}

}  // namespace
}  // namespace berth::reaper
