// Made by gen_sys.py from berth/sweep.h.
#[allow(unused_imports)]
use crate::*;
#[allow(unused_imports)]
use core::ffi::{c_char, c_void};
pub const BERTH_SWEEP_DRY_RUN: u32 = 1;
pub const BERTH_SWEEP_SHOW_KEPT: u32 = 2;
pub const BERTH_SWEEP_ADOPT_CODEFLY: u32 = 4;

pub const BERTH_SWEEP_OLDER_THAN: i32 = 0;
pub const BERTH_SWEEP_FORGET_ENDED: i32 = 1;
pub const BERTH_SWEEP_GRACE: i32 = 2;
pub const BERTH_SWEEP_PER_OBJECT: i32 = 3;
pub const BERTH_SWEEP_TOTAL: i32 = 4;
pub const BERTH_SWEEP_LOCK_WAIT: i32 = 5;
pub const BERTH_SWEEP_SETTLE: i32 = 6;
pub const BERTH_SWEEP_EVERY: i32 = 7;

pub const BERTH_SWEEP_ITEMS: i32 = 0;
pub const BERTH_SWEEP_SESSIONS: i32 = 1;
pub const BERTH_SWEEP_KEPT: i32 = 2;
pub const BERTH_SWEEP_DONE: i32 = 3;
pub const BERTH_SWEEP_DOUBTS: i32 = 4;
pub const BERTH_SWEEP_FAILED: i32 = 5;
pub const BERTH_SWEEP_OUT_OF_TIME: i32 = 6;
pub const BERTH_SWEEP_PLANNED: i32 = 7;
pub const BERTH_SWEEP_PASSES: i32 = 8;
pub const BERTH_SWEEP_TOOK_NS: i32 = 9;
pub const BERTH_SWEEP_EXIT_CODE: i32 = 10;

pub const BERTH_VERDICT_KEEP: i32 = 0;
pub const BERTH_VERDICT_REAP: i32 = 1;
pub const BERTH_VERDICT_CLEAR: i32 = 2;
pub const BERTH_VERDICT_DOUBT: i32 = 3;

pub const BERTH_SWEPT_NOTHING: i32 = 0;
pub const BERTH_SWEPT_DONE: i32 = 1;
pub const BERTH_SWEPT_FAILED: i32 = 2;
pub const BERTH_SWEPT_OUT_OF_TIME: i32 = 3;

pub const BERTH_SWEEP_TEXT: i32 = 0;
pub const BERTH_SWEEP_JSON: i32 = 1;
pub const BERTH_SWEEP_METRICS: i32 = 2;

opaque! {
    berth_sweep_options
    berth_sweep_report
    berth_sweep_watch
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct berth_sweep_item {
    pub kind: *const c_char,
    pub kind_size: usize,
    pub id: *const c_char,
    pub id_size: usize,
    pub name: *const c_char,
    pub name_size: usize,
    pub deed: *const c_char,
    pub deed_size: usize,
    pub error: *const c_char,
    pub error_size: usize,
    pub verdict: i32,
    pub result: i32,
}

extern "C" {
    pub fn berth_sweep_options_new(
        options: *mut *mut berth_sweep_options,
        error: *mut *mut berth_error,
    ) -> i32;
    pub fn berth_sweep_options_free(options: *mut berth_sweep_options);
    pub fn berth_sweep_options_set_flags(options: *mut berth_sweep_options, flags: u32) -> i32;
    pub fn berth_sweep_options_set_time(
        options: *mut berth_sweep_options,
        which: i32,
        ms: i64,
    ) -> i32;
    pub fn berth_sweep_options_set_filter(
        options: *mut berth_sweep_options,
        only: *const berth_strings,
        except: *const berth_strings,
    ) -> i32;
    pub fn berth_sweep(
        report: *mut *mut berth_sweep_report,
        state_dir: *const c_char,
        state_dir_size: usize,
        options: *const berth_sweep_options,
        error: *mut *mut berth_error,
    ) -> i32;
    pub fn berth_sweep_explain(
        report: *mut *mut berth_sweep_report,
        state_dir: *const c_char,
        state_dir_size: usize,
        id: *const c_char,
        id_size: usize,
        options: *const berth_sweep_options,
        error: *mut *mut berth_error,
    ) -> i32;
    pub fn berth_sweep_report_number(report: *const berth_sweep_report, field: i32) -> i64;
    pub fn berth_verdict_name(verdict: i32) -> *const c_char;
    pub fn berth_sweep_result_name(result: i32) -> *const c_char;
    pub fn berth_sweep_report_at(
        item: *mut berth_sweep_item,
        report: *const berth_sweep_report,
        index: usize,
        error: *mut *mut berth_error,
    ) -> i32;
    pub fn berth_sweep_report_because(
        because: *mut *mut berth_strings,
        evidence: *mut *mut berth_strings,
        report: *const berth_sweep_report,
        index: usize,
        error: *mut *mut berth_error,
    ) -> i32;
    pub fn berth_sweep_report_format(
        text: *mut *mut berth_string,
        report: *const berth_sweep_report,
        format: i32,
        error: *mut *mut berth_error,
    ) -> i32;
    pub fn berth_sweep_report_from_json(
        report: *mut *mut berth_sweep_report,
        json: *const c_char,
        json_size: usize,
        error: *mut *mut berth_error,
    ) -> i32;
    pub fn berth_sweep_report_free(report: *mut berth_sweep_report);
    pub fn berth_sweep_watch_new(
        watch: *mut *mut berth_sweep_watch,
        state_dir: *const c_char,
        state_dir_size: usize,
        options: *const berth_sweep_options,
        error: *mut *mut berth_error,
    ) -> i32;
    pub fn berth_sweep_watch_fd(
        fd: *mut i32,
        watch: *mut berth_sweep_watch,
        error: *mut *mut berth_error,
    ) -> i32;
    pub fn berth_sweep_watch_next(
        report: *mut *mut berth_sweep_report,
        watch: *mut berth_sweep_watch,
        timeout_ms: i64,
        error: *mut *mut berth_error,
    ) -> i32;
    pub fn berth_sweep_watch_stop(
        watch: *mut berth_sweep_watch,
        error: *mut *mut berth_error,
    ) -> i32;
    pub fn berth_sweep_watch_free(watch: *mut berth_sweep_watch);
}
