//! Perona–Malik diffusion of a grey picture on a device: two pitched arrays that swap.

use anyhow::{Context as _, Result};
use scoped_gpu::{Device, Launch, Pitched, Read, Write, pitched};

/// `ptx/perona_malik.cu`: in, its pitch, out, its pitch, width, height, kappa, lambda.
type Step = (Read<f32>, u64, Write<f32>, u64, u32, u32, f32, f32);

/// How many steps are queued before the device is waited for and progress is told.
const BATCH: usize = 10;

/// The diffusion's two parameters.
pub struct Diffusion {
    /// Differences between neighbours well above it are edges and stay; in the unit of the pixels.
    pub kappa: f32,
    /// Size of a step, stable up to 0.25.
    pub lambda: f32,
    /// Launch without checks.
    pub unchecked: bool,
}

impl Diffusion {
    /// `pixels`, `height` rows of `width`, after `steps` steps. `progress` is told how many are done.
    pub fn run(
        &self,
        device: &Device,
        pixels: &[f32],
        width: usize,
        height: usize,
        steps: usize,
        mut progress: impl FnMut(usize),
    ) -> Result<Vec<f32>> {
        let (columns, rows) = (u32::try_from(width)?, u32::try_from(height)?);
        device.scope(|ctx| {
            let module = ctx.module_named("perona_malik.ptx", include_str!("../../ptx/perona_malik.ptx"))?;
            let step = module.kernel::<Step>("perona_malik")?;
            ctx.alloc((pitched(width, height), pitched(width, height)), |(mut now, mut next)| {
                let (now, next): (&mut Pitched<f32>, &mut Pitched<f32>) = (&mut now, &mut next);
                now.copy_from_host(pixels).context("the picture does not fit its width and height")?;
                for done in 1..=steps {
                    let (pitch, next_pitch) = (now.pitch() as u64, next.pitch() as u64);
                    let arguments =
                        (&*now, pitch, &mut *next, next_pitch, columns, rows, self.kappa, self.lambda);
                    let launch = Launch::cover_2d(width, height);
                    if self.unchecked {
                        // SAFETY: the kernel writes element (x, y) of `next` for x < columns and y < rows, and reads `now`
                        // at most one element to each side, clamped to the picture; both arrays have that extent.
                        unsafe { ctx.launch_unchecked(&step, launch, arguments) }?;
                    } else {
                        ctx.launch(&step, launch, arguments)?;
                    }
                    std::mem::swap(now, next);
                    if done % BATCH == 0 || done == steps {
                        ctx.synchronize()?;
                        progress(done);
                    }
                }
                Ok(now.to_vec()?)
            })
        })
    }
}
