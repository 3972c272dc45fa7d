// Whole streams, where nothing else has to be done meanwhile.
#ifndef BERTH_TOOLS_BERTH_STREAMS_H_
#define BERTH_TOOLS_BERTH_STREAMS_H_

#include <stdint.h>

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace berth::cli {

// Everything until end of file.
absl::StatusOr<std::string> ReadAll(int fd);

// Copies from `fd` to standard output until end of file or `limit` bytes.
absl::Status CopyOut(int fd, int64_t limit);

}  // namespace berth::cli

#endif  // BERTH_TOOLS_BERTH_STREAMS_H_
