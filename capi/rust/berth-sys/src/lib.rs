//! The C interface of berth, as `berth.h` declares it. The header says what each function does; the crate `berth` is the
//! safe way to use it. A test compares this file with the header.
#![no_std]
#![allow(non_camel_case_types)]

use core::ffi::c_char;

pub const BERTH_ABI_VERSION: i32 = 1;
pub const BERTH_CAPTURE_COLOUR: u32 = 1;

pub const BERTH_FEATURE_NATIVE: u64 = 1 << 0;
pub const BERTH_FEATURE_TMUX: u64 = 1 << 1;
pub const BERTH_FEATURE_DOCKER: u64 = 1 << 2;
pub const BERTH_FEATURE_NIX: u64 = 1 << 3;
pub const BERTH_FEATURE_POLICY: u64 = 1 << 4;
pub const BERTH_FEATURE_AGENTS: u64 = 1 << 5;
pub const BERTH_FEATURE_REAPER: u64 = 1 << 6;

pub const BERTH_OK: i32 = 0;
pub const BERTH_CANCELLED: i32 = 1;
pub const BERTH_UNKNOWN: i32 = 2;
pub const BERTH_INVALID_ARGUMENT: i32 = 3;
pub const BERTH_DEADLINE_EXCEEDED: i32 = 4;
pub const BERTH_NOT_FOUND: i32 = 5;
pub const BERTH_ALREADY_EXISTS: i32 = 6;
pub const BERTH_PERMISSION_DENIED: i32 = 7;
pub const BERTH_RESOURCE_EXHAUSTED: i32 = 8;
pub const BERTH_FAILED_PRECONDITION: i32 = 9;
pub const BERTH_ABORTED: i32 = 10;
pub const BERTH_OUT_OF_RANGE: i32 = 11;
pub const BERTH_UNIMPLEMENTED: i32 = 12;
pub const BERTH_INTERNAL: i32 = 13;
pub const BERTH_UNAVAILABLE: i32 = 14;
pub const BERTH_DATA_LOSS: i32 = 15;
pub const BERTH_UNAUTHENTICATED: i32 = 16;

pub const BERTH_END_UNKNOWN: i32 = 0;
pub const BERTH_END_EXITED: i32 = 1;
pub const BERTH_END_SIGNALED: i32 = 2;
pub const BERTH_END_STOPPED: i32 = 3;
pub const BERTH_END_WALL: i32 = 4;
pub const BERTH_END_INACTIVITY: i32 = 5;
pub const BERTH_END_OOM: i32 = 6;
pub const BERTH_END_PIDS: i32 = 7;
pub const BERTH_END_VIOLATION: i32 = 8;

pub const BERTH_LIVENESS_UNKNOWN: i32 = 0;
pub const BERTH_ALIVE: i32 = 1;
pub const BERTH_DEAD: i32 = 2;

pub const BERTH_QUEUED: i32 = 0;
pub const BERTH_WRITTEN: i32 = 1;
pub const BERTH_SUBMITTED: i32 = 2;
pub const BERTH_CONFIRMED: i32 = 3;

pub const BERTH_STDIN: i32 = 0;
pub const BERTH_STDOUT: i32 = 1;
pub const BERTH_STDERR: i32 = 2;

pub const BERTH_ENV_CLEAN: i32 = 0;
pub const BERTH_ENV_BASIC: i32 = 1;
pub const BERTH_ENV_INHERIT: i32 = 2;

pub const BERTH_STDIO_NULL: i32 = 0;
pub const BERTH_STDIO_PIPE: i32 = 1;
pub const BERTH_STDIO_FD: i32 = 2;

pub const BERTH_EVENT_NONE: i32 = 0;
pub const BERTH_EVENT_EXITED: i32 = 1;
pub const BERTH_EVENT_LOST: i32 = 2;

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

macro_rules! opaque {
    ($($name:ident)*) => {$(
        #[repr(C)]
        pub struct $name {
            _private: [u8; 0],
        }
    )*};
}
opaque! {
    berth_env
    berth_error
    berth_event
    berth_infos
    berth_process
    berth_process_spec
    berth_runtime
    berth_send_options
    berth_session
    berth_session_spec
    berth_string
    berth_strings
}

/// How a process ended.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct berth_exit {
    pub code: i32,
    pub signal: i32,
    pub reason: i32,
    pub reserved: i32,
}

/// What a session or a process tree uses; negative is not known.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct berth_stats {
    pub cpu_ns: i64,
    pub memory_bytes: i64,
    pub processes: i64,
    pub read_bytes: i64,
    pub write_bytes: i64,
    pub reserved: [i64; 3],
    pub source: [c_char; 24],
}

/// When each step of a start was reached, nanoseconds of CLOCK_MONOTONIC.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct berth_start_timing {
    pub requested_ns: i64,
    pub received_ns: i64,
    pub started_ns: i64,
    pub replied_ns: i64,
}

extern "C" {
    pub fn berth_abi_version() -> i32;
    pub fn berth_features() -> u64;
    pub fn berth_code_name(code: i32) -> *const c_char;
    pub fn berth_error_code(error: *const berth_error) -> i32;
    pub fn berth_error_message(error: *const berth_error, size: *mut usize) -> *const c_char;
    pub fn berth_error_free(error: *mut berth_error);
    pub fn berth_string_data(string: *const berth_string, size: *mut usize) -> *const c_char;
    pub fn berth_string_free(string: *mut berth_string);
    pub fn berth_strings_new(strings: *mut *mut berth_strings, error: *mut *mut berth_error) -> i32;
    pub fn berth_strings_add(
        strings: *mut berth_strings,
        text: *const c_char,
        text_size: usize,
    ) -> i32;
    pub fn berth_strings_count(strings: *const berth_strings) -> usize;
    pub fn berth_strings_at(
        strings: *const berth_strings,
        index: usize,
        size: *mut usize,
    ) -> *const c_char;
    pub fn berth_strings_free(strings: *mut berth_strings);
    pub fn berth_exit_describe(
        text: *mut *mut berth_string,
        status: *const berth_exit,
        error: *mut *mut berth_error,
    ) -> i32;
    pub fn berth_env_new(env: *mut *mut berth_env, base: i32, error: *mut *mut berth_error) -> i32;
    pub fn berth_env_new_listed(
        env: *mut *mut berth_env,
        keys: *const berth_strings,
        error: *mut *mut berth_error,
    ) -> i32;
    pub fn berth_env_set(
        env: *mut berth_env,
        key: *const c_char,
        key_size: usize,
        value: *const c_char,
        value_size: usize,
    ) -> i32;
    pub fn berth_env_unset(env: *mut berth_env, key: *const c_char, key_size: usize) -> i32;
    pub fn berth_env_append(
        env: *mut berth_env,
        key: *const c_char,
        key_size: usize,
        value: *const c_char,
        value_size: usize,
        separator: *const c_char,
        separator_size: usize,
    ) -> i32;
    pub fn berth_env_free(env: *mut berth_env);
    pub fn berth_session_spec_new(
        spec: *mut *mut berth_session_spec,
        name: *const c_char,
        name_size: usize,
        error: *mut *mut berth_error,
    ) -> i32;
    pub fn berth_session_spec_free(spec: *mut berth_session_spec);
    pub fn berth_session_spec_set_backend(
        spec: *mut berth_session_spec,
        backend: *const c_char,
        backend_size: usize,
    ) -> i32;
    pub fn berth_session_spec_add_arg(
        spec: *mut berth_session_spec,
        arg: *const c_char,
        arg_size: usize,
    ) -> i32;
    pub fn berth_session_spec_set_shell(
        spec: *mut berth_session_spec,
        line: *const c_char,
        line_size: usize,
    ) -> i32;
    pub fn berth_session_spec_set_env(spec: *mut berth_session_spec, env: *const berth_env) -> i32;
    pub fn berth_session_spec_set_cwd(
        spec: *mut berth_session_spec,
        cwd: *const c_char,
        cwd_size: usize,
    ) -> i32;
    pub fn berth_session_spec_set_terminal(
        spec: *mut berth_session_spec,
        rows: u16,
        cols: u16,
    ) -> i32;
    pub fn berth_session_spec_set_durable(spec: *mut berth_session_spec, durable: i32) -> i32;
    pub fn berth_session_spec_set_time_limits(
        spec: *mut berth_session_spec,
        wall_ms: i64,
        inactivity_ms: i64,
        grace_ms: i64,
    ) -> i32;
    pub fn berth_session_spec_set_kept(
        spec: *mut berth_session_spec,
        scrollback_lines: i32,
        output_bytes: i64,
    ) -> i32;
    pub fn berth_session_spec_set_log(
        spec: *mut berth_session_spec,
        path: *const c_char,
        path_size: usize,
        cap_bytes: i64,
    ) -> i32;
    pub fn berth_session_spec_set_label(
        spec: *mut berth_session_spec,
        key: *const c_char,
        key_size: usize,
        value: *const c_char,
        value_size: usize,
    ) -> i32;
    pub fn berth_process_spec_new(
        spec: *mut *mut berth_process_spec,
        error: *mut *mut berth_error,
    ) -> i32;
    pub fn berth_process_spec_free(spec: *mut berth_process_spec);
    pub fn berth_process_spec_add_arg(
        spec: *mut berth_process_spec,
        arg: *const c_char,
        arg_size: usize,
    ) -> i32;
    pub fn berth_process_spec_set_shell(
        spec: *mut berth_process_spec,
        line: *const c_char,
        line_size: usize,
    ) -> i32;
    pub fn berth_process_spec_set_env(spec: *mut berth_process_spec, env: *const berth_env) -> i32;
    pub fn berth_process_spec_set_cwd(
        spec: *mut berth_process_spec,
        cwd: *const c_char,
        cwd_size: usize,
    ) -> i32;
    pub fn berth_process_spec_set_stdio(
        spec: *mut berth_process_spec,
        stream: i32,
        kind: i32,
        fd: i32,
    ) -> i32;
    pub fn berth_process_spec_set_terminal(
        spec: *mut berth_process_spec,
        rows: u16,
        cols: u16,
    ) -> i32;
    pub fn berth_runtime_new(
        runtime: *mut *mut berth_runtime,
        state_dir: *const c_char,
        state_dir_size: usize,
        error: *mut *mut berth_error,
    ) -> i32;
    pub fn berth_runtime_free(runtime: *mut berth_runtime);
    pub fn berth_session_create(
        session: *mut *mut berth_session,
        runtime: *mut berth_runtime,
        spec: *const berth_session_spec,
        error: *mut *mut berth_error,
    ) -> i32;
    pub fn berth_session_open(
        session: *mut *mut berth_session,
        runtime: *mut berth_runtime,
        handle: *const c_char,
        handle_size: usize,
        error: *mut *mut berth_error,
    ) -> i32;
    pub fn berth_session_find(
        session: *mut *mut berth_session,
        runtime: *mut berth_runtime,
        name: *const c_char,
        name_size: usize,
        error: *mut *mut berth_error,
    ) -> i32;
    pub fn berth_session_list(
        infos: *mut *mut berth_infos,
        runtime: *mut berth_runtime,
        error: *mut *mut berth_error,
    ) -> i32;
    pub fn berth_process_spawn(
        process: *mut *mut berth_process,
        runtime: *mut berth_runtime,
        spec: *const berth_process_spec,
        error: *mut *mut berth_error,
    ) -> i32;
    pub fn berth_runtime_event_fd(
        fd: *mut i32,
        runtime: *mut berth_runtime,
        error: *mut *mut berth_error,
    ) -> i32;
    pub fn berth_runtime_next_event(
        event: *mut *mut berth_event,
        runtime: *mut berth_runtime,
        timeout_ms: i64,
        error: *mut *mut berth_error,
    ) -> i32;
    pub fn berth_event_kind(event: *const berth_event) -> i32;
    pub fn berth_event_handle(event: *const berth_event, size: *mut usize) -> *const c_char;
    pub fn berth_event_name(event: *const berth_event, size: *mut usize) -> *const c_char;
    pub fn berth_event_detail(event: *const berth_event, size: *mut usize) -> *const c_char;
    pub fn berth_event_exit(
        status: *mut berth_exit,
        event: *const berth_event,
        error: *mut *mut berth_error,
    ) -> i32;
    pub fn berth_event_free(event: *mut berth_event);
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
    pub fn berth_process_free(process: *mut berth_process);
    pub fn berth_process_pid(process: *const berth_process) -> i32;
    pub fn berth_process_is_pty(process: *const berth_process) -> i32;
    pub fn berth_process_timing(
        timing: *mut berth_start_timing,
        process: *const berth_process,
        error: *mut *mut berth_error,
    ) -> i32;
    pub fn berth_process_take_stdin_fd(
        fd: *mut i32,
        process: *mut berth_process,
        error: *mut *mut berth_error,
    ) -> i32;
    pub fn berth_process_take_stdout_fd(
        fd: *mut i32,
        process: *mut berth_process,
        error: *mut *mut berth_error,
    ) -> i32;
    pub fn berth_process_take_stderr_fd(
        fd: *mut i32,
        process: *mut berth_process,
        error: *mut *mut berth_error,
    ) -> i32;
    pub fn berth_process_resize(
        process: *mut berth_process,
        rows: u16,
        cols: u16,
        error: *mut *mut berth_error,
    ) -> i32;
    pub fn berth_process_signal(
        process: *mut berth_process,
        signal: i32,
        error: *mut *mut berth_error,
    ) -> i32;
    pub fn berth_process_stop(
        status: *mut berth_exit,
        process: *mut berth_process,
        grace_ms: i64,
        error: *mut *mut berth_error,
    ) -> i32;
    pub fn berth_process_wait(
        status: *mut berth_exit,
        process: *mut berth_process,
        timeout_ms: i64,
        error: *mut *mut berth_error,
    ) -> i32;
    pub fn berth_process_exit_fd(
        fd: *mut i32,
        process: *mut berth_process,
        error: *mut *mut berth_error,
    ) -> i32;
    pub fn berth_process_stats(
        stats: *mut berth_stats,
        process: *mut berth_process,
        error: *mut *mut berth_error,
    ) -> i32;
}
