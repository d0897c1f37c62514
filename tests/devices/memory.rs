//! Memory: what is allocated, counted, split and given back; sizes that cannot be.

use scoped_gpu::{ErrorKind, Linear, filled, linear, pitched, pitched_3d, uninit, zeros};

use crate::harness::{Case, Chapter, Kind, Test, test};

/// New arrays hold zeros, unless they are asked for something else.
fn contents_are_as_asked(case: &mut Case) -> anyhow::Result<()> {
    let host = [1.5f32, -0.0, 7.0];
    case.device.scope(|ctx| {
        let specs = (
            linear(&host),
            zeros::<u8>(5),
            filled(4, -3i16),
            uninit::<f64>(6),
            pitched::<u32>(3, 2),
            pitched_3d::<i8>(2, 3, 2),
            filled(1, [1u8, 2, 3]),
            zeros::<u128>(2),
        );
        ctx.alloc(specs, |(a, b, c, d, e, f, g, h)| {
            assert_eq!(
                <[f32; 3]>::try_from(a.to_vec()?).map(|a| a.map(f32::to_bits)),
                Ok(host.map(f32::to_bits))
            );
            assert_eq!(b.to_vec()?, [0; 5]);
            assert_eq!(c.to_vec()?, [-3; 4]);
            assert_eq!(d.len(), 6);
            assert_eq!(e.to_vec()?, [0; 6]);
            assert_eq!((f.extent().depth, f.to_vec()?), (2, vec![0; 12]));
            assert_eq!(g.to_vec()?, [[1, 2, 3]]);
            assert_eq!(h.to_vec()?, [0; 2]);
            scoped_gpu::ok(())
        })
    })?;
    case.device.scope(|ctx| {
        assert_eq!(ctx.buffer::<u64>(9)?.to_vec()?, [0; 9]);
        ctx.pinned::<u16, _, _>(9, |host| {
            assert_eq!(*host, [0; 9]);
            scoped_gpu::ok(())
        })
    })?;
    Ok(())
}

/// Page-locked memory that the machine does not have is an error of its own kind, and not sticky.
fn too_much_pinned_memory(case: &mut Case) -> anyhow::Result<()> {
    case.device.scope(|ctx| {
        let bytes = 1usize << 47;
        let refused = |held: usize| {
            let Err(error) = ctx.pinned::<u8, _, _>(bytes, |host| scoped_gpu::ok(host.len())) else {
                anyhow::bail!("no machine has that much")
            };
            let said = error.to_string();
            let expected = "out of page-locked host memory: asked for 140737488355328 bytes";
            anyhow::ensure!(said == format!("{expected} beside {held} that are held"), "{said}");
            Ok(())
        };
        refused(0)?;
        ctx.pinned::<u32, _, _>(50, |_| ctx.pinned::<u8, _, _>(64, |_| refused(264)))?;
        refused(0)?;
        anyhow::ensure!(ctx.pinned::<u8, _, _>(64, |host| scoped_gpu::ok(host.len()))? == 64);
        Ok(())
    })
}

/// A number of arrays that is known only at run time, also none.
fn number_of_arrays_at_run_time(case: &mut Case) -> anyhow::Result<()> {
    for count in [0, 1, 9, 40] {
        let lengths = case.device.scope(|ctx| {
            ctx.alloc_each((0..count).map(zeros::<f32>), |arrays| {
                assert_eq!(case.device.memory().count, count.saturating_sub(1) as u64);
                scoped_gpu::ok(arrays.iter().map(Linear::len).collect::<Vec<_>>())
            })
        })?;
        assert_eq!(lengths, (0..count).collect::<Vec<_>>());
    }
    Ok(())
}

/// Live bytes and numbers follow allocation by allocation; the peak stays.
fn statistics_follow(case: &mut Case) -> anyhow::Result<()> {
    let device = &case.device;
    device.scope(|ctx| {
        let first = ctx.buffer::<u8>(1000)?;
        let live = device.memory().live;
        assert!(live >= 1000, "{live}");
        ctx.alloc_linear(500, |_second: Linear<u64>| {
            let memory = device.memory();
            assert!(memory.live >= live + 4000, "{memory:?}");
            assert_eq!((memory.count, memory.allocated, memory.freed), (2, 2, 0));
            scoped_gpu::ok(())
        })?;
        assert_eq!(device.memory().live, live);
        drop(first);
        assert_eq!((device.memory().live, device.memory().freed), (0, 2));
        scoped_gpu::ok(())
    })?;
    assert!(device.memory().peak >= 5000);
    Ok(())
}

/// Arrays of one allocation swap, which is how ping-pong buffers are written.
fn arrays_of_one_allocation_swap(case: &mut Case) -> anyhow::Result<()> {
    case.device.scope(|ctx| {
        ctx.alloc((filled(5, 1u8), filled(5, 2u8)), |(mut now, mut next)| {
            for _ in 0..3 {
                std::mem::swap(&mut now, &mut next);
            }
            assert_eq!((now.to_vec()?, next.to_vec()?), (vec![2; 5], vec![1; 5]));
            scoped_gpu::ok(())
        })
    })?;
    Ok(())
}

/// Disjoint halves, written at the same time through their own views; views of views count from their own start.
fn splits_are_disjoint(case: &mut Case) -> anyhow::Result<()> {
    case.device.scope(|ctx| {
        ctx.alloc((zeros::<i32>(10), pitched::<i32>(3, 4)), |(mut x, mut image)| {
            let (mut left, mut right) = x.split_at_mut(3);
            left.fill(1)?;
            right.slice_mut(2..4).copy_from(&left.slice(..2))?;
            assert_eq!(x.to_vec()?, [1, 1, 1, 0, 0, 1, 1, 0, 0, 0]);
            assert_eq!(x.slice(4..).slice(1..=2).to_vec()?, [1, 1]);
            assert!(x.view().get(5..11).is_none() && x.view().get(10..).is_some_and(|none| none.is_empty()));
            let (mut top, mut bottom) = image.split_at_row_mut(1);
            top.fill(5)?;
            bottom.rows_mut(2..).fill(7)?;
            assert_eq!(image.to_vec()?, [5, 5, 5, 0, 0, 0, 0, 0, 0, 7, 7, 7]);
            scoped_gpu::ok(())
        })
    })?;
    Ok(())
}

/// Arrays without elements: allocated, copied, filled, split, and no memory taken.
fn nothing_is_a_length(case: &mut Case) -> anyhow::Result<()> {
    let device = &case.device;
    device.scope(|ctx| {
        let specs = (zeros::<f32>(0), linear::<u8>(&[]), pitched::<f64>(0, 5), pitched::<f64>(5, 0));
        ctx.alloc(specs, |(mut a, b, mut c, mut d)| {
            assert_eq!(device.memory().allocated, 0);
            a.fill(1.0)?;
            a.copy_from_host(&[])?;
            c.fill(1.0)?;
            d.copy_from_host(&[])?;
            let again = ctx.buffer::<f32>(0)?;
            a.copy_from(&again)?;
            assert!(a.is_empty() && b.is_empty() && c.is_empty() && d.is_empty() && again.is_empty());
            assert_eq!(
                (a.to_vec()?.len(), b.to_vec()?.len(), c.to_vec()?.len(), d.to_vec()?.len()),
                (0, 0, 0, 0)
            );
            let (left, right) = a.split_at_mut(0);
            assert_eq!((left.len(), right.len()), (0, 0));
            ctx.pinned::<u32, _, _>(0, |none| {
                assert!(none.is_empty());
                scoped_gpu::ok(())
            })?;
            ctx.streams(|s| s.stream()?.fill(&mut a, 2.0))
        })?;
        ctx.alloc_each(std::iter::empty::<scoped_gpu::Zeros<u8>>(), |none| {
            assert!(none.is_empty());
            scoped_gpu::ok(())
        })
    })?;
    Ok(())
}

/// Sizes that no address space holds are refused by name, and nothing of the call stays allocated.
fn sizes_that_overflow(case: &mut Case) -> anyhow::Result<()> {
    let device = &case.device;
    device.scope(|ctx| {
        for len in [usize::MAX, usize::MAX / 8 + 1, isize::MAX as usize / 8 + 1] {
            let error = ctx.buffer::<f64>(len).expect_err("too long");
            assert!(matches!(error.kind(), ErrorKind::SizeOverflow { .. }), "{error}");
        }
        let sides = [(usize::MAX, 1), (1 << 28, 1 << 40), (3, usize::MAX / 2), (1, usize::MAX)];
        for (width, height) in sides {
            let specs = (zeros::<u8>(10), pitched::<[f64; 3]>(width, height));
            let error = ctx.alloc(specs, |_| scoped_gpu::ok(())).expect_err("too large");
            let refused = matches!(error.kind(), ErrorKind::SizeOverflow { .. } | ErrorKind::Shape { .. });
            assert!(refused, "{width} × {height}: {error}");
            assert_eq!(device.memory().live, 0);
        }
        let error =
            ctx.alloc_pitched_3d(1, 1 << 40, 1 << 40, |_: scoped_gpu::Pitched<u8>| scoped_gpu::ok(()));
        assert!(matches!(error.expect_err("too deep").kind(), ErrorKind::SizeOverflow { .. }));
        scoped_gpu::ok(())
    })?;
    Ok(())
}

/// More elements than a `u32` counts: the last of them are where they should be.
fn more_elements_than_u32(case: &mut Case) -> anyhow::Result<()> {
    const LEN: usize = u32::MAX as usize + 100;
    // Hostile memory is filled with garbage first, which for 4 GiB takes longer than all other cases together.
    if case.kind == Kind::Hostile || case.device.info().memory < LEN as u64 + (1 << 30) {
        return Ok(());
    }
    case.device.scope(|ctx| {
        ctx.alloc((uninit::<u8>(LEN),), |(mut x,)| {
            x.slice_mut(50..150).fill(1)?;
            x.slice_mut(LEN - 100..).fill(2)?;
            let far = x.slice(LEN - 100..).to_vec()?;
            assert_eq!((far, x.slice(50..150).to_vec()?), (vec![2; 100], vec![1; 100]));
            let mut end = [0; 4];
            x.view().copy_window_to_host(LEN as isize - 2, &mut end, 9)?;
            assert_eq!(end, [2, 2, 9, 9]);
            scoped_gpu::ok(())
        })
    })?;
    Ok(())
}

/// Out of memory says what was asked and what is there, and the next allocation succeeds.
fn out_of_memory_is_not_sticky(case: &mut Case) -> anyhow::Result<()> {
    let device = &case.device;
    let memory = device.info().memory;
    device.scope(|ctx| {
        let kept = ctx.buffer::<u8>(4096)?;
        for _ in 0..3 {
            let error = ctx
                .alloc((uninit::<u64>(memory as usize),), |_| scoped_gpu::ok(()))
                .expect_err("8 times all");
            let ErrorKind::OutOfMemory { asked, free, total, live } = *error.kind() else {
                panic!("not out of memory: {error}")
            };
            assert_eq!(asked, memory * 8);
            assert!(total <= memory && free <= total && live >= 4096, "{error}");
            assert_eq!(live, device.memory().live);
        }
        assert_eq!(kept.to_vec()?, [0; 4096]);
        ctx.buffer::<u8>(4096)?.to_vec()
    })?;
    Ok(())
}

/// Where the third array of four does not fit, the two before it are freed.
fn half_an_allocation_is_given_back(case: &mut Case) -> anyhow::Result<()> {
    let device = &case.device;
    let all = device.info().memory as usize;
    device.scope(|ctx| {
        let specs = (zeros::<u8>(10), zeros::<u8>(20), uninit::<u64>(all), zeros::<u8>(30));
        let error = ctx.alloc(specs, |_| scoped_gpu::ok(())).expect_err("the third is too large");
        assert!(matches!(error.kind(), ErrorKind::OutOfMemory { .. }), "{error}");
        assert_eq!((device.memory().live, device.memory().freed), (0, 2));
        scoped_gpu::ok(())
    })?;
    Ok(())
}

/// Rows begin where the device wants them, also for elements whose size does not divide the pitch.
fn pitch_suits_the_device(case: &mut Case) -> anyhow::Result<()> {
    let alignment = case.device.info().limits.pitch_alignment;
    case.device.scope(|ctx| {
        for width in [1, 100, 341, 342, 801] {
            ctx.alloc((pitched::<u8>(width, 3), pitched::<[u8; 12]>(width, 3)), |(a, b)| {
                assert!(a.pitch() >= width && b.pitch() >= 12 * width);
                assert_eq!((a.pitch() % alignment, b.pitch() % alignment), (0, 0));
                scoped_gpu::ok(())
            })?;
        }
        scoped_gpu::ok(())
    })?;
    Ok(())
}

const TESTS: &[Test] = &[
    test!(contents_are_as_asked),
    test!(too_much_pinned_memory),
    test!(number_of_arrays_at_run_time),
    test!(statistics_follow),
    test!(arrays_of_one_allocation_swap),
    test!(splits_are_disjoint),
    test!(nothing_is_a_length).shows(&[33]),
    test!(sizes_that_overflow).shows(&[35]),
    test!(more_elements_than_u32).shows(&[35]),
    test!(out_of_memory_is_not_sticky).shows(&[32]),
    test!(half_an_allocation_is_given_back),
    test!(pitch_suits_the_device).shows(&[36]),
];

pub const CHAPTER: Chapter = Chapter { name: "memory", tests: TESTS };
