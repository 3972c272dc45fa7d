use crate::convert::{handle, millis, pointer, take_string};
use crate::env::Env;
use crate::environment::Environment;
use crate::error::{check, Error, Result};
use crate::policy::Policy;
use crate::runtime::Inner;
use crate::session::Session;
use berth_sys as sys;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

handle!(SessionSpec, berth_session_spec, berth_session_spec_free);

/// When an image is pulled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pull {
    /// If the engine does not have it.
    IfMissing,
    /// Never.
    Never,
    /// Each time.
    Always,
}

/// What a session is to be: made by [`crate::Runtime::session`].
///
/// A terminal of 24 rows and 80 columns, durable, [`Env::basic`], no limits, unless told. The first thing that is wrong
/// is reported by the call that uses it.
#[must_use = "nothing is made before create()"]
pub struct SessionBuilder {
    runtime: Arc<Inner>,
    spec: Result<SessionSpec>,
    limits: (Option<Duration>, Option<Duration>, Duration),
    container: u32,
}

impl SessionBuilder {
    pub(crate) fn new(runtime: Arc<Inner>, name: &[u8]) -> SessionBuilder {
        let mut raw = std::ptr::null_mut();
        let made =
            check(|error| unsafe { sys::berth_session_spec_new(&mut raw, pointer(name), name.len(), error) });
        SessionBuilder {
            runtime,
            spec: made.map(|()| SessionSpec(raw)),
            limits: (None, None, Duration::from_secs(5)),
            container: 0,
        }
    }

    pub(crate) fn raw(&self) -> Result<*const sys::berth_session_spec> {
        self.spec.as_ref().map(|spec| spec.0.cast_const()).map_err(Error::clone)
    }

    pub(crate) fn runtime(&self) -> &Arc<Inner> {
        &self.runtime
    }

    /// Setters keep the first error; the call that takes the spec reports it.
    fn set(self, set: impl FnOnce(*mut sys::berth_session_spec) -> i32) -> Self {
        if let Ok(spec) = &self.spec {
            set(spec.0);
        }
        self
    }

    /// "native", "tmux", "docker", "nix"; berth chooses unless told.
    pub fn backend(self, backend: &str) -> Self {
        self.set(|spec| unsafe {
            sys::berth_session_spec_set_backend(spec, pointer(backend.as_bytes()), backend.len())
        })
    }

    /// The program and its arguments.
    pub fn argv<S: AsRef<[u8]>>(self, argv: impl IntoIterator<Item = S>) -> Self {
        argv.into_iter().fold(self, |builder, arg| {
            let arg = arg.as_ref();
            builder.set(|spec| unsafe { sys::berth_session_spec_add_arg(spec, pointer(arg), arg.len()) })
        })
    }

    /// One line for `/bin/sh`.
    pub fn shell(self, line: impl AsRef<[u8]>) -> Self {
        let line = line.as_ref();
        self.set(|spec| unsafe { sys::berth_session_spec_set_shell(spec, pointer(line), line.len()) })
    }

    /// The program's environment.
    pub fn env(mut self, env: Env) -> Self {
        if let Ok(spec) = &self.spec {
            if let Err(error) = env.with_raw(|raw| unsafe { sys::berth_session_spec_set_env(spec.0, raw) }) {
                self.spec = Err(error);
            }
        }
        self
    }

    /// The working directory, absolute.
    pub fn cwd(self, cwd: impl AsRef<Path>) -> Self {
        let cwd = cwd.as_ref().as_os_str().as_bytes();
        self.set(|spec| unsafe { sys::berth_session_spec_set_cwd(spec, pointer(cwd), cwd.len()) })
    }

    /// A terminal of that size.
    pub fn terminal(self, rows: u16, cols: u16) -> Self {
        self.set(|spec| unsafe { sys::berth_session_spec_set_terminal(spec, rows, cols) })
    }

    /// Three pipes in place of a terminal.
    pub fn pipes(self) -> Self {
        self.terminal(0, 0)
    }

    /// It ends with this runtime.
    pub fn ephemeral(self) -> Self {
        self.set(|spec| unsafe { sys::berth_session_spec_set_durable(spec, 0) })
    }

    fn set_limits(self) -> Self {
        let (wall, inactivity, grace) = self.limits;
        self.set(|spec| unsafe {
            sys::berth_session_spec_set_time_limits(
                spec,
                millis(wall),
                millis(inactivity),
                millis(Some(grace)),
            )
        })
    }

    /// The longest that it may run.
    pub fn wall_limit(mut self, limit: Duration) -> Self {
        self.limits.0 = Some(limit);
        self.set_limits()
    }

    /// The longest that it may be without output.
    pub fn inactivity_limit(mut self, limit: Duration) -> Self {
        self.limits.1 = Some(limit);
        self.set_limits()
    }

    /// Between TERM and KILL when a limit ends it.
    pub fn grace(mut self, grace: Duration) -> Self {
        self.limits.2 = grace;
        self.set_limits()
    }

    /// Lines of scrollback for capture, and bytes of output kept for late readers.
    pub fn kept(self, scrollback_lines: u32, output_bytes: u64) -> Self {
        let lines = i32::try_from(scrollback_lines).unwrap_or(i32::MAX);
        let bytes = i64::try_from(output_bytes).unwrap_or(i64::MAX);
        self.set(|spec| unsafe { sys::berth_session_spec_set_kept(spec, lines, bytes) })
    }

    /// All output goes to this file too, rotated when it passes the cap.
    pub fn log(self, path: impl AsRef<Path>, cap_bytes: u64) -> Self {
        let path = path.as_ref().as_os_str().as_bytes();
        let cap = i64::try_from(cap_bytes).unwrap_or(i64::MAX);
        self.set(|spec| unsafe { sys::berth_session_spec_set_log(spec, pointer(path), path.len(), cap) })
    }

    /// A label, seen in [`crate::SessionInfo`].
    pub fn label(self, key: impl AsRef<[u8]>, value: impl AsRef<[u8]>) -> Self {
        let (key, value) = (key.as_ref(), value.as_ref());
        self.set(|spec| unsafe {
            sys::berth_session_spec_set_label(spec, pointer(key), key.len(), pointer(value), value.len())
        })
    }

    /// What it may see, write, call, reach and use up; without one: what this program may.
    pub fn policy(self, policy: &Policy) -> Self {
        self.set(|spec| unsafe { sys::berth_session_spec_set_policy(spec, policy.raw()) })
    }

    /// A container of that image.
    pub fn image(self, image: &str, pull: Pull) -> Self {
        self.set(|spec| unsafe {
            sys::berth_session_spec_set_image(spec, pointer(image.as_bytes()), image.len(), pull as i32)
        })
    }

    /// A folder or file of the host, seen in the container.
    pub fn mount(self, source: impl AsRef<Path>, target: impl AsRef<Path>, read_only: bool) -> Self {
        let (source, target) = (source.as_ref().as_os_str().as_bytes(), target.as_ref().as_os_str().as_bytes());
        self.set(|spec| unsafe {
            sys::berth_session_spec_add_mount(
                spec,
                pointer(source),
                source.len(),
                pointer(target),
                target.len(),
                i32::from(read_only),
            )
        })
    }

    /// A port inside that the host reaches on loopback; `None`: by one that is free.
    pub fn port(self, inside: u16, host: Option<u16>) -> Self {
        self.port_on("", inside, host, false)
    }

    /// The same on another address of the host's, and for UDP if told.
    pub fn port_on(self, address: &str, inside: u16, host: Option<u16>, udp: bool) -> Self {
        let (address, host) = (address.as_bytes(), host.unwrap_or(0));
        self.set(|spec| unsafe {
            let udp = i32::from(udp);
            sys::berth_session_spec_add_port(spec, inside, host, pointer(address), address.len(), udp)
        })
    }

    /// The container's user: "uid:gid" or a name of the image's.
    pub fn user(self, user: &str) -> Self {
        self.set(|spec| unsafe {
            sys::berth_session_spec_set_user(spec, pointer(user.as_bytes()), user.len())
        })
    }

    /// The container's network.
    pub fn network(self, network: &str) -> Self {
        self.set(|spec| unsafe {
            sys::berth_session_spec_set_network(spec, pointer(network.as_bytes()), network.len())
        })
    }

    fn container_flag(mut self, flag: u32) -> Self {
        self.container |= flag;
        let flags = self.container;
        self.set(|spec| unsafe { sys::berth_session_spec_set_container_flags(spec, flags) })
    }

    /// The container runs as this program's uid and gid.
    pub fn host_user(self) -> Self {
        self.container_flag(sys::BERTH_CONTAINER_HOST_USER)
    }

    /// No pid 1 of berth's in the container.
    pub fn no_init(self) -> Self {
        self.container_flag(sys::BERTH_CONTAINER_NO_INIT)
    }

    /// The container is kept between sessions of one name as long as nothing of its description changes.
    pub fn reuse(self) -> Self {
        self.container_flag(sys::BERTH_CONTAINER_REUSE)
    }

    /// The folder with the flake.nix, and its dev shell ("" is the default).
    pub fn flake(self, flake: impl AsRef<Path>, shell: &str) -> Self {
        self.set_flake(flake.as_ref(), shell, false)
    }

    /// The same, but runs `nix develop` each time instead of what was kept of it.
    pub fn wrapped_flake(self, flake: impl AsRef<Path>, shell: &str) -> Self {
        self.set_flake(flake.as_ref(), shell, true)
    }

    fn set_flake(self, flake: &Path, shell: &str, wrapped: bool) -> Self {
        let flake = flake.as_os_str().as_bytes();
        self.set(|spec| unsafe {
            sys::berth_session_spec_set_flake(
                spec,
                pointer(flake),
                flake.len(),
                pointer(shell.as_bytes()),
                shell.len(),
                i32::from(wrapped),
            )
        })
    }

    /// The backend that [`SessionBuilder::create`] would use, and why.
    pub fn choose(&self) -> Result<(String, String)> {
        let spec = self.raw()?;
        let (mut backend, mut reason) = (std::ptr::null_mut(), std::ptr::null_mut());
        check(|error| unsafe {
            sys::berth_session_choose(&mut backend, &mut reason, self.runtime.raw(), spec, error)
        })?;
        let text = |raw| String::from_utf8_lossy(&take_string(raw)).into_owned();
        Ok((text(backend), text(reason)))
    }

    /// Makes it and runs its program. After a failure nothing has run and nothing is left.
    pub fn create(self) -> Result<Session> {
        let spec = self.raw()?;
        Session::from_call(&self.runtime, |session, runtime, error| unsafe {
            sys::berth_session_create(session, runtime, spec, error)
        })
    }

    /// A place of this description in which several processes run; its command is not looked at.
    pub fn environment(self) -> Result<Environment> {
        Environment::new(&self)
    }
}
