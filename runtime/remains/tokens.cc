#include "runtime/remains/tokens.h"

#include <poll.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "absl/time/time.h"
#include "sandbox/base/unique_fd.h"
#include "sandbox/base/wait_fd.h"
#include "sandbox/launcher/kernel.h"
#include "sandbox/launcher/proc.h"

namespace berth {
namespace {

constexpr absl::string_view kVariable = "BERTH_TOKEN=";

bool HasEntry(pid_t pid, absl::string_view entry) {
  const std::string text = launcher::ReadSmallFile(absl::StrCat("/proc/", pid, "/environ").c_str());
  for (const absl::string_view each : absl::StrSplit(text, '\0')) {
    if (each == entry) return true;
  }
  return false;
}

// "" if there is none. The first counts, as for getenv.
std::string TokenOf(pid_t pid) {
  const std::string text = launcher::ReadSmallFile(absl::StrCat("/proc/", pid, "/environ").c_str());
  for (absl::string_view entry : absl::StrSplit(text, '\0')) {
    if (absl::ConsumePrefix(&entry, kVariable)) return std::string(entry);
  }
  return "";
}

template <typename Visit>
void ForEachProcess(Visit visit) {
  std::error_code error;
  for (const auto& process : std::filesystem::directory_iterator("/proc", error)) {
    pid_t pid;
    if (!absl::SimpleAtoi(process.path().filename().string(), &pid) || pid == getpid()) continue;
    visit(pid);
  }
}

}  // namespace

bool HasToken(pid_t pid, absl::string_view token) {
  return !token.empty() && TokenOf(pid) == token;
}

std::vector<UniqueFd> ProcessesWithToken(absl::string_view token) {
  return token.empty() ? std::vector<UniqueFd>()
                       : ProcessesWithEntry(absl::StrCat(kVariable, token));
}

std::vector<UniqueFd> ProcessesWithEntry(absl::string_view entry) {
  std::vector<UniqueFd> found;
  ForEachProcess([&](pid_t pid) {
    UniqueFd pidfd(launcher::PidfdOpen(pid));
    if (!pidfd.ok() || !HasEntry(pid, entry)) return;
    // If it has not ended by now, the number was its own all the while.
    if (WaitFd(pidfd.get(), POLLIN, absl::InfinitePast(), "").ok()) return;
    found.push_back(std::move(pidfd));
  });
  return found;
}

absl::flat_hash_set<std::string> TokensInUse() {
  absl::flat_hash_set<std::string> tokens;
  ForEachProcess([&](pid_t pid) {
    if (std::string token = TokenOf(pid); !token.empty()) tokens.insert(std::move(token));
  });
  return tokens;
}

}  // namespace berth
