#include "reaper/cli/cli_test.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status_matchers.h"
#include "gtest/gtest.h"
#include "reaper/test_records.h"
#include "runtime/record/store.h"
#include "runtime/record/test_dir.h"

namespace berth::reaper {
namespace {

using ::absl_testing::IsOk;

namespace fs = std::filesystem;

std::vector<char*> Pointers(const std::vector<std::string>& words) {
  std::vector<char*> argv;
  for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  return argv;
}

}  // namespace

void ReaperCli::SetUp() {
  const char* path = getenv("BERTH_REAPER");
  ASSERT_NE(path, nullptr);
  program_ = fs::absolute(path);
  dead_ = DeadProcess();
}

std::unique_ptr<Store> ReaperCli::Open(const std::string& name) {
  auto store = Store::Open(dir_ / name);
  EXPECT_THAT(store, IsOk());
  return store.ok() ? *std::move(store) : nullptr;
}

pid_t ReaperCli::Fork(const std::string& out, const std::string& err, const Become& exec) {
  const pid_t pid = fork();
  if (pid != 0) return pid;
  for (const auto& [fd, to] : {std::pair(1, out), std::pair(2, err)}) {
    dup2(open(to.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600), fd);
  }
  setenv("HOME", dir_.path().c_str(), 1);
  setenv("DOCKER_HOST", "unix:///nonexistent/docker.sock", 1);
  for (const char* name : {"BERTH_STATE_DIR", "XDG_STATE_HOME", "XDG_CONFIG_HOME"}) {
    unsetenv(name);
  }
  exec();
  _exit(127);
}

pid_t ReaperCli::Start(const Words& args, const std::string& out, const std::string& err,
                       const Become& become) {
  Words words{"berth-reaper"};
  words.insert(words.end(), args.begin(), args.end());
  return Fork(out, err, [&] {
    // By descriptor: the folders that lead to it may be closed to whom this becomes.
    const int program = open(program_.c_str(), O_RDONLY | O_CLOEXEC);
    become();
    fexecve(program, Pointers(words).data(), environ);
  });
}

Ran ReaperCli::Finish(pid_t pid) {
  Ran ran;
  int status = 0;
  waitpid(pid, &status, 0);
  ran.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  ran.out = ReadText(dir_ / "out");
  ran.err = ReadText(dir_ / "err");
  return ran;
}

Ran ReaperCli::Run(const Words& args, const Become& become) {
  return Finish(Start(args, dir_ / "out", dir_ / "err", become));
}

Ran ReaperCli::RunOther(const Words& argv) {
  return Finish(Fork(dir_ / "out", dir_ / "err", [&] {
    setenv("XDG_RUNTIME_DIR", dir_.path().c_str(), 1);
    execvp(argv[0].c_str(), Pointers(argv).data());
  }));
}

void ReaperCli::OpenToOthers() {
  ASSERT_EQ(chmod(dir_.path().c_str(), 0755), 0);
  ASSERT_EQ(chmod(fs::path(dir_.path()).parent_path().c_str(), 0755), 0);
  // What Bazel takes from its disk cache only its owner may run.
  const std::string program = dir_ / "berth-reaper";
  fs::copy_file(program_, program);
  ASSERT_EQ(chmod(program.c_str(), 0755), 0);
  program_ = program;
}

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

}  // namespace berth::reaper
