//! Reproducible inputs: the same seed gives the same data on every machine. For tests only.
//!
//! The generator is SplitMix64 (Steele, Lea, Flood: "Fast splittable pseudorandom number generators", OOPSLA 2014).

use std::ops::Range;

/// A generator of 64-bit numbers from a seed.
#[derive(Clone, Debug)]
pub struct Random {
    state: u64,
}

impl Random {
    pub fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// The next 64 bits, all equally random.
    pub fn bits(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `limit`, which is not zero. The bias of at most `limit` / 2^64 does not matter here.
    pub fn below(&mut self, limit: u64) -> u64 {
        ((u128::from(self.bits()) * u128::from(limit)) >> 64) as u64
    }

    /// A number in `range`; rounding may yield its end.
    pub fn f32(&mut self, range: Range<f32>) -> f32 {
        let unit = (self.bits() >> 40) as f32 / (1 << 24) as f32;
        range.start + (range.end - range.start) * unit
    }

    /// A number in `range`.
    pub fn i32(&mut self, range: Range<i32>) -> i32 {
        let width = (i64::from(range.end) - i64::from(range.start)) as u64;
        (i64::from(range.start) + self.below(width) as i64) as i32
    }

    /// `len` numbers in `range`, of every magnitude below its ends but hardly ever zero.
    pub fn f32s(&mut self, len: usize, range: Range<f32>) -> Vec<f32> {
        (0..len).map(|_| self.f32(range.clone())).collect()
    }

    /// `len` numbers in `range`.
    pub fn i32s(&mut self, len: usize, range: Range<i32>) -> Vec<i32> {
        (0..len).map(|_| self.i32(range.clone())).collect()
    }

    /// `len` numbers over the whole range of `u32`.
    pub fn u32s(&mut self, len: usize) -> Vec<u32> {
        (0..len).map(|_| (self.bits() >> 32) as u32).collect()
    }

    /// `len` bytes, all values.
    pub fn u8s(&mut self, len: usize) -> Vec<u8> {
        (0..len).map(|_| (self.bits() >> 56) as u8).collect()
    }
}
