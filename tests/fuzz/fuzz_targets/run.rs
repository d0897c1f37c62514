//! Any bytes as a kernel's body: what the verifier accepts runs to a result or a fault that is not the interpreter's.
//! The first byte decides whether strict mode watches.
#![no_main]

use libfuzzer_sys::{Corpus, fuzz_target};
use scoped_gpu::{Blame, Device, Dynamic, DynamicArgument, Error, ErrorKind, Launch, Read, ReadWrite, linear};

#[path = "../../random/frame.rs"]
mod frame;

fuzz_target!(|bytes: &[u8]| -> Corpus {
    let Some((&first, body)) = bytes.split_first() else { return Corpus::Reject };
    let Ok(body) = std::str::from_utf8(body) else { return Corpus::Reject };
    match run(&frame::kernel(body), first % 2 == 1) {
        Ok(()) => Corpus::Keep,
        Err(error) => match error.kind() {
            ErrorKind::Fault(fault) if fault.blame() == Blame::Bug => panic!("{error}"),
            ErrorKind::Fault(_) | ErrorKind::Launch { .. } => Corpus::Keep,
            // not PTX, or a body that ends the kernel and begins another
            _ => Corpus::Reject,
        },
    }
});

fn run(text: &str, strict: bool) -> Result<(), Error> {
    Device::host().scope(|ctx| {
        let kernel = ctx.module_named("fuzz.ptx", text)?.kernel::<Dynamic>("k")?;
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
            ctx.synchronize()
        })
    })
}
