/* Environments, and what to run: specs. Part of berth.h, whose conventions hold. */
#ifndef BERTH_CAPI_BERTH_SPEC_H_
#define BERTH_CAPI_BERTH_SPEC_H_

#include "base.h"
#include "policy.h"
#include "values.h"

#ifdef __cplusplus
extern "C" {
#endif

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
/* The same before what is there. */
BERTH_API int32_t berth_env_prepend(berth_env* env, const char* key, size_t key_size,
                                    const char* value, size_t value_size, const char* separator,
                                    size_t separator_size);
/* Puts the changes of `other` between what `env` inherits and what it changes itself. */
BERTH_API int32_t berth_env_beneath(berth_env* env, const berth_env* other);
/* "KEY=value" texts as a start would have them; says what is wrong with a key or value. */
BERTH_API int32_t berth_env_resolve(berth_strings** entries, const berth_env* env,
                                    berth_error** error);
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
/* What it may see, write, call, reach and use up; without one: what the caller may. Copied. */
BERTH_API int32_t berth_session_spec_set_policy(berth_session_spec* spec,
                                                const berth_policy* policy);

/* For containers ("docker") and environments. */
enum berth_pull { BERTH_PULL_IF_MISSING = 0, BERTH_PULL_NEVER = 1, BERTH_PULL_ALWAYS = 2 };
BERTH_API int32_t berth_session_spec_set_image(berth_session_spec* spec, const char* image,
                                               size_t image_size, int32_t pull);
/* A folder or file of the host, seen at `target`. */
BERTH_API int32_t berth_session_spec_add_mount(berth_session_spec* spec, const char* source,
                                               size_t source_size, const char* target,
                                               size_t target_size, int32_t read_only);
/* A port inside that the host reaches on `address` ("": 127.0.0.1); `host` 0: a free one. */
BERTH_API int32_t berth_session_spec_add_port(berth_session_spec* spec, uint16_t inside,
                                              uint16_t host, const char* address,
                                              size_t address_size, int32_t udp);
/* "uid:gid" or a name of the image's; "" is the image's own. */
BERTH_API int32_t berth_session_spec_set_user(berth_session_spec* spec, const char* user,
                                              size_t user_size);
/* "": as the policy says, or the engine's default without one. */
BERTH_API int32_t berth_session_spec_set_network(berth_session_spec* spec, const char* network,
                                                 size_t network_size);
#define BERTH_CONTAINER_HOST_USER UINT32_C(1) /* the caller's uid and gid */
#define BERTH_CONTAINER_NO_INIT UINT32_C(2)   /* no pid 1 of ours that reaps */
#define BERTH_CONTAINER_REUSE UINT32_C(4)     /* kept between sessions of one name, if unchanged */
BERTH_API int32_t berth_session_spec_set_container_flags(berth_session_spec* spec, uint32_t flags);
/* For "nix": the folder with the flake.nix ("" is the working directory) and the dev shell ("" is
   the default); `wrapped` 1 runs `nix develop` each time instead of what was kept of it. */
BERTH_API int32_t berth_session_spec_set_flake(berth_session_spec* spec, const char* flake,
                                               size_t flake_size, const char* shell,
                                               size_t shell_size, int32_t wrapped);

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
/* For spawn; a process that exec starts is under its session's. Copied. */
BERTH_API int32_t berth_process_spec_set_policy(berth_process_spec* spec,
                                                const berth_policy* policy);

#ifdef __cplusplus
}
#endif

#endif /* BERTH_CAPI_BERTH_SPEC_H_ */
