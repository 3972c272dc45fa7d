// Made by gen_sys.py from berth/values.h.
#[allow(unused_imports)]
use crate::*;
#[allow(unused_imports)]
use core::ffi::{c_char, c_void};

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

#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct berth_exit {
    pub code: i32,
    pub signal: i32,
    pub reason: i32,
    pub reserved: i32,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct berth_stats {
    pub cpu_ns: i64,
    pub memory_bytes: i64,
    pub processes: i64,
    pub read_bytes: i64,
    pub write_bytes: i64,
    pub reserved: [i64; 3],
    pub source: [c_char; 24],
}

#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct berth_start_timing {
    pub requested_ns: i64,
    pub received_ns: i64,
    pub started_ns: i64,
    pub replied_ns: i64,
}

extern "C" {
    pub fn berth_exit_describe(
        text: *mut *mut berth_string,
        status: *const berth_exit,
        error: *mut *mut berth_error,
    ) -> i32;
    pub fn berth_exit_success(status: *const berth_exit) -> i32;
    pub fn berth_exit_shell_code(status: *const berth_exit) -> i32;
    pub fn berth_liveness_name(liveness: i32) -> *const c_char;
    pub fn berth_delivery_name(delivery: i32) -> *const c_char;
}
