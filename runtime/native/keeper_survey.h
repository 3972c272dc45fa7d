// Asking many keepers one question, without threads: the requests go out together, the answers are
// taken as they come.
#ifndef BERTH_RUNTIME_NATIVE_KEEPER_SURVEY_H_
#define BERTH_RUNTIME_NATIVE_KEEPER_SURVEY_H_

#include <stdint.h>

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "sandbox/launcher/wire.h"

namespace berth {

// One answer for each of `uids`, in their order, as KeeperChannel::Call would give it: NotFound
// where there is no keeper, Unavailable where it does not answer until `deadline`. `type` has no
// body. Keepers that hang hold up nobody else: there is room for the answers of the others.
std::vector<absl::StatusOr<launcher::Message>> AskKeepers(int run_fd,
                                                          const std::vector<std::string>& uids,
                                                          uint16_t type, absl::Time deadline);

}  // namespace berth

#endif  // BERTH_RUNTIME_NATIVE_KEEPER_SURVEY_H_
