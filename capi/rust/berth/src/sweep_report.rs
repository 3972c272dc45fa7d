use crate::convert::{handle, pointer, take_string, view, words, Strings};
use crate::error::{check, Result};
use berth_sys as sys;
use std::time::Duration;

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
words!(Verdict, berth_verdict_name, |verdict| verdict as i32);

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
words!(SweepResult, berth_sweep_result_name, |result| result as i32);

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
    /// That there were at the beginning.
    pub sessions: u64,
    pub kept: u64,
    pub done: u64,
    /// Left alone because their state is not known.
    pub doubts: u64,
    pub failed: u64,
    pub out_of_time: u64,
    /// Of a dry run.
    pub planned: u64,
    pub passes: u64,
    pub took: Duration,
    /// What `berth-reaper` would exit with.
    pub exit_code: i32,
    /// For people.
    pub text: String,
    /// For Prometheus.
    pub metrics: String,
    /// All of it, as `berth-reaper --json` prints it.
    pub json: String,
}

impl SweepReport {
    pub(crate) fn take(raw: *mut sys::berth_sweep_report) -> Result<SweepReport> {
        SweepReport::read(&Report(raw))
    }

    /// Of a sweep that another process did: its `json`, or what `berth-reaper --json` prints.
    pub fn from_json(json: &str) -> Result<SweepReport> {
        let mut raw = std::ptr::null_mut();
        check(|error| unsafe {
            sys::berth_sweep_report_from_json(&mut raw, pointer(json.as_bytes()), json.len(), error)
        })?;
        SweepReport::take(raw)
    }

    fn read(raw: &Report) -> Result<SweepReport> {
        let number =
            |field| u64::try_from(unsafe { sys::berth_sweep_report_number(raw.0, field) }).unwrap_or(0);
        let format = |format| {
            let mut text = std::ptr::null_mut();
            check(|error| unsafe { sys::berth_sweep_report_format(&mut text, raw.0, format, error) })?;
            Ok(String::from_utf8_lossy(&take_string(text)).into_owned())
        };
        let items = usize::try_from(number(sys::BERTH_SWEEP_ITEMS)).unwrap_or(0);
        Ok(SweepReport {
            items: (0..items).map(|index| SweepItem::read(raw, index)).collect::<Result<_>>()?,
            sessions: number(sys::BERTH_SWEEP_SESSIONS),
            kept: number(sys::BERTH_SWEEP_KEPT),
            done: number(sys::BERTH_SWEEP_DONE),
            doubts: number(sys::BERTH_SWEEP_DOUBTS),
            failed: number(sys::BERTH_SWEEP_FAILED),
            out_of_time: number(sys::BERTH_SWEEP_OUT_OF_TIME),
            planned: number(sys::BERTH_SWEEP_PLANNED),
            passes: number(sys::BERTH_SWEEP_PASSES),
            took: Duration::from_nanos(number(sys::BERTH_SWEEP_TOOK_NS)),
            exit_code: i32::try_from(number(sys::BERTH_SWEEP_EXIT_CODE)).unwrap_or(0),
            text: format(sys::BERTH_SWEEP_TEXT)?,
            metrics: format(sys::BERTH_SWEEP_METRICS)?,
            json: format(sys::BERTH_SWEEP_JSON)?,
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
