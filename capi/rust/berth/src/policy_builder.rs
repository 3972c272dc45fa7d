use crate::convert::{handle, pointer, Strings};
use crate::error::{check, Error, Result};
use crate::policy::{Policy, Tier};
use berth_sys as sys;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

handle!(Handle, berth_policy_builder, berth_policy_builder_free);

/// How a path is seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// It cannot be written.
    ReadOnly = 1,
    /// It can.
    ReadWrite = 2,
    /// Seen as empty.
    Hidden = 3,
    /// Below a writable path: read-only, and cannot be made if it is not there.
    Carve = 4,
    /// Writable, and the changes are kept apart: see [`crate::Session::changes`].
    CopyOnWrite = 5,
}

impl Access {
    pub(crate) fn from_raw(raw: i32) -> Option<Access> {
        use Access::*;
        [ReadOnly, ReadWrite, Hidden, Carve, CopyOnWrite].into_iter().find(|access| *access as i32 == raw)
    }
}

/// What a tree may use up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// Bytes.
    Memory = 0,
    /// Bytes besides memory.
    Swap = 1,
    /// Processes and threads.
    Pids = 2,
    /// Thousandths of a core.
    MilliCpus = 3,
    /// Milliseconds.
    WallMs = 4,
    /// Bytes of each file that is written.
    FileSize = 5,
    /// Open files of each process.
    OpenFiles = 6,
    /// Bytes of the private /tmp and /dev/shm, each.
    TmpSize = 7,
}

/// Describes a [`Policy`]. Keeps its first error, and reports it from [`PolicyBuilder::build`].
#[must_use = "nothing is made before build()"]
pub struct PolicyBuilder(Result<Handle>);

impl PolicyBuilder {
    pub(crate) fn preset(preset: &str, workspace: &Path) -> PolicyBuilder {
        let workspace = workspace.as_os_str().as_bytes();
        PolicyBuilder::of(|builder, error| unsafe {
            sys::berth_policy_builder_new(
                builder,
                pointer(preset.as_bytes()),
                preset.len(),
                pointer(workspace),
                workspace.len(),
                error,
            )
        })
    }

    pub(crate) fn from_policy(policy: &Policy) -> PolicyBuilder {
        PolicyBuilder::of(|builder, error| unsafe {
            sys::berth_policy_builder_from(builder, policy.raw(), error)
        })
    }

    fn of(
        call: impl FnOnce(*mut *mut sys::berth_policy_builder, *mut *mut sys::berth_error) -> i32,
    ) -> PolicyBuilder {
        let mut raw = std::ptr::null_mut();
        PolicyBuilder(check(|error| call(&mut raw, error)).map(|()| Handle(raw)))
    }

    fn set(self, set: impl FnOnce(*mut sys::berth_policy_builder) -> i32) -> Self {
        if let Ok(handle) = &self.0 {
            set(handle.0);
        }
        self
    }

    fn set_list<S: AsRef<[u8]>>(
        mut self,
        items: impl IntoIterator<Item = S>,
        set: unsafe extern "C" fn(*mut sys::berth_policy_builder, *const sys::berth_strings) -> i32,
    ) -> Self {
        match Strings::new(items) {
            Ok(list) => self.set(|builder| unsafe { set(builder, list.0) }),
            Err(error) => {
                self.0 = Err(error);
                self
            }
        }
    }

    fn add(self, access: Access, path: &Path, inside: &Path, flags: u32) -> Self {
        let (path, inside) = (path.as_os_str().as_bytes(), inside.as_os_str().as_bytes());
        self.set(|builder| unsafe {
            sys::berth_policy_builder_add_path(
                builder,
                access as i32,
                pointer(path),
                path.len(),
                pointer(inside),
                inside.len(),
                flags,
            )
        })
    }

    /// /usr, /bin, /lib and what programs need of /etc, read-only.
    pub fn system(self) -> Self {
        self.set(|builder| unsafe { sys::berth_policy_builder_add_system(builder) })
    }

    /// An empty, writable home directory of its own.
    pub fn private_home(self) -> Self {
        self.set(|builder| unsafe { sys::berth_policy_builder_add_private_home(builder) })
    }

    /// A path of the host, absolute.
    pub fn path(self, access: Access, path: impl AsRef<Path>) -> Self {
        self.add(access, path.as_ref(), Path::new(""), 0)
    }

    /// The same, left out where it does not exist.
    pub fn path_if_there(self, access: Access, path: impl AsRef<Path>) -> Self {
        self.add(access, path.as_ref(), Path::new(""), sys::BERTH_PATH_IF_THERE)
    }

    /// Seen at another place than it has on the host.
    pub fn bind(self, access: Access, path: impl AsRef<Path>, inside: impl AsRef<Path>) -> Self {
        self.add(access, path.as_ref(), inside.as_ref(), 0)
    }

    /// The same, left out where it does not exist.
    pub fn bind_if_there(self, access: Access, path: impl AsRef<Path>, inside: impl AsRef<Path>) -> Self {
        self.add(access, path.as_ref(), inside.as_ref(), sys::BERTH_PATH_IF_THERE)
    }

    /// [`Access::ReadOnly`].
    pub fn read_only(self, path: impl AsRef<Path>) -> Self {
        self.path(Access::ReadOnly, path)
    }

    /// [`Access::ReadWrite`].
    pub fn read_write(self, path: impl AsRef<Path>) -> Self {
        self.path(Access::ReadWrite, path)
    }

    /// A private, empty, writable folder.
    pub fn tmpfs(self, path: impl AsRef<Path>) -> Self {
        let path = path.as_ref().as_os_str().as_bytes();
        self.set(|builder| unsafe { sys::berth_policy_builder_add_tmpfs(builder, pointer(path), path.len()) })
    }

    /// Its own loopback and nothing else.
    pub fn no_network(self) -> Self {
        self.set(|builder| unsafe { sys::berth_policy_builder_set_no_network(builder) })
    }

    /// "github.com", "*.npmjs.org" (names below it), "example.com:8443".
    pub fn allow_domains<S: AsRef<[u8]>>(self, domains: impl IntoIterator<Item = S>) -> Self {
        self.set_list(domains, sys::berth_policy_builder_set_domains)
    }

    /// "unix", "inet", ….
    pub fn socket_families<S: AsRef<[u8]>>(self, families: impl IntoIterator<Item = S>) -> Self {
        self.set_list(families, sys::berth_policy_builder_set_socket_families)
    }

    /// Besides those that always are denied.
    pub fn deny_syscalls<S: AsRef<[u8]>>(self, names: impl IntoIterator<Item = S>) -> Self {
        self.set_list(names, sys::berth_policy_builder_deny_syscalls)
    }

    /// ptrace and the like, of its own processes.
    pub fn debugging(self) -> Self {
        self.set(|builder| unsafe { sys::berth_policy_builder_allow_debugging(builder) })
    }

    /// Files that it is kept from are told as violations, by their names. Each call that names a file costs more then.
    pub fn report_files(self) -> Self {
        self.set(|builder| unsafe { sys::berth_policy_builder_report_files(builder) })
    }

    /// What it may use up.
    pub fn limit(self, limit: Limit, value: u64) -> Self {
        let value = i64::try_from(value).unwrap_or(i64::MAX);
        self.set(|builder| unsafe { sys::berth_policy_builder_set_limit(builder, limit as i32, value) })
    }

    /// How it is enforced; [`Tier::Auto`] unless told.
    pub fn tier(self, tier: Tier) -> Self {
        self.set(|builder| unsafe { sys::berth_policy_builder_set_tier(builder, tier as i32) })
    }

    /// The name of the machine inside.
    pub fn hostname(self, name: &str) -> Self {
        self.set(|builder| unsafe {
            sys::berth_policy_builder_set_hostname(builder, pointer(name.as_bytes()), name.len())
        })
    }

    /// The host's network: all that listens on its loopback, and everything that it can reach.
    pub fn dangerous_host_network(self) -> Self {
        self.set(|builder| unsafe { sys::berth_policy_builder_dangerous_host_network(builder) })
    }

    /// The host's processes are seen, and those of the same user can be signalled.
    pub fn dangerous_host_pid_namespace(self) -> Self {
        self.set(|builder| unsafe { sys::berth_policy_builder_dangerous_host_pid_namespace(builder) })
    }

    /// [`crate::Env::inherit`]: whatever secrets this program's variables hold.
    pub fn dangerous_inherited_environment(self) -> Self {
        self.set(|builder| unsafe { sys::berth_policy_builder_dangerous_inherited_environment(builder) })
    }

    /// The Docker engine's socket, which is root on the host.
    pub fn dangerous_docker_socket(self) -> Self {
        self.set(|builder| unsafe { sys::berth_policy_builder_dangerous_docker_socket(builder) })
    }

    /// Every system call of the kernel.
    pub fn dangerous_seccomp_off(self) -> Self {
        self.set(|builder| unsafe { sys::berth_policy_builder_dangerous_seccomp_off(builder) })
    }

    /// Namespaces made inside, with all the kernel code that they open.
    pub fn dangerous_nested_user_namespaces(self) -> Self {
        self.set(|builder| unsafe { sys::berth_policy_builder_dangerous_nested_user_namespaces(builder) })
    }

    /// The policy, or the first thing that was wrong.
    pub fn build(&self) -> Result<Policy> {
        let handle = self.0.as_ref().map_err(Error::clone)?;
        Policy::from_call(|policy, error| unsafe { sys::berth_policy_build(policy, handle.0, error) })
    }
}
