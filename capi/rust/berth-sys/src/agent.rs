// Made by gen_sys.py from berth/agent.h.
#[allow(unused_imports)]
use crate::*;
#[allow(unused_imports)]
use core::ffi::{c_char, c_void};
pub const BERTH_AGENT_MAY_START_THREAD: u32 = 1;
pub const BERTH_AGENT_STOP_WHEN_WAITING: u32 = 2;
pub const BERTH_AGENT_NO_REDACTION: u32 = 4;

pub const BERTH_AGENT_PROMPT: i32 = 0;
pub const BERTH_AGENT_COMMAND: i32 = 1;
pub const BERTH_AGENT_RESUME: i32 = 2;
pub const BERTH_AGENT_COLD_PROMPT: i32 = 3;
pub const BERTH_AGENT_STORY_ID: i32 = 4;
pub const BERTH_AGENT_NAME: i32 = 5;
pub const BERTH_AGENT_API_URL: i32 = 6;
pub const BERTH_AGENT_API_MODEL: i32 = 7;
pub const BERTH_AGENT_API_KEY: i32 = 8;
pub const BERTH_AGENT_API_SYSTEM: i32 = 9;
pub const BERTH_AGENT_STATE_DIR: i32 = 10;

pub const BERTH_AGENT_INACTIVITY: i32 = 0;
pub const BERTH_AGENT_RESULT_GRACE: i32 = 1;
pub const BERTH_AGENT_STOP_GRACE: i32 = 2;
pub const BERTH_AGENT_LONGEST_RATE_LIMIT: i32 = 3;
pub const BERTH_AGENT_HTTP_TIMEOUT: i32 = 4;
pub const BERTH_AGENT_HTTP_FIRST_PAUSE: i32 = 5;
pub const BERTH_AGENT_HTTP_LONGEST_PAUSE: i32 = 6;

pub const BERTH_AGENT_MAX_LINE: i32 = 0;
pub const BERTH_AGENT_MAX_EVENTS: i32 = 1;
pub const BERTH_AGENT_MAX_BYTES: i32 = 2;
pub const BERTH_AGENT_HTTP_RETRIES: i32 = 3;
pub const BERTH_AGENT_HTTP_MAX_BODY: i32 = 4;

pub const BERTH_AGENT_RAW: i32 = 0;
pub const BERTH_AGENT_STARTED: i32 = 1;
pub const BERTH_AGENT_TEXT: i32 = 2;
pub const BERTH_AGENT_TOOL_CALL: i32 = 3;
pub const BERTH_AGENT_TOOL_RESULT: i32 = 4;
pub const BERTH_AGENT_USAGE: i32 = 5;
pub const BERTH_AGENT_RATE_LIMIT: i32 = 6;
pub const BERTH_AGENT_WAITING: i32 = 7;
pub const BERTH_AGENT_RESULT: i32 = 8;

pub const BERTH_AGENT_EVENT_TEXT: i32 = 0;
pub const BERTH_AGENT_EVENT_RAW: i32 = 1;
pub const BERTH_AGENT_EVENT_SESSION_ID: i32 = 2;
pub const BERTH_AGENT_EVENT_MODEL: i32 = 3;
pub const BERTH_AGENT_EVENT_MESSAGE_ID: i32 = 4;
pub const BERTH_AGENT_EVENT_PARENT_ID: i32 = 5;
pub const BERTH_AGENT_EVENT_TOOL_ID: i32 = 6;
pub const BERTH_AGENT_EVENT_TOOL_NAME: i32 = 7;

pub const BERTH_AGENT_EVENT_KIND: i32 = 0;
pub const BERTH_AGENT_EVENT_SEQUENCE: i32 = 1;
pub const BERTH_AGENT_EVENT_UNIX_NS: i32 = 2;
pub const BERTH_AGENT_EVENT_IS_ERROR: i32 = 3;
pub const BERTH_AGENT_EVENT_PARTIAL: i32 = 4;
pub const BERTH_AGENT_EVENT_NEW_TURN: i32 = 5;
pub const BERTH_AGENT_EVENT_HAS_USAGE: i32 = 6;
pub const BERTH_AGENT_EVENT_TURNS: i32 = 7;
pub const BERTH_AGENT_EVENT_HARD: i32 = 8;
pub const BERTH_AGENT_EVENT_RESETS_AT_UNIX_NS: i32 = 9;
pub const BERTH_AGENT_EVENT_FROM_STDERR: i32 = 10;
pub const BERTH_AGENT_EVENT_TRUNCATED_BYTES: i32 = 11;

pub const BERTH_AGENT_IDLE: i32 = 0;
pub const BERTH_AGENT_RUNNING: i32 = 1;
pub const BERTH_AGENT_COMPLETED: i32 = 2;
pub const BERTH_AGENT_FAILED: i32 = 3;

pub const BERTH_AGENT_END_NONE: i32 = 0;
pub const BERTH_AGENT_END_SUCCESS: i32 = 1;
pub const BERTH_AGENT_END_ERROR: i32 = 2;
pub const BERTH_AGENT_END_NO_RESULT: i32 = 3;
pub const BERTH_AGENT_END_STOPPED: i32 = 4;
pub const BERTH_AGENT_END_INACTIVITY: i32 = 5;
pub const BERTH_AGENT_END_WALL: i32 = 6;
pub const BERTH_AGENT_END_TURNS: i32 = 7;
pub const BERTH_AGENT_END_COST: i32 = 8;
pub const BERTH_AGENT_END_WAITING: i32 = 9;
pub const BERTH_AGENT_END_RESUME_REFUSED: i32 = 10;
pub const BERTH_AGENT_END_LOST: i32 = 11;

pub const BERTH_AGENT_RESULT_STATUS: i32 = 0;
pub const BERTH_AGENT_RESULT_REASON: i32 = 1;
pub const BERTH_AGENT_RESULT_TURNS: i32 = 2;
pub const BERTH_AGENT_RESULT_RESUMED: i32 = 3;
pub const BERTH_AGENT_RESULT_RESUME_REFUSED: i32 = 4;
pub const BERTH_AGENT_RESULT_TORN_BYTES: i32 = 5;

pub const BERTH_AGENT_RESULT_TEXT: i32 = 0;
pub const BERTH_AGENT_RESULT_DETAIL: i32 = 1;
pub const BERTH_AGENT_RESULT_SESSION_ID: i32 = 2;
pub const BERTH_AGENT_RESULT_LOG_ERROR: i32 = 3;

pub const BERTH_AGENT_LOG_RUN_ID: i32 = 0;
pub const BERTH_AGENT_LOG_SESSION_NAME: i32 = 1;
pub const BERTH_AGENT_LOG_AGENT: i32 = 2;
pub const BERTH_AGENT_LOG_AGENT_NAME: i32 = 3;
pub const BERTH_AGENT_LOG_STORY_ID: i32 = 4;

pub const BERTH_AGENT_LOG_STARTED_UNIX_NS: i32 = 0;
pub const BERTH_AGENT_LOG_UNREADABLE: i32 = 1;

opaque! {
    berth_agent_context
    berth_agent_event
    berth_agent_log
    berth_agent_result
    berth_agent_run
    berth_agent_subscription
}

#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct berth_usage {
    pub input: i64,
    pub output: i64,
    pub cache_creation: i64,
    pub cache_read: i64,
    pub cost_usd: f64,
}

extern "C" {
    pub fn berth_agent_context_new(
        context: *mut *mut berth_agent_context,
        agent: *const c_char,
        agent_size: usize,
        error: *mut *mut berth_error,
    ) -> i32;
    pub fn berth_agent_context_free(context: *mut berth_agent_context);
    pub fn berth_agent_context_set_text(
        context: *mut berth_agent_context,
        field: i32,
        text: *const c_char,
        text_size: usize,
    ) -> i32;
    pub fn berth_agent_context_add_arg(
        context: *mut berth_agent_context,
        arg: *const c_char,
        arg_size: usize,
    ) -> i32;
    pub fn berth_agent_context_set_place(
        context: *mut berth_agent_context,
        place: *const berth_session_spec,
    ) -> i32;
    pub fn berth_agent_context_set_mcp_port(context: *mut berth_agent_context, port: u16) -> i32;
    pub fn berth_agent_context_set_budget(
        context: *mut berth_agent_context,
        turns: i64,
        cost_usd: f64,
        wall_ms: i64,
    ) -> i32;
    pub fn berth_agent_context_set_prices(
        context: *mut berth_agent_context,
        input: f64,
        output: f64,
        cache_creation: f64,
        cache_read: f64,
    ) -> i32;
    pub fn berth_agent_context_set_time(
        context: *mut berth_agent_context,
        which: i32,
        ms: i64,
    ) -> i32;
    pub fn berth_agent_context_set_size(
        context: *mut berth_agent_context,
        which: i32,
        size: i64,
    ) -> i32;
    pub fn berth_agent_context_set_flags(context: *mut berth_agent_context, flags: u32) -> i32;
    pub fn berth_agent_context_set_redactions(
        context: *mut berth_agent_context,
        patterns: *const berth_strings,
        values: *const berth_strings,
    ) -> i32;
    pub fn berth_agent_event_name(kind: i32) -> *const c_char;
    pub fn berth_agent_event_number(event: *const berth_agent_event, field: i32) -> i64;
    pub fn berth_agent_event_text(
        event: *const berth_agent_event,
        field: i32,
        size: *mut usize,
    ) -> *const c_char;
    pub fn berth_agent_event_usage(
        usage: *mut berth_usage,
        event: *const berth_agent_event,
        error: *mut *mut berth_error,
    ) -> i32;
    pub fn berth_agent_event_json(
        json: *mut *mut berth_string,
        event: *const berth_agent_event,
        error: *mut *mut berth_error,
    ) -> i32;
    pub fn berth_agent_event_free(event: *mut berth_agent_event);
    pub fn berth_agent_status_name(status: i32) -> *const c_char;
    pub fn berth_agent_end_name(end: i32) -> *const c_char;
    pub fn berth_agent_result_number(result: *const berth_agent_result, field: i32) -> i64;
    pub fn berth_agent_result_text(
        result: *const berth_agent_result,
        field: i32,
        size: *mut usize,
    ) -> *const c_char;
    pub fn berth_agent_result_usage(
        usage: *mut berth_usage,
        tallied: *mut berth_usage,
        result: *const berth_agent_result,
        error: *mut *mut berth_error,
    ) -> i32;
    pub fn berth_agent_result_exit(
        status: *mut berth_exit,
        result: *const berth_agent_result,
        error: *mut *mut berth_error,
    ) -> i32;
    pub fn berth_agent_result_json(
        json: *mut *mut berth_string,
        result: *const berth_agent_result,
        error: *mut *mut berth_error,
    ) -> i32;
    pub fn berth_agent_result_free(result: *mut berth_agent_result);
    pub fn berth_agent_start(
        run: *mut *mut berth_agent_run,
        runtime: *mut berth_runtime,
        context: *const berth_agent_context,
        error: *mut *mut berth_error,
    ) -> i32;
    pub fn berth_agent_run_free(run: *mut berth_agent_run);
    pub fn berth_agent_run_fd(
        fd: *mut i32,
        run: *mut berth_agent_run,
        error: *mut *mut berth_error,
    ) -> i32;
    pub fn berth_agent_run_next(
        event: *mut *mut berth_agent_event,
        run: *mut berth_agent_run,
        timeout_ms: i64,
        error: *mut *mut berth_error,
    ) -> i32;
    pub fn berth_agent_run_finished(run: *const berth_agent_run) -> i32;
    pub fn berth_agent_run_drive(
        result: *mut *mut berth_agent_result,
        run: *mut berth_agent_run,
        timeout_ms: i64,
        error: *mut *mut berth_error,
    ) -> i32;
    pub fn berth_agent_run_result(
        result: *mut *mut berth_agent_result,
        run: *mut berth_agent_run,
        error: *mut *mut berth_error,
    ) -> i32;
    pub fn berth_agent_run_stop(run: *mut berth_agent_run, error: *mut *mut berth_error) -> i32;
    pub fn berth_agent_run_id(run: *const berth_agent_run, size: *mut usize) -> *const c_char;
    pub fn berth_agent_run_session_name(
        run: *const berth_agent_run,
        size: *mut usize,
    ) -> *const c_char;
    pub fn berth_agent_run_subscribe(
        subscription: *mut *mut berth_agent_subscription,
        run: *mut berth_agent_run,
        from: i64,
        error: *mut *mut berth_error,
    ) -> i32;
    pub fn berth_agent_subscription_fd(
        fd: *mut i32,
        subscription: *mut berth_agent_subscription,
        error: *mut *mut berth_error,
    ) -> i32;
    pub fn berth_agent_subscription_next(
        event: *mut *mut berth_agent_event,
        missed: *mut i64,
        subscription: *mut berth_agent_subscription,
        error: *mut *mut berth_error,
    ) -> i32;
    pub fn berth_agent_subscription_ended(subscription: *const berth_agent_subscription) -> i32;
    pub fn berth_agent_subscription_position(subscription: *const berth_agent_subscription) -> i64;
    pub fn berth_agent_subscription_free(subscription: *mut berth_agent_subscription);
    pub fn berth_agent_log_list(
        runs: *mut *mut berth_strings,
        state_dir: *const c_char,
        state_dir_size: usize,
        error: *mut *mut berth_error,
    ) -> i32;
    pub fn berth_agent_log_open(
        log: *mut *mut berth_agent_log,
        state_dir: *const c_char,
        state_dir_size: usize,
        run: *const c_char,
        run_size: usize,
        error: *mut *mut berth_error,
    ) -> i32;
    pub fn berth_agent_log_fd(
        fd: *mut i32,
        log: *mut berth_agent_log,
        error: *mut *mut berth_error,
    ) -> i32;
    pub fn berth_agent_log_next(
        event: *mut *mut berth_agent_event,
        log: *mut berth_agent_log,
        error: *mut *mut berth_error,
    ) -> i32;
    pub fn berth_agent_log_end(
        result: *mut *mut berth_agent_result,
        log: *mut berth_agent_log,
        error: *mut *mut berth_error,
    ) -> i32;
    pub fn berth_agent_log_abandoned(log: *mut berth_agent_log) -> i32;
    pub fn berth_agent_log_text(
        log: *const berth_agent_log,
        field: i32,
        size: *mut usize,
    ) -> *const c_char;
    pub fn berth_agent_log_number(log: *const berth_agent_log, field: i32) -> i64;
    pub fn berth_agent_log_free(log: *mut berth_agent_log);
}
