/* The reaper: ends and removes what dead owners left behind. Part of berth.h, whose conventions
 * hold. */
#ifndef BERTH_CAPI_BERTH_SWEEP_H_
#define BERTH_CAPI_BERTH_SWEEP_H_

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct berth_sweep_options berth_sweep_options;
typedef struct berth_sweep_report berth_sweep_report;

#define BERTH_SWEEP_DRY_RUN UINT32_C(1)       /* decide and tell, change nothing */
#define BERTH_SWEEP_SHOW_KEPT UINT32_C(2)     /* report what is kept, too */
#define BERTH_SWEEP_ADOPT_CODEFLY UINT32_C(4) /* sweep what codefly left, too */

enum berth_sweep_time {
  BERTH_SWEEP_OLDER_THAN = 0,   /* leave alone what is younger; 0 */
  BERTH_SWEEP_FORGET_ENDED = 1, /* ended durable sessions are forgotten after this; -1 (never) */
  BERTH_SWEEP_GRACE = 2,        /* between TERM and KILL; 5 s */
  BERTH_SWEEP_PER_OBJECT = 3,   /* to end one and prove it gone; 30 s */
  BERTH_SWEEP_TOTAL = 4,        /* for everything; 5 min */
  BERTH_SWEEP_LOCK_WAIT = 5,    /* for another reaper to finish; 10 s */
  /* Of a watch: how long after an event the sweep begins, so that many at once make one; 100 ms */
  BERTH_SWEEP_SETTLE = 6,
  /* Of a watch: a sweep even if nothing happened, for what depends on age; -1 (never) */
  BERTH_SWEEP_EVERY = 7
};

BERTH_API int32_t berth_sweep_options_new(berth_sweep_options** options, berth_error** error);
BERTH_API void berth_sweep_options_free(berth_sweep_options* options);
BERTH_API int32_t berth_sweep_options_set_flags(berth_sweep_options* options, uint32_t flags);
BERTH_API int32_t berth_sweep_options_set_time(berth_sweep_options* options, int32_t which,
                                               int64_t ms);
/* Regular expressions (RE2) that are looked for in names and in labels, each as "key=value". One of
   `only` must match (if there is any), none of `except` may. Either may be NULL. */
BERTH_API int32_t berth_sweep_options_set_filter(berth_sweep_options* options,
                                                 const berth_strings* only,
                                                 const berth_strings* except);
/* Sweeps the state directory (as for berth_runtime_new) once, until nothing changes any more.
   `options` may be NULL. What fails is in the report and does not stop the rest; BERTH_ABORTED if
   another reaper is at work. */
BERTH_API int32_t berth_sweep(berth_sweep_report** report, const char* state_dir,
                              size_t state_dir_size, const berth_sweep_options* options,
                              berth_error** error);
/* What would become of one session, by name or uid, and why: a report of one item. */
BERTH_API int32_t berth_sweep_explain(berth_sweep_report** report, const char* state_dir,
                                      size_t state_dir_size, const char* id, size_t id_size,
                                      const berth_sweep_options* options, berth_error** error);

enum berth_sweep_number {
  BERTH_SWEEP_ITEMS = 0,
  BERTH_SWEEP_SESSIONS = 1, /* that there were at the beginning */
  BERTH_SWEEP_KEPT = 2,
  BERTH_SWEEP_DONE = 3,
  BERTH_SWEEP_DOUBTS = 4, /* left alone because their state is not known */
  BERTH_SWEEP_FAILED = 5,
  BERTH_SWEEP_OUT_OF_TIME = 6,
  BERTH_SWEEP_PLANNED = 7, /* of a dry run */
  BERTH_SWEEP_PASSES = 8,
  BERTH_SWEEP_TOOK_NS = 9,
  BERTH_SWEEP_EXIT_CODE = 10 /* what berth-reaper would exit with */
};
/* -1 for a field that is not known, and if it is no report. */
BERTH_API int64_t berth_sweep_report_number(const berth_sweep_report* report, int32_t field);

enum berth_verdict {
  BERTH_VERDICT_KEEP = 0,
  BERTH_VERDICT_REAP = 1,  /* end it and remove everything */
  BERTH_VERDICT_CLEAR = 2, /* end and remove what is left, but for the record */
  BERTH_VERDICT_DOUBT = 3  /* touch nothing, tell the operator */
};
/* "keep", "reap", "clear", "doubt"; "unknown" for a value that is not listed; so below. */
BERTH_API const char* berth_verdict_name(int32_t verdict);
enum berth_sweep_result {
  BERTH_SWEPT_NOTHING = 0, /* nothing was to be done, or it was a dry run */
  BERTH_SWEPT_DONE = 1,    /* and proven */
  BERTH_SWEPT_FAILED = 2,
  BERTH_SWEPT_OUT_OF_TIME = 3
};
BERTH_API const char* berth_sweep_result_name(int32_t result);

typedef struct berth_sweep_item {
  const char* kind; /* "session", "record", "lease", "port", "socket", "cgroup", "container", … */
  size_t kind_size;
  const char* id; /* uid, file name, path */
  size_t id_size;
  const char* name; /* of a session; else "" */
  size_t name_size;
  const char* deed; /* what was done or, in a dry run, would be */
  size_t deed_size;
  const char* error; /* why it failed; else "" */
  size_t error_size;
  int32_t verdict; /* enum berth_verdict */
  int32_t result;  /* enum berth_sweep_result */
} berth_sweep_item;
/* BERTH_OUT_OF_RANGE past the end. */
BERTH_API int32_t berth_sweep_report_at(berth_sweep_item* item, const berth_sweep_report* report,
                                        size_t index, berth_error** error);
/* Why it was decided so (the last line decided), and what was seen. Either may be NULL. */
BERTH_API int32_t berth_sweep_report_because(berth_strings** because, berth_strings** evidence,
                                             const berth_sweep_report* report, size_t index,
                                             berth_error** error);
/* For people, for programs, for Prometheus. */
enum berth_sweep_format { BERTH_SWEEP_TEXT = 0, BERTH_SWEEP_JSON = 1, BERTH_SWEEP_METRICS = 2 };
BERTH_API int32_t berth_sweep_report_format(berth_string** text, const berth_sweep_report* report,
                                            int32_t format, berth_error** error);
/* The report of a sweep that another process did, from BERTH_SWEEP_JSON (or berth-reaper --json).
   BERTH_INVALID_ARGUMENT if it is none. */
BERTH_API int32_t berth_sweep_report_from_json(berth_sweep_report** report, const char* json,
                                               size_t json_size, berth_error** error);
BERTH_API void berth_sweep_report_free(berth_sweep_report* report);

/* ---- Sweeps whenever there may be something to do ---- */

typedef struct berth_sweep_watch berth_sweep_watch;

/* Of a state directory (as for berth_runtime_new). A sweep is due at once, and then when an owner
   or the keeper of a durable session ends, when a new one appears, when an engine tells of
   something of ours. Nothing is polled and no thread is started: the sweeps are done by next.
   `options` may be NULL. */
BERTH_API int32_t berth_sweep_watch_new(berth_sweep_watch** watch, const char* state_dir,
                                        size_t state_dir_size, const berth_sweep_options* options,
                                        berth_error** error);
/* Readable while next has something to do: for poll, never read it. */
BERTH_API int32_t berth_sweep_watch_fd(int32_t* fd, berth_sweep_watch* watch, berth_error** error);
/* Waits until a sweep is due and does it. BERTH_OK and NULL if none was due in time; one that was
   is finished, which takes BERTH_SWEEP_LOCK_WAIT and BERTH_SWEEP_TOTAL at most. What fails is tried
   again at the next event (BERTH_ABORTED: another reaper was at work). Only BERTH_CANCELLED (it was
   stopped) and BERTH_FAILED_PRECONDITION (it cannot watch) stay. */
BERTH_API int32_t berth_sweep_watch_next(berth_sweep_report** report, berth_sweep_watch* watch,
                                         int64_t timeout_ms, berth_error** error);
/* Has next return BERTH_CANCELLED, now and later; a sweep that has begun is finished. */
BERTH_API int32_t berth_sweep_watch_stop(berth_sweep_watch* watch, berth_error** error);
/* And stops it. */
BERTH_API void berth_sweep_watch_free(berth_sweep_watch* watch);

#ifdef __cplusplus
}
#endif

#endif /* BERTH_CAPI_BERTH_SWEEP_H_ */
