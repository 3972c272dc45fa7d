#include "tools/berth/policy_options.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/status_macros.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "sandbox/base/errno_status.h"
#include "sandbox/base/unique_fd.h"
#include "sandbox/dangerous.h"
#include "sandbox/policy.h"
#include "tools/berth/arguments.h"
#include "tools/berth/exit_code.h"
#include "tools/berth/options.h"

namespace berth::cli {
namespace {

constexpr size_t kMostText = 16 << 20;

void AddPaths(Arguments* arguments, const std::string& name, std::vector<std::string>* paths,
              const std::string& help) {
  arguments->Texts(name, paths, "PATH", help).Completes(Completion::kFile);
}

}  // namespace

void PolicyOptions::AddTo(Arguments* arguments) {
  arguments->Text("--policy", &file_, "FILE", "Run under the policy in this file")
      .Completes(Completion::kFile);
  arguments->Choice(
      "--preset", &preset_, {"agent", "build", "strict"},
      "Run under this policy, with the working directory as workspace (default of the "
      "options below: agent)");
  arguments->Choice("--workspace", &workspace_, {"rw", "cow"},
                    "Changes in the workspace are made there, or (cow) kept apart: see 'berth "
                    "changes'");
  AddPaths(arguments, "--ro", &read_only_, "Let it see this too");
  AddPaths(arguments, "--rw", &read_write_, "Let it write here too");
  AddPaths(arguments, "--hide", &hidden_, "Show this as empty");
  arguments->Text("--net", &net_, "none|host|allow:DOMAIN,…",
                  "Network: nothing but its own loopback, the host's, or domains");
  AddBytes(arguments, "--mem", &memory_, "Limit of memory of all its processes");
  arguments->Number("--pids", &pids_, "COUNT", "Limit of processes and threads");
  arguments->Decimal("--cpus", &cpus_, "CORES", "Limit of CPU time, in cores");
  arguments->Flag("--report-files", &report_files_,
                  "Tell of the files that it was kept from too; each open costs more then");
  arguments->Choice("--tier", &tier_, {"auto", "namespaces", "pooled", "landlock"},
                    "How the policy is enforced; see 'berth doctor'");
}

bool PolicyOptions::any() const {
  return !file_.empty() || !preset_.empty() || !net_.empty() || !tier_.empty() ||
         !workspace_.empty() || !read_only_.empty() || !read_write_.empty() || !hidden_.empty() ||
         memory_ != -1 || pids_ != -1 || cpus_ != -1 || report_files_;
}

absl::StatusOr<Policy::Builder> PolicyOptions::Base(absl::string_view workspace) const {
  if (!file_.empty()) {
    if (!preset_.empty()) return UsageError("give --policy or --preset, not both");
    ABSL_ASSIGN_OR_RETURN(const Policy policy, ReadPolicy(file_));
    return Policy::Builder(policy);
  }
  if (preset_ == "strict") return Policy::Strict();
  ABSL_ASSIGN_OR_RETURN(const std::string folder, AbsolutePath(workspace));
  return Policy::Preset(preset_.empty() ? "agent" : preset_, folder);
}

absl::Status PolicyOptions::SetNetwork(Policy::Builder* builder) const {
  absl::string_view domains = net_;
  if (net_ == "none") {
    builder->NoNetwork();
  } else if (net_ == "host") {
    builder->Relax(dangerous::HostNetwork());
  } else if (absl::ConsumePrefix(&domains, "allow:")) {
    builder->AllowDomains(absl::StrSplit(domains, ','));
  } else if (!net_.empty()) {
    return UsageError(absl::StrCat("--net: '", net_, "' is none of none, host, allow:DOMAIN,…"));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::optional<Policy>> PolicyOptions::ToPolicy(absl::string_view workspace,
                                                              bool inherits) const {
  if (!any()) return std::nullopt;
  ABSL_ASSIGN_OR_RETURN(Policy::Builder builder, Base(workspace));
  if (copy_on_write()) {
    if (preset_ == "strict") return UsageError("--workspace cow: the preset strict has none");
    ABSL_ASSIGN_OR_RETURN(const std::string folder, AbsolutePath(workspace));
    builder.CopyOnWrite(folder);
  }
  for (const std::string& path : read_only_) {
    ABSL_ASSIGN_OR_RETURN(const std::string absolute, AbsolutePath(path));
    builder.ReadOnly(absolute);
  }
  for (const std::string& path : read_write_) {
    ABSL_ASSIGN_OR_RETURN(const std::string absolute, AbsolutePath(path));
    builder.ReadWrite(absolute);
  }
  for (const std::string& path : hidden_) {
    ABSL_ASSIGN_OR_RETURN(const std::string absolute, AbsolutePath(path));
    builder.Hide(absolute);
  }
  ABSL_RETURN_IF_ERROR(SetNetwork(&builder));
  if (memory_ != -1) builder.Memory(memory_);
  if (pids_ != -1) builder.Pids(pids_);
  if (cpus_ != -1) builder.Cpus(cpus_);
  if (report_files_) builder.ReportFiles();
  if (!tier_.empty()) {
    ABSL_ASSIGN_OR_RETURN(const Tier tier, TierFromName(tier_));
    builder.Tier(tier);
  }
  if (inherits) builder.Relax(dangerous::InheritedEnvironment());
  return builder.Build();
}

absl::StatusOr<Policy> ReadPolicy(const std::string& file) {
  const std::string what = absl::StrCat("read policy '", file, "'");
  const UniqueFd fd(open(file.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.ok()) return ErrnoStatus(errno, what);
  std::string text;
  char buffer[1 << 16];
  for (ssize_t n; (n = read(fd.get(), buffer, sizeof(buffer))) != 0;) {
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return ErrnoStatus(errno, what);
    text.append(buffer, static_cast<size_t>(n));
    if (text.size() > kMostText)
      return absl::InvalidArgumentError(absl::StrCat(what, ": too large"));
  }
  absl::StatusOr<Policy> policy = Policy::FromText(text, dangerous::TrustedText());
  if (policy.ok()) return policy;
  return absl::Status(policy.status().code(), absl::StrCat(what, ": ", policy.status().message()));
}

}  // namespace berth::cli
