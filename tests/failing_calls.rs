//! Every call to the device fails once, and from then on, in turn: whatever it was, the program ends with an error or
//! with the right result, host memory is not written once it was given back, and the device's next scope works.

use scoped_gpu::{
    Context, Device, Error, ErrorKind, Failure, HostOptions, Kernel, Launch, Read, ReadWrite, linear, zeros,
};

const SAXPY: &str = include_str!("../ptx/saxpy.ptx");

/// Uses each kind of thing that a scope hands out.
fn program(ctx: &Context<'_>) -> Result<Vec<f32>, Error> {
    let module = ctx.module(SAXPY)?;
    let saxpy: Kernel<'_, (f32, Read<f32>, ReadWrite<f32>, u32)> = module.kernel("saxpy")?;
    let ones = vec![1.0_f32; 64];
    let mut landed = vec![0.0_f32; 64];
    ctx.alloc((linear(&ones), zeros::<f32>(64)), |(x, mut y)| {
        ctx.streams(|s| {
            let (a, b) = (s.stream()?, s.stream()?);
            a.launch(&saxpy, Launch::cover(64), (2.0, &x, &mut y, 64))?;
            b.launch(&saxpy, Launch::cover(64), (3.0, &x, &mut y, 64))?;
            let event = b.record()?;
            a.wait_for(&event)?;
            let _copied = a.copy_to_host(&y, &mut landed)?;
            Ok::<_, Error>(())
        })?;
        let mut copy = ctx.buffer::<f32>(64)?;
        copy.copy_from(&y)?;
        ctx.launch(&saxpy, Launch::cover(64), (1.0, &x, &mut copy, 64))?;
        let seen = copy.to_vec()?;
        assert_eq!(landed, [5.0; 64]);
        Ok(seen)
    })
}

fn meets_every_failure(failure: Failure, seed: Option<u64>) {
    for k in 1.. {
        let mut options = HostOptions::new().memory_limit(1 << 20).fail_call(k, failure);
        if let Some(seed) = seed {
            options = options.hostile(seed);
        }
        let device = Device::host_with(options);
        let answer = device.scope(program);
        match &answer {
            Ok(seen) => assert_eq!(seen, &[6.0; 64], "call {k}"),
            Err(error) => {
                assert!(matches!(error.kind(), ErrorKind::Driver { code: 999, .. }), "call {k}: {error}")
            }
        }
        if failure == Failure::Once {
            let again = device.scope(program);
            if answer.is_err() {
                assert_eq!(again.unwrap(), [6.0; 64], "after call {k}");
            } else {
                return;
            }
        } else if answer.is_ok() {
            return;
        }
    }
}

#[test]
fn once() {
    meets_every_failure(Failure::Once, None);
}

#[test]
fn for_good() {
    meets_every_failure(Failure::Forever, None);
}

#[test]
fn in_hostile_order() {
    for seed in 0..5 {
        meets_every_failure(Failure::Once, Some(seed));
        meets_every_failure(Failure::Forever, Some(seed));
    }
}
