//! The exported calls, one file for each chapter of the driver's manual. Names, parameters and codes are the manual's.

#![expect(non_snake_case, reason = "the exported names are the driver's")]

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::codes::{Answer, Code};

/// Makes exported functions of bodies that return an [`Answer`].
macro_rules! driver {
    ($($(#[$doc:meta])* fn $name:ident($($argument:ident: $ty:ty),* $(,)?) $body:block)+) => {$(
        $(#[$doc])*
        // SAFETY: the name is the driver's and stands once in this library, which takes the driver's place.
        #[unsafe(no_mangle)]
        pub extern "C" fn $name($($argument: $ty),*) -> $crate::codes::Code {
            $crate::calls::answer(|| $body)
        }
    )+};
}

mod context;
mod device;
mod event;
mod execution;
mod memory;
mod module;
mod stream;
mod transfer;
mod unsupported;

/// The code of what a body returned. A panic is a mistake of this library and stays in it.
fn answer(body: impl FnOnce() -> Answer) -> Code {
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(())) => Code::SUCCESS,
        Ok(Err(code)) => code,
        Err(_) => Code::UNKNOWN,
    }
}
