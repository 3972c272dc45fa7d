use crate::agent_event::AgentEvent;
use crate::agent_result::AgentResult;
use crate::convert::{handle, pointer, text, time, Strings};
use crate::error::{check, Result};
use berth_sys as sys;
use std::os::fd::{AsFd, BorrowedFd, FromRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::SystemTime;

handle!(Handle, berth_agent_log, berth_agent_log_free);

/// The log of a run, also of another process's: its events from the first one on, while they come. Its descriptor is
/// readable once there may be more.
///
/// ```no_run
/// # fn main() -> berth::Result<()> {
/// for run in berth::AgentLog::list("")? {
///     let mut log = berth::AgentLog::open("", &run)?;
///     while let Some(event) = log.next_event()? {
///         println!("{} {}: {}", log.session_name(), event.kind(), event.text());
///     }
///     match log.end()? {
///         Some(end) => println!("{}", end.reason),
///         None if log.is_abandoned() => println!("its process died"),
///         None => println!("it runs"),
///     }
/// }
/// # Ok(())
/// # }
/// ```
pub struct AgentLog {
    handle: Handle,
    ready: OwnedFd,
}

impl AsFd for AgentLog {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.ready.as_fd()
    }
}

impl AgentLog {
    /// Run ids of a state directory ("" is the default one), the latest last.
    pub fn list(state_dir: impl AsRef<Path>) -> Result<Vec<String>> {
        let dir = state_dir.as_ref().as_os_str().as_bytes();
        let mut runs = std::ptr::null_mut();
        check(|error| unsafe { sys::berth_agent_log_list(&mut runs, pointer(dir), dir.len(), error) })?;
        Ok(Strings(runs).to_vec())
    }

    /// By run id, or the latest run of a session's name.
    pub fn open(state_dir: impl AsRef<Path>, run: &str) -> Result<AgentLog> {
        let dir = state_dir.as_ref().as_os_str().as_bytes();
        let mut raw = std::ptr::null_mut();
        check(|error| unsafe {
            let run = run.as_bytes();
            sys::berth_agent_log_open(&mut raw, pointer(dir), dir.len(), pointer(run), run.len(), error)
        })?;
        let handle = Handle(raw);
        let ready = ready_fd(raw)?;
        Ok(AgentLog { handle, ready })
    }

    /// The next event, or nothing at once.
    pub fn next_event(&mut self) -> Result<Option<AgentEvent>> {
        let mut raw = std::ptr::null_mut();
        check(|error| unsafe { sys::berth_agent_log_next(&mut raw, self.handle.0, error) })?;
        Ok(AgentEvent::take(raw))
    }

    /// How the run ended, once [`AgentLog::next_event`] has come to that.
    pub fn end(&self) -> Result<Option<AgentResult>> {
        AgentResult::from_call(|result, error| unsafe {
            sys::berth_agent_log_end(result, self.handle.0, error)
        })
    }

    /// Nobody writes to it any more: the run has ended, or its process has.
    pub fn is_abandoned(&self) -> bool {
        unsafe { sys::berth_agent_log_abandoned(self.handle.0) == 1 }
    }

    /// As [`AsFd`], the caller's own: for poll, never read it.
    pub fn ready_fd(&self) -> Result<OwnedFd> {
        ready_fd(self.handle.0)
    }

    fn words(&self, field: i32) -> String {
        unsafe { text(|size| sys::berth_agent_log_text(self.handle.0, field, size)).unwrap_or_default() }
    }

    fn number(&self, field: i32) -> i64 {
        unsafe { sys::berth_agent_log_number(self.handle.0, field) }
    }

    /// Its run id.
    pub fn run_id(&self) -> String {
        self.words(sys::BERTH_AGENT_LOG_RUN_ID)
    }

    /// Of the session that it runs in.
    pub fn session_name(&self) -> String {
        self.words(sys::BERTH_AGENT_LOG_SESSION_NAME)
    }

    /// "claude" and the like.
    pub fn agent(&self) -> String {
        self.words(sys::BERTH_AGENT_LOG_AGENT)
    }

    /// The caller's own name for the agent.
    pub fn agent_name(&self) -> String {
        self.words(sys::BERTH_AGENT_LOG_AGENT_NAME)
    }

    /// The caller's own name for what it is to do.
    pub fn story_id(&self) -> String {
        self.words(sys::BERTH_AGENT_LOG_STORY_ID)
    }

    /// When the run started.
    pub fn started(&self) -> Option<SystemTime> {
        time(self.number(sys::BERTH_AGENT_LOG_STARTED_UNIX_NS))
    }

    /// Lines that were passed over by now.
    pub fn unreadable_lines(&self) -> u64 {
        u64::try_from(self.number(sys::BERTH_AGENT_LOG_UNREADABLE)).unwrap_or(0)
    }
}

fn ready_fd(raw: *mut sys::berth_agent_log) -> Result<OwnedFd> {
    let mut fd = -1;
    check(|error| unsafe { sys::berth_agent_log_fd(&mut fd, raw, error) })?;
    // SAFETY: the descriptor came out of the library and is nobody else's.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}
