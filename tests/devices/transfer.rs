//! Transfers that are done when they return: linear, pitched, rectangles, ranges, windows; between host and device and
//! within the device; every kind of element.

use std::fmt::Debug;

use anyhow::ensure;
use scoped_gpu::{
    Context, Element, Error, ErrorKind, Launch, Linear, Pinned, Rect, linear, pitched, pitched_3d, zeros,
};

use crate::harness::{Case, Chapter, Test, test};
use crate::launch::faults;
use crate::padding::Padding;
use crate::reference::random::Random;

/// Random bytes as elements: every bit pattern is a value.
fn elements<T: Element>(random: &mut Random, len: usize) -> Vec<T> {
    let bytes = random.u8s(len * size_of::<T>());
    let mut elements = vec![T::zeroed(); len];
    bytemuck::cast_slice_mut(&mut elements).copy_from_slice(&bytes);
    elements
}

/// Compares by bits, so that a NaN equals itself.
#[track_caller]
fn same<T: Element>(got: &[T], expected: &[T]) {
    assert_eq!(bytemuck::cast_slice::<T, u8>(got), bytemuck::cast_slice::<T, u8>(expected));
}

/// There and back through every sort of array.
fn round_trips<T: Element + Debug>(ctx: &Context<'_>, random: &mut Random) -> Result<(), Error> {
    let (width, height, depth) = (13, 7, 3);
    let host = elements::<T>(random, width * height * depth);
    let plane = &host[..width * height];
    let specs = (
        linear(&host),
        zeros::<T>(host.len()),
        pitched::<T>(width, height),
        pitched_3d::<T>(width, height, depth),
    );
    ctx.alloc(specs, |(a, mut b, mut image, mut volume)| {
        same(&a.to_vec()?, &host);
        b.copy_from_host(&host)?;
        same(&b.to_vec()?, &host);
        b.copy_from(&a)?;
        same(&b.to_vec()?, &host);
        image.copy_from_host(plane)?;
        same(&image.to_vec()?, plane);
        volume.copy_from_host(&host)?;
        let mut back = vec![T::zeroed(); host.len()];
        volume.copy_to_host(&mut back)?;
        same(&back, &host);
        // the second slice of the volume begins in its row `height`
        same(&volume.rows(height..2 * height).to_vec()?, &host[width * height..2 * width * height]);
        image.copy_from(&volume.rows(2 * height..))?;
        same(&image.to_vec()?, &host[2 * width * height..]);
        let mut buffer = ctx.buffer::<T>(width)?;
        buffer.copy_from(&image.rows(3..4))?;
        same(&buffer.to_vec()?, &host[(2 * height + 3) * width..][..width]);
        Ok(())
    })
}

fn every_element_type(case: &mut Case) -> anyhow::Result<()> {
    let mut random = Random::new(1);
    let random = &mut random;
    case.device.scope(|ctx| {
        round_trips::<u8>(ctx, random)?;
        round_trips::<i8>(ctx, random)?;
        round_trips::<u16>(ctx, random)?;
        round_trips::<i16>(ctx, random)?;
        round_trips::<u32>(ctx, random)?;
        round_trips::<i32>(ctx, random)?;
        round_trips::<u64>(ctx, random)?;
        round_trips::<i64>(ctx, random)?;
        round_trips::<f32>(ctx, random)?;
        round_trips::<f64>(ctx, random)?;
        round_trips::<u128>(ctx, random)?;
        round_trips::<i128>(ctx, random)?;
        round_trips::<[u8; 3]>(ctx, random)?;
        round_trips::<[u8; 12]>(ctx, random)?;
        round_trips::<[u16; 5]>(ctx, random)?;
        round_trips::<[f64; 3]>(ctx, random)
    })?;
    Ok(())
}

/// A type of the caller's own.
#[derive(Debug, Clone, Copy, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
struct Particle {
    place: [f32; 3],
    kind: u32,
}

impl Element for Particle {}

fn structure_of_the_callers(case: &mut Case) -> anyhow::Result<()> {
    let particles: Vec<_> =
        (0..9u8).map(|i| Particle { place: [f32::from(i), 0.5, -1.0], kind: u32::from(i) + 7 }).collect();
    let back = case.device.scope(|ctx| ctx.alloc((linear(&particles),), |(x,)| x.slice(2..5).to_vec()))?;
    assert_eq!(back, particles[2..5]);
    Ok(())
}

/// Ranges of a linear array, read and written; what lies beside them stays.
fn ranges_of_linear(case: &mut Case) -> anyhow::Result<()> {
    let host: Vec<u32> = (0..100).collect();
    case.device.scope(|ctx| {
        ctx.alloc((linear(&host), zeros::<u32>(100)), |(x, mut y)| {
            for range in [0..100, 0..0, 37..38, 99..100, 12..60] {
                assert_eq!(x.slice(range.clone()).to_vec()?, host[range.clone()]);
                y.fill(7)?;
                y.slice_mut(range.clone()).copy_from(&x.slice(range.clone()))?;
                let mut expected = vec![7; 100];
                expected[range.clone()].copy_from_slice(&host[range]);
                assert_eq!(y.to_vec()?, expected);
            }
            scoped_gpu::ok(())
        })
    })?;
    Ok(())
}

/// A window that sticks out of the array, on either side or both: the outside is what the caller says.
fn window_with_a_default_outside(case: &mut Case) -> anyhow::Result<()> {
    let host: Vec<i16> = (0..10).collect();
    case.device.scope(|ctx| {
        ctx.alloc((linear(&host),), |(x,)| {
            for start in [-1000, -13, -12, -11, -3, 0, 4, 9, 10, 11, 1000, isize::MAX, isize::MIN] {
                for len in [0, 1, 3, 12, 30] {
                    let mut got = vec![0; len];
                    x.view().copy_window_to_host(start, &mut got, -5)?;
                    let at = |i: usize| usize::try_from(start.saturating_add(i as isize)).ok();
                    let inside = |i| at(i).and_then(|index| host.get(index)).copied();
                    let expected: Vec<i16> = (0..len).map(|i| inside(i).unwrap_or(-5)).collect();
                    assert_eq!(got, expected, "{len} elements from {start}");
                }
            }
            scoped_gpu::ok(())
        })
    })?;
    Ok(())
}

/// A rectangle of a picture, out and in; what lies beside it stays.
fn rectangle_of_pitched(case: &mut Case) -> anyhow::Result<()> {
    let host: Vec<u16> = (0..20 * 10).collect();
    case.device.scope(|ctx| {
        ctx.alloc((pitched::<u16>(20, 10), zeros::<u16>(12)), |(mut image, mut row)| {
            image.copy_from_host(&host)?;
            let rect = Rect::new(5, 3, 4, 3);
            let expected: Vec<u16> = (3..6).flat_map(|y| (5..9).map(move |x| y * 20 + x)).collect();
            assert_eq!(image.rect(rect).to_vec()?, expected);
            row.copy_from_host(&expected)?;
            image.rect_mut(rect).copy_from_host(&[9; 12])?;
            image.rect_mut(Rect::new(0, 9, 1, 1)).copy_from(&row.slice(..1))?;
            let mut picture = host.clone();
            (3..6).for_each(|y| picture[y * 20 + 5..y * 20 + 9].fill(9));
            picture[180] = expected[0];
            assert_eq!(image.to_vec()?, picture);
            assert!(image.rect(Rect::new(20, 10, 0, 0)).to_vec()?.is_empty());
            scoped_gpu::ok(())
        })
    })?;
    Ok(())
}

/// One random copy between rectangles of two pictures of different pitches, against a loop over elements; padding and
/// everything beside the rectangle keep what they held.
fn random_rectangle<'ctx, T: Element>(
    ctx: &Context<'ctx>,
    padding: &Padding<'ctx>,
    random: &mut Random,
) -> Result<(), Error> {
    const PAINT: u8 = 0x5a;
    let mut below = |limit: usize| random.below(limit as u64) as usize;
    let (width, height) = (below(20), below(6));
    let from = Rect::new(below(10), below(4), width, height);
    let to = Rect::new(below(60), below(4), width, height);
    let (from_width, from_height) = (from.x + width + below(9), from.y + height + below(3));
    let (to_width, to_height) = (to.x + width + below(80), to.y + height + below(3));
    let host = elements::<T>(random, from_width * from_height);
    ctx.alloc((pitched::<T>(from_width, from_height), pitched::<T>(to_width, to_height)), |(mut a, mut b)| {
        a.copy_from_host(&host)?;
        padding.paint(ctx, &mut b, PAINT)?;
        b.rect_mut(to).copy_from(&a.rect(from))?;
        let (size, pitch) = (size_of::<T>(), b.pitch());
        let source: &[u8] = bytemuck::cast_slice(&host);
        let got = padding.bytes(ctx, &b)?;
        let mut expected = vec![PAINT; got.len()];
        for y in 0..height {
            for x in 0..width {
                let from = ((from.y + y) * from_width + from.x + x) * size;
                let to = (to.y + y) * pitch + (to.x + x) * size;
                expected[to..to + size].copy_from_slice(&source[from..from + size]);
            }
        }
        assert!(
            got == expected,
            "{from} of {from_width} × {from_height} to {to} of {to_width} × {to_height}"
        );
        same(&a.to_vec()?, &host);
        Ok(())
    })
}

fn random_rectangles_against_a_loop(case: &mut Case) -> anyhow::Result<()> {
    let mut random = Random::new(36);
    let random = &mut random;
    case.device.scope(|ctx| {
        let padding = Padding::new(ctx)?;
        for _ in 0..8 {
            random_rectangle::<u8>(ctx, &padding, random)?;
            random_rectangle::<u16>(ctx, &padding, random)?;
            random_rectangle::<f32>(ctx, &padding, random)?;
            random_rectangle::<[u8; 12]>(ctx, &padding, random)?;
            random_rectangle::<[f64; 3]>(ctx, &padding, random)?;
        }
        scoped_gpu::ok(())
    })?;
    Ok(())
}

/// Writing a pitched array from the host writes no padding, in two and in three dimensions.
fn padding_is_never_written(case: &mut Case) -> anyhow::Result<()> {
    let host: Vec<[u8; 3]> = (0..30).map(|i| [i; 3]).collect();
    case.device.scope(|ctx| {
        let padding = Padding::new(ctx)?;
        ctx.alloc((pitched_3d::<[u8; 3]>(5, 3, 2),), |(mut volume,)| {
            padding.paint(ctx, &mut volume, 0xee)?;
            volume.copy_from_host(&host)?;
            let bytes = padding.bytes(ctx, &volume)?;
            for (row, expected) in bytes.chunks(volume.pitch()).zip(host.chunks(5)) {
                let (data, rest) = row.split_at(15);
                assert_eq!(data, bytemuck::cast_slice::<[u8; 3], u8>(expected));
                assert!(rest.iter().all(|&byte| byte == 0xee));
            }
            assert_eq!(volume.to_vec()?, host);
            scoped_gpu::ok(())
        })
    })?;
    Ok(())
}

/// Large enough for several staging blocks, of an odd size.
fn megabytes(case: &mut Case) -> anyhow::Result<()> {
    let host: Vec<u64> = (0..1_500_007u64).map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect();
    let back = case.device.scope(|ctx| ctx.alloc((linear(&host),), |(x,)| x.to_vec()))?;
    assert!(back == host);
    Ok(())
}

/// From here on a CUDA device has a way of its own for ordinary host memory.
const LARGE: usize = 16 << 20;

/// Bytes of which no two megabytes are alike.
fn noise(bytes: usize) -> Vec<u8> {
    let words: Vec<u64> = (0..bytes as u64 / 8 + 1).map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect();
    bytemuck::cast_slice(&words)[..bytes].to_vec()
}

/// Around the length from which copies are large, in one row and in several, short and long; and on two threads at once.
fn large_copies(case: &mut Case) -> anyhow::Result<()> {
    let host = noise(3 * LARGE / 2 + 12_345);
    case.device.scope(|ctx| {
        for len in [LARGE - 1, LARGE, LARGE + 1, host.len()] {
            ctx.alloc_linear(len, |mut x: Linear<u8>| {
                x.copy_from_host(&host[..len])?;
                ensure!(x.to_vec()? == host[..len], "{len} bytes");
                x.slice_mut(5..len).copy_from_host(&host[..len - 5])?;
                let back = x.to_vec()?;
                ensure!(back[..5] == host[..5] && back[5..] == host[..len - 5], "{len} bytes but 5");
                Ok(())
            })?;
        }
        for (width, height) in [(1000, 18_000), (100_000, 180), ((3 << 20) + 5, 6)] {
            let host = &host[..width * height];
            ctx.alloc((pitched::<u8>(width + 1, height),), |(mut image,)| {
                image.fill(77)?;
                let inside = Rect::new(1, 0, width, height);
                image.rect_mut(inside).copy_from_host(host)?;
                ensure!(image.rect(inside).to_vec()? == host, "{width} × {height}");
                let column = image.rect(Rect::new(0, 0, 1, height)).to_vec()?;
                ensure!(column.iter().all(|&byte| byte == 77), "{width} × {height}: the column beside it");
                Ok(())
            })?;
        }
        let both = std::thread::scope(|threads| {
            let copy = || {
                let mut x = ctx.buffer::<u8>(host.len())?;
                x.copy_from_host(&host)?;
                x.to_vec()
            };
            [threads.spawn(copy), threads.spawn(copy)].map(|thread| thread.join().expect("no panic"))
        });
        for back in both {
            ensure!(back? == host, "one of two threads");
        }
        ctx.pinned(host.len(), |mut pinned: Pinned<u8>| {
            let mut x = ctx.buffer::<u8>(host.len())?;
            pinned.copy_from_slice(&host);
            x.copy_from_host(&pinned)?;
            pinned.fill(0);
            x.copy_to_host(&mut pinned)?;
            ensure!(*pinned == *host, "through page-locked memory");
            Ok(())
        })
    })
}

/// A large copy follows what any stream has queued on its array, and is followed by what is queued later.
fn large_copies_are_in_order(case: &mut Case) -> anyhow::Result<()> {
    let host = noise(LARGE);
    let mut back = vec![0; LARGE];
    case.device.scope(|ctx| {
        ctx.alloc((zeros::<u8>(LARGE), zeros::<u8>(LARGE)), |(mut x, mut y)| {
            ctx.streams(|s| {
                let stream = s.stream()?;
                stream.fill(&mut x, 3)?;
                ensure!(x.to_vec()?.iter().all(|&byte| byte == 3), "after a fill on another stream");
                stream.fill(&mut x, 4)?;
                x.copy_from_host(&host)?;
                stream.copy_from(&mut y, &x)?;
                drop(stream.copy_to_host(&y, &mut back)?);
                y.fill(5)?;
                anyhow::Ok(())
            })
        })
    })?;
    ensure!(back == host, "what a stream copied after an upload");
    Ok(())
}

/// A large copy returns the fault of an earlier launch at that launch's line, and the next copy is done, either way.
fn large_copies_return_faults(case: &mut Case) -> anyhow::Result<()> {
    let host = noise(LARGE);
    case.device.scope(|ctx| {
        let trap = faults(ctx)?.kernel::<()>("store_null")?;
        ctx.alloc_linear(LARGE, |mut x: Linear<u8>| {
            let mut back = vec![0; LARGE];
            for upload in [true, false] {
                let line = line!() + 1;
                ctx.launch(&trap, Launch::grid(1, 1), ())?;
                let copied = if upload { x.copy_from_host(&host) } else { x.copy_to_host(&mut back) };
                let error = copied.expect_err("an earlier launch went wrong");
                ensure!(error.fault().is_some_and(|fault| fault.kernel == "store_null"), "{error}");
                ensure!((error.location().file(), error.location().line()) == (file!(), line), "{error}");
                if upload { x.copy_from_host(&host) } else { x.copy_to_host(&mut back) }?;
            }
            ensure!(back == host);
            Ok(())
        })
    })
}

/// The same where the fault ends the context: the copy returns it, everything later says what it was, and all is freed.
fn large_copies_after_an_unchecked_fault(case: &mut Case) -> anyhow::Result<()> {
    let host = noise(LARGE);
    let mut line = 0;
    let result: Result<(), Error> = case.device.scope(|ctx| {
        let null = faults(ctx)?.kernel::<()>("store_null")?;
        ctx.alloc_linear(LARGE, |mut x: Linear<u8>| {
            x.copy_from_host(&host)?; // whatever such copies need is there when the context ends
            line = line!() + 2;
            // SAFETY: none; the kernel's mistake is the point, and this process may end by it.
            unsafe { ctx.launch_unchecked(&null, Launch::grid(1, 1), ()) }?;
            let first = x.copy_from_host(&host).expect_err("the context ended");
            for later in [x.copy_from_host(&host), x.to_vec().map(drop)] {
                let later = later.expect_err("the context is at its end");
                let ErrorKind::Poisoned { origin } = later.kind() else { panic!("not poisoned: {later}") };
                assert!(origin.contains("store_null"), "{origin}");
            }
            Err(first)
        })
    });
    let error = result.expect_err("null");
    ensure!(error.fault().is_some_and(|fault| fault.kernel == "store_null"), "{error}");
    ensure!((error.location().file(), error.location().line()) == (file!(), line), "{error}");
    ensure!(error.also().is_empty(), "nothing else is news: {error}");
    ensure!((case.device.memory().freed, case.device.memory().count) == (1, 0));
    let cleanup = case.expected_cleanup();
    ensure!(cleanup.is_some_and(|error| matches!(error.kind(), ErrorKind::Poisoned { .. })));
    Ok(())
}

const TESTS: &[Test] = &[
    test!(every_element_type),
    test!(structure_of_the_callers),
    test!(ranges_of_linear).shows(&[37]),
    test!(window_with_a_default_outside).shows(&[37]),
    test!(copies_that_convert).shows(&[37]),
    test!(rectangle_of_pitched),
    test!(random_rectangles_against_a_loop).shows(&[36]),
    test!(padding_is_never_written).shows(&[36]),
    test!(megabytes),
    test!(large_copies).shows(&[25]),
    test!(large_copies_are_in_order).shows(&[25]),
    test!(large_copies_return_faults),
    test!(large_copies_after_an_unchecked_fault).apart(),
];

pub const CHAPTER: Chapter = Chapter { name: "transfer", tests: TESTS };

/// Elements converted on the way, as `as` converts them.
fn copies_that_convert(case: &mut Case) -> anyhow::Result<()> {
    case.device.scope(|ctx| {
        ctx.alloc((zeros::<f32>(5), pitched::<u8>(3, 2)), |(mut x, mut image)| {
            x.copy_from_host_as(&[1u64, 16_777_217, u64::MAX, 0, 7])?;
            let rounded = [1.0, 16_777_216.0, 18_446_744_073_709_551_616.0, 0.0, 7.0];
            anyhow::ensure!(x.to_vec()? == rounded, "{:?}", x.to_vec()?);
            x.copy_from_host(&[-3.7, 300.5, f32::NAN, f32::INFINITY, 254.999])?;
            let bytes = x.to_vec_as::<u8>()?;
            anyhow::ensure!(bytes == [0, 255, 0, 255, 254], "{bytes:?}");
            image.copy_from_host_as(&[0i32, 1, 255, 256, -1, 511])?;
            let wide = image.to_vec_as::<f64>()?;
            anyhow::ensure!(wide == [0.0, 1.0, 255.0, 0.0, 255.0, 255.0], "{wide:?}");
            let Err(error) = x.copy_from_host_as(&[1u8, 2]) else { anyhow::bail!("2 elements fill 5") };
            anyhow::ensure!(
                error.to_string() == "copy from the host: 5 elements on the device, 2 on the host"
            );
            Ok(())
        })
    })
}
