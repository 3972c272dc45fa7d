// Windows of tmux sessions, by the tmux command: a reaper asks seldom, and needs no connection that
// stays. A server that is gone has none; one that does not answer tells nothing.
#ifndef BERTH_REAPER_TMUX_ENGINE_H_
#define BERTH_REAPER_TMUX_ENGINE_H_

#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "reaper/decide.h"
#include "reaper/engine.h"
#include "reaper/options.h"
#include "reaper/report.h"
#include "runtime/record/record.h"
#include "runtime/record/store.h"
#include "runtime/remains/end_processes.h"

namespace berth::reaper {

class TmuxEngine final : public Engine {
 public:
  bool Knows(const Record& record) const override {
    return record.container_id.empty() && !record.tmux_session.empty();
  }
  void Begin() override { sockets_.clear(); }
  Presence Look(const Record& record) override;
  void Note(const Record& record) override { sockets_.insert(record.tmux_socket); }
  // The ends of the servers.
  std::vector<EventSource> Events(const Store& store) override;
  absl::Status End(const Record& record, const EndOptions& options) override;
  void SweepStrays(const Store& store, const Options& options, absl::Time deadline,
                   Report* report) override;

 private:
  std::set<std::string> sockets_;
};

}  // namespace berth::reaper

#endif  // BERTH_REAPER_TMUX_ENGINE_H_
