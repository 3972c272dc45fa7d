// Engine: what the reaper needs of an engine that has sessions of its own (containers, tmux). One
// for each backend whose records name such things; without one, they are `unknown` and stay.
//
// Implementations are used by one thread. Every call is bounded by a deadline. An engine that does
// not answer is no error: it is Presence::kUnknown, and nothing is done.
#ifndef BERTH_REAPER_ENGINE_H_
#define BERTH_REAPER_ENGINE_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "reaper/decide.h"
#include "reaper/options.h"
#include "reaper/report.h"
#include "runtime/record/record.h"
#include "runtime/record/store.h"
#include "runtime/remains/end_processes.h"
#include "sandbox/base/unique_fd.h"

namespace berth::reaper {

// When `fd` is readable, `happened` reads it and says whether that matters to a reaper.
struct EventSource {
  UniqueFd fd;
  std::function<bool(int fd)> happened;
};

class Engine {
 public:
  virtual ~Engine() = default;

  // A sweep begins: what is remembered of who did not answer is forgotten.
  virtual void Begin() {}
  // Whether this engine has what the record names: a container id, a tmux session.
  virtual bool Knows(const Record& record) const = 0;
  // kAlive: it is there, whether it runs or not. kDead: the engine says that there is no such
  // thing.
  virtual Presence Look(const Record& record) = 0;
  // There is a session that the record tells of: what happens to it matters.
  virtual void Note(const Record& /*record*/) {}
  // Where what happens to what was noted since Begin, from then on, is told. What cannot be watched
  // is not in it.
  virtual std::vector<EventSource> Events(const Store& /*store*/) { return {}; }
  // Ends and removes it; OK is the proof that it is gone. Acts only on what carries the session's
  // id.
  virtual absl::Status End(const Record& record, const EndOptions& options) = 0;
  // Things of this installation that no record names: decides, acts unless it is a dry run,
  // reports.
  virtual void SweepStrays(const Store& /*store*/, const Options& /*options*/,
                           absl::Time /*deadline*/, Report* /*report*/) {}
};

using Engines = std::vector<std::unique_ptr<Engine>>;

// Null if the record names nothing of an engine, or none of these knows it.
inline Engine* EngineOf(const Engines& engines, const Record& record) {
  for (const auto& engine : engines) {
    if (engine->Knows(record)) return engine.get();
  }
  return nullptr;
}

// Whether the record names something that only an engine can look at.
inline bool NeedsEngine(const Record& record) {
  return !record.container_id.empty() || !record.tmux_session.empty();
}

}  // namespace berth::reaper

#endif  // BERTH_REAPER_ENGINE_H_
