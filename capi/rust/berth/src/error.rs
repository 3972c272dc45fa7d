use berth_sys as sys;
use std::fmt;

/// What kind of failure it was. The numbers are those of gRPC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[repr(i32)]
#[allow(missing_docs)]
pub enum Code {
    Cancelled = 1,
    Unknown = 2,
    InvalidArgument = 3,
    /// The timeout passed; nothing is wrong with what was waited for.
    DeadlineExceeded = 4,
    /// No such session (any more), no such program.
    NotFound = 5,
    AlreadyExists = 6,
    PermissionDenied = 7,
    ResourceExhausted = 8,
    /// It has ended, or was taken already.
    FailedPrecondition = 9,
    Aborted = 10,
    OutOfRange = 11,
    /// This engine cannot.
    Unimplemented = 12,
    Internal = 13,
    /// The engine does not answer: nothing is known, least of all "dead".
    Unavailable = 14,
    DataLoss = 15,
    Unauthenticated = 16,
}

impl Code {
    fn from_raw(raw: i32) -> Code {
        use Code::*;
        [
            Cancelled,
            Unknown,
            InvalidArgument,
            DeadlineExceeded,
            NotFound,
            AlreadyExists,
            PermissionDenied,
            ResourceExhausted,
            FailedPrecondition,
            Aborted,
            OutOfRange,
            Unimplemented,
            Internal,
            Unavailable,
            DataLoss,
            Unauthenticated,
        ]
        .into_iter()
        .find(|code| *code as i32 == raw)
        .unwrap_or(Unknown)
    }
}

crate::convert::words!(Code, berth_code_name, |code| code as i32);

/// A failed call: its code, and in words the step, the object and the system's reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    code: Code,
    message: String,
}

/// The result of every call that can fail.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// What kind of failure it was.
    pub fn code(&self) -> Code {
        self.code
    }

    /// The words.
    pub fn message(&self) -> &str {
        &self.message
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.message)
    }
}

impl std::error::Error for Error {}

impl From<Error> for std::io::Error {
    fn from(error: Error) -> Self {
        use std::io::ErrorKind;
        let kind = match error.code {
            Code::InvalidArgument | Code::OutOfRange => ErrorKind::InvalidInput,
            Code::DeadlineExceeded => ErrorKind::TimedOut,
            Code::NotFound => ErrorKind::NotFound,
            Code::AlreadyExists => ErrorKind::AlreadyExists,
            Code::PermissionDenied => ErrorKind::PermissionDenied,
            _ => ErrorKind::Other,
        };
        std::io::Error::new(kind, error)
    }
}

/// Makes one call and turns its code and error object into a `Result`.
pub(crate) fn check(call: impl FnOnce(*mut *mut sys::berth_error) -> i32) -> Result<()> {
    let mut error = std::ptr::null_mut();
    let code = call(&mut error);
    if code == sys::BERTH_OK {
        return Ok(());
    }
    // SAFETY: the object is ours until freed below; a null one gives the empty text.
    let message = unsafe { crate::convert::text(|size| sys::berth_error_message(error, size)) };
    unsafe { sys::berth_error_free(error) };
    Err(Error { code: Code::from_raw(code), message: message.unwrap_or_default() })
}
