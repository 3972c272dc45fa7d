use crate::changes::Change;
use crate::command::{Command, Place};
use crate::convert::{millis, pointer, take_string, text, words, Strings};
use crate::error::{check, Result};
use crate::exit::{Exit, Stats};
use crate::info::SessionInfo;
use crate::runtime::Inner;
use crate::stream::{Reader, Writer};
use crate::violations::{Violation, ViolationFeed};
use berth_sys as sys;
use std::os::fd::{FromRawFd, OwnedFd};
use std::sync::Arc;
use std::time::Duration;

/// Whether a session lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Liveness {
    /// Declare nothing dead on this.
    Unknown,
    /// Its main process runs.
    Alive,
    /// It has ended, or was destroyed.
    Dead,
}
words!(Liveness, berth_liveness_name, |liveness| liveness as i32);

impl Liveness {
    pub(crate) fn from_raw(raw: i32) -> Liveness {
        match raw {
            sys::BERTH_ALIVE => Liveness::Alive,
            sys::BERTH_DEAD => Liveness::Dead,
            _ => Liveness::Unknown,
        }
    }
}

/// What is known of a sent message. Each includes the ones before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Delivery {
    /// Accepted whole; the program has not been given all of it.
    Queued,
    /// All bytes are in the program's terminal or pipe.
    Written,
    /// And the submit key after them.
    Submitted,
    /// And the program answered with output after it.
    Confirmed,
}
words!(Delivery, berth_delivery_name, |delivery| delivery as i32);

/// How a message is sent: Enter behind it, bracketed paste when the program asked for it, awaited until it is submitted,
/// for 30 seconds, unless told.
#[derive(Clone, Debug)]
pub struct SendOptions {
    /// The key pressed behind the text; "" for none.
    pub submit: String,
    /// Bracketed paste when the program asked for it.
    pub paste: bool,
    /// How far delivery is awaited.
    pub until: Delivery,
    /// For how long.
    pub timeout: Option<Duration>,
}

impl Default for SendOptions {
    fn default() -> Self {
        SendOptions {
            submit: "Enter".into(),
            paste: true,
            until: Delivery::Submitted,
            timeout: Some(Duration::from_secs(30)),
        }
    }
}

/// What of a session's output is read, and how far a reader may lag: stdout from its first byte, unless told.
#[derive(Clone, Debug)]
pub struct OutputOptions {
    /// Of a session on pipes.
    pub stderr: bool,
    /// `None`: from now on.
    pub from: Option<u64>,
    /// Bytes that it may lag before the program waits for it; `None`: 64 MiB. With 0 the program never waits, and the
    /// reader misses bytes.
    pub lag: Option<u64>,
}

impl Default for OutputOptions {
    fn default() -> Self {
        OutputOptions { stderr: false, from: Some(0), lag: None }
    }
}

/// A named place with one main process. The object is a view: dropping it ends nothing.
pub struct Session {
    raw: *mut sys::berth_session,
    runtime: Arc<Inner>,
}

// SAFETY: berth.h, convention 9.
unsafe impl Send for Session {}
unsafe impl Sync for Session {}

impl Drop for Session {
    fn drop(&mut self) {
        unsafe { sys::berth_session_free(self.raw) }
    }
}

impl Session {
    pub(crate) fn from_call(
        runtime: &Arc<Inner>,
        call: impl FnOnce(*mut *mut sys::berth_session, *mut sys::berth_runtime, *mut *mut sys::berth_error) -> i32,
    ) -> Result<Session> {
        let mut raw = std::ptr::null_mut();
        check(|error| call(&mut raw, runtime.raw(), error))?;
        Ok(Session { raw, runtime: runtime.clone() })
    }

    pub(crate) fn raw(&self) -> *mut sys::berth_session {
        self.raw
    }

    pub(crate) fn runtime(&self) -> &Arc<Inner> {
        &self.runtime
    }

    /// Opaque; stays the same through a rename. Any process of the same user opens the session by it.
    pub fn handle(&self) -> String {
        unsafe { text(|size| sys::berth_session_handle(self.raw, size)).unwrap_or_default() }
    }

    /// Its name now.
    pub fn name(&self) -> Result<String> {
        let mut name = std::ptr::null_mut();
        check(|error| unsafe { sys::berth_session_name(&mut name, self.raw, error) })?;
        Ok(String::from_utf8_lossy(&take_string(name)).into_owned())
    }

    /// What is known of it.
    pub fn info(&self) -> Result<SessionInfo> {
        let mut infos = std::ptr::null_mut();
        check(|error| unsafe { sys::berth_session_info(&mut infos, self.raw, error) })?;
        Ok(SessionInfo::take_all(infos).remove(0))
    }

    /// Whether it lives, and the reason in words.
    pub fn liveness(&self) -> Result<(Liveness, String)> {
        let (mut liveness, mut reason) = (0, std::ptr::null_mut());
        check(|error| unsafe {
            sys::berth_session_liveness(&mut liveness, &mut reason, self.raw, error)
        })?;
        Ok((Liveness::from_raw(liveness), String::from_utf8_lossy(&take_string(reason)).into_owned()))
    }

    /// Sends one message and presses Enter.
    pub fn send(&self, message: impl AsRef<[u8]>) -> Result<Delivery> {
        self.send_with(message, &SendOptions::default())
    }

    /// Sends one message, whole or not at all. After a failure nothing of it was sent.
    pub fn send_with(&self, message: impl AsRef<[u8]>, options: &SendOptions) -> Result<Delivery> {
        let message = message.as_ref();
        let mut raw = std::ptr::null_mut();
        check(|error| unsafe { sys::berth_send_options_new(&mut raw, error) })?;
        let mut delivery = 0;
        let result = check(|error| unsafe {
            sys::berth_send_options_set_submit(raw, pointer(options.submit.as_bytes()), options.submit.len());
            sys::berth_send_options_set_paste(raw, i32::from(options.paste));
            sys::berth_send_options_set_await(raw, options.until as i32);
            sys::berth_session_send(
                &mut delivery,
                self.raw,
                pointer(message),
                message.len(),
                raw,
                millis(options.timeout),
                error,
            )
        });
        unsafe { sys::berth_send_options_free(raw) };
        result?;
        Ok(match delivery {
            sys::BERTH_QUEUED => Delivery::Queued,
            sys::BERTH_WRITTEN => Delivery::Written,
            sys::BERTH_SUBMITTED => Delivery::Submitted,
            _ => Delivery::Confirmed,
        })
    }

    /// Presses keys by name: "Enter", "C-c", "Up", "F5", "M-x".
    pub fn send_keys<S: AsRef<[u8]>>(&self, keys: impl IntoIterator<Item = S>) -> Result<()> {
        let keys = Strings::new(keys)?;
        check(|error| unsafe { sys::berth_session_send_keys(self.raw, keys.0, error) })
    }

    /// An end of file for a program on pipes.
    pub fn close_stdin(&self) -> Result<()> {
        check(|error| unsafe { sys::berth_session_close_stdin(self.raw, error) })
    }

    /// What a person would see: the last lines, 0 for all that is kept.
    pub fn capture(&self, lines: u32) -> Result<String> {
        self.capture_flags(lines, 0)
    }

    /// The same with colours, as SGR sequences.
    pub fn capture_colour(&self, lines: u32) -> Result<String> {
        self.capture_flags(lines, sys::BERTH_CAPTURE_COLOUR)
    }

    fn capture_flags(&self, lines: u32, flags: u32) -> Result<String> {
        let mut screen = std::ptr::null_mut();
        let lines = i32::try_from(lines).unwrap_or(i32::MAX);
        check(|error| unsafe { sys::berth_session_capture(&mut screen, self.raw, lines, flags, error) })?;
        Ok(String::from_utf8_lossy(&take_string(screen)).into_owned())
    }

    /// The bytes that the program writes to stdout (or its terminal), from its first one.
    pub fn stdout(&self) -> Result<Reader> {
        Ok(self.output(&OutputOptions::default())?.0)
    }

    /// The same for stderr, of a session on pipes.
    pub fn stderr(&self) -> Result<Reader> {
        Ok(self.output(&OutputOptions { stderr: true, ..OutputOptions::default() })?.0)
    }

    /// stdout from that offset (`None`: from now on), and where it really begins: later if older bytes are gone.
    pub fn stdout_from(&self, offset: Option<u64>) -> Result<(Reader, u64)> {
        self.output(&OutputOptions { from: offset, ..OutputOptions::default() })
    }

    /// What the options say, and where it really begins: later if older bytes are gone.
    pub fn output(&self, options: &OutputOptions) -> Result<(Reader, u64)> {
        let (mut fd, mut begins) = (-1, 0);
        let stream = if options.stderr { sys::BERTH_STDERR } else { sys::BERTH_STDOUT };
        let number = |value: Option<u64>| value.map_or(-1, |value| i64::try_from(value).unwrap_or(i64::MAX));
        let (from, lag) = (number(options.from), number(options.lag));
        check(|error| unsafe {
            sys::berth_session_output_fd(&mut fd, &mut begins, self.raw, stream, from, lag, error)
        })?;
        Ok((Reader::from_raw(fd), u64::try_from(begins).unwrap_or(0)))
    }

    /// Gives its terminal another size.
    pub fn resize(&self, rows: u16, cols: u16) -> Result<()> {
        check(|error| unsafe { sys::berth_session_resize(self.raw, rows, cols, error) })
    }

    /// A viewer: a socket that carries the screen now and all output after it, and takes input.
    pub fn attach(&self) -> Result<(Reader, Writer)> {
        let mut fd = -1;
        check(|error| unsafe { sys::berth_session_attach_fd(&mut fd, self.raw, error) })?;
        let reader = Reader::from_raw(fd);
        let other = std::os::fd::AsFd::as_fd(&reader).try_clone_to_owned();
        match other {
            Ok(other) => Ok((reader, Writer::from_raw(std::os::fd::IntoRawFd::into_raw_fd(other)))),
            // Out of descriptors: as the library tells it.
            Err(_) => check(|_| sys::BERTH_RESOURCE_EXHAUSTED).map(|()| unreachable!()),
        }
    }

    /// The command that attaches a person's terminal.
    pub fn attach_command(&self) -> Result<Vec<String>> {
        let mut argv = std::ptr::null_mut();
        check(|error| unsafe { sys::berth_session_attach_command(&mut argv, self.raw, error) })?;
        Ok(Strings(argv).to_vec())
    }

    /// Starts or moves the log; `None` ends it.
    pub fn set_log(&self, path: Option<&std::path::Path>, cap_bytes: u64) -> Result<()> {
        use std::os::unix::ffi::OsStrExt;
        let path = path.map_or(&b""[..], |path| path.as_os_str().as_bytes());
        let cap = i64::try_from(cap_bytes).unwrap_or(i64::MAX);
        check(|error| unsafe { sys::berth_session_set_log(self.raw, pointer(path), path.len(), cap, error) })
    }

    /// For programs that [`Session::command`] starts from now on.
    pub fn set_env(&self, key: impl AsRef<[u8]>, value: impl AsRef<[u8]>) -> Result<()> {
        let (key, value) = (key.as_ref(), value.as_ref());
        check(|error| unsafe {
            sys::berth_session_set_env(self.raw, pointer(key), key.len(), pointer(value), value.len(), error)
        })
    }

    /// One more process in the session's place.
    pub fn command(&self, program: impl AsRef<[u8]>) -> Command<'_> {
        Command::new(Place::Session(self), program.as_ref())
    }

    /// The same, of one line for `/bin/sh`.
    pub fn shell(&self, line: impl AsRef<[u8]>) -> Command<'_> {
        Command::new(Place::Session(self), b"").shell_line(line.as_ref())
    }

    /// What it uses.
    pub fn stats(&self) -> Result<Stats> {
        let mut stats = Stats::empty();
        check(|error| unsafe { sys::berth_session_stats(&mut stats, self.raw, error) })?;
        Ok(Stats::from_raw(&stats))
    }

    /// What its policy has stopped, oldest first: the last ones, if there are many.
    pub fn violations(&self) -> Result<Vec<Violation>> {
        let mut raw = std::ptr::null_mut();
        check(|error| unsafe { sys::berth_session_violations(&mut raw, self.raw, error) })?;
        Ok(Violation::take_all(raw))
    }

    /// Those from number `seen` + 1 on, and those to come.
    pub fn watch_violations(&self, seen: u64) -> Result<ViolationFeed> {
        let mut raw = std::ptr::null_mut();
        let seen = i64::try_from(seen).unwrap_or(i64::MAX);
        check(|error| unsafe { sys::berth_session_watch_violations(&mut raw, self.raw, seen, error) })?;
        ViolationFeed::new(raw)
    }

    /// What it changed in the folders that its policy shows copy-on-write; while it runs, so far.
    pub fn changes(&self) -> Result<Vec<Change>> {
        let mut raw = std::ptr::null_mut();
        check(|error| unsafe { sys::berth_session_changes(&mut raw, self.raw, error) })?;
        Ok(Change::take_all(raw))
    }

    /// Makes all changes where the folders really are.
    pub fn keep_changes(&self) -> Result<()> {
        check(|error| unsafe { sys::berth_session_keep_changes(self.raw, std::ptr::null(), error) })
    }

    /// Makes those at and below the paths.
    pub fn keep_changes_at<S: AsRef<[u8]>>(&self, paths: impl IntoIterator<Item = S>) -> Result<()> {
        let paths = Strings::new(paths)?;
        check(|error| unsafe { sys::berth_session_keep_changes(self.raw, paths.0, error) })
    }

    /// Throws them away.
    pub fn discard_changes(&self) -> Result<()> {
        check(|error| unsafe { sys::berth_session_discard_changes(self.raw, error) })
    }

    /// A signal to the main process.
    pub fn signal(&self, signal: i32) -> Result<()> {
        check(|error| unsafe { sys::berth_session_signal(self.raw, signal, error) })
    }

    /// TERM to the whole tree, KILL after the grace; returns when all of it is gone.
    pub fn stop(&self, grace: Duration) -> Result<Exit> {
        let mut exit = sys::berth_exit::default();
        check(|error| unsafe { sys::berth_session_stop(&mut exit, self.raw, millis(Some(grace)), error) })?;
        Ok(Exit(exit))
    }

    /// How the main process ended: any number of callers, any number of times.
    pub fn wait(&self, timeout: Option<Duration>) -> Result<Exit> {
        let mut exit = sys::berth_exit::default();
        check(|error| unsafe { sys::berth_session_wait(&mut exit, self.raw, millis(timeout), error) })?;
        Ok(Exit(exit))
    }

    /// Readable once [`Session::wait`] would return at once: for poll, never read it.
    pub fn exit_fd(&self) -> Result<OwnedFd> {
        let mut fd = -1;
        check(|error| unsafe { sys::berth_session_exit_fd(&mut fd, self.raw, error) })?;
        // SAFETY: the descriptor is the caller's.
        Ok(unsafe { OwnedFd::from_raw_fd(fd) })
    }

    /// Gives it another name; the handle stays.
    pub fn rename(&self, name: impl AsRef<[u8]>) -> Result<()> {
        let name = name.as_ref();
        check(|error| unsafe { sys::berth_session_rename(self.raw, pointer(name), name.len(), error) })
    }

    /// Stops it and removes all that it had. Any number of times.
    pub fn destroy(&self, grace: Duration) -> Result<()> {
        check(|error| unsafe { sys::berth_session_destroy(self.raw, millis(Some(grace)), error) })
    }
}
