// Toy: the example of docs/agents.md.
#ifndef BERTH_RUNTIME_AGENT_TOY_DRIVER_H_
#define BERTH_RUNTIME_AGENT_TOY_DRIVER_H_

#include "runtime/agent/driver.h"

namespace berth {

const AgentDriver& ToyDriver();

}  // namespace berth

#endif  // BERTH_RUNTIME_AGENT_TOY_DRIVER_H_
