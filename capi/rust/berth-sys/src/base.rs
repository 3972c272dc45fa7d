// Made by gen_sys.py from berth/base.h.
#[allow(unused_imports)]
use crate::*;
#[allow(unused_imports)]
use core::ffi::{c_char, c_void};
pub const BERTH_ABI_VERSION: i32 = 4;
pub const BERTH_FEATURE_NATIVE: u64 = 1 << 0;
pub const BERTH_FEATURE_TMUX: u64 = 1 << 1;
pub const BERTH_FEATURE_DOCKER: u64 = 1 << 2;
pub const BERTH_FEATURE_NIX: u64 = 1 << 3;
pub const BERTH_FEATURE_POLICY: u64 = 1 << 4;
pub const BERTH_FEATURE_AGENTS: u64 = 1 << 5;
pub const BERTH_FEATURE_REAPER: u64 = 1 << 6;
pub const BERTH_FEATURE_PORTS: u64 = 1 << 7;
pub const BERTH_FEATURE_ENVIRONMENTS: u64 = 1 << 8;
pub const BERTH_FEATURE_IMAGES: u64 = 1 << 9;
pub const BERTH_FEATURE_DOCTOR: u64 = 1 << 10;

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

opaque! {
    berth_error
    berth_string
    berth_strings
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
}
