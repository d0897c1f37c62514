//! Generated kernels whose accesses go wrong now and then: what each access is meant to be, and the PTX that makes it.
//! Nothing here launches anything: the crate's own tests and this program do.

use std::fmt::Write as _;

/// Bytes of the kernel's shared memory.
pub const SHARED: u64 = 256;
/// Bytes of each thread's own memory.
pub const LOCAL: u64 = 640;
/// Threads of a block: a warp and a part of one.
pub const THREADS: u32 = 40;
pub const BLOCKS: u32 = 2;

/// A kernel `k(x, y, index, out)` and what it is given: `x` is for reading, `y` for writing, `index` has an element for
/// each thread, and so has `out`, which takes what the thread loaded from `x`.
#[derive(Clone, Debug)]
pub struct Planted {
    pub accesses: Vec<Access>,
    pub text: String,
    pub x: Vec<u8>,
    pub y: Vec<u8>,
    pub index: Vec<i32>,
    /// Bytes by which `x` and `y` begin behind an aligned place.
    pub skew: [usize; 2],
}

impl Planted {
    /// The kernel of this number.
    pub fn new(seed: u64) -> Self {
        let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        let mut accesses: Vec<Access> = (0..1 + random.below(4)).map(|_| access(&mut random)).collect();
        let text = kernel(&mut accesses);
        let bytes = |random: &mut Random| -> Vec<u8> {
            let len = 1400 + random.below(200);
            (0..len).map(|_| random.next() as u8).collect()
        };
        let skew = |random: &mut Random| if random.below(6) == 0 { random.pick(&[1, 2, 4, 8]) } else { 0 };
        let (x, x_skew) = (bytes(&mut random), skew(&mut random));
        let (y, y_skew) = (bytes(&mut random), skew(&mut random));
        let index = (0..THREADS * BLOCKS)
            .map(|_| match random.below(60) {
                0 => random.next() as i32,
                1 => -1 - random.below(8) as i32,
                _ => random.below(20) as i32,
            })
            .collect();
        Self { accesses, text, x, y, index, skew: [x_skew, y_skew] }
    }

    /// Length of the kernel's buffer with this number.
    pub fn bytes_of(&self, buffer: usize) -> u64 {
        let bytes = match buffer {
            0 => self.x.len(),
            1 => self.y.len(),
            2 => 4 * self.index.len(),
            _ => 8 * self.index.len(),
        };
        bytes as u64
    }
}

/// xorshift64\*, so that a seed names a kernel.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    pub fn below(&mut self, n: u64) -> u64 {
        (self.next() >> 33) % n
    }

    pub fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len() as u64) as usize]
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Place {
    X,
    Y,
    Shared,
    Local,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    Load,
    Store,
    Atomic,
    Red,
}

/// One access: `place + scale × v + constant`, in a loop `+ stride` each time.
#[derive(Clone, Debug)]
pub struct Access {
    pub place: Place,
    pub kind: Kind,
    /// By a generic address.
    pub generic: bool,
    /// Bytes of an element, elements.
    pub element: u32,
    pub count: u32,
    /// `v` is the thread's number, or what the index array holds for it.
    pub from_index: bool,
    pub scale: i64,
    pub constant: i64,
    /// Part of the constant that stands in the address operand.
    pub immediate: i64,
    pub stride: i64,
    pub rounds: u32,
    /// Only threads with an even (false) or odd (true) number do it.
    pub guard: Option<bool>,
    /// The line it stands on.
    pub line: u32,
}

impl Access {
    /// Bytes of all its elements.
    pub fn bytes(&self) -> u32 {
        self.element * self.count
    }
}

fn access(random: &mut Random) -> Access {
    let place = random.pick(&[
        Place::X,
        Place::X,
        Place::X,
        Place::Y,
        Place::Y,
        Place::Y,
        Place::Shared,
        Place::Shared,
        Place::Local,
    ]);
    let kind = match place {
        // no other thread sees it, so there are no atomics
        Place::Local => random.pick(&[Kind::Load, Kind::Store]),
        Place::X => random.pick(&[Kind::Load, Kind::Load, Kind::Load, Kind::Load, Kind::Store]),
        _ => random.pick(&[Kind::Load, Kind::Store, Kind::Store, Kind::Atomic, Kind::Red]),
    };
    let atomic = matches!(kind, Kind::Atomic | Kind::Red);
    let element = if atomic { 4 } else { random.pick(&[1, 2, 4, 4, 4, 8]) };
    let count = if atomic { 1 } else { random.pick(&[1, 1, 1, 2, if element < 8 { 4 } else { 2 }]) };
    let bytes = i64::from(element * count);
    let far = [i64::MIN, i64::MAX, 1 << 40, -(1 << 40), 1 << 32, -(1 << 32), 1 << 20, -4096, -bytes, 1];
    let constant = match random.below(8) {
        0 => random.pick(&far),
        1 => random.below(64) as i64 - 32,
        _ => bytes * random.below(4) as i64,
    };
    // the odd ones make an aligned register a misaligned address
    let immediate = match random.below(8) {
        0..4 => 0,
        4 => random.pick(&[1, 2, 4]),
        _ => bytes * random.below(3) as i64,
    };
    let constant = if random.below(2) == 0 { constant.wrapping_add(immediate) } else { constant };
    Access {
        place,
        kind,
        generic: random.below(4) == 0,
        element,
        count,
        from_index: random.below(3) == 0,
        scale: if random.below(12) == 0 { random.pick(&[1, 3, -4, 1 << 33, i64::MAX]) } else { bytes },
        constant,
        immediate,
        stride: random.pick(&[0, bytes, -bytes, 4 * bytes]),
        rounds: random.pick(&[1, 1, 1, 3, 8]),
        guard: random.pick(&[None, None, Some(false), Some(true)]),
        line: 0,
    }
}

/// The kernel, with the line of each access filled in.
fn kernel(accesses: &mut [Access]) -> String {
    let mut text = String::from(
        ".version 8.5\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 x, .param .u64 y, .param .u64 index, .param .u64 out)\n{\n\
         .shared .align 16 .b8 s[256]; .local .align 16 .b8 l[640];\n\
         .reg .pred %p<4>; .reg .b16 %h<8>; .reg .b32 %r<20>; .reg .b64 %d<24>;\n\
         ld.param.u64 %d0, [x];\nld.param.u64 %d1, [y];\nld.param.u64 %d2, [index];\nld.param.u64 %d3, [out];\n\
         mov.u32 %r0, %ctaid.x;\nmov.u32 %r1, %ntid.x;\nmov.u32 %r2, %tid.x;\nmad.lo.u32 %r3, %r0, %r1, %r2;\n\
         mul.wide.u32 %d4, %r3, 4;\nadd.s64 %d4, %d2, %d4;\nld.global.s32 %d5, [%d4];\ncvt.u64.u32 %d6, %r3;\n\
         and.b32 %r4, %r3, 1;\nsetp.eq.u32 %p0, %r4, 1;\nmov.u64 %d7, 0;\n",
    );
    let line = |text: &mut String, instruction: String| {
        let _ = writeln!(text, "{instruction}");
        text.bytes().filter(|&byte| byte == b'\n').count() as u32
    };
    for (number, a) in accesses.iter_mut().enumerate() {
        let v = if a.from_index { "%d5" } else { "%d6" };
        line(&mut text, format!("mul.lo.s64 %d8, {v}, {};", a.scale));
        let rest = a.constant.wrapping_sub(a.immediate);
        line(&mut text, format!("add.s64 %d8, %d8, {rest};"));
        match a.place {
            Place::X => line(&mut text, "add.s64 %d9, %d0, %d8;".to_owned()),
            Place::Local => line(&mut text, "mov.u64 %d9, l; add.s64 %d9, %d9, %d8;".to_owned()),
            Place::Y => line(&mut text, "add.s64 %d9, %d8, %d1;".to_owned()),
            Place::Shared => {
                line(&mut text, "cvt.u32.u64 %r5, %d8; mov.u32 %r6, s; add.s32 %r5, %r5, %r6;".to_owned())
            }
        };
        line(&mut text, format!("mov.u32 %r7, 0; mov.u64 %d10, 1; mov.u64 %d11, 1; $again{number}:"));
        let registers: Vec<String> = (0..a.count)
            .map(|i| match a.element {
                1 | 2 => format!("%h{i}"),
                4 => format!("%r{}", 10 + i),
                _ => format!("%d{}", 12 + i),
            })
            .collect();
        for register in &registers {
            // what a load that is guarded away leaves in its register
            let bits = if a.element == 1 { 16 } else { 8 * a.element };
            line(&mut text, format!("mov.b{bits} {register}, 5;"));
        }
        let list = match registers.as_slice() {
            [one] => one.clone(),
            several => format!("{{{}}}", several.join(", ")),
        };
        let (space, register) = match a.place {
            Place::Shared => (".shared", "%r5"),
            Place::Local => (".local", "%d9"),
            _ if a.generic => ("", "%d9"),
            _ => (".global", "%d9"),
        };
        let address = format!("[{register}+{}]", a.immediate);
        let vector = if a.count > 1 { format!(".v{}", a.count) } else { String::new() };
        let bits = 8 * a.element;
        let guard = match a.guard {
            None => "",
            Some(true) => "@%p0 ",
            Some(false) => "@!%p0 ",
        };
        a.line = 1 + text.bytes().filter(|&byte| byte == b'\n').count() as u32;
        let instruction = match a.kind {
            Kind::Load => format!("{guard}ld{space}{vector}.u{bits} {list}, {address};"),
            Kind::Store => format!("{guard}st{space}{vector}.u{bits} {address}, {list};"),
            Kind::Atomic => format!("{guard}atom{space}.add.u32 {list}, {address}, 1;"),
            Kind::Red => format!("{guard}red{space}.add.u32 {address}, 1;"),
        };
        line(&mut text, instruction);
        if a.kind == Kind::Load && a.place == Place::X {
            for register in &registers {
                let widened = match a.element {
                    1 | 2 => format!("cvt.u64.u16 %d20, {register};"),
                    4 => format!("cvt.u64.u32 %d20, {register};"),
                    _ => format!("mov.u64 %d20, {register};"),
                };
                line(&mut text, format!("{widened} mad.lo.u64 %d7, %d7, 31, %d20;"));
            }
        }
        line(&mut text, format!("add.s64 %d9, %d9, {}; add.s32 %r5, %r5, {};", a.stride, a.stride as i32));
        line(&mut text, format!("add.u32 %r7, %r7, 1; setp.lt.u32 %p1, %r7, {};", a.rounds));
        line(&mut text, format!("@%p1 bra $again{number};"));
    }
    line(
        &mut text,
        "mul.wide.u32 %d4, %r3, 8; add.s64 %d4, %d3, %d4; st.global.u64 [%d4], %d7; ret;\n}".to_owned(),
    );
    text
}
