#include "reaper/codefly.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/status_macros.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "nlohmann/json.hpp"
#include "reaper/decide.h"
#include "runtime/record/files.h"
#include "runtime/record/identity.h"
#include "runtime/remains/end_processes.h"
#include "sandbox/base/errno_status.h"
#include "sandbox/base/unique_fd.h"

namespace berth::reaper {
namespace {

using Json = nlohmann::json;

constexpr size_t kMaxRecord = 16 << 10;
constexpr size_t kSecretLength = 64;
constexpr int64_t kMaxPid = 1 << 22;

struct Group {
  Identity owner;
  std::string secret;
};

// Nothing if it does not carry what a proof takes.
std::optional<Group> Parse(const std::string& text) {
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || !json.contains("owner") || !json.contains("authentication")) {
    return std::nullopt;
  }
  const Json& owner = json["owner"];
  const Json& secret = json["authentication"];
  const auto has = [&owner](const char* key, auto is) {
    return owner.is_object() && owner.contains(key) && is(owner[key]);
  };
  if (!has("pid", [](const Json& v) { return v.is_number_unsigned(); }) ||
      !has("start_id", [](const Json& v) { return v.is_number_unsigned(); }) ||
      !has("boot_id", [](const Json& v) { return v.is_string(); }) || !secret.is_string()) {
    return std::nullopt;
  }
  Group group;
  group.owner.pid = owner["pid"].get<int64_t>();
  group.owner.start_time = owner["start_id"].get<uint64_t>();
  group.owner.boot_id = owner["boot_id"].get<std::string>();
  group.secret = secret.get<std::string>();
  const bool hex = std::all_of(group.secret.begin(), group.secret.end(), [](char c) {
    return absl::ascii_isxdigit(static_cast<unsigned char>(c));
  });
  if (!hex || group.secret.size() != kSecretLength || group.owner.pid < 1 ||
      group.owner.pid > kMaxPid || group.owner.boot_id.empty() || group.owner.start_time == 0) {
    return std::nullopt;
  }
  return group;
}

absl::Status End(const Group& group, int dir_fd, const std::string& name,
                 const EndOptions& options) {
  ABSL_RETURN_IF_ERROR(
      EndProcessesWith(absl::StrCat("CODEFLY_PROCESS_GROUP_AUTH=", group.secret), options));
  if (unlinkat(dir_fd, name.c_str(), 0) != 0 && errno != ENOENT) {
    return ErrnoStatus(errno, absl::StrCat("remove '", name, "'"));
  }
  return absl::OkStatus();
}

void SweepFile(int dir_fd, const std::string& name, const std::string& shown,
               const Options& options, absl::Time deadline, Report* report) {
  Item item{.kind = "codefly group", .id = shown, .deed = "ended and removed"};
  const absl::StatusOr<std::string> text = ReadSmallFile(dir_fd, name, kMaxRecord);
  const std::optional<Group> group = text.ok() ? Parse(*text) : std::nullopt;
  if (!options.filter.ChoosesUnnamed(shown)) {
    item.because.push_back("the options do not choose it");
  } else if (!group.has_value()) {
    item.verdict = Verdict::kDoubt;
    item.because.push_back("it names a bare process group: nothing can be proven by that");
  } else {
    const Liveness owner = CheckIdentity(group->owner);
    item.evidence.push_back(absl::StrCat("owner process ", group->owner.pid, " (start time ",
                                         group->owner.start_time, "): ", LivenessName(owner)));
    item.verdict = owner == Liveness::kAlive     ? Verdict::kKeep
                   : owner == Liveness::kUnknown ? Verdict::kDoubt
                                                 : Verdict::kReap;
    item.because.push_back(owner == Liveness::kAlive     ? "its owner lives"
                           : owner == Liveness::kUnknown ? "whether its owner lives is not known"
                                                         : "its owner is gone");
  }
  if (item.verdict == Verdict::kReap && !options.dry_run) {
    if (absl::Now() >= deadline) {
      item.result = Result::kOutOfTime;
    } else {
      item.error = End(*group, dir_fd, name,
                       {.grace = options.grace,
                        .deadline = std::min(deadline, absl::Now() + options.time_per_object)});
      item.result = item.error.ok() ? Result::kDone : Result::kFailed;
    }
  }
  report->Add(std::move(item), options.show_kept);
}

void SweepFolder(int dir_fd, const std::string& shown, int depth, const Options& options,
                 absl::Time deadline, Report* report) {
  const absl::StatusOr<std::vector<std::string>> names = ListFolder(dir_fd);
  if (!names.ok()) return;
  for (const std::string& name : *names) {
    const std::string path = absl::StrCat(shown, "/", name);
    if (absl::EndsWith(name, ".pgid")) {
      SweepFile(dir_fd, name, path, options, deadline, report);
    } else if (depth > 0) {
      const absl::StatusOr<UniqueFd> sub = OpenFolder(dir_fd, name);
      if (sub.ok()) SweepFolder(sub->get(), path, depth - 1, options, deadline, report);
    }
  }
}

}  // namespace

void SweepCodefly(const std::string& folder, const Options& options, absl::Time deadline,
                  Report* report) {
  const UniqueFd dir(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct stat entry;
  if (!dir.ok() || fstat(dir.get(), &entry) != 0 || entry.st_uid != geteuid()) return;
  SweepFolder(dir.get(), folder, 1, options, deadline, report);
}

}  // namespace berth::reaper
