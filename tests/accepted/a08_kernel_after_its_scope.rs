//! A kernel can be used after its module was dropped, inside its scope.

use scoped_gpu::{Device, Launch, ReadWrite};

const PTX: &str = include_str!("../../ptx/scale.ptx");

pub fn main() -> scoped_gpu::Result<()> {
    let device = Device::host();
    device.scope(|ctx| {
        let module = ctx.module(PTX)?;
        let scale = module.kernel::<(ReadWrite<f32>, f32, u32)>("scale")?;
        drop(module);
        let mut x = ctx.buffer::<f32>(4)?;
        x.fill(2.0)?;
        ctx.launch(&scale, Launch::cover(4), (&mut x, 4.0, 4))?;
        assert_eq!(x.to_vec()?, [8.0; 4]);
        scoped_gpu::ok(())
    })
}
