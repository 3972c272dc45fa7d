// Containers that carry our labels but have no record: what a create that was killed half-way
// leaves. The decision, pure like the one on sessions.
#ifndef BERTH_REAPER_CONTAINER_H_
#define BERTH_REAPER_CONTAINER_H_

#include "reaper/decide.h"
#include "runtime/record/identity.h"

namespace berth::reaper {

struct ContainerFacts {
  bool chosen = true;
  bool our_install = true;
  bool has_record = false;
  // An engine behind a unix socket is on this machine, and so was who made the container.
  bool this_host = true;
  bool running = false;
  bool ephemeral = true;
  bool reusable = false;              // kept on purpose, for the next session of its name
  Liveness owner = Liveness::kAlive;  // by lease and identity together
};

Decision DecideContainer(const ContainerFacts& facts);

}  // namespace berth::reaper

#endif  // BERTH_REAPER_CONTAINER_H_
