//! Keeping a kernel's accesses inside the memory it was given, on hardware that does not: what is proved to be in range
//! when a kernel is launched (`proof`), and checks written into the text for what is not (`rewrite`).

mod describe;
pub mod proof;
pub mod rewrite;

use std::collections::BTreeMap;

pub use describe::describe;

use proof::{Analysis, SiteKind, Verdict, Verdicts};
use rewrite::{Open, SiteSet};

/// What the verdicts on a launch leave to be checked.
#[must_use]
pub fn open_sites(analysis: &Analysis, verdicts: &Verdicts) -> SiteSet {
    let mut open: BTreeMap<u32, Open> = BTreeMap::new();
    for index in verdicts.open() {
        let (Some(site), Some(verdict)) = (analysis.sites().get(index), verdicts.all().get(index)) else {
            continue;
        };
        // Accesses of device functions are always checked.
        if site.function != analysis.kernel() {
            continue;
        }
        let need = match verdict {
            Verdict::Dead => continue,
            Verdict::Open { .. } => Open::WHOLLY,
            // In range, so it is open for its alignment, or because it writes to what may only be read.
            Verdict::Proved { aligned, .. } => {
                Open { range: *aligned || site.kind != SiteKind::Load, alignment: !aligned }
            }
        };
        let known = open.entry(site.pc).or_insert(Open { range: false, alignment: false });
        known.range |= need.range;
        known.alignment |= need.alignment;
    }
    SiteSet::These(open)
}
