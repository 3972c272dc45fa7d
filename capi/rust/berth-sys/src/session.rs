// Made by gen_sys.py from berth/session.h.
#[allow(unused_imports)]
use crate::*;
#[allow(unused_imports)]
use core::ffi::{c_char, c_void};
pub const BERTH_CAPTURE_COLOUR: u32 = 1;

pub const BERTH_STATE_UNKNOWN: i32 = 0;
pub const BERTH_STATE_STARTING: i32 = 1;
pub const BERTH_STATE_RUNNING: i32 = 2;
pub const BERTH_STATE_EXITED: i32 = 3;

pub const BERTH_INFO_HANDLE: i32 = 0;
pub const BERTH_INFO_NAME: i32 = 1;
pub const BERTH_INFO_BACKEND: i32 = 2;
pub const BERTH_INFO_CWD: i32 = 3;
pub const BERTH_INFO_TREE: i32 = 4;
pub const BERTH_INFO_TITLE: i32 = 5;
pub const BERTH_INFO_LOG_PATH: i32 = 6;
pub const BERTH_INFO_TIER: i32 = 7;
pub const BERTH_INFO_ADDRESS: i32 = 8;

pub const BERTH_INFO_STATE: i32 = 0;
pub const BERTH_INFO_PID: i32 = 1;
pub const BERTH_INFO_DURABLE: i32 = 2;
pub const BERTH_INFO_PTY: i32 = 3;
pub const BERTH_INFO_ROWS: i32 = 4;
pub const BERTH_INFO_COLS: i32 = 5;
pub const BERTH_INFO_ATTACHED: i32 = 6;
pub const BERTH_INFO_OUTPUT_BYTES: i32 = 7;
pub const BERTH_INFO_CREATED_UNIX_NS: i32 = 8;
pub const BERTH_INFO_LAST_OUTPUT_UNIX_NS: i32 = 9;
pub const BERTH_INFO_VIOLATIONS: i32 = 10;

opaque! {
    berth_send_options
}

extern "C" {
    pub fn berth_session_free(session: *mut berth_session);
    pub fn berth_session_handle(session: *const berth_session, size: *mut usize) -> *const c_char;
    pub fn berth_session_name(
        name: *mut *mut berth_string,
        session: *mut berth_session,
        error: *mut *mut berth_error,
    ) -> i32;
    pub fn berth_session_info(
        infos: *mut *mut berth_infos,
        session: *mut berth_session,
        error: *mut *mut berth_error,
    ) -> i32;
    pub fn berth_session_liveness(
        liveness: *mut i32,
        reason: *mut *mut berth_string,
        session: *mut berth_session,
        error: *mut *mut berth_error,
    ) -> i32;
    pub fn berth_send_options_new(
        options: *mut *mut berth_send_options,
        error: *mut *mut berth_error,
    ) -> i32;
    pub fn berth_send_options_set_submit(
        options: *mut berth_send_options,
        key: *const c_char,
        key_size: usize,
    ) -> i32;
    pub fn berth_send_options_set_paste(options: *mut berth_send_options, paste: i32) -> i32;
    pub fn berth_send_options_set_await(options: *mut berth_send_options, delivery: i32) -> i32;
    pub fn berth_send_options_free(options: *mut berth_send_options);
    pub fn berth_session_send(
        delivery: *mut i32,
        session: *mut berth_session,
        text: *const c_char,
        text_size: usize,
        options: *const berth_send_options,
        timeout_ms: i64,
        error: *mut *mut berth_error,
    ) -> i32;
    pub fn berth_session_send_keys(
        session: *mut berth_session,
        keys: *const berth_strings,
        error: *mut *mut berth_error,
    ) -> i32;
    pub fn berth_session_close_stdin(
        session: *mut berth_session,
        error: *mut *mut berth_error,
    ) -> i32;
    pub fn berth_session_capture(
        text: *mut *mut berth_string,
        session: *mut berth_session,
        lines: i32,
        flags: u32,
        error: *mut *mut berth_error,
    ) -> i32;
    pub fn berth_session_output_fd(
        fd: *mut i32,
        begins: *mut i64,
        session: *mut berth_session,
        stream: i32,
        from: i64,
        buffer_bytes: i64,
        error: *mut *mut berth_error,
    ) -> i32;
    pub fn berth_session_resize(
        session: *mut berth_session,
        rows: u16,
        cols: u16,
        error: *mut *mut berth_error,
    ) -> i32;
    pub fn berth_session_attach_fd(
        fd: *mut i32,
        session: *mut berth_session,
        error: *mut *mut berth_error,
    ) -> i32;
    pub fn berth_session_attach_command(
        argv: *mut *mut berth_strings,
        session: *mut berth_session,
        error: *mut *mut berth_error,
    ) -> i32;
    pub fn berth_session_set_log(
        session: *mut berth_session,
        path: *const c_char,
        path_size: usize,
        cap_bytes: i64,
        error: *mut *mut berth_error,
    ) -> i32;
    pub fn berth_session_set_env(
        session: *mut berth_session,
        key: *const c_char,
        key_size: usize,
        value: *const c_char,
        value_size: usize,
        error: *mut *mut berth_error,
    ) -> i32;
    pub fn berth_session_exec(
        process: *mut *mut berth_process,
        session: *mut berth_session,
        spec: *const berth_process_spec,
        error: *mut *mut berth_error,
    ) -> i32;
    pub fn berth_session_stats(
        stats: *mut berth_stats,
        session: *mut berth_session,
        error: *mut *mut berth_error,
    ) -> i32;
    pub fn berth_session_violations(
        violations: *mut *mut berth_violations,
        session: *mut berth_session,
        error: *mut *mut berth_error,
    ) -> i32;
    pub fn berth_session_watch_violations(
        feed: *mut *mut berth_violation_feed,
        session: *mut berth_session,
        seen: i64,
        error: *mut *mut berth_error,
    ) -> i32;
    pub fn berth_session_changes(
        changes: *mut *mut berth_changes,
        session: *mut berth_session,
        error: *mut *mut berth_error,
    ) -> i32;
    pub fn berth_session_keep_changes(
        session: *mut berth_session,
        paths: *const berth_strings,
        error: *mut *mut berth_error,
    ) -> i32;
    pub fn berth_session_discard_changes(
        session: *mut berth_session,
        error: *mut *mut berth_error,
    ) -> i32;
    pub fn berth_session_signal(
        session: *mut berth_session,
        signal: i32,
        error: *mut *mut berth_error,
    ) -> i32;
    pub fn berth_session_stop(
        status: *mut berth_exit,
        session: *mut berth_session,
        grace_ms: i64,
        error: *mut *mut berth_error,
    ) -> i32;
    pub fn berth_session_wait(
        status: *mut berth_exit,
        session: *mut berth_session,
        timeout_ms: i64,
        error: *mut *mut berth_error,
    ) -> i32;
    pub fn berth_session_exit_fd(
        fd: *mut i32,
        session: *mut berth_session,
        error: *mut *mut berth_error,
    ) -> i32;
    pub fn berth_session_rename(
        session: *mut berth_session,
        name: *const c_char,
        name_size: usize,
        error: *mut *mut berth_error,
    ) -> i32;
    pub fn berth_session_destroy(
        session: *mut berth_session,
        grace_ms: i64,
        error: *mut *mut berth_error,
    ) -> i32;
    pub fn berth_session_state_name(state: i32) -> *const c_char;
    pub fn berth_infos_count(infos: *const berth_infos) -> usize;
    pub fn berth_infos_text(
        infos: *const berth_infos,
        index: usize,
        field: i32,
        size: *mut usize,
    ) -> *const c_char;
    pub fn berth_infos_number(infos: *const berth_infos, index: usize, field: i32) -> i64;
    pub fn berth_infos_exit(
        status: *mut berth_exit,
        infos: *const berth_infos,
        index: usize,
        error: *mut *mut berth_error,
    ) -> i32;
    pub fn berth_infos_label(
        infos: *const berth_infos,
        index: usize,
        key: *const c_char,
        key_size: usize,
        size: *mut usize,
    ) -> *const c_char;
    pub fn berth_infos_label_keys(
        keys: *mut *mut berth_strings,
        infos: *const berth_infos,
        index: usize,
        error: *mut *mut berth_error,
    ) -> i32;
    pub fn berth_infos_free(infos: *mut berth_infos);
}
