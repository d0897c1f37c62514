//! Refusal of a kernel that stores through a parameter which its signature declares for reading: what can be seen in the
//! code, before any launch. A store whose address is not known to come from that parameter is left to the launch's
//! checks.

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};

use crate::dim::Dim3;
use crate::kernel::signature::Declaration;
use crate::ptx::LoadedPtx;
use crate::ptx::bounds::rewrite::{Place, Writes, stores};
use crate::ptx::signature::KernelSignature;
use crate::ptx::site::site;

/// Compares what `declared` gives for reading with what the code of `kernel` does; both sides are in the message.
pub(super) fn refuse_writes(
    declared: &[Declaration],
    kernel: &KernelSignature,
    ptx: &LoadedPtx,
) -> Result<(), String> {
    if !declared.iter().any(Declaration::is_read_only) {
        return Ok(());
    }
    let pointers = declared.iter().enumerate().filter(|(_, declaration)| declaration.pointee.is_some());
    let pointers: Vec<usize> = pointers.map(|(index, _)| index).collect();
    let writes = stores(ptx, &kernel.name, &pointers);
    let mut wrong =
        declared.iter().zip(writes).enumerate().filter_map(|(index, (declaration, writes))| match writes {
            Writes::Yes(place) if declaration.is_read_only() => Some((index, declaration, place)),
            _ => None,
        });
    let Some((index, declaration, place)) = wrong.next() else { return Ok(()) };
    let parameter = |index: usize| {
        let name = kernel.parameters.get(index).map_or("", |parameter| parameter.name.as_str());
        format!("parameter {index} (`{name}`)")
    };
    let title = format!(
        "kernel `{}` stores through {}, which is declared `{declaration}`",
        kernel.name,
        parameter(index)
    );
    let here = declared.iter().map(Declaration::to_string).collect::<Vec<_>>().join(", ");
    let mut notes = vec![format!("declared: ({here})"), format!("PTX:      {kernel}")];
    let mut group = Group::with_title(Level::ERROR.primary_title(title.as_str()));
    let found = found_at(ptx, place);
    if let Some(found) = &found {
        let start = (found.column.saturating_sub(1) as usize).min(found.text.len());
        let end = (start + found.length as usize).min(found.text.len());
        group = group.element(
            Snippet::source(found.text.as_str())
                .line_start(found.line as usize)
                .path(ptx.source().name())
                .annotation(AnnotationKind::Primary.span(start..end)),
        );
        if let Some(source) = &found.source {
            notes.push(format!("compiled from {}:{}", source.file, source.line));
        }
    }
    if let Some(function) = ptx.module().functions.get(place.function as usize)
        && function.name != kernel.name
    {
        notes.push(format!("in the function `{}`, which the kernel calls", function.name));
    }
    for (index, declaration, place) in wrong {
        let line = found_at(ptx, place).map_or(0, |found| found.line);
        notes.push(format!("also through {}, declared `{declaration}`: line {line}", parameter(index)));
    }
    for note in &notes {
        group = group.element(Level::NOTE.message(note.as_str()));
    }
    let element = declaration.pointee.unwrap_or_default();
    let help =
        format!("declare it `ReadWrite<{element}>`, or `Write<{element}>` if the kernel never loads from it");
    group = group.element(Level::HELP.message(help.as_str()));
    Err(Renderer::plain().render(&[group]))
}

fn found_at(ptx: &LoadedPtx, place: Place) -> Option<crate::fault::Site> {
    site(ptx.module(), ptx.source(), Dim3::from(1), place.function, place.pc, [0; 3], 0)
}
