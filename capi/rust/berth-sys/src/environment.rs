// Made by gen_sys.py from berth/environment.h.
#[allow(unused_imports)]
use crate::*;
#[allow(unused_imports)]
use core::ffi::{c_char, c_void};

opaque! {
    berth_environment
    berth_process_place
}

extern "C" {
    pub fn berth_environment_new(
        environment: *mut *mut berth_environment,
        runtime: *mut berth_runtime,
        spec: *const berth_session_spec,
        error: *mut *mut berth_error,
    ) -> i32;
    pub fn berth_environment_free(environment: *mut berth_environment);
    pub fn berth_environment_init(
        environment: *mut berth_environment,
        error: *mut *mut berth_error,
    ) -> i32;
    pub fn berth_process_place_new(
        place: *mut *mut berth_process_place,
        name: *const c_char,
        name_size: usize,
        error: *mut *mut berth_error,
    ) -> i32;
    pub fn berth_process_place_add_wait_on(
        place: *mut berth_process_place,
        name: *const c_char,
        name_size: usize,
    ) -> i32;
    pub fn berth_process_place_set_timeout(place: *mut berth_process_place, timeout_ms: i64) -> i32;
    pub fn berth_process_place_free(place: *mut berth_process_place);
    pub fn berth_environment_start(
        process: *mut *mut berth_process,
        environment: *mut berth_environment,
        spec: *const berth_process_spec,
        place: *const berth_process_place,
        error: *mut *mut berth_error,
    ) -> i32;
    pub fn berth_environment_run(
        status: *mut berth_exit,
        environment: *mut berth_environment,
        spec: *const berth_process_spec,
        place: *const berth_process_place,
        timeout_ms: i64,
        error: *mut *mut berth_error,
    ) -> i32;
    pub fn berth_environment_check_binary(
        environment: *mut berth_environment,
        name: *const c_char,
        name_size: usize,
        error: *mut *mut berth_error,
    ) -> i32;
    pub fn berth_environment_host_port(
        port: *mut u16,
        environment: *mut berth_environment,
        inside: u16,
        error: *mut *mut berth_error,
    ) -> i32;
    pub fn berth_environment_stop(
        environment: *mut berth_environment,
        grace_ms: i64,
        error: *mut *mut berth_error,
    ) -> i32;
    pub fn berth_environment_shutdown(
        environment: *mut berth_environment,
        grace_ms: i64,
        error: *mut *mut berth_error,
    ) -> i32;
    pub fn berth_environment_session(
        session: *mut *mut berth_session,
        environment: *mut berth_environment,
        error: *mut *mut berth_error,
    ) -> i32;
}
