// Boundary: how every function of the C ABI begins and ends. Checks of what came in, codes and
// errors that go out, and the line that no exception crosses.
//
//   int32_t berth_session_resize(berth_session* session, uint16_t rows, uint16_t cols,
//                                berth_error** error) {
//     return Guard(error, [&]() -> absl::Status {
//       ABSL_ASSIGN_OR_RETURN(auto object, Get<SessionObject>(session, "session"));
//       return object->session->Resize({rows, cols});
//     });
//   }
#ifndef BERTH_CAPI_BOUNDARY_H_
#define BERTH_CAPI_BOUNDARY_H_

#include <stddef.h>
#include <stdint.h>

#include <exception>
#include <memory>
#include <new>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/status_macros.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "capi/berth.h"
#include "capi/handles.h"
#include "sandbox/base/unique_fd.h"

namespace berth::capi {

// Stores an error object unless `error` is null, and returns its code.
int32_t Report(const absl::Status& status, berth_error** error);
// The same without needing memory.
int32_t ReportOutOfMemory(berth_error** error);

// Runs `body`, which returns a Status. Not noexcept, and no catch (...): the cancellation of a
// thread by pthread_cancel is an exception of glibc's that must go through.
template <typename Body>
int32_t Guard(berth_error** error, Body&& body) {
  try {
    const absl::Status status = std::forward<Body>(body)();
    return status.ok() ? BERTH_OK : Report(status, error);
  } catch (const std::bad_alloc&) {
    return ReportOutOfMemory(error);
  } catch (const std::exception& exception) {
    return Report(absl::InternalError(exception.what()), error);
  }
}

// The object behind a handle; InvalidArgument, naming the argument, if there is none.
absl::Status NoObject(const void* handle, absl::string_view argument);
template <typename Object>
absl::StatusOr<std::shared_ptr<Object>> Get(const void* handle, absl::string_view argument) {
  std::shared_ptr<Object> object = Handles::Find<Object>(handle);
  if (object == nullptr) return NoObject(handle, argument);
  return object;
}

// Runs a setter, which returns a Status, and keeps the first error in the object.
template <typename Object, typename Body>
int32_t Change(const void* handle, Body&& body) {
  const std::shared_ptr<Object> object = Handles::Find<Object>(handle);
  if (object == nullptr) return BERTH_INVALID_ARGUMENT;
  absl::Status status;
  try {
    status = std::forward<Body>(body)(*object);
  } catch (const std::exception&) {
    status = absl::Status(absl::StatusCode::kResourceExhausted, "");  // needs no memory
  }
  object->error.Update(status);
  return static_cast<int32_t>(status.code());
}

// OkStatus if there is a place for the result.
absl::Status CheckOut(const void* out, absl::string_view argument);
// The bytes of a text that came in.
absl::StatusOr<absl::string_view> Text(const char* data, size_t size, absl::string_view argument);
// The setter of one text: `field` gives the std::string of the object.
template <typename Object, typename Field>
int32_t SetText(const void* handle, const char* data, size_t size, const char* argument,
                Field&& field) {
  return Change<Object>(handle, [&](Object& object) -> absl::Status {
    ABSL_ASSIGN_OR_RETURN(const absl::string_view text, Text(data, size, argument));
    field(object) = std::string(text);
    return absl::OkStatus();
  });
}

// An index or a number of an enumeration that is not there.
absl::Status NotInRange(size_t index, absl::string_view of);
absl::Status NoSuch(absl::string_view what, int64_t number);

// A timeout as a deadline; a grace or limit as a duration, where -1 is infinite only if
// `may_be_none`.
absl::StatusOr<absl::Time> Deadline(int64_t timeout_ms);
absl::StatusOr<absl::Duration> Milliseconds(int64_t ms, bool may_be_none,
                                            absl::string_view argument);

struct StringObject {
  static constexpr Kind kKind = Kind::kString;
  std::string text;
};

absl::Status PutString(std::string text, berth_string** out);
absl::Status PutFd(absl::StatusOr<UniqueFd> fd, int32_t* out);
// The caller's own copy of one that an object keeps.
absl::Status PutFdCopy(int fd, int32_t* out);

// What functions that return a text do: its data, and its size where it is wanted.
inline const char* GiveText(const std::string* text, size_t* size) {
  if (size != nullptr) *size = text == nullptr ? 0 : text->size();
  return text == nullptr ? nullptr : text->c_str();
}

// The name of a known value of an enumeration, whose names are literals and so end with a NUL.
inline const char* GiveName(bool known, absl::string_view literal) {
  return known ? literal.data() : "unknown";
}

}  // namespace berth::capi

#endif  // BERTH_CAPI_BOUNDARY_H_
