use crate::convert::{handle, pointer, view, words};
use crate::error::{check, Result};
use crate::session::Liveness;
use berth_sys as sys;
use std::ffi::CStr;
use std::os::fd::{FromRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::Duration;

handle!(Abilities, berth_abilities, berth_abilities_free);

/// Whether this machine has something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[allow(missing_docs)]
pub enum AbilityState {
    Ok,
    Weaker,
    Missing,
}
words!(AbilityState, berth_ability_state_name, |state| state as i32);

/// One thing that a policy can need.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[allow(missing_docs)]
pub struct Ability {
    /// "kernel", "sandbox", "limits", "tiers", "engines", "state".
    pub area: String,
    pub name: String,
    pub state: AbilityState,
    /// What there is.
    pub detail: String,
    /// Why not.
    pub reason: String,
    /// What to do.
    pub remedy: String,
}

/// What this machine gives berth, why not, and what to do. The state directory, "" for the default one, is made if it is
/// missing; nothing else is changed.
pub fn doctor(state_dir: impl AsRef<Path>) -> Result<Vec<Ability>> {
    let dir = state_dir.as_ref().as_os_str().as_bytes();
    let mut raw = std::ptr::null_mut();
    check(|error| unsafe { sys::berth_doctor(&mut raw, pointer(dir), dir.len(), error) })?;
    let abilities = Abilities(raw);
    let count = unsafe { sys::berth_abilities_count(abilities.0) };
    (0..count)
        .map(|index| {
            // SAFETY: filled in by the call; its texts live as long as the list.
            let mut it: sys::berth_ability = unsafe { std::mem::zeroed() };
            check(|error| unsafe { sys::berth_abilities_at(&mut it, abilities.0, index, error) })?;
            Ok(Ability {
                area: unsafe { view(it.area, it.area_size) },
                name: unsafe { view(it.name, it.name_size) },
                state: match it.state {
                    sys::BERTH_ABILITY_OK => AbilityState::Ok,
                    sys::BERTH_ABILITY_WEAKER => AbilityState::Weaker,
                    _ => AbilityState::Missing,
                },
                detail: unsafe { view(it.detail, it.detail_size) },
                reason: unsafe { view(it.reason, it.reason_size) },
                remedy: unsafe { view(it.remedy, it.remedy_size) },
            })
        })
        .collect()
}

/// Which process is meant, for as long as the machine runs: another one with its pid is not taken for it.
#[derive(Clone, Copy)]
pub struct Identity(sys::berth_identity);

/// As /proc tells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[allow(missing_docs)]
pub enum ProcessState {
    Unknown,
    /// It has ended, or its pid is another's now.
    NotFound,
    Running,
    InterruptibleSleep,
    UninterruptibleSleep,
    Stopped,
    Zombie,
    Dead,
    TracingStop,
    Idle,
    Parked,
    Waking,
}
words!(ProcessState, berth_process_state_name, |state| state as i32);

/// What the kernel says of one process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Tracked {
    /// Where it stands.
    pub state: ProcessState,
    /// User and system time so far.
    pub cpu: Duration,
    /// Resident memory, if it is known.
    pub memory_bytes: Option<u64>,
}

impl Identity {
    /// [`crate::Code::NotFound`] if there is no such process or it is a zombie.
    pub fn of(pid: u32) -> Result<Identity> {
        // SAFETY: integers and bytes; all zero is a value of each.
        let mut raw: sys::berth_identity = unsafe { std::mem::zeroed() };
        let pid = i32::try_from(pid).unwrap_or(-1);
        check(|error| unsafe { sys::berth_identify(&mut raw, pid, error) })?;
        Ok(Identity(raw))
    }

    /// Its pid.
    pub fn pid(&self) -> i64 {
        self.0.pid
    }

    /// The boot of the machine that it belongs to.
    pub fn boot_id(&self) -> String {
        // SAFETY: the array ends with a NUL.
        unsafe { CStr::from_ptr(self.0.boot_id.as_ptr()) }.to_string_lossy().into_owned()
    }

    /// [`Liveness::Dead`] is a proof.
    pub fn liveness(&self) -> Result<Liveness> {
        let mut liveness = 0;
        check(|error| unsafe { sys::berth_identity_liveness(&mut liveness, &self.0, error) })?;
        Ok(Liveness::from_raw(liveness))
    }

    /// A pidfd that is proven to be of it.
    pub fn open(&self) -> Result<OwnedFd> {
        let mut fd = -1;
        check(|error| unsafe { sys::berth_identity_open(&mut fd, &self.0, error) })?;
        // SAFETY: the descriptor came out of the library and is nobody else's.
        Ok(unsafe { OwnedFd::from_raw_fd(fd) })
    }

    /// Its state, CPU time and memory now.
    pub fn track(&self) -> Result<Tracked> {
        let mut raw = sys::berth_tracked::default();
        check(|error| unsafe { sys::berth_track(&mut raw, &self.0, error) })?;
        use ProcessState::*;
        const STATES: [ProcessState; 12] = [
            Unknown,
            NotFound,
            Running,
            InterruptibleSleep,
            UninterruptibleSleep,
            Stopped,
            Zombie,
            Dead,
            TracingStop,
            Idle,
            Parked,
            Waking,
        ];
        let state = usize::try_from(raw.state).ok().and_then(|state| STATES.get(state).copied());
        Ok(Tracked {
            state: state.unwrap_or(Unknown),
            cpu: Duration::from_nanos(u64::try_from(raw.cpu_ns).unwrap_or(0)),
            memory_bytes: u64::try_from(raw.memory_bytes).ok(),
        })
    }
}
