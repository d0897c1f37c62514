//! Grey pictures in files.

use std::path::Path;

use anyhow::{Context as _, Result};
use image::GrayImage;

/// The picture in `path`, as grey.
pub fn read(path: &Path) -> Result<GrayImage> {
    let picture = image::ImageReader::open(path)
        .with_context(|| format!("cannot open the picture {}", path.display()))?
        .with_guessed_format()
        .with_context(|| format!("cannot read the picture {}", path.display()))?
        .decode()
        .with_context(|| format!("{} is no picture that can be read", path.display()))?;
    Ok(picture.into_luma8())
}

/// Writes a picture; the ending of `path` decides the format.
pub fn write(picture: &GrayImage, path: &Path) -> Result<()> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)
            .with_context(|| format!("cannot make the folder {}", folder.display()))?;
    }
    picture.save(path).with_context(|| format!("cannot write {}", path.display()))
}

/// A picture from brightnesses of 0 to 255, rounded.
pub fn from_grey(pixels: &[f32], width: u32, height: u32) -> GrayImage {
    GrayImage::from_fn(width, height, |x, y| {
        let grey = pixels.get(y as usize * width as usize + x as usize).copied().unwrap_or(0.0);
        image::Luma([grey.round().clamp(0.0, 255.0) as u8])
    })
}

/// Two pictures of one size beside each other.
pub fn side_by_side(left: &GrayImage, right: &GrayImage) -> GrayImage {
    let gap = 4;
    let mut both =
        GrayImage::from_pixel(left.width() + gap + right.width(), left.height(), image::Luma([255]));
    image::imageops::replace(&mut both, left, 0, 0);
    image::imageops::replace(&mut both, right, i64::from(left.width() + gap), 0);
    both
}
