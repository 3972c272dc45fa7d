// A process that the launcher or a keeper has started.
#ifndef BERTH_RUNTIME_NATIVE_NATIVE_PROCESS_H_
#define BERTH_RUNTIME_NATIVE_NATIVE_PROCESS_H_

#include <stdint.h>

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "runtime/process.h"
#include "runtime/spec.h"
#include "runtime/types.h"
#include "sandbox/base/unique_fd.h"
#include "sandbox/launcher/client.h"
#include "sandbox/launcher/protocol.h"

namespace berth {

// The two ends of each stream of a process that is about to start.
struct ProcessStreams {
  // Makes what `spec` asks for.
  static absl::StatusOr<ProcessStreams> Make(const ProcessSpec& spec);

  // For the program: -1 is /dev/null. Of the caller's where it gave one, else of `made`.
  int theirs[3] = {-1, -1, -1};
  UniqueFd made[3];
  UniqueFd stdin_, stdout_,
      stderr_;  // for the caller; with a terminal, both of its sides are the master
};

class NativeProcess final : public Process {
 public:
  // Asks for TERM, grace, KILL of the whole tree.
  using Stopper = std::function<absl::Status(absl::Duration grace)>;

  // Asks whoever started it what its sandbox has stopped: see native_violations.h.
  using Asker = std::function<absl::StatusOr<std::string>()>;

  NativeProcess(launcher::Spawned spawned, ProcessStreams streams, bool pty, Stopper stopper,
                Asker violations = nullptr);
  ~NativeProcess() override;

  pid_t pid() const override { return spawned_.pid; }
  bool is_pty() const override { return pty_; }
  StartTiming timing() const override;
  absl::StatusOr<UniqueFd> TakeStdin() override;
  absl::StatusOr<UniqueFd> TakeStdout() override;
  absl::StatusOr<UniqueFd> TakeStderr() override;
  absl::Status Resize(TerminalSize size) override;
  absl::Status Signal(int signal) override;
  absl::StatusOr<ExitStatus> Stop(absl::Duration grace) override;
  absl::StatusOr<ExitStatus> Wait(absl::Time deadline) override;
  absl::StatusOr<UniqueFd> ExitFd() override;
  absl::StatusOr<Stats> GetStats() override;
  absl::StatusOr<std::vector<Violation>> Violations() override;

 private:
  absl::StatusOr<UniqueFd> Take(UniqueFd ProcessStreams::* stream, const char* name);

  const launcher::Spawned spawned_;
  const bool pty_;
  const Stopper stopper_;
  const Asker violations_;
  UniqueFd terminal_;                       // for Resize
  std::atomic<uint64_t> signals_sent_ = 0;  // bit n - 1 is signal n
  absl::Mutex mutex_;
  ProcessStreams streams_ ABSL_GUARDED_BY(mutex_);
};

ExitStatus ToExitStatus(const launcher::ExitNotice& notice);

}  // namespace berth

#endif  // BERTH_RUNTIME_NATIVE_NATIVE_PROCESS_H_
