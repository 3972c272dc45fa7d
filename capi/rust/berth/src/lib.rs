//! Sessions and processes for programs that must not be trusted or lost.
//!
//! ```no_run
//! # fn main() -> berth::Result<()> {
//! use std::time::Duration;
//!
//! let runtime = berth::Runtime::new()?;
//! let session = runtime.session("fix-42").shell("claude").create()?;
//! session.send("run the tests")?;
//! println!("{}", session.capture(40)?);
//! let end = session.wait(Some(Duration::from_secs(600)))?;
//! println!("{end}");
//! session.destroy(Duration::from_secs(5))?;
//! # Ok(())
//! # }
//! ```
//!
//! **Ownership.** A [`Runtime`] owns what it spawned and its ephemeral sessions: they end with it. A [`Session`] is a
//! view, dropping it ends nothing; a durable one is opened again by its handle, from any process. A [`Process`] owns its
//! whole tree: dropping it kills the tree and returns once it is gone. Sessions and processes keep their runtime alive.
//!
//! **Threads.** [`Runtime`], [`Session`] and [`Process`] are `Send` and `Sync`; every call may be made from any thread, any
//! number at once. berth starts no thread, handles no signal and does not fork this program.
//!
//! **Blocking.** Calls that wait take a timeout; `None` waits without limit. For an event loop there are descriptors:
//! [`Runtime::event_fd`], [`Session::exit_fd`], [`Process::exit_fd`], and the streams themselves.
#![warn(missing_docs)]

mod builder;
mod convert;
mod env;
mod error;
mod event;
mod exit;
mod info;
mod process;
mod runtime;
mod session;
mod stream;

pub use builder::{Command, SessionBuilder, Stdio};
pub use env::Env;
pub use error::{Code, Error, Result};
pub use event::{Event, EventKind};
pub use exit::{EndReason, Exit, Stats};
pub use info::{SessionInfo, SessionState};
pub use process::Process;
pub use runtime::Runtime;
pub use session::{Delivery, Liveness, SendOptions, Session};
pub use stream::{Reader, Writer};
