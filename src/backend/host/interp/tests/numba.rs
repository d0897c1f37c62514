//! The corpus kernel whose parameters are more than a typed signature takes: numba passes three matrices as 27 values.

use super::*;

const NUMBA_MATMUL: &str = include_str!("../../../../../tests/corpus/numba/matmul.ptx");

#[test]
fn numbas_matmul() {
    let (m, n, k) = (37_u64, 21_u64, 29_u64);
    let matrix = |rows: u64, columns: u64, salt: u64| -> Vec<f32> {
        (0..rows * columns).map(|i| ((i * 37 + salt) % 101) as f32 * 0.3 - 15.0).collect()
    };
    let (a, b) = (matrix(m, k, 5), matrix(k, n, 60));
    for strict in [false, true] {
        let mut rig = Rig::new("matmul.ptx", NUMBA_MATMUL);
        rig.strict = strict;
        let name = rig
            .instance
            .program()
            .module
            .functions
            .iter()
            .find(|f| f.kind == ptx::ir::FunctionKind::Kernel)
            .unwrap()
            .name
            .clone();
        let addresses = [rig.upload(&a), rig.upload(&b), rig.upload(&vec![0_f32; (m * n) as usize])];
        let shapes = [(m, k), (k, n), (m, n)];
        let mut args = Vec::new();
        for (index, (address, (rows, columns))) in addresses.into_iter().zip(shapes).enumerate() {
            let pointer = if index == 2 { Arg::Out(address) } else { Arg::In(address) };
            args.extend([0, 0, rows * columns, 4].map(Arg::U64));
            args.push(pointer);
            args.extend([rows, columns, columns * 4, 4].map(Arg::U64));
        }
        rig.launch(&name, (3, 2), (16, 16), 0, &args).unwrap_or_else(|fault| panic!("{fault}"));
        let got = rig.download::<f32>(addresses[2]);
        for row in 0..m {
            for column in 0..n {
                let term =
                    |sum: f32, i: u64| a[(row * k + i) as usize].mul_add(b[(i * n + column) as usize], sum);
                let expected = (0..k).fold(0.0, term);
                assert_eq!(got[(row * n + column) as usize], expected, "({row}, {column})");
            }
        }
    }
}
