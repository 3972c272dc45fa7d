#include "sandbox/launcher/proc.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "sandbox/base/unique_fd.h"
#include "sandbox/launcher/kernel.h"

namespace berth::launcher {

std::string ReadAllFrom(int fd) {
  std::string text;
  char buffer[4096];
  ssize_t n;
  while ((n = read(fd, buffer, sizeof(buffer))) > 0 || (n < 0 && errno == EINTR)) {
    if (n > 0) text.append(buffer, static_cast<size_t>(n));
  }
  return text;
}

std::string ReadSmallFile(const char* path) {
  const UniqueFd fd(open(path, O_RDONLY | O_CLOEXEC));
  return fd.ok() ? ReadAllFrom(fd.get()) : std::string();
}

bool ReadProcStat(pid_t pid, ProcStat* stat) {
  char path[32];
  snprintf(path, sizeof(path), "/proc/%d/stat", pid);
  const std::string text = ReadSmallFile(path);
  // The name in parentheses may hold anything, parentheses too: what counts is behind the last one.
  const size_t close = text.rfind(')');
  if (close == std::string::npos) return false;
  // Numbered as in proc_pid_stat(5), where the state is 3.
  constexpr size_t kLast = 24;
  uint64_t fields[kLast + 1];
  const char* at = text.c_str() + close + 1;
  if (at[0] != ' ' || at[1] == '\0') return false;
  stat->state = at[1];
  at += 2;
  for (size_t i = 4; i <= kLast; ++i) {
    char* end;
    fields[i] = strtoull(at, &end, 10);  // also "-1": its bits are those of int64_t
    if (end == at) return false;
    at = end;
  }
  stat->parent = static_cast<pid_t>(fields[4]);
  stat->flags = fields[9];
  stat->cpu_ticks = fields[14] + fields[15];
  stat->start_time = fields[22];
  stat->rss_pages = static_cast<int64_t>(fields[24]);
  return true;
}

namespace {

// Appends the children of `pid`, of all its threads. False if the kernel has no such file.
bool AppendChildren(pid_t pid, std::vector<pid_t>* out) {
  char path[48];
  snprintf(path, sizeof(path), "/proc/%d/task", pid);
  DIR* tasks = opendir(path);
  if (tasks == nullptr) return true;  // gone
  bool known = true;
  while (const dirent* entry = readdir(tasks)) {
    if (entry->d_name[0] == '.') continue;
    char children[96];
    snprintf(children, sizeof(children), "/proc/%d/task/%.16s/children", pid, entry->d_name);
    const UniqueFd fd(open(children, O_RDONLY | O_CLOEXEC));
    if (!fd.ok()) {
      if (errno == ENOENT && access("/proc/thread-self/children", F_OK) != 0) known = false;
      continue;
    }
    const std::string text = ReadAllFrom(fd.get());
    for (const char* at = text.c_str(); *at != '\0';) {
      char* end;
      const long child = strtol(at, &end, 10);
      if (end == at) break;
      out->push_back(static_cast<pid_t>(child));
      at = *end == ' ' ? end + 1 : end;
    }
  }
  closedir(tasks);
  return known;
}

// The same by reading the parent of every process there is (a kernel without CONFIG_PROC_CHILDREN).
std::vector<std::pair<pid_t, pid_t>> AllParents() {
  std::vector<std::pair<pid_t, pid_t>> all;
  DIR* proc = opendir("/proc");
  if (proc == nullptr) return all;
  while (const dirent* entry = readdir(proc)) {
    const pid_t pid = atoi(entry->d_name);
    ProcStat stat;
    if (pid > 0 && ReadProcStat(pid, &stat)) all.emplace_back(pid, stat.parent);
  }
  closedir(proc);
  return all;
}

}  // namespace

std::vector<pid_t> Descendants(pid_t root, const std::vector<pid_t>& except) {
  std::vector<pid_t> found{root};
  const auto excepted = [&except](pid_t pid) {
    return std::find(except.begin(), except.end(), pid) != except.end();
  };
  bool known = true;
  for (size_t i = 0; known && i < found.size(); ++i) {
    const size_t before = found.size();
    known = AppendChildren(found[i], &found);
    found.erase(
        std::remove_if(found.begin() + static_cast<ptrdiff_t>(before), found.end(), excepted),
        found.end());
  }
  if (!known) {
    const auto parents = AllParents();
    found = {root};
    for (size_t i = 0; i < found.size(); ++i) {
      for (const auto& [pid, parent] : parents) {
        if (parent == found[i] && !excepted(pid)) found.push_back(pid);
      }
    }
  }
  found.erase(found.begin());
  return found;
}

int SignalDescendants(pid_t root, int signal, const std::vector<pid_t>& except) {
  int count = 0;
  for (const pid_t pid : Descendants(root, except)) {
    const UniqueFd pidfd(PidfdOpen(pid));
    if (!pidfd.ok()) continue;
    // Opened first, asked after: walk up from the number to `root`. A stranger that got the number
    // is not below it.
    pid_t up = pid;
    ProcStat stat;
    while (up != root && up > 1 && ReadProcStat(up, &stat)) up = stat.parent;
    if (up == root && PidfdSignal(pidfd.get(), signal) == 0) ++count;
  }
  return count;
}

}  // namespace berth::launcher
