use crate::agent_event::AgentEvent;
use crate::agent_result::AgentResult;
use crate::convert::{handle, millis, pointer, text};
use crate::error::{check, Error, Result};
use crate::runtime::Inner;
use crate::session_builder::SessionBuilder;
use berth_sys as sys;
use std::os::fd::{AsFd, BorrowedFd, FromRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

handle!(Context, berth_agent_context, berth_agent_context_free);
handle!(Run, berth_agent_run, berth_agent_run_free);
handle!(Subscription, berth_agent_subscription, berth_agent_subscription_free);
// SAFETY: berth.h, convention 9.
unsafe impl Sync for Run {}

/// What an agent is to do, where, and how far: made by [`crate::Runtime::agent`].
///
/// ```no_run
/// # fn main() -> berth::Result<()> {
/// let runtime = berth::Runtime::new()?;
/// let policy = berth::Policy::agent("/src/project").build()?;
/// let place = runtime.session("fix-42").cwd("/src/project").policy(&policy);
/// let run = runtime.agent("claude").prompt("fix the test").place(place).start()?;
/// while let Some(event) = run.next_event(None)? {
///     println!("{:?} {}", event.kind(), event.text());
/// }
/// println!("{} USD", run.result()?.usage.cost_usd);
/// # Ok(())
/// # }
/// ```
#[must_use = "nothing is started before start()"]
pub struct AgentBuilder {
    runtime: Arc<Inner>,
    context: Result<Context>,
    flags: u32,
}

impl AgentBuilder {
    pub(crate) fn new(runtime: Arc<Inner>, agent: &[u8]) -> AgentBuilder {
        let mut raw = std::ptr::null_mut();
        let made = check(|error| unsafe {
            sys::berth_agent_context_new(&mut raw, pointer(agent), agent.len(), error)
        });
        AgentBuilder { runtime, context: made.map(|()| Context(raw)), flags: 0 }
    }

    fn set(self, set: impl FnOnce(*mut sys::berth_agent_context) -> i32) -> Self {
        if let Ok(context) = &self.context {
            set(context.0);
        }
        self
    }

    fn text(self, field: i32, text: &[u8]) -> Self {
        self.set(|context| unsafe {
            sys::berth_agent_context_set_text(context, field, pointer(text), text.len())
        })
    }

    fn time(self, which: i32, time: Option<Duration>) -> Self {
        self.set(|context| unsafe { sys::berth_agent_context_set_time(context, which, millis(time)) })
    }

    /// What it is to do. Goes through standard input.
    pub fn prompt(self, prompt: impl AsRef<[u8]>) -> Self {
        self.text(sys::BERTH_AGENT_PROMPT, prompt.as_ref())
    }

    /// Another program than the driver's.
    pub fn command(self, command: impl AsRef<Path>) -> Self {
        self.text(sys::BERTH_AGENT_COMMAND, command.as_ref().as_os_str().as_bytes())
    }

    /// An argument after the driver's.
    pub fn arg(self, arg: impl AsRef<[u8]>) -> Self {
        let arg = arg.as_ref();
        self.set(|context| unsafe { sys::berth_agent_context_add_arg(context, pointer(arg), arg.len()) })
    }

    /// The agent's own session to go on with; if that is refused, a fresh one is started, once, on `cold_prompt` ("": on
    /// the prompt).
    pub fn resume(self, session_id: &str, cold_prompt: &str) -> Self {
        self.text(sys::BERTH_AGENT_RESUME, session_id.as_bytes())
            .text(sys::BERTH_AGENT_COLD_PROMPT, cold_prompt.as_bytes())
    }

    /// The caller's own names, for the log and the agent's environment.
    pub fn names(self, story_id: &str, agent_name: &str) -> Self {
        self.text(sys::BERTH_AGENT_STORY_ID, story_id.as_bytes())
            .text(sys::BERTH_AGENT_NAME, agent_name.as_bytes())
    }

    /// Where an API loop asks: URL, model and key. It needs a thread, which this allows.
    pub fn api(mut self, url: &str, model: &str, key: &str) -> Self {
        self.flags |= sys::BERTH_AGENT_MAY_START_THREAD;
        let flags = self.flags;
        self.text(sys::BERTH_AGENT_API_URL, url.as_bytes())
            .text(sys::BERTH_AGENT_API_MODEL, model.as_bytes())
            .text(sys::BERTH_AGENT_API_KEY, key.as_bytes())
            .set(|context| unsafe { sys::berth_agent_context_set_flags(context, flags) })
    }

    /// Of the log; give what the runtime was given.
    pub fn state_dir(self, path: impl AsRef<Path>) -> Self {
        self.text(sys::BERTH_AGENT_STATE_DIR, path.as_ref().as_os_str().as_bytes())
    }

    /// Where it runs: name, backend, folder, environment, policy, container, limits.
    pub fn place(mut self, place: SessionBuilder) -> Self {
        match (place.raw(), &self.context) {
            (Ok(spec), Ok(context)) => {
                unsafe { sys::berth_agent_context_set_place(context.0, spec) };
            }
            (Err(error), Ok(_)) => self.context = Err(error),
            _ => (),
        }
        self
    }

    /// Of an MCP server on loopback, for the agent to use.
    pub fn mcp_port(self, port: u16) -> Self {
        self.set(|context| unsafe { sys::berth_agent_context_set_mcp_port(context, port) })
    }

    /// What it may use up; 0 turns, 0 dollars and `None` are no limit.
    pub fn budget(self, turns: u32, cost_usd: f64, wall: Option<Duration>) -> Self {
        self.set(|context| unsafe {
            sys::berth_agent_context_set_budget(context, i64::from(turns), cost_usd, millis(wall))
        })
    }

    /// The longest that it may be silent; `None` is without limit.
    pub fn inactivity(self, limit: Option<Duration>) -> Self {
        self.time(sys::BERTH_AGENT_INACTIVITY, limit)
    }

    /// Between TERM and KILL.
    pub fn stop_grace(self, grace: Duration) -> Self {
        self.time(sys::BERTH_AGENT_STOP_GRACE, Some(grace))
    }

    /// Waiting for a person is the end.
    pub fn stop_when_waiting(mut self) -> Self {
        self.flags |= sys::BERTH_AGENT_STOP_WHEN_WAITING;
        let flags = self.flags;
        self.set(|context| unsafe { sys::berth_agent_context_set_flags(context, flags) })
    }

    /// Starts it.
    pub fn start(self) -> Result<AgentRun> {
        let context = self.context.as_ref().map_err(Error::clone)?;
        let mut raw = std::ptr::null_mut();
        check(|error| unsafe { sys::berth_agent_start(&mut raw, self.runtime.raw(), context.0, error) })?;
        let run = Run(raw);
        let mut fd = -1;
        check(|error| unsafe { sys::berth_agent_run_fd(&mut fd, run.0, error) })?;
        // SAFETY: the descriptor came out of the library and is nobody else's.
        Ok(AgentRun { run, ready: unsafe { OwnedFd::from_raw_fd(fd) }, _runtime: self.runtime })
    }
}

/// An agent that runs. Dropping it ends the agent.
///
/// The run goes on inside [`AgentRun::next_event`]; an event loop calls it with a zero timeout when the descriptor
/// ([`AsFd`]) is readable.
pub struct AgentRun {
    run: Run,
    ready: OwnedFd,
    _runtime: Arc<Inner>,
}

impl AsFd for AgentRun {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.ready.as_fd()
    }
}

impl AgentRun {
    /// The next event; `None` if there is none in time, or the run is finished.
    pub fn next_event(&self, timeout: Option<Duration>) -> Result<Option<AgentEvent>> {
        let mut raw = std::ptr::null_mut();
        check(|error| unsafe { sys::berth_agent_run_next(&mut raw, self.run.0, millis(timeout), error) })?;
        Ok(AgentEvent::take(raw))
    }

    /// All events were given, and no process is left.
    pub fn is_finished(&self) -> bool {
        unsafe { sys::berth_agent_run_finished(self.run.0) == 1 }
    }

    /// Until it is finished, without looking at the events.
    pub fn drive(&self, timeout: Option<Duration>) -> Result<AgentResult> {
        self.result_of(|result, error| unsafe {
            sys::berth_agent_run_drive(result, self.run.0, millis(timeout), error)
        })
    }

    /// As far as it is known now.
    pub fn result(&self) -> Result<AgentResult> {
        self.result_of(|result, error| unsafe { sys::berth_agent_run_result(result, self.run.0, error) })
    }

    fn result_of(
        &self,
        call: impl FnOnce(*mut *mut sys::berth_agent_result, *mut *mut sys::berth_error) -> i32,
    ) -> Result<AgentResult> {
        AgentResult::from_call(call).map(|result| result.expect("a run has a result at any time"))
    }

    /// Ends it: what is left to do is done by [`AgentRun::next_event`].
    pub fn stop(&self) -> Result<()> {
        check(|error| unsafe { sys::berth_agent_run_stop(self.run.0, error) })
    }

    /// Of its event log.
    pub fn run_id(&self) -> String {
        unsafe { text(|size| sys::berth_agent_run_id(self.run.0, size)).unwrap_or_default() }
    }

    /// Of the session that it runs in.
    pub fn session_name(&self) -> String {
        unsafe { text(|size| sys::berth_agent_run_session_name(self.run.0, size)).unwrap_or_default() }
    }

    /// Events for someone else, from sequence `from` on; 0 is from now on.
    pub fn subscribe(&self, from: u64) -> Result<AgentSubscription> {
        let mut raw = std::ptr::null_mut();
        let from = i64::try_from(from).unwrap_or(i64::MAX);
        check(|error| unsafe { sys::berth_agent_run_subscribe(&mut raw, self.run.0, from, error) })?;
        let subscription = Subscription(raw);
        let mut fd = -1;
        check(|error| unsafe { sys::berth_agent_subscription_fd(&mut fd, raw, error) })?;
        // SAFETY: the descriptor came out of the library and is nobody else's.
        Ok(AgentSubscription { subscription, ready: unsafe { OwnedFd::from_raw_fd(fd) } })
    }
}

/// One who looks on at a run. A slow one holds nobody up, and is told how many events it missed.
pub struct AgentSubscription {
    subscription: Subscription,
    ready: OwnedFd,
}

impl AsFd for AgentSubscription {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.ready.as_fd()
    }
}

impl AgentSubscription {
    /// The next event, or nothing at once; and how many were missed before it.
    pub fn next_event(&mut self) -> Result<(Option<AgentEvent>, u64)> {
        let (mut raw, mut missed) = (std::ptr::null_mut(), 0);
        check(|error| unsafe {
            sys::berth_agent_subscription_next(&mut raw, &mut missed, self.subscription.0, error)
        })?;
        Ok((AgentEvent::take(raw), u64::try_from(missed).unwrap_or(0)))
    }

    /// Nothing is left and nothing will come.
    pub fn is_ended(&self) -> bool {
        unsafe { sys::berth_agent_subscription_ended(self.subscription.0) == 1 }
    }
}
