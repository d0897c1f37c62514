//! What was proved must not fault. Each random launch is analysed, then run by the host's interpreter with checks:
//! buffers are cut to what the proved offsets claim, open loads are replaced by constants of their type (memory may
//! hold anything), open stores are left out, and dead accesses become traps.

use std::sync::Arc;

use super::super::{
    Analysis, BufferFacts, Contents, LaunchFacts, ProofCache, Region, Verdict, Verdicts, alignment_of,
};
use super::generated::{Choices, kernel};
use super::{Kernel, Shape, Value, corpus, shapes};
use crate::backend::host::interp::{AccessRule, LaunchBuffer, LaunchRequest, Program, run};
use crate::backend::host::memory::Memory;
use crate::dim::Dim3;
use crate::fault::{Fault, FaultKind};
use crate::ptx::ir::{Hint, Module, Op, Operand, Space, Type};
use crate::ptx::source::Source;

/// Bytes around each buffer that the launch is not given.
const GAP: usize = 4096;

/// What came of the launches so far.
#[derive(Debug, Default)]
struct Tally {
    launches: u64,
    sites: u64,
    proved: u64,
    /// Launches that ran too long.
    endless: u64,
    /// Launches that went wrong at something that was not proved.
    faults: u64,
}

/// A launch that is tried.
struct Trial<'a> {
    name: &'a str,
    text: &'a str,
    kernel: &'a Kernel,
    grid: Dim3,
    block: Dim3,
    dynamic_shared: u32,
    args: Vec<(usize, u32, Value)>,
}

impl Trial<'_> {
    /// # Panics
    /// If something that was proved is not so.
    fn run(&self, choices: &mut Choices, tally: &mut Tally) {
        let (mut params, mut buffers) = self.kernel.arguments(&self.args);
        let function = &self.kernel.module.functions[self.kernel.id.0 as usize];
        let mut memory = Memory::new(1 << 26);
        for buffer in &mut buffers {
            let shift = choices.of(&[0, 0, 0, 16, 8, 4, 2]);
            let whole = memory.allocate(buffer.bytes as usize + 2 * GAP + 16, 0x5a).unwrap();
            let address = whole + GAP as u64 + shift;
            buffer.align = alignment_of(address);
            let at = (function.params[buffer.param].offset + buffer.offset) as usize;
            params[at..at + 8].copy_from_slice(&address.to_le_bytes());
            if choices.below(4) == 0 {
                fill(&mut memory, address, buffer, choices);
            }
        }
        let (grid, block, dynamic_shared) = (self.grid, self.block, self.dynamic_shared);
        let facts = LaunchFacts { grid, block, dynamic_shared, params: &params, buffers: &buffers };
        let verdicts = match choices.below(4) {
            0 => self.shared(&facts),
            _ => Arc::new(self.kernel.analysis.prove(&facts)),
        };
        tally.launches += 1;
        tally.sites += verdicts.all().len() as u64;
        tally.proved += verdicts.all().iter().filter(|v| matches!(v, Verdict::Proved { .. })).count() as u64;
        let module = Arc::new(self.with_open_sites_out(&verdicts, choices));
        let source = Arc::new(Source::new(self.name, self.text).unwrap());
        let instance = Arc::new(Arc::new(Program::new(module, source)).instantiate(&mut memory).unwrap());
        let given = self.claimed(&verdicts, &params, &buffers);
        let request = LaunchRequest {
            instance,
            kernel: self.kernel.id,
            grid,
            block,
            dynamic_shared,
            params,
            buffers: given,
            access: AccessRule::Buffers,
            strict: false,
            statistics: false,
            max_steps: Some(4000),
        };
        if let Err(fault) = run(&mut memory, &request, &mut |_| {}) {
            match fault.kind {
                FaultKind::StepLimit { .. } => tally.endless += 1,
                _ => tally.faults += 1,
            }
            if let Some(wrong) = self.refuted(&verdicts, &fault) {
                let args = &self.args;
                panic!(
                    "{wrong}\n{} grid {grid} block {block} shared {dynamic_shared} {args:?} {buffers:?}\n{fault}\n{}",
                    self.name,
                    if self.text.len() < 10_000 { self.text } else { "" }
                );
            }
        }
    }

    /// The verdicts on a launch, by way of a cache that knows the same with more blocks.
    fn shared(&self, facts: &LaunchFacts<'_>) -> Arc<Verdicts> {
        let cache = ProofCache::new(Analysis::new(&self.kernel.module, self.kernel.id));
        let grid = Dim3::new(facts.grid.x + 1, facts.grid.y + 1, facts.grid.z);
        cache.prove(&LaunchFacts { grid, ..*facts });
        cache.prove(facts)
    }

    /// The claim that a fault refutes.
    fn refuted(&self, verdicts: &Verdicts, fault: &Fault) -> Option<String> {
        use FaultKind::*;
        if !matches!(fault.kind, OutOfRange | Misaligned | ReadOnly | Freed | Null | Stray | Trap) {
            return None;
        }
        let line = fault.site.as_ref()?.line;
        let open: Vec<usize> = verdicts.open().collect();
        let sites = self.kernel.analysis.sites().iter().zip(verdicts.all()).enumerate();
        let mut here = sites.filter(|(_, (site, _))| site.line == line);
        here.find_map(|(index, (site, verdict))| match verdict {
            Verdict::Dead => Some(format!("line {line} was to be dead")),
            Verdict::Proved { aligned, .. } => {
                let claimed = match fault.kind {
                    Trap => false,
                    Misaligned => *aligned,
                    ReadOnly => !open.contains(&index),
                    _ => true,
                };
                claimed.then(|| format!("{site:?} was {verdict:?}"))
            }
            Verdict::Open { .. } => None,
        })
    }

    /// The buffers, as far as the proved offsets reach.
    fn claimed(&self, verdicts: &Verdicts, params: &[u8], buffers: &[BufferFacts]) -> Vec<LaunchBuffer> {
        let function = &self.kernel.module.functions[self.kernel.id.0 as usize];
        let mut given = Vec::new();
        for (index, buffer) in buffers.iter().enumerate() {
            let sites = self.kernel.analysis.sites().iter().zip(verdicts.all());
            let ranges = sites.filter_map(|(site, verdict)| match *verdict {
                Verdict::Proved { lo, hi, region, .. } if region == Region::Buffer(index as u32) => {
                    assert!(hi + u64::from(site.bytes) <= buffer.bytes, "{site:?} {verdict:?}");
                    Some((lo, hi + u64::from(site.bytes)))
                }
                _ => None,
            });
            let Some((lo, end)) = ranges.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1))) else { continue };
            let at = (function.params[buffer.param].offset + buffer.offset) as usize;
            let address = u64::from_le_bytes(params[at..at + 8].try_into().unwrap()) + lo;
            given.push(LaunchBuffer {
                argument: buffer.param,
                address,
                bytes: end - lo,
                writable: buffer.writable,
            });
        }
        given
    }

    /// The module with open accesses replaced and dead ones made traps.
    fn with_open_sites_out(&self, verdicts: &Verdicts, choices: &mut Choices) -> Module {
        let mut module = Module::clone(&self.kernel.module);
        let open: Vec<usize> = verdicts.open().collect();
        for (index, (site, verdict)) in self.kernel.analysis.sites().iter().zip(verdicts.all()).enumerate() {
            let inst = &mut module.functions[site.function.0 as usize].code[site.pc as usize];
            let is_open = open.contains(&index);
            if matches!(verdict, Verdict::Dead) {
                inst.op = Op::Trap;
                continue;
            }
            let (dsts, ty) = match &inst.op {
                op if is_open && writes_only(op) => {
                    let what = Hint::GridDependencyControl;
                    inst.op = Op::Hint { what, address: None, space: Space::Generic };
                    continue;
                }
                Op::Load(load) if is_open => (&load.dsts, load.ty),
                Op::Atomic(atomic) if is_open => (&atomic.dsts, atomic.ty),
                _ => continue,
            };
            let [Some(dst)] = dsts[..] else { continue };
            let bits = ty.bits().min(64);
            let drawn = [0, 1, u64::MAX, 1 << (bits - 1), choices.next(), choices.below(64)];
            let raw = choices.of(&drawn) << (64 - bits);
            let value = if ty.is_signed() { (raw as i64 >> (64 - bits)) as u64 } else { raw >> (64 - bits) };
            let width = dst.width.bits().min(64);
            inst.op = Op::Mov { dst, src: Operand::Imm(value << (64 - width) >> (64 - width)) };
        }
        module
    }
}

/// A store, or an atomic operation whose old value nobody wants.
fn writes_only(op: &Op) -> bool {
    matches!(op, Op::Store(_)) || matches!(op, Op::Atomic(atomic) if atomic.dsts.is_empty())
}

/// Makes a buffer one of indices in a known range, which the launch may not write.
fn fill(memory: &mut Memory, address: u64, buffer: &mut BufferFacts, choices: &mut Choices) {
    let ty = choices.of(&[Type::U32, Type::S32]);
    let low = if ty == Type::S32 { choices.below(9) as i128 - 4 } else { choices.below(4).into() };
    let span = 1 + choices.below(60);
    buffer.writable = false;
    buffer.contents = Some(Contents { ty, min: low, max: low + i128::from(span) - 1 });
    let bytes = memory.bytes_mut(address, buffer.bytes as usize).unwrap();
    for element in bytes.chunks_exact_mut(4) {
        let value = low + i128::from(choices.below(span));
        element.copy_from_slice(&(value as u32).to_le_bytes());
    }
}

/// A number near those that matter.
fn number(choices: &mut Choices, n: i128) -> i128 {
    match choices.below(10) {
        0..=4 => n,
        5 => n + choices.of(&[-1, 1, 4]),
        6 => {
            let power = 1 << choices.below(12);
            choices.of(&[0, 1, 2, power])
        }
        7 => -n,
        8 => choices.of(&[i128::from(i32::MAX), i128::from(i32::MIN), 0x7fff_fff0, 1 << 30, -1]),
        _ => i128::from(choices.below(300)),
    }
}

fn generated(choices: &mut Choices, tally: &mut Tally) {
    let text = kernel(choices);
    let kernel = Kernel::new(&text, "k");
    for _ in 0..6 {
        let n = i128::from(choices.below(200));
        let bytes = |choices: &mut Choices| (4 * n + choices.of(&[0, 0, 4, 64, -4, 256])).max(0) as u64;
        let args = vec![
            (0, 0, Value::Buffer { bytes: bytes(choices), align: 1 }),
            (1, 0, Value::Buffer { bytes: bytes(choices), align: 1 }),
            (2, 0, Value::Number(number(choices, n))),
            (3, 0, Value::Number(number(choices, n))),
        ];
        let block = Dim3::new(choices.below(40) as u32 + 1, choices.of(&[1, 1, 1, 2]), 1);
        let grid = Dim3::from(choices.below(3) as u32 + 1);
        let (name, text, dynamic_shared) = ("generated.ptx", &*text, 0);
        Trial { name, text, kernel: &kernel, grid, block, dynamic_shared, args }.run(choices, tally);
    }
}

/// A launch of a corpus kernel at a small size, disturbed.
fn disturbed(shape: &Shape, text: &str, kernel: &Kernel, choices: &mut Choices, tally: &mut Tally) {
    let drawn = [choices.below(70), choices.below(700), 16, 32, 64, 256];
    let n = i128::from(choices.of(&drawn));
    let square = choices.below(2) == 0;
    let args = shape.args.iter().map(|&(param, offset, value)| {
        let value = match value {
            Value::Number(_) if choices.below(4) == 0 => Value::Number(number(choices, n)),
            Value::Number(own) if own <= 64 => Value::Number(own),
            Value::Number(_) => Value::Number(n),
            Value::Buffer { .. } => {
                let elements = if square { n * n } else { n };
                let size = choices.of(&[1, 2, 4, 4, 4, 8, 16]);
                let bytes = elements * size + choices.of(&[0, 0, 0, -4, -1, 4, 256]);
                Value::Buffer { bytes: bytes.clamp(0, 1 << 20) as u64, align: 1 }
            }
        };
        (param, offset, value)
    });
    let args = args.collect();
    let small = |choices: &mut Choices, own: u32| match own {
        1 => 1,
        _ => {
            let any = 1 + choices.below(40) as u32;
            choices.of(&[own.min(64), own.min(32), any])
        }
    };
    let block = shape.block;
    let block = match choices.below(3) {
        0 if block.count() <= 256 => block,
        _ => Dim3::new(small(choices, block.x), small(choices, block.y).min(8), block.z),
    };
    let few = |choices: &mut Choices, own: u32| 1 + choices.below(u64::from(own.min(3))) as u32;
    let grid = Dim3::new(few(choices, shape.grid.x), few(choices, shape.grid.y), 1);
    let own = shape.dynamic_shared;
    let dynamic_shared = choices.of(&[own, own, own / 2, (8 * n as u32).min(40_000), own.saturating_sub(4)]);
    Trial { name: &shape.kernel, text, kernel, grid, block, dynamic_shared, args }.run(choices, tally);
}

fn many(launches: u64, seed: u64) -> Tally {
    let mut tally = Tally::default();
    let mut choices = Choices(seed);
    let corpus: Vec<_> = shapes()
        .into_iter()
        .map(|shape| {
            let text = corpus(&shape.file);
            let kernel = Kernel::new(&text, &shape.kernel);
            (shape, text, kernel)
        })
        .collect();
    while tally.launches < launches {
        for _ in 0..8 {
            generated(&mut choices, &mut tally);
        }
        let (shape, text, kernel) = &corpus[choices.below(corpus.len() as u64) as usize];
        for _ in 0..6 {
            disturbed(shape, text, kernel, &mut choices, &mut tally);
        }
    }
    tally
}

#[test]
fn what_is_proved_does_not_fault() {
    let tally = many(1500, 1);
    println!("{tally:?}");
    // not an empty promise: a good part of the accesses is proved, and some launches go wrong elsewhere
    assert!(tally.proved * 5 > tally.sites, "{tally:?}");
}

/// `SCOPED_GPU_INPUTS=1000000 cargo test --release --lib bounds::proof::tests::soundness -- --ignored --nocapture`
#[test]
#[ignore = "as long as SCOPED_GPU_INPUTS says"]
fn what_is_proved_does_not_fault_in_many_launches() {
    let setting = |name, default| std::env::var(name).ok().and_then(|v| v.parse().ok()).unwrap_or(default);
    let (launches, seed) = (setting("SCOPED_GPU_INPUTS", 100_000), setting("SCOPED_GPU_SEED", 7));
    println!("{:?}", many(launches, seed));
}
