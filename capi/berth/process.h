/* Processes. Part of berth.h, whose conventions hold. */
#ifndef BERTH_CAPI_BERTH_PROCESS_H_
#define BERTH_CAPI_BERTH_PROCESS_H_

#include "base.h"
#include "policy.h"
#include "runtime.h"
#include "values.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Ends the whole tree (KILL) and returns once it is gone. */
BERTH_API void berth_process_free(berth_process* process);
/* As this machine's /proc shows it; 0 where the engine runs it elsewhere; -1 if it is no process
 * object. */
BERTH_API int32_t berth_process_pid(const berth_process* process);
/* 1 with a terminal, 0 with pipes, -1 if it is no process object. */
BERTH_API int32_t berth_process_is_pty(const berth_process* process);
BERTH_API int32_t berth_process_timing(berth_start_timing* timing, const berth_process* process,
                                       berth_error** error);
/* Each once, then BERTH_FAILED_PRECONDITION. With a terminal: stdout reads, stdin writes, there is
 * no stderr. */
BERTH_API int32_t berth_process_take_stdin_fd(int32_t* fd, berth_process* process,
                                              berth_error** error);
BERTH_API int32_t berth_process_take_stdout_fd(int32_t* fd, berth_process* process,
                                               berth_error** error);
BERTH_API int32_t berth_process_take_stderr_fd(int32_t* fd, berth_process* process,
                                               berth_error** error);
BERTH_API int32_t berth_process_resize(berth_process* process, uint16_t rows, uint16_t cols,
                                       berth_error** error);
BERTH_API int32_t berth_process_signal(berth_process* process, int32_t signal, berth_error** error);
/* As for sessions. */
BERTH_API int32_t berth_process_stop(berth_exit* status, berth_process* process, int64_t grace_ms,
                                     berth_error** error);
BERTH_API int32_t berth_process_wait(berth_exit* status, berth_process* process, int64_t timeout_ms,
                                     berth_error** error);
BERTH_API int32_t berth_process_exit_fd(int32_t* fd, berth_process* process, berth_error** error);
BERTH_API int32_t berth_process_stats(berth_stats* stats, berth_process* process,
                                      berth_error** error);
/* What its policy has stopped, oldest first; also for a while after its end. */
BERTH_API int32_t berth_process_violations(berth_violations** violations, berth_process* process,
                                           berth_error** error);

#ifdef __cplusplus
}
#endif

#endif /* BERTH_CAPI_BERTH_PROCESS_H_ */
