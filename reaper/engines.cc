#include "reaper/engines.h"

#include <memory>

#include "reaper/docker_engine.h"
#include "reaper/engine.h"
#include "reaper/tmux_engine.h"

namespace berth::reaper {

Engines MakeEngines() {
  Engines engines;
  engines.push_back(std::make_unique<DockerEngine>());
  engines.push_back(std::make_unique<TmuxEngine>());
  return engines;
}

}  // namespace berth::reaper
