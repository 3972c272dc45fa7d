//! ao-rs's `Runtime` on berth: create, send_message, is_alive and destroy over an opaque handle string. Its methods are
//! async; berth's calls are short and answer with a deadline, so the futures are ready when they are made. A host that
//! minds the milliseconds of a create runs it on its blocking pool.
use berth::{Code, Env, Liveness};
use std::future::Future;
use std::path::Path;
use std::pin::Pin;
use std::time::Duration;

type Answer<'a, T> = Pin<Box<dyn Future<Output = berth::Result<T>> + Send + 'a>>;

/// As in ao-rs, without the async_trait macro.
pub trait Runtime: Send + Sync {
    fn create<'a>(
        &'a self,
        session_id: &'a str,
        cwd: &'a Path,
        launch_command: &'a str,
        env: &'a [(String, String)],
    ) -> Answer<'a, String>;
    fn send_message<'a>(&'a self, handle: &'a str, msg: &'a str) -> Answer<'a, ()>;
    fn is_alive<'a>(&'a self, handle: &'a str) -> Answer<'a, bool>;
    fn destroy<'a>(&'a self, handle: &'a str) -> Answer<'a, ()>;
}

/// Sessions on the engine that berth chooses.
pub struct Berth(pub berth::Runtime);

impl Berth {
    fn create_now(&self, id: &str, cwd: &Path, command: &str, env: &[(String, String)]) -> berth::Result<String> {
        let env = env.iter().fold(Env::basic(), |env, (key, value)| env.set(key, value));
        Ok(self.0.session(id).shell(command).cwd(cwd).env(env).create()?.handle())
    }

    /// An engine that does not answer is an error, not a death.
    fn is_alive_now(&self, handle: &str) -> berth::Result<bool> {
        let session = match self.0.open_session(handle) {
            Err(gone) if gone.code() == Code::NotFound => return Ok(false),
            other => other?,
        };
        match session.liveness()?.0 {
            Liveness::Alive => Ok(true),
            Liveness::Dead => Ok(false),
            Liveness::Unknown => session.info().map(|_| true),
        }
    }
}

impl Runtime for Berth {
    fn create<'a>(
        &'a self,
        session_id: &'a str,
        cwd: &'a Path,
        launch_command: &'a str,
        env: &'a [(String, String)],
    ) -> Answer<'a, String> {
        Box::pin(async move { self.create_now(session_id, cwd, launch_command, env) })
    }

    fn send_message<'a>(&'a self, handle: &'a str, msg: &'a str) -> Answer<'a, ()> {
        Box::pin(async move { self.0.open_session(handle)?.send(msg).map(drop) })
    }

    fn is_alive<'a>(&'a self, handle: &'a str) -> Answer<'a, bool> {
        Box::pin(async move { self.is_alive_now(handle) })
    }

    fn destroy<'a>(&'a self, handle: &'a str) -> Answer<'a, ()> {
        Box::pin(async move {
            match self.0.open_session(handle) {
                Err(gone) if gone.code() == Code::NotFound => Ok(()),
                other => other?.destroy(Duration::from_secs(5)),
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;

    /// The value of a future that never waits.
    fn ready<T>(mut future: Answer<'_, T>) -> berth::Result<T> {
        let mut context = std::task::Context::from_waker(std::task::Waker::noop());
        match future.as_mut().poll(&mut context) {
            std::task::Poll::Ready(value) => value,
            std::task::Poll::Pending => panic!("it waits"),
        }
    }

    #[test]
    fn every_operation_of_the_runtime() {
        let base = std::env::var("TEST_TMPDIR").unwrap_or_else(|_| "/tmp".into());
        let dir = Path::new(&base).join(format!("ao{}", std::process::id()));
        std::fs::create_dir_all(&dir).unwrap();
        let ao: Box<dyn Runtime> = Box::new(Berth(berth::Runtime::with_state_dir(dir.join("state")).unwrap()));
        let env = [("WHO".to_string(), "it's $me".to_string())];
        let handle = ready(ao.create("agent-1", &dir, "echo \"$WHO\"; exec cat", &env)).unwrap();
        assert!(ready(ao.is_alive(&handle)).unwrap());
        ready(ao.send_message(&handle, "hello")).unwrap();
        let session = berth::Runtime::with_state_dir(dir.join("state")).unwrap().open_session(&handle).unwrap();
        let (mut output, mut said, mut buffer) = (session.stdout().unwrap(), String::new(), [0; 4096]);
        while said.matches("hello").count() < 2 {
            let n = output.read(&mut buffer).unwrap();
            assert!(n > 0);
            said.push_str(&String::from_utf8_lossy(&buffer[..n]));
        }
        assert!(said.contains("it's $me\r\n"), "{said}");
        ready(ao.destroy(&handle)).unwrap();
        assert!(!ready(ao.is_alive(&handle)).unwrap());
        ready(ao.destroy(&handle)).unwrap();
        assert_eq!(ready(ao.send_message(&handle, "x")).unwrap_err().code(), Code::NotFound);
        assert_eq!(ready(ao.create("../x", &dir, "true", &[])).unwrap_err().code(), Code::InvalidArgument);
        std::fs::remove_dir_all(&dir).unwrap();
    }
}
