use crate::convert::{view, words};
use crate::error::check;
use berth_sys as sys;

/// What was done to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[allow(missing_docs)]
pub enum ChangeKind {
    Added = 1,
    Changed = 2,
    Deleted = 3,
}
words!(ChangeKind, berth_change_kind_name, |kind| kind as i32);

/// What a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[allow(missing_docs)]
pub enum FileType {
    File = 1,
    Folder = 2,
    Symlink = 3,
    /// Listed, and never made in the real folder.
    Other = 4,
}
words!(FileType, berth_change_type_name, |file_type| file_type as i32);

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
