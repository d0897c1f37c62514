//! Damaged kernels: lines of the corpus dropped, doubled, swapped, numbers and registers changed. What the verifier
//! still accepts runs with small buffers and a step budget. Faults are fine, a panic is not: it fails the test.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use scoped_gpu::{Device, ErrorKind, FaultKind, Launch, Read, ReadWrite};

use crate::FILES;
use crate::reference::random::Random;

/// How long the test may go on finding new damage.
const PATIENCE: Duration = Duration::from_secs(4);
/// Below this the test would prove nothing.
const LEAST: usize = 20;

/// A kernel of the corpus that takes pointers and 32-bit numbers only, alone in a module.
struct Victim {
    head: String,
    lines: Vec<String>,
    name: String,
    /// For each parameter, whether it is a pointer.
    pointers: Vec<bool>,
}

fn victims() -> Vec<Victim> {
    let mut victims = Vec::new();
    for (_, text) in FILES {
        let lines: Vec<&str> = text.lines().collect();
        let Some(first) = lines.iter().position(|line| line.contains(".entry")) else { continue };
        let starts: Vec<usize> = (first..lines.len()).filter(|&i| lines[i].contains(".entry")).collect();
        for &start in &starts {
            let Some(length) = lines[start..].iter().position(|line| *line == "}") else { continue };
            let body = &lines[start..=start + length];
            let head: Vec<&str> = lines[..first].to_vec();
            let params: Vec<&&str> =
                body.iter().take_while(|l| !l.starts_with(')')).filter(|l| l.contains(".param")).collect();
            let simple = params.iter().all(|l| l.contains(".u64") || l.contains(".u32"));
            // The header of a module with several kernels may define functions; these are kept.
            if !simple || params.is_empty() || params.len() > 4 || body.len() > 400 {
                continue;
            }
            let name = body[0].split(".entry").nth(1).unwrap_or("").trim().trim_end_matches('(').to_owned();
            victims.push(Victim {
                head: head.join("\n"),
                lines: body.iter().map(|line| (*line).to_owned()).collect(),
                name,
                pointers: params.iter().map(|l| l.contains(".u64")).collect(),
            });
        }
    }
    victims
}

/// One change to a body.
fn damage(lines: &mut Vec<String>, first: usize, random: &mut Random) {
    let at = |random: &mut Random, lines: &[String]| {
        let choices = lines.len().saturating_sub(first + 1).max(1) as u64;
        (first + random.below(choices) as usize).min(lines.len() - 1)
    };
    let (i, j) = (at(random, lines), at(random, lines));
    match random.below(6) {
        0 => drop(lines.remove(i)),
        1 => lines.insert(j, lines[i].clone()),
        2 => lines.swap(i, j),
        // One digit of the line becomes another: a register, an offset, a constant, a label.
        3 | 4 => {
            let digits: Vec<usize> =
                lines[i].match_indices(|c: char| c.is_ascii_digit()).map(|(at, _)| at).collect();
            if let Some(&digit) = digits.get(random.below(digits.len().max(1) as u64) as usize) {
                lines[i].replace_range(digit..=digit, &random.below(10).to_string());
            }
        }
        // A word of one line in another's place.
        _ => {
            let words = ["add", "sub", "and", "xor", "mul.lo", "div", "rem", "min", "shl", "shr"];
            let [from, to] = [0; 2].map(|_| words[random.below(words.len() as u64) as usize]);
            lines[i] = lines[i].replacen(from, to, 1);
        }
    }
}

enum Outcome {
    Refused,
    Ran,
    Faulted,
}

fn run(name: &str, text: &str, pointers: &[bool], strict: bool) -> Result<Outcome, String> {
    macro_rules! arguments {
        ($ctx:ident, $launch:ident, $module:ident, $(($kind:ty, $value:expr)),+) => {{
            let kernel = $module.kernel::<($($kind,)+)>(name)?;
            $ctx.launch(&kernel, $launch, ($($value,)+))?;
            $ctx.synchronize()
        }};
    }
    let result = Device::host().scope(|ctx| {
        let module = ctx.module(text)?;
        let (a, b) = (ctx.buffer::<u32>(96)?, ctx.buffer::<u32>(96)?);
        let (mut c, mut d) = (ctx.buffer::<u32>(96)?, ctx.buffer::<u32>(96)?);
        let launch = Launch::grid(2, 40).shared_bytes(512).max_steps(4000);
        let launch = if strict { launch.strict() } else { launch };
        type R = Read<u32>;
        type W = ReadWrite<u32>;
        match *pointers {
            [true] => arguments!(ctx, launch, module, (W, &mut c)),
            [true, true] => arguments!(ctx, launch, module, (R, &a), (W, &mut c)),
            [true, false] => arguments!(ctx, launch, module, (W, &mut c), (u32, 40)),
            [true, true, false] => arguments!(ctx, launch, module, (R, &a), (W, &mut c), (u32, 40)),
            [false, true, true] => arguments!(ctx, launch, module, (u32, 20), (R, &a), (W, &mut c)),
            [true, false, false] => arguments!(ctx, launch, module, (W, &mut c), (u32, 4), (u32, 8)),
            [true, true, false, false] => {
                arguments!(ctx, launch, module, (R, &a), (W, &mut c), (u32, 8), (u32, 5))
            }
            [true, true, true, true] => {
                arguments!(ctx, launch, module, (R, &a), (W, &mut c), (R, &b), (W, &mut d))
            }
            _ => Ok(()),
        }
    });
    match result {
        Ok(()) => Ok(Outcome::Ran),
        Err(error) => match error.kind() {
            ErrorKind::Fault(fault) => match &fault.kind {
                FaultKind::Internal { message } => Err(format!("internal error: {message}")),
                _ => Ok(Outcome::Faulted),
            },
            _ => Ok(Outcome::Refused),
        },
    }
}

#[test]
fn damaged_kernels_never_make_the_host_device_panic() {
    let victims = victims();
    assert!(victims.len() >= 10, "{} kernels to damage", victims.len());
    let mut random = Random::new(0xda3a6e);
    let (mut refused, mut ran, mut faulted) = (0, 0, 0);
    let began = Instant::now();
    while began.elapsed() < PATIENCE {
        let victim = &victims[random.below(victims.len() as u64) as usize];
        let mut lines = victim.lines.clone();
        let first = lines.iter().position(|line| line.contains("ld.param")).unwrap_or(1);
        for _ in 0..=random.below(3) {
            damage(&mut lines, first, &mut random);
        }
        let text = format!("{}\n{}\n", victim.head, lines.join("\n"));
        let strict = random.below(2) == 0;
        let outcome = catch_unwind(AssertUnwindSafe(|| run(&victim.name, &text, &victim.pointers, strict)));
        match outcome {
            Ok(Ok(Outcome::Refused)) => refused += 1,
            Ok(Ok(Outcome::Ran)) => ran += 1,
            Ok(Ok(Outcome::Faulted)) => faulted += 1,
            Ok(Err(message)) => panic!("strict: {strict}: {message}\n{}", lines.join("\n")),
            Err(_) => panic!("strict: {strict}: a panic, from this kernel:\n{}", lines.join("\n")),
        }
    }
    println!("{ran} ran, {faulted} faulted, {refused} were refused");
    assert!(ran + faulted >= LEAST, "only {} kernels were accepted", ran + faulted);
}
