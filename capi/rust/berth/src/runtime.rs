use crate::builder::{Command, Place, SessionBuilder};
use crate::convert::{millis, pointer};
use crate::error::{check, Result};
use crate::event::Event;
use crate::info::SessionInfo;
use crate::session::Session;
use berth_sys as sys;
use std::os::fd::{AsFd, BorrowedFd};
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

pub(crate) struct Inner(*mut sys::berth_runtime);

// SAFETY: berth.h, convention 9: every call may be made from any thread, any number at once.
unsafe impl Send for Inner {}
unsafe impl Sync for Inner {}

impl Inner {
    pub(crate) fn raw(&self) -> *mut sys::berth_runtime {
        self.0
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        unsafe { sys::berth_runtime_free(self.0) }
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
        Ok(Runtime { inner: Arc::new(Inner(raw)) })
    }

    /// Begins the description of a session.
    pub fn session(&self, name: impl AsRef<[u8]>) -> SessionBuilder {
        SessionBuilder::new(self.inner.clone(), name.as_ref())
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

    /// Readable while there is an event: for poll, never read it.
    pub fn event_fd(&self) -> Result<BorrowedFd<'_>> {
        let mut fd = -1;
        check(|error| unsafe { sys::berth_runtime_event_fd(&mut fd, self.inner.raw(), error) })?;
        // SAFETY: the descriptor is the runtime's and lives as long as it.
        Ok(unsafe { BorrowedFd::borrow_raw(fd) })
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
        self.event_fd().expect("a live runtime has an event descriptor")
    }
}
