//! What an upload brings, as a range: an index array's least and greatest element, from which a launch can prove that
//! what it indexes is in range.

use std::any::TypeId;

use crate::backend::Contents;
use crate::context::core::Core;
use crate::element::Element;
use crate::memory::Region;

/// Notes the range of integers that were uploaded to the whole of an allocation. A device whose launches have no use for
/// it has it for the verdicts.
///
/// `region` is borrowed mutably by the caller, from before the upload was queued until after this.
pub(crate) fn note<T: Element>(core: &Core, region: &Region<'_>, host: &[T]) {
    let dense = region.rows == 1 || region.pitch == region.row_bytes;
    if dense && let (Some(entry), Some(contents)) = (region.block.entry, range(host)) {
        core.ledger().set_contents(entry, region.block.address, region.bytes(), contents);
    }
}

/// The range of integers of 32 and 64 bits; `None` for other elements, and for none at all. Narrower ones are not read:
/// their type bounds what they index.
fn range<T: Element>(host: &[T]) -> Option<Contents> {
    macro_rules! integers {
        ($($integer:ty),+) => {$(
            if TypeId::of::<T>() == TypeId::of::<$integer>() {
                let host: &[$integer] = bytemuck::cast_slice(host);
                // a loop that compilers make vectors of, which `Iterator::min` is not
                let widest = (<$integer>::MAX, <$integer>::MIN);
                let (min, max) = host.iter().fold(widest, |(min, max), x| (min.min(*x), max.max(*x)));
                return (!host.is_empty()).then_some(Contents {
                    bytes: size_of::<$integer>() as u32,
                    signed: <$integer>::MIN != 0,
                    min: i128::from(min),
                    max: i128::from(max),
                });
            }
        )+};
    }
    integers!(u32, i32, u64, i64);
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_have_a_range_and_others_have_none() {
        let known = |bytes, signed, min, max| Some(Contents { bytes, signed, min, max });
        assert_eq!(range(&[3_i32, -7, 12]), known(4, true, -7, 12));
        assert_eq!(range(&[u64::MAX, 1]), known(8, false, 1, i128::from(u64::MAX)));
        assert_eq!(range::<u32>(&[]), None);
        assert_eq!(range(&[1_u8]), None);
        assert_eq!(range(&[1.0_f32]), None);
        assert_eq!(range(&[[1_i32, 2]]), None);
    }
}
