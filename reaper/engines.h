// The engines that this reaper knows. One line for each backend that has things of its own.
#ifndef BERTH_REAPER_ENGINES_H_
#define BERTH_REAPER_ENGINES_H_

#include "reaper/engine.h"

namespace berth::reaper {

Engines MakeEngines();

}  // namespace berth::reaper

#endif  // BERTH_REAPER_ENGINES_H_
