use berth_sys as sys;
use std::fmt;

/// Of the header that this crate was made from; [`abi_version`] may be higher.
pub const ABI_VERSION: i32 = sys::BERTH_ABI_VERSION;

/// Of the library at hand. It goes up when something is added.
pub fn abi_version() -> i32 {
    unsafe { sys::berth_abi_version() }
}

/// What a library was built with.
///
/// ```
/// let needed = berth::Features::NATIVE | berth::Features::AGENTS;
/// assert!(berth::features().contains(needed));
/// ```
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Features(u64);

/// Of the library at hand.
pub fn features() -> Features {
    Features(unsafe { sys::berth_features() })
}

#[allow(missing_docs)]
impl Features {
    /// The backend "native".
    pub const NATIVE: Features = Features(sys::BERTH_FEATURE_NATIVE);
    pub const TMUX: Features = Features(sys::BERTH_FEATURE_TMUX);
    pub const DOCKER: Features = Features(sys::BERTH_FEATURE_DOCKER);
    pub const NIX: Features = Features(sys::BERTH_FEATURE_NIX);
    pub const POLICY: Features = Features(sys::BERTH_FEATURE_POLICY);
    pub const AGENTS: Features = Features(sys::BERTH_FEATURE_AGENTS);
    pub const REAPER: Features = Features(sys::BERTH_FEATURE_REAPER);
    pub const PORTS: Features = Features(sys::BERTH_FEATURE_PORTS);
    pub const ENVIRONMENTS: Features = Features(sys::BERTH_FEATURE_ENVIRONMENTS);
    pub const IMAGES: Features = Features(sys::BERTH_FEATURE_IMAGES);
    pub const DOCTOR: Features = Features(sys::BERTH_FEATURE_DOCTOR);
}

impl Features {
    /// All of the other's are among them.
    pub fn contains(self, other: Features) -> bool {
        self.0 & other.0 == other.0
    }

    /// As the library tells them; later versions may have more.
    pub fn bits(self) -> u64 {
        self.0
    }
}

impl std::ops::BitOr for Features {
    type Output = Features;

    fn bitor(self, other: Features) -> Features {
        Features(self.0 | other.0)
    }
}

impl fmt::Debug for Features {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Features({:#b})", self.0)
    }
}
