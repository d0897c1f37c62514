//! Running: kernels that the verifier accepts, on small buffers, with and without strict mode.

use anyhow::{Context as _, Result};
use scoped_gpu::{Blame, Device, Dynamic, DynamicArgument, ErrorKind, Launch, Read, ReadWrite, linear};

use crate::corpus::Corpus;
use crate::random::Random;
use crate::watch::Watch;
use crate::{frame, inputs};

/// What became of the kernels.
#[derive(Debug, Default)]
pub struct Outcome {
    pub accepted: u64,
    pub finished: u64,
    pub faulted: u64,
    pub unsupported: u64,
}

/// Runs kernels `first..first + count` of `seed`.
pub fn run(seed: u64, first: u64, count: u64) -> Outcome {
    let corpus = Corpus::new();
    let watch = Watch::new("running");
    let mut outcome = Outcome::default();
    for index in first..first + count {
        let mut random = Random::new(seed ^ index.wrapping_mul(0xd134_2543_de82_ef95));
        let text = frame::kernel(&inputs::instructions(&corpus, &mut random));
        watch.begin(index);
        if let Err(error) = one(&text, index % 2 == 0, &mut outcome) {
            panic!("kernel {index} of seed {seed}: {error:?}\n{text}");
        }
    }
    outcome
}

fn one(text: &str, strict: bool, outcome: &mut Outcome) -> Result<()> {
    let device = Device::host();
    let ended = device.scope(|ctx| {
        let module = ctx.module_named("random.ptx", text)?;
        let kernel = module.kernel::<Dynamic>("k")?;
        outcome.accepted += 1;
        let data: [u32; 64] = std::array::from_fn(|i| i as u32 * 4);
        ctx.alloc((linear(&data), linear(&data)), |(input, mut output)| {
            let launch = Launch::grid(2, 48).shared_bytes(512).max_steps(5_000);
            let launch = if strict { launch.strict() } else { launch };
            // a typed kernel that stores through its first parameter would be refused, and never run
            let arguments = vec![
                DynamicArgument::new::<Read<u32>>(&input),
                DynamicArgument::new::<ReadWrite<u32>>(&mut output),
                DynamicArgument::new::<u32>(64),
            ];
            ctx.launch(&kernel, launch, arguments)?;
            output.to_vec()?;
            // whatever the kernel did, it did not write what it may only read
            assert_eq!(input.to_vec()?, data);
            scoped_gpu::ok(())
        })
    });
    match ended {
        Ok(()) => outcome.finished += 1,
        Err(error) => match error.kind() {
            ErrorKind::Ptx { .. } => {}
            ErrorKind::Fault(fault) => match fault.blame() {
                Blame::Bug => return Err(error).context("the interpreter contradicted itself"),
                Blame::Limit => outcome.unsupported += 1,
                _ => outcome.faulted += 1,
            },
            ErrorKind::Launch { .. } => outcome.unsupported += 1,
            _ => return Err(error).context("neither a refusal nor a fault"),
        },
    }
    anyhow::ensure!(device.memory().count == 0, "something is still allocated");
    Ok(())
}
