// Containers, by the Engine API: of all engines that records name, and of the default one.
#ifndef BERTH_REAPER_DOCKER_ENGINE_H_
#define BERTH_REAPER_DOCKER_ENGINE_H_

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "nlohmann/json.hpp"
#include "reaper/decide.h"
#include "reaper/engine.h"
#include "reaper/options.h"
#include "reaper/report.h"
#include "runtime/docker/engine_client.h"
#include "runtime/record/record.h"
#include "runtime/record/store.h"
#include "runtime/remains/end_processes.h"

namespace berth::reaper {

class DockerEngine final : public Engine {
 public:
  bool Knows(const Record& record) const override { return !record.container_id.empty(); }
  void Begin() override;
  Presence Look(const Record& record) override;
  void Note(const Record& record) override { noted_.insert(record.engine_address); }
  // What becomes of this installation's containers, on engines that records name; the end of such
  // an engine, and that one which did not answer has come (back) to its socket.
  std::vector<EventSource> Events(const Store& store) override;
  absl::Status End(const Record& record, const EndOptions& options) override;
  void SweepStrays(const Store& store, const Options& options, absl::Time deadline,
                   Report* report) override;

 private:
  // Null where the address is none of an engine that can be talked to, or it did not answer before.
  EngineClient* Client(const std::string& address);
  void SweepContainer(const Store& store, const Options& options, absl::Time deadline,
                      EngineClient* client, const nlohmann::json& container, Report* report);

  std::map<std::string, std::unique_ptr<EngineClient>> clients_;  // null: it does not answer
  std::set<std::string> noted_;                                   // addresses
  absl::Time begun_ = absl::Now();
};

}  // namespace berth::reaper

#endif  // BERTH_REAPER_DOCKER_ENGINE_H_
