use crate::convert::{handle, view};
use crate::error::{check, Code, Result};
use crate::policy::Violation;
use berth_sys as sys;
use std::os::fd::{AsFd, BorrowedFd, FromRawFd, OwnedFd};

/// What was done to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[allow(missing_docs)]
pub enum ChangeKind {
    Added,
    Changed,
    Deleted,
}

/// What a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[allow(missing_docs)]
pub enum FileType {
    File,
    Folder,
    Symlink,
    /// Listed, and never made in the real folder.
    Other,
}

/// What a session did to a folder that its policy shows copy-on-write.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Change {
    /// What was done.
    pub kind: ChangeKind,
    /// Of what is there now, or was.
    pub file_type: FileType,
    /// The copy-on-write folder, on the host.
    pub folder: String,
    /// Below it.
    pub path: String,
    /// Of a file that is added or changed.
    pub bytes: u64,
}

impl Change {
    pub(crate) fn take_all(raw: *mut sys::berth_changes) -> Vec<Change> {
        let mut all = Vec::new();
        for index in 0..unsafe { sys::berth_changes_count(raw) } {
            // SAFETY: filled in by the call; its texts live as long as the list.
            unsafe {
                let mut it: sys::berth_change = std::mem::zeroed();
                if check(|error| sys::berth_changes_at(&mut it, raw, index, error)).is_err() {
                    break;
                }
                all.push(Change {
                    kind: match it.kind {
                        sys::BERTH_CHANGE_ADDED => ChangeKind::Added,
                        sys::BERTH_CHANGE_DELETED => ChangeKind::Deleted,
                        _ => ChangeKind::Changed,
                    },
                    file_type: match it.file_type {
                        sys::BERTH_CHANGE_FILE => FileType::File,
                        sys::BERTH_CHANGE_FOLDER => FileType::Folder,
                        sys::BERTH_CHANGE_SYMLINK => FileType::Symlink,
                        _ => FileType::Other,
                    },
                    folder: view(it.folder, it.folder_size),
                    path: view(it.path, it.path_size),
                    bytes: u64::try_from(it.bytes).unwrap_or(0),
                });
            }
        }
        unsafe { sys::berth_changes_free(raw) };
        all
    }
}

handle!(Handle, berth_violation_feed, berth_violation_feed_free);
// SAFETY: berth.h, convention 9.
unsafe impl Sync for Handle {}

/// What a policy stops, as it happens. Its descriptor is readable while [`ViolationFeed::next`] has something.
pub struct ViolationFeed {
    handle: Handle,
    ready: OwnedFd,
}

impl ViolationFeed {
    pub(crate) fn new(raw: *mut sys::berth_violation_feed) -> Result<ViolationFeed> {
        let handle = Handle(raw);
        let mut fd = -1;
        check(|error| unsafe { sys::berth_violation_feed_fd(&mut fd, raw, error) })?;
        // SAFETY: the descriptor came out of the library and is nobody else's.
        Ok(ViolationFeed { handle, ready: unsafe { OwnedFd::from_raw_fd(fd) } })
    }

    /// Those that have come since the last call, without waiting; `None` once there will be no others.
    #[allow(clippy::should_implement_trait)]
    pub fn next(&self) -> Result<Option<Vec<Violation>>> {
        let mut raw = std::ptr::null_mut();
        match check(|error| unsafe { sys::berth_violation_feed_next(&mut raw, self.handle.0, error) }) {
            Ok(()) => Ok(Some(Violation::take_all(raw))),
            Err(end) if end.code() == Code::OutOfRange => Ok(None),
            Err(error) => Err(error),
        }
    }
}

impl AsFd for ViolationFeed {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.ready.as_fd()
    }
}
