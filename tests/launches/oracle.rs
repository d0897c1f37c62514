//! What a launch of a generated kernel must come to, worked out access by access in plain Rust. It knows where the
//! buffers lie and which misses count; it knows nothing of PTX.

use super::generator::{Access, BLOCKS, Kind, LOCAL, Place, Planted, SHARED, THREADS};

/// Threads of a warp, which run together.
const WARP: u32 = 32;

/// Which of several misses is named, and what is one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// A kernel that checks itself: each thread notes its first miss and goes on, the lowest thread is named. An
    /// access belongs to the buffer that its address was made from.
    LowestThread,
    /// The host device: the first miss in time ends the launch. An access may lie in any buffer of the launch.
    EarliestInTime,
}

/// An access that may not be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Miss {
    /// Number of the thread in the grid.
    pub thread: u64,
    /// Which of the kernel's accesses.
    pub access: usize,
    /// How often its loop had gone round.
    pub round: u32,
    /// Absolute, or in shared or local memory.
    pub address: u64,
}

/// What a launch leaves behind.
#[derive(Clone, Debug)]
pub struct Expected {
    pub first: Option<Miss>,
    /// How many threads miss, where all go on.
    pub threads: u64,
    /// What each thread writes to `out`; only where every thread gets there.
    pub out: Vec<u64>,
    /// Bytes of `y` that some thread may have written.
    pub touched: Vec<bool>,
    /// Whether an access went to a buffer that its address was not made from.
    pub elsewhere: bool,
}

/// Where an access lies.
enum Found {
    Buffer { index: usize, offset: usize },
    OwnMemory,
}

/// The launch of `planted` with its buffers at these addresses: `x`, `y`, `index`, `out`.
pub fn expect(planted: &Planted, addresses: [u64; 4], rule: Rule) -> Expected {
    let threads = (THREADS * BLOCKS) as usize;
    let mut expected = Expected {
        first: None,
        threads: 0,
        out: vec![0; threads],
        touched: vec![false; planted.y.len()],
        elsewhere: false,
    };
    let mut failed = vec![false; threads];
    for (thread, access, round) in order(&planted.accesses, rule) {
        let a = &planted.accesses[access];
        let runs = a.guard.is_none_or(|odd| (thread % 2 == 1) == odd);
        let address = address(planted, a, thread, round, addresses);
        let found = find(planted, a, address, addresses, rule);
        if runs && found.is_none() && !failed[thread] {
            failed[thread] = true;
            expected.threads += 1;
            let miss = Miss { thread: thread as u64, access, round, address };
            expected.first = expected.first.or(Some(miss));
        }
        let bytes = a.bytes() as usize;
        if let (true, Some(Found::Buffer { index, offset })) = (runs, &found) {
            let meant = usize::from(a.place == Place::Y);
            expected.elsewhere |= *index != meant;
            if *index == 1 && a.kind != Kind::Load {
                expected.touched[*offset..][..bytes].fill(true);
            }
        }
        if a.kind == Kind::Load && a.place == Place::X {
            let size = a.element as usize;
            for element in 0..a.count as usize {
                let mut value = [0; 8];
                match (runs, &found) {
                    // what stood in the register
                    (false, _) => value[0] = 5,
                    (true, Some(Found::Buffer { index: 0, offset })) => {
                        value[..size].copy_from_slice(&planted.x[offset + element * size..][..size]);
                    }
                    (true, _) => {}
                }
                let sum = &mut expected.out[thread];
                *sum = sum.wrapping_mul(31).wrapping_add(u64::from_le_bytes(value));
            }
        }
    }
    expected
}

/// Every access of every thread (thread, access, round) in the order in which misses count.
fn order(accesses: &[Access], rule: Rule) -> Vec<(usize, usize, u32)> {
    let lanes = match rule {
        Rule::LowestThread => 1,
        Rule::EarliestInTime => WARP,
    };
    let mut order = Vec::new();
    for block in 0..BLOCKS {
        for first in (0..THREADS).step_by(lanes as usize) {
            let together = first..THREADS.min(first + lanes);
            for (number, access) in accesses.iter().enumerate() {
                for round in 0..access.rounds {
                    let threads = together.clone().map(|thread| (block * THREADS + thread) as usize);
                    order.extend(threads.map(|thread| (thread, number, round)));
                }
            }
        }
    }
    order
}

fn address(planted: &Planted, a: &Access, thread: usize, round: u32, addresses: [u64; 4]) -> u64 {
    let v = if a.from_index { i64::from(planted.index[thread]) } else { thread as i64 };
    let moved = a.stride.wrapping_mul(i64::from(round));
    let offset = v.wrapping_mul(a.scale).wrapping_add(a.constant).wrapping_add(moved);
    match a.place {
        Place::X => addresses[0].wrapping_add_signed(offset),
        Place::Y => addresses[1].wrapping_add_signed(offset),
        Place::Shared => u64::from(offset as u32),
        Place::Local => offset as u64,
    }
}

fn find(planted: &Planted, a: &Access, address: u64, addresses: [u64; 4], rule: Rule) -> Option<Found> {
    let bytes = u64::from(a.bytes());
    if !address.is_multiple_of(bytes) {
        return None;
    }
    match a.place {
        Place::Shared => return (address <= SHARED - bytes).then_some(Found::OwnMemory),
        Place::Local => return (address <= LOCAL - bytes).then_some(Found::OwnMemory),
        Place::X | Place::Y => {}
    }
    let meant = usize::from(a.place == Place::Y);
    (0..addresses.len()).find_map(|index| {
        let offset = address.checked_sub(addresses[index])?;
        let inside = offset.checked_add(bytes)? <= planted.bytes_of(index);
        let writable = index == 1 || index == 3;
        let may = rule == Rule::EarliestInTime || index == meant;
        (inside && may && (writable || a.kind == Kind::Load))
            .then_some(Found::Buffer { index, offset: offset as usize })
    })
}
