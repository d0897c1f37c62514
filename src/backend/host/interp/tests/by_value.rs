//! The corpus kernel that takes a structure by value, which no typed signature passes.

use super::*;

const COMMON: &str = include_str!("../../../../../tests/corpus/nvcc/common_sm80.ptx");

#[test]
fn a_structure_by_value_with_a_pointer_inside() {
    // `struct Big { int a[40]; float* p; }`, then `int i`: p[i] = a[i & 31] + a[3]
    let numbers: [i32; 40] = std::array::from_fn(|k| k as i32 * 7 - 50);
    for i in [0_i32, 5, 39] {
        let mut rig = Rig::new("common.ptx", COMMON);
        let p = rig.upload(&[-1_f32; 40]);
        let (id, function) = rig.instance.program().module.function("bigparam").unwrap();
        let mut params = vec![0; function.param_bytes as usize];
        params[..160].copy_from_slice(bytemuck::cast_slice(&numbers));
        params[160..168].copy_from_slice(&p.to_le_bytes());
        let at = function.params[1].offset as usize;
        params[at..at + 4].copy_from_slice(&i.to_le_bytes());
        let request = LaunchRequest {
            instance: Arc::clone(&rig.instance),
            kernel: id,
            grid: 1.into(),
            block: 1.into(),
            dynamic_shared: 0,
            params,
            buffers: vec![LaunchBuffer { argument: 0, address: p, bytes: 160, writable: true }],
            access: AccessRule::Buffers,
            strict: false,
            statistics: false,
            max_steps: Some(1000),
        };
        run(&mut rig.memory, &request, &mut |_| {}).unwrap_or_else(|fault| panic!("{fault}"));
        let mut expected = [-1_f32; 40];
        expected[i as usize] = (numbers[(i & 31) as usize] + numbers[3]) as f32;
        assert_eq!(rig.download::<f32>(p), expected);
    }
}
