//! Generated kernels with planted mistakes, launched as a program launches them: each report says what the oracle says,
//! nothing but what the kernel may write has changed, and the next launch on the same context is right.

use std::collections::BTreeMap;

use anyhow::{Context as _, Result, bail, ensure};
use scoped_gpu::{
    AccessKind, Context, Device, Dynamic, DynamicArgument, Fault, FaultKind, Kernel, Launch, NearBuffer,
    Read, ReadWrite, Space, Write, linear, zeros,
};

use crate::generator::{Access, BLOCKS, Kind, Place, Planted, THREADS};
use crate::oracle::{Expected, Miss, Rule, expect};

/// Bytes on both sides of a buffer that stay as they are.
const GUARD: usize = 4096;
const FILL: u8 = 0xa5;

/// Nothing lies below this address: an access there is through a null pointer and a little.
const NULL_LIMIT: u64 = 1 << 20;

/// The host device gives each allocation so many bits of addresses of its own: a miss that stays within is blamed on
/// it, one that leaves them may belong to nothing, or to anything.
const HOST_SLOT_BITS: u32 = 40;

/// Writes the addresses that its parameters have.
const PLACES: &str = "\
.version 8.5
.target sm_90
.address_size 64
.visible .entry places(.param .u64 x, .param .u64 y, .param .u64 index, .param .u64 out, .param .u64 places)
{
.reg .b64 %d<5>;
ld.param.u64 %d0, [x];
ld.param.u64 %d1, [y];
ld.param.u64 %d2, [index];
ld.param.u64 %d3, [out];
ld.param.u64 %d4, [places];
st.global.u64 [%d4], %d0;
st.global.u64 [%d4+8], %d1;
st.global.u64 [%d4+16], %d2;
st.global.u64 [%d4+24], %d3;
ret;
}
";

type Places = (Read<u8>, ReadWrite<u8>, Read<i32>, ReadWrite<u64>, Write<u64>);

/// How many kernels did what.
type Counts = BTreeMap<String, usize>;

/// Kernels of one scope: some share a context with kernels that went wrong, some come after all that was closed.
const TOGETHER: usize = 50;

/// Runs kernels `first..first + count`, and prints what they did.
pub fn run(device: &Device, rule: Rule, first: u64, count: u64) -> Result<()> {
    let mut counts = Counts::new();
    let mut failed = 0;
    for begin in (first..first + count).step_by(TOGETHER) {
        device.scope(|ctx| {
            let places = ctx.module_named("places.ptx", PLACES)?.kernel::<Places>("places")?;
            for seed in begin..(first + count).min(begin + TOGETHER as u64) {
                let planted = Planted::new(seed);
                let missed = one(ctx, &places, &planted, seed, rule, &mut counts).with_context(|| {
                    format!("kernel {seed}: {:#?} {:?}\n{}", planted.accesses, planted.skew, planted.text)
                })?;
                failed += u64::from(missed);
            }
            anyhow::Ok(())
        })?;
    }
    println!("{count} kernels from number {first}, {failed} of them go wrong:");
    counts.iter().for_each(|(what, count)| println!("{count:7}  {what}"));
    // with few kernels chance decides
    let (least, most) = (count * 3 / 10, count * 95 / 100);
    ensure!(count < 100 || (least..most).contains(&failed), "the plants are too rare or too common");
    Ok(())
}

fn guarded(bytes: &[u8], skew: usize) -> Vec<u8> {
    let mut whole = vec![FILL; GUARD + skew + bytes.len() + GUARD];
    whole[GUARD + skew..][..bytes.len()].copy_from_slice(bytes);
    whole
}

/// Launches one kernel. Whether it went wrong, as it was to.
fn one<'ctx>(
    ctx: &Context<'ctx>,
    places: &Kernel<'ctx, Places>,
    planted: &Planted,
    seed: u64,
    rule: Rule,
    counts: &mut Counts,
) -> Result<bool> {
    let threads = (THREADS * BLOCKS) as usize;
    let [x_before, y_before] = [(&planted.x, 0), (&planted.y, 1)].map(|(b, i)| guarded(b, planted.skew[i]));
    let [x_at, y_at] = [(&planted.x, 0), (&planted.y, 1)]
        .map(|(bytes, i)| GUARD + planted.skew[i]..GUARD + planted.skew[i] + bytes.len());
    let specs = (
        linear(&x_before),
        linear(&y_before),
        linear(&planted.index),
        zeros::<u64>(threads),
        zeros::<u64>(4),
    );
    ctx.alloc(specs, |(x, mut y, index, mut out, mut found)| {
        let (x_view, y_range) = (x.slice(x_at), y_at.clone());
        ctx.launch(
            places,
            Launch::grid(1, 1),
            (x_view, y.slice_mut(y_range.clone()), &index, &mut out, &mut found),
        )?;
        let addresses: [u64; 4] =
            found.to_vec()?.try_into().map_err(|_| anyhow::anyhow!("four addresses"))?;
        found.fill(0)?;
        let expected = expect(planted, addresses, rule);

        // A signature would refuse, at load, kernels that write where they may only read.
        let kernel = ctx.module_named("planted.ptx", &planted.text)?.kernel::<Dynamic>("k")?;
        let arguments = vec![
            DynamicArgument::new::<Read<u8>>(x_view),
            DynamicArgument::new::<ReadWrite<u8>>(y.slice_mut(y_range.clone())),
            DynamicArgument::new::<Read<i32>>(&index),
            DynamicArgument::new::<Write<u64>>(&mut out),
        ];
        let launch = Launch::grid(BLOCKS, THREADS);
        let launch = match seed % 8 {
            1 | 5 => launch.check_all(),
            2 => launch.max_steps(100_000),
            _ => launch,
        };
        ctx.launch(&kernel, launch, arguments)?;
        let ended = ctx.synchronize();
        match (&ended, expected.first) {
            (Ok(()), None) => note(counts, "nothing goes wrong"),
            (Ok(()), Some(miss)) => bail!("no fault; the oracle says {miss:?}"),
            (Err(error), miss) => {
                let fault = error.fault().with_context(|| format!("no fault: {error}"))?;
                let miss = miss.with_context(|| format!("the oracle says that all is well\n{fault}"))?;
                same(fault, planted, &miss, addresses, rule)
                    .with_context(|| format!("the oracle says {miss:x?}, buffers {addresses:x?}\n{fault}"))?;
                count(counts, fault, planted, &miss, addresses);
            }
        }
        ctx.synchronize().context("a fault is returned once")?;

        ensure!(x.to_vec()? == x_before, "what may only be read was written, or its guards");
        ensure!(index.to_vec()? == planted.index, "the index array was written");
        untouched(&y.to_vec()?, &y_before, y_at.start, &expected)?;
        if !expected.elsewhere && (ended.is_ok() || rule == Rule::LowestThread) {
            ensure!(out.to_vec()? == expected.out, "what the threads loaded");
        }
        ctx.launch(places, Launch::grid(1, 1), (x_view, y.slice_mut(y_range), &index, &mut out, &mut found))?;
        ensure!(found.to_vec()? == addresses, "a right launch afterwards");
        Ok(ended.is_err())
    })
}

/// `y` and its guards, where the oracle lets nothing write.
fn untouched(after: &[u8], before: &[u8], begin: usize, expected: &Expected) -> Result<()> {
    for (at, (after, before)) in after.iter().zip(before).enumerate() {
        let inside = at.checked_sub(begin).and_then(|at| expected.touched.get(at));
        let may = inside.copied().unwrap_or(false);
        ensure!(may || after == before, "byte {} of `y` was written", at as i64 - begin as i64);
    }
    Ok(())
}

/// Whether the report says what the oracle says.
fn same(fault: &Fault, planted: &Planted, miss: &Miss, addresses: [u64; 4], rule: Rule) -> Result<()> {
    let a = &planted.accesses[miss.access];
    ensure!((fault.kernel.as_str(), fault.module.as_str()) == ("k", "planted.ptx"), "which kernel");
    ensure!(fault.contained, "it is contained");
    let site = fault.site.as_ref().context("it has a place")?;
    let (block, thread) = (miss.thread as u32 / THREADS, miss.thread as u32 % THREADS);
    ensure!((site.block, site.thread) == ([block, 0, 0], [thread, 0, 0]), "which thread");
    let text = planted.text.lines().nth(a.line as usize - 1).unwrap_or_default();
    ensure!((site.line, site.text.as_str()) == (a.line, text), "which line: {}", a.line);
    let access = fault.access.context("it is an access")?;
    let kind = match a.kind {
        Kind::Load => AccessKind::Load,
        Kind::Store => AccessKind::Store,
        Kind::Atomic | Kind::Red => AccessKind::Atomic,
    };
    let space = match a.place {
        Place::Shared => Space::Shared,
        Place::Local => Space::Local,
        _ if a.generic => Space::Generic,
        _ => Space::Global,
    };
    ensure!((access.kind, access.space, access.bytes) == (kind, space, a.bytes()), "what it does");
    // Where a GPU's shared and local memory begin is the driver's affair; these arrays lie at multiples of 16.
    let own = matches!(a.place, Place::Shared | Place::Local) && rule == Rule::LowestThread;
    let apart = access.address.wrapping_sub(miss.address);
    ensure!(apart == 0 || own && apart.is_multiple_of(16), "which address");
    let kinds = kinds(a, planted, miss, addresses, rule);
    ensure!(kinds.contains(&fault.kind), "which mistake: one of {kinds:?}");
    let meant = usize::from(a.place == Place::Y);
    match (&fault.buffer, a.place) {
        (None, Place::Shared | Place::Local) => {}
        (Some(_), Place::Shared | Place::Local) => bail!("memory of the kernel's own is no buffer"),
        (None, _) => ensure!(leaves_slot(miss, addresses[meant], rule), "it has a buffer"),
        (Some(buffer), _) => {
            let named = buffer.argument.filter(|argument| *argument < addresses.len());
            match named {
                Some(argument) => near(buffer, argument, planted, miss, addresses)?,
                None => ensure!(leaves_slot(miss, addresses[meant], rule), "a buffer of the launch"),
            }
            let right = if rule == Rule::LowestThread { meant } else { nearest(a, planted, miss, addresses) };
            ensure!(
                leaves_slot(miss, addresses[meant], rule) || named == Some(right),
                "which buffer: {right}"
            );
        }
    }
    Ok(())
}

/// Whether the host device can no longer tell by the address what it was made from.
fn leaves_slot(miss: &Miss, base: u64, rule: Rule) -> bool {
    rule == Rule::EarliestInTime && miss.address >> HOST_SLOT_BITS != base >> HOST_SLOT_BITS
}

/// What the mistake may be called; one name, but for what is so far away that the host device sees something else there.
fn kinds(a: &Access, planted: &Planted, miss: &Miss, addresses: [u64; 4], rule: Rule) -> Vec<FaultKind> {
    let bytes = u64::from(a.bytes());
    let misaligned = !miss.address.is_multiple_of(bytes);
    if matches!(a.place, Place::Shared | Place::Local) {
        return vec![if misaligned { FaultKind::Misaligned } else { FaultKind::OutOfRange }];
    }
    let meant = usize::from(a.place == Place::Y);
    if leaves_slot(miss, addresses[meant], rule) {
        return match misaligned && miss.address >> HOST_SLOT_BITS != 0 {
            true => vec![FaultKind::Misaligned],
            false => vec![
                FaultKind::OutOfRange,
                FaultKind::ReadOnly,
                FaultKind::Freed,
                FaultKind::Null,
                FaultKind::Stray,
            ],
        };
    }
    let inside = |index: usize| {
        let offset = miss.address.wrapping_sub(addresses[index]);
        offset.checked_add(bytes).is_some_and(|end| end <= planted.bytes_of(index))
    };
    let inside = match rule {
        Rule::LowestThread => inside(meant),
        Rule::EarliestInTime => (0..addresses.len()).any(inside),
    };
    vec![match () {
        () if misaligned => FaultKind::Misaligned,
        () if miss.address < NULL_LIMIT => FaultKind::Null,
        // it would be none if it were a load, or the buffer for writing
        () if inside => FaultKind::ReadOnly,
        () => FaultKind::OutOfRange,
    }]
}

/// The buffer of the launch that is least far away.
fn nearest(a: &Access, planted: &Planted, miss: &Miss, addresses: [u64; 4]) -> usize {
    let distance = |index: &usize| {
        let offset = i128::from(miss.address) - i128::from(addresses[*index]);
        let (before, behind) =
            (-(offset + i128::from(a.bytes())), offset - i128::from(planted.bytes_of(*index)));
        before.max(behind).max(0)
    };
    (0..addresses.len()).min_by_key(distance).unwrap_or(0)
}

/// Name, length and distance of the buffer that the report names.
fn near(
    buffer: &NearBuffer,
    argument: usize,
    planted: &Planted,
    miss: &Miss,
    addresses: [u64; 4],
) -> Result<()> {
    let name = ["x", "y", "index", "out"][argument];
    ensure!((buffer.name.as_str(), buffer.bytes) == (name, planted.bytes_of(argument)), "name and length");
    let offset = i128::from(miss.address) - i128::from(addresses[argument]);
    ensure!(buffer.offset == offset, "how far away: {offset}");
    Ok(())
}

fn note(counts: &mut Counts, what: impl Into<String>) {
    *counts.entry(what.into()).or_default() += 1;
}

/// Counts a miss under each thing that it shows.
fn count(counts: &mut Counts, fault: &Fault, planted: &Planted, miss: &Miss, addresses: [u64; 4]) {
    let a = &planted.accesses[miss.access];
    note(counts, format!("fault: {:?}", fault.kind));
    let space = match a.place {
        Place::X => "buffer for reading",
        Place::Y => "buffer for writing",
        Place::Shared => "shared memory",
        Place::Local => "local memory",
    };
    note(counts, format!("access: {:?} of {space}", a.kind));
    let distance = match a.place {
        Place::X => i128::from(miss.address) - i128::from(addresses[0]),
        Place::Y => i128::from(miss.address) - i128::from(addresses[1]),
        Place::Shared => i128::from(miss.address as u32 as i32),
        Place::Local => i128::from(miss.address as i64),
    };
    let v = if a.from_index { i64::from(planted.index[miss.thread as usize]) } else { miss.thread as i64 };
    let exact = i128::from(v) * i128::from(a.scale)
        + i128::from(a.constant)
        + i128::from(a.stride) * i128::from(miss.round);
    let wraps = exact != distance;
    for (shown, what) in [
        (a.from_index, "index from data"),
        (miss.round > 0, "after rounds of a loop"),
        (a.count > 1, "vector"),
        (a.generic && matches!(a.place, Place::X | Place::Y), "generic address"),
        (a.guard.is_some(), "under a predicate"),
        (wraps, "address that wrapped"),
        (!wraps && distance < 0, "before the beginning"),
        (!wraps && distance > 1 << 19, "far behind the end"),
        (!wraps && distance < -(1 << 19), "far before the beginning"),
    ] {
        if shown {
            note(counts, format!("with: {what}"));
        }
    }
}
