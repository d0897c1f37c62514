//! Fills of rows with an element: the driver's fills for what is 1, 2 or 4 bytes wide, the crate's own kernels for 8
//! and 16, and copies of what is filled already for any other size.

use std::sync::{Arc, Mutex, PoisonError};

use smallvec::SmallVec;

use super::context::Context;
use super::driver::{self, Driver, StreamHandle};
use super::launch::{self, Request};
use super::module::{Function, Loaded};
use crate::backend::Answer;
use crate::dim::Dim3;

/// The kernels, with their CUDA C beside them.
const PTX: &str = include_str!("../../../ptx/fill.ptx");
/// PTX version of that file, for messages.
const PTX_VERSION: (u32, u32) = (9, 0);
/// Threads of a block; the kernels stride over what the grid does not cover.
const BLOCK: Dim3 = Dim3::new(32, 8, 1);
const MOST_BLOCKS: usize = 1024;

/// Rows of device memory.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rows {
    pub(super) address: u64,
    pub(super) pitch: usize,
    /// A multiple of the element's size.
    pub(super) row_bytes: usize,
    pub(super) rows: usize,
}

/// The fill kernels of a context, loaded when they are first needed.
#[derive(Default)]
pub(super) struct Kernels(Mutex<Option<Wide>>);

/// The kernels that are used, and their module.
struct Wide {
    by_8: Arc<Function>,
    by_16: Arc<Function>,
    module: Loaded,
}

impl Kernels {
    /// The kernel for elements of 8 bytes, or of 16.
    fn get(&self, bytes: usize, context: &Context) -> Answer<Arc<Function>> {
        let mut loaded = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let wide = match &mut *loaded {
            Some(wide) => wide,
            none => {
                let (module, (by_8, by_16)) =
                    Loaded::with("fill.ptx", PTX, PTX_VERSION, context, |module| {
                        let kernel = |name| module.look_up(name, context).map(Arc::new);
                        Ok((kernel("fill_pitched_u64")?, kernel("fill_pitched_u128")?))
                    })?;
                none.insert(Wide { by_8, by_16, module })
            }
        };
        Ok(Arc::clone(if bytes == 8 { &wide.by_8 } else { &wide.by_16 }))
    }

    /// Gives them back, or forgets them where their context cannot be used any more. No fill is queued.
    pub(super) fn clear(&self, context: &Context) {
        let wide = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(wide) = wide
            && context.takes_back()
        {
            // What this answers does not matter: a context of the device's own goes next, with all that it holds.
            let _ = wide.module.unload(context);
        }
    }
}

/// Queues a fill.
///
/// # Safety
/// C1.
pub(super) unsafe fn queue(
    rows: Rows,
    element: &[u8],
    stream: StreamHandle,
    kernels: &Kernels,
    context: &Context,
) -> Answer<()> {
    let element = shortest_period(element);
    let fits = |size: usize| {
        element.len() == size && rows.address.is_multiple_of(size as u64) && rows.pitch.is_multiple_of(size)
    };
    let queued = match *element {
        // SAFETY: the caller vouches for the rows (C1).
        [byte] => unsafe { bytes(rows, byte, stream) },
        // SAFETY: as above; address and pitch are multiples of the element's size, as the driver wants them.
        [a, b] if fits(2) => unsafe { halves(rows, u16::from_le_bytes([a, b]), stream) },
        // SAFETY: as above.
        [a, b, c, d] if fits(4) => unsafe { words(rows, u32::from_le_bytes([a, b, c, d]), stream) },
        _ if fits(8) || fits(16) => {
            let function = kernels.get(element.len(), context)?;
            // SAFETY: as above; the kernel is the one for this size.
            return unsafe { kernel(&function, rows, element, stream, context) };
        }
        // SAFETY: as above; nothing is asked of address and pitch.
        _ => unsafe { doubling(rows, element, stream) },
    };
    context.answer(queued)
}

/// The shortest piece of 1, 2, 4 or 8 bytes whose repetition is the element; else the element.
fn shortest_period(element: &[u8]) -> &[u8] {
    let repeats = |period: &&[u8]| element.chunks(period.len()).all(|piece| piece == *period);
    let periods = [1, 2, 4, 8].into_iter().filter_map(|period| element.get(..period));
    periods.filter(|period| period.len() < element.len()).find(repeats).unwrap_or(element)
}

/// # Safety
/// C1.
unsafe fn bytes(rows: Rows, value: u8, stream: StreamHandle) -> Driver<()> {
    let Rows { address, pitch, row_bytes, rows } = rows;
    if rows == 1 {
        // SAFETY: as the caller vouches.
        return unsafe { driver::fill_8(address, value, row_bytes, stream) };
    }
    // SAFETY: as the caller vouches.
    unsafe { driver::fill_2d_8(address, pitch, value, row_bytes, rows, stream) }
}

/// # Safety
/// C1; address and pitch are multiples of 2.
unsafe fn halves(rows: Rows, value: u16, stream: StreamHandle) -> Driver<()> {
    let Rows { address, pitch, row_bytes, rows } = rows;
    if rows == 1 {
        // SAFETY: as the caller vouches.
        return unsafe { driver::fill_16(address, value, row_bytes / 2, stream) };
    }
    // SAFETY: as the caller vouches.
    unsafe { driver::fill_2d_16(address, pitch, value, row_bytes / 2, rows, stream) }
}

/// # Safety
/// C1; address and pitch are multiples of 4.
unsafe fn words(rows: Rows, value: u32, stream: StreamHandle) -> Driver<()> {
    let Rows { address, pitch, row_bytes, rows } = rows;
    if rows == 1 {
        // SAFETY: as the caller vouches.
        return unsafe { driver::fill_32(address, value, row_bytes / 4, stream) };
    }
    // SAFETY: as the caller vouches.
    unsafe { driver::fill_2d_32(address, pitch, value, row_bytes / 4, rows, stream) }
}

/// # Safety
/// C1; `function` is `fill_pitched_u64` or `fill_pitched_u128`, as the element's size says, and address and pitch are
/// multiples of that size.
unsafe fn kernel(
    function: &Function,
    rows: Rows,
    element: &[u8],
    stream: StreamHandle,
    context: &Context,
) -> Answer<()> {
    let width = rows.row_bytes / element.len();
    let mut params: SmallVec<[u8; 64]> = SmallVec::new();
    for value in [rows.address, rows.pitch as u64, width as u64, rows.rows as u64] {
        params.extend_from_slice(&value.to_le_bytes());
    }
    params.extend_from_slice(element);
    let blocks = |length: usize, threads: u32| length.div_ceil(threads as usize).min(MOST_BLOCKS) as u32;
    let grid = Dim3::new(blocks(width, BLOCK.x), blocks(rows.rows, BLOCK.y), 1);
    let request = Request { grid, block: BLOCK, dynamic_shared: 0, params: &params };
    // SAFETY: the kernel writes the elements of these rows and nothing else (ptx/fill.cu), which the caller vouches for.
    context.answer(unsafe { launch::queue((stream, function.handle()), &request) })
}

/// Writes the element byte by byte, then copies what is there once more and once more: along the first row, then row to
/// row. No memory of the host takes part, which would have to stay until the fill has stopped.
///
/// # Safety
/// C1.
unsafe fn doubling(area: Rows, element: &[u8], stream: StreamHandle) -> Driver<()> {
    let Rows { address, pitch, row_bytes, rows } = area;
    for (index, &byte) in element.iter().enumerate() {
        // SAFETY: a byte of the first element, which the caller vouches for.
        unsafe { driver::fill_8(address + index as u64, byte, 1, stream) }?;
    }
    let mut done = element.len();
    while done < row_bytes {
        let more = done.min(row_bytes - done);
        // SAFETY: both pieces lie in the first row and do not overlap.
        unsafe { driver::copy_within(address + done as u64, address, more, stream) }?;
        done += more;
    }
    for row in 1..rows {
        // SAFETY: both rows are the caller's and do not overlap.
        unsafe { driver::copy_within(address + (row * pitch) as u64, address, row_bytes, stream) }?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zeros_of_any_size_are_bytes_and_others_keep_their_size() {
        assert_eq!(shortest_period(&[0; 24]), [0]);
        assert_eq!(shortest_period(&[1, 2, 1, 2]), [1, 2]);
        assert_eq!(shortest_period(&[1, 2, 3, 4, 1, 2, 3, 5]), [1, 2, 3, 4, 1, 2, 3, 5]);
        assert_eq!(shortest_period(&[1, 2, 3]), [1, 2, 3]);
        assert_eq!(shortest_period(&[7]), [7]);
    }
}
