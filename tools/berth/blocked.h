// What a command's policy has stopped, told at its end.
#ifndef BERTH_TOOLS_BERTH_BLOCKED_H_
#define BERTH_TOOLS_BERTH_BLOCKED_H_

#include <stddef.h>

#include <string>
#include <vector>

#include "sandbox/violation.h"

namespace berth::cli {

// "berth: blocked: connect 1.2.3.4:443 (network: none)", the same ones as one line with their
// number, at most `most` lines and how many there are besides. "" if there is nothing to tell.
std::string DescribeBlocked(const std::vector<Violation>& violations, size_t most = 10);

// On standard error. What cannot be asked for any more is not told.
void ReportBlocked(const std::vector<Violation>& violations);

}  // namespace berth::cli

#endif  // BERTH_TOOLS_BERTH_BLOCKED_H_
