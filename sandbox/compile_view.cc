#include "sandbox/compile_view.h"

#include <linux/landlock.h>
#include <stdint.h>
#include <sys/stat.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "sandbox/policy.h"
#include "sandbox/policy_check.h"
#include "sandbox/view.h"

namespace berth {
namespace {

using launcher::LandlockRule;
using launcher::SandboxLink;
using launcher::SandboxMount;
using Kind = launcher::SandboxMount::Kind;

constexpr uint64_t kRead =
    LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR;
// All but devices: to make them, and to do more with them than read and write.
constexpr uint64_t kIoctlDev = 1 << 15;
constexpr uint64_t kWrite =
    kLandlockFs & ~uint64_t{LANDLOCK_ACCESS_FS_MAKE_CHAR | LANDLOCK_ACCESS_FS_MAKE_BLOCK} &
    ~kIoctlDev;
constexpr uint64_t kDevice = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE;

// By component: "/a", "/a/b", "/a.b". As bytes '.' comes before '/'.
bool Before(absl::string_view a, absl::string_view b) {
  return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) {
    const auto rank = [](char c) { return c == '/' ? 0 : static_cast<unsigned char>(c); };
    return rank(x) < rank(y);
  });
}

SandboxMount PrivateFolder(const std::string& target, uint64_t bytes) {
  return {.kind = Kind::kTmpfs, .target = target, .size = bytes};
}

}  // namespace

std::vector<SandboxMount> ToMounts(const View& view, uint64_t private_bytes,
                                   absl::string_view changes_dir) {
  std::vector<SandboxMount> mounts = {
      {.kind = Kind::kProc, .target = "/proc"},
      {.kind = Kind::kDev, .target = "/dev", .size = private_bytes}};
  int changed = 0;
  for (const View::Shown& shown : view.shown) {
    SandboxMount mount{.kind = Kind::kBind, .source = shown.source, .target = shown.target};
    mount.read_only = shown.access == Policy::Access::kReadOnly;
    if (shown.access == Policy::Access::kCopyOnWrite) {
      mount.kind = Kind::kOverlay;
      mount.upper = absl::StrCat(changes_dir, "/", changed, "/upper");
      mount.work = absl::StrCat(changes_dir, "/", changed, "/", "work");
      ++changed;
    }
    mounts.push_back(std::move(mount));
  }
  for (const View::Link& link : view.links) {
    mounts.push_back({.kind = Kind::kSymlink, .source = link.text, .target = link.target});
  }
  for (const std::string& folder : view.private_folders) {
    mounts.push_back(PrivateFolder(folder, private_bytes));
  }
  for (const std::string& target : view.carved) {
    mounts.push_back({.kind = Kind::kCarve, .target = target});
  }
  for (const View::Link& link : view.carved_links) {
    mounts.push_back({.kind = Kind::kCarve, .source = link.text, .target = link.target});
  }
  for (const std::string& target : view.hidden) {
    // Where something in it is seen, a folder of our own that becomes read-only with all the rest.
    const bool holds = view.ShowsBelow(target) || absl::c_any_of(view.links, [&](const auto& link) {
                         return IsBelow(link.target, target);
                       });
    if (holds) {
      mounts.push_back(
          {.kind = Kind::kTmpfs, .read_only = true, .target = target, .size = 1 << 20});
    } else {
      mounts.push_back({.kind = Kind::kMask, .read_only = true, .target = target});
    }
  }
  absl::c_stable_sort(mounts, [](const SandboxMount& a, const SandboxMount& b) {
    return Before(a.target, b.target);
  });
  return mounts;
}

std::vector<LandlockRule> ToLandlock(const View& view, absl::string_view tmp_dir) {
  std::vector<LandlockRule> rules;
  for (const View::Shown& shown : view.shown) {
    const bool writable = shown.access == Policy::Access::kReadWrite;
    rules.push_back({.path = shown.source, .access = writable ? kWrite : kRead});
  }
  if (!tmp_dir.empty()) rules.push_back({.path = std::string(tmp_dir), .access = kWrite});
  rules.push_back({.path = "/proc", .access = kRead});
  for (const char* device :
       {"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"}) {
    rules.push_back({.path = device, .access = kDevice});
  }
  // The own terminal, with its modes and size.
  rules.push_back({.path = "/dev/tty", .access = kDevice | kIoctlDev, .optional = true});
  return rules;
}

std::string ToGitExcludes(const View& view) {
  std::string patterns;
  for (const std::string& place : view.placeholders) {
    const View::Shown* above = view.Above(place);
    struct stat st;
    if (above == nullptr || stat(absl::StrCat(above->source, "/.git").c_str(), &st) != 0) continue;
    const absl::string_view rest = absl::string_view(place).substr(above->target.size());
    if (IsBelow(rest, "/.git") || absl::StrContains(rest, '\n')) continue;
    for (const char c : rest) {
      if (absl::StrContains("*?[]\\ ", c)) patterns.push_back('\\');
      patterns.push_back(c);
    }
    patterns.push_back('\n');
  }
  return patterns;
}

std::vector<SandboxLink> ToLinks(const View& view) {
  std::vector<SandboxLink> links;
  for (const View::Shown& shown : view.shown) {
    if (shown.source != shown.target) links.push_back({.path = shown.target, .text = shown.source});
  }
  for (const View::Link& link : view.links) {
    links.push_back({.path = link.target, .text = link.text});
  }
  return links;
}

}  // namespace berth
