//! Kernels of numba and Triton. Numba passes an array as seven values, three of which are pointers; Triton adds two
//! pointers of scratch memory that these kernels do not use.

use scoped_gpu::{Device, Launch, Read, ReadWrite};

use crate::launch;
use crate::reference::half::{from_f16, to_f16};
use crate::reference::random::Random;
use crate::reference::{compare_bits, compare_bounds, python};

/// The one kernel of a file: numba's names are long.
fn only_kernel(text: &str) -> String {
    let name =
        Device::host().scope(|ctx| scoped_gpu::ok(ctx.module(text)?.kernels().next().map(str::to_owned)));
    name.unwrap().unwrap()
}

const NUMBA_SAXPY: &str = include_str!("numba/saxpy.ptx");
const NUMBA_SAXPY_DEBUG: &str = include_str!("numba/saxpy_dbg.ptx");
const NUMBA_REDUCE: &str = include_str!("numba/reduce.ptx");
const NUMBA_HIST: &str = include_str!("numba/hist.ptx");

#[test]
fn numba_saxpy() {
    let mut random = Random::new(31);
    let n = 300u64;
    let (x, y) = (random.f32s(300, -9.0..9.0), random.f32s(300, -9.0..9.0));
    let kernel = only_kernel(NUMBA_SAXPY);
    type Signature =
        (f32, u64, u64, i64, i64, Read<f32>, i64, i64, u64, u64, i64, i64, ReadWrite<f32>, i64, i64);
    let n = n as i64;
    let got = launch!(
        NUMBA_SAXPY,
        &kernel,
        Signature,
        Launch::grid(3, 128),
        [x][y],
        (1.75, 0, 0, n, 4, &x, n, 4, 0, 0, n, 4, &mut y, n, 4)
    );
    let mut expected = y.clone();
    python::numba_saxpy(1.75, &x, &mut expected);
    compare_bits(&got, &expected).unwrap();
}

#[test]
fn numba_saxpy_with_debug_information() {
    let mut random = Random::new(32);
    let (x, y, none) = (random.f32s(100, -9.0..9.0), random.f32s(100, -9.0..9.0), Vec::<u8>::new());
    let kernel = only_kernel(NUMBA_SAXPY_DEBUG);
    type Signature = (
        f32,
        Read<u8>,
        Read<u8>,
        i64,
        i64,
        Read<f32>,
        i64,
        i64,
        Read<u8>,
        Read<u8>,
        i64,
        i64,
        ReadWrite<f32>,
        i64,
        i64,
    );
    let got = launch!(
        NUMBA_SAXPY_DEBUG,
        &kernel,
        Signature,
        Launch::grid(2, 64),
        [x, none][y],
        (-2.5, &none, &none, 100, 4, &x, 100, 4, &none, &none, 100, 4, &mut y, 100, 4)
    );
    let mut expected = y.clone();
    // The debug build does not fuse.
    let unfused = expected.iter().zip(&x).map(|(y, x)| -2.5 * x + y).collect::<Vec<f32>>();
    python::numba_saxpy(-2.5, &x, &mut expected);
    let expected = if NUMBA_SAXPY_DEBUG.contains("fma.rn.f32") { expected } else { unfused };
    compare_bits(&got, &expected).unwrap();
}

type TwoArrays<T> = (u64, u64, i64, i64, Read<T>, i64, i64, u64, u64, i64, i64, ReadWrite<T>, i64, i64);

#[test]
fn numba_reduce() {
    let x = Random::new(33).f32s(700, -9.0..9.0);
    let o = vec![0.5f32];
    let kernel = only_kernel(NUMBA_REDUCE);
    let got = launch!(
        NUMBA_REDUCE,
        &kernel,
        TwoArrays<f32>,
        Launch::grid(3, 256),
        [x][o],
        (0, 0, 700, 4, &x, 700, 4, 0, 0, 1, 4, &mut o, 1, 4)
    );
    let mut expected = 0.5;
    python::numba_reduce(&x, &mut expected);
    compare_bits(&got, &[expected]).unwrap();
}

#[test]
fn numba_hist() {
    let d = Random::new(34).i32s(500, 0..16);
    let h = vec![2i32; 16];
    let kernel = only_kernel(NUMBA_HIST);
    let got = launch!(
        NUMBA_HIST,
        &kernel,
        TwoArrays<i32>,
        Launch::grid(4, 128),
        [d][h],
        (0, 0, 500, 4, &d, 500, 4, 0, 0, 16, 4, &mut h, 16, 4)
    );
    let mut expected = h.clone();
    python::numba_hist(&d, &mut expected);
    assert_eq!(got, expected);
}

#[test]
fn triton_add() {
    let mut random = Random::new(35);
    let n = 1500;
    let (x, y) = (random.f32s(n, -9.0..9.0), random.f32s(n, -9.0..9.0));
    let (o, none) = (vec![7.0f32; n], Vec::<u8>::new());
    type Signature = (Read<f32>, Read<f32>, ReadWrite<f32>, i32, Read<u8>, Read<u8>);
    let got = launch!(
        include_str!("triton/add_80_0.ptx"),
        "add",
        Signature,
        Launch::grid(2, 128),
        [x, y, none][o],
        (&x, &y, &mut o, n as i32, &none, &none)
    );
    let mut expected = o.clone();
    python::triton_add(&x, &y, &mut expected, n as i32);
    compare_bits(&got, &expected).unwrap();
}

#[test]
fn triton_softmax() {
    let (rows, stride, n) = (3usize, 500usize, 450usize);
    let x = Random::new(36).f32s(rows * stride, -8.0..8.0);
    let (o, none) = (vec![-1.0f32; rows * stride], Vec::<u8>::new());
    type Signature = (ReadWrite<f32>, Read<f32>, i32, i32, Read<u8>, Read<u8>);
    let got = launch!(
        include_str!("triton/softmax_80_0.ptx"),
        "softmax",
        Signature,
        Launch::grid(rows as u32, 128).shared_bytes(4096),
        [x, none][o],
        (&mut o, &x, stride as i32, n as i32, &none, &none)
    );
    let dense: Vec<f32> = got.chunks(stride).flat_map(|row| row[..n].to_vec()).collect();
    compare_bounds(&dense, &python::triton_softmax(&x, stride as i32, n as i32)).unwrap();
    assert!(
        got.chunks(stride).all(|row| row[n..].iter().all(|&v| v == -1.0)),
        "nothing is stored past a row"
    );
}

#[test]
fn triton_layernorm() {
    let mut random = Random::new(37);
    let (rows, n, eps) = (3usize, 700usize, 1e-5f32);
    let x: Vec<u16> = random.f32s(rows * n, -2.0..5.0).iter().map(|&v| to_f16(f64::from(v))).collect();
    let (w, b) = (random.f32s(n, 0.5..2.0), random.f32s(n, -1.0..1.0));
    let (y, none) = (vec![0u16; rows * n], Vec::<u8>::new());
    type Signature = (Read<u16>, ReadWrite<u16>, Read<f32>, Read<f32>, i32, f32, Read<u8>, Read<u8>);
    let got = launch!(
        include_str!("triton/layernorm_80_0.ptx"),
        "layernorm",
        Signature,
        Launch::grid(rows as u32, 128).shared_bytes(4096),
        [x, w, b, none][y],
        (&x, &mut y, &w, &b, n as i32, eps, &none, &none)
    );
    let got: Vec<f32> = got.into_iter().map(from_f16).collect();
    compare_bounds(&got, &python::triton_layernorm(&x, &w, &b, n as i32, eps)).unwrap();
}
