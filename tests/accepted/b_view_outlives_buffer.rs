//! A buffer can be dropped after its last view was used.

use scoped_gpu::Device;

pub fn main() -> scoped_gpu::Result<()> {
    let device = Device::host();
    device.scope(|ctx| {
        let buffer = ctx.buffer::<u8>(4)?;
        let view = buffer.view();
        assert_eq!(view.to_vec()?, [0; 4]);
        drop(buffer);
        assert_eq!(device.memory().live, 0);
        scoped_gpu::ok(())
    })
}
