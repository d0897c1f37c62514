//! A view cannot outlive its buffer.

use scoped_gpu::Device;

fn main() -> scoped_gpu::Result<()> {
    let device = Device::host();
    device.scope(|ctx| {
        let buffer = ctx.buffer::<u8>(4)?;
        let view = buffer.view();
        drop(buffer);
        assert_eq!(view.to_vec()?, [0; 4]);
        scoped_gpu::ok(())
    })
}
