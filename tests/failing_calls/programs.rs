//! Five programs whose every call fails in turn. Each uses the device as a caller would, and gives a result that only
//! the right order of right work gives. What is looked for afterwards stands in `sweep`.

use anyhow::{Result, ensure};
use scoped_gpu::{Device, Kernel, Launch, Pitched, Read, ReadWrite, kernels, linear, pitched, uninit, zeros};
use smallvec::SmallVec;

use crate::diffusion::Diffusion;

/// A program, and where its lines are.
pub struct Program {
    pub name: &'static str,
    pub run: fn(&mut Device) -> Result<Vec<u32>>,
    /// The end of its file's path.
    pub file: &'static str,
    /// Whether a reset gives back what a failed call did not.
    pub resets: bool,
}

const HERE: &str = "tests/failing_calls/programs.rs";

pub const PROGRAMS: [Program; 5] = [
    Program { name: "denoise", run: denoise, file: "examples/denoise/diffusion.rs", resets: false },
    Program { name: "two_streams", run: two_streams, file: HERE, resets: false },
    Program { name: "reset_between_scopes", run: reset_between_scopes, file: HERE, resets: true },
    Program { name: "ten_pictures", run: ten_pictures, file: HERE, resets: false },
    Program { name: "everything", run: everything, file: HERE, resets: false },
];

type Saxpy = (f32, Read<f32>, ReadWrite<f32>, u32);

fn bits(values: Vec<f32>) -> Vec<u32> {
    values.into_iter().map(f32::to_bits).collect()
}

/// The example's own steps on a small picture.
fn denoise(device: &mut Device) -> Result<Vec<u32>> {
    let pixels: Vec<f32> = (0..9 * 7_u8).map(|i| f32::from(i.wrapping_mul(37))).collect();
    let settings = Diffusion { kappa: 3.0, lambda: 0.2, unchecked: false };
    Ok(bits(settings.run(device, &pixels, 9, 7, 12, |_| ())?))
}

/// Host memory goes up on one stream, is worked on by the other, and comes back on the first.
fn two_streams(device: &mut Device) -> Result<Vec<u32>> {
    let up: Vec<f32> = (0..50_u8).map(f32::from).collect();
    let mut down = vec![0.0_f32; 50];
    let mut early = vec![0.0_f32; 50];
    device.scope(|ctx| {
        let saxpy: Kernel<'_, Saxpy> = ctx.module(kernels::SAXPY)?.kernel("saxpy")?;
        ctx.alloc((uninit::<f32>(50), zeros::<f32>(50)), |(mut x, mut y)| {
            ctx.streams(|s| {
                let (a, b) = (s.stream()?, s.stream()?);
                a.copy_from_host(&mut x, &up)?;
                b.launch(&saxpy, Launch::cover(50), (2.0, &x, &mut y, 50))?;
                let seen = b.copy_to_host(&y, &mut early)?.wait()?;
                ensure!(seen.iter().zip(&up).all(|(y, x)| *y == 2.0 * x), "{seen:?}");
                a.copy_from(&mut x, &y)?;
                b.launch(&saxpy, Launch::cover(50), (1.0, &x, &mut y, 50))?;
                let _queued = a.copy_to_host(&y, &mut down)?;
                anyhow::Ok(())
            })
        })
    })?;
    Ok(bits(down))
}

/// A device that is reset between its scopes, with a handle forgotten in each.
fn reset_between_scopes(device: &mut Device) -> Result<Vec<u32>> {
    let mut seen = Vec::new();
    for round in 1..=3_u32 {
        let read = device.scope(|ctx| {
            let mut kept = ctx.buffer::<u32>(6)?;
            kept.fill(round)?;
            let read = kept.to_vec()?;
            std::mem::forget(kept);
            scoped_gpu::ok(read)
        })?;
        seen.extend(read);
        device.reset()?;
    }
    Ok(seen)
}

/// The seed's ten pitched arrays: made, filled, read, freed.
fn ten_pictures(device: &mut Device) -> Result<Vec<u32>> {
    let mut seen = Vec::new();
    device.scope(|ctx| {
        let _unloaded = ctx.module(kernels::FILL)?;
        ctx.alloc_each(
            (0..10).map(|_| pitched::<u32>(10, 10)),
            |mut pictures: SmallVec<[Pitched<u32>; 8]>| {
                for (value, picture) in (0..).zip(&mut pictures) {
                    picture.fill(value)?;
                }
                for picture in &pictures {
                    seen.extend(picture.to_vec()?);
                }
                scoped_gpu::ok(())
            },
        )
    })?;
    Ok(seen)
}

/// Each kind of thing that a scope hands out: module, arrays, streams, an event, page-locked memory, a buffer.
fn everything(device: &mut Device) -> Result<Vec<u32>> {
    let ones = vec![1.0_f32; 64];
    let mut landed = vec![0.0_f32; 64];
    let seen = device.scope(|ctx| {
        let saxpy: Kernel<'_, Saxpy> = ctx.module(kernels::SAXPY)?.kernel("saxpy")?;
        ctx.alloc((linear(&ones), zeros::<f32>(64)), |(x, mut y)| {
            ctx.streams(|s| {
                let (a, b) = (s.stream()?, s.stream()?);
                a.launch(&saxpy, Launch::cover(64), (2.0, &x, &mut y, 64))?;
                b.launch(&saxpy, Launch::cover(64), (3.0, &x, &mut y, 64))?;
                let event = b.record()?;
                a.wait_for(&event)?;
                let _copied = a.copy_to_host(&y, &mut landed)?;
                scoped_gpu::ok(())
            })?;
            let mut copy = ctx.buffer::<f32>(64)?;
            copy.copy_from(&y)?;
            ctx.launch(&saxpy, Launch::cover(64), (1.0, &x, &mut copy, 64))?;
            ctx.pinned::<f32, _, _>(64, |mut host| {
                copy.copy_to_host(&mut host)?;
                ensure!(landed == [5.0; 64], "{landed:?}");
                Ok(bits(host.to_vec()))
            })
        })
    })?;
    Ok(seen)
}
