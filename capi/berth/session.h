/* Sessions. The object is a view: freeing it ends nothing. Part of berth.h, whose conventions hold.
 */
#ifndef BERTH_CAPI_BERTH_SESSION_H_
#define BERTH_CAPI_BERTH_SESSION_H_

#include "base.h"
#include "policy.h"
#include "runtime.h"
#include "spec.h"
#include "values.h"

#ifdef __cplusplus
extern "C" {
#endif

BERTH_API void berth_session_free(berth_session* session);
/* Opaque; stays the same through a rename. NULL if it is no session. */
BERTH_API const char* berth_session_handle(const berth_session* session, size_t* size);
BERTH_API int32_t berth_session_name(berth_string** name, berth_session* session,
                                     berth_error** error);
/* A list of one. */
BERTH_API int32_t berth_session_info(berth_infos** infos, berth_session* session,
                                     berth_error** error);
/* `liveness` is enum berth_liveness; `reason`, which may be NULL, says it in words. */
BERTH_API int32_t berth_session_liveness(int32_t* liveness, berth_string** reason,
                                         berth_session* session, berth_error** error);

typedef struct berth_send_options berth_send_options;
BERTH_API int32_t berth_send_options_new(berth_send_options** options, berth_error** error);
/* The key pressed behind the text: "Enter" unless told, "" for none. */
BERTH_API int32_t berth_send_options_set_submit(berth_send_options* options, const char* key,
                                                size_t key_size);
/* 1 unless told: bracketed paste when the program asked for it. */
BERTH_API int32_t berth_send_options_set_paste(berth_send_options* options, int32_t paste);
/* How far delivery is awaited: BERTH_SUBMITTED unless told. */
BERTH_API int32_t berth_send_options_set_await(berth_send_options* options, int32_t delivery);
BERTH_API void berth_send_options_free(berth_send_options* options);

/* One message, whole or not at all; sends to one session never interleave. `delivery` (enum
   berth_delivery) and `options` may be NULL. After a failure nothing of the message was sent. */
BERTH_API int32_t berth_session_send(int32_t* delivery, berth_session* session, const char* text,
                                     size_t text_size, const berth_send_options* options,
                                     int64_t timeout_ms, berth_error** error);
/* Keys by name: "Enter", "C-c", "Up", "F5", "M-x". */
BERTH_API int32_t berth_session_send_keys(berth_session* session, const berth_strings* keys,
                                          berth_error** error);
BERTH_API int32_t berth_session_close_stdin(berth_session* session, berth_error** error);

#define BERTH_CAPTURE_COLOUR UINT32_C(1)
/* What a person would see: the last `lines` lines, 0 for all that is kept. `flags` 0 or
 * BERTH_CAPTURE_COLOUR. */
BERTH_API int32_t berth_session_capture(berth_string** text, berth_session* session, int32_t lines,
                                        uint32_t flags, berth_error** error);
/* The bytes that the program writes, from the offset `from` (-1: from now on), to be read until end
   of file. `begins`, which may be NULL, is where it really begins: later if older bytes are gone. A
   reader that lags by `buffer_bytes` (-1: 64 MiB) is waited for by the program; with 0 the program
   never waits and the reader misses bytes. */
BERTH_API int32_t berth_session_output_fd(int32_t* fd, int64_t* begins, berth_session* session,
                                          int32_t stream, int64_t from, int64_t buffer_bytes,
                                          berth_error** error);
BERTH_API int32_t berth_session_resize(berth_session* session, uint16_t rows, uint16_t cols,
                                       berth_error** error);
/* A socket that carries the screen now and all output after it, and takes input. Several at once.
 */
BERTH_API int32_t berth_session_attach_fd(int32_t* fd, berth_session* session, berth_error** error);
/* The command that attaches a person's terminal. */
BERTH_API int32_t berth_session_attach_command(berth_strings** argv, berth_session* session,
                                               berth_error** error);
/* Starts, moves or ("") ends the log. */
BERTH_API int32_t berth_session_set_log(berth_session* session, const char* path, size_t path_size,
                                        int64_t cap_bytes, berth_error** error);
/* For programs that exec starts from now on. */
BERTH_API int32_t berth_session_set_env(berth_session* session, const char* key, size_t key_size,
                                        const char* value, size_t value_size, berth_error** error);
/* One more process in the session's place; its environment is on top of the session's. */
BERTH_API int32_t berth_session_exec(berth_process** process, berth_session* session,
                                     const berth_process_spec* spec, berth_error** error);
BERTH_API int32_t berth_session_stats(berth_stats* stats, berth_session* session,
                                      berth_error** error);
/* What its policy has stopped, oldest first: the last ones, if there are many. */
BERTH_API int32_t berth_session_violations(berth_violations** violations, berth_session* session,
                                           berth_error** error);
/* Those from number `seen` + 1 on, and those to come. BERTH_FAILED_PRECONDITION if it has no
 * policy.
 */
BERTH_API int32_t berth_session_watch_violations(berth_violation_feed** feed,
                                                 berth_session* session, int64_t seen,
                                                 berth_error** error);
/* What it changed in the folders that its policy shows copy-on-write; while it runs, so far. */
BERTH_API int32_t berth_session_changes(berth_changes** changes, berth_session* session,
                                        berth_error** error);
/* Makes them where the folders really are: all (NULL), or those at and below `paths`.
   BERTH_FAILED_PRECONDITION, and nothing is done, while it runs or where something else has changed
   one of them since it began. */
BERTH_API int32_t berth_session_keep_changes(berth_session* session, const berth_strings* paths,
                                             berth_error** error);
BERTH_API int32_t berth_session_discard_changes(berth_session* session, berth_error** error);
/* To the main process. */
BERTH_API int32_t berth_session_signal(berth_session* session, int32_t signal, berth_error** error);
/* TERM to the whole tree, KILL after the grace; returns when all of it is gone. `status` may be
 * NULL. */
BERTH_API int32_t berth_session_stop(berth_exit* status, berth_session* session, int64_t grace_ms,
                                     berth_error** error);
/* How the main process ended: any number of callers, any number of times. `status` may be NULL. */
BERTH_API int32_t berth_session_wait(berth_exit* status, berth_session* session, int64_t timeout_ms,
                                     berth_error** error);
/* Readable once wait would return at once: for poll, never read it. */
BERTH_API int32_t berth_session_exit_fd(int32_t* fd, berth_session* session, berth_error** error);
BERTH_API int32_t berth_session_rename(berth_session* session, const char* name, size_t name_size,
                                       berth_error** error);
/* Stops it and removes all that it had. Again: BERTH_OK. The object is still to be freed. */
BERTH_API int32_t berth_session_destroy(berth_session* session, int64_t grace_ms,
                                        berth_error** error);

/* ---- What is known of sessions ---- */

enum berth_session_state {
  BERTH_STATE_UNKNOWN = 0,
  BERTH_STATE_STARTING = 1,
  BERTH_STATE_RUNNING = 2,
  BERTH_STATE_EXITED = 3
};
/* "unknown" for a value that is not listed, too. */
BERTH_API const char* berth_session_state_name(int32_t state);

enum berth_info_text {
  BERTH_INFO_HANDLE = 0,
  BERTH_INFO_NAME = 1,
  BERTH_INFO_BACKEND = 2,
  BERTH_INFO_CWD = 3,
  BERTH_INFO_TREE = 4,  /* how the tree is held: "cgroup", "subreaper", "pidns" */
  BERTH_INFO_TITLE = 5, /* as set by the program */
  BERTH_INFO_LOG_PATH = 6,
  BERTH_INFO_TIER = 7,   /* how its policy is enforced; "" if it has none */
  BERTH_INFO_ADDRESS = 8 /* where its engine is, if not at this machine's default; else "" */
};

enum berth_info_number {
  BERTH_INFO_STATE = 0, /* enum berth_session_state */
  BERTH_INFO_PID = 1,
  BERTH_INFO_DURABLE = 2,
  BERTH_INFO_PTY = 3,
  BERTH_INFO_ROWS = 4,
  BERTH_INFO_COLS = 5,
  BERTH_INFO_ATTACHED = 6,     /* viewers now */
  BERTH_INFO_OUTPUT_BYTES = 7, /* written by the program so far */
  BERTH_INFO_CREATED_UNIX_NS = 8,
  BERTH_INFO_LAST_OUTPUT_UNIX_NS = 9, /* -1: none yet */
  BERTH_INFO_VIOLATIONS = 10          /* that its policy has stopped so far */
};

BERTH_API size_t berth_infos_count(const berth_infos* infos);
/* NULL past the end and for a field that is not known. */
BERTH_API const char* berth_infos_text(const berth_infos* infos, size_t index, int32_t field,
                                       size_t* size);
/* -1 past the end and for a field that is not known. */
BERTH_API int64_t berth_infos_number(const berth_infos* infos, size_t index, int32_t field);
/* Meaningful in BERTH_STATE_EXITED. */
BERTH_API int32_t berth_infos_exit(berth_exit* status, const berth_infos* infos, size_t index,
                                   berth_error** error);
/* The value of a label, NULL if there is none of that key. */
BERTH_API const char* berth_infos_label(const berth_infos* infos, size_t index, const char* key,
                                        size_t key_size, size_t* size);
BERTH_API int32_t berth_infos_label_keys(berth_strings** keys, const berth_infos* infos,
                                         size_t index, berth_error** error);
BERTH_API void berth_infos_free(berth_infos* infos);

#ifdef __cplusplus
}
#endif

#endif /* BERTH_CAPI_BERTH_SESSION_H_ */
