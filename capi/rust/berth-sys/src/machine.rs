// Made by gen_sys.py from berth/machine.h.
#[allow(unused_imports)]
use crate::*;
#[allow(unused_imports)]
use core::ffi::{c_char, c_void};

pub const BERTH_ABILITY_OK: i32 = 0;
pub const BERTH_ABILITY_WEAKER: i32 = 1;
pub const BERTH_ABILITY_MISSING: i32 = 2;

pub const BERTH_PROCESS_UNKNOWN: i32 = 0;
pub const BERTH_PROCESS_NOT_FOUND: i32 = 1;
pub const BERTH_PROCESS_RUNNING: i32 = 2;
pub const BERTH_PROCESS_INTERRUPTIBLE_SLEEP: i32 = 3;
pub const BERTH_PROCESS_UNINTERRUPTIBLE_SLEEP: i32 = 4;
pub const BERTH_PROCESS_STOPPED: i32 = 5;
pub const BERTH_PROCESS_ZOMBIE: i32 = 6;
pub const BERTH_PROCESS_DEAD: i32 = 7;
pub const BERTH_PROCESS_TRACING_STOP: i32 = 8;
pub const BERTH_PROCESS_IDLE: i32 = 9;
pub const BERTH_PROCESS_PARKED: i32 = 10;
pub const BERTH_PROCESS_WAKING: i32 = 11;

opaque! {
    berth_abilities
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct berth_ability {
    pub area: *const c_char,
    pub area_size: usize,
    pub name: *const c_char,
    pub name_size: usize,
    pub detail: *const c_char,
    pub detail_size: usize,
    pub reason: *const c_char,
    pub reason_size: usize,
    pub remedy: *const c_char,
    pub remedy_size: usize,
    pub state: i32,
    pub reserved: i32,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct berth_identity {
    pub pid: i64,
    pub start_time: u64,
    pub pidfs_inode: u64,
    pub pid_namespace: u64,
    pub boot_id: [c_char; 40],
}

#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct berth_tracked {
    pub cpu_ns: i64,
    pub memory_bytes: i64,
    pub state: i32,
    pub reserved: i32,
}

extern "C" {
    pub fn berth_ability_state_name(state: i32) -> *const c_char;
    pub fn berth_doctor(
        abilities: *mut *mut berth_abilities,
        state_dir: *const c_char,
        state_dir_size: usize,
        error: *mut *mut berth_error,
    ) -> i32;
    pub fn berth_abilities_count(abilities: *const berth_abilities) -> usize;
    pub fn berth_abilities_at(
        ability: *mut berth_ability,
        abilities: *const berth_abilities,
        index: usize,
        error: *mut *mut berth_error,
    ) -> i32;
    pub fn berth_abilities_free(abilities: *mut berth_abilities);
    pub fn berth_identify(
        identity: *mut berth_identity,
        pid: i32,
        error: *mut *mut berth_error,
    ) -> i32;
    pub fn berth_identity_liveness(
        liveness: *mut i32,
        identity: *const berth_identity,
        error: *mut *mut berth_error,
    ) -> i32;
    pub fn berth_identity_open(
        pidfd: *mut i32,
        identity: *const berth_identity,
        error: *mut *mut berth_error,
    ) -> i32;
    pub fn berth_process_state_name(state: i32) -> *const c_char;
    pub fn berth_track(
        tracked: *mut berth_tracked,
        identity: *const berth_identity,
        error: *mut *mut berth_error,
    ) -> i32;
}
