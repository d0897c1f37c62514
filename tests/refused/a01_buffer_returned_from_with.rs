//! A buffer cannot be returned from `with`: its context ends there.

use scoped_gpu::Device;

fn main() -> scoped_gpu::Result<()> {
    let buffer = Device::with(|ctx| ctx.buffer::<f32>(3))?;
    assert_eq!(buffer.to_vec()?, [0.0; 3]);
    Ok(())
}
