//! A signature is a tuple, and names how a kernel uses an array.

use scoped_gpu::Device;

const PTX: &str = include_str!("../../ptx/scale.ptx");

fn main() {
    let run: scoped_gpu::Result<()> = Device::host().scope(|ctx| {
        let module = ctx.module(PTX)?;
        let _lone = module.kernel::<u32>("scale")?;
        let _slice = module.kernel::<(&mut [f32], f32, u32)>("scale")?;
        Ok(())
    });
    run.unwrap();
}
