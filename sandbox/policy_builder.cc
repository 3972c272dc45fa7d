#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/status/status_macros.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "sandbox/policy.h"
#include "sandbox/policy_check.h"
#include "sandbox/policy_data.h"

namespace berth {
namespace {

constexpr int64_t kMostBytes = int64_t{1} << 60;

bool IsWritable(Policy::Access access) {
  return access == Policy::Access::kReadWrite || access == Policy::Access::kCopyOnWrite;
}

// What only the whole list shows: places listed twice, carve-outs of what is not writable.
absl::Status CheckPlaces(const std::vector<Policy::Path>& paths,
                         const std::vector<std::string>& tmpfs) {
  absl::flat_hash_set<absl::string_view> seen, writable(tmpfs.begin(), tmpfs.end());
  for (const Policy::Path& path : paths) {
    if (!seen.insert(path.seen()).second) {
      return absl::InvalidArgumentError(
          absl::StrCat("path ", Quoted(path.seen()), ": it is listed twice"));
    }
    if (IsWritable(path.access)) writable.insert(path.seen());
  }
  for (const std::string& place : tmpfs) {
    if (!seen.insert(place).second) {
      return absl::InvalidArgumentError(
          absl::StrCat("path ", Quoted(place), ": it is listed twice"));
    }
  }
  for (const Policy::Path& path : paths) {
    if (path.access != Policy::Access::kCarve) continue;
    absl::string_view above = path.seen();
    do {
      above = above.substr(0, above.rfind('/'));
    } while (!above.empty() && !writable.contains(above));
    if (above.empty()) {
      return absl::InvalidArgumentError(
          absl::StrCat("path ", Quoted(path.seen()),
                       ": nothing above it is writable, so nothing can be carved"));
    }
  }
  return absl::OkStatus();
}

}  // namespace

Policy::Builder::Builder() : data_(std::make_unique<Data>()) {}
Policy::Builder::Builder(const Policy& policy) : data_(std::make_unique<Data>(*policy.data_)) {}
Policy::Builder::Builder(const Builder& other)
    : data_(std::make_unique<Data>(*other.data_)), status_(other.status_) {}
Policy::Builder& Policy::Builder::operator=(const Builder& other) {
  data_ = std::make_unique<Data>(*other.data_);
  status_ = other.status_;
  return *this;
}
// A builder that was moved from is as new.
Policy::Builder::Builder(Builder&& other) noexcept : Builder() { *this = std::move(other); }
Policy::Builder& Policy::Builder::operator=(Builder&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(status_, other.status_);
  return *this;
}
Policy::Builder::~Builder() = default;

void Policy::Builder::Fail(absl::Status status) {
  if (status_.ok()) status_ = std::move(status);
}

Policy::Builder& Policy::Builder::System() {
  data_->system = true;
  return *this;
}
Policy::Builder& Policy::Builder::PrivateHome() {
  data_->private_home = true;
  return *this;
}

Policy::Builder& Policy::Builder::Add(Path path) {
  // Not even the first error is worth more memory than this.
  if (data_->paths.size() >= kMaxPolicyPaths) {
    Fail(absl::InvalidArgumentError(absl::StrCat("path ", Quoted(path.path), ": more than ",
                                                 kMaxPolicyPaths, " paths are listed")));
    return *this;
  }
  absl::StatusOr<std::string> outer = CheckPolicyPath(path.path);
  if (!outer.ok()) Fail(outer.status());
  if (outer.ok()) path.path = *std::move(outer);
  if (!path.inside.empty()) {
    absl::StatusOr<std::string> inner = CheckPolicyPath(path.inside);
    if (!inner.ok()) Fail(inner.status());
    if (inner.ok()) path.inside = *inner == path.path ? "" : *std::move(inner);
  }
  if (path.access < Access::kReadOnly || path.access > Access::kCopyOnWrite) {
    Fail(absl::InvalidArgumentError(absl::StrCat("path ", Quoted(path.path), ": access ",
                                                 static_cast<int>(path.access), " is not known")));
  }
  const bool of_the_view = path.access == Access::kHidden || path.access == Access::kCarve;
  if (of_the_view && !path.inside.empty()) {
    Fail(absl::InvalidArgumentError(absl::StrCat(
        "path ", Quoted(path.path), ": what is hidden or carved out is not seen elsewhere")));
  }
  if (path.access == Access::kHidden) path.optional = false;  // what is not there is hidden anyway
  if (!of_the_view && IsEngineSocket(path.path)) {
    Fail(absl::InvalidArgumentError(
        absl::StrCat("path ", Quoted(path.path),
                     ": an engine's socket is root on the host; it takes "
                     "Relax(dangerous::RawDockerSocket())")));
  }
  if (status_.ok()) data_->paths.push_back(std::move(path));
  return *this;
}

Policy::Builder& Policy::Builder::ReadOnly(absl::string_view path) {
  return Add({.path = std::string(path), .access = Access::kReadOnly});
}
Policy::Builder& Policy::Builder::ReadOnlyIfThere(absl::string_view path) {
  return Add({.path = std::string(path), .access = Access::kReadOnly, .optional = true});
}
Policy::Builder& Policy::Builder::ReadWrite(absl::string_view path) {
  return Add({.path = std::string(path), .access = Access::kReadWrite});
}
Policy::Builder& Policy::Builder::ReadWriteIfThere(absl::string_view path) {
  return Add({.path = std::string(path), .access = Access::kReadWrite, .optional = true});
}
Policy::Builder& Policy::Builder::CopyOnWrite(absl::string_view path) {
  if (const absl::StatusOr<std::string> clean = CheckPolicyPath(path); clean.ok()) {
    for (Path& listed : data_->paths) {
      if (listed.path != *clean || listed.access != Access::kReadWrite) continue;
      listed.access = Access::kCopyOnWrite;
      return *this;
    }
  }
  return Add({.path = std::string(path), .access = Access::kCopyOnWrite});
}
Policy::Builder& Policy::Builder::Hide(absl::string_view path) {
  return Add({.path = std::string(path), .access = Access::kHidden});
}
Policy::Builder& Policy::Builder::Carve(absl::string_view path) {
  return Add({.path = std::string(path), .access = Access::kCarve});
}
Policy::Builder& Policy::Builder::CarveIfThere(absl::string_view path) {
  return Add({.path = std::string(path), .access = Access::kCarve, .optional = true});
}
Policy::Builder& Policy::Builder::BindTo(absl::string_view path, absl::string_view inside,
                                         Access access) {
  if (inside.empty()) {
    Fail(absl::InvalidArgumentError(
        absl::StrCat("path ", Quoted(path), ": the place inside is empty")));
  }
  return Add({.path = std::string(path), .inside = std::string(inside), .access = access});
}
Policy::Builder& Policy::Builder::Tmpfs(absl::string_view path) {
  absl::StatusOr<std::string> clean = CheckPolicyPath(path);
  if (!clean.ok()) {
    Fail(clean.status());
  } else if (data_->tmpfs.size() >= kMaxPolicyPaths) {
    Fail(absl::InvalidArgumentError(
        absl::StrCat("path ", Quoted(path), ": more than ", kMaxPolicyPaths, " paths are listed")));
  } else {
    data_->tmpfs.push_back(*std::move(clean));
  }
  return *this;
}

Policy::Builder& Policy::Builder::NoNetwork() {
  data_->network = Network::kNone;
  data_->domains.clear();
  return *this;
}
Policy::Builder& Policy::Builder::AllowDomains(std::vector<std::string> domains) {
  data_->network = Network::kAllowList;
  data_->domains.clear();
  if (domains.size() > kMaxPolicyDomains) {
    Fail(absl::InvalidArgumentError(
        absl::StrCat(domains.size(), " domains: at most ", kMaxPolicyDomains, " can be listed")));
    return *this;
  }
  for (const std::string& domain : domains) {
    absl::StatusOr<std::string> clean = CheckDomain(domain);
    if (clean.ok() && absl::c_linear_search(data_->domains, *clean)) {
      clean = absl::InvalidArgumentError(
          absl::StrCat("domain ", Quoted(domain), ": it is listed twice"));
    }
    if (!clean.ok()) {
      Fail(clean.status());
      return *this;
    }
    data_->domains.push_back(*std::move(clean));
  }
  return *this;
}
Policy::Builder& Policy::Builder::SocketFamilies(std::vector<std::string> families) {
  absl::StatusOr<std::vector<std::string>> clean = CheckFamilies(std::move(families));
  if (!clean.ok()) Fail(clean.status());
  if (clean.ok()) data_->socket_families = *std::move(clean);
  return *this;
}
Policy::Builder& Policy::Builder::DenySyscalls(std::vector<std::string> names) {
  absl::StatusOr<std::vector<std::string>> clean = CheckSyscallNames(std::move(names));
  if (!clean.ok()) Fail(clean.status());
  if (clean.ok()) data_->denied_syscalls = *std::move(clean);
  return *this;
}
Policy::Builder& Policy::Builder::Debugging() {
  data_->debugging = true;
  return *this;
}
Policy::Builder& Policy::Builder::ReportFiles() {
  data_->report_files = true;
  return *this;
}

Policy::Builder& Policy::Builder::Number(absl::string_view what, int64_t value, int64_t least,
                                         int64_t most, int64_t* field) {
  if (value < least || value > most) {
    Fail(absl::InvalidArgumentError(
        absl::StrCat("limit '", what, "': ", value, " is not between ", least, " and ", most)));
  } else {
    *field = value;
  }
  return *this;
}
Policy::Builder& Policy::Builder::Memory(int64_t bytes) {
  // Below this not even a shell starts.
  return Number("memory", bytes, 1 << 20, kMostBytes, &data_->limits.memory_bytes);
}
Policy::Builder& Policy::Builder::Swap(int64_t bytes) {
  return Number("swap", bytes, 0, kMostBytes, &data_->limits.swap_bytes);
}
Policy::Builder& Policy::Builder::Pids(int64_t count) {
  return Number("pids", count, 1, 1 << 22, &data_->limits.pids);
}
Policy::Builder& Policy::Builder::Cpus(double cores) {
  // Written so that NaN is refused too.
  if (!(cores >= 0.01 && cores <= 65536)) {
    Fail(absl::InvalidArgumentError(
        absl::StrCat("limit 'cpus': ", cores, " is not between 0.01 and 65536")));
  } else {
    data_->limits.cpus = std::round(cores * 1000) / 1000;
  }
  return *this;
}
Policy::Builder& Policy::Builder::Wall(absl::Duration time) {
  if (time == absl::InfiniteDuration()) {
    data_->limits.wall = time;
  } else if (time < absl::Milliseconds(1) || time > absl::Hours(24 * 365 * 100)) {
    Fail(absl::InvalidArgumentError(absl::StrCat("limit 'wall': ", absl::FormatDuration(time),
                                                 " is not between 1ms and 100 years")));
  } else {
    data_->limits.wall = absl::Floor(time, absl::Milliseconds(1));
  }
  return *this;
}
Policy::Builder& Policy::Builder::FileSize(int64_t bytes) {
  return Number("file_size", bytes, 0, kMostBytes, &data_->limits.file_bytes);
}
Policy::Builder& Policy::Builder::OpenFiles(int64_t count) {
  // Up to the kernel's own fs.nr_open.
  return Number("open_files", count, 8, 1 << 20, &data_->limits.open_files);
}
Policy::Builder& Policy::Builder::TmpSize(int64_t bytes) {
  return Number("tmp_size", bytes, 4096, kMostBytes, &data_->limits.tmp_bytes);
}

Policy::Builder& Policy::Builder::Tier(berth::Tier tier) {
  if (tier > berth::Tier::kLandlock) {
    Fail(
        absl::InvalidArgumentError(absl::StrCat("tier ", static_cast<int>(tier), " is not known")));
  } else {
    data_->tier = tier;
  }
  return *this;
}
Policy::Builder& Policy::Builder::Hostname(absl::string_view name) {
  if (absl::Status status = CheckHostname(name); !status.ok()) {
    Fail(std::move(status));
  } else {
    data_->hostname = std::string(name);
  }
  return *this;
}

Policy::Builder& Policy::Builder::Relax(const dangerous::HostNetwork&) {
  data_->network = Network::kHost;
  data_->domains.clear();
  return *this;
}
Policy::Builder& Policy::Builder::Relax(const dangerous::HostPidNamespace&) {
  data_->host_pid_namespace = true;
  return *this;
}
Policy::Builder& Policy::Builder::Relax(const dangerous::InheritedEnvironment&) {
  data_->inherited_environment = true;
  return *this;
}
Policy::Builder& Policy::Builder::Relax(const dangerous::RawDockerSocket&) {
  data_->docker_socket = true;
  return *this;
}
Policy::Builder& Policy::Builder::Relax(const dangerous::SeccompOff&) {
  data_->seccomp_off = true;
  return *this;
}
Policy::Builder& Policy::Builder::Relax(const dangerous::NestedUserNamespaces&) {
  data_->nested_user_namespaces = true;
  return *this;
}

absl::StatusOr<Policy> Policy::Builder::Build() const {
  ABSL_RETURN_IF_ERROR(status_);
  ABSL_RETURN_IF_ERROR(CheckPlaces(data_->paths, data_->tmpfs));
  if (data_->limits.swap_bytes >= 0 && data_->limits.memory_bytes < 0) {
    return absl::InvalidArgumentError("limit 'swap': it needs a limit of memory");
  }
  return Policy(std::make_shared<Data>(*data_));
}

}  // namespace berth
