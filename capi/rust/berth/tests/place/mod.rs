//! What the tests share: a state directory and a workspace of their own.
#![allow(dead_code)] // each program of tests needs some of it
use berth::Runtime;
use std::ffi::c_ulong;
use std::os::fd::{AsFd, AsRawFd, RawFd};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

pub const SOON: Option<Duration> = Some(Duration::from_secs(60));

/// What an agent prints.
pub const INIT: &str = r#"echo '{"type":"system","subtype":"init","session_id":"s-1","model":"m"}'
"#;
pub const RESULT: &str = r#"echo '{"type":"assistant","session_id":"s-1","message":{"id":"msg_1","role":"assistant","content":[{"type":"text","text":"hello"}],"usage":{"input_tokens":3,"output_tokens":4}}}'
echo '{"type":"result","subtype":"success","is_error":false,"result":"ok","session_id":"s-1","num_turns":1,"total_cost_usd":0.25,"usage":{"input_tokens":3,"output_tokens":4}}'
"#;

#[repr(C)]
struct PollFd {
    fd: RawFd,
    events: i16,
    revents: i16,
}

extern "C" {
    fn poll(fds: *mut PollFd, count: c_ulong, timeout_ms: i32) -> i32;
}

/// As an event loop does.
pub fn wait_readable(source: &impl AsFd) {
    let mut ready = PollFd { fd: source.as_fd().as_raw_fd(), events: 1, revents: 0 };
    assert_eq!(unsafe { poll(&mut ready, 1, 60_000) }, 1);
}

/// A folder with a state directory and a workspace; at its end no session may be left.
pub struct Place {
    pub dir: PathBuf,
    runtime: Option<Runtime>,
}

impl Place {
    pub fn new() -> Place {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let base = std::env::var("TEST_TMPDIR").unwrap_or_else(|_| "/tmp".into());
        let name = format!("p{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let dir = PathBuf::from(base).join(name);
        std::fs::create_dir_all(dir.join("work")).unwrap();
        let runtime = Runtime::with_state_dir(dir.join("state")).unwrap();
        Place { dir, runtime: Some(runtime) }
    }

    pub fn runtime(&self) -> &Runtime {
        self.runtime.as_ref().unwrap()
    }

    pub fn state(&self) -> PathBuf {
        self.dir.join("state")
    }

    pub fn work(&self) -> PathBuf {
        self.dir.join("work")
    }

    /// A shell script that stands in for an agent.
    pub fn program(&self, text: &str) -> PathBuf {
        let path = self.dir.join("agent");
        std::fs::write(&path, format!("#!/bin/sh\n{text}")).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o700)).unwrap();
        path
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        for info in self.runtime().list().unwrap() {
            self.runtime().open_session(&info.handle).unwrap().destroy(Duration::ZERO).unwrap();
        }
        self.runtime = None;
        let left: Vec<_> = std::fs::read_dir(self.state().join("sessions")).unwrap().collect();
        std::fs::remove_dir_all(&self.dir).unwrap();
        if !std::thread::panicking() {
            assert!(left.is_empty(), "left behind: {left:?}");
        }
    }
}
