// Floors: what the kernel alone charges for a sandbox, by code that does nothing else: no init, no
// launcher to ask, no carve-outs, no report, no limits of groups. Each takes its paths and its
// filter from a plan, so that what is compared does the same mounts and loads the same program.
#ifndef BERTH_SANDBOX_BENCHMARK_FLOORS_H_
#define BERTH_SANDBOX_BENCHMARK_FLOORS_H_

#include <sys/types.h>

#include <string>
#include <vector>

#include "sandbox/base/unique_fd.h"
#include "sandbox/launcher/sandbox_plan.h"

namespace berth {

struct FloorPlan {
  struct Mount {
    std::string source, target;  // "" as source: a tmpfs
    bool directory = true, read_only = true;
  };
  std::vector<Mount> mounts;
  std::string filter;  // without notifications
  std::string place;   // an empty folder of the host
  std::string program;
  char uid_map[48], gid_map[48];

  // Of a plan with mounts.
  static FloorPlan From(const launcher::SandboxPlan& plan, std::string filter, std::string place,
                        std::string program);
};

// Each starts the program, with `out` as its stdout, and returns its pid. They die on any failure.
pid_t StartLandlocked(const launcher::SandboxPlan& plan, const FloorPlan& floor, int out);
pid_t StartEnclosed(const FloorPlan& floor, bool network, int out);
// Puts the caller under the filter.
void LoadFilter(const FloorPlan& floor);

// A process in namespaces of its own with all mounts made, from which the program starts in yet
// other ones, with a copy of the mounts, a /tmp and a /proc of its own.
class Template {
 public:
  Template(const FloorPlan& floor, int out);
  ~Template();
  // Returns once the program has ended.
  void Run() const;

 private:
  UniqueFd channel_;
  pid_t pid_ = -1;
};

}  // namespace berth

#endif  // BERTH_SANDBOX_BENCHMARK_FLOORS_H_
