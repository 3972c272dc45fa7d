use crate::convert::{handle, millis, pointer, take_string, view, Strings};
use crate::error::{check, Error, Result};
use crate::sweep_watch::SweepWatch;
use berth_sys as sys;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::Duration;

handle!(Options, berth_sweep_options, berth_sweep_options_free);
handle!(Report, berth_sweep_report, berth_sweep_report_free);

/// What became of one thing, or would.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[allow(missing_docs)]
pub enum Verdict {
    Keep,
    /// Ended, and everything removed.
    Reap,
    /// Ended, and all but the record removed.
    Clear,
    /// Left alone: its state is not known.
    Doubt,
}

/// Whether it was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SweepResult {
    /// Nothing was to be done, or it was a dry run.
    Nothing,
    /// And proven.
    Done,
    /// See the error.
    Failed,
    /// Not begun.
    OutOfTime,
}

/// One thing that a sweep looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SweepItem {
    /// "session", "record", "lease", "port", "socket", "cgroup", "container", ….
    pub kind: String,
    /// Uid, file name or path.
    pub id: String,
    /// Of a session.
    pub name: String,
    /// What was decided.
    pub verdict: Verdict,
    /// What was done or, in a dry run, would be.
    pub deed: String,
    /// Whether it was.
    pub result: SweepResult,
    /// Why it failed; else "".
    pub error: String,
    /// Why it was decided so; the last line decided.
    pub because: Vec<String>,
    /// What was seen.
    pub evidence: Vec<String>,
}

/// What a sweep found, decided and did.
#[derive(Clone, Debug)]
#[non_exhaustive]
#[allow(missing_docs)]
pub struct SweepReport {
    pub items: Vec<SweepItem>,
    pub kept: u64,
    pub done: u64,
    /// Left alone because their state is not known.
    pub doubts: u64,
    pub failed: u64,
    pub out_of_time: u64,
    /// Of a dry run.
    pub planned: u64,
    /// All of it, as `berth-reaper --json` prints it.
    pub json: String,
}

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

impl SweepReport {
    pub(crate) fn take(raw: *mut sys::berth_sweep_report) -> Result<SweepReport> {
        SweepReport::read(&Report(raw))
    }

    fn read(raw: &Report) -> Result<SweepReport> {
        let number = |field| {
            u64::try_from(unsafe { sys::berth_sweep_report_number(raw.0, field) }).unwrap_or(0)
        };
        let mut json = std::ptr::null_mut();
        check(|error| unsafe {
            sys::berth_sweep_report_format(&mut json, raw.0, sys::BERTH_SWEEP_JSON, error)
        })?;
        let items = usize::try_from(number(sys::BERTH_SWEEP_ITEMS)).unwrap_or(0);
        Ok(SweepReport {
            items: (0..items).map(|index| SweepItem::read(raw, index)).collect::<Result<_>>()?,
            kept: number(sys::BERTH_SWEEP_KEPT),
            done: number(sys::BERTH_SWEEP_DONE),
            doubts: number(sys::BERTH_SWEEP_DOUBTS),
            failed: number(sys::BERTH_SWEEP_FAILED),
            out_of_time: number(sys::BERTH_SWEEP_OUT_OF_TIME),
            planned: number(sys::BERTH_SWEEP_PLANNED),
            json: String::from_utf8_lossy(&take_string(json)).into_owned(),
        })
    }
}

impl SweepItem {
    fn read(raw: &Report, index: usize) -> Result<SweepItem> {
        // SAFETY: filled in by the call; its texts live as long as the report.
        let mut it: sys::berth_sweep_item = unsafe { std::mem::zeroed() };
        check(|error| unsafe { sys::berth_sweep_report_at(&mut it, raw.0, index, error) })?;
        let (mut because, mut evidence) = (std::ptr::null_mut(), std::ptr::null_mut());
        check(|error| unsafe {
            sys::berth_sweep_report_because(&mut because, &mut evidence, raw.0, index, error)
        })?;
        Ok(SweepItem {
            kind: unsafe { view(it.kind, it.kind_size) },
            id: unsafe { view(it.id, it.id_size) },
            name: unsafe { view(it.name, it.name_size) },
            deed: unsafe { view(it.deed, it.deed_size) },
            error: unsafe { view(it.error, it.error_size) },
            verdict: match it.verdict {
                sys::BERTH_VERDICT_KEEP => Verdict::Keep,
                sys::BERTH_VERDICT_REAP => Verdict::Reap,
                sys::BERTH_VERDICT_CLEAR => Verdict::Clear,
                _ => Verdict::Doubt,
            },
            result: match it.result {
                sys::BERTH_SWEPT_NOTHING => SweepResult::Nothing,
                sys::BERTH_SWEPT_DONE => SweepResult::Done,
                sys::BERTH_SWEPT_OUT_OF_TIME => SweepResult::OutOfTime,
                _ => SweepResult::Failed,
            },
            because: Strings(because).to_vec(),
            evidence: Strings(evidence).to_vec(),
        })
    }
}
