//! Random kernels: loops with large steps and either sign, countdowns, masks, guards, pointers that walk, shared and
//! local memory. They need not make sense; whatever is proved of them must be true.

/// A sequence of choices that a seed fixes (splitmix64).
pub(super) struct Choices(pub(super) u64);

impl Choices {
    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
    pub(super) fn below(&mut self, count: u64) -> u64 {
        self.next() % count
    }
    pub(super) fn of<T: Copy>(&mut self, values: &[T]) -> T {
        values[self.below(values.len() as u64) as usize]
    }
}

struct Writer<'c> {
    text: String,
    choices: &'c mut Choices,
    /// Labels and predicates that were made.
    made: u32,
}

const REGISTERS: u64 = 10;

/// The text of a kernel `k(a, b, n, m)`; buffers `a` and `b`.
pub(super) fn kernel(choices: &mut Choices) -> String {
    let mut writer = Writer { text: String::new(), choices, made: 0 };
    for _ in 0..writer.choices.below(5) + 2 {
        writer.statement(3);
    }
    let Writer { text, made, .. } = writer;
    format!(
        ".version 8.5\n.target sm_90\n.address_size 64\n\
         .visible .entry k(.param .u64 a, .param .u64 b, .param .u32 n, .param .u32 m)\n{{\n\
         .reg .pred %p<{}>;\n.reg .b32 %r<20>;\n.reg .b64 %rd<12>;\n\
         .shared .align 4 .b8 s[256];\n.local .align 4 .b8 l[64];\n\
         ld.param.u64 %rd0, [a];\nld.param.u64 %rd1, [b];\n\
         cvta.to.global.u64 %rd0, %rd0;\ncvta.to.global.u64 %rd1, %rd1;\n\
         mov.u64 %rd2, %rd0;\nmov.u64 %rd3, %rd1;\n\
         mov.u32 %r1, %tid.x;\nmov.u32 %r4, %ctaid.x;\nmov.u32 %r5, %ntid.x;\n\
         mad.lo.s32 %r0, %r4, %r5, %r1;\nld.param.u32 %r2, [n];\nld.param.u32 %r3, [m];\n\
         mov.u32 %r6, 0;\nmov.u32 %r7, 1;\nmov.u32 %r8, -1;\nmov.u32 %r9, %tid.y;\nmov.u32 %r10, s;\n\
         {text}ret;\n}}\n",
        made + 1
    )
}

impl Writer<'_> {
    fn line(&mut self, text: &str) {
        self.text.push_str(text);
        self.text.push('\n');
    }
    fn fresh(&mut self) -> u32 {
        self.made += 1;
        self.made
    }
    fn reg(&mut self) -> String {
        format!("%r{}", self.choices.below(REGISTERS))
    }
    fn constant(&mut self) -> i64 {
        let small = self.choices.below(40) as i64 - 8;
        self.choices.of(&[
            small,
            small,
            small,
            1,
            4,
            32,
            255,
            1 << 16,
            1 << 29,
            0x7fff_fffe,
            -0x8000_0000,
            100,
        ])
    }
    fn operand(&mut self) -> String {
        match self.choices.below(3) {
            0 => self.constant().to_string(),
            _ => self.reg(),
        }
    }
    /// A predicate that compares two values.
    fn comparison(&mut self) -> String {
        let (p, a, b) = (self.fresh(), self.reg(), self.operand());
        let relation = self.choices.of(&["lt", "le", "gt", "ge", "eq", "ne", "lt", "lt"]);
        let ty = self.choices.of(&["s32", "u32"]);
        self.line(&format!("setp.{relation}.{ty} %p{p}, {a}, {b};"));
        if self.choices.below(5) == 0 {
            let (q, r, c, d) = (self.fresh(), self.fresh(), self.reg(), self.operand());
            let op = self.choices.of(&["and", "or", "xor"]);
            self.line(&format!("setp.{relation}.{ty} %p{q}, {c}, {d};"));
            self.line(&format!("{op}.pred %p{r}, %p{p}, %p{q};"));
            return format!("%p{r}");
        }
        format!("%p{p}")
    }
    fn arithmetic(&mut self) -> String {
        let (d, a, b, c) = (self.reg(), self.reg(), self.operand(), self.operand());
        let k = self.constant();
        let shift = self.choices.below(6);
        let mask = self.choices.of(&[1, 3, 15, 31, 63, 255, -4, 12, 0x55, 0x7fff_ffff]);
        let divisor = self.choices.of(&[1, 2, 3, 7, 8, 32, 1000]);
        let ty = self.choices.of(&["s32", "u32"]);
        match self.choices.below(20) {
            0..=3 => format!("add.s32 {d}, {a}, {b};"),
            4 | 5 => format!("sub.s32 {d}, {a}, {b};"),
            6 => format!("mul.lo.s32 {d}, {a}, {k};"),
            7 => format!("mul.lo.s32 {d}, {a}, {b};"),
            8 => format!("mad.lo.s32 {d}, {a}, {shift}, {c};"),
            9 => format!("shl.b32 {d}, {a}, {shift};"),
            10 => format!("shr.{ty} {d}, {a}, {shift};"),
            11 => format!("and.b32 {d}, {a}, {mask};"),
            12 => format!("or.b32 {d}, {a}, {mask};"),
            13 => format!("xor.b32 {d}, {a}, {mask};"),
            14 => format!("min.{ty} {d}, {a}, {b};"),
            15 => format!("max.{ty} {d}, {a}, {b};"),
            16 => format!("div.{ty} {d}, {a}, {divisor};"),
            17 => format!("rem.{ty} {d}, {a}, {divisor};"),
            18 => self.choices.of(&[0, 1, 2]).to_string() + &format!("|{d}|{a}|{b}"),
            _ => format!("not.b32 {d}, {a};"),
        }
    }
    fn assign(&mut self) {
        let mut text = self.arithmetic();
        if text.contains('|') {
            // a selection, a shift by a register, or a narrowing
            let parts: Vec<String> = text.split('|').map(str::to_owned).collect();
            text = match &*parts[0] {
                "0" => {
                    let p = self.comparison();
                    format!("selp.b32 {}, {}, {}, {p};", parts[1], parts[2], parts[3])
                }
                "1" => format!("shr.u32 {}, {}, {};", parts[1], parts[2], self.reg()),
                _ => {
                    let ty = self.choices.of(&["u8", "s8", "u16", "s16"]);
                    format!("cvt.{}32.{ty} {}, {};", &ty[..1], parts[1], parts[2])
                }
            };
        }
        let guard = match self.choices.below(8) {
            0 => format!("@{} ", self.comparison()),
            _ => String::new(),
        };
        self.line(&format!("{guard}{text}"));
    }
    fn statement(&mut self, depth: u32) {
        match self.choices.below(if depth == 0 { 8 } else { 12 }) {
            0..=2 => self.assign(),
            3..=5 => self.global_access(),
            6 => self.other_access(),
            7 => self.walking_pointer(),
            8 | 9 => {
                let p = self.comparison();
                let (out, end) = (self.fresh(), self.fresh());
                self.line(&format!("@!{p} bra L{out};"));
                self.body(depth - 1);
                if self.choices.below(3) == 0 {
                    self.line(&format!("bra L{end};"));
                    self.line(&format!("L{out}:"));
                    self.body(depth - 1);
                    self.line(&format!("L{end}:"));
                } else {
                    self.line(&format!("L{out}:"));
                }
            }
            _ => self.round_and_round(depth - 1),
        }
    }
    fn body(&mut self, depth: u32) {
        for _ in 0..self.choices.below(3) + 1 {
            self.statement(depth);
        }
    }
    fn round_and_round(&mut self, depth: u32) {
        let (i, bound, start) = (self.reg(), self.operand(), self.operand());
        let step = self.choices.of(&[1, 1, 2, 3, 4, 8, 64, -1, -1, -2, -4, 1 << 30]);
        let (head, end, p) = (self.fresh(), self.fresh(), self.fresh());
        let toward = if step > 0 { ["lt", "le", "ne"] } else { ["gt", "ge", "ne"] };
        let relation = self.choices.of(&toward);
        let ty = self.choices.of(&["s32", "s32", "u32"]);
        self.line(&format!("mov.u32 {i}, {start};"));
        if self.choices.below(2) == 0 {
            let first = self.fresh();
            self.line(&format!("setp.{relation}.{ty} %p{first}, {i}, {bound};"));
            self.line(&format!("@!%p{first} bra L{end};"));
        }
        self.line(&format!("L{head}:"));
        self.body(depth);
        if self.choices.below(3) == 0 {
            let pointer = self.choices.of(&["%rd2", "%rd3"]);
            self.line(&format!("add.s64 {pointer}, {pointer}, {};", i64::from(step) * 4));
        }
        self.line(&format!("add.s32 {i}, {i}, {step};"));
        self.line(&format!("setp.{relation}.{ty} %p{p}, {i}, {bound};"));
        self.line(&format!("@%p{p} bra L{head};"));
        self.line(&format!("L{end}:"));
    }
    fn access(&mut self, space: &str, address: &str) {
        let (d, v) = (self.reg(), self.reg());
        let ty = self.choices.of(&["u32", "u32", "s32", "u8", "s8", "u16"]);
        let text = match self.choices.below(8) {
            0 if space != "local" => format!("atom.{space}.add.u32 {d}, [{address}], {v};"),
            1 | 2 => format!("st.{space}.{ty} [{address}], {v};"),
            3 => format!("ld.{space}.v2.u32 {{{d}, %r11}}, [{address}];"),
            _ => format!("ld.{space}.{ty} {d}, [{address}];"),
        };
        let guard = match self.choices.below(8) {
            0 => format!("@{} ", self.comparison()),
            _ => String::new(),
        };
        self.line(&format!("{guard}{text}"));
    }
    fn global_access(&mut self) {
        let index = self.reg();
        let base = self.choices.of(&["%rd0", "%rd1", "%rd0", "%rd3"]);
        let sign = self.choices.of(&["s32", "u32"]);
        let scale = self.choices.of(&[1, 4, 4, 4, 8]);
        let offset = self.choices.of(&[0, 0, 0, 4, -4, 16]);
        let skip = self.choices.below(3) != 0;
        let label = self.fresh();
        if skip {
            let p = self.fresh();
            let bound = self.choices.of(&["%r2", "%r2", "%r3", "16"]);
            let ty = self.choices.of(&["u32", "u32", "s32"]);
            self.line(&format!("setp.ge.{ty} %p{p}, {index}, {bound};"));
            self.line(&format!("@%p{p} bra L{label};"));
        }
        self.line(&format!("mul.wide.{sign} %rd4, {index}, {scale};"));
        self.line(&format!("add.s64 %rd5, {base}, %rd4;"));
        self.access("global", &format!("%rd5+{offset}"));
        if skip {
            self.line(&format!("L{label}:"));
        }
    }
    fn other_access(&mut self) {
        let index = self.reg();
        let mask = self.choices.of(&[15, 31, 63, 60, 127]);
        let shift = self.choices.of(&[0, 2, 2]);
        self.line(&format!("and.b32 %r12, {index}, {mask};"));
        self.line(&format!("shl.b32 %r12, %r12, {shift};"));
        match self.choices.below(3) {
            0 => {
                self.line("mov.u64 %rd6, l;");
                self.line("cvt.u64.u32 %rd7, %r12;");
                self.line("add.s64 %rd6, %rd6, %rd7;");
                self.access("local", "%rd6");
            }
            1 => {
                let slot = self.choices.below(15) * 4;
                self.line(&format!("st.local.u32 [l+{slot}], {index};"));
                if self.choices.below(2) == 0 {
                    let (p, other) = (self.comparison(), self.reg());
                    self.line(&format!("@{p} st.local.u32 [l+{slot}], {other};"));
                }
                let (d, slot) = (self.reg(), self.choices.of(&[slot, slot, 8]));
                self.line(&format!("ld.local.u32 {d}, [l+{slot}];"));
                if self.choices.below(2) == 0 {
                    self.line(&format!("add.s32 %r12, %r10, {d};"));
                    self.access("shared", "%r12");
                }
            }
            _ => {
                self.line("add.s32 %r12, %r10, %r12;");
                self.access("shared", "%r12");
            }
        }
    }
    fn walking_pointer(&mut self) {
        let pointer = self.choices.of(&["%rd2", "%rd3"]);
        match self.choices.below(3) {
            0 => {
                let index = self.reg();
                self.line(&format!("mul.wide.s32 %rd8, {index}, 4;"));
                self.line(&format!("add.s64 {pointer}, {pointer}, %rd8;"));
            }
            1 => {
                let step = self.choices.of(&[4, -4, 8, 64]);
                self.line(&format!("add.s64 {pointer}, {pointer}, {step};"));
            }
            _ => self.access("global", pointer),
        }
    }
}
