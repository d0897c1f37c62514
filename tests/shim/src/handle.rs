//! Handles: what a caller holds instead of an object. A handle is never an address, so that one whose object is gone
//! is recognised.
//!
//! | bits  | field                                                                       |
//! |-------|-----------------------------------------------------------------------------|
//! | 32–62 | serial number of the context, from 1; 0 in the handle of a primary context  |
//! | 4–31  | number of the object in its context, from 1; of a primary context's device  |
//! | 0–3   | 0                                                                           |
//!
//! A context's own handle has object number 0, except that a primary context keeps one handle through every reset, as
//! the driver's does.

/// A handle as it crosses the C boundary: a pointer's width, and never followed.
#[repr(transparent)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Handle(pub usize);

impl Handle {
    pub const NULL: Self = Self(0);
    /// `CU_STREAM_LEGACY`: the NULL stream by name.
    pub const LEGACY_STREAM: Self = Self(1);
    /// `CU_STREAM_PER_THREAD`.
    pub const PER_THREAD_STREAM: Self = Self(2);

    /// The handle of object `number` of the context with this serial number.
    pub fn new(serial: u32, number: u32) -> Self {
        Self((serial as usize) << 32 | (number as usize) << 4)
    }

    /// The handle of the primary context of a device.
    pub fn primary(device: usize) -> Self {
        Self((device + 1) << 4)
    }

    /// The device whose primary context this is, if it is one.
    pub fn primary_device(self) -> Option<usize> {
        if self.serial() == 0 { ((self.0 >> 4) & 0xfff_ffff).checked_sub(1) } else { None }
    }

    pub fn serial(self) -> u32 {
        (self.0 >> 32) as u32
    }

    pub fn number(self) -> u32 {
        (self.0 as u32) >> 4
    }
}
