use crate::convert::{pointer, take_string, text, words, Strings};
use crate::error::{check, Error, Result};
use crate::policy_builder::PolicyBuilder;
use berth_sys as sys;
use std::fmt;
use std::path::Path;
use std::str::FromStr;
use std::sync::Arc;

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
words!(Tier, berth_tier_name, |tier| tier as i32);

impl Tier {
    pub(crate) fn from_raw(raw: i32) -> Tier {
        match raw {
            sys::BERTH_TIER_NAMESPACES => Tier::Namespaces,
            sys::BERTH_TIER_POOLED => Tier::Pooled,
            sys::BERTH_TIER_LANDLOCK => Tier::Landlock,
            _ => Tier::Auto,
        }
    }
}

/// Of its name.
///
/// ```
/// assert_eq!("landlock".parse(), Ok(berth::Tier::Landlock));
/// ```
impl FromStr for Tier {
    type Err = Error;

    fn from_str(name: &str) -> Result<Tier> {
        let mut tier = 0;
        check(|error| unsafe {
            sys::berth_tier_from_name(&mut tier, pointer(name.as_bytes()), name.len(), error)
        })?;
        Ok(Tier::from_raw(tier))
    }
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

    /// The tier that would enforce it here, and what that cannot hold, in words.
    pub fn check(&self) -> Result<(Tier, Vec<String>)> {
        let (mut tier, mut gaps) = (0, std::ptr::null_mut());
        check(|error| unsafe { sys::berth_policy_check(&mut tier, &mut gaps, self.raw(), error) })?;
        Ok((Tier::from_raw(tier), Strings(gaps).to_vec()))
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
