//! The backend alone, where the library above it asks for less than the contract allows: volumes with gaps, copies
//! between contexts, staged copies. Needs a driver: `tests/shim/test.sh` brings one.

use std::ptr::NonNull;

use super::*;
use crate::backend::{HostPointer, Place, Side};

fn open() -> CudaBackend {
    let device = CudaBackend::open(0, Ownership::Private).expect("a device");
    device.make_current().expect("its context");
    device
}

fn host(bytes: &mut [u8]) -> Place {
    Place::Host(HostPointer(NonNull::from(bytes).cast()))
}

fn side(place: Place, pitch: usize, slice_pitch: usize) -> Side {
    Side { place, pitch, slice_pitch }
}

/// Copies and waits.
fn copied(device: &CudaBackend, copy: &Copy) {
    let stream = device.create_stream().expect("a stream");
    // SAFETY: each test names live memory, and touches it again after the wait.
    unsafe { device.copy(stream, copy) }.expect("queued");
    device.wait_stream(stream).expect("copied");
    device.destroy_stream(stream).expect("destroyed");
}

fn noise(bytes: usize, seed: usize) -> Vec<u8> {
    (0..bytes).map(|i| ((i + seed).wrapping_mul(0x9e37_79b9) >> 11) as u8).collect()
}

/// Device memory with these bytes, all of them.
fn uploaded(device: &CudaBackend, bytes: &mut [u8]) -> u64 {
    let address = device.allocate(bytes.len()).expect("memory");
    let len = bytes.len();
    let (dst, src) = (side(Place::Device(address), len, len), side(host(bytes), len, len));
    copied(device, &Copy { dst, src, row_bytes: len, rows: 1, slices: 1 });
    address
}

fn downloaded(device: &CudaBackend, address: u64, len: usize) -> Vec<u8> {
    let mut bytes = vec![0; len];
    let (dst, src) = (side(host(&mut bytes), len, len), side(Place::Device(address), len, len));
    copied(device, &Copy { dst, src, row_bytes: len, rows: 1, slices: 1 });
    bytes
}

/// What a copy does to bytes, by its definition.
fn expected(
    dst: &mut [u8],
    src: &[u8],
    (row_bytes, rows, slices): (usize, usize, usize),
    to: (usize, usize),
    from: (usize, usize),
) {
    for (slice, row) in (0..slices).flat_map(|slice| (0..rows).map(move |row| (slice, row))) {
        let (d, s) = (slice * to.1 + row * to.0, slice * from.1 + row * from.0);
        dst[d..d + row_bytes].copy_from_slice(&src[s..s + row_bytes]);
    }
}

/// Volumes with gaps between rows and slices, by each of the ways that the driver's calls leave: one call, slice after
/// slice where slices are no whole number of rows apart, one plane where slices have one row.
#[test]
fn volumes_are_copied_as_they_are_laid_out() {
    let device = open();
    // extent; pitch and slice pitch of the destination, then of the source
    let shapes = [
        ((13, 5, 4), (64, 64 * 7), (20, 20 * 5)),
        ((13, 5, 4), (64, 64 * 5 + 24), (20, 20 * 6)),
        ((13, 1, 9), (64, 96), (13, 40)),
        ((16, 4, 3), (16, 64), (16, 64)),
        ((16, 4, 3), (16, 64), (16, 100)),
        ((1, 3, 2), (3, 11), (1, 3)),
    ];
    for (extent, to, from) in shapes {
        let (row_bytes, rows, slices) = extent;
        let span = |(pitch, slice_pitch)| (slices - 1) * slice_pitch + (rows - 1) * pitch + row_bytes;
        let (mut source, mut target) = (noise(span(from), 1), noise(span(to), 2));
        let mut wanted = target.clone();
        expected(&mut wanted, &source, extent, to, from);
        let volume = |dst, src| Copy {
            dst: side(dst, to.0, to.1),
            src: side(src, from.0, from.1),
            row_bytes,
            rows,
            slices,
        };
        let (a, b) = (uploaded(&device, &mut source), uploaded(&device, &mut target));
        copied(&device, &volume(Place::Device(b), Place::Device(a)));
        assert_eq!(downloaded(&device, b, target.len()), wanted, "{extent:?} on the device");
        let b = uploaded(&device, &mut target);
        copied(&device, &volume(Place::Device(b), host(&mut source)));
        assert_eq!(downloaded(&device, b, target.len()), wanted, "{extent:?} to the device");
        copied(&device, &volume(host(&mut target), Place::Device(a)));
        assert_eq!(target, wanted, "{extent:?} to the host");
    }
}

/// Rows between two contexts, with and without gaps, and within one context that two devices share.
#[test]
fn peers_are_copied_from() {
    let primary = || CudaBackend::open(0, Ownership::Primary).expect("a device");
    for (here, there) in [(open(), open()), (primary(), primary())] {
        for (to, from) in [(32, 20), (13, 13)] {
            let (row_bytes, rows) = (13, 6);
            let span = |pitch: usize| (rows - 1) * pitch + row_bytes;
            let (mut source, mut target) = (noise(span(from), 3), noise(span(to), 4));
            let mut wanted = target.clone();
            expected(&mut wanted, &source, (row_bytes, rows, 1), (to, 0), (from, 0));
            there.make_current().expect("its context");
            let src = uploaded(&there, &mut source);
            here.make_current().expect("its context");
            let dst = uploaded(&here, &mut target);
            let peer = there.peer().expect("a context");
            let copy = PeerCopy { dst, dst_pitch: to, src, src_pitch: from, row_bytes, rows, peer };
            let stream = here.create_stream().expect("a stream");
            // SAFETY: both sides are live and of these sizes; the peer's context outlives the wait.
            unsafe { here.copy_from_peer(stream, &copy) }.expect("queued");
            here.wait_stream(stream).expect("copied");
            assert_eq!(downloaded(&here, dst, wanted.len()), wanted);
        }
    }
}

/// A stream that is ended while another thread waits for it stays until that wait is over.
#[test]
fn a_stream_stays_while_it_is_waited_for() {
    let device = open();
    let stream = device.create_stream().expect("a stream");
    let waiting = device.streams.get(stream).expect("the stream");
    std::thread::scope(|threads| {
        let ended = threads.spawn(|| {
            device.make_current()?;
            device.destroy_stream(stream)
        });
        while device.streams.get(stream).is_ok() {
            std::thread::yield_now();
        }
        std::thread::sleep(std::time::Duration::from_millis(20));
        assert!(!ended.is_finished());
        // SAFETY: it is live, which is what this shows.
        unsafe { driver::stream_synchronize(waiting.handle()) }.expect("it is there");
        drop(waiting);
        ended.join().expect("no panic").expect("ended");
    });
}

/// A staged copy with rows of `row_bytes` at `pitch` on the device, there and back; whether it was staged.
fn staged_round_trip(device: &CudaBackend, row_bytes: usize, rows: usize, pitch: usize) -> [bool; 2] {
    let stream = device.create_stream().expect("a stream");
    let mut source = noise(row_bytes * rows, 5);
    let address = device.allocate(pitch * rows).expect("memory");
    let on_device = side(Place::Device(address), pitch, 0);
    let staged = |dst, src| {
        let mark = device.record(stream).expect("a mark");
        // SAFETY: both sides are live and of these sizes; it has stopped when this returns.
        let done = unsafe { device.copy_staged(mark, &Copy { dst, src, row_bytes, rows, slices: 1 }) };
        device.destroy_mark(mark).expect("destroyed");
        done.expect("copied")
    };
    let up = staged(on_device, side(host(&mut source), row_bytes, 0));
    let mut back = vec![0; source.len()];
    let down = staged(side(host(&mut back), row_bytes, 0), on_device);
    assert!(!(up && down) || back == source, "{rows} rows of {row_bytes} at {pitch}");
    [up, down]
}

/// Acceptance 25: each block carries several pieces of a copy, one after the other, and each piece arrives: in one row,
/// in rows of which several fit into a block, in rows that are cut, in fewer bytes than a block.
#[test]
fn staged_copies_arrive_whole() {
    let device = open();
    for (row_bytes, rows, pitch) in [
        (20_000_003, 1, 20_000_003),
        (1000, 21_000, 1024),
        ((5 << 20) + 7, 4, (5 << 20) + 512),
        (9, 3, 9),
        (9, 3, 32),
    ] {
        assert_eq!(staged_round_trip(&device, row_bytes, rows, pitch), [true; 2]);
    }
}

/// Host memory with gaps is not staged, and neither is a copy beside another one.
#[test]
fn what_cannot_be_staged_says_so() {
    let device = open();
    let stream = device.create_stream().expect("a stream");
    let mut bytes = noise(100, 6);
    let address = uploaded(&device, &mut bytes);
    let mark = device.record(stream).expect("a mark");
    let (dst, src) = (side(Place::Device(address), 10, 0), side(host(&mut bytes), 20, 0));
    // SAFETY: both sides are live and larger than this.
    let done = unsafe { device.copy_staged(mark, &Copy { dst, src, row_bytes: 10, rows: 3, slices: 1 }) };
    assert!(matches!(done, Ok(false)), "{done:?}");
    let _busy = device.staging.hold();
    assert_eq!(staged_round_trip(&device, 100, 1, 100), [false; 2]);
}
