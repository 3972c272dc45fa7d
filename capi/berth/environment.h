/* Places in which several processes run side by side, on any backend. Part of berth.h, whose
 * conventions hold. */
#ifndef BERTH_CAPI_BERTH_ENVIRONMENT_H_
#define BERTH_CAPI_BERTH_ENVIRONMENT_H_

#include "base.h"
#include "process.h"
#include "runtime.h"
#include "session.h"
#include "spec.h"
#include "values.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct berth_environment berth_environment;

/* Of `spec`, which is copied, command and terminal are not looked at. Nothing is started yet. */
BERTH_API int32_t berth_environment_new(berth_environment** environment, berth_runtime* runtime,
                                        const berth_session_spec* spec, berth_error** error);
/* Ends nothing: the place ends with stop, shutdown or the runtime. */
BERTH_API void berth_environment_free(berth_environment* environment);
/* Starts the place; fine if it is up. After a stop: starts it again. */
BERTH_API int32_t berth_environment_init(berth_environment* environment, berth_error** error);

/* How one process stands to the others of its environment. */
typedef struct berth_process_place berth_process_place;
/* `name`: for the others to wait on; "" is none. */
BERTH_API int32_t berth_process_place_new(berth_process_place** place, const char* name,
                                          size_t name_size, berth_error** error);
/* It starts once that one has ended. */
BERTH_API int32_t berth_process_place_add_wait_on(berth_process_place* place, const char* name,
                                                  size_t name_size);
/* For the waiting, from the start on; without limit unless told. */
BERTH_API int32_t berth_process_place_set_timeout(berth_process_place* place, int64_t timeout_ms);
BERTH_API void berth_process_place_free(berth_process_place* place);

/* A process in the place. `place` may be NULL. BERTH_FAILED_PRECONDITION before init. */
BERTH_API int32_t berth_environment_start(berth_process** process, berth_environment* environment,
                                          const berth_process_spec* spec,
                                          const berth_process_place* place, berth_error** error);
/* Start and wait. Nobody reads its pipes: one that writes much wants BERTH_STDIO_NULL or a
   descriptor. `status` may be NULL. */
BERTH_API int32_t berth_environment_run(berth_exit* status, berth_environment* environment,
                                        const berth_process_spec* spec,
                                        const berth_process_place* place, int64_t timeout_ms,
                                        berth_error** error);
/* BERTH_NOT_FOUND if a program of that name is not on the place's PATH. */
BERTH_API int32_t berth_environment_check_binary(berth_environment* environment, const char* name,
                                                 size_t name_size, berth_error** error);
/* The host's port that leads to `inside`. */
BERTH_API int32_t berth_environment_host_port(uint16_t* port, berth_environment* environment,
                                              uint16_t inside, berth_error** error);
/* Ends everything in it. It can be started again. */
BERTH_API int32_t berth_environment_stop(berth_environment* environment, int64_t grace_ms,
                                         berth_error** error);
/* Ends everything in it and removes what it had. Any number of times. */
BERTH_API int32_t berth_environment_shutdown(berth_environment* environment, int64_t grace_ms,
                                             berth_error** error);
/* The session behind it. BERTH_NOT_FOUND if it is not up. */
BERTH_API int32_t berth_environment_session(berth_session** session, berth_environment* environment,
                                            berth_error** error);

#ifdef __cplusplus
}
#endif

#endif /* BERTH_CAPI_BERTH_ENVIRONMENT_H_ */
