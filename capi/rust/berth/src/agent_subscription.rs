use crate::agent_event::AgentEvent;
use crate::convert::handle;
use crate::error::{check, Result};
use berth_sys as sys;
use std::os::fd::{AsFd, BorrowedFd, FromRawFd, OwnedFd};

handle!(Subscription, berth_agent_subscription, berth_agent_subscription_free);

/// One who looks on at a run that another drives. A slow one holds nobody up, and is told how many events it missed. Its
/// descriptor is readable while [`AgentSubscription::next_event`] has something, and once the run is finished.
///
/// ```no_run
/// # fn wait_readable(_: &impl std::os::fd::AsFd) {}
/// # fn look_on(run: &berth::AgentRun) -> berth::Result<()> {
/// let mut events = run.subscribe(1)?;
/// while !events.is_ended() {
///     wait_readable(&events); // as the event loop does
///     while let (Some(event), missed) = events.next_event()? {
///         println!("{missed} missed, then {}", event.kind());
///     }
/// }
/// # Ok(())
/// # }
/// ```
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
    pub(crate) fn new(run: *mut sys::berth_agent_run, from: u64) -> Result<AgentSubscription> {
        let mut raw = std::ptr::null_mut();
        let from = i64::try_from(from).unwrap_or(i64::MAX);
        check(|error| unsafe { sys::berth_agent_run_subscribe(&mut raw, run, from, error) })?;
        let subscription = Subscription(raw);
        let mut fd = -1;
        check(|error| unsafe { sys::berth_agent_subscription_fd(&mut fd, raw, error) })?;
        // SAFETY: the descriptor came out of the library and is nobody else's.
        Ok(AgentSubscription { subscription, ready: unsafe { OwnedFd::from_raw_fd(fd) } })
    }

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

    /// The sequence that comes next.
    pub fn position(&self) -> u64 {
        let next = unsafe { sys::berth_agent_subscription_position(self.subscription.0) };
        u64::try_from(next).unwrap_or(0)
    }
}
