use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, IntoRawFd, OwnedFd, RawFd};

macro_rules! stream {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug)]
        pub struct $name(File);

        impl $name {
            /// Takes a descriptor that a call gave.
            pub(crate) fn from_raw(fd: i32) -> $name {
                // SAFETY: the descriptor came out of the library and is nobody else's.
                $name(unsafe { File::from_raw_fd(fd) })
            }
        }

        impl AsFd for $name {
            fn as_fd(&self) -> BorrowedFd<'_> {
                self.0.as_fd()
            }
        }

        impl AsRawFd for $name {
            fn as_raw_fd(&self) -> RawFd {
                self.0.as_raw_fd()
            }
        }

        impl IntoRawFd for $name {
            fn into_raw_fd(self) -> RawFd {
                self.0.into_raw_fd()
            }
        }

        impl From<$name> for OwnedFd {
            fn from(stream: $name) -> OwnedFd {
                stream.0.into()
            }
        }
    };
}

stream! {
    /// Bytes that a program writes. Blocking; for an event loop turn it into an `OwnedFd`.
    Reader
}

stream! {
    /// Where a program's input goes. Dropping it is an end of file.
    Writer
}

impl Read for Reader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.0.read(buffer) {
            // The end of a terminal.
            Err(error) if error.raw_os_error() == Some(5) => Ok(0),
            other => other,
        }
    }
}

impl Write for Writer {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        self.0.write(buffer)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}
