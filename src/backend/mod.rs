//! The contract between the crate and a device: one dyn-safe trait, with numbered invariants.
//!
//! Everything is checked once, above this line: lengths, ranges, shapes, launch limits, brands. A backend may treat a
//! violation as unreachable. Sizes and pitches are in bytes, addresses are device addresses as a kernel sees them.
//!
//! # Invariants
//!
//! What a caller of this trait owes (C) and what a backend owes (B); `unsafe` blocks refer to them by number.
//!
//! * **C1** An address given to `free`, `copy`, `fill` or `launch` lies in an allocation of this context that is live,
//!   and every byte the operation names lies in that allocation.
//! * **C2** Memory is freed only after every operation that uses it has stopped: a `wait_stream` of its stream, or a
//!   wait for a mark behind it, has returned.
//! * **C3** Host memory named by a `copy` stays valid, and is neither read (if the copy writes it) nor written by
//!   anybody else, until the operation has stopped.
//! * **C4** Ids given to a call were returned by the same backend and have not been destroyed.
//! * **C5** A launch with [`AccessRule::Unchecked`] only touches memory that the program may touch.
//! * **B1** `allocate` returns an address range disjoint from all live ones, aligned to 256 bytes at least.
//! * **B2** Operations of one stream take effect in the order in which they were queued.
//! * **B3** When `wait_stream`, `wait_mark` or `wait_all` returns, with whatever result, the operations it waited for
//!   have stopped: none of them touches host or device memory again. A backend that cannot know this aborts the process.
//! * **B4** A launch with [`AccessRule::Checked`] touches no memory outside its buffers and its module's variables, and
//!   writes only to buffers marked writable.
//! * **B5** Each fault is returned exactly once, by the first wait on its stream, and names its launch's caller. If it is
//!   not contained, every later call answers [`ErrorKind::Poisoned`] until `reset`.
//! * **B6** No call panics; releasing calls (`free`, `destroy_*`, `unload`) release what they can also when poisoned.

// What runs when something is closed does not panic: `tests/structure/closing.rs`.
#![cfg_attr(
    not(test),
    deny(
        clippy::indexing_slicing,
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::panic,
        clippy::unreachable
    )
)]

#[cfg(feature = "cuda")]
pub(crate) mod cuda;
pub(crate) mod facts;
pub(crate) mod host;

use std::borrow::Cow;
use std::fmt;
use std::panic::{Location, RefUnwindSafe, UnwindSafe};
use std::ptr::NonNull;
use std::sync::{Arc, OnceLock};

use smallvec::SmallVec;

use crate::dim::Dim3;
use crate::error::ErrorKind;
use crate::fault::Fault;
use crate::ptx::LoadedPtx;
use crate::statistics::LaunchStatistics;

/// A function of the host in a stream.
pub(crate) type HostFunction = Box<dyn FnOnce() + Send>;

/// What a backend answers: the error's kind; the caller's line is added above.
pub(crate) type Answer<T> = Result<T, ErrorKind>;

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident)+) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub(crate) struct $name(pub(crate) u64);
    )+};
}

ids! {
    /// A loaded module. Never reused.
    ModuleId
    /// A kernel of a loaded module, while that is loaded. Never reused.
    FunctionId
    /// A mark in a stream (an event): everything queued before it. Never reused.
    MarkId
}

/// A stream of this context. Never reused.
///
/// Beside its number it carries what the backend queues by, so that a copy looks nothing up. Equality and order are those
/// of the number.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StreamId {
    pub(crate) number: u64,
    /// The driver's handle; 0 where there is none.
    #[cfg_attr(
        not(feature = "cuda"),
        expect(dead_code, reason = "the host device finds its streams by number")
    )]
    pub(crate) handle: usize,
}

impl PartialEq for StreamId {
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        self.number == other.number
    }
}

impl Eq for StreamId {}

impl PartialOrd for StreamId {
    #[inline]
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for StreamId {
    #[inline]
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.number.cmp(&other.number)
    }
}

/// What a device is and allows.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct DeviceInfo {
    /// The device's name.
    pub name: String,
    /// `host` or `cuda:N`, as `SCOPED_GPU_DEVICE` takes it.
    pub id: String,
    /// Compute capability, major and minor.
    pub capability: (u32, u32),
    /// Bytes of memory.
    pub memory: u64,
    /// What a launch may ask for.
    pub limits: Limits,
}

/// What a launch and an allocation may ask a device for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Largest grid, in blocks.
    pub grid: Dim3,
    /// Largest block per axis, in threads.
    pub block: Dim3,
    /// Most threads in a block.
    pub threads_per_block: u32,
    /// Static and dynamic shared memory of a block together, in bytes, without opting in.
    pub shared_per_block: u32,
    /// The same after opting in, which a launch does by itself.
    pub shared_per_block_optin: u32,
    /// Rows of pitched arrays begin at multiples of this many bytes.
    pub pitch_alignment: usize,
    /// The largest pitch in bytes.
    pub max_pitch: usize,
    /// Threads in a warp.
    pub warp: u32,
}

impl Limits {
    /// The pitch for rows of `row_bytes`.
    pub(crate) fn pitch(&self, row_bytes: usize) -> Answer<usize> {
        match row_bytes.checked_next_multiple_of(self.pitch_alignment) {
            Some(pitch) if pitch <= self.max_pitch => Ok(pitch),
            _ => Err(ErrorKind::Shape {
                message: format!(
                    "rows of {row_bytes} bytes need a pitch above {} bytes, the most the device allows",
                    self.max_pitch
                ),
            }),
        }
    }
}

/// Free and total memory in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemoryInfo {
    /// Bytes that an allocation could still get.
    pub free: u64,
    /// Bytes that the device has.
    pub total: u64,
}

/// Host memory in a queued operation. Dereferenced only by backends, under C3.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct HostPointer(pub(crate) NonNull<u8>);

// SAFETY: a `HostPointer` is an address; using it needs an `unsafe` block of the user's, who relies on C3, which says
// that the memory behind it is shared with nobody while the operation runs, on whichever thread that is.
unsafe impl Send for HostPointer {}
// SAFETY: as above; the address itself is plain data.
unsafe impl Sync for HostPointer {}

/// One side of a copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// In device memory, at this address.
    Device(u64),
    /// In host memory.
    Host(HostPointer),
}

/// One side of a copy with its layout, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Side {
    pub(crate) place: Place,
    /// From a row to the next. Unused with one row.
    pub(crate) pitch: usize,
    /// From a slice to the next. Unused with one slice.
    pub(crate) slice_pitch: usize,
}

/// A copy of `slices × rows × row_bytes` bytes. None of the three is 0; source and destination do not overlap.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Copy {
    pub(crate) dst: Side,
    pub(crate) src: Side,
    pub(crate) row_bytes: usize,
    pub(crate) rows: usize,
    pub(crate) slices: usize,
}

/// A context, as the backends of one kind name it to each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Peer(pub(crate) u64);

/// A copy of `rows × row_bytes` bytes from a peer. Neither is 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PeerCopy {
    pub(crate) dst: u64,
    pub(crate) dst_pitch: usize,
    pub(crate) src: u64,
    pub(crate) src_pitch: usize,
    pub(crate) row_bytes: usize,
    pub(crate) rows: usize,
    pub(crate) peer: Peer,
}

/// A fill of `slices × rows × row_bytes` bytes with a repeated element. None of the three is 0.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fill {
    pub(crate) address: u64,
    pub(crate) pitch: usize,
    pub(crate) slice_pitch: usize,
    /// A multiple of the element's size.
    pub(crate) row_bytes: usize,
    pub(crate) rows: usize,
    pub(crate) slices: usize,
    /// The element's bytes; not empty.
    pub(crate) element: SmallVec<[u8; 16]>,
}

/// Which memory a launch may touch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AccessRule {
    /// The buffers of the launch and the module's variables; anything else is a contained fault.
    Checked,
    /// Whatever the kernel does; the caller has vouched for it (C5).
    Unchecked,
}

/// A buffer given to a launch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LaunchBuffer {
    /// Position among the arguments.
    pub(crate) argument: usize,
    pub(crate) address: u64,
    pub(crate) bytes: u64,
    pub(crate) writable: bool,
}

/// The least and the greatest element of an integer buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Contents {
    /// Bytes of an element.
    pub(crate) bytes: u32,
    pub(crate) signed: bool,
    pub(crate) min: i128,
    pub(crate) max: i128,
}

/// A launch, validated against the device's limits. No axis is 0.
#[derive(Debug)]
pub(crate) struct LaunchCall<'k> {
    pub(crate) module: ModuleId,
    pub(crate) function: FunctionId,
    pub(crate) kernel: Cow<'k, Arc<str>>,
    pub(crate) grid: Dim3,
    pub(crate) block: Dim3,
    /// Bytes of dynamic shared memory.
    pub(crate) dynamic_shared: u32,
    /// The parameter block, as the kernel's signature lays it out.
    pub(crate) params: SmallVec<[u8; 64]>,
    pub(crate) buffers: SmallVec<[LaunchBuffer; 4]>,
    /// What is known of the elements of buffers that nothing in this launch writes, by argument.
    pub(crate) contents: Vec<(usize, Contents)>,
    pub(crate) access: AccessRule,
    /// Report also what the hardware would let pass.
    pub(crate) strict: bool,
    /// Budget in steps; `None`: endless.
    pub(crate) max_steps: Option<u64>,
    /// Check also what can be proved.
    pub(crate) check_all: bool,
    /// Record a fault when it happens, not when its thread ends.
    pub(crate) diagnose: bool,
    /// Where to put the counts of a launch that is counted, once it has stopped. A device that cannot count answers
    /// [`ErrorKind::NotSupported`].
    pub(crate) counts: Option<Arc<OnceLock<LaunchStatistics>>>,
    /// The caller's line, for the fault.
    pub(crate) location: &'static Location<'static>,
}

impl LaunchCall<'_> {
    /// The same, to keep.
    pub(crate) fn to_owned(&self) -> LaunchCall<'static> {
        LaunchCall {
            module: self.module,
            function: self.function,
            kernel: Cow::Owned(Arc::clone(&self.kernel)),
            grid: self.grid,
            block: self.block,
            dynamic_shared: self.dynamic_shared,
            params: self.params.clone(),
            buffers: self.buffers.clone(),
            contents: self.contents.clone(),
            access: self.access,
            strict: self.strict,
            max_steps: self.max_steps,
            check_all: self.check_all,
            diagnose: self.diagnose,
            counts: self.counts.clone(),
            location: self.location,
        }
    }
}

/// Who else can use, and reset, the context.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ownership {
    /// Nobody: it was made for this device value.
    Private,
    /// Whoever uses the device's primary context, such as the CUDA runtime's libraries.
    Primary,
}

/// How a device came out of a reset.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reset {
    /// It works again; everything it held is gone.
    Recovered,
    /// It does not; what ended it is named.
    Poisoned {
        /// The message of the fault that ended it.
        origin: String,
    },
}

/// One context on one device. See the [module](self) for the invariants.
pub(crate) trait Backend: Send + Sync + UnwindSafe + RefUnwindSafe + fmt::Debug {
    /// What the device is; does not change.
    fn info(&self) -> &DeviceInfo;
    /// Free and total memory now.
    fn memory_info(&self) -> Answer<MemoryInfo>;
    /// Whether a fault, or somebody else's reset, has ended the context, so that only `reset` can make it work again.
    fn has_ended(&self) -> bool;
    /// Whether launches run faster if it is known what integer buffers contain.
    fn wants_contents(&self) -> bool {
        false
    }
    /// Makes the context usable from the calling thread. Cheap; called before anything else of a public call but `launch`
    /// and `copy`, which see to that themselves.
    fn make_current(&self) -> Answer<()>;

    /// `bytes > 0` of device memory, contents unspecified (B1). Out of memory is not sticky.
    fn allocate(&self, bytes: usize) -> Answer<u64>;
    /// The least bytes for which `allocate` is worth calling; smaller allocations are pieces of such blocks. `None`:
    /// every allocation is worth a call of its own, which keeps them apart.
    fn block_bytes(&self) -> Option<usize>;
    /// The pitch that the device wants for rows of `row_bytes > 0`.
    fn pitch(&self, row_bytes: usize) -> Answer<usize> {
        self.info().limits.pitch(row_bytes)
    }
    /// Frees what `allocate` returned.
    ///
    /// # Safety
    /// C1, C2.
    unsafe fn free(&self, address: u64) -> Answer<()>;
    /// `bytes > 0` of page-locked host memory, zeroed, aligned to 64 bytes at least.
    fn allocate_pinned(&self, bytes: usize) -> Answer<NonNull<u8>>;
    /// Frees what `allocate_pinned` returned.
    ///
    /// # Safety
    /// `pointer` came from `allocate_pinned(bytes)` and nothing uses it any more (C3).
    unsafe fn free_pinned(&self, pointer: NonNull<u8>, bytes: usize) -> Answer<()>;

    /// A new stream that does not synchronise with any other.
    fn create_stream(&self) -> Answer<StreamId>;
    /// Destroys a stream on which nothing is queued, and not before waits for it that other threads have begun are over.
    fn destroy_stream(&self, stream: StreamId) -> Answer<()>;
    /// Waits until everything queued on the stream has stopped (B3); returns its first fault (B5), with later ones.
    fn wait_stream(&self, stream: StreamId) -> Answer<()>;
    /// Marks what the stream has queued so far.
    fn record(&self, stream: StreamId) -> Answer<MarkId>;
    /// Makes what is queued on `stream` from now on run after `mark`. Does not block.
    fn wait_on(&self, stream: StreamId, mark: MarkId) -> Answer<()>;
    /// Blocks until everything before the mark has stopped (B3). Faults stay with their stream.
    fn wait_mark(&self, mark: MarkId) -> Answer<()>;
    /// Whether everything before the mark has stopped.
    fn is_done(&self, mark: MarkId) -> Answer<bool>;
    /// Milliseconds between two marks that are done.
    fn elapsed(&self, from: MarkId, to: MarkId) -> Answer<f32>;
    /// Gives a mark back.
    fn destroy_mark(&self, mark: MarkId) -> Answer<()>;

    /// Queues a copy.
    ///
    /// # Safety
    /// C1, C3.
    unsafe fn copy(&self, stream: StreamId, copy: &Copy) -> Answer<()>;
    /// From how many bytes on a copy from or to ordinary host memory that is waited for is worth [`Self::copy_staged`];
    /// `None`: never.
    fn staged_bytes(&self) -> Option<usize> {
        None
    }
    /// Does a copy after `mark`, through page-locked memory of its own. One side is host memory without gaps between
    /// rows. The copy has stopped when this returns, whatever it returns. `false`: nothing was done; `copy` does it.
    ///
    /// # Safety
    /// C1, C3.
    unsafe fn copy_staged(&self, _mark: MarkId, _copy: &Copy) -> Answer<bool> {
        Ok(false)
    }
    /// What another backend of the same kind needs to copy from this context; `None`: it cannot.
    fn peer(&self) -> Option<Peer> {
        None
    }
    /// Queues a copy from a peer's memory, or answers [`ErrorKind::NotSupported`].
    ///
    /// # Safety
    /// C1 on both sides; the peer's context stays until the copy has stopped.
    unsafe fn copy_from_peer(&self, _stream: StreamId, _copy: &PeerCopy) -> Answer<()> {
        Err(ErrorKind::NotSupported { message: "this device does not copy from others".to_owned() })
    }
    /// Queues a fill.
    ///
    /// # Safety
    /// C1.
    unsafe fn fill(&self, stream: StreamId, fill: &Fill) -> Answer<()>;

    /// Queues a function of the host. It runs on some thread once everything before it has stopped, or is never run
    /// (after a fault that ended the context); it neither panics nor calls this device.
    fn call(&self, stream: StreamId, function: HostFunction) -> Answer<()>;

    /// Loads a module.
    fn load(&self, ptx: &Arc<LoadedPtx>) -> Answer<ModuleId>;
    /// A kernel of a module that is loaded.
    fn function(&self, module: ModuleId, name: &Arc<str>) -> Answer<FunctionId>;
    /// Unloads a module of which no launch is queued.
    fn unload(&self, module: ModuleId) -> Answer<()>;
    /// Queues a launch.
    ///
    /// # Safety
    /// C1 for each buffer; C5 if it is unchecked.
    unsafe fn launch(&self, stream: StreamId, launch: &LaunchCall<'_>) -> Answer<()>;

    /// The first fault that launches have recorded so far and nobody was told of, on any stream. Waits for no launch, and
    /// leaves the fault to the wait that returns it (B5).
    fn recorded(&self) -> Answer<Option<Fault>>;

    /// Throws away everything the context holds and tries to make it work again. Nothing of it may be used afterwards
    /// (the caller has exclusive access and no scope is open).
    fn reset(&self) -> Reset;
    /// Gives back what the backend holds for itself, before it goes. Nothing is queued, and nothing is called after it.
    fn close(&self) {}
    /// Who else can use, and reset, the context.
    fn ownership(&self) -> Ownership;
    /// As `reset`, and throws away what others hold in a context that is shared with them.
    fn reset_for_all(&self) -> Reset {
        self.reset()
    }
}
