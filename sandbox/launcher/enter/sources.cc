#include "sandbox/launcher/enter/sources.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <string>
#include <string_view>
#include <vector>

#include "sandbox/launcher/enter/mount_api.h"

namespace berth::launcher {
namespace {

using Kind = SandboxMount::Kind;

bool IsBelow(std::string_view path, std::string_view folder) {
  return path.size() > folder.size() && path.substr(0, folder.size()) == folder &&
         (folder.back() == '/' || path[folder.size()] == '/');
}

bool IsBelowWritable(const SandboxPlan& plan, size_t index, const std::string& path) {
  for (size_t i = 0; i < index; ++i) {
    const SandboxMount& other = plan.mounts[i];
    // What is kept of a copy-on-write folder becomes the source of another.
    const bool writable =
        (other.kind == Kind::kBind && !other.read_only) || other.kind == Kind::kOverlay;
    if (writable && !other.source.empty() && IsBelow(path, other.source)) return true;
  }
  return false;
}

SourceIdentity From(const struct stat& st) { return {st.st_dev, st.st_ino}; }

}  // namespace

SourceIdentity SourceIdentity::Of(int fd) {
  struct stat st;
  return fstat(fd, &st) == 0 ? From(st) : SourceIdentity();
}

UniqueFd OpenSource(const SandboxPlan& plan, size_t index, const std::string& path) {
  if (path.empty() || path[0] != '/') {
    errno = EINVAL;
    return UniqueFd();
  }
  uint64_t resolve = RESOLVE_NO_MAGICLINKS;
  if (IsBelowWritable(plan, index, path)) resolve |= RESOLVE_NO_SYMLINKS;
  return UniqueFd(OpenAt2(AT_FDCWD, path.c_str(), O_PATH, resolve));
}

bool SourcesAreStill(const SandboxPlan& plan, const std::vector<SourceIdentity>& bound) {
  if (bound.size() != plan.mounts.size()) return false;
  for (size_t i = 0; i < plan.mounts.size(); ++i) {
    const SandboxMount& mount = plan.mounts[i];
    if (mount.kind != Kind::kBind) continue;
    SourceIdentity now;
    struct stat st;
    if (IsBelowWritable(plan, i, mount.source)) {
      const UniqueFd fd = OpenSource(plan, i, mount.source);
      if (fd.ok()) now = SourceIdentity::Of(fd.get());
    } else if (stat(mount.source.c_str(), &st) == 0) {
      now = From(st);
    }
    if (!(now == bound[i])) return false;
  }
  return true;
}

}  // namespace berth::launcher
