//! The place of an instruction and the thread that ran it, as a fault report names them.

use super::ir::Module;
use super::source::Source;
use crate::dim::Dim3;
use crate::fault::{Site, SourceLine};

/// The place of instruction `pc` of function number `function`, run by thread number `thread` (x first) of block `block`
/// in a launch with blocks of `extent` threads. `None` for an instruction that is not there.
pub fn site(
    module: &Module,
    source: &Source,
    extent: Dim3,
    function: u32,
    pc: u32,
    block: [u32; 3],
    thread: u32,
) -> Option<Site> {
    let inst = module.functions.get(function as usize)?.code.get(pc as usize)?;
    let text = source.as_str();
    let start = (inst.span.start as usize).min(text.len());
    let line_start = text.as_bytes()[..start].iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
    let line = source.line_text(inst.line).to_owned();
    let column = start - line_start;
    let length =
        (inst.span.end.saturating_sub(inst.span.start) as usize).min(line.len().saturating_sub(column));
    let mut site = Site::new(inst.line, column as u32 + 1, line, length as u32);
    site.source = inst.location.and_then(|id| {
        let location = module.locations.get(id.0 as usize)?;
        let file = module.file(location.file)?;
        Some(SourceLine { file: file.path.clone(), line: location.line })
    });
    site.block = block;
    site.thread = unflatten(thread, extent);
    Some(site)
}

/// The index on each axis of number `thread`, x first.
pub fn unflatten(thread: u32, extent: Dim3) -> [u32; 3] {
    let (x, y) = (extent.x.max(1), extent.y.max(1));
    [thread % x, thread / x % y, thread / x / y]
}
