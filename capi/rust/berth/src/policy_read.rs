//! What a policy says.
use crate::convert::{bytes, text, Strings};
use crate::error::{check, Code, Result};
use crate::policy::{Policy, Tier};
use crate::policy_builder::{Access, Limit};
use berth_sys as sys;
use std::ffi::{c_char, OsString};
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

/// What a policy lets a program reach.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Network {
    /// Its own loopback and nothing else.
    None,
    /// The host's.
    Host,
    /// The listed domains, through berth's proxy.
    AllowList,
}

/// A path of the host that a policy shows, hides or carves out.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PolicyPath {
    /// How it is seen; `None` for one that this version of the crate does not know.
    pub access: Option<Access>,
    /// On the host.
    pub path: PathBuf,
    /// Where it is seen.
    pub inside: PathBuf,
    /// Left out where it does not exist.
    pub if_there: bool,
}

/// # Safety
/// `data` is null, or has `size` bytes.
unsafe fn path(data: *const c_char, size: usize) -> PathBuf {
    let read = bytes(|out| {
        *out = size;
        data
    });
    OsString::from_vec(read.unwrap_or_default()).into()
}

/// What it says.
///
/// ```
/// # fn main() -> berth::Result<()> {
/// use berth::{Access, Limit, Policy};
///
/// let policy = Policy::empty().read_only("/opt/tools").limit(Limit::Pids, 256).build()?;
/// assert_eq!(policy.limit(Limit::Pids), Some(256));
/// assert_eq!(policy.limit(Limit::Memory), None);
/// assert_eq!(policy.paths()?[0].access, Some(Access::ReadOnly));
/// # Ok(())
/// # }
/// ```
impl Policy {
    fn number(&self, field: i32) -> i64 {
        unsafe { sys::berth_policy_number(self.raw(), field) }
    }

    /// How it is to be enforced.
    pub fn tier(&self) -> Tier {
        Tier::from_raw(self.number(sys::BERTH_POLICY_TIER) as i32)
    }

    /// What it lets a program reach.
    pub fn network(&self) -> Network {
        match self.number(sys::BERTH_POLICY_NETWORK) as i32 {
            sys::BERTH_NETWORK_HOST => Network::Host,
            sys::BERTH_NETWORK_ALLOW_LIST => Network::AllowList,
            _ => Network::None,
        }
    }

    /// /usr, /bin, /lib and the like are shown.
    pub fn system(&self) -> bool {
        self.number(sys::BERTH_POLICY_SYSTEM) == 1
    }

    /// It has a home directory of its own.
    pub fn private_home(&self) -> bool {
        self.number(sys::BERTH_POLICY_PRIVATE_HOME) == 1
    }

    /// ptrace and the like are allowed.
    pub fn debugging(&self) -> bool {
        self.number(sys::BERTH_POLICY_DEBUGGING) == 1
    }

    /// Files that it is kept from are told as violations.
    pub fn report_files(&self) -> bool {
        self.number(sys::BERTH_POLICY_REPORT_FILES) == 1
    }

    /// The host's processes are seen.
    pub fn host_pid_namespace(&self) -> bool {
        self.number(sys::BERTH_POLICY_HOST_PID_NAMESPACE) == 1
    }

    /// [`crate::Env::inherit`] is allowed.
    pub fn inherited_environment(&self) -> bool {
        self.number(sys::BERTH_POLICY_INHERITED_ENVIRONMENT) == 1
    }

    /// The Docker engine's socket is shown.
    pub fn docker_socket(&self) -> bool {
        self.number(sys::BERTH_POLICY_DOCKER_SOCKET) == 1
    }

    /// Every system call is allowed.
    pub fn seccomp_off(&self) -> bool {
        self.number(sys::BERTH_POLICY_SECCOMP_OFF) == 1
    }

    /// Namespaces may be made inside.
    pub fn nested_user_namespaces(&self) -> bool {
        self.number(sys::BERTH_POLICY_NESTED_USER_NAMESPACES) == 1
    }

    /// What it may use up; `None`: no limit of berth's.
    pub fn limit(&self, limit: Limit) -> Option<u64> {
        u64::try_from(unsafe { sys::berth_policy_limit(self.raw(), limit as i32) }).ok()
    }

    /// The name of the machine inside.
    pub fn hostname(&self) -> String {
        unsafe { text(|size| sys::berth_policy_text(self.raw(), sys::BERTH_POLICY_HOSTNAME, size)) }
            .unwrap_or_default()
    }

    fn list(&self, field: i32) -> Result<Vec<String>> {
        let mut items = std::ptr::null_mut();
        check(|error| unsafe { sys::berth_policy_list(&mut items, self.raw(), field, error) })?;
        Ok(Strings(items).to_vec())
    }

    /// Those that it may reach.
    pub fn domains(&self) -> Result<Vec<String>> {
        self.list(sys::BERTH_POLICY_DOMAINS)
    }

    /// Its private, empty, writable folders.
    pub fn tmpfs(&self) -> Result<Vec<String>> {
        self.list(sys::BERTH_POLICY_TMPFS)
    }

    /// "unix", "inet", ….
    pub fn socket_families(&self) -> Result<Vec<String>> {
        self.list(sys::BERTH_POLICY_SOCKET_FAMILIES)
    }

    /// Besides those that always are denied.
    pub fn denied_syscalls(&self) -> Result<Vec<String>> {
        self.list(sys::BERTH_POLICY_DENIED_SYSCALLS)
    }

    /// The paths of the host that it shows, hides or carves out.
    pub fn paths(&self) -> Result<Vec<PolicyPath>> {
        let mut all = Vec::new();
        loop {
            // SAFETY: filled in by the call; its texts live as long as the policy.
            let mut it: sys::berth_policy_path = unsafe { std::mem::zeroed() };
            match check(|error| unsafe { sys::berth_policy_path_at(&mut it, self.raw(), all.len(), error) }) {
                Ok(()) => all.push(PolicyPath {
                    access: Access::from_raw(it.access),
                    path: unsafe { path(it.path, it.path_size) },
                    inside: unsafe { path(it.inside, it.inside_size) },
                    if_there: it.if_there == 1,
                }),
                Err(end) if end.code() == Code::OutOfRange => return Ok(all),
                Err(error) => return Err(error),
            }
        }
    }
}
