/* Runtimes and their events. Part of berth.h, whose conventions hold. */
#ifndef BERTH_CAPI_BERTH_RUNTIME_H_
#define BERTH_CAPI_BERTH_RUNTIME_H_

#include "base.h"
#include "policy.h"
#include "spec.h"
#include "values.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Runtimes ---- */

typedef struct berth_runtime berth_runtime;
typedef struct berth_session berth_session;
typedef struct berth_process berth_process;
typedef struct berth_infos berth_infos;
typedef struct berth_event berth_event;

/* `state_dir` "": $BERTH_STATE_DIR, else $XDG_STATE_HOME/berth, else ~/.local/state/berth. */
BERTH_API int32_t berth_runtime_new(berth_runtime** runtime, const char* state_dir,
                                    size_t state_dir_size, berth_error** error);
/* Ends its processes, agents and ephemeral sessions; durable ones go on. Handles of sessions,
   processes, environments and agents that came from it are freed with it. */
BERTH_API void berth_runtime_free(berth_runtime* runtime);

/* BERTH_ALREADY_EXISTS if there is one of that name. After a failure nothing has run and nothing is
 * left. */
BERTH_API int32_t berth_session_create(berth_session** session, berth_runtime* runtime,
                                       const berth_session_spec* spec, berth_error** error);
/* The backend that create would use for it, and why, in words; `reason` may be NULL. Asks engines.
 */
BERTH_API int32_t berth_session_choose(berth_string** backend, berth_string** reason,
                                       berth_runtime* runtime, const berth_session_spec* spec,
                                       berth_error** error);
/* By the text that berth_session_handle gave, in this process or another one, now or earlier. */
BERTH_API int32_t berth_session_open(berth_session** session, berth_runtime* runtime,
                                     const char* handle, size_t handle_size, berth_error** error);
/* By name, exactly. */
BERTH_API int32_t berth_session_find(berth_session** session, berth_runtime* runtime,
                                     const char* name, size_t name_size, berth_error** error);
/* All sessions of the state directory, by name. */
BERTH_API int32_t berth_session_list(berth_infos** infos, berth_runtime* runtime,
                                     berth_error** error);
/* The cheap form: no name, no record of its own, ends with its object. */
BERTH_API int32_t berth_process_spawn(berth_process** process, berth_runtime* runtime,
                                      const berth_process_spec* spec, berth_error** error);

/* Readable while there is an event: for poll, never read it. */
BERTH_API int32_t berth_runtime_event_fd(int32_t* fd, berth_runtime* runtime, berth_error** error);
/* The next event of a session made or opened through this runtime; BERTH_OK and NULL if none came
 * in time. */
BERTH_API int32_t berth_runtime_next_event(berth_event** event, berth_runtime* runtime,
                                           int64_t timeout_ms, berth_error** error);

enum berth_event_type {
  BERTH_EVENT_NONE = 0,
  BERTH_EVENT_EXITED = 1, /* the main process ended */
  /* Its engine does not answer any more: liveness is unknown, the detail says why. */
  BERTH_EVENT_LOST = 2,
  BERTH_EVENT_VIOLATION = 3 /* its policy stopped something; the session goes on */
};

BERTH_API int32_t berth_event_kind(const berth_event* event);
BERTH_API const char* berth_event_handle(const berth_event* event, size_t* size);
BERTH_API const char* berth_event_name(const berth_event* event, size_t* size);
BERTH_API const char* berth_event_detail(const berth_event* event, size_t* size);
BERTH_API int32_t berth_event_exit(berth_exit* status, const berth_event* event,
                                   berth_error** error);
/* A list of one for BERTH_EVENT_VIOLATION, of none otherwise. */
BERTH_API int32_t berth_event_violations(berth_violations** violations, const berth_event* event,
                                         berth_error** error);
BERTH_API void berth_event_free(berth_event* event);

#ifdef __cplusplus
}
#endif

#endif /* BERTH_CAPI_BERTH_RUNTIME_H_ */
