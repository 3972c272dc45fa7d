use crate::convert::millis;
use crate::error::{check, Result};
use crate::exit::{Exit, StartTiming, Stats};
use crate::runtime::Inner;
use crate::stream::{Reader, Writer};
use crate::violations::Violation;
use berth_sys as sys;
use std::os::fd::{FromRawFd, OwnedFd};
use std::sync::Arc;
use std::time::Duration;

/// One running program and everything that it starts. Dropping it kills the whole tree, and returns once it is gone.
pub struct Process {
    raw: *mut sys::berth_process,
    _runtime: Arc<Inner>,
}

// SAFETY: berth.h, convention 9.
unsafe impl Send for Process {}
unsafe impl Sync for Process {}

impl Drop for Process {
    fn drop(&mut self) {
        unsafe { sys::berth_process_free(self.raw) }
    }
}

type TakeFd = unsafe extern "C" fn(*mut i32, *mut sys::berth_process, *mut *mut sys::berth_error) -> i32;

impl Process {
    pub(crate) fn from_raw(runtime: Arc<Inner>, raw: *mut sys::berth_process) -> Process {
        Process { raw, _runtime: runtime }
    }

    /// The main process as this machine's /proc shows it; `None` where the engine runs it elsewhere.
    pub fn pid(&self) -> Option<u32> {
        let pid = unsafe { sys::berth_process_pid(self.raw) };
        u32::try_from(pid).ok().filter(|pid| *pid != 0)
    }

    /// Whether it has a terminal.
    pub fn is_pty(&self) -> bool {
        unsafe { sys::berth_process_is_pty(self.raw) == 1 }
    }

    /// When each step of its start was reached.
    pub fn timing(&self) -> Result<StartTiming> {
        let mut timing = sys::berth_start_timing::default();
        check(|error| unsafe { sys::berth_process_timing(&mut timing, self.raw, error) })?;
        Ok(timing.into())
    }

    fn fd(&self, call: TakeFd) -> Result<i32> {
        let mut fd = -1;
        check(|error| unsafe { call(&mut fd, self.raw, error) })?;
        Ok(fd)
    }

    /// Its input; once, then [`crate::Code::FailedPrecondition`].
    pub fn take_stdin(&self) -> Result<Writer> {
        self.fd(sys::berth_process_take_stdin_fd).map(Writer::from_raw)
    }

    /// Its output; once. With a terminal: what is written there.
    pub fn take_stdout(&self) -> Result<Reader> {
        self.fd(sys::berth_process_take_stdout_fd).map(Reader::from_raw)
    }

    /// Its errors; once. There are none with a terminal.
    pub fn take_stderr(&self) -> Result<Reader> {
        self.fd(sys::berth_process_take_stderr_fd).map(Reader::from_raw)
    }

    /// Gives its terminal another size.
    pub fn resize(&self, rows: u16, cols: u16) -> Result<()> {
        check(|error| unsafe { sys::berth_process_resize(self.raw, rows, cols, error) })
    }

    /// A signal to the main process.
    pub fn signal(&self, signal: i32) -> Result<()> {
        check(|error| unsafe { sys::berth_process_signal(self.raw, signal, error) })
    }

    /// TERM to the whole tree, KILL after the grace; returns when all of it is gone.
    pub fn stop(&self, grace: Duration) -> Result<Exit> {
        let mut exit = sys::berth_exit::default();
        check(|error| unsafe { sys::berth_process_stop(&mut exit, self.raw, millis(Some(grace)), error) })?;
        Ok(Exit(exit))
    }

    /// How the main process ended: any number of callers, any number of times.
    pub fn wait(&self, timeout: Option<Duration>) -> Result<Exit> {
        let mut exit = sys::berth_exit::default();
        check(|error| unsafe { sys::berth_process_wait(&mut exit, self.raw, millis(timeout), error) })?;
        Ok(Exit(exit))
    }

    /// Readable once [`Process::wait`] would return at once: for poll, never read it.
    pub fn exit_fd(&self) -> Result<OwnedFd> {
        // SAFETY: the descriptor is the caller's.
        self.fd(sys::berth_process_exit_fd).map(|fd| unsafe { OwnedFd::from_raw_fd(fd) })
    }

    /// What the tree uses.
    pub fn stats(&self) -> Result<Stats> {
        let mut stats = Stats::empty();
        check(|error| unsafe { sys::berth_process_stats(&mut stats, self.raw, error) })?;
        Ok(Stats::from_raw(&stats))
    }

    /// What its policy has stopped, oldest first; also for a while after its end.
    pub fn violations(&self) -> Result<Vec<Violation>> {
        let mut raw = std::ptr::null_mut();
        check(|error| unsafe { sys::berth_process_violations(&mut raw, self.raw, error) })?;
        Ok(Violation::take_all(raw))
    }
}
