use crate::agent_event::Usage;
use crate::convert::{handle, take_string, text, words};
use crate::error::{check, Result};
use crate::exit::Exit;
use berth_sys as sys;

handle!(Handle, berth_agent_result, berth_agent_result_free);

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
words!(AgentStatus, berth_agent_status_name, |status| status as i32);

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
words!(AgentEnd, berth_agent_end_name, |end| end.number());

impl AgentEnd {
    fn from_raw(raw: i32) -> AgentEnd {
        match raw {
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
        }
    }

    fn number(self) -> i32 {
        match self {
            AgentEnd::None => sys::BERTH_AGENT_END_NONE,
            AgentEnd::Success => sys::BERTH_AGENT_END_SUCCESS,
            AgentEnd::Error => sys::BERTH_AGENT_END_ERROR,
            AgentEnd::NoResult => sys::BERTH_AGENT_END_NO_RESULT,
            AgentEnd::Stopped => sys::BERTH_AGENT_END_STOPPED,
            AgentEnd::Inactivity => sys::BERTH_AGENT_END_INACTIVITY,
            AgentEnd::Wall => sys::BERTH_AGENT_END_WALL,
            AgentEnd::Turns => sys::BERTH_AGENT_END_TURNS,
            AgentEnd::Cost => sys::BERTH_AGENT_END_COST,
            AgentEnd::Waiting => sys::BERTH_AGENT_END_WAITING,
            AgentEnd::ResumeRefused => sys::BERTH_AGENT_END_RESUME_REFUSED,
            AgentEnd::Lost => sys::BERTH_AGENT_END_LOST,
            AgentEnd::Other(other) => other,
        }
    }
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
    /// The session that was asked for went on.
    pub resumed: bool,
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
    /// Bytes of a last line without an end.
    pub torn_bytes: u64,
    /// Why events are missing in the log; "": none are.
    pub log_error: String,
    /// All of it.
    pub json: String,
}

impl AgentResult {
    pub(crate) fn from_call(
        call: impl FnOnce(*mut *mut sys::berth_agent_result, *mut *mut sys::berth_error) -> i32,
    ) -> Result<Option<AgentResult>> {
        let mut raw = std::ptr::null_mut();
        check(|error| call(&mut raw, error))?;
        (!raw.is_null()).then(|| AgentResult::read(&Handle(raw))).transpose()
    }

    fn read(raw: &Handle) -> Result<AgentResult> {
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
        let mut json = std::ptr::null_mut();
        check(|error| unsafe { sys::berth_agent_result_json(&mut json, raw.0, error) })?;
        Ok(AgentResult {
            status: match number(sys::BERTH_AGENT_RESULT_STATUS) as i32 {
                sys::BERTH_AGENT_RUNNING => AgentStatus::Running,
                sys::BERTH_AGENT_COMPLETED => AgentStatus::Completed,
                sys::BERTH_AGENT_FAILED => AgentStatus::Failed,
                _ => AgentStatus::Idle,
            },
            reason: AgentEnd::from_raw(number(sys::BERTH_AGENT_RESULT_REASON) as i32),
            detail: words(sys::BERTH_AGENT_RESULT_DETAIL),
            text: words(sys::BERTH_AGENT_RESULT_TEXT),
            session_id: words(sys::BERTH_AGENT_RESULT_SESSION_ID),
            resumed: number(sys::BERTH_AGENT_RESULT_RESUMED) == 1,
            resume_refused: number(sys::BERTH_AGENT_RESULT_RESUME_REFUSED) == 1,
            turns: number(sys::BERTH_AGENT_RESULT_TURNS),
            usage: usage.into(),
            tallied: tallied.into(),
            exit: Exit(exit),
            torn_bytes: u64::try_from(number(sys::BERTH_AGENT_RESULT_TORN_BYTES)).unwrap_or(0),
            log_error: words(sys::BERTH_AGENT_RESULT_LOG_ERROR),
            json: String::from_utf8_lossy(&take_string(json)).into_owned(),
        })
    }
}
