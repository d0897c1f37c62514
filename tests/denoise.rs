//! The main job gives what plain Rust gives, bit for bit, and says clearly what it cannot read.

#[path = "../examples/denoise/diffusion.rs"]
mod diffusion;
#[path = "../examples/denoise/picture.rs"]
#[expect(dead_code, reason = "the example writes pictures too")]
mod picture;
#[expect(dead_code, reason = "one of the references is needed")]
mod reference;

use std::path::Path;

use diffusion::Diffusion;
use reference::own::perona_malik;
use scoped_gpu::Device;

fn photograph() -> (Vec<f32>, usize, usize) {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/data/camera.png");
    let picture = picture::read(Path::new(path)).expect("the photograph is part of the project");
    let pixels = picture.as_raw().iter().map(|&grey| f32::from(grey)).collect();
    (pixels, picture.width() as usize, picture.height() as usize)
}

/// `steps` steps in plain Rust.
fn plain(settings: &Diffusion, pixels: &[f32], width: usize, height: usize, steps: usize) -> Vec<f32> {
    let (mut now, mut next) = (pixels.to_vec(), pixels.to_vec());
    for _ in 0..steps {
        perona_malik(&now, &mut next, width as u32, height as u32, settings.kappa, settings.lambda);
        std::mem::swap(&mut now, &mut next);
    }
    now
}

fn assert_same(device: &[f32], host: &[f32], width: usize) {
    assert_eq!(device.len(), host.len());
    for (index, (a, b)) in device.iter().zip(host).enumerate() {
        assert_eq!(a.to_bits(), b.to_bits(), "row {}, column {}: {a} and {b}", index / width, index % width);
    }
}

#[test]
fn the_photograph_after_some_steps_is_what_plain_rust_gives() {
    let (pixels, width, height) = photograph();
    let settings = Diffusion { kappa: 3.0, lambda: 0.2, unchecked: false };
    let steps = 13;
    let mut told = Vec::new();
    let device = settings
        .run(&Device::host(), &pixels, width, height, steps, |done| told.push(done))
        .expect("it runs");
    assert_same(&device, &plain(&settings, &pixels, width, height, steps), width);
    assert_ne!(device, pixels, "diffusion changes a photograph");
    assert_eq!(told, [10, 13], "progress is told in batches, and at the end");
}

#[test]
fn odd_sizes_and_no_steps() {
    let (pixels, ..) = photograph();
    for (width, height, steps) in [(1, 1, 3), (33, 7, 5), (5, 61, 4), (40, 3, 0)] {
        let piece = &pixels[20_000..20_000 + width * height];
        let settings = Diffusion { kappa: 11.0, lambda: 0.25, unchecked: false };
        let device = settings.run(&Device::host(), piece, width, height, steps, |_| ()).expect("it runs");
        assert_same(&device, &plain(&settings, piece, width, height, steps), width);
    }
}

#[test]
fn a_picture_that_is_not_there_or_none_is_named() {
    let missing = picture::read(Path::new("no/such/picture.png")).expect_err("there is none");
    assert_eq!(
        format!("{missing:#}"),
        "cannot open the picture no/such/picture.png: No such file or directory (os error 2)"
    );

    let text = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");
    let none = picture::read(Path::new(text)).expect_err("it is no picture");
    assert_eq!(
        format!("{none:#}"),
        format!(
            "{text} is no picture that can be read: \
             The file extension `.\"toml\"` was not recognized as an image format"
        )
    );
}
