use crate::convert::{handle, millis, pointer, text, view, Strings};
use crate::error::{check, Result};
use berth_sys as sys;
use std::ffi::c_void;
use std::time::Duration;

handle!(Handle, berth_image, berth_image_free);

/// An image of a container engine.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Image {
    /// "sha256:…".
    pub id: String,
    /// "amd64".
    pub architecture: String,
    /// KEY=value.
    pub env: Vec<String>,
}

/// How far a pull is.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PullProgress {
    /// "" for a line about the whole image.
    pub layer: String,
    /// In the engine's words.
    pub status: String,
    /// Bytes of this layer.
    pub done: i64,
    /// 0: not known.
    pub total: i64,
    /// Layers, as far as they are known.
    pub layers: i32,
    /// Of them, those that are there.
    pub layers_done: i32,
    /// Of all bytes known so far.
    pub percent: i32,
}

impl Image {
    /// [`crate::Code::NotFound`] if the engine (`unix:///…`, `tcp://…`; "" as the docker command finds it) lacks it.
    pub fn inspect(engine: &str, name: &str) -> Result<Image> {
        let mut raw = std::ptr::null_mut();
        check(|error| unsafe {
            sys::berth_image_inspect(
                &mut raw,
                pointer(engine.as_bytes()),
                engine.len(),
                pointer(name.as_bytes()),
                name.len(),
                error,
            )
        })?;
        Image::read(Handle(raw))
    }

    /// Loads an archive as `docker save` writes it.
    pub fn load(engine: &str, tar: &[u8]) -> Result<()> {
        let engine = engine.as_bytes();
        check(|error| unsafe {
            sys::berth_image_load(pointer(engine), engine.len(), pointer(tar), tar.len(), error)
        })
    }

    /// Makes one of a root file system in a tar, as `repository:tag`. `changes` are lines as of a Dockerfile ("ENV A=b").
    pub fn import<S: AsRef<[u8]>>(
        engine: &str,
        tar: &[u8],
        name: &str,
        changes: impl IntoIterator<Item = S>,
    ) -> Result<Image> {
        let changes = Strings::new(changes)?;
        let mut raw = std::ptr::null_mut();
        check(|error| unsafe {
            sys::berth_image_import(
                &mut raw,
                pointer(engine.as_bytes()),
                engine.len(),
                pointer(tar),
                tar.len(),
                pointer(name.as_bytes()),
                name.len(),
                changes.0,
                error,
            )
        })?;
        Image::read(Handle(raw))
    }

    fn read(raw: Handle) -> Result<Image> {
        let words = |field| unsafe { text(|size| sys::berth_image_text(raw.0, field, size)) };
        let mut env = std::ptr::null_mut();
        check(|error| unsafe { sys::berth_image_env(&mut env, raw.0, error) })?;
        Ok(Image {
            id: words(sys::BERTH_IMAGE_ID).unwrap_or_default(),
            architecture: words(sys::BERTH_IMAGE_ARCHITECTURE).unwrap_or_default(),
            env: Strings(env).to_vec(),
        })
    }
}

/// What the callback is given: the closure, and a panic that must wait until the call has returned.
struct Telling<'a> {
    tell: &'a mut dyn FnMut(PullProgress) -> bool,
    panic: Option<Box<dyn std::any::Any + Send>>,
}

unsafe extern "C" fn on_pull(context: *mut c_void, progress: *const sys::berth_pull_progress) -> i32 {
    // SAFETY: `context` is the Telling below, `progress` lives for the call.
    let telling = unsafe { &mut *context.cast::<Telling<'_>>() };
    let it = unsafe { &*progress };
    let told = PullProgress {
        layer: unsafe { view(it.layer, it.layer_size) },
        status: unsafe { view(it.status, it.status_size) },
        done: it.done,
        total: it.total,
        layers: it.layers,
        layers_done: it.layers_done,
        percent: it.percent,
    };
    // No panic may cross the line.
    match std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| (telling.tell)(told))) {
        Ok(go_on) => i32::from(!go_on),
        Err(panic) => {
            telling.panic = Some(panic);
            1
        }
    }
}

/// Pulls an image. `tell` is told how far it is and returns false to give up ([`crate::Code::Cancelled`]).
pub fn pull_image(
    engine: &str,
    name: &str,
    timeout: Option<Duration>,
    mut tell: impl FnMut(PullProgress) -> bool,
) -> Result<Image> {
    let mut telling = Telling { tell: &mut tell, panic: None };
    let mut raw = std::ptr::null_mut();
    let pulled = check(|error| unsafe {
        sys::berth_image_pull(
            &mut raw,
            pointer(engine.as_bytes()),
            engine.len(),
            pointer(name.as_bytes()),
            name.len(),
            Some(on_pull),
            std::ptr::from_mut(&mut telling).cast(),
            millis(timeout),
            error,
        )
    });
    if let Some(panic) = telling.panic {
        std::panic::resume_unwind(panic);
    }
    pulled?;
    Image::read(Handle(raw))
}
