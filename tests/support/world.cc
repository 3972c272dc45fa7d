#include "tests/support/world.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <system_error>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "sandbox/base/unique_fd.h"
#include "sandbox/base/wait_fd.h"
#include "tests/support/actor.h"

namespace berth {
namespace {

namespace fs = std::filesystem;

constexpr char kGroupVariable[] = "BERTH_TEST_WORLD";  // the group's folder
constexpr char kWhyNotVariable[] = "BERTH_TEST_NO_WORLD";

std::string ReadText(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

std::string Group() {
  const char* group = getenv(kGroupVariable);
  return group != nullptr ? group : "";
}

// The folder of the cgroup v2 that this process is in; "" if there is none.
std::string OwnGroup() {
  std::string point, below;
  for (absl::string_view line : absl::StrSplit(ReadText("/proc/self/mountinfo"), '\n')) {
    const std::vector<std::string> fields = absl::StrSplit(line, ' ');
    if (absl::StrContains(line, " - cgroup2 ") && fields.size() > 4 && fields[3] == "/")
      point = fields[4];
  }
  for (absl::string_view line : absl::StrSplit(ReadText("/proc/self/cgroup"), '\n')) {
    if (absl::ConsumePrefix(&line, "0::")) below = std::string(line);
  }
  return point.empty() || below.empty() ? "" : absl::StrCat(point, below == "/" ? "" : below);
}

void AppendMembers(const std::string& group, std::vector<pid_t>* pids) {
  for (absl::string_view line : absl::StrSplit(ReadText(group + "/cgroup.procs"), '\n')) {
    pid_t pid;
    if (absl::SimpleAtoi(line, &pid) && pid != getpid()) pids->push_back(pid);
  }
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(group, error)) {
    if (entry.is_directory(error)) AppendMembers(entry.path(), pids);
  }
}

std::string Name(pid_t pid) {
  std::string line = ReadText(absl::StrCat("/proc/", pid, "/cmdline"));
  std::replace(line.begin(), line.end(), '\0', ' ');
  std::string comm = ReadText(absl::StrCat("/proc/", pid, "/comm"));
  return absl::StrCat("process ", pid, " (", absl::StripSuffix(comm, "\n"), "): ", line);
}

// In the child, as root: into the group, out of root's rights if asked to, and the same program
// again.
[[noreturn]] void Enter(const std::string& group, const std::string& home, uid_t user,
                        char** argv) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (!group.empty()) {
    std::ofstream(group + "/cgroup.procs") << getpid() << std::flush;
    setenv(kGroupVariable, group.c_str(), 1);
  }
  std::string self = fs::read_symlink("/proc/self/exe");
  if (user != 0) {
    // Bazel's folders are closed to others: the program and all that it writes are in a folder of
    // its own.
    setenv("HOME", home.c_str(), 1);
    setenv("TEST_TMPDIR", home.c_str(), 1);
    unsetenv("TEST_PREMATURE_EXIT_FILE");
    if (getenv("XML_OUTPUT_FILE") != nullptr)
      setenv("XML_OUTPUT_FILE", (home + "/test.xml").c_str(), 1);
    self = home + "/program";
    if (chdir(home.c_str()) != 0 || setgroups(0, nullptr) != 0 ||
        setresgid(user, user, user) != 0 || setresuid(user, user, user) != 0) {
      _exit(101);
    }
    prctl(PR_SET_PDEATHSIG, SIGKILL);  // forgotten at the change of user
  }
  setenv("BERTH_TEST_SELF", self.c_str(), 1);
  execv(self.c_str(), argv);
  _exit(102);
}

// Files of Bazel's, by paths with a space between them, for who may not go into its folders.
void CopyData(absl::string_view paths, const std::string& home) {
  for (const absl::string_view path : absl::StrSplit(paths, ' ', absl::SkipEmpty())) {
    const fs::path to = fs::path(home) / std::string(path);
    fs::create_directories(to.parent_path());
    fs::copy_file(std::string(path), to);
    fs::permissions(to, fs::perms(0644));
  }
}

int RunInWorld(char** argv) {
  const bool plain =
      getenv("BERTH_TEST_USER") != nullptr && strcmp(getenv("BERTH_TEST_USER"), "plain") == 0;
  const std::string above = OwnGroup();
  std::string group = above.empty() ? "" : absl::StrCat(above, "/berth-test-", getpid());
  if (group.empty()) {
    setenv(kWhyNotVariable, "there is no cgroup v2 here", 1);
  } else if (mkdir(group.c_str(), 0755) != 0) {
    setenv(kWhyNotVariable, absl::StrCat("make cgroup ", group, ": ", strerror(errno)).c_str(), 1);
    group.clear();
  }
  std::string home = "/tmp/berth-plain-XXXXXX";
  const uid_t user = plain ? 100000 + static_cast<uid_t>(getpid()) : 0;  // nobody else's
  if (plain) {
    if (mkdtemp(home.data()) == nullptr || chown(home.c_str(), user, user) != 0) return 100;
    fs::copy_file("/proc/self/exe", home + "/program");
    chmod((home + "/program").c_str(), 0755);
    const char* data = getenv("BERTH_TEST_DATA");
    CopyData(data != nullptr ? data : "", home);
  }
  const pid_t child = fork();
  if (child == 0) Enter(group, home, user, argv);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  if (!group.empty()) {
    setenv(kGroupVariable, group.c_str(), 1);
    for (const std::string& left : World::Leftovers()) {
      fprintf(stderr, "left behind by the tests: %s\n", left.c_str());
      code = code != 0 ? code : 1;
    }
    rmdir(group.c_str());
  }
  if (plain) {
    std::error_code error;
    if (const char* xml = getenv("XML_OUTPUT_FILE")) {
      fs::copy_file(home + "/test.xml", xml, fs::copy_options::overwrite_existing, error);
    }
    fs::remove_all(home, error);
  }
  return code;
}

}  // namespace

int World::Main(int argc, char** argv) {
  if (argc >= 3 && strcmp(argv[1], "act") == 0) return RunActor({argv + 2, argv + argc});
  if (geteuid() == 0 && getenv("BERTH_TEST_SELF") == nullptr) return RunInWorld(argv);
  if (geteuid() != 0 && getenv("BERTH_TEST_SELF") == nullptr) {
    setenv("BERTH_TEST_SELF", fs::read_symlink("/proc/self/exe").c_str(), 1);
    setenv(kWhyNotVariable, "only root can make a cgroup to find leftovers in", 1);
  }
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}

bool World::Exists() { return !Group().empty(); }

std::string World::WhyNot() {
  const char* why = getenv(kWhyNotVariable);
  return why != nullptr ? why : "";
}

std::string World::Folder() { return Group(); }

std::string World::Tree() {
  const std::string own = OwnGroup();
  return !own.empty() && access(own.c_str(), W_OK) == 0 ? "cgroup" : "subreaper";
}

std::vector<pid_t> World::Members() {
  std::vector<pid_t> pids;
  if (Exists()) AppendMembers(Group(), &pids);
  return pids;
}

std::vector<pid_t> World::MembersNamed(const std::string& comm) {
  std::vector<pid_t> pids = Members();
  std::erase_if(pids, [&](pid_t pid) {
    return ReadText(absl::StrCat("/proc/", pid, "/comm")) != comm + "\n";
  });
  return pids;
}

std::vector<std::string> World::Leftovers(absl::Duration limit) {
  std::vector<std::string> left;
  if (!Exists()) return left;
  const absl::Time deadline = absl::Now() + limit;
  // One that is on its way out is waited for; one that is not is named and ended.
  for (std::vector<pid_t> pids = Members(); !pids.empty(); pids = Members()) {
    for (const pid_t pid : pids) {
      const std::string name = Name(pid);
      const UniqueFd pidfd(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
      if (!pidfd.ok() || WaitFd(pidfd.get(), POLLIN, deadline, "leftover").ok()) continue;
      left.push_back(name);
      syscall(SYS_pidfd_send_signal, pidfd.get(), SIGKILL, nullptr, 0);
      WaitFd(pidfd.get(), POLLIN, absl::Now() + limit, "killed leftover").IgnoreError();
    }
    if (left.size() > 100) break;
  }
  std::vector<std::string> groups;
  std::error_code error;
  for (const auto& entry : fs::recursive_directory_iterator(Group(), error)) {
    if (entry.is_directory(error)) groups.push_back(entry.path());
  }
  std::sort(groups.rbegin(), groups.rend());  // children first
  for (const std::string& group : groups) {
    left.push_back("cgroup " + group);
    rmdir(group.c_str());
  }
  return left;
}

}  // namespace berth
