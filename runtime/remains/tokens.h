// Processes by the token of their session, which is in the environment that they were started with.
// How what a session started is found where no cgroup holds it. A program can clear its own copy;
// then it is not found. Reads all of /proc. Thread-safe.
#ifndef BERTH_RUNTIME_REMAINS_TOKENS_H_
#define BERTH_RUNTIME_REMAINS_TOKENS_H_

#include <sys/types.h>

#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/string_view.h"
#include "sandbox/base/unique_fd.h"

namespace berth {

// Pidfds of the processes that have BERTH_TOKEN=`token`, but for this one.
std::vector<UniqueFd> ProcessesWithToken(absl::string_view token);
// The same for any "NAME=value".
std::vector<UniqueFd> ProcessesWithEntry(absl::string_view entry);

// Whether that process has it. False, too, where its environment cannot be read.
bool HasToken(pid_t pid, absl::string_view token);

// Every token that some process but this one has.
absl::flat_hash_set<std::string> TokensInUse();

}  // namespace berth

#endif  // BERTH_RUNTIME_REMAINS_TOKENS_H_
