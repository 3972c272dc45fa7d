// Made by gen_sys.py from berth/image.h.
#[allow(unused_imports)]
use crate::*;
#[allow(unused_imports)]
use core::ffi::{c_char, c_void};

pub const BERTH_IMAGE_ID: i32 = 0;
pub const BERTH_IMAGE_ARCHITECTURE: i32 = 1;

opaque! {
    berth_image
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct berth_pull_progress {
    pub layer: *const c_char,
    pub layer_size: usize,
    pub status: *const c_char,
    pub status_size: usize,
    pub done: i64,
    pub total: i64,
    pub layers: i32,
    pub layers_done: i32,
    pub percent: i32,
    pub reserved: i32,
}

pub type berth_on_pull =
    unsafe extern "C" fn(context: *mut c_void, progress: *const berth_pull_progress) -> i32;

extern "C" {
    pub fn berth_image_inspect(
        image: *mut *mut berth_image,
        engine: *const c_char,
        engine_size: usize,
        name: *const c_char,
        name_size: usize,
        error: *mut *mut berth_error,
    ) -> i32;
    pub fn berth_image_pull(
        image: *mut *mut berth_image,
        engine: *const c_char,
        engine_size: usize,
        name: *const c_char,
        name_size: usize,
        on_pull: Option<berth_on_pull>,
        context: *mut c_void,
        timeout_ms: i64,
        error: *mut *mut berth_error,
    ) -> i32;
    pub fn berth_image_load(
        engine: *const c_char,
        engine_size: usize,
        tar: *const c_char,
        tar_size: usize,
        error: *mut *mut berth_error,
    ) -> i32;
    pub fn berth_image_import(
        image: *mut *mut berth_image,
        engine: *const c_char,
        engine_size: usize,
        tar: *const c_char,
        tar_size: usize,
        name: *const c_char,
        name_size: usize,
        changes: *const berth_strings,
        error: *mut *mut berth_error,
    ) -> i32;
    pub fn berth_image_text(
        image: *const berth_image,
        field: i32,
        size: *mut usize,
    ) -> *const c_char;
    pub fn berth_image_env(
        env: *mut *mut berth_strings,
        image: *const berth_image,
        error: *mut *mut berth_error,
    ) -> i32;
    pub fn berth_image_free(image: *mut berth_image);
}
