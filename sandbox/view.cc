#include "sandbox/view.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/status/status_macros.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "sandbox/base/errno_status.h"
#include "sandbox/launcher/placeholder_link.h"
#include "sandbox/policy_check.h"
#include "sandbox/system_view.h"

namespace berth {
namespace {

using Access = Policy::Access;

bool IsWritable(Access access) {
  return access == Access::kReadWrite || access == Access::kCopyOnWrite;
}

// Where something would be made by who writes to the symlink `link`, or what is there; "" if
// nothing could be. The links on the way may change: what it says is of now.
std::string EndOf(std::string link) {
  for (int links = 0; links < 40; ++links) {
    const size_t slash = link.rfind('/');
    char folder[PATH_MAX], text[PATH_MAX];
    if (realpath(link.substr(0, slash + 1).c_str(), folder) == nullptr) return "";
    link = absl::StrCat(folder, "/", link.substr(slash + 1));
    const ssize_t n = readlink(link.c_str(), text, sizeof(text));
    if (n < 0) return link;
    const absl::string_view leads(text, static_cast<size_t>(n));
    link = leads.front() == '/' ? std::string(leads) : absl::StrCat(folder, "/", leads);
  }
  return "";
}

class Resolver {
 public:
  Resolver(const Policy& policy, View* view) : policy_(policy), view_(*view) {}

  absl::Status Show();
  absl::Status ShowDockerSocket();
  absl::Status Carve();
  void Hide();
  void HideSecrets(const std::vector<std::string>& secrets);

 private:
  // A name of the policy's, which may lead through a listed symlink, as it is in the view.
  std::string InView(absl::string_view seen) const;
  // Where in the view something of the host is, if it is.
  std::vector<std::string> TargetsOf(absl::string_view source) const;
  void CarveOne(const Policy::Path& path);
  void CarveSource(const std::string& source);

  struct Alias {
    std::string seen, target;
  };
  const Policy& policy_;
  View& view_;
  std::vector<Alias> aliases_;
};

// Devices would be dead (nodev), and through /proc others' descriptors can be named
// (CVE-2024-21626).
absl::Status CheckSource(const std::string& path, const std::string& real, const struct stat& st) {
  if (IsBelow(real, "/proc") || IsBelow(real, "/dev") || real == "/") {
    return absl::InvalidArgumentError(
        absl::StrCat("path ", Quoted(path), ": ", real, " cannot be shown"));
  }
  if (IsEngineSocket(real)) {
    return absl::InvalidArgumentError(
        absl::StrCat("path ", Quoted(path), ": it leads to an engine's socket"));
  }
  if (!S_ISDIR(st.st_mode) && !S_ISREG(st.st_mode) && !S_ISSOCK(st.st_mode)) {
    return absl::InvalidArgumentError(
        absl::StrCat("path ", Quoted(path), ": it is no folder, file or socket"));
  }
  return absl::OkStatus();
}

absl::Status Resolver::Show() {
  for (const Policy::Path& path : policy_.paths()) {
    if (path.access == Access::kCarve || path.access == Access::kHidden) continue;
    char buffer[PATH_MAX];
    struct stat st;
    if (realpath(path.path.c_str(), buffer) == nullptr || stat(buffer, &st) != 0) {
      if (path.optional && (errno == ENOENT || errno == ENOTDIR)) {
        view_.absent.push_back(path.seen());
        continue;
      }
      return ErrnoStatus(errno, absl::StrCat("find path ", Quoted(path.path)));
    }
    const std::string real = buffer;
    ABSL_RETURN_IF_ERROR(CheckSource(path.path, real, st));
    if (path.access == Access::kCopyOnWrite && !S_ISDIR(st.st_mode)) {
      return absl::InvalidArgumentError(
          absl::StrCat("path ", Quoted(path.path), ": only folders can be copy-on-write"));
    }
    const std::string target = path.inside.empty() ? real : path.inside;
    for (const View::Shown& other : view_.shown) {
      if (other.target != target) continue;
      return absl::InvalidArgumentError(absl::StrCat(
          "path ", Quoted(path.path), ": another listed path leads to ", target, " too"));
    }
    view_.shown.push_back({real, target, path.access, S_ISDIR(st.st_mode)});
    if (target != path.seen()) aliases_.push_back({path.seen(), target});
  }
  // The closest first.
  absl::c_sort(aliases_,
               [](const Alias& a, const Alias& b) { return a.seen.size() > b.seen.size(); });
  for (const Alias& alias : aliases_) {
    // Below something that is shown the link is there already.
    if (view_.Above(alias.seen) == nullptr) view_.links.push_back({alias.target, alias.seen});
  }
  return absl::OkStatus();
}

absl::Status Resolver::ShowDockerSocket() {
  constexpr char kSocket[] = "/var/run/docker.sock";
  char real[PATH_MAX];
  if (realpath(kSocket, real) == nullptr) return ErrnoStatus(errno, "find the Docker socket");
  view_.shown.push_back({real, real, Access::kReadWrite});
  if (real != std::string(kSocket) && view_.Above(kSocket) == nullptr) {
    view_.links.push_back({real, kSocket});
  }
  return absl::OkStatus();
}

std::string Resolver::InView(absl::string_view seen) const {
  for (const Alias& alias : aliases_) {
    if (IsBelow(seen, alias.seen))
      return absl::StrCat(alias.target, seen.substr(alias.seen.size()));
  }
  return std::string(seen);
}

std::vector<std::string> Resolver::TargetsOf(absl::string_view source) const {
  std::vector<std::string> targets;
  for (const View::Shown& shown : view_.shown) {
    if (!IsBelow(source, shown.source)) continue;
    targets.push_back(absl::StrCat(shown.target, source.substr(shown.source.size())));
    // Unless something else is mounted above it there.
    if (view_.Above(targets.back()) != &shown) targets.pop_back();
  }
  return targets;
}

void Resolver::CarveSource(const std::string& source) {
  for (std::string& target : TargetsOf(source)) {
    const View::Shown* shows = view_.Above(target);
    if (shows != nullptr && IsWritable(shows->access) && target != shows->target &&
        !absl::c_linear_search(view_.carved, target)) {
      view_.carved.push_back(std::move(target));
    }
  }
}

void Resolver::CarveOne(const Policy::Path& path) {
  const std::string target = InView(path.path);
  const View::Shown* above = view_.Above(target);
  const auto carve = [this](std::string place) {
    if (!absl::c_linear_search(view_.carved, place)) view_.carved.push_back(std::move(place));
  };
  if (above == nullptr) return carve(target);  // in a private folder
  const absl::string_view rest = absl::string_view(target).substr(above->target.size());
  std::string source = above->source, place = above->target;
  for (const absl::string_view name : absl::StrSplit(rest, '/', absl::SkipEmpty())) {
    absl::StrAppend(&source, "/", name);
    absl::StrAppend(&place, "/", name);
    struct stat st;
    if (lstat(source.c_str(), &st) != 0 || launcher::IsPlaceholderLink(AT_FDCWD, source.c_str())) {
      if (path.optional) return;
      carve(target);
      if (IsWritable(above->access) && !absl::c_linear_search(view_.placeholders, place)) {
        view_.placeholders.push_back(place);
      }
      if (place != target && !absl::c_linear_search(view_.missing, place)) {
        view_.missing.push_back(place);
      }
      return;
    }
    if (S_ISLNK(st.st_mode)) {
      // CLAUDE.md -> AGENTS.md: the link stays what it is, and what it leads to cannot be written.
      char text[PATH_MAX], real[PATH_MAX];
      const ssize_t n = readlink(source.c_str(), text, sizeof(text));
      const bool known = absl::c_any_of(
          view_.carved_links, [&](const View::Link& link) { return link.target == place; });
      if (n > 0 && !known) {
        view_.carved_links.push_back({std::string(text, static_cast<size_t>(n)), place});
      }
      const std::string whole = absl::StrCat(above->source, rest);
      const std::string more = whole.substr(source.size());
      std::string end;
      if (realpath(whole.c_str(), real) != nullptr) {
        end = real;
      } else if (end = EndOf(source); !end.empty()) {
        absl::StrAppend(&end, more);
      }
      if (!end.empty()) CarveSource(end);
      const absl::string_view leads(text, n > 0 ? static_cast<size_t>(n) : 0);
      const absl::string_view folder = absl::string_view(source).substr(0, source.rfind('/') + 1);
      if (end != absl::StrCat(absl::StartsWith(leads, "/") ? "" : folder, leads, more)) {
        view_.weaker.push_back(absl::StrCat("carve-out ", Quoted(place),
                                            ": it is a symlink that leads through others, or "
                                            "through what is not there, which can be "
                                            "replaced"));
      }
      return;
    }
    // A .git that is a file names the real one elsewhere: it is what must not change.
    if (!S_ISDIR(st.st_mode)) return carve(place);
  }
  carve(target);
}

absl::Status Resolver::Carve() {
  for (const Policy::Path& path : policy_.paths()) {
    if (path.access != Access::kCarve) continue;
    const std::string target = InView(path.path);
    const View::Shown* above = view_.Above(target);
    if (above != nullptr && !above->folder && target != above->target) {
      return absl::InvalidArgumentError(
          absl::StrCat("carve-out ", Quoted(path.path), ": ", above->source, " is no folder"));
    }
    CarveOne(path);
  }
  return absl::OkStatus();
}

void Resolver::Hide() {
  for (const Policy::Path& path : policy_.paths()) {
    if (path.access == Access::kHidden) view_.hidden.push_back(InView(path.path));
  }
}

void Resolver::HideSecrets(const std::vector<std::string>& secrets) {
  for (const std::string& secret : secrets) {
    char real[PATH_MAX];
    if (realpath(secret.c_str(), real) == nullptr) continue;
    for (std::string& target : TargetsOf(real)) {
      const bool listed = absl::c_any_of(
          view_.shown, [&](const View::Shown& shown) { return shown.target == target; });
      if (!listed && !absl::c_linear_search(view_.hidden, target)) {
        view_.hidden.push_back(std::move(target));
      }
    }
  }
}

}  // namespace

const View::Shown* View::Above(absl::string_view target) const {
  const Shown* best = nullptr;
  for (const Shown& one : shown) {
    if (IsBelow(target, one.target) &&
        (best == nullptr || one.target.size() > best->target.size())) {
      best = &one;
    }
  }
  for (const std::string& folder : private_folders) {
    if (IsBelow(target, folder) && (best == nullptr || folder.size() > best->target.size())) {
      return nullptr;
    }
  }
  return best;
}

bool View::ShowsBelow(absl::string_view target) const {
  return absl::c_any_of(shown, [&](const Shown& one) { return IsBelow(one.target, target); }) ||
         absl::c_any_of(private_folders,
                        [&](const std::string& folder) { return IsBelow(folder, target); });
}

absl::StatusOr<View> ResolveView(const Policy& policy, absl::string_view home,
                                 const std::vector<std::string>& secrets) {
  View view;
  view.private_folders = policy.tmpfs();
  Resolver resolver(policy, &view);
  ABSL_RETURN_IF_ERROR(resolver.Show());
  if (policy.docker_socket()) {
    ABSL_RETURN_IF_ERROR(resolver.ShowDockerSocket());
  }
  std::vector<std::string> all_secrets = secrets;
  // A home that can be none (empty, "/", relative) is the workload's own affair.
  if (const absl::StatusOr<std::string> folder = CheckPolicyPath(home); folder.ok()) {
    const bool seen = view.Above(*folder) != nullptr;
    if (seen) AddHomeSecrets(*folder, &all_secrets);
    if (policy.private_home() && !seen && !absl::c_linear_search(view.private_folders, *folder)) {
      view.private_folders.push_back(*folder);
    }
  }
  if (!policy.docker_socket()) AddSocketSecrets(&all_secrets);
  if (policy.system()) AddSystem(policy.network() == Policy::Network::kHost, &view);
  ABSL_RETURN_IF_ERROR(resolver.Carve());
  resolver.Hide();
  resolver.HideSecrets(all_secrets);
  return view;
}

}  // namespace berth
