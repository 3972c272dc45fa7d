//! Texts and times across the line.
use berth_sys as sys;
use std::ffi::{c_char, CStr};
use std::time::Duration;

/// The bytes that a getter gives, or `None` for its null pointer.
///
/// # Safety
/// `get` returns null, or a pointer to as many bytes as it stores.
pub(crate) unsafe fn bytes(get: impl FnOnce(*mut usize) -> *const c_char) -> Option<Vec<u8>> {
    let mut size = 0;
    let data = get(&mut size);
    if data.is_null() {
        return None;
    }
    Some(std::slice::from_raw_parts(data.cast::<u8>(), size).to_vec())
}

/// The same as text; bytes that are no UTF-8 are replaced.
///
/// # Safety
/// As for [`bytes`].
pub(crate) unsafe fn text(get: impl FnOnce(*mut usize) -> *const c_char) -> Option<String> {
    bytes(get).map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
}

pub(crate) fn pointer(bytes: &[u8]) -> *const c_char {
    bytes.as_ptr().cast()
}

/// Milliseconds; `None` is without limit. Rounded up, so that a short wait is not none.
pub(crate) fn millis(timeout: Option<Duration>) -> i64 {
    match timeout {
        None => -1,
        Some(time) => i64::try_from(time.as_nanos().div_ceil(1_000_000)).unwrap_or(i64::MAX),
    }
}

/// Nanoseconds since 1970; `None` for what is not known.
pub(crate) fn time(ns: i64) -> Option<std::time::SystemTime> {
    u64::try_from(ns).ok().map(|ns| std::time::UNIX_EPOCH + Duration::from_nanos(ns))
}

/// A text of a structure that a call filled in.
///
/// # Safety
/// `data` is null, or has `size` bytes.
pub(crate) unsafe fn view(data: *const c_char, size: usize) -> String {
    text(|out| {
        *out = size;
        data
    })
    .unwrap_or_default()
}

/// A handle that is freed when it is dropped. By berth.h, convention 9, it may be used from any thread.
macro_rules! handle {
    ($name:ident, $raw:ident, $free:ident) => {
        pub(crate) struct $name(pub(crate) *mut berth_sys::$raw);

        // SAFETY: berth.h, convention 9. What is for one thread at a time is not shared by its owner.
        unsafe impl Send for $name {}

        impl Drop for $name {
            fn drop(&mut self) {
                unsafe { berth_sys::$free(self.0) }
            }
        }
    };
}
pub(crate) use handle;

/// A name that C has for a value.
///
/// # Safety
/// `data` is null, or a text that lives as long as the library.
pub(crate) unsafe fn name(data: *const c_char) -> &'static str {
    if data.is_null() {
        return "unknown";
    }
    CStr::from_ptr(data).to_str().unwrap_or("unknown")
}

/// Has a value's `Display` be the name that C has for its number.
macro_rules! words {
    ($type:ty, $name:ident, |$value:ident| $number:expr) => {
        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                let $value = *self;
                // SAFETY: names live as long as the library.
                f.pad(unsafe { crate::convert::name(berth_sys::$name($number)) })
            }
        }
    };
}
pub(crate) use words;

/// A list of texts for the time of a call.
pub(crate) struct Strings(pub *mut sys::berth_strings);

impl Strings {
    pub(crate) fn new<S: AsRef<[u8]>>(items: impl IntoIterator<Item = S>) -> crate::Result<Strings> {
        let mut raw = std::ptr::null_mut();
        crate::error::check(|error| unsafe { sys::berth_strings_new(&mut raw, error) })?;
        let list = Strings(raw);
        for item in items {
            let item = item.as_ref();
            unsafe { sys::berth_strings_add(list.0, pointer(item), item.len()) };
        }
        Ok(list)
    }

    pub(crate) fn to_vec(&self) -> Vec<String> {
        let count = unsafe { sys::berth_strings_count(self.0) };
        (0..count)
            .filter_map(|i| unsafe { text(|size| sys::berth_strings_at(self.0, i, size)) })
            .collect()
    }
}

impl Drop for Strings {
    fn drop(&mut self) {
        unsafe { sys::berth_strings_free(self.0) }
    }
}

/// Takes a string object that a call gave.
pub(crate) fn take_string(raw: *mut sys::berth_string) -> Vec<u8> {
    let data = unsafe { bytes(|size| sys::berth_string_data(raw, size)) };
    unsafe { sys::berth_string_free(raw) };
    data.unwrap_or_default()
}
