// Made by gen_sys.py from berth/runtime.h.
#[allow(unused_imports)]
use crate::*;
#[allow(unused_imports)]
use core::ffi::{c_char, c_void};

pub const BERTH_EVENT_NONE: i32 = 0;
pub const BERTH_EVENT_EXITED: i32 = 1;
pub const BERTH_EVENT_LOST: i32 = 2;
pub const BERTH_EVENT_VIOLATION: i32 = 3;

opaque! {
    berth_event
    berth_infos
    berth_process
    berth_runtime
    berth_session
}

extern "C" {
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
    pub fn berth_session_choose(
        backend: *mut *mut berth_string,
        reason: *mut *mut berth_string,
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
    pub fn berth_event_violations(
        violations: *mut *mut berth_violations,
        event: *const berth_event,
        error: *mut *mut berth_error,
    ) -> i32;
    pub fn berth_event_free(event: *mut berth_event);
}
