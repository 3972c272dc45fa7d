use crate::convert::{handle, millis, pointer};
use crate::error::{check, Result};
use berth_sys as sys;
use std::net::TcpListener;
use std::os::fd::FromRawFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::Duration;

/// Whether any server could bind this loopback port now.
pub fn is_free(port: u16) -> bool {
    unsafe { sys::berth_port_is_free(port) == 1 }
}

/// Whether a process has a TCP socket bound to it on any address.
pub fn is_bound(port: u16) -> bool {
    unsafe { sys::berth_port_is_bound(port) == 1 }
}

/// A port that was free a moment ago. Nothing keeps it so: see [`PortLease`].
pub fn find_free_port() -> Result<u16> {
    let mut port = 0;
    check(|error| unsafe { sys::berth_port_find_free(&mut port, error) })?;
    Ok(port)
}

/// Returns as soon as no process has it bound.
pub fn wait_unbound(port: u16, timeout: Option<Duration>) -> Result<()> {
    check(|error| unsafe { sys::berth_port_wait_unbound(port, millis(timeout), error) })
}

handle!(Handle, berth_port_lease, berth_port_lease_free);
// SAFETY: berth.h, convention 9.
unsafe impl Sync for Handle {}

/// A loopback port that no other berth process of this user is given, and that no stranger can bind until it is handed
/// over. Dropping it ends the lease, and so does the end of this process.
///
/// ```no_run
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let lease = berth::PortLease::acquire("", None)?;
/// let listener = lease.take_listener()?;
/// let (connection, _) = listener.accept()?;
/// # drop(connection);
/// # Ok(())
/// # }
/// ```
pub struct PortLease(Handle);

impl PortLease {
    /// Kept in that state directory; "" is the default one. `preferred`: that port and no other.
    pub fn acquire(state_dir: impl AsRef<Path>, preferred: Option<u16>) -> Result<PortLease> {
        let dir = state_dir.as_ref().as_os_str().as_bytes();
        let mut raw = std::ptr::null_mut();
        check(|error| unsafe {
            sys::berth_port_lease_new(&mut raw, pointer(dir), dir.len(), preferred.unwrap_or(0), error)
        })?;
        Ok(PortLease(Handle(raw)))
    }

    /// The port.
    pub fn port(&self) -> u16 {
        unsafe { sys::berth_port_lease_port(self.0 .0) }
    }

    /// The socket, listening; once, then [`crate::Code::FailedPrecondition`]. The lease goes on.
    pub fn take_listener(&self) -> std::io::Result<TcpListener> {
        let mut fd = -1;
        check(|error| unsafe { sys::berth_port_lease_take_fd(&mut fd, self.0 .0, error) })?;
        // SAFETY: the descriptor came out of the library and is nobody else's.
        let listener = unsafe { TcpListener::from_raw_fd(fd) };
        extern "C" {
            fn listen(fd: i32, backlog: i32) -> i32;
        }
        // SAFETY: a bound socket of ours.
        if unsafe { listen(fd, 128) } != 0 {
            return Err(std::io::Error::last_os_error());
        }
        Ok(listener)
    }

    /// Closes the sockets for a program that binds by itself. The lease goes on.
    pub fn release_socket(&self) -> Result<()> {
        check(|error| unsafe { sys::berth_port_lease_release_socket(self.0 .0, error) })
    }

    /// Ends the lease. A second call does nothing.
    pub fn release(&self) -> Result<()> {
        check(|error| unsafe { sys::berth_port_lease_release(self.0 .0, error) })
    }
}
