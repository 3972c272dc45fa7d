// Checks of the single things that a policy is made of. All input is taken to be hostile; every
// error is InvalidArgument and names the thing.
#ifndef BERTH_SANDBOX_POLICY_CHECK_H_
#define BERTH_SANDBOX_POLICY_CHECK_H_

#include <stddef.h>

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace berth {

// More than any policy needs; each costs a mount at every start.
inline constexpr size_t kMaxPolicyPaths = 1024;
inline constexpr size_t kMaxPolicyDomains = 1024;

// What an error message quotes of a hostile text: printable, and short.
std::string Quoted(absl::string_view text);

// The path without `//`, `/./` and a slash at its end. Refused: relative, `..`, NUL, too long, "/".
absl::StatusOr<std::string> CheckPolicyPath(absl::string_view path);
// In lower case. A name, `*.name` or `name:port`.
absl::StatusOr<std::string> CheckDomain(absl::string_view domain);
absl::Status CheckHostname(absl::string_view name);
// Sorted, without doubles; each known.
absl::StatusOr<std::vector<std::string>> CheckFamilies(std::vector<std::string> families);
// Sorted, without doubles. Whether the kernel has such a call is for the filter's compiler to say.
absl::StatusOr<std::vector<std::string>> CheckSyscallNames(std::vector<std::string> names);

// Whether `path` is `root` or below it.
bool IsBelow(absl::string_view path, absl::string_view root);

// Whether it is a container engine's socket: whoever reaches one is root on the host.
bool IsEngineSocket(absl::string_view path);

}  // namespace berth

#endif  // BERTH_SANDBOX_POLICY_CHECK_H_
