//! The C interface of berth, as `berth.h` declares it. The header says what each function does; the crate `berth` is the
//! safe way to use it. Made by gen_sys.py: a test compares these files with the header.
#![no_std]
#![allow(non_camel_case_types)]

macro_rules! opaque {
    ($($name:ident)*) => {$(
        #[repr(C)]
        pub struct $name {
            _private: [u8; 0],
        }
    )*};
}

mod agent;
mod base;
mod environment;
mod image;
mod machine;
mod policy;
mod port;
mod process;
mod runtime;
mod session;
mod spec;
mod sweep;
mod values;

pub use agent::*;
pub use base::*;
pub use environment::*;
pub use image::*;
pub use machine::*;
pub use policy::*;
pub use port::*;
pub use process::*;
pub use runtime::*;
pub use session::*;
pub use spec::*;
pub use sweep::*;
pub use values::*;
