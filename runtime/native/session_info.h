// SessionInfo of sessions that have a keeper: what the record tells, what the keeper answers, and
// what is left of one without a keeper.
#ifndef BERTH_RUNTIME_NATIVE_SESSION_INFO_H_
#define BERTH_RUNTIME_NATIVE_SESSION_INFO_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "runtime/native/status_views.h"
#include "runtime/record/record.h"
#include "runtime/record/store.h"
#include "runtime/session.h"
#include "runtime/types.h"
#include "sandbox/launcher/wire.h"

namespace berth {

// "native:<uid>", or of the backend that runs on this one.
std::string NativeHandle(const Record& record);

// How it ended, as keepers tell it.
ExitStatus ReadEnd(launcher::Reader* in);

// `answer` is the keeper's to kInfo, or why there is none: NotFound if it has no keeper, anything
// else if that does not answer. NotFound if the session itself is gone meanwhile.
absl::StatusOr<SessionInfo> MakeInfo(const Store& store, const Record& record,
                                     const absl::StatusOr<launcher::Message>& answer);

// Of all of one backend at once. What `views` has is not asked for again; the other keepers are
// asked all together and share one deadline. In any order, without those that are gone.
std::vector<SessionInfo> DescribeAll(const Store& store, const std::vector<Record>& records,
                                     StatusViews* views, absl::Time deadline);

}  // namespace berth

#endif  // BERTH_RUNTIME_NATIVE_SESSION_INFO_H_
