#include "reaper/cli/install.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/status/status.h"
#include "absl/status/status_macros.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "reaper/dist/cron_text.h"
#include "reaper/dist/service_text.h"
#include "reaper/dist/timer_text.h"
#include "reaper/dist/watch_text.h"
#include "sandbox/base/errno_status.h"
#include "sandbox/base/unique_fd.h"

namespace berth::reaper {
namespace {

namespace fs = std::filesystem;

struct File {
  std::string path;
  std::string text;    // "": it is a link
  std::string target;  // of the link
};

absl::StatusOr<std::string> Program() {
  std::error_code error;
  const std::string path = fs::read_symlink("/proc/self/exe", error);
  // It goes into unit files and crontabs, whose rules for quoting are not ours to guess.
  const auto plain = [](char c) {
    return absl::ascii_isalnum(static_cast<unsigned char>(c)) || absl::StrContains("/._-+~", c);
  };
  if (error || !std::all_of(path.begin(), path.end(), plain)) {
    return absl::FailedPreconditionError(
        absl::StrCat("the path of this program, '", path,
                     "', has characters that systemd or cron would take "
                     "for something else: put it elsewhere"));
  }
  return path;
}

absl::StatusOr<std::string> UnitFolder(const InstallFlags& flags) {
  if (flags.system) return flags.root + "/etc/systemd/system";
  if (const char* config = getenv("XDG_CONFIG_HOME"); config != nullptr && *config == '/') {
    return absl::StrCat(flags.root, config, "/systemd/user");
  }
  const char* home = getenv("HOME");
  if (home == nullptr || *home != '/') return absl::FailedPreconditionError("HOME is not set");
  return absl::StrCat(flags.root, home, "/.config/systemd/user");
}

absl::Status Check(const InstallFlags& flags) {
  if (flags.user == flags.system) return absl::InvalidArgumentError("give --user or --system");
  if (flags.timer + flags.cron + flags.watch > 1) {
    return absl::InvalidArgumentError("give one of --timer, --cron and --watch");
  }
  if (flags.cron && flags.user) {
    return absl::InvalidArgumentError(
        "a user's crontab is edited with crontab(1): add the line of "
        "reaper/dist/berth-reaper.cron, "
        "or use --timer");
  }
  if (flags.watch && flags.system) {
    return absl::InvalidArgumentError("watch is for one user: give --user, or --system --timer");
  }
  return absl::OkStatus();
}

enum class Kind { kTimer, kCron, kWatch };

absl::StatusOr<std::vector<File>> Files(const InstallFlags& flags, Kind kind) {
  ABSL_ASSIGN_OR_RETURN(const std::string program, Program());
  const auto fill = [&](std::string_view text) {
    return absl::StrReplaceAll(std::string(text),
                               {{"@PROGRAM@", program},
                                {"@OPTIONS@", flags.system ? " --all-users" : ""},
                                {"@USER@", "root "}});
  };
  if (kind == Kind::kCron) {
    return std::vector<File>{{flags.root + "/etc/cron.d/berth-reaper", fill(CronText()), ""}};
  }
  ABSL_ASSIGN_OR_RETURN(const std::string folder, UnitFolder(flags));
  if (kind == Kind::kWatch) {
    const std::string unit = "berth-reaper-watch.service";
    return std::vector<File>{
        {absl::StrCat(folder, "/", unit), fill(WatchText()), ""},
        {absl::StrCat(folder, "/default.target.wants/", unit), "", absl::StrCat("../", unit)}};
  }
  return std::vector<File>{
      {folder + "/berth-reaper.service", fill(ServiceText()), ""},
      {folder + "/berth-reaper.timer", fill(TimerText()), ""},
      {folder + "/timers.target.wants/berth-reaper.timer", "", "../berth-reaper.timer"}};
}

absl::Status Put(const File& file) {
  std::error_code error;
  fs::create_directories(fs::path(file.path).parent_path(), error);
  if (error)
    return ErrnoStatus(error.value(), absl::StrCat("make the folder of '", file.path, "'"));
  if (!file.target.empty()) {
    if (symlink(file.target.c_str(), file.path.c_str()) != 0 && errno != EEXIST) {
      return ErrnoStatus(errno, absl::StrCat("link '", file.path, "'"));
    }
    return absl::OkStatus();
  }
  const UniqueFd fd(
      open(file.path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644));
  if (!fd.ok() && errno == EEXIST) {
    return absl::AlreadyExistsError(
        absl::StrCat("'", file.path, "' is there already: run uninstall first"));
  }
  if (!fd.ok() || write(fd.get(), file.text.data(), file.text.size()) !=
                      static_cast<ssize_t>(file.text.size())) {
    return ErrnoStatus(errno, absl::StrCat("write '", file.path, "'"));
  }
  return absl::OkStatus();
}

}  // namespace

void InstallFlags::AddTo(CLI::App* app) {
  app->add_flag("--user", user, "For this user");
  app->add_flag("--system", system, "For all users of this machine (as root)");
  app->add_flag("--timer", timer, "By a systemd timer (default)");
  app->add_flag("--cron", cron, "By /etc/cron.d");
  app->add_flag("--watch", watch, "By a service that waits for owners to end");
  app->add_option("--root", root, "Write below this folder instead of /")->type_name("DIR");
}

absl::StatusOr<int> Install(const InstallFlags& flags) {
  ABSL_RETURN_IF_ERROR(Check(flags));
  const Kind kind = flags.cron ? Kind::kCron : flags.watch ? Kind::kWatch : Kind::kTimer;
  ABSL_ASSIGN_OR_RETURN(const std::vector<File> files, Files(flags, kind));
  for (const File& file : files) {
    ABSL_RETURN_IF_ERROR(Put(file));
    printf("wrote %s\n", file.path.c_str());
  }
  if (kind != Kind::kCron && flags.root.empty()) {
    const char* user = flags.user ? " --user" : "";
    const char* unit = kind == Kind::kTimer ? "berth-reaper.timer" : "berth-reaper-watch.service";
    printf("to begin now: systemctl%s daemon-reload && systemctl%s start %s\n", user, user, unit);
  }
  return 0;
}

absl::StatusOr<int> Uninstall(const InstallFlags& flags) {
  if (flags.user == flags.system) return absl::InvalidArgumentError("give --user or --system");
  for (const Kind kind : {Kind::kTimer, Kind::kCron, Kind::kWatch}) {
    if ((kind == Kind::kCron && flags.user) || (kind == Kind::kWatch && flags.system)) continue;
    ABSL_ASSIGN_OR_RETURN(const std::vector<File> files, Files(flags, kind));
    for (const File& file : files) {
      if (unlink(file.path.c_str()) == 0) {
        printf("removed %s\n", file.path.c_str());
      } else if (errno != ENOENT && errno != ENOTDIR) {
        return ErrnoStatus(errno, absl::StrCat("remove '", file.path, "'"));
      }
    }
  }
  return 0;
}

}  // namespace berth::reaper
