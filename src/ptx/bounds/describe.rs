//! The verdicts on a launch in words: regions by their names in the PTX, lines with their text.

use super::open_sites;
use super::proof::{Analysis, LaunchFacts, Region, Site, SiteKind, Verdict, Verdicts};
use super::rewrite::{RewriteOptions, rewrite, stops_by_itself};
use crate::fault::{AccessKind, SourceLine, Space};
use crate::ptx::LoadedPtx;
use crate::ptx::ir;
use crate::verdict::{AccessVerdict, Outcome, Verdict as Report};

/// Analyses a launch of the kernel `kernel` and says what came of each access; `None` if there is no such kernel.
#[must_use]
pub fn describe(ptx: &LoadedPtx, kernel: &str, launch: &LaunchFacts<'_>) -> Option<Report> {
    let (id, function) = ptx.module().function(kernel)?;
    let analysis = Analysis::new(ptx.module(), id);
    let verdicts = analysis.prove(launch);
    let names = Names { ptx, function, launch };
    let accesses = analysis.sites().iter().enumerate().zip(verdicts.all());
    let accesses = accesses.map(|((index, site), verdict)| {
        let place = ptx.module().functions.get(site.function.0 as usize);
        AccessVerdict {
            line: site.line,
            text: ptx.source().text(site.span).to_owned(),
            source: place.and_then(|place| names.source(place, site)),
            function: place.filter(|_| site.function != id).map(|place| place.name.clone()),
            kind: kind(site.kind),
            space: space(site.space),
            bytes: site.bytes,
            outcome: names.outcome(site, verdict, verdicts.open().any(|open| open == index)),
        }
    });
    let accesses: Vec<_> = accesses.collect();
    let stops = stops_by_itself(ptx, kernel);
    Some(Report {
        kernel: kernel.to_owned(),
        module: ptx.source().name().to_owned(),
        grid: launch.grid,
        block: launch.block,
        accesses,
        stops,
        refused: refused(ptx, kernel, launch, &analysis, &verdicts, stops),
    })
}

/// Why the version with checks that this launch needs cannot be written.
fn refused(
    ptx: &LoadedPtx,
    kernel: &str,
    launch: &LaunchFacts<'_>,
    analysis: &Analysis,
    verdicts: &Verdicts,
    stops: bool,
) -> Option<String> {
    if verdicts.all_proved() && !stops {
        return None;
    }
    let buffers: Vec<usize> = launch.buffers.iter().map(|buffer| buffer.param).collect();
    let open = open_sites(analysis, verdicts);
    rewrite(ptx, kernel, &buffers, &open, RewriteOptions::default()).err().map(|refused| refused.to_string())
}

/// What things are called.
struct Names<'a> {
    ptx: &'a LoadedPtx,
    function: &'a ir::Function,
    launch: &'a LaunchFacts<'a>,
}

impl Names<'_> {
    fn outcome(&self, site: &Site, verdict: &Verdict, is_open: bool) -> Outcome {
        match *verdict {
            Verdict::Dead => Outcome::NotReached,
            Verdict::Open { reason } => Outcome::Checked {
                why: reason.in_words(&|region| self.region(region), &|line| self.line(line)),
            },
            Verdict::Proved { lo, hi, region, .. } if !is_open => Outcome::Proved {
                memory: self.region(region),
                length: self.length(region),
                first: lo,
                last: hi + u64::from(site.bytes).saturating_sub(1),
            },
            Verdict::Proved { region, aligned: false, .. } => Outcome::Checked {
                why: format!(
                    "its addresses in {} are not all known to be multiples of {}",
                    self.region(region),
                    site.bytes
                ),
            },
            Verdict::Proved { region, .. } => {
                Outcome::Checked { why: format!("the launch may only read {}", self.region(region)) }
            }
        }
    }

    fn region(&self, region: Region) -> String {
        let variable = |id: ir::VariableId| {
            self.ptx.module().variables.get(id.0 as usize).map_or("", |variable| variable.name.as_str())
        };
        match region {
            Region::Buffer(index) => {
                let parameter = self.launch.buffers.get(index as usize).map_or(0, |buffer| buffer.param);
                let signature = self.ptx.kernel(&self.function.name);
                let name = signature.and_then(|signature| signature.parameters.get(parameter));
                format!("`{}` (argument {parameter})", name.map_or("", |name| name.name.as_str()))
            }
            Region::Variable(id) => format!("the variable `{}`", variable(id)),
            Region::DynamicShared(id) => format!("dynamic shared memory, `{}`", variable(id)),
            Region::Local(index) => {
                let local = self.function.locals.get(index as usize);
                format!("the local variable `{}`", local.map_or("", |local| local.name.as_str()))
            }
        }
    }

    fn length(&self, region: Region) -> u64 {
        match region {
            Region::Buffer(index) => self.launch.buffers.get(index as usize).map_or(0, |buffer| buffer.bytes),
            Region::Variable(id) => {
                self.ptx.module().variables.get(id.0 as usize).map_or(0, |variable| variable.size)
            }
            Region::DynamicShared(_) => self.launch.dynamic_shared.into(),
            Region::Local(index) => {
                self.function.locals.get(index as usize).map_or(0, |local| local.size.into())
            }
        }
    }

    /// A line of PTX, with its text.
    fn line(&self, line: u32) -> String {
        let text: Vec<&str> = self.ptx.source().line_text(line).split_whitespace().collect();
        format!("line {line} (`{}`)", text.join(" ").trim_end_matches(';'))
    }

    fn source(&self, function: &ir::Function, site: &Site) -> Option<SourceLine> {
        let location = function.code.get(site.pc as usize)?.location?;
        let location = self.ptx.module().locations.get(location.0 as usize)?;
        let file = self.ptx.module().file(location.file)?;
        Some(SourceLine { file: file.path.clone(), line: location.line })
    }
}

fn kind(kind: SiteKind) -> Option<AccessKind> {
    match kind {
        SiteKind::Load => Some(AccessKind::Load),
        SiteKind::Store => Some(AccessKind::Store),
        SiteKind::Atomic => Some(AccessKind::Atomic),
        SiteKind::Call | SiteKind::Unsupported => None,
    }
}

fn space(space: ir::Space) -> Space {
    match space {
        ir::Space::Global => Space::Global,
        ir::Space::Shared => Space::Shared,
        ir::Space::Local => Space::Local,
        ir::Space::Const => Space::Const,
        ir::Space::Param => Space::Param,
        ir::Space::Generic => Space::Generic,
    }
}
