#include "runtime/nix/nix_tool.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/status_macros.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "runtime/env.h"
#include "runtime/types.h"
#include "sandbox/base/errno_status.h"
#include "sandbox/base/unique_fd.h"

namespace berth {
namespace {

constexpr size_t kMaxOutput = size_t{64} << 20;
constexpr size_t kTold = 2000;  // of what nix says, in an error

// Reads both streams until their ends, whichever has something.
absl::Status ReadBoth(int out, int err, absl::Time deadline, std::string* output,
                      std::string* errors) {
  pollfd fds[2] = {{out, POLLIN, 0}, {err, POLLIN, 0}};
  std::string* const texts[2] = {output, errors};
  char buffer[65536];
  while (fds[0].fd >= 0 || fds[1].fd >= 0) {
    const absl::Duration left = deadline - absl::Now();
    if (left <= absl::ZeroDuration()) return absl::DeadlineExceededError("nix did not end in time");
    const int64_t ms = std::min<int64_t>(absl::ToInt64Milliseconds(left) + 1, 1 << 30);
    if (poll(fds, 2, static_cast<int>(ms)) < 0 && errno != EINTR) return ErrnoStatus(errno, "poll");
    for (int i = 0; i < 2; ++i) {
      if (fds[i].fd < 0 || fds[i].revents == 0) continue;
      const ssize_t n = read(fds[i].fd, buffer, sizeof(buffer));
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) {
        fds[i].fd = -1;
        continue;
      }
      texts[i]->append(buffer, static_cast<size_t>(n));
      if (texts[i]->size() > kMaxOutput) {
        return absl::ResourceExhaustedError("nix printed more than 64 MiB");
      }
    }
  }
  return absl::OkStatus();
}

std::string Distribution() {
  std::ifstream in("/etc/os-release");
  for (std::string line; std::getline(in, line);) {
    absl::string_view rest = line;
    if (absl::ConsumePrefix(&rest, "ID=")) return std::string(absl::StripPrefix(rest, "\""));
  }
  return "";
}

}  // namespace

std::string NixSystem() {
  utsname name;
  uname(&name);
  return absl::StrCat(name.machine, "-linux");
}

std::string NixStoreDir() {
  const char* store = getenv("NIX_STORE_DIR");
  return store != nullptr && store[0] == '/' ? store : "/nix/store";
}

bool IsNixSupported() {
  const std::string system = NixSystem();
  return system == "x86_64-linux" || system == "aarch64-linux";
}

bool IsNixInstalled() { return FindNix().ok(); }

std::string NixInstallHint() {
  if (!IsNixSupported()) return absl::StrCat("there is no Nix for ", NixSystem());
  const std::string id = Distribution();
  if (absl::StartsWith(id, "debian") || absl::StartsWith(id, "ubuntu")) {
    return "install it with: apt-get install nix-bin";
  }
  if (absl::StartsWith(id, "fedora")) return "install it with: dnf install nix";
  if (absl::StartsWith(id, "arch")) return "install it with: pacman -S nix";
  if (absl::StartsWith(id, "alpine")) return "install it with: apk add nix";
  return "install the package nix of your distribution, or Nix's own installer";
}

absl::StatusOr<std::string> FindNix() {
  const char* path = getenv("PATH");
  for (absl::string_view folder : absl::StrSplit(path == nullptr ? "" : path, ':')) {
    const std::string candidate = absl::StrCat(folder.empty() ? "." : folder, "/nix");
    struct stat st;
    if (stat(candidate.c_str(), &st) == 0 && S_ISREG(st.st_mode) &&
        access(candidate.c_str(), X_OK) == 0) {
      return candidate;
    }
  }
  return absl::FailedPreconditionError(absl::StrCat("nix is not on PATH; ", NixInstallHint()));
}

absl::StatusOr<std::string> NixIdentity(const std::string& nix) {
  std::error_code error;
  const std::filesystem::path real = std::filesystem::canonical(nix, error);
  struct stat st;
  if (error || stat(real.c_str(), &st) != 0) {
    return absl::UnavailableError(absl::StrCat("look at '", nix, "': ", error.message()));
  }
  return absl::StrCat(real.string(), " ", st.st_size, " ", st.st_mtim.tv_sec, ".",
                      st.st_mtim.tv_nsec);
}

absl::StatusOr<std::string> RunNix(const Spawner& spawn, std::vector<std::string> argv,
                                   absl::Time deadline) {
  const std::string command = absl::StrJoin(argv, " ");
  ABSL_ASSIGN_OR_RETURN(std::unique_ptr<Process> process,
                        spawn({.command = Command::Argv(std::move(argv)), .env = Env::Inherit()}));
  ABSL_ASSIGN_OR_RETURN(const UniqueFd out, process->TakeStdout());
  ABSL_ASSIGN_OR_RETURN(const UniqueFd err, process->TakeStderr());
  std::string output, errors;
  ABSL_RETURN_IF_ERROR(ReadBoth(out.get(), err.get(), deadline, &output, &errors));
  ABSL_ASSIGN_OR_RETURN(const ExitStatus status, process->Wait(deadline));
  if (status.success()) return output;
  if (errors.size() > kTold) errors = absl::StrCat("…", errors.substr(errors.size() - kTold));
  return absl::FailedPreconditionError(
      absl::StrCat("'", command, "' ", Describe(status), ": ", errors));
}

}  // namespace berth
