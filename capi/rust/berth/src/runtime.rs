use crate::agent_builder::AgentBuilder;
use crate::command::{Command, Place};
use crate::convert::{millis, pointer};
use crate::error::{check, Result};
use crate::event::Event;
use crate::info::SessionInfo;
use crate::session::Session;
use crate::session_builder::SessionBuilder;
use berth_sys as sys;
use std::os::fd::{AsFd, BorrowedFd, FromRawFd, OwnedFd};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// The way in: makes sessions and processes, finds the ones that exist, tells what happens to them.
///
/// Cloning is cheap and gives the same runtime. What it spawned, and its ephemeral sessions, end with the last clone of
/// it and the last [`Session`] and [`crate::Process`] that came from it.
#[derive(Clone)]
pub struct Runtime {
    inner: Arc<Inner>,
}

pub(crate) struct Inner {
    raw: *mut sys::berth_runtime,
    events: OwnedFd,
}

// SAFETY: berth.h, convention 9: every call may be made from any thread, any number at once.
unsafe impl Send for Inner {}
unsafe impl Sync for Inner {}

impl Inner {
    pub(crate) fn raw(&self) -> *mut sys::berth_runtime {
        self.raw
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        unsafe { sys::berth_runtime_free(self.raw) }
    }
}

impl Runtime {
    /// Of the default state directory: `$BERTH_STATE_DIR`, else `$XDG_STATE_HOME/berth`, else `~/.local/state/berth`.
    pub fn new() -> Result<Runtime> {
        Runtime::open(b"")
    }

    /// Of that state directory.
    pub fn with_state_dir(path: impl AsRef<Path>) -> Result<Runtime> {
        use std::os::unix::ffi::OsStrExt;
        Runtime::open(path.as_ref().as_os_str().as_bytes())
    }

    fn open(path: &[u8]) -> Result<Runtime> {
        let mut raw = std::ptr::null_mut();
        check(|error| unsafe { sys::berth_runtime_new(&mut raw, pointer(path), path.len(), error) })?;
        let mut fd = -1;
        if let Err(error) = check(|error| unsafe { sys::berth_runtime_event_fd(&mut fd, raw, error) }) {
            unsafe { sys::berth_runtime_free(raw) };
            return Err(error);
        }
        // SAFETY: the descriptor came out of the library and is nobody else's.
        let events = unsafe { OwnedFd::from_raw_fd(fd) };
        Ok(Runtime { inner: Arc::new(Inner { raw, events }) })
    }

    /// Begins the description of a session.
    pub fn session(&self, name: impl AsRef<[u8]>) -> SessionBuilder {
        SessionBuilder::new(self.inner.clone(), name.as_ref())
    }

    /// Begins the description of a run of an agent: "claude", "codex", "gemini", "openai-api" or "gemini-api".
    pub fn agent(&self, agent: impl AsRef<[u8]>) -> AgentBuilder {
        AgentBuilder::new(self.inner.clone(), agent.as_ref())
    }

    /// Opens a session by the handle that [`Session::handle`] gave, in this process or another one.
    pub fn open_session(&self, handle: impl AsRef<[u8]>) -> Result<Session> {
        let handle = handle.as_ref();
        Session::from_call(&self.inner, |session, runtime, error| unsafe {
            sys::berth_session_open(session, runtime, pointer(handle), handle.len(), error)
        })
    }

    /// Finds a session by its name, exactly.
    pub fn find(&self, name: impl AsRef<[u8]>) -> Result<Session> {
        let name = name.as_ref();
        Session::from_call(&self.inner, |session, runtime, error| unsafe {
            sys::berth_session_find(session, runtime, pointer(name), name.len(), error)
        })
    }

    /// All sessions of the state directory, by name.
    pub fn list(&self) -> Result<Vec<SessionInfo>> {
        let mut raw = std::ptr::null_mut();
        check(|error| unsafe { sys::berth_session_list(&mut raw, self.inner.raw(), error) })?;
        Ok(SessionInfo::take_all(raw))
    }

    /// A process of its own: no name, no record, ends with its object.
    pub fn command(&self, program: impl AsRef<[u8]>) -> Command<'static> {
        Command::new(Place::Runtime(self.inner.clone()), program.as_ref())
    }

    /// The same, of one line for `/bin/sh`.
    pub fn shell(&self, line: impl AsRef<[u8]>) -> Command<'static> {
        Command::new(Place::Runtime(self.inner.clone()), b"").shell_line(line.as_ref())
    }

    /// Readable while there is an event: for poll, never read it. The caller's own; `as_fd` lends the runtime's.
    pub fn event_fd(&self) -> std::io::Result<OwnedFd> {
        self.inner.events.try_clone()
    }

    /// The next event of a session made or opened through this runtime; `None` if none came in time.
    pub fn next_event(&self, timeout: Option<Duration>) -> Result<Option<Event>> {
        let mut raw = std::ptr::null_mut();
        check(|error| unsafe {
            sys::berth_runtime_next_event(&mut raw, self.inner.raw(), millis(timeout), error)
        })?;
        Ok((!raw.is_null()).then(|| Event::take(raw)))
    }
}

impl AsFd for Runtime {
    /// The event descriptor.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.inner.events.as_fd()
    }
}
