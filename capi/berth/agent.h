/* Agents: run to completion, each in a session of its own, and what they did. Part of berth.h,
 * whose conventions hold. */
#ifndef BERTH_CAPI_BERTH_AGENT_H_
#define BERTH_CAPI_BERTH_AGENT_H_

#include "base.h"
#include "runtime.h"
#include "spec.h"
#include "values.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- What to run, where, on which prompt, and how far ---- */

typedef struct berth_agent_context berth_agent_context;

/* `agent`: "claude", "codex", "gemini"; or an API loop: "openai-api", "gemini-api". */
BERTH_API int32_t berth_agent_context_new(berth_agent_context** context, const char* agent,
                                          size_t agent_size, berth_error** error);
BERTH_API void berth_agent_context_free(berth_agent_context* context);

enum berth_agent_text {
  BERTH_AGENT_PROMPT = 0,
  BERTH_AGENT_COMMAND = 1,     /* "" is the driver's program */
  BERTH_AGENT_RESUME = 2,      /* the agent's own session to go on with */
  BERTH_AGENT_COLD_PROMPT = 3, /* if that is refused; "" is the prompt */
  BERTH_AGENT_STORY_ID = 4,    /* the caller's own names, for the log and $BERTH_STORY… */
  BERTH_AGENT_NAME = 5,        /* …and $BERTH_AGENT */
  BERTH_AGENT_API_URL = 6,
  BERTH_AGENT_API_MODEL = 7,
  BERTH_AGENT_API_KEY = 8, /* a secret: in no log */
  BERTH_AGENT_API_SYSTEM = 9,
  BERTH_AGENT_STATE_DIR = 10 /* of the log; give what the runtime was given */
};
BERTH_API int32_t berth_agent_context_set_text(berth_agent_context* context, int32_t field,
                                               const char* text, size_t text_size);
/* The caller's own arguments, after the driver's. */
BERTH_API int32_t berth_agent_context_add_arg(berth_agent_context* context, const char* arg,
                                              size_t arg_size);
/* Where it runs: name ("": one is made up), backend, cwd, env, policy, container, limits. Command,
   terminal and durability are the run's own business. Copied. */
BERTH_API int32_t berth_agent_context_set_place(berth_agent_context* context,
                                                const berth_session_spec* place);
/* Of an MCP server on loopback, for the agent to use; 0 is none. */
BERTH_API int32_t berth_agent_context_set_mcp_port(berth_agent_context* context, uint16_t port);
/* 0 turns, 0 cost and -1 ms are no limit. */
BERTH_API int32_t berth_agent_context_set_budget(berth_agent_context* context, int64_t turns,
                                                 double cost_usd, int64_t wall_ms);
/* US dollars per million tokens, for agents that do not tell what they cost. */
BERTH_API int32_t berth_agent_context_set_prices(berth_agent_context* context, double input,
                                                 double output, double cache_creation,
                                                 double cache_read);

enum berth_agent_time {
  BERTH_AGENT_INACTIVITY = 0,   /* 10 min; -1: no limit */
  BERTH_AGENT_RESULT_GRACE = 1, /* for a process that goes on after its result; 10 s */
  BERTH_AGENT_STOP_GRACE = 2,   /* between TERM and KILL; 5 s */
  BERTH_AGENT_LONGEST_RATE_LIMIT = 3,
  BERTH_AGENT_HTTP_TIMEOUT = 4, /* of API loops: one attempt; 10 min */
  BERTH_AGENT_HTTP_FIRST_PAUSE = 5,
  BERTH_AGENT_HTTP_LONGEST_PAUSE = 6
};
BERTH_API int32_t berth_agent_context_set_time(berth_agent_context* context, int32_t which,
                                               int64_t ms);

enum berth_agent_size {
  BERTH_AGENT_MAX_LINE = 0,   /* a longer line is cut there; its event says so */
  BERTH_AGENT_MAX_EVENTS = 1, /* kept for subscribers */
  BERTH_AGENT_MAX_BYTES = 2,  /* kept for subscribers */
  BERTH_AGENT_HTTP_RETRIES = 3,
  BERTH_AGENT_HTTP_MAX_BODY = 4
};
BERTH_API int32_t berth_agent_context_set_size(berth_agent_context* context, int32_t which,
                                               int64_t size);

#define BERTH_AGENT_MAY_START_THREAD UINT32_C(1)  /* which API loops need */
#define BERTH_AGENT_STOP_WHEN_WAITING UINT32_C(2) /* waiting for a person is the end */
#define BERTH_AGENT_NO_REDACTION UINT32_C(4)      /* the well-known forms of keys stay in the log */
BERTH_API int32_t berth_agent_context_set_flags(berth_agent_context* context, uint32_t flags);
/* Besides the values of variables named like secrets: RE2 patterns, and secrets themselves, that
   are taken out of the log. Either may be NULL. */
BERTH_API int32_t berth_agent_context_set_redactions(berth_agent_context* context,
                                                     const berth_strings* patterns,
                                                     const berth_strings* values);

/* ---- What an agent did, and used up ---- */

typedef struct berth_usage {
  int64_t input; /* tokens read that were in no cache */
  int64_t output;
  int64_t cache_creation;
  int64_t cache_read;
  double cost_usd;
} berth_usage;

typedef struct berth_agent_event berth_agent_event;

enum berth_agent_event_type {
  BERTH_AGENT_RAW = 0,
  BERTH_AGENT_STARTED = 1,     /* session_id, model */
  BERTH_AGENT_TEXT = 2,        /* text */
  BERTH_AGENT_TOOL_CALL = 3,   /* tool_id, tool_name, text: its arguments as JSON */
  BERTH_AGENT_TOOL_RESULT = 4, /* tool_id, text, is_error */
  BERTH_AGENT_USAGE = 5,       /* usage of the message message_id so far */
  BERTH_AGENT_RATE_LIMIT = 6,  /* hard, resets_at, text */
  BERTH_AGENT_WAITING = 7,     /* for a person: text is what it asks */
  BERTH_AGENT_RESULT = 8       /* text, is_error, usage, turns, session_id */
};
enum berth_agent_event_text {
  BERTH_AGENT_EVENT_TEXT = 0,
  BERTH_AGENT_EVENT_RAW = 1, /* the line itself, with the first event that it gave */
  BERTH_AGENT_EVENT_SESSION_ID = 2,
  BERTH_AGENT_EVENT_MODEL = 3,
  BERTH_AGENT_EVENT_MESSAGE_ID = 4,
  BERTH_AGENT_EVENT_PARENT_ID = 5, /* the tool call whose sub-agent did this */
  BERTH_AGENT_EVENT_TOOL_ID = 6,
  BERTH_AGENT_EVENT_TOOL_NAME = 7
};
enum berth_agent_event_number {
  BERTH_AGENT_EVENT_KIND = 0, /* enum berth_agent_event_type */
  BERTH_AGENT_EVENT_SEQUENCE = 1,
  BERTH_AGENT_EVENT_UNIX_NS = 2,
  BERTH_AGENT_EVENT_IS_ERROR = 3,
  BERTH_AGENT_EVENT_PARTIAL = 4,
  BERTH_AGENT_EVENT_NEW_TURN = 5,
  BERTH_AGENT_EVENT_HAS_USAGE = 6,
  BERTH_AGENT_EVENT_TURNS = 7,
  BERTH_AGENT_EVENT_HARD = 8,
  BERTH_AGENT_EVENT_RESETS_AT_UNIX_NS = 9, /* -1: not told */
  BERTH_AGENT_EVENT_FROM_STDERR = 10,
  BERTH_AGENT_EVENT_TRUNCATED_BYTES = 11
};
/* "raw", "started", "text", …; "unknown" for what is not listed. */
BERTH_API const char* berth_agent_event_name(int32_t kind);
/* -1 for a field that is not known, and if it is no event. */
BERTH_API int64_t berth_agent_event_number(const berth_agent_event* event, int32_t field);
BERTH_API const char* berth_agent_event_text(const berth_agent_event* event, int32_t field,
                                             size_t* size);
BERTH_API int32_t berth_agent_event_usage(berth_usage* usage, const berth_agent_event* event,
                                          berth_error** error);
/* One line, as the log has it, but with nothing taken out. */
BERTH_API int32_t berth_agent_event_json(berth_string** json, const berth_agent_event* event,
                                         berth_error** error);
BERTH_API void berth_agent_event_free(berth_agent_event* event);

/* ---- How a run stands or ended ---- */

typedef struct berth_agent_result berth_agent_result;

enum berth_agent_status {
  BERTH_AGENT_IDLE = 0,
  BERTH_AGENT_RUNNING = 1,
  BERTH_AGENT_COMPLETED = 2,
  BERTH_AGENT_FAILED = 3
};
enum berth_agent_end {
  BERTH_AGENT_END_NONE = 0, /* it runs */
  BERTH_AGENT_END_SUCCESS = 1,
  BERTH_AGENT_END_ERROR = 2,     /* it told a result that is an error */
  BERTH_AGENT_END_NO_RESULT = 3, /* it ended without one */
  BERTH_AGENT_END_STOPPED = 4,
  BERTH_AGENT_END_INACTIVITY = 5,
  BERTH_AGENT_END_WALL = 6,
  BERTH_AGENT_END_TURNS = 7,
  BERTH_AGENT_END_COST = 8,
  BERTH_AGENT_END_WAITING = 9,
  BERTH_AGENT_END_RESUME_REFUSED = 10,
  BERTH_AGENT_END_LOST = 11
};
enum berth_agent_result_number {
  BERTH_AGENT_RESULT_STATUS = 0, /* enum berth_agent_status */
  BERTH_AGENT_RESULT_REASON = 1, /* enum berth_agent_end */
  BERTH_AGENT_RESULT_TURNS = 2,
  BERTH_AGENT_RESULT_RESUMED = 3,
  BERTH_AGENT_RESULT_RESUME_REFUSED = 4, /* asked for and refused: this is a fresh one */
  BERTH_AGENT_RESULT_TORN_BYTES = 5      /* of a last line without an end */
};
enum berth_agent_result_text {
  BERTH_AGENT_RESULT_TEXT = 0, /* the agent's last word */
  BERTH_AGENT_RESULT_DETAIL = 1,
  BERTH_AGENT_RESULT_SESSION_ID = 2, /* the agent's own, to resume by */
  BERTH_AGENT_RESULT_LOG_ERROR = 3   /* why events are missing in the log; "": none are */
};
/* "idle", "running", …; "success", "error", "no_result", …; "unknown" for what is not listed. */
BERTH_API const char* berth_agent_status_name(int32_t status);
BERTH_API const char* berth_agent_end_name(int32_t end);
BERTH_API int64_t berth_agent_result_number(const berth_agent_result* result, int32_t field);
BERTH_API const char* berth_agent_result_text(const berth_agent_result* result, int32_t field,
                                              size_t* size);
/* As the agent told it at its end, until then as tallied; and every message counted once. Either
 * may be NULL. */
BERTH_API int32_t berth_agent_result_usage(berth_usage* usage, berth_usage* tallied,
                                           const berth_agent_result* result, berth_error** error);
/* Of the process, once it has ended. */
BERTH_API int32_t berth_agent_result_exit(berth_exit* status, const berth_agent_result* result,
                                          berth_error** error);
BERTH_API int32_t berth_agent_result_json(berth_string** json, const berth_agent_result* result,
                                          berth_error** error);
BERTH_API void berth_agent_result_free(berth_agent_result* result);

/* ---- Runs ---- */

typedef struct berth_agent_run berth_agent_run;

/* No thread is started (but for an API loop, if its context allows one): the run goes on inside
   next, and an event loop calls it when the descriptor is readable. */
BERTH_API int32_t berth_agent_start(berth_agent_run** run, berth_runtime* runtime,
                                    const berth_agent_context* context, berth_error** error);
/* Ends the agent. */
BERTH_API void berth_agent_run_free(berth_agent_run* run);
/* Readable while next has something to do, and for ever once the run is finished. */
BERTH_API int32_t berth_agent_run_fd(int32_t* fd, berth_agent_run* run, berth_error** error);
/* The next event; BERTH_OK and NULL if there is none in time or the run is finished. Threads that
   call it at once take turns. */
BERTH_API int32_t berth_agent_run_next(berth_agent_event** event, berth_agent_run* run,
                                       int64_t timeout_ms, berth_error** error);
/* 1 once all events were given and no process is left, else 0; -1 if it is no run. */
BERTH_API int32_t berth_agent_run_finished(const berth_agent_run* run);
/* Until it is finished, without looking at the events. */
BERTH_API int32_t berth_agent_run_drive(berth_agent_result** result, berth_agent_run* run,
                                        int64_t timeout_ms, berth_error** error);
/* As far as it is known now. */
BERTH_API int32_t berth_agent_run_result(berth_agent_result** result, berth_agent_run* run,
                                         berth_error** error);
/* Ends it: what is left to do is done by next. */
BERTH_API int32_t berth_agent_run_stop(berth_agent_run* run, berth_error** error);
/* Of its event log, and of the session that it runs in. */
BERTH_API const char* berth_agent_run_id(const berth_agent_run* run, size_t* size);
BERTH_API const char* berth_agent_run_session_name(const berth_agent_run* run, size_t* size);

/* ---- Events for others than the one who drives the run ---- */

typedef struct berth_agent_subscription berth_agent_subscription;

/* From the sequence `from` on; 0: from now on. */
BERTH_API int32_t berth_agent_run_subscribe(berth_agent_subscription** subscription,
                                            berth_agent_run* run, int64_t from,
                                            berth_error** error);
/* Readable while next has something, and once the run is finished. */
BERTH_API int32_t berth_agent_subscription_fd(int32_t* fd, berth_agent_subscription* subscription,
                                              berth_error** error);
/* The next one, or NULL at once. `missed`, which may be NULL: how many came before it that this
   subscriber was too slow for. */
BERTH_API int32_t berth_agent_subscription_next(berth_agent_event** event, int64_t* missed,
                                                berth_agent_subscription* subscription,
                                                berth_error** error);
/* 1 if nothing is left and nothing will come, else 0; -1 if it is no subscription. */
BERTH_API int32_t berth_agent_subscription_ended(const berth_agent_subscription* subscription);
/* The sequence that comes next; -1 if it is no subscription. */
BERTH_API int64_t berth_agent_subscription_position(const berth_agent_subscription* subscription);
BERTH_API void berth_agent_subscription_free(berth_agent_subscription* subscription);

/* ---- Logs of runs, also of those of other processes ---- */

typedef struct berth_agent_log berth_agent_log;

/* Run ids of a state directory (as for berth_runtime_new), the latest last. */
BERTH_API int32_t berth_agent_log_list(berth_strings** runs, const char* state_dir,
                                       size_t state_dir_size, berth_error** error);
/* By run id, or the latest run of a session's name. */
BERTH_API int32_t berth_agent_log_open(berth_agent_log** log, const char* state_dir,
                                       size_t state_dir_size, const char* run, size_t run_size,
                                       berth_error** error);
/* Readable once there may be more. */
BERTH_API int32_t berth_agent_log_fd(int32_t* fd, berth_agent_log* log, berth_error** error);
/* The next event, or NULL at once. */
BERTH_API int32_t berth_agent_log_next(berth_agent_event** event, berth_agent_log* log,
                                       berth_error** error);
/* How the run ended; BERTH_OK and NULL until next has come to that. */
BERTH_API int32_t berth_agent_log_end(berth_agent_result** result, berth_agent_log* log,
                                      berth_error** error);
/* 1 if nobody writes to it any more, else 0; -1 if it is no log. */
BERTH_API int32_t berth_agent_log_abandoned(berth_agent_log* log);

enum berth_agent_log_text {
  BERTH_AGENT_LOG_RUN_ID = 0,
  BERTH_AGENT_LOG_SESSION_NAME = 1,
  BERTH_AGENT_LOG_AGENT = 2,
  BERTH_AGENT_LOG_AGENT_NAME = 3,
  BERTH_AGENT_LOG_STORY_ID = 4
};
BERTH_API const char* berth_agent_log_text(const berth_agent_log* log, int32_t field, size_t* size);
enum berth_agent_log_number {
  BERTH_AGENT_LOG_STARTED_UNIX_NS = 0,
  BERTH_AGENT_LOG_UNREADABLE = 1 /* lines that were passed over by now */
};
/* -1 for a field that is not known, and if it is no log. */
BERTH_API int64_t berth_agent_log_number(const berth_agent_log* log, int32_t field);
BERTH_API void berth_agent_log_free(berth_agent_log* log);

#ifdef __cplusplus
}
#endif

#endif /* BERTH_CAPI_BERTH_AGENT_H_ */
