// A session in a container. Its streams, screen and log are held by a keeper on this machine, whose
// main process is the relay; whether it runs, and how it ended, is the engine's to say.
#ifndef BERTH_RUNTIME_DOCKER_DOCKER_SESSION_H_
#define BERTH_RUNTIME_DOCKER_DOCKER_SESSION_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "runtime/docker/container_truth.h"
#include "runtime/docker/engine_client.h"
#include "runtime/record/record.h"
#include "runtime/record/store.h"
#include "runtime/session.h"
#include "runtime/types.h"
#include "sandbox/base/unique_fd.h"

namespace berth {

// Of a session whose keeper told `info`: what it is, as the engine or the relay has it.
void CompleteInfo(const Record& record, const ContainerTruth& truth, SessionInfo* info);

class DockerSession final : public Session {
 public:
  // `held` is the session that holds its streams.
  DockerSession(std::shared_ptr<const Store> store, const Record& record,
                std::shared_ptr<EngineClient> client, std::unique_ptr<Session> held);

  const std::string& handle() const override { return held_->handle(); }
  std::string name() const override { return held_->name(); }
  absl::StatusOr<SessionInfo> Info() override;
  LivenessReport CheckLiveness() override;
  absl::StatusOr<Delivery> Send(const Message& message, absl::Time deadline) override;
  absl::Status SendKeys(const std::vector<std::string>& keys) override;
  absl::StatusOr<std::string> Capture(const CaptureOptions& options) override;
  absl::StatusOr<Output> OpenOutput(const OutputOptions& options) override;
  absl::Status CloseStdin() override;
  absl::Status Resize(TerminalSize size) override;
  absl::StatusOr<UniqueFd> Attach() override;
  std::vector<std::string> AttachCommand() const override { return held_->AttachCommand(); }
  absl::Status SetLog(absl::string_view path, int64_t cap_bytes) override;
  absl::Status SetEnvironment(absl::string_view key, absl::string_view value) override;
  absl::StatusOr<std::unique_ptr<Process>> Exec(const ProcessSpec& spec) override;
  absl::StatusOr<Stats> GetStats() override;
  absl::Status Signal(int signal) override;
  absl::StatusOr<ExitStatus> Stop(absl::Duration grace) override;
  absl::StatusOr<ExitStatus> Wait(absl::Time deadline) override;
  absl::StatusOr<UniqueFd> ExitFd() override;
  absl::Status Rename(absl::string_view new_name) override;
  absl::Status Destroy(absl::Duration grace) override;

 private:
  // What is known, by what was written down or by the engine. NotFound if the session is gone.
  absl::StatusOr<ContainerTruth> Ask() const;
  bool HasWrittenEnd() const { return WrittenEnd(*store_, uid_).has_value(); }
  absl::Status StillThere() const;
  std::string At(absl::string_view rest) const;
  absl::Status Kill(const char* signal, absl::Duration limit) const;
  // Until the engine says that the container does not run. DeadlineExceeded, Unavailable.
  absl::Status AwaitEnd(absl::Time deadline) const;
  absl::StatusOr<UniqueFd> WaitFdOfEngine(absl::Time deadline) const;

  const std::shared_ptr<const Store> store_;
  const std::string uid_, container_;
  const std::shared_ptr<EngineClient> client_;
  const std::unique_ptr<Session> held_;
};

}  // namespace berth

#endif  // BERTH_RUNTIME_DOCKER_DOCKER_SESSION_H_
