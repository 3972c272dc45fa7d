// Codes, errors and the checks at the boundary.

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>

#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/status_macros.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "capi/berth.h"
#include "capi/boundary.h"
#include "capi/handles.h"
#include "sandbox/base/errno_status.h"
#include "sandbox/base/unique_fd.h"

namespace berth::capi {
namespace {

struct ErrorObject {
  static constexpr Kind kKind = Kind::kError;
  int32_t code;
  std::string message;
};

// The error that is there when there is no memory for one: the address of this.
constexpr char kOutOfMemory[] = "out of memory";

berth_error* OutOfMemory() {
  return reinterpret_cast<berth_error*>(const_cast<char*>(kOutOfMemory));
}

void Replace(berth_error** error, berth_error* with) {
  berth_error_free(*error);
  *error = with;
}

}  // namespace

int32_t Report(const absl::Status& status, berth_error** error) {
  const int32_t code = static_cast<int32_t>(status.code());
  if (error == nullptr) return code;
  try {
    auto object = std::make_shared<ErrorObject>(ErrorObject{code, std::string(status.message())});
    Replace(error, Handles::Add<berth_error>(std::move(object)));
  } catch (const std::exception&) {
    return ReportOutOfMemory(error);
  }
  return code;
}

int32_t ReportOutOfMemory(berth_error** error) {
  if (error != nullptr) Replace(error, OutOfMemory());
  return BERTH_RESOURCE_EXHAUSTED;
}

absl::Status NoObject(const void* handle, absl::string_view argument) {
  return absl::InvalidArgumentError(
      handle == nullptr
          ? absl::StrCat(argument, " is NULL")
          : absl::StrCat(argument, " is no handle: freed, of another type, or from before a fork"));
}

absl::Status CheckOut(const void* out, absl::string_view argument) {
  if (out != nullptr) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(argument, ", the place for the result, is NULL"));
}

absl::Status NotInRange(size_t index, absl::string_view of) {
  return absl::OutOfRangeError(absl::StrCat("there is no ", of, " ", index));
}

absl::Status NoSuch(absl::string_view what, int64_t number) {
  return absl::InvalidArgumentError(absl::StrCat("there is no ", what, " ", number));
}

absl::StatusOr<absl::string_view> Text(const char* data, size_t size, absl::string_view argument) {
  if (data == nullptr && size != 0) {
    return absl::InvalidArgumentError(absl::StrCat(argument, " is NULL, but its size is ", size));
  }
  if (size > size_t{PTRDIFF_MAX}) {
    return absl::InvalidArgumentError(absl::StrCat(argument, " has a negative size"));
  }
  return absl::string_view(data, size);
}

absl::StatusOr<absl::Duration> Milliseconds(int64_t ms, bool may_be_none,
                                            absl::string_view argument) {
  if (ms >= 0) return absl::Milliseconds(ms);
  if (ms == -1 && may_be_none) return absl::InfiniteDuration();
  return absl::InvalidArgumentError(absl::StrCat(argument, " is ", ms));
}

absl::StatusOr<absl::Time> Deadline(int64_t timeout_ms) {
  ABSL_ASSIGN_OR_RETURN(const absl::Duration timeout, Milliseconds(timeout_ms, true, "timeout_ms"));
  return absl::Now() + timeout;
}

absl::Status PutString(std::string text, berth_string** out) {
  *out = Handles::Add<berth_string>(std::make_shared<StringObject>(StringObject{std::move(text)}));
  return absl::OkStatus();
}

absl::Status PutFdCopy(int fd, int32_t* out) {
  UniqueFd copy(fcntl(fd, F_DUPFD_CLOEXEC, 3));
  if (!copy.ok()) return ErrnoStatus(errno, "duplicate a descriptor");
  return PutFd(std::move(copy), out);
}

absl::Status PutFd(absl::StatusOr<UniqueFd> fd, int32_t* out) {
  if (!fd.ok()) return fd.status();
  *out = fd->release();
  return absl::OkStatus();
}

}  // namespace berth::capi

using ::berth::capi::ErrorObject;
using ::berth::capi::Handles;
using ::berth::capi::OutOfMemory;

int32_t berth_abi_version(void) { return BERTH_ABI_VERSION; }

uint64_t berth_features(void) {
  return BERTH_FEATURE_NATIVE | BERTH_FEATURE_TMUX | BERTH_FEATURE_DOCKER | BERTH_FEATURE_NIX |
         BERTH_FEATURE_POLICY | BERTH_FEATURE_AGENTS | BERTH_FEATURE_REAPER | BERTH_FEATURE_PORTS |
         BERTH_FEATURE_ENVIRONMENTS | BERTH_FEATURE_IMAGES | BERTH_FEATURE_DOCTOR;
}

const char* berth_code_name(int32_t code) {
  static constexpr const char* kNames[] = {"OK",
                                           "CANCELLED",
                                           "UNKNOWN",
                                           "INVALID_ARGUMENT",
                                           "DEADLINE_EXCEEDED",
                                           "NOT_FOUND",
                                           "ALREADY_EXISTS",
                                           "PERMISSION_DENIED",
                                           "RESOURCE_EXHAUSTED",
                                           "FAILED_PRECONDITION",
                                           "ABORTED",
                                           "OUT_OF_RANGE",
                                           "UNIMPLEMENTED",
                                           "INTERNAL",
                                           "UNAVAILABLE",
                                           "DATA_LOSS",
                                           "UNAUTHENTICATED"};
  return code >= BERTH_OK && code <= BERTH_UNAUTHENTICATED ? kNames[code] : "UNKNOWN";
}

int32_t berth_error_code(const berth_error* error) {
  if (error == nullptr) return BERTH_OK;
  if (error == OutOfMemory()) return BERTH_RESOURCE_EXHAUSTED;
  const std::shared_ptr<ErrorObject> object = Handles::Find<ErrorObject>(error);
  return object == nullptr ? BERTH_INVALID_ARGUMENT : object->code;
}

const char* berth_error_message(const berth_error* error, size_t* size) {
  const std::shared_ptr<ErrorObject> object = Handles::Find<ErrorObject>(error);
  if (object != nullptr) return berth::capi::GiveText(&object->message, size);
  const absl::string_view text = error == OutOfMemory() ? berth::capi::kOutOfMemory : "";
  if (size != nullptr) *size = text.size();
  return text.data();
}

void berth_error_free(berth_error* error) { Handles::Remove<ErrorObject>(error); }
