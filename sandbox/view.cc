#include "sandbox/view.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/status/status_macros.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "sandbox/base/errno_status.h"
#include "sandbox/carve.h"
#include "sandbox/policy_check.h"
#include "sandbox/system_view.h"

namespace berth {
namespace {

using Access = Policy::Access;

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

absl::Status Resolver::Carve() {
  for (const Policy::Path& path : policy_.paths()) {
    if (path.access != Access::kCarve) continue;
    const std::string target = InView(path.path);
    const View::Shown* above = view_.Above(target);
    if (above != nullptr && !above->folder && target != above->target) {
      return absl::InvalidArgumentError(
          absl::StrCat("carve-out ", Quoted(path.path), ": ", above->source, " is no folder"));
    }
    CarveOut(target, path.optional, &view_);
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
    for (std::string& target : view_.TargetsOf(real)) {
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

std::vector<std::string> View::TargetsOf(absl::string_view source) const {
  std::vector<std::string> targets;
  for (const Shown& one : shown) {
    if (!IsBelow(source, one.source)) continue;
    targets.push_back(absl::StrCat(one.target, source.substr(one.source.size())));
    // Unless something else is mounted above it there.
    if (Above(targets.back()) != &one) targets.pop_back();
  }
  return targets;
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
