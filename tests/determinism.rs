//! The same results and the same first fault on any number of threads, as whole processes see it. This program calls
//! itself: the outer one compares what the inner ones print.

use std::fmt::Write as _;
use std::process::Command;

use scoped_gpu::{Device, Error, FaultKind, Launch, ReadWrite, zeros};

/// Set in the inner process.
const INNER: &str = "SCOPED_GPU_INNER";

/// Many blocks that each do some work. Those whose number is 7 modulo 500, from 1507 upwards, store far past the end;
/// the higher, the sooner, so that threads that run ahead meet a later one first.
const SEVERAL_FAULTS: &str = "\
.version 8.5
.target sm_90
.address_size 64
.visible .entry several(.param .u64 data, .param .u32 first)
{
.reg .pred %p<4>; .reg .b32 %r<9>; .reg .b64 %rd<9>;
ld.param.u64 %rd1, [data];
ld.param.u32 %r5, [first];
mov.u32 %r1, %ctaid.x;
mul.wide.u32 %rd2, %r1, 4;
add.u64 %rd2, %rd2, %rd1;
sub.u32 %r2, 4000, %r1;
shr.u32 %r2, %r2, 3;
WORK:
sub.u32 %r2, %r2, 1;
setp.gt.s32 %p1, %r2, 0;
@%p1 bra WORK;
rem.u32 %r3, %r1, 500;
setp.eq.u32 %p2, %r3, 7;
setp.ge.and.u32 %p2, %r1, %r5, %p2;
@%p2 st.global.u32 [%rd2+4194304], %r1; // FAULT
st.global.u32 [%rd2], %r1;
ret;
}
.visible .entry forever(.param .u64 data, .param .u32 first)
{
.reg .b32 %r<9>;
mov.u32 %r1, 0;
AGAIN:
add.u32 %r1, %r1, 1; // ENDLESS
bra AGAIN; // ENDLESS
}
";

const BLOCKS: usize = 4000;

/// What a launch came to: its fault, and a sum over the words that depends on their places.
fn outcome(kernel: &str, first: u32, max_steps: Option<u64>) -> String {
    Device::host()
        .scope(|ctx| {
            let kernel = ctx
                .module_named("determinism.ptx", SEVERAL_FAULTS)?
                .kernel::<(ReadWrite<u32>, u32)>(kernel)?;
            ctx.alloc((zeros::<u32>(BLOCKS),), |(mut data,)| {
                let launch = Launch::grid(BLOCKS as u32, 1);
                let launch = max_steps.map_or(launch, |steps| launch.max_steps(steps));
                ctx.launch(&kernel, launch, (&mut data, first))?;
                let fault = ctx.synchronize().map_err(|error| error.to_string());
                let words = data.to_vec()?;
                let sum =
                    words.iter().fold(0_u64, |sum, &word| sum.wrapping_mul(31).wrapping_add(word.into()));
                Ok::<_, Error>(format!("{fault:?} {sum}\n"))
            })
        })
        .unwrap()
}

#[test]
fn inner() {
    if std::env::var_os(INNER).is_some() {
        let mut text = String::new();
        for (kernel, first, steps) in
            [("several", 1500, None), ("several", u32::MAX, None), ("forever", 0, Some(10_000))]
        {
            // writing to a string cannot fail
            let _ = write!(text, "{}", outcome(kernel, first, steps));
        }
        println!("OUTCOME {text:?}");
    }
}

#[test]
fn any_number_of_threads() {
    let outcomes = ["1", "2", "8"].map(|threads| {
        let output = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "inner", "--nocapture"])
            .env(INNER, "1")
            .env("RAYON_NUM_THREADS", threads)
            .output()
            .unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let line = text.lines().find_map(|line| line.split_once("OUTCOME ")).map(|(_, line)| line.to_owned());
        line.unwrap_or_else(|| panic!("{threads} threads: {text}"))
    });
    assert_eq!(outcomes[0], outcomes[1]);
    assert_eq!(outcomes[0], outcomes[2]);
}

/// In order of blocks, the first fault is that of block 1507, and the blocks before it have written.
#[test]
fn the_first_fault_is_the_first_block_s() {
    Device::host()
        .scope(|ctx| {
            let several = ctx
                .module_named("determinism.ptx", SEVERAL_FAULTS)?
                .kernel::<(ReadWrite<u32>, u32)>("several")?;
            ctx.alloc((zeros::<u32>(BLOCKS),), |(mut data,)| {
                ctx.launch(&several, Launch::grid(BLOCKS as u32, 1), (&mut data, 1500))?;
                let error = ctx.synchronize().unwrap_err();
                let fault = error.fault().unwrap();
                let site = fault.site.as_ref().unwrap();
                assert_eq!(fault.kind, FaultKind::OutOfRange);
                assert_eq!((site.block, site.thread), ([1507, 0, 0], [0; 3]));
                assert!(site.text.ends_with("// FAULT"), "{}", site.text);
                let words = data.to_vec()?;
                assert!(words.iter().zip(0..).all(|(&word, i)| word == if i < 1507 { i } else { 0 }));
                scoped_gpu::ok(())
            })
        })
        .unwrap();
}

#[test]
fn an_endless_kernel_ends_with_its_budget_and_names_its_line() {
    Device::host()
        .scope(|ctx| {
            let forever = ctx
                .module_named("determinism.ptx", SEVERAL_FAULTS)?
                .kernel::<(ReadWrite<u32>, u32)>("forever")?;
            ctx.alloc((zeros::<u32>(1),), |(mut data,)| {
                for strict in [false, true] {
                    let launch = Launch::grid(1, 64).max_steps(12_345);
                    let launch = if strict { launch.strict() } else { launch };
                    ctx.launch(&forever, launch, (&mut data, 0))?;
                    let error = ctx.synchronize().unwrap_err();
                    let fault = error.fault().unwrap();
                    assert_eq!(fault.kind, FaultKind::StepLimit { steps: 12_345 });
                    assert!(fault.site.as_ref().unwrap().text.ends_with("// ENDLESS"), "{fault}");
                }
                scoped_gpu::ok(())
            })
        })
        .unwrap();
}
