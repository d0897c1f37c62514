//! Streams as scopes: several queues at once, joined before their scope returns.

mod event;
mod queued;
mod scope;

pub use event::Event;
pub use queued::Pending;
pub use scope::{Stream, Streams};
