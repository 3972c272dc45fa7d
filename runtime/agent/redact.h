// Redactor: takes secrets out of what is written to disk, by pattern and by value.
//
//   ABSL_ASSIGN_OR_RETURN(Redactor redactor, Redactor::Create({.patterns = {"corp-[0-9]+"}}));
//   redactor.Redact("key sk-ant-…")   // "key [redacted]"
//
// RE2: linear in the length of the text whatever the pattern. A value; const use from any thread.
#ifndef BERTH_RUNTIME_AGENT_REDACT_H_
#define BERTH_RUNTIME_AGENT_REDACT_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "re2/re2.h"
#include "re2/set.h"

namespace berth {

inline constexpr absl::string_view kRedacted = "[redacted]";

struct RedactOptions {
  bool defaults = true;                    // the forms of keys and tokens that are well known
  std::vector<std::string> patterns = {};  // RE2; if one has a group, the first group is the secret
  std::vector<std::string> values = {};    // secrets themselves; ones of under 6 bytes are ignored
};

class Redactor {
 public:
  // InvalidArgument names the pattern that is none.
  static absl::StatusOr<Redactor> Create(const RedactOptions& options);

  std::string Redact(std::string text) const;

  // The values, among "KEY=value" entries, of variables that are named like secrets.
  static std::vector<std::string> SecretsOf(const std::vector<std::string>& environment);

 private:
  Redactor() = default;

  std::vector<std::shared_ptr<const RE2>> patterns_;
  // All of them at once: most texts hold no secret, and one look tells.
  std::shared_ptr<const RE2::Set> any_;
};

}  // namespace berth

#endif  // BERTH_RUNTIME_AGENT_REDACT_H_
