//! A planted bug: the kernel, what strict mode must say, and how both are compared.

use scoped_gpu::{
    Blame, Device, Error, FaultKind, Launch, Linear, Read, ReadWrite, Site, Space, linear, uninit, zeros,
};

/// What a fault must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Uninitialised,
    /// With the block and thread of the access marked `// OTHER`.
    DataRace {
        block: u32,
        thread: u32,
    },
    DivergentBarrier,
    InactiveLane,
    DivisionByZero,
    NonCoherentLoad,
    Deadlock,
}

/// A kernel with a bug, and its corrected twin.
#[derive(Clone, Copy)]
pub struct Case {
    pub name: &'static str,
    /// Blocks, and threads in a block.
    pub shape: (u32, u32),
    pub bug: &'static str,
    pub corrected: &'static str,
    pub kind: Kind,
    /// The block and thread that the report names.
    pub place: (u32, u32),
}

/// What every kernel begins with: `%r1` thread, `%r2` block, `%r3` the thread's word of shared memory, `%r4` its
/// beginning; `%rd1` the thread's word of `input`, `%rd2` of `output`, `%rd3` the beginning of `output`, `%rd4` the
/// thread's word of `raw`, which nothing has written; `%p1` holds in the first sixteen threads.
const PROLOGUE: &str = "\
.version 8.5
.target sm_90
.address_size 64
.visible .entry planted(.param .u64 input, .param .u64 output, .param .u64 raw)
{
.reg .pred %p<10>; .reg .b32 %r<40>; .reg .b64 %rd<20>;
.shared .align 16 .b8 s[2048];
mov.u32 %r1, %tid.x;
mov.u32 %r2, %ctaid.x;
mov.u32 %r4, s;
shl.b32 %r3, %r1, 2;
add.u32 %r3, %r3, %r4;
mov.u32 %r5, %ntid.x;
mad.lo.u32 %r5, %r5, %r2, %r1;
mul.wide.u32 %rd5, %r5, 4;
ld.param.u64 %rd1, [input];
add.u64 %rd1, %rd1, %rd5;
ld.param.u64 %rd3, [output];
add.u64 %rd2, %rd3, %rd5;
ld.param.u64 %rd4, [raw];
add.u64 %rd4, %rd4, %rd5;
setp.lt.u32 %p1, %r1, 16;
";

/// Words of each buffer.
const WORDS: usize = 256;

fn text(body: &str) -> String {
    format!("{PROLOGUE}{body}\nret;\n}}\n")
}

fn run(case: &Case, body: &str, strict: bool) -> Result<(), Error> {
    let (blocks, threads) = case.shape;
    let data: Vec<u32> = (0..WORDS as u32).collect();
    Device::host().scope(|ctx| {
        let module = ctx.module_named(case.name, &text(body))?;
        let kernel = module.kernel::<(Read<u32>, ReadWrite<u32>, ReadWrite<u32>)>("planted")?;
        let specs = (linear(&data), zeros::<u32>(WORDS), uninit::<u32>(WORDS));
        ctx.alloc(specs, |(input, mut output, mut raw): (Linear<u32>, Linear<u32>, Linear<u32>)| {
            let launch = Launch::grid(blocks, threads).max_steps(100_000);
            let launch = if strict { launch.strict() } else { launch };
            ctx.launch(&kernel, launch, (&input, &mut output, &mut raw))?;
            ctx.synchronize()
        })
    })
}

/// Strict mode reports exactly the planted bug.
pub fn is_found(case: &Case) -> Result<(), String> {
    let Err(error) = run(case, case.bug, true) else { return Err("nothing was reported".to_owned()) };
    let fault = error.fault().ok_or_else(|| format!("no fault: {error}"))?;
    let wrong = |what: &str| Err(format!("{what}\n{fault}"));
    let (kind, other) = match &fault.kind {
        FaultKind::Uninitialised => (Kind::Uninitialised, None),
        FaultKind::DataRace { other } => {
            let kind = Kind::DataRace { block: other.block[0], thread: other.thread[0] };
            (kind, Some(other))
        }
        FaultKind::DivergentBarrier => (Kind::DivergentBarrier, None),
        FaultKind::InactiveLane => (Kind::InactiveLane, None),
        FaultKind::DivisionByZero => (Kind::DivisionByZero, None),
        FaultKind::NonCoherentLoad => (Kind::NonCoherentLoad, None),
        FaultKind::Deadlock => (Kind::Deadlock, None),
        _ => return wrong("another kind of fault"),
    };
    if kind != case.kind {
        return wrong(&format!("{kind:?}, expected {:?}", case.kind));
    }
    let Some(site) = &fault.site else { return wrong("no place") };
    if site.line != marked(case.bug, "// BUG")? {
        return wrong("another line");
    }
    let here = |site: &Site| (site.block[0], site.thread[0]);
    if here(site) != case.place {
        return wrong(&format!("block and thread {:?}, expected {:?}", here(site), case.place));
    }
    // a race of one instruction with itself has one mark
    let earlier = marked(case.bug, "// OTHER").or_else(|_| marked(case.bug, "// BUG"))?;
    if let Some(access) = fault.access.filter(|access| access.space == Space::Global) {
        let Some(buffer) = &fault.buffer else { return wrong("no buffer") };
        let end = buffer.offset + i128::from(access.bytes);
        let inside = buffer.offset >= 0 && end <= i128::from(buffer.bytes) && buffer.argument.is_some();
        if !inside || access.address < 1 << 40 {
            return wrong("a buffer or an address that the access does not lie in");
        }
    }
    if other.is_some_and(|other| other.line != earlier) {
        return wrong("the other access is another");
    }
    Ok(())
}

/// The line of the module that ends with `mark`, from 1.
fn marked(body: &str, mark: &str) -> Result<u32, String> {
    let text = text(body);
    let mut lines = text.lines().zip(1..).filter(|(line, _)| line.ends_with(mark));
    match (lines.next(), lines.next()) {
        (Some((_, line)), None) => Ok(line),
        _ => Err(format!("not one line with `{mark}`")),
    }
}

/// Strict mode has nothing to say about the twin.
pub fn corrected_is_clean(case: &Case) -> Result<(), String> {
    run(case, case.corrected, true).map_err(|error| error.to_string())
}

/// Without strict mode the bug passes, or is a fault of the kernel's; never one of the interpreter's.
pub fn without_strict_mode(case: &Case) -> Result<(), String> {
    match run(case, case.bug, false) {
        Ok(()) => Ok(()),
        Err(error) if error.fault().is_some_and(|fault| fault.blame() == Blame::Kernel) => Ok(()),
        Err(error) => Err(error.to_string()),
    }
}
