//! nvcc's `common`: calls, recursion, function pointers, local memory, warp intrinsics, messages, faults on purpose.

use super::*;
use crate::fault::FaultKind;

const COMMON: &str = include_str!("../../../../../tests/corpus/nvcc/common_sm80.ptx");

fn rig() -> Rig {
    Rig::new("common.cu.ptx", COMMON)
}

#[test]
fn recursion_in_each_lane_to_its_own_depth() {
    let mut rig = rig();
    let o = rig.upload(&(0..40).map(|i| i % 12).collect::<Vec<i32>>());
    rig.launch("recurse", 1, 40, 0, &[Arg::Out(o)]).unwrap_or_else(|fault| panic!("{fault}"));
    let fib = |n: i32| (0..n).fold((0, 1), |(a, b), _| (b, a + b)).0;
    let expected: Vec<i32> = (0..40).map(|i| fib(i % 12)).collect();
    assert_eq!(rig.download::<i32>(o), expected);
}

#[test]
fn function_pointers_in_a_table() {
    let mut rig = rig();
    let o = rig.upload(&(0..64).map(|i| i as f32).collect::<Vec<f32>>());
    let s = rig.upload(&(0..64).map(|i| i % 3).collect::<Vec<i32>>());
    rig.launch("indirect", 1, 64, 0, &[Arg::Out(o), Arg::In(s)]).unwrap_or_else(|fault| panic!("{fault}"));
    for (i, v) in rig.download::<f32>(o).into_iter().enumerate() {
        let x = i as f32;
        assert_eq!(v, if (i % 3) & 1 == 0 { x + 1.0 } else { x * 2.0 });
    }
}

#[test]
fn local_arrays_and_pointers_to_them() {
    let n = 8;
    let mut rig = rig();
    let x: Vec<f32> = (0..8 * n).map(|i| (i * 5 % 23) as f32).collect();
    let (a, y) = (rig.upload(&x), rig.upload(&vec![0_f32; n]));
    rig.launch("localmem", 1, n as u32, 0, &[Arg::In(a), Arg::Out(y), Arg::U32(n as u32)])
        .unwrap_or_else(|fault| panic!("{fault}"));
    for (t, v) in rig.download::<f32>(y).into_iter().enumerate() {
        let mut b: Vec<f32> = (0..8).map(|k| x[k * n + t]).collect();
        for k in 0..n {
            let at = (k * 7 + b[k & 7] as usize) & 7;
            b[at] += 1.0;
        }
        assert_eq!(v, b[n & 7] * 2.0 + b[(n + 3) & 7], "thread {t}");
    }
}

#[test]
fn a_switch_takes_every_branch() {
    let mut rig = rig();
    let k = 1234_i32;
    let o = rig.upload(&(0..32).map(|i| i % 9).collect::<Vec<i32>>());
    rig.launch("sw", 1, 32, 0, &[Arg::Out(o), Arg::U32(k as u32)]).unwrap_or_else(|fault| panic!("{fault}"));
    let expected = |case| match case {
        0 => k * 3,
        1 => k / 5,
        2 => k ^ 77,
        3 => k << 2,
        4 => k - 9,
        5 => !k,
        6 => k % 11,
        _ => 0,
    };
    assert_eq!(rig.download::<i32>(o), (0..32).map(|i| expected(i % 9)).collect::<Vec<_>>());
}

#[test]
fn warp_intrinsics_of_a_full_and_a_partial_warp() {
    let mut rig = rig();
    let o = rig.upload(&[0_i32; 400]);
    rig.launch("warpops", 1, 64, 0, &[Arg::Out(o)]).unwrap_or_else(|fault| panic!("{fault}"));
    let o = rig.download::<i32>(o);
    for i in 0..64_i32 {
        let (warp, lane) = (i / 32, i % 32);
        let members: Vec<i32> = (warp * 32..warp * 32 + 32).collect();
        let ballot = members.iter().filter(|&&t| t & 1 == 1).fold(0_u32, |m, t| m | 1 << (t % 32));
        let any = i32::from(members.iter().any(|&t| t > 3));
        let all = i32::from(members.iter().all(|&t| t < 40));
        let same = members.iter().filter(|&&t| t / 4 == i / 4).fold(0_u32, |m, t| m | 1 << (t % 32));
        let expected = (ballot as i32).wrapping_add(any + all).wrapping_add(same as i32).wrapping_add(32);
        assert_eq!(o[i as usize], expected, "thread {i}");
        assert_eq!(o[i as usize + 64], 0, "no two lanes agree");
        let sum: i32 = members.iter().sum();
        assert_eq!(
            o[i as usize + 128],
            sum + 32 + 1,
            "thread {i}: sum, 32 odd threads, some above 5, not all below 9"
        );
        assert_eq!(o[i as usize + 192] as u32, (1_u32 << lane) - 1);
        if i < 44 {
            assert_eq!(o[i as usize + 256], (lane & 24 | (i ^ 3) & 7) + warp * 32);
        }
    }
}

#[test]
fn printf_assert_and_trap() {
    let mut rig = rig();
    let p = rig.upload(&[1_i32, 2, 3, 4]);
    rig.launch("dbg", 1, 4, 0, &[Arg::Out(p), Arg::U32(4)]).unwrap_or_else(|fault| panic!("{fault}"));
    assert_eq!(rig.download::<i32>(p), [2, 3, 4, 5]);
    assert_eq!(rig.printed, "");

    let fault = rig.launch("dbg", 1, 8, 0, &[Arg::Out(p), Arg::U32(3)]).unwrap_err();
    assert!(rig.printed.starts_with("bad 3 of 3 1.500000\n"), "{}", rig.printed);
    let FaultKind::Assert { message } = &fault.kind else { panic!("{fault}") };
    assert!(message.contains("i<n") && message.contains("common.cu"), "{message}");
    assert_eq!(fault.site.as_ref().unwrap().thread, [3, 0, 0]);

    let p = rig.upload(&[1_i32, 42, 3, 4]);
    let fault = rig.launch("dbg", 1, 4, 0, &[Arg::Out(p), Arg::U32(4)]).unwrap_err();
    assert_eq!(fault.kind, FaultKind::Trap);
    assert_eq!(fault.site.as_ref().unwrap().thread, [1, 0, 0]);
}

#[test]
fn constants_globals_and_struct_parameters() {
    let mut rig = rig();
    let module = Arc::clone(&rig.instance.program().module);
    let variable = |name: &str| {
        let index = module.variables.iter().position(|v| v.name == name).unwrap();
        rig.instance.variable(ptx::ir::VariableId(index as u32)).unwrap().0
    };
    let (coef, counter) = (variable("coef"), variable("gcounter"));
    let values: Vec<f32> = (0..16).map(|i| i as f32 * 1.5).collect();
    rig.memory.bytes_mut(coef, 64).unwrap().copy_from_slice(bytemuck::cast_slice(&values));
    let o = rig.upload(&[0_f32; 48]);
    rig.launch("consts", 1, 48, 0, &[Arg::Out(o)]).unwrap_or_else(|fault| panic!("{fault}"));
    assert!(rig.download::<f32>(o).iter().enumerate().all(|(i, &v)| v == values[i % 16]));
    assert_eq!(rig.memory.bytes(counter, 4).unwrap(), 48_i32.to_le_bytes());
}

#[test]
fn scan_and_fft_in_dynamic_shared_memory() {
    let mut rig = rig();
    let n = 64;
    let data: Vec<i32> = (0..n).map(|i| i * 7 % 31 - 15).collect();
    let d = rig.upload(&data);
    rig.launch("scan", 1, n as u32, 2 * 4 * n as u32, &[Arg::Out(d), Arg::U32(n as u32)])
        .unwrap_or_else(|fault| panic!("{fault}"));
    let sums: Vec<i32> = data
        .iter()
        .scan(0, |sum, v| {
            *sum += v;
            Some(*sum)
        })
        .collect();
    assert_eq!(rig.download::<i32>(d), sums);

    let lg = 5;
    let n = 1 << lg;
    let signal: Vec<[f32; 2]> = (0..n).map(|i| [(i * 3 % 7) as f32 - 2.0, (i % 5) as f32]).collect();
    let d = rig.upload(&signal);
    rig.launch("fft", 1, n as u32, 8 * n as u32, &[Arg::Out(d), Arg::U32(n as u32), Arg::U32(lg)])
        .unwrap_or_else(|fault| panic!("{fault}"));
    for (k, out) in rig.download::<[f32; 2]>(d).into_iter().enumerate() {
        let mut expected = [0.0_f64; 2];
        for (i, v) in signal.iter().enumerate() {
            let (sin, cos) = (-2.0 * std::f64::consts::PI * (i * k) as f64 / n as f64).sin_cos();
            let [re, im] = v.map(f64::from);
            expected[0] += re * cos - im * sin;
            expected[1] += re * sin + im * cos;
        }
        for (a, b) in out.iter().zip(expected) {
            assert!((f64::from(*a) - b).abs() < 1e-3, "{k}: {out:?} for {expected:?}");
        }
    }
}

#[test]
fn integer_functions() {
    let n = 200;
    let a: Vec<i32> = (0..n).map(|i| (i * 1_234_567_891_i64 - 99_999_999_999) as i32).collect();
    let b: Vec<u32> = (0..n).map(|i| (i * 2_654_435_761) as u32).collect();
    let c: Vec<i64> = (0..n).map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15_u64 as i64)).collect();
    let mut rig = rig();
    let [x, y, z] = [rig.upload(&a), rig.upload(&b), rig.upload(&c)];
    let (o, o2) = (rig.upload(&vec![0_i32; n as usize]), rig.upload(&vec![0_u64; n as usize]));
    let args = [Arg::In(x), Arg::In(y), Arg::In(z), Arg::Out(o), Arg::Out(o2), Arg::U32(n as u32)];
    rig.launch("ints", 2, 128, 0, &args).unwrap_or_else(|fault| panic!("{fault}"));
    let (o, o2) = (rig.download::<i32>(o), rig.download::<u64>(o2));
    for i in 0..n as usize {
        let (x, y, z) = (a[i], b[i], c[i]);
        let first_set = |zeros: u32, bits: u32| if zeros == bits { 0 } else { zeros as i32 + 1 };
        let terms = [
            x / 7,
            x % 5,
            x.wrapping_div((y | 1) as i32),
            y.count_ones() as i32,
            x.leading_zeros() as i32,
            first_set(x.trailing_zeros(), 32),
            x.wrapping_shl(y & 31),
            x >> 3,
            (y >> 5) as i32,
            ((i64::from(x) * 3) >> 32) as i32,
            x.wrapping_abs(),
            x.min(4),
            x.max(y as i32),
            (x as u32 & 0xffff | y << 16) as i32,
            (((u64::from(y) << 32 | u64::from(x as u32)) << 7) >> 32) as i32,
            y.reverse_bits() as i32,
        ];
        assert_eq!(o[i], terms.into_iter().fold(0, i32::wrapping_add), "element {i}");
        // what C leaves open in `z >> x` is a clamped shift here, as on the device
        let shifted = z >> (x as u32).min(63);
        let terms = [
            (z / i64::from(x | 1)) as u64,
            z as u64 % u64::from(y | 1),
            u64::from(z.count_ones()),
            u64::from(z.leading_zeros()),
            ((u128::from(z as u64) * u128::from(y)) >> 64) as u64,
            shifted as u64,
            first_set(z.trailing_zeros(), 64) as u64,
        ];
        assert_eq!(o2[i], terms.into_iter().fold(0, u64::wrapping_add), "element {i}");
    }
}

#[test]
fn single_precision_functions() {
    let x: Vec<f32> = (1..200).map(|i| i as f32 * 0.07).collect();
    let mut rig = rig();
    let (a, y) = (rig.upload(&x), rig.upload(&vec![0_f32; x.len()]));
    rig.launch("mathf", 2, 128, 0, &[Arg::In(a), Arg::Out(y), Arg::U32(x.len() as u32)])
        .unwrap_or_else(|fault| panic!("{fault}"));
    for (x, y) in x.iter().zip(rig.download::<f32>(y)) {
        let v = f64::from(*x);
        // Abramowitz and Stegun 7.1.26, good to 1.5e-7
        let t = 1.0 / (1.0 + 0.327_591_1 * v);
        let poly = [1.061_405_429, -1.453_152_027, 1.421_413_741, -0.284_496_736, 0.254_829_592];
        let erf = 1.0 - poly.iter().fold(0.0, |s, c| (s + c) * t) * (-v * v).exp();
        let expected = v.sin()
            + v.cos() * v.tan()
            + v.exp()
            + v.ln()
            + v.powf(1.7)
            + v.sqrt()
            + 1.0 / v.sqrt()
            + v.tanh()
            + erf
            + v.atan2(2.0)
            + v.floor()
            + v.ceil()
            + v.round()
            + v.trunc()
            + v.round_ties_even()
            + v % 3.0
            + v.cbrt()
            + 1.0 / v
            + v * 8.0
            - v;
        assert!((f64::from(y) - expected).abs() < 2e-5 * expected.abs().max(10.0), "{x}: {y} for {expected}");
    }
}

#[test]
fn atomics_of_every_kind() {
    let mut rig = rig();
    let a = rig.upload(&[0_i32; 64]);
    let u = rig.upload(&[0_u32; 64]);
    let (f, d) = (rig.upload(&[0_f32]), rig.upload(&[0_f64]));
    let (l, h) = (rig.upload(&[0_u64; 2]), rig.upload(&[0_u32]));
    let args = [a, u, f, d, l, h].map(Arg::Out);
    rig.launch("atomics", 1, 32, 0, &args).unwrap_or_else(|fault| panic!("{fault}"));
    assert_eq!(rig.download::<f32>(f), [32.0]);
    assert_eq!(rig.download::<f64>(d), [32.0]);
    assert_eq!(rig.download::<u64>(l), [32, 5]);
    // 32.0 as f16 in both halves
    assert_eq!(rig.download::<u32>(h), [0x5000_5000]);
}
