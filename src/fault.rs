//! What a kernel did wrong, as one value: whose fault, where, which thread, which memory. Rendering it like a
//! compiler's diagnostic belongs here; finding it belongs to the devices.

use std::fmt;
use std::panic::Location;

use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};

/// Whose mistake a [`Fault`] is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Blame {
    /// The kernel's code, for the arguments it was given.
    Kernel,
    /// The program that launched it (an argument or a limit it set itself).
    Caller,
    /// Something this crate does not do (yet): an instruction or a resource beyond the host device.
    Limit,
    /// A mistake of this crate. Please report it.
    Bug,
}

/// The kinds of faults.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FaultKind {
    /// An access outside the buffers of the launch, or outside shared, local or parameter memory.
    OutOfRange,
    /// An address that is not a multiple of the access's size.
    Misaligned,
    /// A store or atomic to a buffer that was given as [`Read`](crate::Read), or to constant memory.
    ReadOnly,
    /// An access to memory that was freed.
    Freed,
    /// An access through a null pointer (an address in the first page).
    Null,
    /// An address that belongs to nothing.
    Stray,
    /// The kernel executed `trap` or `brkpt`.
    Trap,
    /// A failed `assert`.
    Assert {
        /// The condition and its place, as the kernel reported them.
        message: String,
    },
    /// An instruction that the host device does not execute.
    Unsupported {
        /// The instruction with its modifiers.
        opcode: String,
    },
    /// More steps than [`Launch::max_steps`](crate::Launch::max_steps) allows.
    StepLimit {
        /// The budget.
        steps: u64,
    },
    /// Calls nested deeper than the device's stack.
    StackOverflow,
    /// A call through a pointer that is no function, or with another prototype.
    BadCall,
    /// No thread of the block can go on.
    Deadlock,
    /// `bar.sync` reached by some threads of a warp only (strict mode).
    DivergentBarrier,
    /// A read of memory or of a register that nothing has written (strict mode).
    Uninitialised,
    /// Two threads touch the same bytes without an order between them, one of them writing (strict mode).
    DataRace {
        /// The other access: its PTX line, block and thread.
        other: Box<Site>,
    },
    /// A shuffle that reads the register of a lane which does not take part (strict mode).
    InactiveLane,
    /// An integer division by zero (strict mode).
    DivisionByZero,
    /// `ld.global.nc` of data that the launch itself wrote (strict mode).
    NonCoherentLoad,
    /// The GPU stopped an unchecked kernel; it says no more than a code.
    Hardware {
        /// The driver's result code.
        code: i32,
        /// Its name, or `unknown`.
        name: String,
        /// How many launches had not been waited for, without checked ones if there were others. The fault names the
        /// oldest of the stream that was waited for, if it has some, else of another. 1: it is certain.
        candidates: usize,
    },
    /// The interpreter contradicted itself.
    Internal {
        /// What was found.
        message: String,
    },
}

impl FaultKind {
    /// Whose mistake a fault of this kind is.
    #[must_use]
    pub fn blame(&self) -> Blame {
        match self {
            Self::Unsupported { .. } | Self::StackOverflow => Blame::Limit,
            Self::StepLimit { .. } => Blame::Caller,
            Self::Internal { .. } => Blame::Bug,
            _ => Blame::Kernel,
        }
    }
}

/// What an access does to memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AccessKind {
    /// It reads.
    Load,
    /// It writes.
    Store,
    /// It reads and writes in one step.
    Atomic,
}

impl fmt::Display for AccessKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Load => "load",
            Self::Store => "store",
            Self::Atomic => "atomic",
        })
    }
}

/// The state space an access went to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Space {
    /// Global memory: the buffers of the launch and module variables.
    Global,
    /// The block's shared memory.
    Shared,
    /// The thread's own memory.
    Local,
    /// Constant memory.
    Const,
    /// Kernel or call parameters.
    Param,
    /// A generic address that lies in no window.
    Generic,
}

impl fmt::Display for Space {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Global => "global",
            Self::Shared => "shared",
            Self::Local => "local",
            Self::Const => "const",
            Self::Param => "param",
            Self::Generic => "generic",
        })
    }
}

/// One memory access of one thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Access {
    /// Load, store or atomic.
    pub kind: AccessKind,
    /// Where it went.
    pub space: Space,
    /// Its first byte: a device address, or an offset in bytes for the shared, local and param spaces.
    pub address: u64,
    /// Its size in bytes, all elements of a vector access together.
    pub bytes: u32,
}

/// A place in a kernel and who was there.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Site {
    /// Line of the PTX, counted from 1.
    pub line: u32,
    /// First column of the instruction, counted from 1.
    pub column: u32,
    /// Text of that line.
    pub text: String,
    /// Bytes of the line that the instruction takes, from its first column.
    pub length: u32,
    /// The line of the source it was compiled from, where `.loc` says so.
    pub source: Option<SourceLine>,
    /// Index of the block in the grid.
    pub block: [u32; 3],
    /// Index of the thread in its block.
    pub thread: [u32; 3],
}

impl Site {
    /// A site at `line` and `column` (from 1) whose line reads `text`; the instruction takes `length` bytes of it.
    #[must_use]
    pub fn new(line: u32, column: u32, text: String, length: u32) -> Self {
        Self { line, column, text, length, source: None, block: [0; 3], thread: [0; 3] }
    }
}

/// A line of the file that was compiled to PTX.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct SourceLine {
    /// As the compiler wrote it.
    pub file: String,
    /// Counted from 1.
    pub line: u32,
}

/// The buffer that an access most likely meant, and by how much it missed.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct NearBuffer {
    /// Position among the launch's arguments, from 0; `None` for a module variable or another allocation.
    pub argument: Option<usize>,
    /// The parameter's or variable's name in the PTX.
    pub name: String,
    /// Its length in bytes.
    pub bytes: u64,
    /// From the buffer's start to the access's first byte, in bytes; negative before the buffer.
    pub offset: i128,
}

impl NearBuffer {
    /// How far outside the access lies, in bytes: 0 when it touches the buffer or its end.
    #[must_use]
    pub fn distance(&self, access_bytes: u32) -> u128 {
        let end = self.offset + i128::from(access_bytes);
        if end <= 0 {
            end.unsigned_abs()
        } else {
            (self.offset - i128::from(self.bytes)).max(0).unsigned_abs()
        }
    }

    /// Of what a launch was given, what an access near address 0 was meant for: the one empty array. Empty arrays lie at
    /// address 0; of several, nothing says which.
    pub(crate) fn empty(given: impl Iterator<Item = Self>, access: &Access) -> Option<Self> {
        let mut empty = given.filter(|near| near.bytes == 0 && near.offset == i128::from(access.address));
        empty.next().filter(|_| empty.next().is_none())
    }

    fn describe(&self, access: &Access) -> String {
        let Self { name, bytes, offset, .. } = self;
        let end = offset + i128::from(access.bytes);
        let place = if end <= 0 {
            format!("ends {} bytes before it", end.unsigned_abs())
        } else if *offset < 0 {
            format!("begins {} bytes before it", offset.unsigned_abs())
        } else if *offset >= i128::from(*bytes) {
            format!("begins {} bytes past its end", offset - i128::from(*bytes))
        } else if end > i128::from(*bytes) {
            format!("sticks out {} bytes past its end", end - i128::from(*bytes))
        } else {
            format!("at byte {offset}")
        };
        match self.argument {
            Some(index) if *bytes == 0 => {
                format!("buffer `{name}` (argument {index}) is empty: the access {place}")
            }
            Some(index) => format!("buffer `{name}` (argument {index}, {bytes} bytes): the access {place}"),
            None => format!("`{name}` ({bytes} bytes): the access {place}"),
        }
    }
}

/// A kernel's mistake: what, where, which thread, which memory.
///
/// [`Display`](fmt::Display) renders it like a compiler's diagnostic, with the line of PTX.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Fault {
    /// What went wrong.
    pub kind: FaultKind,
    /// The kernel that was launched.
    pub kernel: String,
    /// The module's name.
    pub module: String,
    /// Where, and which thread; `None` when the device could not tell (an unchecked launch on hardware).
    pub site: Option<Site>,
    /// The access, for the kinds that have one.
    pub access: Option<Access>,
    /// The buffer it most likely meant.
    pub buffer: Option<NearBuffer>,
    /// The call that launched the kernel.
    pub launched_at: Option<&'static Location<'static>>,
    /// Whether memory outside the launch's buffers is known to be untouched and the device goes on.
    pub contained: bool,
    /// Those of later launches, until an [`Error`](crate::Error) is made of it, which has them in `also`.
    pub(crate) later: Vec<Fault>,
}

/// How many faults of later launches are kept beside the first.
const LATER: usize = 15;

impl Fault {
    /// A fault of `kernel` in `module`, contained, with nothing else known yet.
    #[must_use]
    pub fn new(kind: FaultKind, module: impl Into<String>, kernel: impl Into<String>) -> Self {
        Self {
            kind,
            kernel: kernel.into(),
            module: module.into(),
            site: None,
            access: None,
            buffer: None,
            launched_at: None,
            contained: true,
            later: Vec::new(),
        }
    }

    /// Keeps a fault, behind the one that is kept already.
    pub(crate) fn keep(first: &mut Option<Box<Self>>, mut fault: Box<Self>) {
        let Some(first) = first else {
            *first = Some(fault);
            return;
        };
        let more = std::mem::take(&mut fault.later);
        first.later.push(*fault);
        first.later.extend(more);
        first.later.truncate(LATER);
    }

    /// A copy without those of later launches.
    pub(crate) fn alone(&self) -> Self {
        Self { later: Vec::new(), ..self.clone() }
    }

    /// Whose mistake it is.
    #[must_use]
    pub fn blame(&self) -> Blame {
        self.kind.blame()
    }

    /// The first line of the report.
    #[must_use]
    pub fn summary(&self) -> String {
        let kernel = &self.kernel;
        let access = self.access.map_or_else(
            || "access".to_owned(),
            |a| format!("{}-byte {} ({} memory)", a.bytes, a.kind, a.space),
        );
        match &self.kind {
            FaultKind::OutOfRange => format!("kernel `{kernel}`: {access} out of range"),
            FaultKind::Misaligned => format!("kernel `{kernel}`: {access} at a misaligned address"),
            FaultKind::ReadOnly => {
                format!("kernel `{kernel}`: {access} to memory that the launch may only read")
            }
            FaultKind::Freed => format!("kernel `{kernel}`: {access} to freed memory"),
            FaultKind::Null => format!("kernel `{kernel}`: {access} through a null pointer"),
            FaultKind::Stray => format!("kernel `{kernel}`: {access} at an address that belongs to nothing"),
            FaultKind::Trap => format!("kernel `{kernel}`: executed `trap`"),
            FaultKind::Assert { message } => format!("kernel `{kernel}`: assertion failed: {message}"),
            FaultKind::Unsupported { opcode } => format!("kernel `{kernel}`: not supported: {opcode}"),
            FaultKind::StepLimit { steps } => {
                format!("kernel `{kernel}`: still running after {steps} steps, the launch's `max_steps`")
            }
            FaultKind::StackOverflow => {
                format!("kernel `{kernel}`: calls nested deeper than the device's stack")
            }
            FaultKind::BadCall => {
                format!("kernel `{kernel}`: indirect call to something that is no such function")
            }
            FaultKind::Deadlock => format!("kernel `{kernel}`: deadlock, no thread of the block can go on"),
            FaultKind::DivergentBarrier => {
                format!("kernel `{kernel}`: aligned barrier reached by a part of a warp only")
            }
            FaultKind::Uninitialised => {
                format!("kernel `{kernel}`: {access} of something nothing has written")
            }
            FaultKind::DataRace { .. } => format!("kernel `{kernel}`: data race, {access}"),
            FaultKind::InactiveLane => {
                format!("kernel `{kernel}`: shuffle from a lane that does not take part")
            }
            FaultKind::DivisionByZero => format!("kernel `{kernel}`: integer division by zero"),
            FaultKind::NonCoherentLoad => {
                format!("kernel `{kernel}`: non-coherent load of data that this launch wrote")
            }
            FaultKind::Hardware { code, name, candidates: 1 } => {
                format!("kernel `{kernel}`: the GPU stopped it: {name} ({code})")
            }
            FaultKind::Hardware { code, name, candidates } => format!(
                "the GPU stopped one of {candidates} launches, the first of them `{kernel}`: {name} ({code})"
            ),
            FaultKind::Internal { message } => format!("kernel `{kernel}`: internal error: {message}"),
        }
    }

    fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if let (Some(buffer), Some(access)) = (&self.buffer, &self.access) {
            notes.push(buffer.describe(access));
        }
        if let Some(access) = &self.access {
            match access.space {
                Space::Global | Space::Generic | Space::Const => {
                    notes.push(format!("address {:#x}", access.address))
                }
                space => notes.push(format!("{space} memory, byte offset {}", access.address as i64)),
            }
        }
        if let Some(site) = &self.site {
            notes.push(place(site));
        }
        if let FaultKind::DataRace { other } = &self.kind {
            notes.push(format!(
                "the other access: PTX line {}: {}; {}",
                other.line,
                other.text.trim().trim_end_matches(';'),
                place(other)
            ));
        }
        if let Some(at) = self.launched_at {
            notes.push(format!("launched at {at}"));
        }
        notes
    }

    fn consequence(&self) -> &'static str {
        match (self.blame(), self.contained) {
            (Blame::Bug, _) => "this is a mistake of scoped-gpu; please report it with the kernel",
            (Blame::Limit, true) => {
                "the host device cannot run this kernel; the rest of the module is usable"
            }
            (_, true) => "no memory outside the launch's buffers was touched; the device goes on",
            (_, false) => "the launch was unchecked: this context answers nothing more",
        }
    }
}

fn place(site: &Site) -> String {
    let [bx, by, bz] = site.block;
    let [tx, ty, tz] = site.thread;
    let compiled = match &site.source {
        Some(SourceLine { file, line }) => format!(", compiled from {file}:{line}"),
        None => String::new(),
    };
    format!("block ({bx}, {by}, {bz}), thread ({tx}, {ty}, {tz}){compiled}")
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let summary = self.summary();
        let notes = self.notes();
        let mut group = match &self.site {
            Some(site) => {
                let start = (site.column.saturating_sub(1) as usize).min(site.text.len());
                let end = (start + site.length as usize).min(site.text.len());
                let span = if site.text.is_char_boundary(start) && site.text.is_char_boundary(end) {
                    start..end
                } else {
                    0..site.text.len()
                };
                Level::ERROR.primary_title(summary.as_str()).element(
                    Snippet::source(site.text.as_str())
                        .line_start(site.line as usize)
                        .path(self.module.as_str())
                        .annotation(AnnotationKind::Primary.span(span)),
                )
            }
            None => Level::ERROR.primary_title(summary.as_str()).element(
                Level::NOTE.message("where and by which thread is not known: the launch was not checked"),
            ),
        };
        for note in &notes {
            group = group.element(Level::NOTE.message(note.as_str()));
        }
        group = group.element(Level::HELP.message(self.consequence()));
        f.write_str(&Renderer::plain().render(&[group]))
    }
}
