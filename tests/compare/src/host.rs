//! Runs a job on a device of `scoped-gpu`, through the public interface: the host device here, any in `tests/launches`.

use scoped_gpu::{Context, Device, Dynamic, DynamicArgument, Error, Kernel, Launch, Read, ReadWrite};

use crate::job::{Argument, Job};

/// More than any job needs: what never ends is an error, not a hang.
const STEPS: u64 = 1_000_000_000;

/// What each output holds after the launch, in the order of the arguments.
pub fn run(device: &Device, job: &Job) -> Result<Vec<Vec<u8>>, Error> {
    let contents = run_by(device, job, |ctx, kernel, launch, arguments| {
        ctx.launch(kernel, launch.max_steps(STEPS), arguments)
    })?;
    let outputs = arrays(job).zip(contents).filter(|(argument, _)| matches!(argument, Argument::Output(_)));
    Ok(outputs.map(|(_, bytes)| bytes).collect())
}

/// The arguments that are arrays.
fn arrays(job: &Job) -> impl Iterator<Item = &Argument> {
    job.arguments.iter().filter(|argument| matches!(argument, Argument::Input(_) | Argument::Output(_)))
}

/// What each array holds after `launch` has launched the kernel, in the order of the arguments.
pub fn run_by(
    device: &Device,
    job: &Job,
    launch: impl for<'a, 'ctx> FnOnce(
        &Context<'ctx>,
        &Kernel<'ctx, Dynamic>,
        Launch,
        Vec<DynamicArgument<'a, 'ctx>>,
    ) -> Result<(), Error>,
) -> Result<Vec<Vec<u8>>, Error> {
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
        let shape = Launch::grid((x, y, z), (width, height, depth)).shared_bytes(job.shared as usize);
        launch(ctx, &kernel, shape, arguments)?;
        buffers.iter().map(|buffer| buffer.to_vec()).collect()
    })
}
