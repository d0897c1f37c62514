//! What a checked launch runs: the kernel as it is where every access was proved, else a version of it with checks for
//! the others, which is written and compiled once.

use std::sync::{Arc, Mutex, PoisonError};

use smallvec::SmallVec;

use super::context::Context;
use super::module::{Function, Loaded};
use crate::backend::facts::buffer_facts;
use crate::backend::{Answer, LaunchCall};
use crate::error::ErrorKind;
use crate::ptx::LoadedPtx;
use crate::ptx::bounds::open_sites;
use crate::ptx::bounds::proof::{Analysis, LaunchFacts, ProofCache, Verdicts};
use crate::ptx::bounds::rewrite::record::MOST_THREADS;
use crate::ptx::bounds::rewrite::{ExtraValue, RewriteOptions, Rewritten, SiteSet, rewrite, stops_by_itself};

/// Sets of open places for which a kernel's versions are kept.
const KEPT: usize = 64;

/// A kernel's proofs and its versions with checks.
pub(super) struct CheckedKernel {
    ptx: Arc<LoadedPtx>,
    name: Arc<str>,
    proofs: ProofCache,
    /// It can trap, fail an assertion or call, which the version with checks makes harmless.
    stops: bool,
    variants: Mutex<Variants>,
}

#[derive(Default)]
struct Variants {
    /// Every version, by what it checks.
    made: Vec<Arc<Variant>>,
    /// Which version belongs to which verdicts: launches of one shape bring the same ones.
    by_verdicts: Vec<(Arc<Verdicts>, RewriteOptions, Arc<Variant>)>,
}

/// A version with checks.
pub(super) struct Variant {
    pub(super) ptx: Arc<LoadedPtx>,
    pub(super) kernel: Arc<str>,
    pub(super) rewritten: Rewritten,
    pub(super) function: Function,
    buffers: SmallVec<[usize; 8]>,
    open: SiteSet,
    options: RewriteOptions,
    pub(super) module: Loaded,
}

/// What to run.
pub(super) enum Plan {
    /// The kernel itself: nothing can go wrong.
    Proved,
    /// This version, with a record.
    Checked(Arc<Variant>),
}

impl CheckedKernel {
    pub(super) fn new(ptx: &Arc<LoadedPtx>, name: &Arc<str>) -> Answer<Self> {
        let Some((id, _)) = ptx.module().function(name) else {
            return Err(ErrorKind::NotSupported { message: format!("kernel `{name}` has no code") });
        };
        Ok(Self {
            ptx: Arc::clone(ptx),
            name: Arc::clone(name),
            proofs: ProofCache::new(Analysis::new(ptx.module(), id)),
            stops: stops_by_itself(ptx, name),
            variants: Mutex::default(),
        })
    }

    /// What a launch runs.
    pub(super) fn plan(&self, call: &LaunchCall<'_>, context: &Context) -> Answer<Plan> {
        let options = RewriteOptions { diagnose: call.diagnose, count_back_edges: call.max_steps.is_some() };
        if call.check_all {
            let mut variants = self.variants.lock().unwrap_or_else(PoisonError::into_inner);
            return self.variant(&mut variants, call, SiteSet::All, options, context).map(Plan::Checked);
        }
        let buffers = buffer_facts(&call.buffers, &call.contents);
        let verdicts = self.proofs.prove(&LaunchFacts {
            grid: call.grid,
            block: call.block,
            dynamic_shared: call.dynamic_shared,
            params: &call.params,
            buffers: &buffers,
        });
        if verdicts.all_proved() && !self.stops && !options.count_back_edges {
            return Ok(Plan::Proved);
        }
        if call.grid.count() * call.block.count() >= u128::from(MOST_THREADS) {
            return Err(ErrorKind::NotSupported {
                message: format!(
                    "kernel `{}`: a checked launch of {} threads; at most {MOST_THREADS} can be told apart",
                    self.name,
                    call.grid.count() * call.block.count()
                ),
            });
        }
        let mut variants = self.variants.lock().unwrap_or_else(PoisonError::into_inner);
        let same = |(known, with, _): &&(Arc<Verdicts>, RewriteOptions, Arc<Variant>)| {
            *with == options && Arc::ptr_eq(known, &verdicts)
        };
        if let Some((.., variant)) = variants.by_verdicts.iter().find(same) {
            return Ok(Plan::Checked(Arc::clone(variant)));
        }
        let open = open_sites(self.proofs.analysis(), &verdicts);
        let variant = self.variant(&mut variants, call, open, options, context)?;
        if variants.by_verdicts.len() == KEPT {
            variants.by_verdicts.remove(0);
        }
        variants.by_verdicts.push((verdicts, options, Arc::clone(&variant)));
        Ok(Plan::Checked(variant))
    }

    /// The version that checks these accesses, made if there is none yet.
    fn variant(
        &self,
        variants: &mut Variants,
        call: &LaunchCall<'_>,
        open: SiteSet,
        options: RewriteOptions,
        context: &Context,
    ) -> Answer<Arc<Variant>> {
        let arguments: SmallVec<[usize; 8]> = call.buffers.iter().map(|buffer| buffer.argument).collect();
        let same = |known: &&Arc<Variant>| {
            known.options == options && known.buffers == arguments && known.open == open
        };
        if let Some(variant) = variants.made.iter().find(same) {
            return Ok(Arc::clone(variant));
        }
        let variant = Arc::new(self.make(arguments, open, options, context)?);
        variants.made.push(Arc::clone(&variant));
        Ok(variant)
    }

    /// Every version, to be unloaded.
    pub(super) fn take_variants(&self) -> Vec<Arc<Variant>> {
        let mut variants = self.variants.lock().unwrap_or_else(PoisonError::into_inner);
        variants.by_verdicts.clear();
        std::mem::take(&mut variants.made)
    }

    fn make(
        &self,
        buffers: SmallVec<[usize; 8]>,
        open: SiteSet,
        options: RewriteOptions,
        context: &Context,
    ) -> Answer<Variant> {
        let rewritten = rewrite(&self.ptx, &self.name, &buffers, &open, options).map_err(|refused| {
            ErrorKind::NotSupported {
                message: format!(
                    "kernel `{}` cannot be launched with checks on a GPU: {refused}; the host device runs it checked, \
                     `launch_unchecked` runs it here",
                    self.name
                ),
            }
        })?;
        let (name, version) = (self.ptx.source().name(), self.ptx.module().version);
        let (module, function) = Loaded::with(name, &rewritten.text, version, context, |module| {
            module.look_up(&rewritten.kernel, context)
        })?;
        Ok(Variant {
            ptx: Arc::clone(&self.ptx),
            kernel: Arc::clone(&self.name),
            rewritten,
            function,
            buffers,
            open,
            options,
            module,
        })
    }
}

impl Variant {
    /// The parameter block of a launch: the kernel's own parameters, then what the checks need.
    pub(super) fn params(&self, call: &LaunchCall<'_>, record: u64) -> SmallVec<[u8; 64]> {
        let mut params = call.params.clone();
        params.resize(self.rewritten.params.offset as usize, 0);
        for value in &self.rewritten.params.values {
            let value = match value {
                ExtraValue::Record => record,
                ExtraValue::Steps => call.max_steps.unwrap_or(u64::MAX).min(i64::MAX as u64),
                ExtraValue::Limit(limit) => {
                    let buffer = call.buffers.iter().find(|buffer| buffer.argument == limit.parameter);
                    buffer.map_or(0, |buffer| limit.value(buffer.address, buffer.bytes, buffer.writable))
                }
                ExtraValue::Indices(index) => {
                    let buffer = call.buffers.iter().find(|buffer| buffer.argument == index.limit.parameter);
                    buffer.map_or(0, |buffer| index.value(buffer.address, buffer.bytes, buffer.writable))
                }
            };
            params.extend_from_slice(&value.to_le_bytes());
        }
        params
    }
}
