use crate::command::{Command, Place};
use crate::convert::{handle, millis, pointer};
use crate::error::{check, Result};
use crate::runtime::Inner;
use crate::session::Session;
use crate::session_builder::SessionBuilder;
use berth_sys as sys;
use std::sync::Arc;
use std::time::Duration;

handle!(Handle, berth_environment, berth_environment_free);
// SAFETY: berth.h, convention 9.
unsafe impl Sync for Handle {}

/// A place in which several processes run side by side, on any backend: made by [`SessionBuilder::environment`].
///
/// ```no_run
/// # fn main() -> berth::Result<()> {
/// let runtime = berth::Runtime::new()?;
/// let tools = runtime.session("tools").cwd("/src").environment()?;
/// tools.init()?;
/// let install = tools.command("npm").arg("ci").name("install").spawn()?;
/// let server = tools.command("npm").arg("start").wait_on("install").spawn()?;
/// # drop((install, server));
/// tools.shutdown(std::time::Duration::from_secs(5))
/// # }
/// ```
///
/// Dropping it ends nothing: the place ends with [`Environment::stop`], [`Environment::shutdown`] or its runtime.
pub struct Environment {
    handle: Handle,
    runtime: Arc<Inner>,
}

impl Environment {
    pub(crate) fn new(spec: &SessionBuilder) -> Result<Environment> {
        let mut raw = std::ptr::null_mut();
        let place = spec.raw()?;
        check(|error| unsafe { sys::berth_environment_new(&mut raw, spec.runtime().raw(), place, error) })?;
        Ok(Environment { handle: Handle(raw), runtime: spec.runtime().clone() })
    }

    pub(crate) fn raw(&self) -> *mut sys::berth_environment {
        self.handle.0
    }

    pub(crate) fn runtime(&self) -> &Arc<Inner> {
        &self.runtime
    }

    /// Starts the place; fine if it is up. After a stop: starts it again.
    pub fn init(&self) -> Result<()> {
        check(|error| unsafe { sys::berth_environment_init(self.raw(), error) })
    }

    /// A process in the place.
    pub fn command(&self, program: impl AsRef<[u8]>) -> Command<'_> {
        Command::new(Place::Environment(self), program.as_ref())
    }

    /// The same, of one line for `/bin/sh`.
    pub fn shell(&self, line: impl AsRef<[u8]>) -> Command<'_> {
        Command::new(Place::Environment(self), b"").shell_line(line.as_ref())
    }

    /// [`crate::Code::NotFound`] if a program of that name is not on the place's PATH.
    pub fn check_binary(&self, name: &str) -> Result<()> {
        check(|error| unsafe {
            sys::berth_environment_check_binary(self.raw(), pointer(name.as_bytes()), name.len(), error)
        })
    }

    /// The host's port that leads to `inside`.
    pub fn host_port(&self, inside: u16) -> Result<u16> {
        let mut port = 0;
        check(|error| unsafe { sys::berth_environment_host_port(&mut port, self.raw(), inside, error) })?;
        Ok(port)
    }

    /// Ends everything in it. It can be started again.
    pub fn stop(&self, grace: Duration) -> Result<()> {
        check(|error| unsafe { sys::berth_environment_stop(self.raw(), millis(Some(grace)), error) })
    }

    /// Ends everything in it and removes what it had. Any number of times.
    pub fn shutdown(&self, grace: Duration) -> Result<()> {
        check(|error| unsafe { sys::berth_environment_shutdown(self.raw(), millis(Some(grace)), error) })
    }

    /// The session behind it.
    pub fn session(&self) -> Result<Session> {
        Session::from_call(&self.runtime, |session, _, error| unsafe {
            sys::berth_environment_session(session, self.raw(), error)
        })
    }
}
