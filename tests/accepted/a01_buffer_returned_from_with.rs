//! What a buffer holds can be returned from `with`.

use scoped_gpu::Device;

pub fn main() -> scoped_gpu::Result<()> {
    let held = Device::with(|ctx| ctx.buffer::<f32>(3)?.to_vec())?;
    assert_eq!(held, [0.0; 3]);
    Ok(())
}
