// Made by gen_sys.py from berth/policy.h.
#[allow(unused_imports)]
use crate::*;
#[allow(unused_imports)]
use core::ffi::{c_char, c_void};
pub const BERTH_PATH_IF_THERE: u32 = 1;

pub const BERTH_TIER_AUTO: i32 = 0;
pub const BERTH_TIER_NAMESPACES: i32 = 1;
pub const BERTH_TIER_POOLED: i32 = 2;
pub const BERTH_TIER_LANDLOCK: i32 = 3;

pub const BERTH_NETWORK_NONE: i32 = 0;
pub const BERTH_NETWORK_HOST: i32 = 1;
pub const BERTH_NETWORK_ALLOW_LIST: i32 = 2;

pub const BERTH_ACCESS_READ_ONLY: i32 = 1;
pub const BERTH_ACCESS_READ_WRITE: i32 = 2;
pub const BERTH_ACCESS_HIDDEN: i32 = 3;
pub const BERTH_ACCESS_CARVE: i32 = 4;
pub const BERTH_ACCESS_COPY_ON_WRITE: i32 = 5;

pub const BERTH_LIMIT_MEMORY: i32 = 0;
pub const BERTH_LIMIT_SWAP: i32 = 1;
pub const BERTH_LIMIT_PIDS: i32 = 2;
pub const BERTH_LIMIT_MILLICPUS: i32 = 3;
pub const BERTH_LIMIT_WALL_MS: i32 = 4;
pub const BERTH_LIMIT_FILE_SIZE: i32 = 5;
pub const BERTH_LIMIT_OPEN_FILES: i32 = 6;
pub const BERTH_LIMIT_TMP_SIZE: i32 = 7;

pub const BERTH_POLICY_TIER: i32 = 0;
pub const BERTH_POLICY_NETWORK: i32 = 1;
pub const BERTH_POLICY_SYSTEM: i32 = 2;
pub const BERTH_POLICY_PRIVATE_HOME: i32 = 3;
pub const BERTH_POLICY_DEBUGGING: i32 = 4;
pub const BERTH_POLICY_HOST_PID_NAMESPACE: i32 = 5;
pub const BERTH_POLICY_INHERITED_ENVIRONMENT: i32 = 6;
pub const BERTH_POLICY_DOCKER_SOCKET: i32 = 7;
pub const BERTH_POLICY_SECCOMP_OFF: i32 = 8;
pub const BERTH_POLICY_NESTED_USER_NAMESPACES: i32 = 9;
pub const BERTH_POLICY_REPORT_FILES: i32 = 10;

pub const BERTH_POLICY_HASH: i32 = 0;
pub const BERTH_POLICY_HOSTNAME: i32 = 1;

pub const BERTH_POLICY_DOMAINS: i32 = 0;
pub const BERTH_POLICY_TMPFS: i32 = 1;
pub const BERTH_POLICY_SOCKET_FAMILIES: i32 = 2;
pub const BERTH_POLICY_DENIED_SYSCALLS: i32 = 3;

pub const BERTH_VIOLATION_SYSCALL: i32 = 1;
pub const BERTH_VIOLATION_FILE: i32 = 2;
pub const BERTH_VIOLATION_NETWORK: i32 = 3;
pub const BERTH_VIOLATION_MEMORY: i32 = 4;
pub const BERTH_VIOLATION_PIDS: i32 = 5;
pub const BERTH_VIOLATION_WALL: i32 = 6;
pub const BERTH_VIOLATION_FILE_SIZE: i32 = 7;

pub const BERTH_CHANGE_ADDED: i32 = 1;
pub const BERTH_CHANGE_CHANGED: i32 = 2;
pub const BERTH_CHANGE_DELETED: i32 = 3;

pub const BERTH_CHANGE_FILE: i32 = 1;
pub const BERTH_CHANGE_FOLDER: i32 = 2;
pub const BERTH_CHANGE_SYMLINK: i32 = 3;
pub const BERTH_CHANGE_OTHER: i32 = 4;

opaque! {
    berth_changes
    berth_policy
    berth_policy_builder
    berth_violation_feed
    berth_violations
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct berth_policy_path {
    pub path: *const c_char,
    pub path_size: usize,
    pub inside: *const c_char,
    pub inside_size: usize,
    pub access: i32,
    pub if_there: i32,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct berth_violation {
    pub what: *const c_char,
    pub what_size: usize,
    pub reason: *const c_char,
    pub reason_size: usize,
    pub text: *const c_char,
    pub text_size: usize,
    pub when_unix_ns: i64,
    pub number: i64,
    pub layer: i32,
    pub pid: i32,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct berth_change {
    pub folder: *const c_char,
    pub folder_size: usize,
    pub path: *const c_char,
    pub path_size: usize,
    pub bytes: i64,
    pub kind: i32,
    pub file_type: i32,
}

extern "C" {
    pub fn berth_tier_name(tier: i32) -> *const c_char;
    pub fn berth_tier_from_name(
        tier: *mut i32,
        name: *const c_char,
        name_size: usize,
        error: *mut *mut berth_error,
    ) -> i32;
    pub fn berth_policy_builder_new(
        builder: *mut *mut berth_policy_builder,
        preset: *const c_char,
        preset_size: usize,
        workspace: *const c_char,
        workspace_size: usize,
        error: *mut *mut berth_error,
    ) -> i32;
    pub fn berth_policy_builder_from(
        builder: *mut *mut berth_policy_builder,
        policy: *const berth_policy,
        error: *mut *mut berth_error,
    ) -> i32;
    pub fn berth_policy_builder_free(builder: *mut berth_policy_builder);
    pub fn berth_policy_builder_add_system(builder: *mut berth_policy_builder) -> i32;
    pub fn berth_policy_builder_add_private_home(builder: *mut berth_policy_builder) -> i32;
    pub fn berth_policy_builder_add_path(
        builder: *mut berth_policy_builder,
        access: i32,
        path: *const c_char,
        path_size: usize,
        inside: *const c_char,
        inside_size: usize,
        flags: u32,
    ) -> i32;
    pub fn berth_policy_builder_add_tmpfs(
        builder: *mut berth_policy_builder,
        path: *const c_char,
        path_size: usize,
    ) -> i32;
    pub fn berth_policy_builder_set_no_network(builder: *mut berth_policy_builder) -> i32;
    pub fn berth_policy_builder_set_domains(
        builder: *mut berth_policy_builder,
        domains: *const berth_strings,
    ) -> i32;
    pub fn berth_policy_builder_set_socket_families(
        builder: *mut berth_policy_builder,
        families: *const berth_strings,
    ) -> i32;
    pub fn berth_policy_builder_deny_syscalls(
        builder: *mut berth_policy_builder,
        names: *const berth_strings,
    ) -> i32;
    pub fn berth_policy_builder_allow_debugging(builder: *mut berth_policy_builder) -> i32;
    pub fn berth_policy_builder_report_files(builder: *mut berth_policy_builder) -> i32;
    pub fn berth_policy_builder_set_limit(
        builder: *mut berth_policy_builder,
        limit: i32,
        value: i64,
    ) -> i32;
    pub fn berth_policy_builder_set_tier(builder: *mut berth_policy_builder, tier: i32) -> i32;
    pub fn berth_policy_builder_set_hostname(
        builder: *mut berth_policy_builder,
        name: *const c_char,
        name_size: usize,
    ) -> i32;
    pub fn berth_policy_builder_dangerous_host_network(builder: *mut berth_policy_builder) -> i32;
    pub fn berth_policy_builder_dangerous_host_pid_namespace(
        builder: *mut berth_policy_builder,
    ) -> i32;
    pub fn berth_policy_builder_dangerous_inherited_environment(
        builder: *mut berth_policy_builder,
    ) -> i32;
    pub fn berth_policy_builder_dangerous_docker_socket(builder: *mut berth_policy_builder) -> i32;
    pub fn berth_policy_builder_dangerous_seccomp_off(builder: *mut berth_policy_builder) -> i32;
    pub fn berth_policy_builder_dangerous_nested_user_namespaces(
        builder: *mut berth_policy_builder,
    ) -> i32;
    pub fn berth_policy_build(
        policy: *mut *mut berth_policy,
        builder: *const berth_policy_builder,
        error: *mut *mut berth_error,
    ) -> i32;
    pub fn berth_policy_from_text(
        policy: *mut *mut berth_policy,
        text: *const c_char,
        text_size: usize,
        error: *mut *mut berth_error,
    ) -> i32;
    pub fn berth_policy_dangerous_from_text(
        policy: *mut *mut berth_policy,
        text: *const c_char,
        text_size: usize,
        error: *mut *mut berth_error,
    ) -> i32;
    pub fn berth_policy_free(policy: *mut berth_policy);
    pub fn berth_policy_to_text(
        text: *mut *mut berth_string,
        policy: *const berth_policy,
        error: *mut *mut berth_error,
    ) -> i32;
    pub fn berth_policy_number(policy: *const berth_policy, field: i32) -> i64;
    pub fn berth_policy_limit(policy: *const berth_policy, limit: i32) -> i64;
    pub fn berth_policy_text(
        policy: *const berth_policy,
        field: i32,
        size: *mut usize,
    ) -> *const c_char;
    pub fn berth_policy_list(
        items: *mut *mut berth_strings,
        policy: *const berth_policy,
        field: i32,
        error: *mut *mut berth_error,
    ) -> i32;
    pub fn berth_policy_path_at(
        path: *mut berth_policy_path,
        policy: *const berth_policy,
        index: usize,
        error: *mut *mut berth_error,
    ) -> i32;
    pub fn berth_policy_check(
        tier: *mut i32,
        gaps: *mut *mut berth_strings,
        policy: *const berth_policy,
        error: *mut *mut berth_error,
    ) -> i32;
    pub fn berth_violation_layer_name(layer: i32) -> *const c_char;
    pub fn berth_violations_count(violations: *const berth_violations) -> usize;
    pub fn berth_violations_at(
        violation: *mut berth_violation,
        violations: *const berth_violations,
        index: usize,
        error: *mut *mut berth_error,
    ) -> i32;
    pub fn berth_violations_free(violations: *mut berth_violations);
    pub fn berth_violation_feed_fd(
        fd: *mut i32,
        feed: *mut berth_violation_feed,
        error: *mut *mut berth_error,
    ) -> i32;
    pub fn berth_violation_feed_next(
        violations: *mut *mut berth_violations,
        feed: *mut berth_violation_feed,
        error: *mut *mut berth_error,
    ) -> i32;
    pub fn berth_violation_feed_free(feed: *mut berth_violation_feed);
    pub fn berth_change_kind_name(kind: i32) -> *const c_char;
    pub fn berth_change_type_name(file_type: i32) -> *const c_char;
    pub fn berth_changes_count(changes: *const berth_changes) -> usize;
    pub fn berth_changes_at(
        change: *mut berth_change,
        changes: *const berth_changes,
        index: usize,
        error: *mut *mut berth_error,
    ) -> i32;
    pub fn berth_changes_free(changes: *mut berth_changes);
}
