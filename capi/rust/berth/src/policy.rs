use crate::convert::{pointer, take_string, text, time, view, Strings};
use crate::error::{check, Result};
use crate::policy_builder::PolicyBuilder;
use berth_sys as sys;
use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

/// What a session may see, write, call, reach and use up. Immutable; cloning is cheap.
///
/// ```
/// # fn main() -> berth::Result<()> {
/// let policy = berth::Policy::agent("/srv/project")
///     .read_only("/opt/tools")
///     .allow_domains(["github.com", "*.npmjs.org"])
///     .limit(berth::Limit::Memory, 2 << 30)
///     .build()?;
/// assert_eq!(policy, berth::Policy::from_text(&policy.to_text()?)?);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Policy(Arc<Handle>);

crate::convert::handle!(Handle, berth_policy, berth_policy_free);
// SAFETY: berth.h, convention 9; a policy does not change.
unsafe impl Sync for Handle {}

/// How a policy is enforced. Probed, reported, never weakened silently.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Tier {
    /// The strongest that this machine can.
    Auto = 0,
    /// Namespaces, made at each start.
    Namespaces = 1,
    /// The same, from a prepared template.
    Pooled = 2,
    /// No namespaces: Landlock, seccomp and limits.
    Landlock = 3,
}

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

impl Policy {
    /// The workspace writable but for what an agent must not change in it; the system read-only; no network.
    pub fn agent(workspace: impl AsRef<Path>) -> PolicyBuilder {
        PolicyBuilder::preset("agent", workspace.as_ref())
    }

    /// The same for compilers and package managers.
    pub fn for_builds(workspace: impl AsRef<Path>) -> PolicyBuilder {
        PolicyBuilder::preset("build", workspace.as_ref())
    }

    /// The system read-only, a private /tmp, nothing else.
    pub fn strict() -> PolicyBuilder {
        PolicyBuilder::preset("strict", Path::new(""))
    }

    /// Nothing is allowed until it is said.
    pub fn empty() -> PolicyBuilder {
        PolicyBuilder::preset("", Path::new(""))
    }

    /// Begins as this one.
    pub fn to_builder(&self) -> PolicyBuilder {
        PolicyBuilder::from_policy(self)
    }

    pub(crate) fn from_call(
        call: impl FnOnce(*mut *mut sys::berth_policy, *mut *mut sys::berth_error) -> i32,
    ) -> Result<Policy> {
        let mut raw = std::ptr::null_mut();
        check(|error| call(&mut raw, error))?;
        Ok(Policy(Arc::new(Handle(raw))))
    }

    pub(crate) fn raw(&self) -> *const sys::berth_policy {
        self.0 .0
    }

    /// Of JSON. [`crate::Code::PermissionDenied`] if it asks for something dangerous.
    pub fn from_text(text: &str) -> Result<Policy> {
        Policy::from_call(|policy, error| unsafe {
            sys::berth_policy_from_text(policy, pointer(text.as_bytes()), text.len(), error)
        })
    }

    /// Of text whose author may ask for anything: an operator's own file.
    pub fn dangerous_from_text(text: &str) -> Result<Policy> {
        Policy::from_call(|policy, error| unsafe {
            sys::berth_policy_dangerous_from_text(policy, pointer(text.as_bytes()), text.len(), error)
        })
    }

    /// As JSON.
    pub fn to_text(&self) -> Result<String> {
        let mut raw = std::ptr::null_mut();
        check(|error| unsafe { sys::berth_policy_to_text(&mut raw, self.raw(), error) })?;
        Ok(String::from_utf8_lossy(&take_string(raw)).into_owned())
    }

    /// Equal for equal policies, and for no others.
    pub fn hash(&self) -> String {
        unsafe { text(|size| sys::berth_policy_text(self.raw(), sys::BERTH_POLICY_HASH, size)) }
            .unwrap_or_default()
    }

    /// What it lets a program reach.
    pub fn network(&self) -> Network {
        match unsafe { sys::berth_policy_number(self.raw(), sys::BERTH_POLICY_NETWORK) } as i32 {
            sys::BERTH_NETWORK_HOST => Network::Host,
            sys::BERTH_NETWORK_ALLOW_LIST => Network::AllowList,
            _ => Network::None,
        }
    }

    /// The tier that would enforce it here, and what that cannot hold, in words.
    pub fn check(&self) -> Result<(Tier, Vec<String>)> {
        let (mut tier, mut gaps) = (0, std::ptr::null_mut());
        check(|error| unsafe { sys::berth_policy_check(&mut tier, &mut gaps, self.raw(), error) })?;
        let tier = match tier {
            sys::BERTH_TIER_NAMESPACES => Tier::Namespaces,
            sys::BERTH_TIER_POOLED => Tier::Pooled,
            sys::BERTH_TIER_LANDLOCK => Tier::Landlock,
            _ => Tier::Auto,
        };
        Ok((tier, Strings(gaps).to_vec()))
    }
}

impl PartialEq for Policy {
    fn eq(&self, other: &Policy) -> bool {
        self.hash() == other.hash()
    }
}

impl Eq for Policy {}

impl fmt::Debug for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_text().unwrap_or_else(|error| error.to_string()))
    }
}

/// Which part of a policy stopped something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[allow(missing_docs)]
pub enum Layer {
    Syscall,
    File,
    Network,
    Memory,
    Pids,
    Wall,
    FileSize,
    /// One that this version of the crate does not know.
    Other(i32),
}

/// A fact about something that a policy stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Violation {
    /// Which part of the policy.
    pub layer: Layer,
    /// What was tried.
    pub what: String,
    /// The rule that stopped it.
    pub reason: String,
    /// Both, for people.
    pub text: String,
    /// Who tried, if it is known.
    pub pid: Option<u32>,
    /// When.
    pub when: Option<SystemTime>,
    /// 1, 2, 3, … of its session or process.
    pub number: i64,
}

impl Violation {
    pub(crate) fn take_all(raw: *mut sys::berth_violations) -> Vec<Violation> {
        let mut all = Vec::new();
        for index in 0..unsafe { sys::berth_violations_count(raw) } {
            // SAFETY: filled in by the call; its texts live as long as the list.
            unsafe {
                let mut it: sys::berth_violation = std::mem::zeroed();
                if check(|error| sys::berth_violations_at(&mut it, raw, index, error)).is_err() {
                    break;
                }
                all.push(Violation {
                    layer: match it.layer {
                        sys::BERTH_VIOLATION_SYSCALL => Layer::Syscall,
                        sys::BERTH_VIOLATION_FILE => Layer::File,
                        sys::BERTH_VIOLATION_NETWORK => Layer::Network,
                        sys::BERTH_VIOLATION_MEMORY => Layer::Memory,
                        sys::BERTH_VIOLATION_PIDS => Layer::Pids,
                        sys::BERTH_VIOLATION_WALL => Layer::Wall,
                        sys::BERTH_VIOLATION_FILE_SIZE => Layer::FileSize,
                        other => Layer::Other(other),
                    },
                    what: view(it.what, it.what_size),
                    reason: view(it.reason, it.reason_size),
                    text: view(it.text, it.text_size),
                    pid: u32::try_from(it.pid).ok().filter(|pid| *pid != 0),
                    when: time(it.when_unix_ns),
                    number: it.number,
                });
            }
        }
        unsafe { sys::berth_violations_free(raw) };
        all
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}
