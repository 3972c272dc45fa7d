use crate::agent_event::AgentEvent;
use crate::agent_result::AgentResult;
use crate::agent_subscription::AgentSubscription;
use crate::convert::{handle, millis, text};
use crate::error::{check, Result};
use crate::runtime::Inner;
use berth_sys as sys;
use std::os::fd::{AsFd, BorrowedFd, FromRawFd, OwnedFd};
use std::sync::Arc;
use std::time::Duration;

handle!(Run, berth_agent_run, berth_agent_run_free);
// SAFETY: berth.h, convention 9.
unsafe impl Sync for Run {}

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
    pub(crate) fn take(raw: *mut sys::berth_agent_run, runtime: Arc<Inner>) -> Result<AgentRun> {
        let run = Run(raw);
        let mut fd = -1;
        check(|error| unsafe { sys::berth_agent_run_fd(&mut fd, run.0, error) })?;
        // SAFETY: the descriptor came out of the library and is nobody else's.
        Ok(AgentRun { run, ready: unsafe { OwnedFd::from_raw_fd(fd) }, _runtime: runtime })
    }

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

    /// Events for someone else, from sequence `from` on, those that have been included; 0 is from now on.
    pub fn subscribe(&self, from: u64) -> Result<AgentSubscription> {
        AgentSubscription::new(self.run.0, from)
    }
}
