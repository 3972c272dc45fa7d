use berth_sys as sys;
use std::ffi::CStr;
use std::fmt;
use std::time::Duration;

/// Why a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum EndReason {
    /// It is gone, and nobody is left who saw how.
    Unknown,
    /// By itself, with a code.
    Exited,
    /// By a signal that berth did not send.
    Signaled,
    /// By stop, destroy or a signal of ours.
    Stopped,
    /// Its wall-clock limit.
    Wall,
    /// Its inactivity limit.
    Inactivity,
    /// Its memory limit.
    Oom,
    /// Its process limit.
    Pids,
    /// Something that its policy kills for.
    Violation,
}

/// How a process ended. A death by signal is told as a signal, never as a code over 128.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Exit(pub(crate) sys::berth_exit);

impl Exit {
    /// The code, if it exited.
    pub fn code(&self) -> Option<i32> {
        (self.0.signal == 0).then_some(self.0.code)
    }

    /// The signal that ended it, if one did.
    pub fn signal(&self) -> Option<i32> {
        (self.0.signal != 0).then_some(self.0.signal)
    }

    /// Why it ended.
    pub fn reason(&self) -> EndReason {
        match self.0.reason {
            sys::BERTH_END_EXITED => EndReason::Exited,
            sys::BERTH_END_SIGNALED => EndReason::Signaled,
            sys::BERTH_END_STOPPED => EndReason::Stopped,
            sys::BERTH_END_WALL => EndReason::Wall,
            sys::BERTH_END_INACTIVITY => EndReason::Inactivity,
            sys::BERTH_END_OOM => EndReason::Oom,
            sys::BERTH_END_PIDS => EndReason::Pids,
            sys::BERTH_END_VIOLATION => EndReason::Violation,
            _ => EndReason::Unknown,
        }
    }

    /// Whether it exited by itself with code 0.
    pub fn success(&self) -> bool {
        unsafe { sys::berth_exit_success(&self.0) == 1 }
    }

    /// What a shell would give as its code: 128 + signal for a death by signal.
    pub fn shell_code(&self) -> i32 {
        unsafe { sys::berth_exit_shell_code(&self.0) }
    }
}

impl fmt::Display for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut raw = std::ptr::null_mut();
        let told = crate::error::check(|error| unsafe { sys::berth_exit_describe(&mut raw, &self.0, error) });
        match told {
            Ok(()) => f.write_str(&String::from_utf8_lossy(&crate::convert::take_string(raw))),
            Err(_) => write!(f, "code {}, signal {}", self.0.code, self.0.signal),
        }
    }
}

impl fmt::Debug for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Exit({self})")
    }
}

/// When each step of a start was reached, of the monotonic clock. `None`: not on this engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[allow(missing_docs)]
pub struct StartTiming {
    pub requested: Option<Duration>,
    pub received: Option<Duration>,
    pub started: Option<Duration>,
    pub replied: Option<Duration>,
}

impl From<sys::berth_start_timing> for StartTiming {
    fn from(raw: sys::berth_start_timing) -> StartTiming {
        let at = |ns: i64| u64::try_from(ns).ok().filter(|ns| *ns != 0).map(Duration::from_nanos);
        StartTiming {
            requested: at(raw.requested_ns),
            received: at(raw.received_ns),
            started: at(raw.started_ns),
            replied: at(raw.replied_ns),
        }
    }
}

/// What a session or a process tree uses. `None`: not known here.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stats {
    /// User and system time.
    pub cpu: Option<Duration>,
    /// Resident memory.
    pub memory_bytes: Option<u64>,
    /// Living processes.
    pub processes: Option<u64>,
    /// Read from storage.
    pub read_bytes: Option<u64>,
    /// Written to storage.
    pub write_bytes: Option<u64>,
    /// "cgroup", "proc" or the engine's name.
    pub source: String,
}

impl Stats {
    pub(crate) fn from_raw(raw: &sys::berth_stats) -> Stats {
        let known = |value: i64| u64::try_from(value).ok();
        // SAFETY: the array ends with a NUL.
        let source = unsafe { CStr::from_ptr(raw.source.as_ptr()) };
        Stats {
            cpu: known(raw.cpu_ns).map(Duration::from_nanos),
            memory_bytes: known(raw.memory_bytes),
            processes: known(raw.processes),
            read_bytes: known(raw.read_bytes),
            write_bytes: known(raw.write_bytes),
            source: source.to_string_lossy().into_owned(),
        }
    }

    pub(crate) fn empty() -> sys::berth_stats {
        // SAFETY: integers and bytes; all zero is a value of each.
        unsafe { std::mem::zeroed() }
    }
}
