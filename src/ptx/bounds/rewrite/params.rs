//! The parameters that a rewritten kernel takes behind its own: what they are and how a launch computes them.

/// The parameters behind the kernel's own, 8 bytes each.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExtraParams {
    /// Where the first one begins in the parameter block, in bytes.
    pub offset: u32,
    /// What they are, in order, without gaps.
    pub values: Vec<ExtraValue>,
}

impl ExtraParams {
    /// Size of the whole parameter block in bytes.
    #[must_use]
    pub fn bytes(&self) -> u32 {
        self.offset + 8 * self.values.len() as u32
    }
}

/// One parameter behind the kernel's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ExtraValue {
    /// Address of the [record](super::record), in global memory.
    Record,
    /// How often each thread may jump back; at most `i64::MAX`.
    Steps,
    /// How many bytes from a buffer's beginning an access may begin.
    Limit(Limit),
}

/// Where accesses of one size to one buffer must begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Limit {
    /// Index of the parameter that is the buffer's address.
    pub parameter: usize,
    /// Bytes of the access.
    pub bytes: u32,
    /// Does it write?
    pub write: bool,
    /// Is its distance from the buffer's beginning known to be a multiple of its size? Then the kernel does not look
    /// at alignment, and a buffer that begins at an odd place must be refused whole.
    pub aligned: bool,
}

impl Limit {
    /// The value of the parameter for a buffer of `len` bytes at `address`: an access may begin at less than this.
    #[must_use]
    pub fn value(&self, address: u64, len: u64, writable: bool) -> u64 {
        let bytes = u64::from(self.bytes);
        let misaligned = self.aligned && bytes.is_power_of_two() && !address.is_multiple_of(bytes);
        if misaligned || (self.write && !writable) || len < bytes { 0 } else { len - bytes + 1 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_admits_exactly_what_fits() {
        let limit = Limit { parameter: 0, bytes: 4, write: true, aligned: true };
        assert_eq!(limit.value(1024, 16, true), 13);
        assert_eq!(limit.value(1024, 4, true), 1);
        assert_eq!(limit.value(1024, 3, true), 0);
        assert_eq!(limit.value(1024, 16, false), 0);
        assert_eq!(limit.value(1026, 16, true), 0);
        assert_eq!(Limit { aligned: false, ..limit }.value(1026, 16, true), 13);
    }
}
