//! Loads, stores and additions of whole rows of shared memory, in the manner of `transfer`.

use super::registers::{FULL, LANES, Row32, lanes};
use super::rows::{put32, some_lanes};
use super::shapes::Kind;
use super::transfer::gather32;

/// Shared memory behind 32-bit addresses.
pub(super) struct Shared<'a> {
    pub(super) bytes: &'a mut [u8],
}

impl Shared<'_> {
    /// The offsets of the lanes, if all lanes of `mask` lie inside with `size` bytes. Others read at an active one.
    #[inline(always)]
    fn offsets(&self, base: &Row32, mask: u32, size: u32, offset: i32) -> Option<Row32> {
        let first = base.lane(mask.trailing_zeros() as usize % LANES).wrapping_add_signed(offset);
        let mut offsets = *base;
        if mask == FULL {
            offsets.0.as_flattened_mut().iter_mut().for_each(|here| *here = here.wrapping_add_signed(offset));
        } else {
            let mask = some_lanes(mask);
            for (lane, here) in offsets.0.as_flattened_mut().iter_mut().enumerate() {
                *here = if mask >> lane & 1 == 1 { here.wrapping_add_signed(offset) } else { first };
            }
        }
        let (mut high, mut all) = (0, 0);
        for &here in offsets.0.as_flattened() {
            high = high.max(here);
            all |= here;
        }
        let fits = u64::from(high) + u64::from(size) <= self.bytes.len() as u64;
        (fits && all % size == 0).then_some(offsets)
    }

    /// `N` consecutive 32-bit elements of each lane.
    #[inline(always)]
    pub(super) fn load32<const N: usize>(
        &mut self,
        rows: &mut [Row32],
        mask: u32,
        a: u32,
        d: [u32; N],
        offset: i32,
    ) -> bool {
        let Some(offsets) = self.offsets(&rows[a as usize], mask, 4 * N as u32, offset) else {
            return false;
        };
        let (first, all) = (offsets.lane(0), &offsets.0);
        let (mut same, mut in_line) = (true, true);
        for eight in all {
            for i in 0..8 {
                let distance = eight[i].wrapping_sub(eight[0]);
                same &= distance == 0;
                in_line &= distance == 4 * i as u32;
            }
        }
        let kind = match (same, in_line) {
            (true, _) if all.iter().all(|eight| eight[0] == first) => Kind::Same,
            (true, _) => Kind::Same8,
            (_, true) => Kind::Line8 { step: 4 },
            _ => Kind::Other,
        };
        for (element, &d) in d.iter().enumerate() {
            let Some(bytes) = self.bytes.get(4 * element..) else { return false };
            if mask == FULL {
                gather32(&mut rows[d as usize], bytes, kind, all);
            } else {
                let mut row = Row32::splat(0);
                gather32(&mut row, bytes, kind, all);
                put32(rows, mask, d, &row);
            }
        }
        true
    }

    /// One 32-bit element of each lane.
    #[inline(always)]
    pub(super) fn store32(&mut self, rows: &[Row32], mask: u32, a: u32, s: u32, offset: i32) -> bool {
        let Some(offsets) = self.offsets(&rows[a as usize], mask, 4, offset) else { return false };
        let values = &rows[s as usize];
        let mut rest = mask;
        while rest != 0 {
            let lane = rest.trailing_zeros() as usize;
            rest &= rest - 1;
            let place = self.bytes.get_mut(offsets.lane(lane) as usize..).and_then(|b| b.first_chunk_mut());
            if let Some(place) = place {
                *place = values.lane(lane).to_le_bytes();
            }
        }
        true
    }

    /// Adds row `s` to what rows `a` point to, lowest lane first, and puts what was there into row `d`.
    #[inline(always)]
    pub(super) fn add32(
        &mut self,
        rows: &mut [Row32],
        mask: u32,
        (d, a, s): (Option<u32>, u32, u32),
        offset: i32,
    ) -> bool {
        let Some(offsets) = self.offsets(&rows[a as usize], mask, 4, offset) else { return false };
        let values = rows[s as usize];
        let mut before = Row32::splat(0);
        for lane in lanes(mask) {
            let place = self.bytes.get_mut(offsets.lane(lane) as usize..).and_then(|b| b.first_chunk_mut());
            if let Some(place) = place {
                let old = u32::from_le_bytes(*place);
                *before.lane_mut(lane) = old;
                *place = old.wrapping_add(values.lane(lane)).to_le_bytes();
            }
        }
        if let Some(d) = d {
            put32(rows, mask, d, &before);
        }
        true
    }
}
