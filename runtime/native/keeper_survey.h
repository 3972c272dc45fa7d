// Asking many keepers one question, without threads: the requests go out together, the answers are
// taken as they come.
#ifndef BERTH_RUNTIME_NATIVE_KEEPER_SURVEY_H_
#define BERTH_RUNTIME_NATIVE_KEEPER_SURVEY_H_

#include <stddef.h>
#include <stdint.h>

#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "sandbox/launcher/wire.h"

namespace berth {

struct KeeperQuestion {
  uint16_t type = 0;
  std::string body = "";
};

// Hands `take` one answer for each of `uids`, by its place there and in any order, as
// KeeperChannel::Call would give it: NotFound where there is no keeper, Unavailable where it does
// not answer until `deadline`. Keepers that hang hold up nobody else: there is room for the answers
// of the others. Descriptors that come with an answer are closed after `take`, so that there may be
// more sessions than a program may have descriptors.
void AskKeepers(int run_fd, const std::vector<std::string>& uids, const KeeperQuestion& question,
                absl::Time deadline,
                absl::FunctionRef<void(size_t, const absl::StatusOr<launcher::Message>&)> take);

}  // namespace berth

#endif  // BERTH_RUNTIME_NATIVE_KEEPER_SURVEY_H_
