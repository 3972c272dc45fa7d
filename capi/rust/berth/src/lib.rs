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
//! [`Runtime::event_fd`], [`Session::exit_fd`], [`Process::exit_fd`], the streams themselves, and what is
//! [`AsFd`](std::os::fd::AsFd): [`AgentRun`], [`AgentSubscription`], [`AgentLog`], [`ViolationFeed`], [`SweepWatch`].
#![warn(missing_docs)]

mod agent;
mod agent_builder;
mod agent_event;
mod agent_log;
mod agent_result;
mod agent_subscription;
mod changes;
mod command;
mod convert;
mod env;
mod environment;
mod error;
mod event;
mod exit;
mod image;
mod info;
mod library;
mod machine;
mod policy;
mod policy_builder;
mod policy_read;
mod port;
mod process;
mod runtime;
mod session;
mod session_builder;
mod stream;
mod sweep;
mod sweep_report;
mod sweep_watch;
mod violations;

pub use agent::AgentRun;
pub use agent_builder::{AgentBuilder, Prices};
pub use agent_event::{AgentEvent, AgentEventKind, Usage};
pub use agent_log::AgentLog;
pub use agent_result::{AgentEnd, AgentResult, AgentStatus};
pub use agent_subscription::AgentSubscription;
pub use changes::{Change, ChangeKind, FileType};
pub use command::{Command, Stdio};
pub use env::Env;
pub use environment::Environment;
pub use error::{Code, Error, Result};
pub use event::{Event, EventKind};
pub use exit::{EndReason, Exit, StartTiming, Stats};
pub use image::{pull_image, Image, PullProgress};
pub use info::{SessionInfo, SessionState};
pub use library::{abi_version, features, Features, ABI_VERSION};
pub use machine::{doctor, Ability, AbilityState, Identity, ProcessState, Tracked};
pub use policy::{Policy, Tier};
pub use policy_builder::{Access, Limit, PolicyBuilder};
pub use policy_read::{Network, PolicyPath};
pub use port::{find_free_port, is_bound, is_free, wait_unbound, PortLease};
pub use process::Process;
pub use runtime::Runtime;
pub use session::{Delivery, Liveness, OutputOptions, SendOptions, Session};
pub use session_builder::{Pull, SessionBuilder};
pub use stream::{Reader, Writer};
pub use sweep::Sweep;
pub use sweep_report::{SweepItem, SweepReport, SweepResult, Verdict};
pub use sweep_watch::SweepWatch;
pub use violations::{Layer, Violation, ViolationFeed};
