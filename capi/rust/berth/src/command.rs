use crate::convert::{millis, pointer};
use crate::env::Env;
use crate::environment::Environment;
use crate::error::{check, Result};
use crate::exit::Exit;
use crate::policy::Policy;
use crate::process::Process;
use crate::runtime::Inner;
use crate::session::Session;
use berth_sys as sys;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::sync::Arc;
use std::time::Duration;

#[derive(Clone, Debug)]
enum Program {
    Argv(Vec<Vec<u8>>),
    Shell(Vec<u8>),
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

/// A process of its own ([`crate::Runtime::command`]) or one more in the place of a session ([`Session::command`]) or an
/// environment ([`Environment::command`]). stdin is null, stdout and stderr are pipes, unless told.
#[must_use = "nothing is started before spawn()"]
pub struct Command<'a> {
    place: Place<'a>,
    program: Program,
    env: Env,
    cwd: Vec<u8>,
    stdio: [Stdio<'a>; 3],
    terminal: (u16, u16),
    policy: Option<Policy>,
    name: Vec<u8>,
    wait_on: Vec<Vec<u8>>,
    wait_timeout: Option<Duration>,
}

pub(crate) enum Place<'a> {
    Runtime(Arc<Inner>),
    Session(&'a Session),
    Environment(&'a Environment),
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
            policy: None,
            name: Vec::new(),
            wait_on: Vec::new(),
            wait_timeout: None,
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

    /// What it may see, write, call, reach and use up. For a process of its own; another is under its session's.
    pub fn policy(mut self, policy: &Policy) -> Self {
        self.policy = Some(policy.clone());
        self
    }

    /// A name, for the others of its environment to wait on.
    pub fn name(mut self, name: impl AsRef<[u8]>) -> Self {
        self.name = name.as_ref().to_vec();
        self
    }

    /// In an environment: it starts once that one has ended.
    pub fn wait_on(mut self, name: impl AsRef<[u8]>) -> Self {
        self.wait_on.push(name.as_ref().to_vec());
        self
    }

    /// The longest that it waits on others, from the start on; without limit unless told.
    pub fn wait_timeout(mut self, limit: Duration) -> Self {
        self.wait_timeout = Some(limit);
        self
    }

    fn spec(&self) -> Result<ProcessSpec> {
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
            if let Some(policy) = &self.policy {
                sys::berth_process_spec_set_policy(raw, policy.raw());
            }
        }
        Ok(spec)
    }

    fn process_place(&self) -> Result<ProcessPlace> {
        let mut raw = std::ptr::null_mut();
        check(|error| unsafe {
            sys::berth_process_place_new(&mut raw, pointer(&self.name), self.name.len(), error)
        })?;
        let place = ProcessPlace(raw);
        for other in &self.wait_on {
            unsafe { sys::berth_process_place_add_wait_on(raw, pointer(other), other.len()) };
        }
        unsafe { sys::berth_process_place_set_timeout(raw, millis(self.wait_timeout)) };
        Ok(place)
    }

    /// Starts it and waits for its end; if the timeout passes first, it is killed. Nobody reads its pipes: one that writes
    /// much wants [`Stdio::Null`] or [`Stdio::Fd`].
    pub fn run(self, timeout: Option<Duration>) -> Result<Exit> {
        let Place::Environment(environment) = &self.place else {
            return self.spawn()?.wait(timeout);
        };
        let (spec, place) = (self.spec()?, self.process_place()?);
        let mut exit = sys::berth_exit::default();
        check(|error| unsafe {
            let limit = millis(timeout);
            sys::berth_environment_run(&mut exit, environment.raw(), spec.0, place.0, limit, error)
        })?;
        Ok(Exit(exit))
    }

    /// Starts it; returns once the program has been executed.
    pub fn spawn(self) -> Result<Process> {
        let spec = self.spec()?;
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
            Place::Environment(environment) => {
                let place = self.process_place()?;
                check(|error| unsafe {
                    sys::berth_environment_start(&mut process, environment.raw(), spec.0, place.0, error)
                })?;
                environment.runtime().clone()
            }
        };
        Ok(Process::from_raw(runtime, process))
    }
}

crate::convert::handle!(ProcessSpec, berth_process_spec, berth_process_spec_free);
crate::convert::handle!(ProcessPlace, berth_process_place, berth_process_place_free);
