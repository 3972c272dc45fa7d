// The command lines of other sandboxes that show a program what a plan shows it, under the same
// filter: without carve-outs and limits, which they do not have.
#ifndef BERTH_SANDBOX_BENCHMARK_PEERS_H_
#define BERTH_SANDBOX_BENCHMARK_PEERS_H_

#include <string>
#include <vector>

#include "sandbox/launcher/sandbox_plan.h"

namespace berth {

struct Peers {
  // The first word is "" if it is not on PATH, which is said.
  std::vector<std::string> Bwrap() const;  // the filter is to be at descriptor 9
  std::vector<std::string> Minijail() const;

  const launcher::SandboxPlan& plan;
  std::string program;
  std::string filter;  // a file
  std::string jail;    // a folder that is made: minijail0 wants to find its mount points
};

}  // namespace berth

#endif  // BERTH_SANDBOX_BENCHMARK_PEERS_H_
