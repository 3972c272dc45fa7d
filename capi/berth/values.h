/* Small values that sessions and processes are described by. Part of berth.h, whose conventions
 * hold. */
#ifndef BERTH_CAPI_BERTH_VALUES_H_
#define BERTH_CAPI_BERTH_VALUES_H_

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

enum berth_end_reason {
  BERTH_END_UNKNOWN = 0,  /* it is gone, and nobody is left who saw how */
  BERTH_END_EXITED = 1,   /* by itself, with a code */
  BERTH_END_SIGNALED = 2, /* by a signal that berth did not send */
  BERTH_END_STOPPED = 3,  /* by stop, destroy or signal of ours */
  BERTH_END_WALL = 4,
  BERTH_END_INACTIVITY = 5,
  BERTH_END_OOM = 6,
  BERTH_END_PIDS = 7,
  BERTH_END_VIOLATION = 8
};

/* How a process ended. A death by signal is told as a signal, never as a code over 128. */
typedef struct berth_exit {
  int32_t code;   /* meaningful if signal is 0 */
  int32_t signal; /* 0: it exited */
  int32_t reason; /* enum berth_end_reason */
  int32_t reserved;
} berth_exit;

/* "exited with code 3", "killed by signal 9 (Killed)", … */
BERTH_API int32_t berth_exit_describe(berth_string** text, const berth_exit* status,
                                      berth_error** error);

/* 1 if it exited by itself with code 0, else 0. */
BERTH_API int32_t berth_exit_success(const berth_exit* status);
/* What a shell would give as its code: 128 + signal for a death by signal. -1 for NULL. */
BERTH_API int32_t berth_exit_shell_code(const berth_exit* status);

/* What a session or a process tree uses. Negative: not known here. */
typedef struct berth_stats {
  int64_t cpu_ns; /* user + system */
  int64_t memory_bytes;
  int64_t processes;
  int64_t read_bytes; /* from storage */
  int64_t write_bytes;
  int64_t reserved[3];
  char source[24]; /* "cgroup", "proc" or the engine's name */
} berth_stats;

/* When each step of a start was reached, nanoseconds of CLOCK_MONOTONIC. 0: not on this engine. */
typedef struct berth_start_timing {
  int64_t requested_ns;
  int64_t received_ns;
  int64_t started_ns;
  int64_t replied_ns;
} berth_start_timing;

enum berth_liveness {
  BERTH_LIVENESS_UNKNOWN = 0, /* declare nothing dead on this */
  BERTH_ALIVE = 1,
  BERTH_DEAD = 2
};
/* "alive", "dead", "unknown". */
BERTH_API const char* berth_liveness_name(int32_t liveness);

/* What is known of a sent message. Each includes the ones before it. */
enum berth_delivery {
  BERTH_QUEUED = 0,    /* accepted whole; the program has not been given all of it */
  BERTH_WRITTEN = 1,   /* all bytes are in the program's terminal or pipe */
  BERTH_SUBMITTED = 2, /* and the submit key after them */
  BERTH_CONFIRMED = 3  /* and the program answered with output after it */
};
/* "unknown" for a value that is not listed. */
BERTH_API const char* berth_delivery_name(int32_t delivery);

enum berth_stream { BERTH_STDIN = 0, BERTH_STDOUT = 1, BERTH_STDERR = 2 };

#ifdef __cplusplus
}
#endif

#endif /* BERTH_CAPI_BERTH_VALUES_H_ */
