//! What an upload brings, as a range: an index array's least and greatest element, from which a launch can prove that
//! what it indexes is in range.

use std::any::TypeId;

use multiversion::multiversion;
use rayon::prelude::*;

use crate::backend::Contents;
use crate::context::core::Core;
use crate::element::Element;
use crate::memory::Region;

/// Elements that one thread looks through at a time: enough to be worth waking another.
const PART: usize = 1 << 20;

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

/// The range of integers of 16 bits and more; `None` for other elements, and for none at all. Bytes are not read: their
/// type bounds what they index.
fn range<T: Element>(host: &[T]) -> Option<Contents> {
    macro_rules! integers {
        ($($integer:ty),+) => {$(
            if TypeId::of::<T>() == TypeId::of::<$integer>() {
                let host: &[$integer] = bytemuck::cast_slice(host);
                if host.is_empty() {
                    return None;
                }
                let (min, max) = extremes(host, (<$integer>::MAX, <$integer>::MIN));
                return Some(Contents {
                    bytes: size_of::<$integer>() as u32,
                    signed: <$integer>::MIN != 0,
                    min: i128::from(min),
                    max: i128::from(max),
                });
            }
        )+};
    }
    integers!(u16, i16, u32, i32, u64, i64);
    None
}

/// The least and the greatest element; `none` without any. In parallel, so that it takes no longer than the copy.
fn extremes<T: Ord + Copy + Send + Sync>(host: &[T], none: (T, T)) -> (T, T) {
    if host.len() <= PART {
        return extremes_of_part(host, none);
    }
    let parts = host.par_chunks(PART).map(|part| extremes_of_part(part, none));
    parts.reduce(|| none, |a, b| (a.0.min(b.0), a.1.max(b.1)))
}

/// The same by one thread, with the widest registers that the processor has: several times as fast as with those that
/// every processor of its kind has.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512vl", "x86_64+avx2", "aarch64+neon"))]
fn extremes_of_part<T: Ord + Copy>(part: &[T], none: (T, T)) -> (T, T) {
    let (mut least, mut greatest) = none;
    for &element in part {
        (least, greatest) = (least.min(element), greatest.max(element));
    }
    (least, greatest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_have_a_range_and_others_have_none() {
        let known = |bytes, signed, min, max| Some(Contents { bytes, signed, min, max });
        assert_eq!(range(&[3_i32, -7, 12]), known(4, true, -7, 12));
        assert_eq!(range(&[u64::MAX, 1]), known(8, false, 1, i128::from(u64::MAX)));
        assert_eq!(range(&[7_u8, 9]), None);
        assert_eq!(range(&[7_u16, 9]), known(2, false, 7, 9));
        let long: Vec<i32> = (0..3 * PART as i32 + 5).map(|i| i - 1000).collect();
        assert_eq!(range(&long), known(4, true, -1000, 3 * PART as i128 - 996));
        assert_eq!(range::<u32>(&[]), None);
        assert_eq!(range(&[1.0_f32]), None);
        assert_eq!(range(&[[1_i32, 2]]), None);
    }
}
