use crate::convert::{handle, take_string, text, time, words};
use crate::error::{check, Result};
use berth_sys as sys;
use std::fmt;
use std::time::SystemTime;

handle!(Handle, berth_agent_event, berth_agent_event_free);
// SAFETY: berth.h, convention 9; an event does not change.
unsafe impl Sync for Handle {}

/// What a run has used up.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
#[allow(missing_docs)]
pub struct Usage {
    /// Tokens read that were in no cache.
    pub input: i64,
    pub output: i64,
    pub cache_creation: i64,
    pub cache_read: i64,
    pub cost_usd: f64,
}

impl From<sys::berth_usage> for Usage {
    fn from(raw: sys::berth_usage) -> Usage {
        Usage {
            input: raw.input,
            output: raw.output,
            cache_creation: raw.cache_creation,
            cache_read: raw.cache_read,
            cost_usd: raw.cost_usd,
        }
    }
}

/// What kind of thing an agent did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[allow(missing_docs)]
pub enum AgentEventKind {
    /// A line that means nothing to the driver, or of standard error.
    Raw,
    Started,
    Text,
    ToolCall,
    ToolResult,
    Usage,
    RateLimit,
    /// For a person: the text is what it asks.
    Waiting,
    /// The end of its work.
    Result,
    /// One that this version of the crate does not know.
    Other(i32),
}
words!(AgentEventKind, berth_agent_event_name, |kind| kind.number());

impl AgentEventKind {
    fn from_raw(raw: i32) -> AgentEventKind {
        use AgentEventKind::*;
        match raw {
            sys::BERTH_AGENT_RAW => Raw,
            sys::BERTH_AGENT_STARTED => Started,
            sys::BERTH_AGENT_TEXT => Text,
            sys::BERTH_AGENT_TOOL_CALL => ToolCall,
            sys::BERTH_AGENT_TOOL_RESULT => ToolResult,
            sys::BERTH_AGENT_USAGE => Usage,
            sys::BERTH_AGENT_RATE_LIMIT => RateLimit,
            sys::BERTH_AGENT_WAITING => Waiting,
            sys::BERTH_AGENT_RESULT => Result,
            other => Other(other),
        }
    }

    fn number(self) -> i32 {
        use AgentEventKind::*;
        match self {
            Raw => sys::BERTH_AGENT_RAW,
            Started => sys::BERTH_AGENT_STARTED,
            Text => sys::BERTH_AGENT_TEXT,
            ToolCall => sys::BERTH_AGENT_TOOL_CALL,
            ToolResult => sys::BERTH_AGENT_TOOL_RESULT,
            Usage => sys::BERTH_AGENT_USAGE,
            RateLimit => sys::BERTH_AGENT_RATE_LIMIT,
            Waiting => sys::BERTH_AGENT_WAITING,
            Result => sys::BERTH_AGENT_RESULT,
            Other(other) => other,
        }
    }
}

/// One thing that an agent did, in the same words for every agent.
pub struct AgentEvent(Handle);

impl AgentEvent {
    /// `None` for the null handle.
    pub(crate) fn take(raw: *mut sys::berth_agent_event) -> Option<AgentEvent> {
        (!raw.is_null()).then(|| AgentEvent(Handle(raw)))
    }

    fn number(&self, field: i32) -> i64 {
        unsafe { sys::berth_agent_event_number(self.0 .0, field) }
    }

    fn words(&self, field: i32) -> String {
        unsafe { text(|size| sys::berth_agent_event_text(self.0 .0, field, size)).unwrap_or_default() }
    }

    /// What it did.
    pub fn kind(&self) -> AgentEventKind {
        AgentEventKind::from_raw(self.number(sys::BERTH_AGENT_EVENT_KIND) as i32)
    }

    /// 1, 2, 3, … within a run.
    pub fn sequence(&self) -> i64 {
        self.number(sys::BERTH_AGENT_EVENT_SEQUENCE)
    }

    /// When.
    pub fn time(&self) -> Option<SystemTime> {
        time(self.number(sys::BERTH_AGENT_EVENT_UNIX_NS))
    }

    /// The text, the arguments of a tool call as JSON, what a tool gave, what it asks.
    pub fn text(&self) -> String {
        self.words(sys::BERTH_AGENT_EVENT_TEXT)
    }

    /// The line itself, with the first event that it gave.
    pub fn raw(&self) -> String {
        self.words(sys::BERTH_AGENT_EVENT_RAW)
    }

    /// The agent's own session.
    pub fn session_id(&self) -> String {
        self.words(sys::BERTH_AGENT_EVENT_SESSION_ID)
    }

    /// The model.
    pub fn model(&self) -> String {
        self.words(sys::BERTH_AGENT_EVENT_MODEL)
    }

    /// The message that this is a part of.
    pub fn message_id(&self) -> String {
        self.words(sys::BERTH_AGENT_EVENT_MESSAGE_ID)
    }

    /// The tool call whose sub-agent did this; "" is the agent itself.
    pub fn parent_id(&self) -> String {
        self.words(sys::BERTH_AGENT_EVENT_PARENT_ID)
    }

    /// Of a tool call or its result.
    pub fn tool_id(&self) -> String {
        self.words(sys::BERTH_AGENT_EVENT_TOOL_ID)
    }

    /// Of a tool call.
    pub fn tool_name(&self) -> String {
        self.words(sys::BERTH_AGENT_EVENT_TOOL_NAME)
    }

    /// Of a result.
    pub fn is_error(&self) -> bool {
        self.number(sys::BERTH_AGENT_EVENT_IS_ERROR) == 1
    }

    /// A piece of a text that will also come whole.
    pub fn is_partial(&self) -> bool {
        self.number(sys::BERTH_AGENT_EVENT_PARTIAL) == 1
    }

    /// The agent itself begins another turn with this.
    pub fn is_new_turn(&self) -> bool {
        self.number(sys::BERTH_AGENT_EVENT_NEW_TURN) == 1
    }

    /// Of a rate limit: the agent cannot go on before [`AgentEvent::resets_at`].
    pub fn is_hard(&self) -> bool {
        self.number(sys::BERTH_AGENT_EVENT_HARD) == 1
    }

    /// Of a rate limit, if it is told.
    pub fn resets_at(&self) -> Option<SystemTime> {
        time(self.number(sys::BERTH_AGENT_EVENT_RESETS_AT_UNIX_NS))
    }

    /// Of a result: turns of the agent itself.
    pub fn turns(&self) -> i64 {
        self.number(sys::BERTH_AGENT_EVENT_TURNS)
    }

    /// Of a line of standard error.
    pub fn is_from_stderr(&self) -> bool {
        self.number(sys::BERTH_AGENT_EVENT_FROM_STDERR) == 1
    }

    /// Of a line that was too long: what is missing of it.
    pub fn truncated_bytes(&self) -> u64 {
        u64::try_from(self.number(sys::BERTH_AGENT_EVENT_TRUNCATED_BYTES)).unwrap_or(0)
    }

    /// Whether it tells what was used.
    pub fn has_usage(&self) -> bool {
        self.number(sys::BERTH_AGENT_EVENT_HAS_USAGE) == 1
    }

    /// Of the message so far, or of the run.
    pub fn usage(&self) -> Usage {
        let mut usage = sys::berth_usage::default();
        unsafe { sys::berth_agent_event_usage(&mut usage, self.0 .0, std::ptr::null_mut()) };
        usage.into()
    }

    /// All of it on one line, as the log has it, but with nothing taken out.
    pub fn to_json(&self) -> Result<String> {
        let mut json = std::ptr::null_mut();
        check(|error| unsafe { sys::berth_agent_event_json(&mut json, self.0 .0, error) })?;
        Ok(String::from_utf8_lossy(&take_string(json)).into_owned())
    }
}

impl fmt::Debug for AgentEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_json().unwrap_or_default())
    }
}
