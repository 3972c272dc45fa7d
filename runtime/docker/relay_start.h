// Starting relays: the program itself, and word of how a start went.
#ifndef BERTH_RUNTIME_DOCKER_RELAY_START_H_
#define BERTH_RUNTIME_DOCKER_RELAY_START_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "runtime/record/store.h"
#include "sandbox/base/unique_fd.h"

namespace berth {

// See relay_path.h. There are two: one that can talk to an engine with TLS, and a small one.
absl::StatusOr<std::string> RelayPath(bool tls);

// The filter of system calls of a session's programs, kept in its folder: those that come by Exec
// are under it too. "" is none.
absl::Status KeepFilter(const Store& store, const std::string& uid, absl::string_view filter);
absl::StatusOr<std::string> KeptFilter(const Store& store, const std::string& uid);

// A fifo in a session's folder in which a relay tells how the start of its program went. Removes
// it when it ends.
class StartReport {
 public:
  static absl::StatusOr<StartReport> Make(const Store& store, const std::string& uid);
  StartReport(StartReport&&) = default;
  ~StartReport();

  const std::string& path() const { return path_; }
  // Waits for it. `program` and `cwd` are named in the error; `gone_fd` becomes readable if the
  // relay ends without a word.
  absl::Status Wait(absl::string_view program, absl::string_view cwd, int gone_fd,
                    absl::Time deadline) const;

 private:
  StartReport() = default;
  std::string path_, name_;
  UniqueFd folder_, fifo_;
};

}  // namespace berth

#endif  // BERTH_RUNTIME_DOCKER_RELAY_START_H_
