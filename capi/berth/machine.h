/* This machine: what it can enforce, and single processes of it. Part of berth.h, whose conventions
 * hold. */
#ifndef BERTH_CAPI_BERTH_MACHINE_H_
#define BERTH_CAPI_BERTH_MACHINE_H_

#include "base.h"
#include "values.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Doctor: what this machine can do, why not, and what to do about it ---- */

typedef struct berth_abilities berth_abilities;

enum berth_ability_state {
  BERTH_ABILITY_OK = 0,
  BERTH_ABILITY_WEAKER = 1,
  BERTH_ABILITY_MISSING = 2
};
/* "unknown" for a value that is not listed. */
BERTH_API const char* berth_ability_state_name(int32_t state);

typedef struct berth_ability {
  const char* area; /* "kernel", "sandbox", "limits", "tiers", "engines", "state" */
  size_t area_size;
  const char* name; /* unique: "landlock", "tmux", … */
  size_t name_size;
  const char* detail; /* what there is: "version 7" */
  size_t detail_size;
  const char* reason; /* not BERTH_ABILITY_OK: why */
  size_t reason_size;
  const char* remedy; /* not BERTH_ABILITY_OK: what to do */
  size_t remedy_size;
  int32_t state; /* enum berth_ability_state */
  int32_t reserved;
} berth_ability;

/* Tries the real things. Changes nothing but the state directory (as for berth_runtime_new), which
   is made if it is missing. An engine that is there but does not answer holds it up for ten
   seconds. */
BERTH_API int32_t berth_doctor(berth_abilities** abilities, const char* state_dir,
                               size_t state_dir_size, berth_error** error);
BERTH_API size_t berth_abilities_count(const berth_abilities* abilities);
/* BERTH_OUT_OF_RANGE past the end. */
BERTH_API int32_t berth_abilities_at(berth_ability* ability, const berth_abilities* abilities,
                                     size_t index, berth_error** error);
BERTH_API void berth_abilities_free(berth_abilities* abilities);

/* ---- Which process is meant, for as long as the machine runs ---- */

typedef struct berth_identity {
  int64_t pid;
  uint64_t start_time;
  uint64_t pidfs_inode;
  uint64_t pid_namespace;
  char boot_id[40];
} berth_identity;

/* BERTH_NOT_FOUND if there is no such process or it is a zombie. */
BERTH_API int32_t berth_identify(berth_identity* identity, int32_t pid, berth_error** error);
/* BERTH_DEAD is a proof. */
BERTH_API int32_t berth_identity_liveness(int32_t* liveness, const berth_identity* identity,
                                          berth_error** error);
/* A pidfd that is proven to be of it. BERTH_NOT_FOUND if that process is gone. */
BERTH_API int32_t berth_identity_open(int32_t* pidfd, const berth_identity* identity,
                                      berth_error** error);

enum berth_process_state {
  BERTH_PROCESS_UNKNOWN = 0,
  BERTH_PROCESS_NOT_FOUND = 1, /* it has ended, or its pid is another's now */
  BERTH_PROCESS_RUNNING = 2,
  BERTH_PROCESS_INTERRUPTIBLE_SLEEP = 3,
  BERTH_PROCESS_UNINTERRUPTIBLE_SLEEP = 4,
  BERTH_PROCESS_STOPPED = 5,
  BERTH_PROCESS_ZOMBIE = 6,
  BERTH_PROCESS_DEAD = 7,
  BERTH_PROCESS_TRACING_STOP = 8,
  BERTH_PROCESS_IDLE = 9,
  BERTH_PROCESS_PARKED = 10,
  BERTH_PROCESS_WAKING = 11
};
/* "running", "interruptible sleep", …; "unknown" for what is not listed. */
BERTH_API const char* berth_process_state_name(int32_t state);

/* What the kernel says of one process. */
typedef struct berth_tracked {
  int64_t cpu_ns;       /* user and system, so far */
  int64_t memory_bytes; /* resident; negative: not known */
  int32_t state;        /* enum berth_process_state */
  int32_t reserved;
} berth_tracked;
BERTH_API int32_t berth_track(berth_tracked* tracked, const berth_identity* identity,
                              berth_error** error);

#ifdef __cplusplus
}
#endif

#endif /* BERTH_CAPI_BERTH_MACHINE_H_ */
