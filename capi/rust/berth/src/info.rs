use crate::convert::{pointer, text, time, words, Strings};
use crate::error::check;
use crate::exit::Exit;
use berth_sys as sys;
use std::collections::BTreeMap;
use std::time::{SystemTime, UNIX_EPOCH};

/// Where a session stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[allow(missing_docs)]
pub enum SessionState {
    /// Its engine does not answer.
    Unknown,
    Starting,
    Running,
    Exited,
}
words!(SessionState, berth_session_state_name, |state| state as i32);

/// What is known of a session.
#[derive(Clone, Debug)]
#[non_exhaustive]
#[allow(missing_docs)]
pub struct SessionInfo {
    pub handle: String,
    pub name: String,
    pub backend: String,
    pub cwd: String,
    pub state: SessionState,
    pub pid: i64,
    pub durable: bool,
    pub pty: bool,
    pub rows: u16,
    pub cols: u16,
    /// Viewers now.
    pub attached: u32,
    /// Written by the program so far.
    pub output_bytes: u64,
    pub created: SystemTime,
    pub last_output: Option<SystemTime>,
    /// If it has ended.
    pub exit: Option<Exit>,
    /// How the tree is held: "cgroup", "subreaper", "pidns".
    pub tree: String,
    /// As set by the program.
    pub title: String,
    pub log_path: String,
    /// How its policy is enforced; "" if it has none.
    pub tier: String,
    /// That its policy has stopped so far.
    pub violations: u64,
    /// Where its engine is, if that is not this machine's default.
    pub address: String,
    pub labels: BTreeMap<String, String>,
}

impl SessionInfo {
    pub(crate) fn take_all(raw: *mut sys::berth_infos) -> Vec<SessionInfo> {
        let count = unsafe { sys::berth_infos_count(raw) };
        let all = (0..count).map(|index| SessionInfo::read(raw, index)).collect();
        unsafe { sys::berth_infos_free(raw) };
        all
    }

    fn read(raw: *const sys::berth_infos, index: usize) -> SessionInfo {
        let words = |field| unsafe {
            text(|size| sys::berth_infos_text(raw, index, field, size)).unwrap_or_default()
        };
        let number = |field| unsafe { sys::berth_infos_number(raw, index, field) };
        let state = match number(sys::BERTH_INFO_STATE) as i32 {
            sys::BERTH_STATE_STARTING => SessionState::Starting,
            sys::BERTH_STATE_RUNNING => SessionState::Running,
            sys::BERTH_STATE_EXITED => SessionState::Exited,
            _ => SessionState::Unknown,
        };
        let mut exit = sys::berth_exit::default();
        let exit = (state == SessionState::Exited
            && check(|error| unsafe { sys::berth_infos_exit(&mut exit, raw, index, error) }).is_ok())
        .then_some(Exit(exit));
        let mut keys = std::ptr::null_mut();
        let mut labels = BTreeMap::new();
        if check(|error| unsafe { sys::berth_infos_label_keys(&mut keys, raw, index, error) }).is_ok() {
            for key in Strings(keys).to_vec() {
                let value = unsafe {
                    text(|size| {
                        sys::berth_infos_label(raw, index, pointer(key.as_bytes()), key.len(), size)
                    })
                };
                labels.insert(key, value.unwrap_or_default());
            }
        }
        SessionInfo {
            handle: words(sys::BERTH_INFO_HANDLE),
            name: words(sys::BERTH_INFO_NAME),
            backend: words(sys::BERTH_INFO_BACKEND),
            cwd: words(sys::BERTH_INFO_CWD),
            state,
            pid: number(sys::BERTH_INFO_PID),
            durable: number(sys::BERTH_INFO_DURABLE) == 1,
            pty: number(sys::BERTH_INFO_PTY) == 1,
            rows: u16::try_from(number(sys::BERTH_INFO_ROWS)).unwrap_or(0),
            cols: u16::try_from(number(sys::BERTH_INFO_COLS)).unwrap_or(0),
            attached: u32::try_from(number(sys::BERTH_INFO_ATTACHED)).unwrap_or(0),
            output_bytes: u64::try_from(number(sys::BERTH_INFO_OUTPUT_BYTES)).unwrap_or(0),
            created: time(number(sys::BERTH_INFO_CREATED_UNIX_NS)).unwrap_or(UNIX_EPOCH),
            last_output: time(number(sys::BERTH_INFO_LAST_OUTPUT_UNIX_NS)),
            exit,
            tree: words(sys::BERTH_INFO_TREE),
            title: words(sys::BERTH_INFO_TITLE),
            log_path: words(sys::BERTH_INFO_LOG_PATH),
            tier: words(sys::BERTH_INFO_TIER),
            violations: u64::try_from(number(sys::BERTH_INFO_VIOLATIONS)).unwrap_or(0),
            address: words(sys::BERTH_INFO_ADDRESS),
            labels,
        }
    }
}
