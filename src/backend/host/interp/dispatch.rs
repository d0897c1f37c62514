//! The choice between the plain compilation of the fast loop and the one for AVX2 and FMA. The one place of the
//! host device with `unsafe`.

use super::access::Raise;
use super::context::Context;
use super::fast::Stop;
use super::global::GlobalMemory;
use super::warp::{Group, Warp};

/// Runs `group` on the widest vectors that the processor has.
pub(super) fn run_group<M: GlobalMemory>(
    context: &mut Context<'_, M>,
    warp: &mut Warp,
    group: &mut Group,
    horizon: u32,
    fuel: &mut u32,
) -> Result<Stop, Box<Raise>> {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("fma") {
        // SAFETY: calling a function with target features is sound on a processor that has them (Rust Reference,
        // "The target_feature attribute"); both were found in the condition above.
        return unsafe { run_group_avx2(context, warp, group, horizon, fuel) };
    }
    context.run_group(warp, group, horizon, fuel)
}

/// The same loop: everything in it is inlined here, and compiled for these features.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn run_group_avx2<M: GlobalMemory>(
    context: &mut Context<'_, M>,
    warp: &mut Warp,
    group: &mut Group,
    horizon: u32,
    fuel: &mut u32,
) -> Result<Stop, Box<Raise>> {
    context.run_group(warp, group, horizon, fuel)
}
