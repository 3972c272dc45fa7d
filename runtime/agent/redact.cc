#include "runtime/agent/redact.h"

#include <stdint.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "re2/re2.h"
#include "re2/set.h"

namespace berth {
namespace {

constexpr size_t kShortestValue = 6;

// In order: what has a known beginning, then what stands behind a telling word.
constexpr absl::string_view kDefaults[] = {
    R"(\b(?:sk|pk|rk)-[A-Za-z0-9_-]{16,})",                             // OpenAI, Anthropic, Stripe
    R"(\bgh[pousr]_[A-Za-z0-9]{20,}|\bgithub_pat_[A-Za-z0-9_]{20,})",   // GitHub
    R"(\bglpat-[A-Za-z0-9_-]{16,}|\bxox[abposr]-[A-Za-z0-9-]{10,})",    // GitLab, Slack
    R"(\bAIza[A-Za-z0-9_-]{30,}|\bya29\.[A-Za-z0-9_-]{20,})",           // Google
    R"(\b(?:AKIA|ASIA)[A-Z0-9]{16}\b)",                                 // AWS
    R"(\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,})",  // JWT
    R"((?s)-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\z))",
    R"((?i)authorization\\?["']?\s*[:=]\s*\\?["']?(?:(?:bearer|basic|token)\s+)?([^\s"'\\,;&]{6,}))",
    R"((?i)\b(?:bearer|basic)\s+([A-Za-z0-9._~+/=-]{12,}))",
    R"((?i)(?:api[_-]?key|secret|token|passw(?:or)?d)\\?["']?\s*[:=]\s*\\?["']?([^\s"'\\,;&]{6,}))",
    R"(\b[a-z][a-z0-9+.-]*://[^/\s:@"']*:([^/\s@"']{3,})@)",  // a password in a URL
};

// Replaces each match, or its first group, by the mark.
std::string Replace(const RE2& pattern, std::string text) {
  if (!RE2::PartialMatch(text, pattern)) return text;
  const int group = pattern.NumberOfCapturingGroups() > 0 ? 1 : 0;
  std::string out;
  size_t done = 0, from = 0;
  absl::string_view found[2];
  while (from <= text.size() && pattern.Match(text, from, text.size(), RE2::UNANCHORED, found, 2)) {
    const absl::string_view secret = found[group].data() == nullptr ? found[0] : found[group];
    const size_t begin = static_cast<size_t>(secret.data() - text.data());
    const size_t end = static_cast<size_t>(found[0].data() - text.data()) + found[0].size();
    if (!secret.empty()) {
      out.append(text, done, begin - done);
      out.append(kRedacted);
      done = begin + secret.size();
    }
    from = std::max(end, from + (found[0].empty() ? 1 : 0));
    if (found[0].empty() && from == end) ++from;
  }
  out.append(text, std::min(done, text.size()));
  return out;
}

}  // namespace

absl::StatusOr<Redactor> Redactor::Create(const RedactOptions& options) {
  RE2::Options quiet;
  quiet.set_log_errors(false);
  quiet.set_encoding(RE2::Options::EncodingLatin1);  // texts may be any bytes
  RE2::Options roomy = quiet;
  roomy.set_max_mem(int64_t{64} << 20);
  auto any = std::make_shared<RE2::Set>(roomy, RE2::UNANCHORED);
  Redactor redactor;
  const auto add = [&](absl::string_view pattern) {
    redactor.patterns_.push_back(std::make_shared<const RE2>(pattern, quiet));
    const RE2& made = *redactor.patterns_.back();
    std::string error = made.error();
    if (made.ok() && any->Add(pattern, &error) >= 0) return absl::OkStatus();
    return absl::InvalidArgumentError(absl::StrCat("redaction pattern '", pattern, "': ", error));
  };
  for (const std::string& value : options.values) {
    if (value.size() < kShortestValue) continue;
    if (absl::Status status = add(RE2::QuoteMeta(value)); !status.ok()) return status;
  }
  for (const std::string& pattern : options.patterns) {
    if (absl::Status status = add(pattern); !status.ok()) return status;
  }
  if (options.defaults) {
    for (const absl::string_view pattern : kDefaults) {
      if (absl::Status status = add(pattern); !status.ok()) return status;
    }
  }
  if (any->Compile()) redactor.any_ = std::move(any);
  return redactor;
}

std::string Redactor::Redact(std::string text) const {
  std::vector<int> found;
  RE2::Set::ErrorInfo error{RE2::Set::kNoError};
  const bool known =
      any_ != nullptr && (any_->Match(text, &found, &error) || error.kind == RE2::Set::kNoError);
  // If it ran out of memory, each is looked for by itself.
  for (size_t i = 0; i < patterns_.size(); ++i) {
    if (known && !absl::c_linear_search(found, static_cast<int>(i))) continue;
    text = Replace(*patterns_[i], std::move(text));
  }
  return text;
}

std::vector<std::string> Redactor::SecretsOf(const std::vector<std::string>& environment) {
  static const RE2* const telling = new RE2("(?i)(KEY|TOKEN|SECRET|PASSW|CREDENTIAL)[A-Z0-9_]*$");
  std::vector<std::string> secrets;
  for (const std::string& entry : environment) {
    const size_t equals = entry.find('=');
    if (equals == std::string::npos) continue;
    const absl::string_view key = absl::string_view(entry).substr(0, equals);
    if (RE2::PartialMatch(key, *telling)) secrets.push_back(entry.substr(equals + 1));
  }
  return secrets;
}

}  // namespace berth
