//! The main job: a photograph, denoised on a device by PTX kernels inside scopes.
//!
//! `cargo run --release --example denoise` reads `examples/data/camera.png`, lets Perona–Malik diffusion smooth it
//! while its edges stay, and writes `target/denoise.png` and, beside the original, `target/denoise_compared.png`.

mod diffusion;
mod picture;

use std::path::PathBuf;
use std::time::Instant;

use anyhow::Result;
use clap::Parser;
use indicatif::{ProgressBar, ProgressStyle};
use scoped_gpu::Device;

use diffusion::Diffusion;

/// Denoises a grey photograph by Perona–Malik diffusion.
#[derive(Parser)]
struct Options {
    /// The device: `host` or `cuda:N`; without it, the default device.
    #[arg(long)]
    device: Option<String>,
    /// Launches without checks: the kernel's accesses are then vouched for by this program, not by the library.
    #[arg(long)]
    unchecked: bool,
    /// Steps of diffusion.
    #[arg(long, default_value_t = 200)]
    steps: usize,
    /// The photograph; anything else than grey is converted.
    #[arg(long, default_value = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/data/camera.png"))]
    input: PathBuf,
    /// Where the pictures go.
    #[arg(long, default_value = concat!(env!("CARGO_MANIFEST_DIR"), "/target"))]
    output: PathBuf,
    /// Differences of brightness (of 255) from which on an edge is kept.
    #[arg(long, default_value_t = 3.0)]
    kappa: f32,
}

fn main() -> Result<()> {
    let options = Options::parse();
    let photograph = picture::read(&options.input)?;
    let (width, height) = (photograph.width() as usize, photograph.height() as usize);
    let pixels: Vec<f32> = photograph.as_raw().iter().map(|&grey| f32::from(grey)).collect();

    let named;
    let device = match &options.device {
        Some(name) => {
            named = Device::named(name)?;
            &named
        }
        None => Device::default_device()?,
    };
    println!("device  {device}");
    println!("picture {} ({width} × {height})", options.input.display());

    let bar = ProgressBar::new(options.steps as u64)
        .with_style(ProgressStyle::with_template("diffusion {bar:40} {pos}/{len} steps, {eta} left")?);
    let diffusion = Diffusion { kappa: options.kappa, lambda: 0.2, unchecked: options.unchecked };
    let start = Instant::now();
    let smooth =
        diffusion.run(device, &pixels, width, height, options.steps, |done| bar.set_position(done as u64))?;
    let seconds = start.elapsed().as_secs_f64();
    bar.finish_and_clear();
    println!("time    {seconds:.2} s, {:.1} steps/s", options.steps as f64 / seconds);

    let smooth = picture::from_grey(&smooth, photograph.width(), photograph.height());
    let alone = options.output.join("denoise.png");
    picture::write(&smooth, &alone)?;
    let compared = options.output.join("denoise_compared.png");
    picture::write(&picture::side_by_side(&photograph, &smooth), &compared)?;
    println!("wrote   {}\n        {} (before | after)", alone.display(), compared.display());
    Ok(())
}
