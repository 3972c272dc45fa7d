// Made by gen_sys.py from berth/process.h.
#[allow(unused_imports)]
use crate::*;
#[allow(unused_imports)]
use core::ffi::{c_char, c_void};

extern "C" {
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
    pub fn berth_process_violations(
        violations: *mut *mut berth_violations,
        process: *mut berth_process,
        error: *mut *mut berth_error,
    ) -> i32;
}
