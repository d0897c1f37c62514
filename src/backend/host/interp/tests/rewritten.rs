//! Rewritten kernels on the interpreter without its own checks: only what was written into the PTX keeps memory
//! outside the buffers as it was.

mod paths;
mod planted;
mod regions;
mod same;
mod spaces;

use super::*;
use crate::ptx::LoadedPtx;
use crate::ptx::bounds::rewrite::{
    CheckedSite, ExtraValue, RewriteOptions, Rewritten, SiteSet, record, rewrite,
};

/// Bytes before and behind each buffer that must stay as they are.
const GUARD: usize = 4096;
const FILL: u8 = 0xa5;

/// An argument.
#[derive(Clone, Debug)]
enum Given {
    U32(u32),
    F32(f32),
    Buffer(Buffer),
}

/// A buffer in the middle of a larger allocation.
#[derive(Clone, Debug)]
struct Buffer {
    bytes: Vec<u8>,
    writable: bool,
    /// Bytes between the aligned place where it could begin and where it does.
    skew: usize,
}

impl Buffer {
    fn given<T: bytemuck::Pod>(values: &[T], writable: bool) -> Given {
        Given::Buffer(Self { bytes: bytemuck::cast_slice(values).to_vec(), writable, skew: 0 })
    }
}

/// What a launch left behind.
struct Outcome {
    /// Addresses of the buffers, in order.
    addresses: Vec<u64>,
    /// Their contents.
    contents: Vec<Vec<u8>>,
    record: Option<record::Recorded>,
    /// Counts, if the rig was asked for them.
    statistics: Statistics,
}

/// Launches `kernel` of `rig` on `given`, with parameters behind them if it was rewritten.
fn launch_on(
    rig: &mut Rig,
    kernel: &str,
    rewritten: Option<(&Rewritten, u64)>,
    (grid, block, shared): (Dim3, Dim3, u32),
    given: &[Given],
) -> Outcome {
    rig.access = AccessRule::AnyLive;
    let mut args = Vec::new();
    let mut buffers = Vec::new();
    for (index, given) in given.iter().enumerate() {
        args.push(match given {
            Given::U32(value) => Arg::U32(*value),
            Given::F32(value) => Arg::F32(*value),
            Given::Buffer(buffer) => {
                let begin = GUARD + buffer.skew;
                let mut whole = vec![FILL; begin + buffer.bytes.len() + GUARD];
                whole[begin..][..buffer.bytes.len()].copy_from_slice(&buffer.bytes);
                let address = rig.upload(&whole) + begin as u64;
                buffers.push((index, address, buffer));
                Arg::U64(address)
            }
        });
    }
    let record_at = rig.upload(&record::EMPTY);
    if let Some((rewritten, steps)) = rewritten {
        for value in &rewritten.params.values {
            args.push(Arg::U64(match value {
                ExtraValue::Record => record_at,
                ExtraValue::Steps => steps,
                ExtraValue::Limit(limit) => {
                    let (_, address, buffer) =
                        buffers.iter().find(|(index, ..)| *index == limit.parameter).unwrap();
                    limit.value(*address, buffer.bytes.len() as u64, buffer.writable)
                }
                ExtraValue::Indices(index) => {
                    let (_, address, buffer) =
                        buffers.iter().find(|(at, ..)| *at == index.limit.parameter).unwrap();
                    index.value(*address, buffer.bytes.len() as u64, buffer.writable)
                }
            }));
        }
    }
    let launched = rig.launch(kernel, grid, block, shared, &args);
    let statistics = launched.unwrap_or_else(|fault| panic!("{fault}"));
    let mut contents = Vec::new();
    for (_, address, buffer) in &buffers {
        let whole: Vec<u8> = rig.download(*address);
        let begin = GUARD + buffer.skew;
        let end = begin + buffer.bytes.len();
        assert!(whole[..begin].iter().all(|&byte| byte == FILL), "before a buffer");
        assert!(whole[end..].iter().all(|&byte| byte == FILL), "behind a buffer");
        if !buffer.writable && rewritten.is_some() {
            assert!(whole[begin..end] == buffer.bytes, "a buffer that may only be read");
        }
        contents.push(whole[begin..end].to_vec());
    }
    let words: Vec<u64> = rig.download(record_at);
    let record = record::read(words.as_slice().try_into().unwrap());
    Outcome {
        addresses: buffers.iter().map(|(_, address, _)| *address).collect(),
        contents,
        record,
        statistics,
    }
}

/// Positions of the buffers among the arguments.
fn positions(given: &[Given]) -> Vec<usize> {
    let buffers = given.iter().enumerate().filter(|(_, given)| matches!(given, Given::Buffer(_)));
    buffers.map(|(index, _)| index).collect()
}

/// Rewrites `kernel` of `text`, runs it, and gives what it left with the sites.
fn run_rewritten(
    text: &str,
    kernel: &str,
    options: RewriteOptions,
    steps: u64,
    shape: (Dim3, Dim3, u32),
    given: &[Given],
) -> (Outcome, Vec<CheckedSite>) {
    let loaded = LoadedPtx::read("original.ptx", text).unwrap_or_else(|error| panic!("{error}"));
    let rewritten = rewrite(&loaded, kernel, &positions(given), &SiteSet::All, options)
        .unwrap_or_else(|refused| panic!("{kernel}: {refused}"));
    let reloaded = LoadedPtx::read("rewritten.ptx", &rewritten.text)
        .unwrap_or_else(|error| panic!("{error}\n{}", rewritten.text));
    let signature = reloaded.kernel(kernel).unwrap();
    assert_eq!(signature.bytes, rewritten.params.bytes(), "the parameter block is as long as promised");
    let first = &signature.parameters[signature.parameters.len() - rewritten.params.values.len()];
    assert_eq!(first.offset, rewritten.params.offset);
    let mut rig = Rig::new("rewritten.ptx", &rewritten.text);
    let outcome = launch_on(&mut rig, &rewritten.kernel, Some((&rewritten, steps)), shape, given);
    (outcome, rewritten.sites)
}
