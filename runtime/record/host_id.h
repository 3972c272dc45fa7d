// Which machine this is. A boot id tells one boot from all others, but not whether another boot id
// is an earlier boot of this machine or another machine that shares the folder (a home on a
// network).
#ifndef BERTH_RUNTIME_RECORD_HOST_ID_H_
#define BERTH_RUNTIME_RECORD_HOST_ID_H_

#include <string>

namespace berth {

// /etc/machine-id, 32 hex digits; "" where there is none: then nothing is known of other boots.
std::string HostId();

}  // namespace berth

#endif  // BERTH_RUNTIME_RECORD_HOST_ID_H_
