// berth-reaper as people, cron and root run it.

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status_matchers.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
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
  // `become` is called in the new process, before it is the program.
  using Become = std::function<void()>;
  pid_t Start(
      const std::vector<std::string>& args, const std::string& out, const std::string& err,
      const Become& become = [] {}) {
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
    // By descriptor: the program's path may be closed to whom this becomes, or not be there.
    const int program = open(program_.c_str(), O_RDONLY | O_CLOEXEC);
    become();
    fexecve(program, argv.data(), environ);
    _exit(127);
  }
  Ran Run(const std::vector<std::string>& args, const Become& become = [] {}) {
    Ran ran;
    const pid_t pid = Start(args, dir_ / "out", dir_ / "err", become);
    int status = 0;
    waitpid(pid, &status, 0);
    ran.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    ran.out = ReadText(dir_ / "out");
    ran.err = ReadText(dir_ / "err");
    return ran;
  }

  // Others may go through the folders that lead to what is theirs.
  void OpenToOthers() {
    ASSERT_EQ(chmod(dir_.path().c_str(), 0755), 0);
    ASSERT_EQ(chmod(fs::path(dir_.path()).parent_path().c_str(), 0755), 0);
  }
  void MakeHome(const std::string& name, uid_t uid);

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
  OpenToOthers();
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

// A home of that user with one orphan in its state directory.
void ReaperCli::MakeHome(const std::string& name, uid_t uid) {
  const std::string home = dir_ / name;
  fs::create_directories(home + "/.local/state");
  {
    const auto store = Open(name + "/.local/state/berth");
    MakeOrphan(*store, "theirs", dead_);
  }
  for (const auto& entry : fs::recursive_directory_iterator(home)) {
    ASSERT_EQ(lchown(entry.path().c_str(), uid, uid), 0);
  }
  ASSERT_EQ(lchown(home.c_str(), uid, uid), 0);
}

TEST_F(ReaperCli, RootSweepsAllUsersOfTheMachine) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can become others";
  OpenToOthers();
  MakeHome("ann", 70001);
  MakeHome("bob", 70002);
  WriteText(dir_ / "passwd", absl::StrCat("root:x:0:0::", dir_ / "root", ":/bin/sh\n",
                                          "ann:x:70001:70001::", dir_ / "ann", ":/bin/sh\n",
                                          "torn:x:70003\n",  //
                                          "nobody:x:70004:70004::/nonexistent:/bin/sh\n",
                                          "bob:x:70002:70002::", dir_ / "bob", ":/bin/sh\n"));
  const std::string passwd = dir_ / "passwd";
  const Ran ran = Run({"sweep", "--all-users", "--json"}, [&] {
    if (unshare(CLONE_NEWNS) != 0 ||
        mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        mount(passwd.c_str(), "/etc/passwd", nullptr, MS_BIND, nullptr) != 0) {
      _exit(126);
    }
  });
  EXPECT_EQ(ran.code, 10) << ran.out << ran.err;
  const auto json = nlohmann::json::parse(ran.out);
  ASSERT_EQ(json.size(), 2u) << ran.out;
  for (const char* name : {"ann", "bob"}) {
    EXPECT_TRUE(fs::is_empty(dir_ / absl::StrCat(name, "/.local/state/berth/sessions"))) << name;
  }
  EXPECT_FALSE(fs::exists(dir_ / "root"));  // nobody gets a state directory by being swept
}

TEST_F(ReaperCli, EachUserSweepsItsOwnDirectoryAndNoOther) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can become others";
  OpenToOthers();
  MakeHome("ann", 70001);
  MakeHome("bob", 70002);
  const auto as_ann = [&] {
    setenv("HOME", (dir_ / "ann").c_str(), 1);
    if (setgroups(0, nullptr) != 0 || setresgid(70001, 70001, 70001) != 0 ||
        setresuid(70001, 70001, 70001) != 0) {
      _exit(126);
    }
  };
  const Ran others = Run({"sweep", "--state-dir", dir_ / "bob/.local/state/berth"}, as_ann);
  EXPECT_EQ(others.code, 125) << others.out;
  EXPECT_FALSE(fs::is_empty(dir_ / "bob/.local/state/berth/sessions"));
  EXPECT_EQ(Run({"sweep", "--all-users"}, as_ann).code, 2);
  const Ran own = Run({"sweep"}, as_ann);
  EXPECT_EQ(own.code, 10) << own.out << own.err;
  EXPECT_TRUE(fs::is_empty(dir_ / "ann/.local/state/berth/sessions"));
}

TEST_F(ReaperCli, NeedsNothingOfTheMachineButProc) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can change its root";
  if (getenv("BERTH_REAPER_IS_STATIC") == nullptr) {
    GTEST_SKIP() << "sanitizers cannot be linked statically";
  }
  fs::create_directories(dir_ / "root/proc");
  MakeOrphan(*Open("root/state"), "orphan", dead_);
  const Ran ran = Run({"sweep", "--state-dir", "/state"}, [&] {
    if (unshare(CLONE_NEWNS) != 0 ||
        mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        mount("proc", (dir_ / "root/proc").c_str(), "proc", 0, nullptr) != 0 ||
        chroot((dir_ / "root").c_str()) != 0 || chdir("/") != 0) {
      _exit(126);
    }
  });
  EXPECT_EQ(ran.code, 10) << ran.out << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("session orphan"));
  EXPECT_TRUE(fs::is_empty(dir_ / "root/state/sessions"));
}

// System calls from that number on are not there: 442 is the first that Linux 5.10 (Debian 11) has
// not, 437 is openat2, which seccomp filters of older container runtimes do not know.
void WithoutCallsFrom(uint32_t first) {
  sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, first, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program = {std::size(code), code};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
      prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) {
    _exit(126);
  }
}

TEST_F(ReaperCli, EndsWhatIsToEndOnAKernelAsOldAsDebian11s) {
  const auto store = Open("state");
  for (const uint32_t first : {442u, 437u}) {
    // What a killed keeper left: a process with the session's token.
    pid_t left = -1;
    MakeOrphan(*store, "orphan", dead_, [&](Record& it) {
      it.tree = kTreeSubreaper;
      std::string token = absl::StrCat("BERTH_TOKEN=", it.token), name = "sleep", time = "1000";
      char* const argv[] = {name.data(), time.data(), nullptr};
      char* const env[] = {token.data(), nullptr};
      // Returns once it has been executed.
      ASSERT_EQ(posix_spawn(&left, "/bin/sleep", nullptr, nullptr, argv, env), 0);
    });
    const Ran ran = Run({"sweep", "--grace", "0", "--state-dir", dir_ / "state"},
                        [&] { WithoutCallsFrom(first); });
    EXPECT_EQ(ran.code, 10) << first << ran.out << ran.err;
    int status = 0;
    EXPECT_EQ(waitpid(left, &status, 0), left);
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) << status;
    EXPECT_TRUE(store->List()->records.empty());
  }
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

TEST_F(ReaperCli, SystemdFindsNothingWrongWithTheUnits) {
  const std::string root = dir_ / "root";
  for (const std::vector<std::string>& kind : std::vector<std::vector<std::string>>{
           {"--user", "--timer"}, {"--user", "--watch"}, {"--system", "--timer"}}) {
    std::vector<std::string> install{"install", "--root", root};
    install.insert(install.end(), kind.begin(), kind.end());
    ASSERT_EQ(Run(install).code, 0);
    std::string units;
    for (const auto& entry : fs::recursive_directory_iterator(root)) {
      if (entry.is_regular_file() && !entry.is_symlink()) units += " " + entry.path().string();
    }
    // It warns of what it does not understand, and exits with 0 then.
    const int status =
        system(absl::StrCat("HOME=", dir_.path(), " XDG_RUNTIME_DIR=", dir_.path(),
                            " systemd-analyze verify --man=no ",
                            kind[0] == "--user" ? "--user" : "", units, " >", dir_ / "out", " 2>&1")
                   .c_str());
    EXPECT_EQ(status, 0) << units << ReadText(dir_ / "out");
    EXPECT_EQ(ReadText(dir_ / "out"), "") << units;
    fs::remove_all(root);
  }
}

TEST_F(ReaperCli, EveryExampleOfItsHelpWorks) {
  fs::create_directory(dir_ / "bin");
  fs::create_symlink(program_, dir_ / "bin/berth-reaper");
  int examples = 0;
  for (const char* command : {"sweep", "install"}) {
    const std::string help = Run({command, "--help"}).out;
    const size_t at = help.find("Examples:");
    ASSERT_NE(at, std::string::npos) << help;
    for (absl::string_view line : absl::StrSplit(help.substr(at + 9), '\n', absl::SkipEmpty())) {
      line = absl::StripAsciiWhitespace(line);
      if (line.empty()) continue;
      absl::ConsumePrefix(&line, "sudo ");
      ASSERT_TRUE(absl::StartsWith(line, "berth-reaper ")) << line;
      // Files of the machine are not this test's, nor are other users.
      std::string safe = absl::StrReplaceAll(
          line, {{"/run/berth.prom", dir_ / "berth.prom"},
                 {" --all-users", ""},
                 {" install", absl::StrCat(" install --root ", dir_ / "root")}});
      const auto store = Open(".local/state/berth");
      MakeOrphan(*store, "fix-42", dead_);
      const int status =
          system(absl::StrCat("HOME=", dir_.path(), " PATH=", dir_ / "bin",
                              " DOCKER_HOST=unix:///n ", safe, " >", dir_ / "out", " 2>&1")
                     .c_str());
      EXPECT_TRUE(WIFEXITED(status) && (WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == 10))
          << safe << ": " << status << ReadText(dir_ / "out");
      fs::remove_all(dir_ / ".local");
      ++examples;
    }
  }
  EXPECT_GE(examples, 6);
}

}  // namespace
}  // namespace berth::reaper
