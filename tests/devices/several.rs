//! Several devices in one scope, in any number: work on each, copies between them, what may not be mixed, and closing.

use anyhow::{Result, ensure};
use scoped_gpu::{
    Context, Device, Error, ErrorKind, Launch, Linear, Read, ReadWrite, Rect, linear, pitched, zeros,
};

use crate::harness::{Case, Chapter, Test, test};
use crate::launch::faults;

/// The case's device and two more of its kind.
fn three(case: &Case) -> Result<[Device; 2]> {
    Ok([case.another()?, case.another()?])
}

/// Each device computes its part of a sum of squares, the first gathers.
fn parts_are_gathered(case: &mut Case) -> Result<()> {
    let others = three(case)?;
    for count in 1..=3 {
        let devices: Vec<&Device> = [&case.device, &others[0], &others[1]][..count].to_vec();
        let n = 1000;
        let gathered = Device::scope_all(&devices, |ctxs| {
            ensure!(ctxs.len() == count);
            ctxs[0].alloc_linear(n * count, |mut all: Linear<f32>| {
                for (part, ctx) in ctxs.iter().enumerate() {
                    let saxpy =
                        ctx.module(scoped_gpu::kernels::SAXPY)?
                            .kernel::<(f32, Read<f32>, ReadWrite<f32>, u32)>("saxpy")?;
                    let x: Vec<f32> = (0..n).map(|i| (part * n + i) as f32).collect();
                    ctx.alloc((linear(&x), zeros::<f32>(n)), |(x, mut y)| {
                        ctx.launch(&saxpy, Launch::cover(n), (2.0, &x, &mut y, n as u32))?;
                        all.slice_mut(part * n..(part + 1) * n).copy_from(&y)
                    })?;
                }
                Ok(all.to_vec()?)
            })
        })?;
        let expected: Vec<f32> = (0..n * count).map(|i| 2.0 * i as f32).collect();
        ensure!(gathered == expected, "{count} devices");
    }
    Ok(())
}

/// Rows with different pitches on both sides, both ways, and nothing beside them.
fn pitched_copies_between_devices(case: &mut Case) -> Result<()> {
    let [other, _] = three(case)?;
    Device::scope_all(&[&case.device, &other], |ctxs| {
        let (a, b) = (ctxs[0], ctxs[1]);
        for (width, height) in [(1, 1), (3, 5), (129, 4), (1000, 3), (0, 4), (4, 0)] {
            let host: Vec<u16> = (0..width * height).map(|i| (i * 7 % 65_521) as u16).collect();
            a.alloc((pitched::<u16>(width, height),), |(mut from,)| {
                from.copy_from_host(&host)?;
                b.alloc((pitched::<u16>(width + 300, height + 1),), |(mut to,)| {
                    to.fill(9)?;
                    to.rect_mut(Rect::new(1, 1, width, height)).copy_from(&from)?;
                    let mut expected = vec![9; (width + 300) * (height + 1)];
                    for row in 0..height {
                        let start = (row + 1) * (width + 300) + 1;
                        expected[start..start + width].copy_from_slice(&host[row * width..(row + 1) * width]);
                    }
                    ensure!(to.to_vec()? == expected, "{width} × {height}");
                    Ok(())
                })
            })?;
        }
        Ok(())
    })
}

/// A copy between devices follows what is queued on the source, and shapes are compared.
fn peer_copies_are_in_order(case: &mut Case) -> Result<()> {
    let [other, _] = three(case)?;
    Device::scope_all(&[&case.device, &other], |ctxs| {
        let (a, b) = (ctxs[0], ctxs[1]);
        let slow = faults(a)?.kernel::<(ReadWrite<u32>, u32)>("slow_add")?;
        a.alloc((zeros::<u32>(1),), |(mut x,)| {
            b.alloc((zeros::<u32>(1), zeros::<u32>(2)), |(mut y, mut two)| {
                a.launch(&slow, Launch::grid(1, 1), (&mut x, 3000))?;
                y.copy_from(&x)?;
                a.launch(&slow, Launch::grid(1, 1), (&mut x, 1))?;
                ensure!((x.to_vec()?, y.to_vec()?) == (vec![3001], vec![3000]));
                let error = two.copy_from(&x).expect_err("two elements from one");
                ensure!(matches!(error.kind(), ErrorKind::Shape { .. }), "{error}");
                Ok(())
            })
        })
    })
}

fn foreign<T>(result: Result<T, Error>) -> Result<()> {
    let Err(error) = result else { anyhow::bail!("two contexts mixed") };
    ensure!(matches!(error.kind(), ErrorKind::Foreign { .. }), "{error}");
    ensure!(error.location().file() == file!(), "{error:?}");
    Ok(())
}

/// What one context of the scope made is refused by another.
fn contexts_do_not_mix(case: &mut Case) -> Result<()> {
    type Slow = (ReadWrite<u32>, u32);
    let [other, _] = three(case)?;
    Device::scope_all(&[&case.device, &other], |ctxs| {
        let (a, b) = (ctxs[0], ctxs[1]);
        let kernel = faults(a)?.kernel::<Slow>("slow_add")?;
        let mut x = a.buffer::<u32>(4)?;
        let mut y = b.buffer::<u32>(4)?;
        let mut host = [0; 4];
        foreign(a.launch(&kernel, Launch::grid(1, 1), (&mut y, 1)))?;
        foreign(b.launch(&kernel, Launch::grid(1, 1), (&mut y, 1)))?;
        b.streams(|s| {
            let stream = s.stream()?;
            foreign(stream.fill(&mut x, 1))?;
            foreign(stream.copy_from(&mut y, &x))?;
            foreign(stream.copy_from(&mut x, &y))?;
            foreign(stream.copy_from_host(&mut x, &[1, 2, 3, 4]))?;
            foreign(stream.copy_to_host(&x, &mut host))?;
            foreign(stream.launch(&kernel, Launch::grid(1, 1), (&mut y, 1)))?;
            a.streams(|t| {
                let event = t.stream()?.record()?;
                foreign(stream.wait_for(&event))?;
                foreign(stream.record()?.elapsed_ms(&event))
            })
        })?;
        a.launch(&kernel, Launch::grid(1, 1), (&mut x, 2))?;
        ensure!(x.to_vec()? == [2, 0, 0, 0]);
        Ok(())
    })
}

/// The inner device's close fails: the other is closed too, and the error names the device.
fn one_close_fails(case: &mut Case) -> Result<()> {
    let [other, _] = three(case)?;
    let leave_a_fault = |ctx: &Context<'_>| {
        let null = faults(ctx)?.kernel::<()>("store_null")?;
        ctx.launch(&null, Launch::grid(1, 1), ())
    };
    let result = Device::scope_all(&[&case.device, &other], |ctxs| {
        for ctx in ctxs {
            std::mem::forget(ctx.buffer::<f32>(10)?);
        }
        leave_a_fault(ctxs[1])
    });
    let error = result.expect_err("the second device's fault");
    ensure!(error.device() == Some(other.info().id.as_str()), "{error}");
    ensure!(error.fault().is_some() && other.last_cleanup().is_some(), "{error}");
    ensure!(case.device.last_cleanup().is_none(), "the first device's cleanup met nothing");
    ensure!((case.device.memory().freed, other.memory().freed) == (1, 1));
    Ok(())
}

const TESTS: &[Test] = &[
    test!(parts_are_gathered),
    test!(pitched_copies_between_devices),
    test!(peer_copies_are_in_order),
    test!(contexts_do_not_mix),
    test!(one_close_fails).shows(&[14]),
];

pub const CHAPTER: Chapter = Chapter { name: "several", tests: TESTS };
