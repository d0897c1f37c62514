//! Runs a job on the host device, through the public interface.

use scoped_gpu::{Device, Dynamic, DynamicArgument, Error, Launch, Read, ReadWrite};

use crate::job::{Argument, Job};

/// More than any job needs: what never ends is an error, not a hang.
const STEPS: u64 = 1_000_000_000;

/// What each output holds after the launch, in the order of the arguments.
pub fn run(device: &Device, job: &Job) -> Result<Vec<Vec<u8>>, Error> {
    device.scope(|ctx| {
        let kernel = ctx.module_named("module.ptx", &job.module)?.kernel::<Dynamic>(&job.kernel)?;
        let mut buffers = Vec::new();
        for argument in &job.arguments {
            if let Argument::Input(bytes) | Argument::Output(bytes) = argument {
                let mut buffer = ctx.buffer::<u8>(bytes.len())?;
                buffer.copy_from_host(bytes)?;
                buffers.push(buffer);
            }
        }
        let mut next = buffers.iter_mut();
        let mut arguments = Vec::new();
        for argument in &job.arguments {
            arguments.push(match argument {
                Argument::U8(value) => DynamicArgument::new::<u8>(*value),
                Argument::U16(value) => DynamicArgument::new::<u16>(*value),
                Argument::U32(value) => DynamicArgument::new::<u32>(*value),
                Argument::U64(value) => DynamicArgument::new::<u64>(*value),
                Argument::F32(value) => DynamicArgument::new::<f32>(*value),
                Argument::F64(value) => DynamicArgument::new::<f64>(*value),
                Argument::Input(_) => match next.next() {
                    Some(buffer) => DynamicArgument::new::<Read<u8>>(&*buffer),
                    None => continue,
                },
                Argument::Output(_) => match next.next() {
                    Some(buffer) => DynamicArgument::new::<ReadWrite<u8>>(buffer),
                    None => continue,
                },
            });
        }
        let [x, y, z] = job.grid;
        let [width, height, depth] = job.block;
        let launch = Launch::grid((x, y, z), (width, height, depth))
            .shared_bytes(job.shared as usize)
            .max_steps(STEPS);
        ctx.launch(&kernel, launch, arguments)?;
        let arrays = job.arguments.iter().filter(|a| matches!(a, Argument::Input(_) | Argument::Output(_)));
        let outputs = arrays.zip(&buffers).filter(|(argument, _)| matches!(argument, Argument::Output(_)));
        outputs.map(|(_, buffer)| buffer.to_vec()).collect()
    })
}
