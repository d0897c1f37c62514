//! A device of one's own can be reset.

use scoped_gpu::Device;

pub fn main() -> scoped_gpu::Result<()> {
    let mut device = Device::host();
    Device::with(|ctx| {
        let buffer = ctx.buffer::<u8>(2)?;
        device.reset()?;
        assert_eq!(buffer.to_vec()?, [0, 0]);
        scoped_gpu::ok(())
    })
}
