use crate::agent_event::{AgentEvent, Usage};
use crate::convert::{handle, pointer, text, Strings};
use crate::error::{check, Result};
use crate::exit::Exit;
use berth_sys as sys;
use std::os::fd::{FromRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

handle!(Handle, berth_agent_result, berth_agent_result_free);
handle!(LogHandle, berth_agent_log, berth_agent_log_free);

/// How a run stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[allow(missing_docs)]
pub enum AgentStatus {
    Idle,
    Running,
    Completed,
    Failed,
}

/// Why a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[allow(missing_docs)]
pub enum AgentEnd {
    /// It runs.
    None,
    Success,
    /// It told a result that is an error.
    Error,
    /// It ended without one.
    NoResult,
    Stopped,
    Inactivity,
    Wall,
    Turns,
    Cost,
    Waiting,
    ResumeRefused,
    Lost,
    /// One that this version of the crate does not know.
    Other(i32),
}

/// How a run stands or ended.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct AgentResult {
    /// How it stands.
    pub status: AgentStatus,
    /// Why it ended.
    pub reason: AgentEnd,
    /// Of the reason, for people.
    pub detail: String,
    /// The agent's last word.
    pub text: String,
    /// The agent's own, to resume by.
    pub session_id: String,
    /// Asked for and refused: this is a fresh session.
    pub resume_refused: bool,
    /// Turns of the agent itself.
    pub turns: i64,
    /// As the agent told it at its end, until then as tallied.
    pub usage: Usage,
    /// Every message once.
    pub tallied: Usage,
    /// Of the process, once it has ended.
    pub exit: Exit,
}

impl AgentResult {
    pub(crate) fn from_call(
        call: impl FnOnce(*mut *mut sys::berth_agent_result, *mut *mut sys::berth_error) -> i32,
    ) -> Result<Option<AgentResult>> {
        let mut raw = std::ptr::null_mut();
        check(|error| call(&mut raw, error))?;
        Ok((!raw.is_null()).then(|| AgentResult::read(&Handle(raw))))
    }

    fn read(raw: &Handle) -> AgentResult {
        let number = |field| unsafe { sys::berth_agent_result_number(raw.0, field) };
        let words = |field| unsafe {
            text(|size| sys::berth_agent_result_text(raw.0, field, size)).unwrap_or_default()
        };
        let (mut usage, mut tallied) = (sys::berth_usage::default(), sys::berth_usage::default());
        let mut exit = sys::berth_exit::default();
        unsafe {
            sys::berth_agent_result_usage(&mut usage, &mut tallied, raw.0, std::ptr::null_mut());
            sys::berth_agent_result_exit(&mut exit, raw.0, std::ptr::null_mut());
        }
        AgentResult {
            status: match number(sys::BERTH_AGENT_RESULT_STATUS) as i32 {
                sys::BERTH_AGENT_RUNNING => AgentStatus::Running,
                sys::BERTH_AGENT_COMPLETED => AgentStatus::Completed,
                sys::BERTH_AGENT_FAILED => AgentStatus::Failed,
                _ => AgentStatus::Idle,
            },
            reason: match number(sys::BERTH_AGENT_RESULT_REASON) as i32 {
                sys::BERTH_AGENT_END_NONE => AgentEnd::None,
                sys::BERTH_AGENT_END_SUCCESS => AgentEnd::Success,
                sys::BERTH_AGENT_END_ERROR => AgentEnd::Error,
                sys::BERTH_AGENT_END_NO_RESULT => AgentEnd::NoResult,
                sys::BERTH_AGENT_END_STOPPED => AgentEnd::Stopped,
                sys::BERTH_AGENT_END_INACTIVITY => AgentEnd::Inactivity,
                sys::BERTH_AGENT_END_WALL => AgentEnd::Wall,
                sys::BERTH_AGENT_END_TURNS => AgentEnd::Turns,
                sys::BERTH_AGENT_END_COST => AgentEnd::Cost,
                sys::BERTH_AGENT_END_WAITING => AgentEnd::Waiting,
                sys::BERTH_AGENT_END_RESUME_REFUSED => AgentEnd::ResumeRefused,
                sys::BERTH_AGENT_END_LOST => AgentEnd::Lost,
                other => AgentEnd::Other(other),
            },
            detail: words(sys::BERTH_AGENT_RESULT_DETAIL),
            text: words(sys::BERTH_AGENT_RESULT_TEXT),
            session_id: words(sys::BERTH_AGENT_RESULT_SESSION_ID),
            resume_refused: number(sys::BERTH_AGENT_RESULT_RESUME_REFUSED) == 1,
            turns: number(sys::BERTH_AGENT_RESULT_TURNS),
            usage: usage.into(),
            tallied: tallied.into(),
            exit: Exit(exit),
        }
    }
}

/// The log of a run, also of another process's: its events from the first one on, while they come.
pub struct AgentLog(LogHandle);

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
        Ok(AgentLog(LogHandle(raw)))
    }

    /// The next event, or nothing at once.
    pub fn next_event(&mut self) -> Result<Option<AgentEvent>> {
        let mut raw = std::ptr::null_mut();
        check(|error| unsafe { sys::berth_agent_log_next(&mut raw, self.0 .0, error) })?;
        Ok(AgentEvent::take(raw))
    }

    /// How the run ended, once [`AgentLog::next_event`] has come to that.
    pub fn end(&self) -> Result<Option<AgentResult>> {
        AgentResult::from_call(|result, error| unsafe {
            sys::berth_agent_log_end(result, self.0 .0, error)
        })
    }

    /// Nobody writes to it any more.
    pub fn is_abandoned(&self) -> bool {
        unsafe { sys::berth_agent_log_abandoned(self.0 .0) == 1 }
    }

    /// Readable once there may be more: for poll, never read it.
    pub fn ready_fd(&self) -> Result<OwnedFd> {
        let mut fd = -1;
        check(|error| unsafe { sys::berth_agent_log_fd(&mut fd, self.0 .0, error) })?;
        // SAFETY: the descriptor came out of the library and is nobody else's.
        Ok(unsafe { OwnedFd::from_raw_fd(fd) })
    }
}
