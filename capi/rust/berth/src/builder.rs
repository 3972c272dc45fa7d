use crate::convert::{millis, pointer};
use crate::env::Env;
use crate::error::{check, Result};
use crate::process::Process;
use crate::runtime::Inner;
use crate::session::Session;
use berth_sys as sys;
use std::collections::BTreeMap;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::sync::Arc;
use std::time::Duration;

#[derive(Clone, Debug)]
enum Program {
    Argv(Vec<Vec<u8>>),
    Shell(Vec<u8>),
}

/// What a session is to be: made by [`crate::Runtime::session`].
///
/// A terminal of 24 rows and 80 columns, durable, [`Env::basic`], no limits, unless told.
#[must_use = "nothing is made before create()"]
pub struct SessionBuilder {
    runtime: Arc<Inner>,
    name: Vec<u8>,
    backend: Vec<u8>,
    program: Program,
    env: Env,
    cwd: Vec<u8>,
    terminal: (u16, u16),
    durable: bool,
    limits: (Option<Duration>, Option<Duration>, Duration),
    kept: (i32, i64),
    log: Option<(Vec<u8>, i64)>,
    labels: BTreeMap<Vec<u8>, Vec<u8>>,
}

impl SessionBuilder {
    pub(crate) fn new(runtime: Arc<Inner>, name: &[u8]) -> SessionBuilder {
        SessionBuilder {
            runtime,
            name: name.to_vec(),
            backend: Vec::new(),
            program: Program::Argv(Vec::new()),
            env: Env::basic(),
            cwd: Vec::new(),
            terminal: (24, 80),
            durable: true,
            limits: (None, None, Duration::from_secs(5)),
            kept: (2000, 1 << 20),
            log: None,
            labels: BTreeMap::new(),
        }
    }

    /// "native", "tmux", "docker", "nix"; berth chooses unless told.
    pub fn backend(mut self, backend: &str) -> Self {
        self.backend = backend.into();
        self
    }

    /// The program and its arguments.
    pub fn argv<S: AsRef<[u8]>>(mut self, argv: impl IntoIterator<Item = S>) -> Self {
        self.program = Program::Argv(argv.into_iter().map(|arg| arg.as_ref().to_vec()).collect());
        self
    }

    /// One line for `/bin/sh`.
    pub fn shell(mut self, line: impl AsRef<[u8]>) -> Self {
        self.program = Program::Shell(line.as_ref().to_vec());
        self
    }

    /// The program's environment.
    pub fn env(mut self, env: Env) -> Self {
        self.env = env;
        self
    }

    /// The working directory, absolute.
    pub fn cwd(mut self, cwd: impl AsRef<std::path::Path>) -> Self {
        use std::os::unix::ffi::OsStrExt;
        self.cwd = cwd.as_ref().as_os_str().as_bytes().to_vec();
        self
    }

    /// A terminal of that size.
    pub fn terminal(mut self, rows: u16, cols: u16) -> Self {
        self.terminal = (rows, cols);
        self
    }

    /// Three pipes in place of a terminal.
    pub fn pipes(mut self) -> Self {
        self.terminal = (0, 0);
        self
    }

    /// It ends with this runtime.
    pub fn ephemeral(mut self) -> Self {
        self.durable = false;
        self
    }

    /// The longest that it may run.
    pub fn wall_limit(mut self, limit: Duration) -> Self {
        self.limits.0 = Some(limit);
        self
    }

    /// The longest that it may be without output.
    pub fn inactivity_limit(mut self, limit: Duration) -> Self {
        self.limits.1 = Some(limit);
        self
    }

    /// Between TERM and KILL when a limit ends it.
    pub fn grace(mut self, grace: Duration) -> Self {
        self.limits.2 = grace;
        self
    }

    /// Lines of scrollback for capture, and bytes of output kept for late readers.
    pub fn kept(mut self, scrollback_lines: u32, output_bytes: u64) -> Self {
        self.kept = (
            i32::try_from(scrollback_lines).unwrap_or(i32::MAX),
            i64::try_from(output_bytes).unwrap_or(i64::MAX),
        );
        self
    }

    /// All output goes to this file too, rotated when it passes the cap.
    pub fn log(mut self, path: impl AsRef<std::path::Path>, cap_bytes: u64) -> Self {
        use std::os::unix::ffi::OsStrExt;
        let path = path.as_ref().as_os_str().as_bytes().to_vec();
        self.log = Some((path, i64::try_from(cap_bytes).unwrap_or(i64::MAX)));
        self
    }

    /// A label, seen in [`crate::SessionInfo`].
    pub fn label(mut self, key: impl AsRef<[u8]>, value: impl AsRef<[u8]>) -> Self {
        self.labels.insert(key.as_ref().to_vec(), value.as_ref().to_vec());
        self
    }

    /// Makes it and runs its program. After a failure nothing has run and nothing is left.
    pub fn create(self) -> Result<Session> {
        let mut raw = std::ptr::null_mut();
        check(|error| unsafe {
            sys::berth_session_spec_new(&mut raw, pointer(&self.name), self.name.len(), error)
        })?;
        let spec = SessionSpec(raw);
        // Setters keep the first error; the create below reports it.
        unsafe {
            sys::berth_session_spec_set_backend(raw, pointer(&self.backend), self.backend.len());
            match &self.program {
                Program::Argv(argv) => {
                    for arg in argv {
                        sys::berth_session_spec_add_arg(raw, pointer(arg), arg.len());
                    }
                }
                Program::Shell(line) => {
                    sys::berth_session_spec_set_shell(raw, pointer(line), line.len());
                }
            }
            self.env.with_raw(|env| sys::berth_session_spec_set_env(raw, env))?;
            sys::berth_session_spec_set_cwd(raw, pointer(&self.cwd), self.cwd.len());
            sys::berth_session_spec_set_terminal(raw, self.terminal.0, self.terminal.1);
            sys::berth_session_spec_set_durable(raw, i32::from(self.durable));
            let (wall, inactivity, grace) = self.limits;
            sys::berth_session_spec_set_time_limits(
                raw,
                millis(wall),
                millis(inactivity),
                millis(Some(grace)),
            );
            sys::berth_session_spec_set_kept(raw, self.kept.0, self.kept.1);
            if let Some((path, cap)) = &self.log {
                sys::berth_session_spec_set_log(raw, pointer(path), path.len(), *cap);
            }
            for (key, value) in &self.labels {
                sys::berth_session_spec_set_label(
                    raw,
                    pointer(key),
                    key.len(),
                    pointer(value),
                    value.len(),
                );
            }
        }
        Session::from_call(&self.runtime, |session, runtime, error| unsafe {
            sys::berth_session_create(session, runtime, spec.0, error)
        })
    }
}

struct SessionSpec(*mut sys::berth_session_spec);

impl Drop for SessionSpec {
    fn drop(&mut self) {
        unsafe { sys::berth_session_spec_free(self.0) }
    }
}

/// Where one of the three standard streams of a process leads.
#[derive(Clone, Copy, Debug)]
pub enum Stdio<'fd> {
    /// `/dev/null`.
    Null,
    /// A pipe, to be taken from the [`Process`].
    Pipe,
    /// A duplicate of the caller's descriptor.
    Fd(BorrowedFd<'fd>),
}

/// A process of its own ([`crate::Runtime::command`]) or one more in a session's place
/// ([`Session::command`]). stdin is null, stdout and stderr are pipes, unless told.
#[must_use = "nothing is started before spawn()"]
pub struct Command<'a> {
    place: Place<'a>,
    program: Program,
    env: Env,
    cwd: Vec<u8>,
    stdio: [Stdio<'a>; 3],
    terminal: (u16, u16),
}

pub(crate) enum Place<'a> {
    Runtime(Arc<Inner>),
    Session(&'a Session),
}

impl<'a> Command<'a> {
    pub(crate) fn new(place: Place<'a>, program: &[u8]) -> Command<'a> {
        Command {
            place,
            program: Program::Argv(vec![program.to_vec()]),
            env: Env::basic(),
            cwd: Vec::new(),
            stdio: [Stdio::Null, Stdio::Pipe, Stdio::Pipe],
            terminal: (0, 0),
        }
    }

    /// One more argument.
    pub fn arg(mut self, arg: impl AsRef<[u8]>) -> Self {
        match &mut self.program {
            Program::Argv(argv) => argv.push(arg.as_ref().to_vec()),
            Program::Shell(line) => {
                self.program = Program::Argv(vec![std::mem::take(line), arg.as_ref().to_vec()]);
            }
        }
        self
    }

    /// More arguments.
    pub fn args<S: AsRef<[u8]>>(self, args: impl IntoIterator<Item = S>) -> Self {
        args.into_iter().fold(self, |command, arg| command.arg(arg))
    }

    pub(crate) fn shell_line(mut self, line: &[u8]) -> Self {
        self.program = Program::Shell(line.to_vec());
        self
    }

    /// The environment; in a session it is on top of the session's own.
    pub fn env(mut self, env: Env) -> Self {
        self.env = env;
        self
    }

    /// The working directory, absolute.
    pub fn cwd(mut self, cwd: impl AsRef<std::path::Path>) -> Self {
        use std::os::unix::ffi::OsStrExt;
        self.cwd = cwd.as_ref().as_os_str().as_bytes().to_vec();
        self
    }

    /// Where stdin comes from.
    pub fn stdin(mut self, stdio: Stdio<'a>) -> Self {
        self.stdio[0] = stdio;
        self
    }

    /// Where stdout goes.
    pub fn stdout(mut self, stdio: Stdio<'a>) -> Self {
        self.stdio[1] = stdio;
        self
    }

    /// Where stderr goes.
    pub fn stderr(mut self, stdio: Stdio<'a>) -> Self {
        self.stdio[2] = stdio;
        self
    }

    /// One terminal in place of the three streams: taken as stdout and stdin.
    pub fn terminal(mut self, rows: u16, cols: u16) -> Self {
        self.terminal = (rows, cols);
        self
    }

    /// Starts it; returns once the program has been executed.
    pub fn spawn(self) -> Result<Process> {
        let mut raw = std::ptr::null_mut();
        check(|error| unsafe { sys::berth_process_spec_new(&mut raw, error) })?;
        let spec = ProcessSpec(raw);
        unsafe {
            match &self.program {
                Program::Argv(argv) => {
                    for arg in argv {
                        sys::berth_process_spec_add_arg(raw, pointer(arg), arg.len());
                    }
                }
                Program::Shell(line) => {
                    sys::berth_process_spec_set_shell(raw, pointer(line), line.len());
                }
            }
            self.env.with_raw(|env| sys::berth_process_spec_set_env(raw, env))?;
            sys::berth_process_spec_set_cwd(raw, pointer(&self.cwd), self.cwd.len());
            for (stream, stdio) in self.stdio.iter().enumerate() {
                let (kind, fd) = match stdio {
                    Stdio::Null => (sys::BERTH_STDIO_NULL, -1),
                    Stdio::Pipe => (sys::BERTH_STDIO_PIPE, -1),
                    Stdio::Fd(fd) => (sys::BERTH_STDIO_FD, fd.as_raw_fd()),
                };
                sys::berth_process_spec_set_stdio(raw, stream as i32, kind, fd);
            }
            if self.terminal != (0, 0) {
                sys::berth_process_spec_set_terminal(raw, self.terminal.0, self.terminal.1);
            }
        }
        let mut process = std::ptr::null_mut();
        let runtime = match &self.place {
            Place::Runtime(runtime) => {
                check(|error| unsafe {
                    sys::berth_process_spawn(&mut process, runtime.raw(), spec.0, error)
                })?;
                runtime.clone()
            }
            Place::Session(session) => {
                check(|error| unsafe {
                    sys::berth_session_exec(&mut process, session.raw(), spec.0, error)
                })?;
                session.runtime().clone()
            }
        };
        Ok(Process::from_raw(runtime, process))
    }
}

struct ProcessSpec(*mut sys::berth_process_spec);

impl Drop for ProcessSpec {
    fn drop(&mut self) {
        unsafe { sys::berth_process_spec_free(self.0) }
    }
}
