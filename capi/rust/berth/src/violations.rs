use crate::convert::{handle, time, view, words};
use crate::error::{check, Code, Result};
use berth_sys as sys;
use std::fmt;
use std::os::fd::{AsFd, BorrowedFd, FromRawFd, OwnedFd};
use std::time::SystemTime;

/// Which part of a policy stopped something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[allow(missing_docs)]
pub enum Layer {
    Syscall,
    File,
    Network,
    Memory,
    Pids,
    Wall,
    FileSize,
    /// One that this version of the crate does not know.
    Other(i32),
}
words!(Layer, berth_violation_layer_name, |layer| layer.number());

impl Layer {
    fn from_raw(raw: i32) -> Layer {
        match raw {
            sys::BERTH_VIOLATION_SYSCALL => Layer::Syscall,
            sys::BERTH_VIOLATION_FILE => Layer::File,
            sys::BERTH_VIOLATION_NETWORK => Layer::Network,
            sys::BERTH_VIOLATION_MEMORY => Layer::Memory,
            sys::BERTH_VIOLATION_PIDS => Layer::Pids,
            sys::BERTH_VIOLATION_WALL => Layer::Wall,
            sys::BERTH_VIOLATION_FILE_SIZE => Layer::FileSize,
            other => Layer::Other(other),
        }
    }

    fn number(self) -> i32 {
        match self {
            Layer::Syscall => sys::BERTH_VIOLATION_SYSCALL,
            Layer::File => sys::BERTH_VIOLATION_FILE,
            Layer::Network => sys::BERTH_VIOLATION_NETWORK,
            Layer::Memory => sys::BERTH_VIOLATION_MEMORY,
            Layer::Pids => sys::BERTH_VIOLATION_PIDS,
            Layer::Wall => sys::BERTH_VIOLATION_WALL,
            Layer::FileSize => sys::BERTH_VIOLATION_FILE_SIZE,
            Layer::Other(other) => other,
        }
    }
}

/// A fact about something that a policy stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Violation {
    /// Which part of the policy.
    pub layer: Layer,
    /// What was tried.
    pub what: String,
    /// The rule that stopped it.
    pub reason: String,
    /// Both, for people.
    pub text: String,
    /// Who tried, if it is known.
    pub pid: Option<u32>,
    /// When.
    pub when: Option<SystemTime>,
    /// 1, 2, 3, … of its session or process.
    pub number: i64,
}

impl Violation {
    pub(crate) fn take_all(raw: *mut sys::berth_violations) -> Vec<Violation> {
        let mut all = Vec::new();
        for index in 0..unsafe { sys::berth_violations_count(raw) } {
            // SAFETY: filled in by the call; its texts live as long as the list.
            unsafe {
                let mut it: sys::berth_violation = std::mem::zeroed();
                if check(|error| sys::berth_violations_at(&mut it, raw, index, error)).is_err() {
                    break;
                }
                all.push(Violation {
                    layer: Layer::from_raw(it.layer),
                    what: view(it.what, it.what_size),
                    reason: view(it.reason, it.reason_size),
                    text: view(it.text, it.text_size),
                    pid: u32::try_from(it.pid).ok().filter(|pid| *pid != 0),
                    when: time(it.when_unix_ns),
                    number: it.number,
                });
            }
        }
        unsafe { sys::berth_violations_free(raw) };
        all
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

handle!(Handle, berth_violation_feed, berth_violation_feed_free);
// SAFETY: berth.h, convention 9.
unsafe impl Sync for Handle {}

/// What a policy stops, as it happens. Its descriptor is readable while [`ViolationFeed::next`] has something.
pub struct ViolationFeed {
    handle: Handle,
    ready: OwnedFd,
}

impl ViolationFeed {
    pub(crate) fn new(raw: *mut sys::berth_violation_feed) -> Result<ViolationFeed> {
        let handle = Handle(raw);
        let mut fd = -1;
        check(|error| unsafe { sys::berth_violation_feed_fd(&mut fd, raw, error) })?;
        // SAFETY: the descriptor came out of the library and is nobody else's.
        Ok(ViolationFeed { handle, ready: unsafe { OwnedFd::from_raw_fd(fd) } })
    }

    /// Those that have come since the last call, without waiting; `None` once there will be no others.
    #[allow(clippy::should_implement_trait)]
    pub fn next(&self) -> Result<Option<Vec<Violation>>> {
        let mut raw = std::ptr::null_mut();
        match check(|error| unsafe { sys::berth_violation_feed_next(&mut raw, self.handle.0, error) }) {
            Ok(()) => Ok(Some(Violation::take_all(raw))),
            Err(end) if end.code() == Code::OutOfRange => Ok(None),
            Err(error) => Err(error),
        }
    }
}

impl AsFd for ViolationFeed {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.ready.as_fd()
    }
}
