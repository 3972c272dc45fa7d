use crate::convert::{handle, millis, pointer, Strings};
use crate::error::{check, Error, Result};
use crate::sweep_report::{SweepItem, SweepReport};
use crate::sweep_watch::SweepWatch;
use berth_sys as sys;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::Duration;

handle!(Options, berth_sweep_options, berth_sweep_options_free);

/// Ends and removes what dead owners left behind in a state directory.
///
/// ```no_run
/// # fn main() -> berth::Result<()> {
/// let report = berth::Sweep::new().dry_run().run("")?;
/// for item in report.items {
///     println!("{} {}: {}", item.kind, item.id, item.deed);
/// }
/// # Ok(())
/// # }
/// ```
#[must_use = "nothing is swept before run() or watch()"]
pub struct Sweep {
    options: Result<Options>,
    flags: u32,
}

impl Default for Sweep {
    fn default() -> Self {
        Sweep::new()
    }
}

impl Sweep {
    /// With berth-reaper's defaults.
    pub fn new() -> Sweep {
        let mut raw = std::ptr::null_mut();
        let made = check(|error| unsafe { sys::berth_sweep_options_new(&mut raw, error) });
        Sweep { options: made.map(|()| Options(raw)), flags: 0 }
    }

    fn set(self, set: impl FnOnce(*mut sys::berth_sweep_options) -> i32) -> Self {
        if let Ok(options) = &self.options {
            set(options.0);
        }
        self
    }

    fn flag(mut self, flag: u32) -> Self {
        self.flags |= flag;
        let flags = self.flags;
        self.set(|options| unsafe { sys::berth_sweep_options_set_flags(options, flags) })
    }

    fn time(self, which: i32, time: Duration) -> Self {
        self.set(|options| unsafe { sys::berth_sweep_options_set_time(options, which, millis(Some(time))) })
    }

    /// Decides and tells, changes nothing.
    pub fn dry_run(self) -> Self {
        self.flag(sys::BERTH_SWEEP_DRY_RUN)
    }

    /// Reports what is kept, too.
    pub fn show_kept(self) -> Self {
        self.flag(sys::BERTH_SWEEP_SHOW_KEPT)
    }

    /// Sweeps what codefly left, too.
    pub fn adopt_codefly(self) -> Self {
        self.flag(sys::BERTH_SWEEP_ADOPT_CODEFLY)
    }

    /// Between TERM and KILL.
    pub fn grace(self, grace: Duration) -> Self {
        self.time(sys::BERTH_SWEEP_GRACE, grace)
    }

    /// Leaves alone what is younger.
    pub fn older_than(self, age: Duration) -> Self {
        self.time(sys::BERTH_SWEEP_OLDER_THAN, age)
    }

    /// Forgets ended durable sessions this long after they were made.
    pub fn forget_ended(self, age: Duration) -> Self {
        self.time(sys::BERTH_SWEEP_FORGET_ENDED, age)
    }

    /// To end one thing and prove it gone.
    pub fn time_per_object(self, limit: Duration) -> Self {
        self.time(sys::BERTH_SWEEP_PER_OBJECT, limit)
    }

    /// For another reaper to finish.
    pub fn lock_wait(self, limit: Duration) -> Self {
        self.time(sys::BERTH_SWEEP_LOCK_WAIT, limit)
    }

    /// Of a watch: how long after an event the sweep begins, so that many at once make one.
    pub fn settle(self, time: Duration) -> Self {
        self.time(sys::BERTH_SWEEP_SETTLE, time)
    }

    /// Of a watch: a sweep after this time even if nothing happened, for what depends on age.
    pub fn every(self, time: Duration) -> Self {
        self.time(sys::BERTH_SWEEP_EVERY, time)
    }

    /// For everything.
    pub fn time_limit(self, limit: Duration) -> Self {
        self.time(sys::BERTH_SWEEP_TOTAL, limit)
    }

    /// Regular expressions that are looked for in names and labels: one of `only` must match, none of `except` may.
    pub fn filter<S: AsRef<[u8]>>(
        mut self,
        only: impl IntoIterator<Item = S>,
        except: impl IntoIterator<Item = S>,
    ) -> Self {
        match (Strings::new(only), Strings::new(except)) {
            (Ok(only), Ok(except)) => self
                .set(|options| unsafe { sys::berth_sweep_options_set_filter(options, only.0, except.0) }),
            (Err(error), _) | (_, Err(error)) => {
                self.options = Err(error);
                self
            }
        }
    }

    fn report(
        &self,
        call: impl FnOnce(
            *mut *mut sys::berth_sweep_report,
            *const sys::berth_sweep_options,
            *mut *mut sys::berth_error,
        ) -> i32,
    ) -> Result<SweepReport> {
        let options = self.options.as_ref().map_err(Error::clone)?;
        let mut raw = std::ptr::null_mut();
        check(|error| call(&mut raw, options.0, error))?;
        SweepReport::take(raw)
    }

    /// Sweeps that state directory, "" for the default one.
    pub fn run(&self, state_dir: impl AsRef<Path>) -> Result<SweepReport> {
        let dir = state_dir.as_ref().as_os_str().as_bytes();
        self.report(|report, options, error| unsafe {
            sys::berth_sweep(report, pointer(dir), dir.len(), options, error)
        })
    }

    /// Sweeps that state directory whenever there may be something to do.
    pub fn watch(&self, state_dir: impl AsRef<Path>) -> Result<SweepWatch> {
        let options = self.options.as_ref().map_err(Error::clone)?;
        SweepWatch::new(state_dir.as_ref().as_os_str().as_bytes(), options.0)
    }

    /// What would become of one session, by name or uid, and why.
    pub fn explain(&self, state_dir: impl AsRef<Path>, id: &str) -> Result<SweepItem> {
        let dir = state_dir.as_ref().as_os_str().as_bytes();
        let mut report = self.report(|report, options, error| unsafe {
            let id = id.as_bytes();
            sys::berth_sweep_explain(report, pointer(dir), dir.len(), pointer(id), id.len(), options, error)
        })?;
        Ok(report.items.remove(0))
    }
}
