// Made by gen_sys.py from berth/port.h.
#[allow(unused_imports)]
use crate::*;
#[allow(unused_imports)]
use core::ffi::{c_char, c_void};

opaque! {
    berth_port_lease
}

extern "C" {
    pub fn berth_port_is_free(port: u16) -> i32;
    pub fn berth_port_is_bound(port: u16) -> i32;
    pub fn berth_port_find_free(port: *mut u16, error: *mut *mut berth_error) -> i32;
    pub fn berth_port_wait_unbound(port: u16, timeout_ms: i64, error: *mut *mut berth_error) -> i32;
    pub fn berth_port_lease_new(
        lease: *mut *mut berth_port_lease,
        state_dir: *const c_char,
        state_dir_size: usize,
        preferred: u16,
        error: *mut *mut berth_error,
    ) -> i32;
    pub fn berth_port_lease_free(lease: *mut berth_port_lease);
    pub fn berth_port_lease_port(lease: *const berth_port_lease) -> u16;
    pub fn berth_port_lease_take_fd(
        fd: *mut i32,
        lease: *mut berth_port_lease,
        error: *mut *mut berth_error,
    ) -> i32;
    pub fn berth_port_lease_release_socket(
        lease: *mut berth_port_lease,
        error: *mut *mut berth_error,
    ) -> i32;
    pub fn berth_port_lease_release(
        lease: *mut berth_port_lease,
        error: *mut *mut berth_error,
    ) -> i32;
}
