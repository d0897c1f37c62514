//! After a reset a kernel is taken and launched again.

use scoped_gpu::{Device, Launch, Read, ReadWrite, Reset, Result};

const PTX: &str = include_str!("../../ptx/saxpy.ptx");

fn run(device: &Device) -> Result<Vec<f32>> {
    device.scope(|ctx| {
        let module = ctx.module(PTX)?;
        let saxpy = module.kernel::<(f32, Read<f32>, ReadWrite<f32>, u32)>("saxpy")?;
        let (mut x, mut y) = (ctx.buffer::<f32>(8)?, ctx.buffer::<f32>(8)?);
        x.fill(3.0)?;
        ctx.launch(&saxpy, Launch::cover(8), (2.0, &x, &mut y, 8))?;
        y.to_vec()
    })
}

pub fn main() -> Result<()> {
    let mut device = Device::host();
    assert_eq!(run(&device)?, [6.0; 8]);
    assert_eq!(device.reset()?, Reset::Recovered);
    assert_eq!(run(&device)?, [6.0; 8]);
    Ok(())
}
