//! `nvcc/common.cu` for sm_80: warps, atomics, calls, local memory, switches. `bigparam` takes a structure by value,
//! which no launch of the public interface can pass: it must be refused with that reason.

use scoped_gpu::{Device, ErrorKind, FaultKind, Launch, Read, ReadWrite};

use crate::launch;
use crate::nvcc::COMMON;
use crate::reference::half::{from_f16, to_f16};
use crate::reference::random::Random;
use crate::reference::{common, compare_bits};

#[test]
fn warpscan() {
    let d = Random::new(21).i32s(128, i32::MIN..i32::MAX);
    let got = launch!(COMMON, "warpscan", (ReadWrite<i32>, i32), Launch::grid(2, 64), [][d], (&mut d, 128));
    let mut expected = d.clone();
    common::warpscan(&mut expected, 128);
    assert_eq!(got, expected);
}

#[test]
fn atomics_of_one_thread() {
    let a = vec![5, -3, 6, 9, 12, 0, 44, 7, 8, -1];
    let (u, f, d, l) = (vec![3u32, 99], vec![1.5f32], vec![2.5f64], vec![7u64, 2]);
    let h: Vec<[u16; 2]> = vec![[to_f16(0.5), to_f16(-3.0)]];
    type Signature =
        (ReadWrite<i32>, ReadWrite<u32>, ReadWrite<f32>, ReadWrite<f64>, ReadWrite<u64>, ReadWrite<[u16; 2]>);
    let got = launch!(COMMON, "atomics", Signature, Launch::grid(1, 1), [] [a, u, f, d, l, h],
        (&mut a, &mut u, &mut f, &mut d, &mut l, &mut h));
    let mut expected = (a.clone(), u.clone(), f[0], d[0], l.clone());
    let mut halves = h[0].map(from_f16);
    common::atomics(
        &mut expected.0,
        &mut expected.1,
        &mut expected.2,
        &mut expected.3,
        &mut expected.4,
        &mut halves,
    );
    assert_eq!((got.0, got.1, got.2[0], got.3[0], got.4), expected);
    assert_eq!(got.5[0].map(from_f16), halves);
}

#[test]
fn warpops_of_a_full_warp() {
    let o = vec![-7i32; 332];
    let run = |strict: bool| {
        Device::host().scope(|ctx| {
            let kernel = ctx.module(COMMON)?.kernel::<(ReadWrite<i32>,)>("warpops")?;
            let mut o = crate::upload(ctx, &o)?;
            let launch = Launch::grid(1, 32).max_steps(100_000);
            ctx.launch(&kernel, if strict { launch.strict() } else { launch }, (&mut o,))?;
            o.to_vec()
        })
    };
    let mut expected = o.clone();
    common::warpops(&mut expected);
    for strict in [false, true] {
        // The rest is the clock.
        assert_eq!(run(strict).unwrap()[..300], expected[..300]);
    }
}

#[test]
fn dbg_passes_fails_and_traps() {
    let p = Random::new(22).i32s(32, 100..200);
    let got = launch!(COMMON, "dbg", (ReadWrite<i32>, i32), Launch::grid(1, 32), [][p], (&mut p, 32));
    let mut expected = p.clone();
    common::dbg(&mut expected, 32);
    assert_eq!(got, expected);

    let fault = |values: &[i32], n: i32| {
        let error = Device::host()
            .scope(|ctx| {
                let kernel = ctx.module(COMMON)?.kernel::<(ReadWrite<i32>, i32)>("dbg")?;
                let mut p = crate::upload(ctx, values)?;
                ctx.launch(&kernel, Launch::grid(1, 32), (&mut p, n))?;
                p.to_vec()
            })
            .unwrap_err();
        match error.kind() {
            ErrorKind::Fault(fault) => fault.kind.clone(),
            other => panic!("{other:?}"),
        }
    };
    assert!(matches!(fault(&p, 31), FaultKind::Assert { message } if message.contains("i<n")));
    let mut deadly = p.clone();
    deadly[17] = 42;
    assert_eq!(fault(&deadly, 32), FaultKind::Trap);
}

#[test]
fn localmem() {
    let threads = 40usize;
    let n = 64usize;
    let x = Random::new(23).f32s(8 * n, -20.0..20.0);
    let y = vec![0.0f32; threads];
    let got = launch!(
        COMMON,
        "localmem",
        (Read<f32>, ReadWrite<f32>, i32),
        Launch::grid(1, threads as u32),
        [x][y],
        (&x, &mut y, n as i32)
    );
    let mut expected = y.clone();
    common::localmem(&x, &mut expected, n as i32);
    compare_bits(&got, &expected).unwrap();
}

#[test]
fn recurse() {
    let o: Vec<i32> = (0..16).collect();
    let got = launch!(COMMON, "recurse", (ReadWrite<i32>,), Launch::grid(1, 16), [][o], (&mut o));
    let mut expected = o.clone();
    common::recurse(&mut expected);
    assert_eq!(got, expected);
}

#[test]
fn indirect() {
    let mut random = Random::new(24);
    let (o, s) = (random.f32s(64, -9.0..9.0), random.i32s(64, 0..10));
    let got =
        launch!(COMMON, "indirect", (ReadWrite<f32>, Read<i32>), Launch::grid(1, 64), [s][o], (&mut o, &s));
    let mut expected = o.clone();
    common::indirect(&mut expected, &s);
    compare_bits(&got, &expected).unwrap();
}

#[test]
fn constants_that_nobody_set_are_zero() {
    let o = vec![5.0f32; 40];
    let got = launch!(COMMON, "consts", (ReadWrite<f32>,), Launch::grid(1, 40), [][o], (&mut o));
    let mut expected = o.clone();
    common::consts(&mut expected, &[0.0; 16]);
    compare_bits(&got, &expected).unwrap();
}

#[test]
fn volatile_flag_and_a_generic_pointer_into_two_spaces() {
    for elsewhere in [0, 1] {
        let (f, o) = (vec![33], vec![7, elsewhere]);
        let got =
            launch!(COMMON, "vol", (Read<i32>, ReadWrite<i32>), Launch::grid(1, 1), [f][o], (&f, &mut o));
        let mut expected = o.clone();
        common::vol(&f[0], &mut expected);
        assert_eq!(got, expected);
    }
}

#[test]
fn a_structure_by_value_is_refused_with_its_reason() {
    let error = Device::host()
        .scope(|ctx| ctx.module(COMMON)?.kernel::<(u64, i32)>("bigparam").map(|_| ()))
        .unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Signature { message } if message.contains("168 bytes there")));
}

#[test]
fn a_switch() {
    let o: Vec<i32> = (-2..62).map(|i| i % 9).collect();
    let got = launch!(COMMON, "sw", (ReadWrite<i32>, i32), Launch::grid(1, 64), [][o], (&mut o, 12345));
    let mut expected = o.clone();
    common::sw(&mut expected, 12345);
    assert_eq!(got, expected);
}
