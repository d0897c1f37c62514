//! Any bytes as a kernel's body: what the verifier accepts runs to a result or a fault that is not the interpreter's.
//! The first byte decides whether strict mode watches.
#![no_main]

use libfuzzer_sys::{Corpus, fuzz_target};
use scoped_gpu::{Blame, Device, Error, ErrorKind, Launch, Read, ReadWrite, linear};

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
        let kernel = ctx.module_named("fuzz.ptx", text)?.kernel::<(Read<u32>, ReadWrite<u32>, u32)>("k")?;
        let data: [u32; 64] = std::array::from_fn(|i| i as u32 * 4);
        ctx.alloc((linear(&data), linear(&data)), |(input, mut output)| {
            let launch = Launch::grid(2, 48).shared_bytes(512).max_steps(5_000);
            ctx.launch(&kernel, if strict { launch.strict() } else { launch }, (&input, &mut output, 64))?;
            ctx.synchronize()
        })
    })
}
