//! A launch's buffers in the words of the proof.

use smallvec::SmallVec;

use super::{Contents, LaunchBuffer};
use crate::ptx::bounds::proof::{self, BufferFacts, alignment_of};
use crate::ptx::ir::Type;

/// What is known of the buffers of a launch; `contents` by argument.
pub(crate) fn buffer_facts(
    buffers: &[LaunchBuffer],
    contents: &[(usize, Contents)],
) -> SmallVec<[BufferFacts; 8]> {
    let facts = buffers.iter().map(|buffer| {
        let known = contents.iter().find(|(argument, _)| *argument == buffer.argument);
        BufferFacts {
            param: buffer.argument,
            offset: 0,
            bytes: buffer.bytes,
            align: alignment_of(buffer.address),
            writable: buffer.writable,
            contents: known.and_then(|(_, contents)| range(contents)),
        }
    });
    facts.collect()
}

fn range(contents: &Contents) -> Option<proof::Contents> {
    let ty = match (contents.signed, contents.bytes) {
        (false, 1) => Type::U8,
        (false, 2) => Type::U16,
        (false, 4) => Type::U32,
        (false, 8) => Type::U64,
        (true, 1) => Type::S8,
        (true, 2) => Type::S16,
        (true, 4) => Type::S32,
        (true, 8) => Type::S64,
        _ => return None,
    };
    Some(proof::Contents { ty, min: contents.min, max: contents.max })
}
