//! What a device must be able to do, and the devices that do it.

pub(crate) mod host;
