/* Versions, codes, errors, texts and lists of texts. Part of berth.h, whose conventions hold. */
#ifndef BERTH_CAPI_BERTH_BASE_H_
#define BERTH_CAPI_BERTH_BASE_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define BERTH_API __attribute__((visibility("default")))

/* The version that this header describes, and the one of the library at hand. */
#define BERTH_ABI_VERSION 4
BERTH_API int32_t berth_abi_version(void);

/* Bits of berth_features(). */
#define BERTH_FEATURE_NATIVE (UINT64_C(1) << 0) /* the backend "native" */
#define BERTH_FEATURE_TMUX (UINT64_C(1) << 1)
#define BERTH_FEATURE_DOCKER (UINT64_C(1) << 2)
#define BERTH_FEATURE_NIX (UINT64_C(1) << 3)
#define BERTH_FEATURE_POLICY (UINT64_C(1) << 4)
#define BERTH_FEATURE_AGENTS (UINT64_C(1) << 5)
#define BERTH_FEATURE_REAPER (UINT64_C(1) << 6)
#define BERTH_FEATURE_PORTS (UINT64_C(1) << 7)
#define BERTH_FEATURE_ENVIRONMENTS (UINT64_C(1) << 8)
#define BERTH_FEATURE_IMAGES (UINT64_C(1) << 9)
#define BERTH_FEATURE_DOCTOR (UINT64_C(1) << 10)
BERTH_API uint64_t berth_features(void);

/* ---- Codes and errors. The numbers are those of absl::StatusCode, and of gRPC. ---- */

enum berth_code {
  BERTH_OK = 0,
  BERTH_CANCELLED = 1,
  BERTH_UNKNOWN = 2,
  BERTH_INVALID_ARGUMENT = 3,
  BERTH_DEADLINE_EXCEEDED = 4,
  BERTH_NOT_FOUND = 5, /* no such session (any more); no such program */
  BERTH_ALREADY_EXISTS = 6,
  BERTH_PERMISSION_DENIED = 7,
  BERTH_RESOURCE_EXHAUSTED = 8,
  BERTH_FAILED_PRECONDITION = 9, /* it has ended; it was taken already */
  BERTH_ABORTED = 10,
  BERTH_OUT_OF_RANGE = 11,
  BERTH_UNIMPLEMENTED = 12, /* this engine cannot */
  BERTH_INTERNAL = 13,
  BERTH_UNAVAILABLE = 14, /* the engine does not answer: nothing is known, least of all "dead" */
  BERTH_DATA_LOSS = 15,
  BERTH_UNAUTHENTICATED = 16
};

typedef struct berth_error berth_error;

/* "INVALID_ARGUMENT" and so on; "UNKNOWN" for a code that is not listed. Lives as long as the
 * library. */
BERTH_API const char* berth_code_name(int32_t code);
/* BERTH_OK for NULL. */
BERTH_API int32_t berth_error_code(const berth_error* error);
/* The step, the object and the system's reason, in words; "" for NULL. */
BERTH_API const char* berth_error_message(const berth_error* error, size_t* size);
BERTH_API void berth_error_free(berth_error* error);

/* ---- Texts and lists of texts ---- */

typedef struct berth_string berth_string;
typedef struct berth_strings berth_strings;

/* NULL, and size 0, if it is no string. */
BERTH_API const char* berth_string_data(const berth_string* string, size_t* size);
BERTH_API void berth_string_free(berth_string* string);

BERTH_API int32_t berth_strings_new(berth_strings** strings, berth_error** error);
BERTH_API int32_t berth_strings_add(berth_strings* strings, const char* text, size_t text_size);
/* 0 if it is no list. */
BERTH_API size_t berth_strings_count(const berth_strings* strings);
/* NULL past the end. Valid until the list is added to or freed. */
BERTH_API const char* berth_strings_at(const berth_strings* strings, size_t index, size_t* size);
BERTH_API void berth_strings_free(berth_strings* strings);

#ifdef __cplusplus
}
#endif

#endif /* BERTH_CAPI_BERTH_BASE_H_ */
