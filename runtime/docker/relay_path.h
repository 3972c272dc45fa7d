// The relay as a file: a path under which this machine's processes can execute it, as long as this
// process lives. What runs from it goes on when this process has ended.
#ifndef BERTH_RUNTIME_DOCKER_RELAY_PATH_H_
#define BERTH_RUNTIME_DOCKER_RELAY_PATH_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace berth {

// The one without TLS; a sealed memfd, made once.
absl::StatusOr<std::string> PlainRelayPath();

// For another one: a memfd of that program, and its path.
absl::StatusOr<int> MakeRelay(std::string_view image);
std::string PathOfRelay(int fd);

}  // namespace berth

#endif  // BERTH_RUNTIME_DOCKER_RELAY_PATH_H_
