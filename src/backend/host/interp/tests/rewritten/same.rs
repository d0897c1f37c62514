//! Where nothing is out of range, the rewritten kernel does what the original does.

use super::*;

const CHECKS: &str = include_str!("../../../../../../tests/corpus/nvcc/checks_sm90.ptx");
const COMMON: &str = include_str!("../../../../../../tests/corpus/nvcc/common_sm80.ptx");

fn same(text: &str, kernel: &str, shape: (impl Into<Dim3>, impl Into<Dim3>, u32), given: &[Given]) {
    let shape = (shape.0.into(), shape.1.into(), shape.2);
    let original = launch_on(&mut Rig::new("original.ptx", text), kernel, None, shape, given);
    for on in [false, true] {
        let options = RewriteOptions { diagnose: on, count_back_edges: on };
        let (rewritten, sites) = run_rewritten(text, kernel, options, 1 << 40, shape, given);
        if let Some(recorded) = rewritten.record {
            panic!("{kernel}: {recorded:?} at {:?}", sites[usize::from(recorded.site)]);
        }
        assert!(!sites.is_empty(), "{kernel}: nothing is checked");
        assert!(original.contents == rewritten.contents, "{kernel}: other results");
    }
}

fn ramp(n: usize) -> Vec<f32> {
    (0..n).map(|i| ((i * 37 + 11) % 101) as f32 * 0.25 - 10.0).collect()
}

fn read(values: &[impl bytemuck::Pod]) -> Given {
    Buffer::given(values, false)
}

fn write(values: &[impl bytemuck::Pod]) -> Given {
    Buffer::given(values, true)
}

#[test]
fn streaming_kernels() {
    let (x, y) = (ramp(1000), ramp(1005)[5..].to_vec());
    let n = Given::U32(1000);
    let given = [n.clone(), Given::F32(2.5), read(&x), write(&y)];
    same(CHECKS, "saxpy", (8, 128, 0), &given);
    same(CHECKS, "axpyloop", (3, 128, 0), &given);
    let x = ramp(4 * 77);
    same(CHECKS, "vec4", (3, 32, 0), &[Given::U32(77), read(&x), write(&vec![0_f32; x.len()])]);
    same(
        CHECKS,
        "stencil",
        ((4, 5), (16, 8), 0),
        &[read(&ramp(50 * 33)), write(&vec![0_f32; 50 * 33]), Given::U32(50), Given::U32(33)],
    );
}

#[test]
fn shared_memory_and_atomics() {
    let x: Vec<f32> = (0..5000).map(|i| (i % 17) as f32).collect();
    same(CHECKS, "reduce", (4, 256, 0), &[read(&x), write(&[0_f32]), Given::U32(5000)]);
    let (m, n, k) = (37, 41, 29);
    let sizes = [m, n, k].map(|v| Given::U32(v as u32));
    let [a, b, c] = [ramp(m * k), ramp(k * n), vec![0_f32; m * n]];
    let given = [read(&a), read(&b), write(&c), sizes[0].clone(), sizes[1].clone(), sizes[2].clone()];
    same(CHECKS, "matmul", ((3, 3), (16, 16), 0), &given);
    let data: Vec<u8> = (0..3000_u32).map(|i| (i * i % 251) as u8).collect();
    same(CHECKS, "histogram", (3, 128, 1024), &[read(&data), write(&[0_u32; 256]), Given::U32(3000)]);
    let args = [
        write(&[0_i32; 64]),
        write(&[0_u32; 64]),
        write(&[0_f32]),
        write(&[0_f64]),
        write(&[0_u64; 2]),
        write(&[0_u32]),
    ];
    same(COMMON, "atomics", (1, 32, 0), &args);
    let data: Vec<i32> = (0..64).map(|i| i * 7 % 31 - 15).collect();
    same(COMMON, "scan", (1, 64, 512), &[write(&data), Given::U32(64)]);
}

#[test]
fn local_memory_functions_and_tables() {
    let x: Vec<f32> = (0..64).map(|i| (i * 5 % 23) as f32).collect();
    same(COMMON, "localmem", (1, 8, 0), &[read(&x), write(&[0_f32; 8]), Given::U32(8)]);
    same(COMMON, "consts", (1, 48, 0), &[write(&[0_f32; 48])]);
    same(COMMON, "dbg", (1, 4, 0), &[write(&[1_i32, 2, 3, 4]), Given::U32(4)]);
    let x: Vec<f64> = (1..200).map(|i| f64::from(i) * 1e7).collect();
    same(COMMON, "mathd", (2, 128, 0), &[read(&x), write(&vec![0_f64; x.len()]), Given::U32(199)]);
}

/// Instructions of threads that a launch runs.
fn instructions(text: &str, kernel: &str, rewritten: bool, shape: (u32, u32), given: &[Given]) -> u64 {
    let shape = ((shape.0, shape.0).into(), (shape.1, shape.1).into(), 0);
    let loaded = LoadedPtx::read("original.ptx", text).unwrap();
    let with_checks =
        rewrite(&loaded, kernel, &positions(given), &SiteSet::All, RewriteOptions::default()).unwrap();
    let text = if rewritten { &with_checks.text } else { text };
    let mut rig = Rig::new("counted.ptx", text);
    rig.statistics = true;
    let outcome = launch_on(&mut rig, kernel, rewritten.then_some((&with_checks, 0)), shape, given);
    outcome.statistics.thread_instructions
}

#[test]
fn accesses_in_range_cost_few_instructions() {
    // the whole of a tile's work: four stores and loads, 32 loads from shared memory
    let n = 64;
    let sizes = Given::U32(n as u32);
    let matrix = ramp(n * n);
    let given = [
        read(&matrix),
        read(&matrix),
        write(&vec![0_f32; n * n]),
        sizes.clone(),
        sizes.clone(),
        sizes.clone(),
    ];
    let [original, checked] = [false, true].map(|on| instructions(CHECKS, "matmul", on, (4, 16), &given));
    assert!(checked * 10 < original * 15, "matmul: {original} became {checked}");
    // a body that is one access after another
    let given = [read(&matrix), read(&matrix), write(&vec![0_f32; n * n]), sizes];
    let [original, checked] = [false, true].map(|on| instructions(CHECKS, "mmnaive", on, (4, 16), &given));
    assert!(checked * 10 < original * 18, "mmnaive: {original} became {checked}");
}
