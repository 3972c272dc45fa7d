// Windows of tmux sessions, by the tmux command: a reaper asks seldom, and needs no connection that
// stays. A server that is gone has none; one that does not answer tells nothing.
#ifndef BERTH_REAPER_TMUX_ENGINE_H_
#define BERTH_REAPER_TMUX_ENGINE_H_

#include "absl/status/status.h"
#include "reaper/decide.h"
#include "reaper/engine.h"
#include "runtime/record/record.h"
#include "runtime/remains/end_processes.h"

namespace berth::reaper {

class TmuxEngine final : public Engine {
 public:
  bool Knows(const Record& record) const override {
    return record.container_id.empty() && !record.tmux_session.empty();
  }
  Presence Look(const Record& record) override;
  absl::Status End(const Record& record, const EndOptions& options) override;
};

}  // namespace berth::reaper

#endif  // BERTH_REAPER_TMUX_ENGINE_H_
