/* berth: sessions and processes for programs that must not be trusted or lost. The C interface
   (C11, also C++).

     berth_runtime* runtime = NULL;
     berth_session* session = NULL;
     berth_session_spec* spec = NULL;
     berth_error* error = NULL;
     if (berth_runtime_new(&runtime, NULL, 0, &error) != BERTH_OK) goto failed;
     if (berth_session_spec_new(&spec, "fix-42", 6, &error) != BERTH_OK) goto failed;
     berth_session_spec_set_shell(spec, "make test", 9);
     if (berth_session_create(&session, runtime, spec, &error) != BERTH_OK) goto failed;
     ...
   failed:
     fprintf(stderr, "%s\n", berth_error_message(error, NULL));

   Conventions:

   (1) Every function that can fail returns a code: 0 (BERTH_OK), else one of enum berth_code. Its
   last argument, `error`, may be NULL; if not, a failure stores an error object there, to be freed
   with berth_error_free. An error object that is there already is freed first, so one variable,
   NULL at first, serves many calls. Success leaves it.

   (2) Results come through the first arguments. A failure leaves them as they were. They must not
   be NULL unless it says "may be NULL".

   (3) Objects are handles. berth looks a handle up and never follows it as an address: NULL, a
   handle that was freed, one of another type and one from before a fork() are all answered with
   BERTH_INVALID_ARGUMENT. X_free(NULL), freeing twice and freeing in a forked child do nothing. A
   handle's value is never used again.

   (4) Texts go in as pointer and size, any bytes, not kept after the call; NULL with size 0 is the
   empty text. Texts come out with their size (the `size` argument may be NULL) and a NUL behind
   them, and live until their object is freed.

   (5) Enumerations are int32_t and start with what 0 means. Later versions may return values that
   are not listed here: treat them as "unknown". A value that berth does not know is answered with
   BERTH_INVALID_ARGUMENT.

   (6) Setters of specs return a code too, but it may be ignored: the spec keeps its first error,
   and the call that takes the spec reports it.

   (7) `timeout_ms` is the longest that a call may take, in milliseconds from now: 0 does not wait,
   -1 waits without limit. Past it the code is BERTH_DEADLINE_EXCEEDED. Calls without it end by
   themselves: those that ask a session's engine give up with BERTH_UNAVAILABLE after 20 s (60 s for
   starts), those with `grace_ms` 60 s after the grace.

   (8) Descriptors that come out are the caller's to close, and have FD_CLOEXEC set. Those that go
   in stay the caller's.

   (9) Every call may be made from any thread, any number at once, on one object too: also X_free,
   while other threads use the object; it goes when the last of them returns. Only specs,
   environments and lists are for one thread at a time.

   (10) Nothing aborts, exits, prints, logs, throws, handles signals or starts threads. Without
   memory a call returns BERTH_RESOURCE_EXHAUSTED.

   (11) Functions are never removed or changed, structures never grow; berth_abi_version() goes up
   when something is added, and berth_features() tells what this library was built with. */
#ifndef BERTH_CAPI_BERTH_H_
#define BERTH_CAPI_BERTH_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define BERTH_API __attribute__((visibility("default")))

/* The version that this header describes, and the one of the library at hand. */
#define BERTH_ABI_VERSION 1
BERTH_API int32_t berth_abi_version(void);

/* Bits of berth_features(). */
#define BERTH_FEATURE_NATIVE (UINT64_C(1) << 0) /* the backend "native" */
#define BERTH_FEATURE_TMUX (UINT64_C(1) << 1)
#define BERTH_FEATURE_DOCKER (UINT64_C(1) << 2)
#define BERTH_FEATURE_NIX (UINT64_C(1) << 3)
#define BERTH_FEATURE_POLICY (UINT64_C(1) << 4)
#define BERTH_FEATURE_AGENTS (UINT64_C(1) << 5)
#define BERTH_FEATURE_REAPER (UINT64_C(1) << 6)
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

/* ---- Small values ---- */

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

/* What is known of a sent message. Each includes the ones before it. */
enum berth_delivery {
  BERTH_QUEUED = 0,    /* accepted whole; the program has not been given all of it */
  BERTH_WRITTEN = 1,   /* all bytes are in the program's terminal or pipe */
  BERTH_SUBMITTED = 2, /* and the submit key after them */
  BERTH_CONFIRMED = 3  /* and the program answered with output after it */
};

enum berth_stream { BERTH_STDIN = 0, BERTH_STDOUT = 1, BERTH_STDERR = 2 };

/* ---- Environments: byte-exact, never expanded, never in an argv, a file or a log ---- */

typedef struct berth_env berth_env;

enum berth_env_base {
  BERTH_ENV_CLEAN = 0,  /* nothing of the host's */
  BERTH_ENV_BASIC = 1,  /* PATH HOME USER LOGNAME SHELL LANG LC_* TERM TZ TMPDIR, where the host has
                           them; the default */
  BERTH_ENV_INHERIT = 2 /* all of the host's */
};

BERTH_API int32_t berth_env_new(berth_env** env, int32_t base, berth_error** error);
/* The listed variables, where the host has them. */
BERTH_API int32_t berth_env_new_listed(berth_env** env, const berth_strings* keys,
                                       berth_error** error);
/* Keys are [A-Za-z_][A-Za-z0-9_]*, values are without NUL; otherwise the start that uses them fails
 * and says so. */
BERTH_API int32_t berth_env_set(berth_env* env, const char* key, size_t key_size, const char* value,
                                size_t value_size);
BERTH_API int32_t berth_env_unset(berth_env* env, const char* key, size_t key_size);
/* Behind what is there, with `separator` between; alone if there is nothing. */
BERTH_API int32_t berth_env_append(berth_env* env, const char* key, size_t key_size,
                                   const char* value, size_t value_size, const char* separator,
                                   size_t separator_size);
BERTH_API void berth_env_free(berth_env* env);

/* ---- What to run: specs ---- */

typedef struct berth_session_spec berth_session_spec;
typedef struct berth_process_spec berth_process_spec;

/* `name` is [A-Za-z0-9][A-Za-z0-9_-]{0,63}. A terminal of 24 rows and 80 columns, durable,
 * BERTH_ENV_BASIC, no limits. */
BERTH_API int32_t berth_session_spec_new(berth_session_spec** spec, const char* name,
                                         size_t name_size, berth_error** error);
BERTH_API void berth_session_spec_free(berth_session_spec* spec);
/* "native", "tmux", "docker", "nix"; "" lets berth choose. */
BERTH_API int32_t berth_session_spec_set_backend(berth_session_spec* spec, const char* backend,
                                                 size_t backend_size);
/* One argument after the other, the program first; or one line for /bin/sh, in place of them. */
BERTH_API int32_t berth_session_spec_add_arg(berth_session_spec* spec, const char* arg,
                                             size_t arg_size);
BERTH_API int32_t berth_session_spec_set_shell(berth_session_spec* spec, const char* line,
                                               size_t line_size);
/* Copied. */
BERTH_API int32_t berth_session_spec_set_env(berth_session_spec* spec, const berth_env* env);
BERTH_API int32_t berth_session_spec_set_cwd(berth_session_spec* spec, const char* cwd,
                                             size_t cwd_size);
/* A terminal of that size; or, with 0 rows and columns, three pipes. */
BERTH_API int32_t berth_session_spec_set_terminal(berth_session_spec* spec, uint16_t rows,
                                                  uint16_t cols);
/* 1: outlives the program that made it, until destroyed. 0: ends with its runtime. */
BERTH_API int32_t berth_session_spec_set_durable(berth_session_spec* spec, int32_t durable);
/* Limits in milliseconds, -1 for none; inactivity is time without output. `grace_ms` is between
 * TERM and KILL then. */
BERTH_API int32_t berth_session_spec_set_time_limits(berth_session_spec* spec, int64_t wall_ms,
                                                     int64_t inactivity_ms, int64_t grace_ms);
/* Lines of scrollback for capture, and bytes of output kept for late readers. */
BERTH_API int32_t berth_session_spec_set_kept(berth_session_spec* spec, int32_t scrollback_lines,
                                              int64_t output_bytes);
/* All output goes to this file too, which is rotated once (to FILE.1) when it passes the cap. */
BERTH_API int32_t berth_session_spec_set_log(berth_session_spec* spec, const char* path,
                                             size_t path_size, int64_t cap_bytes);
BERTH_API int32_t berth_session_spec_set_label(berth_session_spec* spec, const char* key,
                                               size_t key_size, const char* value,
                                               size_t value_size);

enum berth_stdio {
  BERTH_STDIO_NULL = 0, /* /dev/null: the default of stdin */
  BERTH_STDIO_PIPE = 1, /* to be taken: the default of stdout and stderr */
  BERTH_STDIO_FD = 2    /* a duplicate of the caller's descriptor */
};

BERTH_API int32_t berth_process_spec_new(berth_process_spec** spec, berth_error** error);
BERTH_API void berth_process_spec_free(berth_process_spec* spec);
BERTH_API int32_t berth_process_spec_add_arg(berth_process_spec* spec, const char* arg,
                                             size_t arg_size);
BERTH_API int32_t berth_process_spec_set_shell(berth_process_spec* spec, const char* line,
                                               size_t line_size);
BERTH_API int32_t berth_process_spec_set_env(berth_process_spec* spec, const berth_env* env);
BERTH_API int32_t berth_process_spec_set_cwd(berth_process_spec* spec, const char* cwd,
                                             size_t cwd_size);
/* `stream` is enum berth_stream, `kind` enum berth_stdio; `fd` matters for BERTH_STDIO_FD only. */
BERTH_API int32_t berth_process_spec_set_stdio(berth_process_spec* spec, int32_t stream,
                                               int32_t kind, int32_t fd);
/* One terminal in place of the three streams; 0 rows and columns: none. */
BERTH_API int32_t berth_process_spec_set_terminal(berth_process_spec* spec, uint16_t rows,
                                                  uint16_t cols);

/* ---- Runtimes ---- */

typedef struct berth_runtime berth_runtime;
typedef struct berth_session berth_session;
typedef struct berth_process berth_process;
typedef struct berth_infos berth_infos;
typedef struct berth_event berth_event;

/* `state_dir` "": $BERTH_STATE_DIR, else $XDG_STATE_HOME/berth, else ~/.local/state/berth. */
BERTH_API int32_t berth_runtime_new(berth_runtime** runtime, const char* state_dir,
                                    size_t state_dir_size, berth_error** error);
/* Ends its processes and its ephemeral sessions; durable ones go on. Handles of sessions and
   processes that came from it are freed with it. */
BERTH_API void berth_runtime_free(berth_runtime* runtime);

/* BERTH_ALREADY_EXISTS if there is one of that name. After a failure nothing has run and nothing is
 * left. */
BERTH_API int32_t berth_session_create(berth_session** session, berth_runtime* runtime,
                                       const berth_session_spec* spec, berth_error** error);
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
  BERTH_EVENT_LOST =
      2 /* its engine does not answer any more: liveness is unknown, the detail says why */
};

BERTH_API int32_t berth_event_kind(const berth_event* event);
BERTH_API const char* berth_event_handle(const berth_event* event, size_t* size);
BERTH_API const char* berth_event_name(const berth_event* event, size_t* size);
BERTH_API const char* berth_event_detail(const berth_event* event, size_t* size);
BERTH_API int32_t berth_event_exit(berth_exit* status, const berth_event* event,
                                   berth_error** error);
BERTH_API void berth_event_free(berth_event* event);

/* ---- Sessions. The object is a view: freeing it ends nothing. ---- */

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

enum berth_info_text {
  BERTH_INFO_HANDLE = 0,
  BERTH_INFO_NAME = 1,
  BERTH_INFO_BACKEND = 2,
  BERTH_INFO_CWD = 3,
  BERTH_INFO_TREE = 4,  /* how the tree is held: "cgroup", "subreaper", "pidns" */
  BERTH_INFO_TITLE = 5, /* as set by the program */
  BERTH_INFO_LOG_PATH = 6
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
  BERTH_INFO_LAST_OUTPUT_UNIX_NS = 9 /* -1: none yet */
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

/* ---- Processes ---- */

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

#ifdef __cplusplus
}
#endif

#endif /* BERTH_CAPI_BERTH_H_ */
