//! The pool of a device: large blocks from the driver, cut into pieces, and given back to it when nobody needs them.
//! What orders one use of a piece after another is the ledger's knowledge; the pool only keeps it with free pieces.
//!
//! Asking the driver takes about 0.1 ms, and giving back waits for every kernel that runs (measured on an H200), so
//! neither belongs on the way out of a scope. A piece that was freed while work still uses it may be handed out again at
//! once: whoever uses it next is queued behind that work, as the ledger does for any other array.
//!
//! On a device that wants allocations to be kept apart ([`Backend::block_bytes`] is `None`: the host device, which
//! recognises each by its address), the pool only counts.

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

mod pieces;

use std::sync::Mutex;

use smallvec::SmallVec;

use self::pieces::Pieces;
use crate::backend::{Answer, Backend, MemoryInfo, StreamId};
use crate::error::ErrorKind;

/// What a piece that was freed must still wait for: everything that a stream had queued at a moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Pending {
    pub(crate) stream: StreamId,
    /// Number of operations that the stream had queued.
    pub(crate) moment: u64,
}

/// The pending work of one piece, each stream once.
pub(crate) type PendingWork = SmallVec<[Pending; 2]>;

/// How pending work stands, seen by whoever asks for memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Standing {
    /// It is known to have stopped.
    Stopped,
    /// It is queued on the asker's main stream, behind which the asker's next work is queued anyway.
    InOrder,
    /// It is queued on another stream of the asker's context: reusing the piece would make one stream wait for another.
    Elsewhere,
    /// It belongs to another context of the device, which alone can wait for it.
    Unknown,
}

/// A piece that was handed out.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Piece {
    pub(crate) address: u64,
    /// What its next user must be queued behind.
    pub(crate) pending: PendingWork,
}

/// What the pool holds, in bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Held {
    /// Taken from the driver and not handed out.
    pub(crate) cached: u64,
}

#[derive(Debug)]
struct State {
    pieces: Pieces,
    /// Bytes handed out, as asked for.
    live: u64,
    limit: Option<u64>,
    retention: u64,
}

/// How much a device keeps between scopes unless it is told otherwise, in bytes.
const RETENTION: u64 = 256 << 20;

/// The pool of one device.
#[derive(Debug)]
pub(crate) struct Pool(Mutex<State>);

impl Default for Pool {
    fn default() -> Self {
        Self(Mutex::new(State { pieces: Pieces::default(), live: 0, limit: None, retention: RETENTION }))
    }
}

impl Pool {
    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    pub(crate) fn set_limit(&self, limit: Option<u64>) {
        self.state().limit = limit;
    }

    pub(crate) fn set_retention(&self, retention: u64) {
        self.state().retention = retention;
    }

    pub(crate) fn held(&self) -> Held {
        Held { cached: self.state().pieces.cached() }
    }

    /// `bytes > 0` of device memory, aligned to 256 bytes at least.
    pub(crate) fn allocate(
        &self,
        backend: &dyn Backend,
        bytes: usize,
        standing: &dyn Fn(Pending) -> Standing,
    ) -> Answer<Piece> {
        let mut state = self.state();
        state.check_limit(bytes)?;
        let piece = match backend.block_bytes() {
            None => Piece { address: backend.allocate(bytes)?, pending: PendingWork::new() },
            Some(block) => state.allocate(backend, bytes, block, standing)?,
        };
        state.live += bytes as u64;
        Ok(piece)
    }

    /// Takes back what `allocate` handed out for `bytes`.
    ///
    /// # Safety
    /// C1; and C2, except for work that `pending` names on a device with blocks.
    pub(crate) unsafe fn free(
        &self,
        backend: &dyn Backend,
        address: u64,
        bytes: usize,
        pending: PendingWork,
    ) -> Answer<()> {
        let mut state = self.state();
        state.live = state.live.saturating_sub(bytes as u64);
        if backend.block_bytes().is_some() {
            state.pieces.free(address, pending);
            return Ok(());
        }
        drop(state);
        // SAFETY: without blocks, the piece is an allocation of the backend; C1 and C2 are the caller's.
        unsafe { backend.free(address) }
    }

    /// Everything the stream had queued has stopped, and it will queue nothing more.
    pub(crate) fn stream_ended(&self, stream: StreamId) {
        self.state().pieces.forget(&|pending| pending.stream == stream);
    }

    /// Gives blocks back to the driver until no more than `keep` bytes are cached; `None`: what is to be retained.
    /// Returns how many bytes went back. Blocks with a piece in use, or with pending work, stay.
    pub(crate) fn trim(
        &self,
        backend: &dyn Backend,
        keep: Option<u64>,
        standing: &dyn Fn(Pending) -> Standing,
    ) -> Answer<u64> {
        let mut state = self.state();
        let keep = keep.unwrap_or(state.retention);
        state.pieces.forget(&|pending| standing(pending) == Standing::Stopped);
        let mut answer = Ok(0);
        for (address, bytes) in state.pieces.take_idle(keep) {
            // SAFETY: the block came from the backend and was taken out just now, so it is freed once (C1); none of it is
            // handed out, and no work on it is pending (C2).
            let freed = unsafe { backend.free(address) };
            answer = answer.and_then(|sum: u64| freed.map(|()| sum + bytes as u64));
        }
        answer
    }

    /// Forgets all blocks before a reset, and frees each of them first: memory of some kinds survives one (H4).
    ///
    /// # Safety
    /// Nothing of the device's memory is used any more.
    pub(crate) unsafe fn clear(&self, backend: &dyn Backend) {
        let mut state = self.state();
        state.live = 0;
        for (address, _) in state.pieces.take_all() {
            // What this answers does not matter: the reset that follows gives back whatever this did not.
            // SAFETY: the block came from the backend, was taken out just now, and nobody uses it.
            let _ = unsafe { backend.free(address) };
        }
    }
}

impl Pool {
    /// Forgets all blocks without giving them back: their context is gone, or goes.
    pub(crate) fn forget(&self) {
        let mut state = self.state();
        state.live = 0;
        state.pieces.take_all();
    }
}

impl State {
    fn check_limit(&self, bytes: usize) -> Answer<()> {
        let Some(limit) = self.limit else { return Ok(()) };
        if self.live.checked_add(bytes as u64).is_some_and(|sum| sum <= limit) {
            return Ok(());
        }
        let (asked, free) = (bytes as u64, limit.saturating_sub(self.live));
        Err(ErrorKind::OutOfMemory { asked, free, total: limit, live: self.live })
    }

    fn allocate(
        &mut self,
        backend: &dyn Backend,
        bytes: usize,
        block: usize,
        standing: &dyn Fn(Pending) -> Standing,
    ) -> Answer<Piece> {
        let Some(bytes) = pieces::rounded(bytes) else {
            let MemoryInfo { free, total } = backend.memory_info()?;
            return Err(ErrorKind::OutOfMemory { asked: bytes as u64, free, total, live: self.live });
        };
        if let Some(piece) =
            self.pieces.take(bytes, &|p| matches!(standing(p), Standing::Stopped | Standing::InOrder))
        {
            return Ok(piece);
        }
        let wanted = bytes.max(block);
        match backend.allocate(wanted) {
            Ok(address) => {
                let piece = self.pieces.take_from_block(address, wanted, bytes);
                piece.ok_or(ErrorKind::NotSupported { message: "the pool lost a block".to_owned() })
            }
            Err(error @ ErrorKind::OutOfMemory { .. }) => {
                // Better wait for another stream, or take a block that just holds it, than fail.
                if let Some(piece) = self.pieces.take_any(bytes, &|p| standing(p) != Standing::Unknown) {
                    return Ok(piece);
                }
                if wanted == bytes {
                    return Err(error);
                }
                let address = backend.allocate(bytes)?;
                self.pieces.take_from_block(address, bytes, bytes).ok_or(error)
            }
            Err(other) => Err(other),
        }
    }
}

#[cfg(test)]
mod tests;
