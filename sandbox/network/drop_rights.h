// What a proxy gives up before it reads a byte of a client's.
// Used by the helper: no Abseil, no exceptions.
#ifndef BERTH_SANDBOX_NETWORK_DROP_RIGHTS_H_
#define BERTH_SANDBOX_NETWORK_DROP_RIGHTS_H_

#include <stdint.h>

namespace berth::network {

// No capabilities, no new privileges, no files (by Landlock, where the kernel has it), no processes
// to start, no core dumps, `descriptors` at the most. For good. 0 or an errno.
int DropRights(uint64_t descriptors);

}  // namespace berth::network

#endif  // BERTH_SANDBOX_NETWORK_DROP_RIGHTS_H_
