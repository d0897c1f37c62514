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
    /// How many values an index may take.
    Indices(IndexLimit),
}

/// Where accesses of one size to one buffer must begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Limit {
    /// Index of the parameter that is the buffer's address.
    pub parameter: usize,
    /// Bytes of the access, or of several that are looked at together, from the first byte to the last.
    pub bytes: u32,
    /// Does it write?
    pub write: bool,
    /// What the buffer's address must be a multiple of, or it is refused whole: the kernel does not look at the
    /// alignment of what is known to lie at a multiple of it from the beginning. 1 if it looks.
    pub align: u32,
}

/// Which values of a 32-bit index `i` bring accesses at `scale` × `i` + `offset` into their buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct IndexLimit {
    /// The buffer, and the bytes from `scale` × `i` + `offset` that must lie in it.
    pub limit: Limit,
    /// Bytes for each step of the index, at least 1.
    pub scale: u32,
    /// Bytes from the buffer's beginning for the index 0.
    pub offset: i64,
    /// Is the index signed?
    pub signed: bool,
}

impl Limit {
    /// The value of the parameter for a buffer of `len` bytes at `address`: an access may begin at less than this. Of
    /// a buffer of more than 2⁶² bytes, which no device has, only so many count.
    #[must_use]
    pub fn value(&self, address: u64, len: u64, writable: bool) -> u64 {
        let (bytes, len) = (u64::from(self.bytes), len.min(1 << 62));
        let misaligned = !address.is_multiple_of(u64::from(self.align.max(1)));
        if misaligned || (self.write && !writable) || len < bytes { 0 } else { len - bytes + 1 }
    }
}

impl IndexLimit {
    /// The least index that reaches the buffer's beginning; `None` if no index of 32 bits does.
    #[must_use]
    pub fn first(&self) -> Option<i64> {
        let scale = i128::from(self.scale.max(1));
        let first = (-i128::from(self.offset)).div_euclid(scale);
        let first = first + i128::from(first * scale < -i128::from(self.offset));
        let (least, most) = match self.signed {
            // one more than the least, so that the number of values fits 32 bits
            true => (i128::from(i32::MIN) + 1, i128::from(i32::MAX)),
            false => (0, i128::from(u32::MAX)),
        };
        i64::try_from(first.max(least)).ok().filter(|&first| i128::from(first) <= most)
    }

    /// The value of the parameter: the index less [`first`](Self::first), as 32 bits, must be less than this. For a
    /// signed index that begins above the least integer it refuses exactly what reaches outside; of an unsigned one
    /// it may refuse the greatest.
    #[must_use]
    pub fn value(&self, address: u64, len: u64, writable: bool) -> u64 {
        let begins = self.limit.value(address, len, writable);
        let Some(first) = self.first().filter(|_| begins > 0) else { return 0 };
        let room = i128::from(begins - 1) - i128::from(self.offset);
        let most = if self.signed { i128::from(i32::MAX) } else { i128::from(u32::MAX) };
        let last = room.div_euclid(i128::from(self.scale.max(1))).min(most);
        u64::try_from((last - i128::from(first) + 1).clamp(0, i128::from(u32::MAX))).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_admits_exactly_what_fits() {
        let limit = Limit { parameter: 0, bytes: 4, write: true, align: 4 };
        assert_eq!(limit.value(1024, 16, true), 13);
        assert_eq!(limit.value(1024, 4, true), 1);
        assert_eq!(limit.value(1024, 3, true), 0);
        assert_eq!(limit.value(1024, 16, false), 0);
        assert_eq!(limit.value(1026, 16, true), 0);
        assert_eq!(Limit { align: 1, ..limit }.value(1026, 16, true), 13);
    }
    #[test]
    fn an_index_is_admitted_exactly_where_its_access_fits() {
        let indices = (-70..70).chain([i32::MIN, i32::MIN + 1, i32::MAX - 1, i32::MAX]);
        let indices: Vec<i32> = indices.collect();
        for (scale, bytes, signed) in
            [(1, 1, true), (4, 4, true), (4, 12, false), (3, 2, true), (16, 4, false)]
        {
            for offset in [-64, -33, -4, -1, 0, 1, 4, 7, 60, 1 << 33, -(1 << 34)] {
                for len in [0, 1, 3, 4, 11, 12, 13, 64, 100] {
                    let limit = Limit { parameter: 0, bytes, write: false, align: 1 };
                    let index = IndexLimit { limit, scale, offset, signed };
                    let count = index.value(1024, len, false);
                    for &i in &indices {
                        let wide = if signed { i64::from(i) } else { i64::from(i as u32) };
                        let at = i128::from(wide) * i128::from(scale) + i128::from(offset);
                        let fits = at >= 0 && at + i128::from(bytes) <= i128::from(len);
                        let first = index.first();
                        let admitted = first
                            .is_some_and(|first| u64::from((i as u32).wrapping_sub(first as u32)) < count);
                        // the two that a count of 32 bits cannot hold
                        let beyond = (signed && i == i32::MIN) || (!signed && i == -1);
                        let fits = fits && !beyond;
                        assert_eq!(admitted, fits, "{index:?} of {len}: {i}");
                    }
                }
            }
        }
    }

    #[test]
    fn huge_buffers_do_not_overflow_an_index() {
        let limit = Limit { parameter: 0, bytes: 1, write: false, align: 1 };
        let value = |offset, signed, len| IndexLimit { limit, scale: 1, offset, signed }.value(0, len, false);
        assert_eq!(value(0, true, u64::MAX), 1 << 31);
        assert_eq!(value(0, false, u64::MAX), u64::from(u32::MAX));
        assert_eq!(value(i64::MAX, true, u64::MAX), 0);
        assert_eq!(value(1 << 61, true, u64::MAX), u64::from(u32::MAX));
        assert_eq!(value(i64::MIN, true, u64::MAX), 0);
    }
}
