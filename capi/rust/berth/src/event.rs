use crate::convert::text;
use crate::exit::Exit;
use crate::violations::Violation;
use berth_sys as sys;

/// What happened.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum EventKind {
    /// The main process ended.
    Exited(Exit),
    /// Its engine does not answer any more: whether it lives is not known. The reason in words.
    Lost(String),
    /// Its policy stopped something; the session goes on.
    Violation(Violation),
    /// Something that this version of the crate does not know.
    Other(i32),
}

/// Something that happened to a session.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Event {
    /// Of the session.
    pub handle: String,
    /// Of the session, when it was opened.
    pub name: String,
    /// What happened.
    pub kind: EventKind,
}

impl Event {
    pub(crate) fn take(raw: *mut sys::berth_event) -> Event {
        // SAFETY: the event is ours until freed below.
        unsafe {
            let mut exit = sys::berth_exit::default();
            let kind = match sys::berth_event_kind(raw) {
                sys::BERTH_EVENT_EXITED => {
                    sys::berth_event_exit(&mut exit, raw, std::ptr::null_mut());
                    EventKind::Exited(Exit(exit))
                }
                sys::BERTH_EVENT_LOST => {
                    EventKind::Lost(text(|size| sys::berth_event_detail(raw, size)).unwrap_or_default())
                }
                sys::BERTH_EVENT_VIOLATION => {
                    let mut violations = std::ptr::null_mut();
                    sys::berth_event_violations(&mut violations, raw, std::ptr::null_mut());
                    match Violation::take_all(violations).pop() {
                        Some(violation) => EventKind::Violation(violation),
                        None => EventKind::Other(sys::BERTH_EVENT_VIOLATION),
                    }
                }
                other => EventKind::Other(other),
            };
            let event = Event {
                handle: text(|size| sys::berth_event_handle(raw, size)).unwrap_or_default(),
                name: text(|size| sys::berth_event_name(raw, size)).unwrap_or_default(),
                kind,
            };
            sys::berth_event_free(raw);
            event
        }
    }
}
