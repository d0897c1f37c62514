//! Streams as scopes: several queues at once, joined before their scope returns.

// What runs when something is closed does not panic: `tests/structure/closing.rs`.
#![cfg_attr(
    not(test),
    deny(
        clippy::indexing_slicing,
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::panic,
        clippy::unreachable
    )
)]

mod event;
mod queued;
mod scope;

pub use event::Event;
pub use queued::Pending;
pub use scope::{Stream, Streams};
