#include "tools/berth/policy_options.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/status/status.h"
#include "absl/status/status_macros.h"
#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "sandbox/base/errno_status.h"
#include "sandbox/base/unique_fd.h"
#include "sandbox/dangerous.h"
#include "sandbox/policy.h"
#include "tools/berth/exit_code.h"
#include "tools/berth/options.h"

namespace berth::cli {
namespace {

constexpr size_t kMostText = 16 << 20;

CLI::Option* AddPaths(CLI::App* app, const std::string& name, std::vector<std::string>* paths,
                      const std::string& help) {
  return app->add_option(name, *paths, help)
      ->type_name("PATH")
      ->expected(1)
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

}  // namespace

absl::StatusOr<int64_t> ParseBytes(absl::string_view text) {
  absl::string_view digits = text;
  int shift = 0;
  for (const auto& [unit, bits] : {std::pair("K", 10), {"M", 20}, {"G", 30}, {"T", 40}}) {
    if (absl::ConsumeSuffix(&digits, unit)) {
      shift = bits;
      break;
    }
  }
  int64_t number;
  if (!absl::SimpleAtoi(digits, &number) || number < 0 || number > (INT64_MAX >> shift)) {
    return absl::InvalidArgumentError(
        absl::StrCat("'", text, "' is no size; write 512M, 2G or a number of bytes"));
  }
  return number << shift;
}

void PolicyOptions::AddTo(CLI::App* app) {
  app->add_option("--policy", file_, "Run under the policy in this file")->type_name("FILE");
  AddChoice(app, "--preset", &preset_, {"agent", "build", "strict"},
            "Run under this policy, with the working directory as workspace (default of the "
            "options below: agent)");
  AddPaths(app, "--ro", &read_only_, "Let it see this too");
  AddPaths(app, "--rw", &read_write_, "Let it write here too");
  AddPaths(app, "--hide", &hidden_, "Show this as empty");
  app->add_option("--net", net_, "Network: nothing but its own loopback, the host's, or domains")
      ->type_name("none|host|allow:DOMAIN,…");
  app->add_option_function<std::string>(
         "--mem",
         [this](const std::string& text) {
           const absl::StatusOr<int64_t> bytes = ParseBytes(text);
           if (!bytes.ok()) {
             throw CLI::ValidationError("--mem", std::string(bytes.status().message()));
           }
           memory_ = *bytes;
         },
         "Limit of memory of all its processes")
      ->type_name("SIZE");
  app->add_option("--pids", pids_, "Limit of processes and threads")->type_name("COUNT");
  app->add_option("--cpus", cpus_, "Limit of CPU time, in cores")->type_name("CORES");
  AddChoice(app, "--tier", &tier_, {"auto", "namespaces", "pooled", "landlock"},
            "How the policy is enforced; see 'berth doctor'");
}

bool PolicyOptions::any() const {
  return !file_.empty() || !preset_.empty() || !net_.empty() || !tier_.empty() ||
         !read_only_.empty() || !read_write_.empty() || !hidden_.empty() || memory_ != -1 ||
         pids_ != -1 || cpus_ != -1;
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
