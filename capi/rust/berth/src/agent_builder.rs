use crate::agent::AgentRun;
use crate::convert::{handle, millis, pointer, Strings};
use crate::error::{check, Error, Result};
use crate::runtime::Inner;
use crate::session_builder::SessionBuilder;
use berth_sys as sys;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

handle!(Context, berth_agent_context, berth_agent_context_free);

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

/// US dollars per million tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[allow(missing_docs)]
pub struct Prices {
    pub input: f64,
    pub output: f64,
    pub cache_creation: f64,
    pub cache_read: f64,
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

    fn size(self, which: i32, size: u64) -> Self {
        let size = i64::try_from(size).unwrap_or(i64::MAX);
        self.set(|context| unsafe { sys::berth_agent_context_set_size(context, which, size) })
    }

    fn flag(mut self, flag: u32) -> Self {
        self.flags |= flag;
        let flags = self.flags;
        self.set(|context| unsafe { sys::berth_agent_context_set_flags(context, flags) })
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
    pub fn api(self, url: &str, model: &str, key: &str) -> Self {
        self.text(sys::BERTH_AGENT_API_URL, url.as_bytes())
            .text(sys::BERTH_AGENT_API_MODEL, model.as_bytes())
            .text(sys::BERTH_AGENT_API_KEY, key.as_bytes())
            .flag(sys::BERTH_AGENT_MAY_START_THREAD)
    }

    /// What an API loop tells the model of its task.
    pub fn api_system(self, system: &str) -> Self {
        self.text(sys::BERTH_AGENT_API_SYSTEM, system.as_bytes())
    }

    /// The longest that one attempt of an API loop may take.
    pub fn http_timeout(self, limit: Duration) -> Self {
        self.time(sys::BERTH_AGENT_HTTP_TIMEOUT, Some(limit))
    }

    /// How often an API loop tries again, and the pauses before that.
    pub fn http_retries(self, retries: u32, first_pause: Duration, longest_pause: Duration) -> Self {
        self.size(sys::BERTH_AGENT_HTTP_RETRIES, u64::from(retries))
            .time(sys::BERTH_AGENT_HTTP_FIRST_PAUSE, Some(first_pause))
            .time(sys::BERTH_AGENT_HTTP_LONGEST_PAUSE, Some(longest_pause))
    }

    /// Bytes of an answer to an API loop.
    pub fn http_max_body(self, bytes: u64) -> Self {
        self.size(sys::BERTH_AGENT_HTTP_MAX_BODY, bytes)
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

    /// For a process that goes on after its result.
    pub fn result_grace(self, grace: Duration) -> Self {
        self.time(sys::BERTH_AGENT_RESULT_GRACE, Some(grace))
    }

    /// A reset of a rate limit that is further away is taken for this.
    pub fn longest_rate_limit(self, limit: Duration) -> Self {
        self.time(sys::BERTH_AGENT_LONGEST_RATE_LIMIT, Some(limit))
    }

    /// Waiting for a person is the end.
    pub fn stop_when_waiting(self) -> Self {
        self.flag(sys::BERTH_AGENT_STOP_WHEN_WAITING)
    }

    /// For agents that do not tell what they cost.
    pub fn prices(self, prices: Prices) -> Self {
        let Prices { input, output, cache_creation, cache_read } = prices;
        self.set(|context| unsafe {
            sys::berth_agent_context_set_prices(context, input, output, cache_creation, cache_read)
        })
    }

    /// Besides the values of variables named like secrets, what is taken out of the log: RE2 patterns, and secrets
    /// themselves.
    pub fn redactions<S: AsRef<[u8]>>(
        mut self,
        patterns: impl IntoIterator<Item = S>,
        values: impl IntoIterator<Item = S>,
    ) -> Self {
        match (Strings::new(patterns), Strings::new(values)) {
            (Ok(patterns), Ok(values)) => self.set(|context| unsafe {
                sys::berth_agent_context_set_redactions(context, patterns.0, values.0)
            }),
            (Err(error), _) | (_, Err(error)) => {
                self.context = Err(error);
                self
            }
        }
    }

    /// The well-known forms of keys stay in the log.
    pub fn keep_keys(self) -> Self {
        self.flag(sys::BERTH_AGENT_NO_REDACTION)
    }

    /// A longer line is cut there, and its event says so.
    pub fn max_line(self, bytes: u64) -> Self {
        self.size(sys::BERTH_AGENT_MAX_LINE, bytes)
    }

    /// How many events, and bytes of them, are kept for subscribers.
    pub fn kept(self, events: u64, bytes: u64) -> Self {
        self.size(sys::BERTH_AGENT_MAX_EVENTS, events).size(sys::BERTH_AGENT_MAX_BYTES, bytes)
    }

    /// Starts it.
    pub fn start(self) -> Result<AgentRun> {
        let context = self.context.as_ref().map_err(Error::clone)?;
        let mut raw = std::ptr::null_mut();
        check(|error| unsafe { sys::berth_agent_start(&mut raw, self.runtime.raw(), context.0, error) })?;
        AgentRun::take(raw, self.runtime)
    }
}
