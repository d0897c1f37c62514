//! Random programs: what one is, how it is drawn from a seed, printed, and made smaller. Running is in `machine`.

use std::fmt;

use scoped_gpu::Failure;

/// A repeatable sequence of numbers: Vigna's SplitMix64.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `count`, which is not 0.
    pub fn below(&mut self, count: usize) -> usize {
        (self.next() % count as u64) as usize
    }

    fn chance(&mut self, of: usize) -> bool {
        self.below(of) == 0
    }
}

/// Which array, among those that are visible where the operation runs: a number that is taken modulo their count, so
/// that a program stays one when operations are taken out of it.
pub type Which = u8;

/// A piece of an array: numbers that are taken modulo what the array has. All zero: the whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Piece(pub u8, pub u8, pub u8, pub u8);

/// Where work is queued: `None` on the context, else on a stream, if there are any.
pub type On = Option<u8>;

/// What the arrays of an allocation hold at first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum First {
    Zeros,
    Uninit,
    Filled(u32),
    Host(u32),
}

/// One operation. Those with a body keep it in [`Op::body`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verb {
    // with a body
    /// `alloc_each` of arrays of these lengths; a failure or panic of the body ends here if it is caught.
    Alloc {
        lengths: Vec<u16>,
        first: First,
        caught: bool,
    },
    AllocPitched {
        width: u16,
        height: u16,
        caught: bool,
    },
    Pinned {
        length: u16,
        caught: bool,
    },
    Streams {
        count: u8,
        caught: bool,
    },
    /// A scope on the same device inside of this one.
    Scope {
        caught: bool,
    },

    Buffer {
        length: u16,
    },
    Drop {
        buffer: u8,
    },
    Forget {
        buffer: u8,
    },
    SwapBuffers(u8, u8),
    /// Of the innermost allocation.
    SwapArrays(u8, u8),
    /// More than the device has.
    TooLarge,
    Module,

    Fill {
        to: Which,
        piece: Piece,
        value: u32,
        on: On,
    },
    Copy {
        to: Which,
        from: Which,
        piece: Piece,
        on: On,
    },
    FromHost {
        to: Which,
        piece: Piece,
        value: u32,
        on: On,
    },
    /// Waits at once, if queued, or leaves it to the end of the streams.
    ToHost {
        from: Which,
        piece: Piece,
        on: On,
        wait: bool,
    },
    MultiplyAdd {
        to: Which,
        from: Which,
        piece: Piece,
        factor: u32,
        on: On,
    },
    /// A store into the array, or past its end.
    Poke {
        to: Which,
        index: u8,
        value: u32,
        on: On,
        beyond: bool,
    },
    Call {
        on: On,
    },
    Synchronize {
        on: On,
    },
    Record {
        on: On,
    },
    WaitFor {
        event: u8,
        on: On,
    },
    WaitEvent {
        event: u8,
    },
    DropEvent {
        event: u8,
    },
    ForgetEvent {
        event: u8,
    },
    ReadAll,
    /// The closure returns an error of its own.
    Fail,
    Panic,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Op {
    pub verb: Verb,
    pub body: Vec<Op>,
}

/// A scope after the other, each perhaps behind a reset, on a device of which perhaps a call fails.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    pub failure: Option<(u64, Failure)>,
    pub scopes: Vec<(bool, Vec<Op>)>,
}

impl Program {
    /// The program of a seed; calls fail only where that `may_fail`, and all is written before it is read if `strict`.
    pub fn random(seed: u64, may_fail: bool, strict: bool) -> Self {
        let mut random = Random::new(seed);
        let failure = (may_fail && random.chance(3)).then(|| {
            let most = 1 << (3 + random.below(8));
            let how = if random.chance(4) { Failure::Forever } else { Failure::Once };
            (1 + random.below(most) as u64, how)
        });
        let scopes = (0..1 + random.below(3))
            .map(|_| {
                let operations = 1 + random.below(40);
                (random.chance(3), block(&mut random, operations, 0, false))
            })
            .collect();
        let mut program = Self { failure, scopes };
        if strict {
            program.scopes.iter_mut().for_each(|(_, ops)| initialise(ops));
        }
        program
    }

    /// How many operations it has.
    pub fn size(&self) -> usize {
        self.scopes.iter().map(|(_, ops)| 1 + size(ops)).sum()
    }

    /// The smallest program that still `fails`, as far as taking things out of it finds one within `tries`.
    pub fn shrunk(mut self, mut tries: usize, mut fails: impl FnMut(&Self) -> bool) -> Self {
        let mut attempt = |smaller: Self, program: &mut Self| {
            let better = tries > 0 && smaller != *program && fails(&smaller);
            tries = tries.saturating_sub(1);
            if better {
                *program = smaller;
            }
            better
        };
        let mut again = true;
        while again {
            again = attempt(Self { failure: None, ..self.clone() }, &mut self);
            let mut at = 0;
            while at < self.scopes.len() {
                let mut smaller = self.clone();
                smaller.scopes.remove(at);
                if attempt(smaller, &mut self) {
                    again = true;
                } else {
                    at += 1;
                }
            }
            let mut chunk = self.size();
            while chunk > 0 {
                let mut at = 0;
                while at < self.size() {
                    let without = self.edited(at, chunk, false);
                    let hoisted = self.edited(at, 1, true);
                    if attempt(without, &mut self) || (chunk == 1 && attempt(hoisted, &mut self)) {
                        again = true;
                    } else {
                        at += chunk;
                    }
                }
                chunk /= 2;
            }
        }
        self
    }

    /// Without `count` operations from number `at` on, those in bodies counted too; their bodies stay if `hoist`.
    fn edited(&self, at: usize, count: usize, hoist: bool) -> Self {
        let mut number = 0;
        let gone = at..at + count;
        let scopes =
            self.scopes.iter().map(|(reset, ops)| (*reset, edited(ops, &gone, hoist, &mut number))).collect();
        Self { failure: self.failure, scopes }
    }
}

/// Leaves no array with unspecified contents.
fn initialise(ops: &mut [Op]) {
    for op in ops {
        if let Verb::Alloc { first: first @ First::Uninit, .. } = &mut op.verb {
            *first = First::Zeros;
        }
        initialise(&mut op.body);
    }
}

fn size(ops: &[Op]) -> usize {
    ops.iter().map(|op| 1 + size(&op.body)).sum()
}

fn edited(ops: &[Op], gone: &std::ops::Range<usize>, hoist: bool, number: &mut usize) -> Vec<Op> {
    let mut kept = Vec::new();
    for op in ops {
        let this = *number;
        *number += 1;
        let body = edited(&op.body, gone, hoist, number);
        if !gone.contains(&this) {
            kept.push(Op { verb: op.verb.clone(), body });
        } else if hoist {
            kept.extend(body);
        }
    }
    kept
}

/// A block of about as many operations, those of the blocks in it counted too.
fn block(random: &mut Random, mut operations: usize, depth: usize, in_streams: bool) -> Vec<Op> {
    let mut ops = Vec::new();
    while operations > 0 {
        operations -= 1;
        let verb = verb(random, depth, in_streams);
        let streams = in_streams || matches!(verb, Verb::Streams { .. });
        let has_body = matches!(
            verb,
            Verb::Alloc { .. }
                | Verb::AllocPitched { .. }
                | Verb::Pinned { .. }
                | Verb::Streams { .. }
                | Verb::Scope { .. }
        );
        let inside = if has_body { random.below(operations + 1) } else { 0 };
        operations -= inside;
        let streams = streams && !matches!(verb, Verb::Scope { .. });
        ops.push(Op { verb, body: block(random, inside, depth + 1, streams) });
    }
    // What nobody reads cannot be wrong.
    if random.chance(2) {
        ops.push(Op { verb: Verb::ReadAll, body: Vec::new() });
    }
    ops
}

fn verb(random: &mut Random, depth: usize, in_streams: bool) -> Verb {
    let which = random.below(256) as u8;
    let other = random.below(256) as u8;
    let value = random.next() as u32;
    let piece = if random.chance(3) {
        Piece(0, 0, 0, 0)
    } else {
        Piece(
            random.below(256) as u8,
            random.below(256) as u8,
            random.below(256) as u8,
            random.below(256) as u8,
        )
    };
    let on = (in_streams && !random.chance(5)).then(|| random.below(256) as u8);
    let caught = random.chance(2);
    // Lengths that are nothing, that repeat, so that memory is used again, and odd ones.
    let length = |random: &mut Random| [0, 1, 7, 64, 64, 64, 200, 1000][random.below(8)];
    match random.below(if depth < 6 { 100 } else { 76 }) {
        0..12 => Verb::Fill { to: which, piece, value, on },
        12..22 => Verb::Copy { to: which, from: other, piece, on },
        22..30 => Verb::FromHost { to: which, piece, value, on },
        30..38 => Verb::ToHost { from: which, piece, on, wait: random.chance(3) },
        38..46 => Verb::MultiplyAdd { to: which, from: other, piece, factor: value, on },
        46..50 => Verb::Poke { to: which, index: other, value, on, beyond: random.chance(4) },
        50..58 => Verb::Buffer { length: length(random) },
        58..61 => Verb::Drop { buffer: which },
        61..63 => Verb::Forget { buffer: which },
        63 => Verb::SwapBuffers(which, other),
        64..66 => Verb::SwapArrays(random.below(4) as u8, random.below(4) as u8),
        66 => Verb::Synchronize { on },
        67 => Verb::Record { on },
        68 => Verb::WaitFor { event: which, on },
        69 => Verb::WaitEvent { event: which },
        70 => match random.below(3) {
            0 => Verb::DropEvent { event: which },
            1 => Verb::ForgetEvent { event: which },
            _ => Verb::Module,
        },
        71 => Verb::Call { on },
        72..75 => Verb::ReadAll,
        75 => match random.below(6) {
            0 => Verb::TooLarge,
            1 => Verb::Panic,
            2 => Verb::Fail,
            _ => Verb::ReadAll,
        },
        76..86 => Verb::Alloc {
            lengths: (0..random.below(5)).map(|_| length(random)).collect(),
            first: match random.below(5) {
                0 => First::Uninit,
                1 => First::Filled(value),
                2 => First::Zeros,
                _ => First::Host(value >> 1),
            },
            caught,
        },
        86..89 => Verb::AllocPitched { width: length(random) % 150, height: random.below(5) as u16, caught },
        89 => Verb::Pinned { length: length(random), caught },
        90..98 => Verb::Streams { count: 1 + random.below(4) as u8, caught },
        _ => Verb::Scope { caught },
    }
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some((k, failure)) = self.failure {
            writeln!(f, "call {k} fails {failure:?}")?;
        }
        for (reset, ops) in &self.scopes {
            writeln!(f, "{}scope", if *reset { "reset, then " } else { "" })?;
            show(f, ops, 1)?;
        }
        Ok(())
    }
}

fn show(f: &mut fmt::Formatter<'_>, ops: &[Op], depth: usize) -> fmt::Result {
    for op in ops {
        writeln!(f, "{:width$}{:?}", "", op.verb, width = 4 * depth)?;
        show(f, &op.body, depth + 1)?;
    }
    Ok(())
}
