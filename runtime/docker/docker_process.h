// A process that was started in a session's container: a relay here, the program there.
#ifndef BERTH_RUNTIME_DOCKER_DOCKER_PROCESS_H_
#define BERTH_RUNTIME_DOCKER_DOCKER_PROCESS_H_

#include <stdint.h>

#include <atomic>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "runtime/process.h"
#include "runtime/types.h"
#include "sandbox/base/unique_fd.h"

namespace berth {

class DockerProcess final : public Process {
 public:
  explicit DockerProcess(std::unique_ptr<Process> relay) : relay_(std::move(relay)) {}
  // Ends the tree in the container: it sees its relay go, and is told before.
  ~DockerProcess() override;

  pid_t pid() const override { return 0; }
  bool is_pty() const override { return relay_->is_pty(); }
  StartTiming timing() const override { return relay_->timing(); }
  absl::StatusOr<UniqueFd> TakeStdin() override { return relay_->TakeStdin(); }
  absl::StatusOr<UniqueFd> TakeStdout() override { return relay_->TakeStdout(); }
  absl::StatusOr<UniqueFd> TakeStderr() override { return relay_->TakeStderr(); }
  absl::Status Resize(TerminalSize size) override { return relay_->Resize(size); }
  absl::Status Signal(int signal) override;
  absl::StatusOr<ExitStatus> Stop(absl::Duration grace) override;
  absl::StatusOr<ExitStatus> Wait(absl::Time deadline) override;
  absl::StatusOr<UniqueFd> ExitFd() override { return relay_->ExitFd(); }
  // Unimplemented: an engine counts containers, not processes.
  absl::StatusOr<Stats> GetStats() override;

 private:
  const std::unique_ptr<Process> relay_;
  std::atomic<uint64_t> sent_ = 0;  // bit n - 1 is signal n
  std::atomic<bool> stopping_ = false;
};

}  // namespace berth

#endif  // BERTH_RUNTIME_DOCKER_DOCKER_PROCESS_H_
