// ApiRun: a run of an API loop, on a thread that the host allowed. Internal to runtime/agent; see
// agent_run.h for who may call what.
#ifndef BERTH_RUNTIME_AGENT_API_RUN_H_
#define BERTH_RUNTIME_AGENT_API_RUN_H_

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "runtime/agent/agent_run.h"
#include "runtime/agent/api_loop.h"
#include "runtime/agent/canceller.h"
#include "runtime/agent/context.h"
#include "runtime/agent/event.h"
#include "runtime/agent/journal.h"
#include "runtime/agent/result.h"
#include "runtime/agent/run_ledger.h"
#include "runtime/agent/subscribers.h"

namespace berth {

class ApiRun final : public AgentRun {
 public:
  static absl::StatusOr<std::unique_ptr<ApiRun>> Start(AgentContext context,
                                                       std::unique_ptr<ApiDialect> dialect);
  ~ApiRun() override;

  int fd() const override { return journal_->fd(); }
  absl::StatusOr<std::optional<AgentEvent>> Next(absl::Time deadline) override;
  bool finished() const override { return finished_; }
  AgentResult result() const override;
  void Stop() override;
  const std::string& run_id() const override { return journal_->run_id(); }
  const std::string& session_name() const override { return context_.place.name; }
  absl::StatusOr<std::unique_ptr<EventHub::Subscription>> Subscribe(int64_t from) override {
    return journal_->Subscribe(from);
  }

 private:
  ApiRun(AgentContext context, std::unique_ptr<ApiDialect> dialect,
         std::unique_ptr<RunJournal> journal, std::unique_ptr<Canceller> canceller);
  void Work();                       // the thread
  bool TakeEvent(AgentEvent event);  // whether to go on

  const AgentContext context_;
  const std::unique_ptr<ApiDialect> dialect_;
  const std::unique_ptr<RunJournal> journal_;
  const std::unique_ptr<Canceller> canceller_;
  RunLedger ledger_;
  std::atomic<bool> ended_ = false, finished_ = false;
  std::thread thread_;
};

}  // namespace berth

#endif  // BERTH_RUNTIME_AGENT_API_RUN_H_
