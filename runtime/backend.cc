#include "runtime/backend.h"

#include <memory>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/record/record.h"
#include "runtime/session.h"

namespace berth {

std::vector<SessionInfo> Backend::Describe(const std::vector<Record>& records) {
  std::vector<SessionInfo> infos;
  infos.reserve(records.size());
  for (const Record& record : records) {
    const absl::StatusOr<std::unique_ptr<Session>> session = Open(record);
    if (!session.ok()) continue;
    absl::StatusOr<SessionInfo> info = (*session)->Info();
    if (info.ok()) infos.push_back(*std::move(info));
  }
  return infos;
}

}  // namespace berth
