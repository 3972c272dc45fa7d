//! atomr-agents' `ProcessHandle` on berth: streams taken once as channels, a terminal or pipes, kill with grace, a wait
//! that can be asked again. tokio's channels are std's here, filled and emptied by a thread for each stream; with tokio
//! the descriptors of `berth::Reader` and `berth::Writer` go into an `AsyncFd`, and the exit descriptor makes `wait` async.
use berth::{Code, Process};
use std::io::{Read, Write};
use std::sync::mpsc;
use std::time::Duration;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExitStatus {
    pub code: Option<i32>,
    pub success: bool,
}

#[derive(Debug)]
pub enum IsolatorError {
    Unsupported,
    Berth(berth::Error),
}

impl From<berth::Error> for IsolatorError {
    fn from(error: berth::Error) -> Self {
        match error.code() {
            Code::Unimplemented | Code::FailedPrecondition => IsolatorError::Unsupported,
            _ => IsolatorError::Berth(error),
        }
    }
}

/// As in atomr-agents, blocking.
pub trait ProcessHandle: Send {
    fn take_stdout(&mut self) -> Option<mpsc::Receiver<Vec<u8>>>;
    fn take_stderr(&mut self) -> Option<mpsc::Receiver<Vec<u8>>>;
    fn take_stdin(&mut self) -> Option<mpsc::SyncSender<Vec<u8>>>;
    fn is_pty(&self) -> bool;
    fn resize_pty(&mut self, cols: u16, rows: u16) -> Result<(), IsolatorError>;
    fn kill(&mut self) -> Result<(), IsolatorError>;
    fn wait(&mut self) -> Result<ExitStatus, IsolatorError>;
}

pub struct Handle {
    pub process: Process,
    pub grace: Duration,
}

/// A bounded channel, so that a reader that lags is waited for.
fn chunks(mut from: berth::Reader) -> mpsc::Receiver<Vec<u8>> {
    let (sender, receiver) = mpsc::sync_channel(64);
    std::thread::spawn(move || {
        let mut buffer = vec![0; 65536];
        while let Ok(n) = from.read(&mut buffer) {
            if n == 0 || sender.send(buffer[..n].to_vec()).is_err() {
                break;
            }
        }
    });
    receiver
}

impl ProcessHandle for Handle {
    fn take_stdout(&mut self) -> Option<mpsc::Receiver<Vec<u8>>> {
        self.process.take_stdout().ok().map(chunks)
    }

    fn take_stderr(&mut self) -> Option<mpsc::Receiver<Vec<u8>>> {
        self.process.take_stderr().ok().map(chunks)
    }

    fn take_stdin(&mut self) -> Option<mpsc::SyncSender<Vec<u8>>> {
        let mut to = self.process.take_stdin().ok()?;
        let (sender, receiver) = mpsc::sync_channel::<Vec<u8>>(64);
        std::thread::spawn(move || {
            for bytes in receiver {
                if to.write_all(&bytes).is_err() {
                    break;
                }
            }
        });
        Some(sender)
    }

    fn is_pty(&self) -> bool {
        self.process.is_pty()
    }

    fn resize_pty(&mut self, cols: u16, rows: u16) -> Result<(), IsolatorError> {
        if !self.is_pty() {
            return Err(IsolatorError::Unsupported);
        }
        Ok(self.process.resize(rows, cols)?)
    }

    fn kill(&mut self) -> Result<(), IsolatorError> {
        self.process.stop(self.grace)?;
        Ok(())
    }

    fn wait(&mut self) -> Result<ExitStatus, IsolatorError> {
        let exit = self.process.wait(None)?;
        Ok(ExitStatus { code: exit.code(), success: exit.success() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    fn handle(process: Process) -> Box<dyn ProcessHandle> {
        Box::new(Handle { process, grace: Duration::from_millis(200) })
    }

    fn all(from: mpsc::Receiver<Vec<u8>>) -> String {
        String::from_utf8(from.into_iter().flatten().collect()).unwrap()
    }

    #[test]
    fn every_operation_of_a_process_handle() {
        let base = std::env::var("TEST_TMPDIR").unwrap_or_else(|_| "/tmp".into());
        let dir = PathBuf::from(base).join(format!("at{}", std::process::id()));
        std::fs::create_dir_all(&dir).unwrap();
        let runtime = berth::Runtime::with_state_dir(dir.join("state")).unwrap();

        let piped = runtime.shell("cat; echo bad >&2; exit 3").stdin(berth::Stdio::Pipe).spawn().unwrap();
        let mut piped = handle(piped);
        let input = piped.take_stdin().unwrap();
        let (output, errors) = (piped.take_stdout().unwrap(), piped.take_stderr().unwrap());
        assert!(piped.take_stdout().is_none() && piped.take_stdin().is_none() && !piped.is_pty());
        assert!(matches!(piped.resize_pty(80, 24), Err(IsolatorError::Unsupported)));
        input.send(b"through".to_vec()).unwrap();
        drop(input);
        assert_eq!((all(output).as_str(), all(errors).as_str()), ("through", "bad\n"));
        for _ in 0..2 {
            assert_eq!(piped.wait().unwrap(), ExitStatus { code: Some(3), success: false });
        }

        let drawn = runtime.shell("read x; stty size; trap '' TERM; echo trapped; exec sleep 1000").terminal(24, 80);
        let mut drawn = handle(drawn.spawn().unwrap());
        assert!(drawn.is_pty() && drawn.take_stderr().is_none());
        drawn.resize_pty(100, 50).unwrap();
        drawn.take_stdin().unwrap().send(b"go\n".to_vec()).unwrap();
        let (output, mut said) = (drawn.take_stdout().unwrap(), String::new());
        while !said.contains("trapped") {
            said.push_str(&String::from_utf8_lossy(&output.recv().unwrap()));
        }
        assert!(said.contains("50 100"), "{said}");
        drawn.kill().unwrap(); // KILL, after the grace
        assert_eq!(drawn.wait().unwrap(), ExitStatus { code: None, success: false });
        drop((piped, drawn, runtime));
        std::fs::remove_dir_all(&dir).unwrap();
    }
}
