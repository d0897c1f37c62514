//! `Kernel::verdict` at usual launches: on every device what is proved of the numbers alone, to the word.

use std::collections::BTreeMap;

use anyhow::{Context as _, Result};
use scoped_gpu::ptx::LoadedPtx;
use scoped_gpu::ptx::bounds::describe;
use scoped_gpu::ptx::bounds::proof::{BufferFacts, LaunchFacts};
use scoped_gpu::ptx::signature::{KernelParameter, ParameterKind};
use scoped_gpu::{Dynamic, DynamicArgument, Launch, ReadWrite, uninit};

use crate::harness::{Case, Chapter, Kind, Test, test};
use crate::launches::{self, Shape, Value};
use crate::messages::root;

/// The argument for a parameter that is no buffer.
fn scalar<'a, 'ctx>(parameter: &KernelParameter, value: i128) -> Option<DynamicArgument<'a, 'ctx>> {
    Some(match (parameter.kind, parameter.size) {
        (ParameterKind::Float(_), 4) => DynamicArgument::new::<f32>(f32::from_bits(value as u32)),
        (ParameterKind::Float(_), 8) => DynamicArgument::new::<f64>(f64::from_bits(value as u64)),
        (ParameterKind::Array(..) | ParameterKind::Handle(_), _) => return None,
        (_, 1) => DynamicArgument::new::<u8>(value as u8),
        (_, 2) => DynamicArgument::new::<u16>(value as u16),
        (_, 4) => DynamicArgument::new::<u32>(value as u32),
        (_, 8) => DynamicArgument::new::<u64>(value as u64),
        _ => return None,
    })
}

/// What is proved of the launch's numbers, without a device.
fn of_numbers(ptx: &LoadedPtx, shape: &Shape) -> Result<String> {
    let signature = ptx.kernel(&shape.kernel).context("no such kernel")?;
    let mut params = vec![0; signature.bytes as usize];
    let mut buffers = Vec::new();
    for &(param, offset, value) in &shape.args {
        let parameter = &signature.parameters[param];
        match value {
            Value::Number(number) => {
                let (start, size) = (parameter.offset as usize, parameter.size as usize);
                params[start..start + size].copy_from_slice(&number.to_le_bytes()[..size]);
            }
            Value::Buffer { bytes, align } => {
                buffers.push(BufferFacts { param, offset, bytes, align, writable: true, contents: None });
            }
        }
    }
    // a launch has them in the order of its arguments
    buffers.sort_by_key(|buffer| buffer.param);
    let (grid, block, dynamic_shared) = (shape.grid, shape.block, shape.dynamic_shared);
    let facts = LaunchFacts { grid, block, dynamic_shared, params: &params, buffers: &buffers };
    Ok(describe(ptx, &shape.kernel, &facts).context("no code")?.to_string())
}

fn at_usual_launches(case: &mut Case) -> Result<()> {
    if case.kind == Kind::Hostile {
        return Ok(()); // it fills what it allocates: gigabytes
    }
    let table = std::fs::read_to_string(root().join("tests/bounds/expected.txt"))?;
    let mut asked = 0;
    for shape in launches::read(&table).map_err(anyhow::Error::msg)? {
        let text = std::fs::read_to_string(root().join("tests/corpus").join(&shape.file))?;
        // one of the corpus is newer than some drivers, and needs nothing that is new
        let text = text.replace(".version 9.5", ".version 9.0");
        let ptx = LoadedPtx::read(&shape.file, &text).map_err(anyhow::Error::msg)?;
        let signature = ptx.kernel(&shape.kernel).context("no such kernel")?;
        let given: BTreeMap<usize, Value> =
            shape.args.iter().map(|&(param, _, value)| (param, value)).collect();
        // neither a structure nor a pointer that is a number can be passed
        let passable = |(index, p): (usize, &KernelParameter)| match p.kind {
            ParameterKind::Array(..) => false,
            ParameterKind::Pointer { .. } => matches!(given.get(&index), Some(Value::Buffer { .. })),
            _ => true,
        };
        if !signature.parameters.iter().enumerate().all(passable) {
            continue;
        }
        let lengths = given.values().filter_map(|value| match value {
            Value::Buffer { bytes, .. } => Some(uninit::<u8>(*bytes as usize)),
            Value::Number(_) => None,
        });
        let said = case.device.scope(|ctx| {
            let kernel = ctx.module_named(&shape.file, &text)?.kernel::<Dynamic>(&shape.kernel)?;
            ctx.alloc_each(lengths, |mut arrays| {
                let mut buffers = arrays.iter_mut();
                let arguments = signature.parameters.iter().enumerate().map(|(index, parameter)| match given
                    .get(&index)
                {
                    Some(Value::Buffer { .. }) => buffers.next().map(DynamicArgument::new::<ReadWrite<u8>>),
                    Some(Value::Number(number)) => scalar(parameter, *number),
                    None => scalar(parameter, 0),
                });
                let arguments: Option<Vec<_>> = arguments.collect();
                let launch =
                    Launch::grid(shape.grid, shape.block).shared_bytes(shape.dynamic_shared as usize);
                let verdict =
                    kernel.verdict(launch, arguments.context("an argument that cannot be passed")?)?;
                anyhow::Ok(verdict.to_string())
            })
        });
        assert_eq!(said?, of_numbers(&ptx, &shape)?, "{}: {}", shape.suite, shape.file);
        asked += 1;
    }
    assert!(asked > 40, "only {asked} launches");
    Ok(())
}

const TESTS: &[Test] = &[test!(at_usual_launches)];

pub const CHAPTER: Chapter = Chapter { name: "verdict", tests: TESTS };
