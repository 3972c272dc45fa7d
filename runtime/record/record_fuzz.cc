// FromJson on any bytes: it refuses, or gives a record that keeps the rules and goes through JSON
// unchanged.
#include <stddef.h>
#include <stdint.h>

#include <cstdlib>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "runtime/record/record.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const absl::string_view text(reinterpret_cast<const char*>(data), size);
  const absl::StatusOr<berth::Record> record = berth::FromJson(text);
  if (record.ok()) {
    if (!berth::CheckRecord(*record).ok()) abort();
    const std::string json = berth::ToJson(*record);
    const absl::StatusOr<berth::Record> again = berth::FromJson(json);
    // Bytes written as hex may take more room than the limit allows.
    if (!again.ok() && json.size() <= berth::kMaxRecordBytes) abort();
    if (again.ok() && *again != *record) abort();
  }
  (void)berth::IdentityFromJson(text);
  return 0;
}
