use crate::convert::{handle, millis, pointer};
use crate::error::{check, Result};
use crate::sweep_report::SweepReport;
use berth_sys as sys;
use std::os::fd::{AsFd, BorrowedFd, FromRawFd, OwnedFd};
use std::time::Duration;

handle!(Handle, berth_sweep_watch, berth_sweep_watch_free);
// SAFETY: berth.h, convention 9.
unsafe impl Sync for Handle {}

/// Sweeps whenever there may be something to do: at once, and then when an owner or the keeper of a durable session
/// ends, when a new one appears, when an engine tells of something of ours. Nothing is polled and no thread is started:
/// the sweeps are done by [`SweepWatch::next_report`]. Its descriptor is readable while that has something to do.
///
/// ```no_run
/// # fn main() -> berth::Result<()> {
/// let watch = berth::Sweep::new().watch("")?;
/// while let Some(report) = watch.next_report(None)? {
///     println!("{} ended and removed", report.done);
/// }
/// # Ok(())
/// # }
/// ```
pub struct SweepWatch {
    handle: Handle,
    ready: OwnedFd,
}

impl SweepWatch {
    pub(crate) fn new(state_dir: &[u8], options: *const sys::berth_sweep_options) -> Result<SweepWatch> {
        let mut raw = std::ptr::null_mut();
        check(|error| unsafe {
            sys::berth_sweep_watch_new(&mut raw, pointer(state_dir), state_dir.len(), options, error)
        })?;
        let handle = Handle(raw);
        let mut fd = -1;
        check(|error| unsafe { sys::berth_sweep_watch_fd(&mut fd, raw, error) })?;
        // SAFETY: the descriptor came out of the library and is nobody else's.
        Ok(SweepWatch { handle, ready: unsafe { OwnedFd::from_raw_fd(fd) } })
    }

    /// Waits until a sweep is due and does it; `None` if none was due in time. One that has begun is finished. What fails
    /// is tried again at the next event ([`crate::Code::Aborted`]: another reaper was at work); only
    /// [`crate::Code::Cancelled`] and [`crate::Code::FailedPrecondition`] stay.
    pub fn next_report(&self, timeout: Option<Duration>) -> Result<Option<SweepReport>> {
        let mut raw = std::ptr::null_mut();
        check(|error| unsafe { sys::berth_sweep_watch_next(&mut raw, self.handle.0, millis(timeout), error) })?;
        if raw.is_null() {
            return Ok(None);
        }
        SweepReport::take(raw).map(Some)
    }

    /// Has [`SweepWatch::next_report`] return [`crate::Code::Cancelled`], now and later, on any thread.
    pub fn stop(&self) -> Result<()> {
        check(|error| unsafe { sys::berth_sweep_watch_stop(self.handle.0, error) })
    }
}

impl AsFd for SweepWatch {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.ready.as_fd()
    }
}
