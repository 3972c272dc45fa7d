// Made by gen_sys.py from berth/spec.h.
#[allow(unused_imports)]
use crate::*;
#[allow(unused_imports)]
use core::ffi::{c_char, c_void};
pub const BERTH_CONTAINER_HOST_USER: u32 = 1;
pub const BERTH_CONTAINER_NO_INIT: u32 = 2;
pub const BERTH_CONTAINER_REUSE: u32 = 4;

pub const BERTH_ENV_CLEAN: i32 = 0;
pub const BERTH_ENV_BASIC: i32 = 1;
pub const BERTH_ENV_INHERIT: i32 = 2;

pub const BERTH_PULL_IF_MISSING: i32 = 0;
pub const BERTH_PULL_NEVER: i32 = 1;
pub const BERTH_PULL_ALWAYS: i32 = 2;

pub const BERTH_STDIO_NULL: i32 = 0;
pub const BERTH_STDIO_PIPE: i32 = 1;
pub const BERTH_STDIO_FD: i32 = 2;

opaque! {
    berth_env
    berth_process_spec
    berth_session_spec
}

extern "C" {
    pub fn berth_env_new(env: *mut *mut berth_env, base: i32, error: *mut *mut berth_error) -> i32;
    pub fn berth_env_new_listed(
        env: *mut *mut berth_env,
        keys: *const berth_strings,
        error: *mut *mut berth_error,
    ) -> i32;
    pub fn berth_env_set(
        env: *mut berth_env,
        key: *const c_char,
        key_size: usize,
        value: *const c_char,
        value_size: usize,
    ) -> i32;
    pub fn berth_env_unset(env: *mut berth_env, key: *const c_char, key_size: usize) -> i32;
    pub fn berth_env_append(
        env: *mut berth_env,
        key: *const c_char,
        key_size: usize,
        value: *const c_char,
        value_size: usize,
        separator: *const c_char,
        separator_size: usize,
    ) -> i32;
    pub fn berth_env_prepend(
        env: *mut berth_env,
        key: *const c_char,
        key_size: usize,
        value: *const c_char,
        value_size: usize,
        separator: *const c_char,
        separator_size: usize,
    ) -> i32;
    pub fn berth_env_beneath(env: *mut berth_env, other: *const berth_env) -> i32;
    pub fn berth_env_resolve(
        entries: *mut *mut berth_strings,
        env: *const berth_env,
        error: *mut *mut berth_error,
    ) -> i32;
    pub fn berth_env_free(env: *mut berth_env);
    pub fn berth_session_spec_new(
        spec: *mut *mut berth_session_spec,
        name: *const c_char,
        name_size: usize,
        error: *mut *mut berth_error,
    ) -> i32;
    pub fn berth_session_spec_free(spec: *mut berth_session_spec);
    pub fn berth_session_spec_set_backend(
        spec: *mut berth_session_spec,
        backend: *const c_char,
        backend_size: usize,
    ) -> i32;
    pub fn berth_session_spec_add_arg(
        spec: *mut berth_session_spec,
        arg: *const c_char,
        arg_size: usize,
    ) -> i32;
    pub fn berth_session_spec_set_shell(
        spec: *mut berth_session_spec,
        line: *const c_char,
        line_size: usize,
    ) -> i32;
    pub fn berth_session_spec_set_env(spec: *mut berth_session_spec, env: *const berth_env) -> i32;
    pub fn berth_session_spec_set_cwd(
        spec: *mut berth_session_spec,
        cwd: *const c_char,
        cwd_size: usize,
    ) -> i32;
    pub fn berth_session_spec_set_terminal(
        spec: *mut berth_session_spec,
        rows: u16,
        cols: u16,
    ) -> i32;
    pub fn berth_session_spec_set_durable(spec: *mut berth_session_spec, durable: i32) -> i32;
    pub fn berth_session_spec_set_time_limits(
        spec: *mut berth_session_spec,
        wall_ms: i64,
        inactivity_ms: i64,
        grace_ms: i64,
    ) -> i32;
    pub fn berth_session_spec_set_kept(
        spec: *mut berth_session_spec,
        scrollback_lines: i32,
        output_bytes: i64,
    ) -> i32;
    pub fn berth_session_spec_set_log(
        spec: *mut berth_session_spec,
        path: *const c_char,
        path_size: usize,
        cap_bytes: i64,
    ) -> i32;
    pub fn berth_session_spec_set_label(
        spec: *mut berth_session_spec,
        key: *const c_char,
        key_size: usize,
        value: *const c_char,
        value_size: usize,
    ) -> i32;
    pub fn berth_session_spec_set_policy(
        spec: *mut berth_session_spec,
        policy: *const berth_policy,
    ) -> i32;
    pub fn berth_session_spec_set_image(
        spec: *mut berth_session_spec,
        image: *const c_char,
        image_size: usize,
        pull: i32,
    ) -> i32;
    pub fn berth_session_spec_add_mount(
        spec: *mut berth_session_spec,
        source: *const c_char,
        source_size: usize,
        target: *const c_char,
        target_size: usize,
        read_only: i32,
    ) -> i32;
    pub fn berth_session_spec_add_port(
        spec: *mut berth_session_spec,
        inside: u16,
        host: u16,
        address: *const c_char,
        address_size: usize,
        udp: i32,
    ) -> i32;
    pub fn berth_session_spec_set_user(
        spec: *mut berth_session_spec,
        user: *const c_char,
        user_size: usize,
    ) -> i32;
    pub fn berth_session_spec_set_network(
        spec: *mut berth_session_spec,
        network: *const c_char,
        network_size: usize,
    ) -> i32;
    pub fn berth_session_spec_set_container_flags(spec: *mut berth_session_spec, flags: u32) -> i32;
    pub fn berth_session_spec_set_flake(
        spec: *mut berth_session_spec,
        flake: *const c_char,
        flake_size: usize,
        shell: *const c_char,
        shell_size: usize,
        wrapped: i32,
    ) -> i32;
    pub fn berth_process_spec_new(
        spec: *mut *mut berth_process_spec,
        error: *mut *mut berth_error,
    ) -> i32;
    pub fn berth_process_spec_free(spec: *mut berth_process_spec);
    pub fn berth_process_spec_add_arg(
        spec: *mut berth_process_spec,
        arg: *const c_char,
        arg_size: usize,
    ) -> i32;
    pub fn berth_process_spec_set_shell(
        spec: *mut berth_process_spec,
        line: *const c_char,
        line_size: usize,
    ) -> i32;
    pub fn berth_process_spec_set_env(spec: *mut berth_process_spec, env: *const berth_env) -> i32;
    pub fn berth_process_spec_set_cwd(
        spec: *mut berth_process_spec,
        cwd: *const c_char,
        cwd_size: usize,
    ) -> i32;
    pub fn berth_process_spec_set_stdio(
        spec: *mut berth_process_spec,
        stream: i32,
        kind: i32,
        fd: i32,
    ) -> i32;
    pub fn berth_process_spec_set_terminal(
        spec: *mut berth_process_spec,
        rows: u16,
        cols: u16,
    ) -> i32;
    pub fn berth_process_spec_set_policy(
        spec: *mut berth_process_spec,
        policy: *const berth_policy,
    ) -> i32;
}
