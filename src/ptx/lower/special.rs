//! Special registers by name.

use crate::ptx::ir::{Axis, SpecialReg};

/// `%tid.x` and the like.
pub(super) fn indexed(register: &str, member: &str) -> Option<SpecialReg> {
    let axis = match member {
        "x" => Axis::X,
        "y" => Axis::Y,
        "z" => Axis::Z,
        _ => return None,
    };
    Some(match register {
        "%tid" => SpecialReg::Tid(axis),
        "%ntid" => SpecialReg::NTid(axis),
        "%ctaid" => SpecialReg::CtaId(axis),
        "%nctaid" => SpecialReg::NCtaId(axis),
        "%clusterid" => SpecialReg::ClusterId(axis),
        "%nclusterid" => SpecialReg::NClusterId(axis),
        "%cluster_ctaid" => SpecialReg::ClusterCtaId(axis),
        "%cluster_nctaid" => SpecialReg::ClusterNCtaId(axis),
        _ => return None,
    })
}

/// `%laneid` and the like.
pub(super) fn plain(register: &str) -> Option<SpecialReg> {
    Some(match register {
        "%laneid" => SpecialReg::LaneId,
        "%warpid" => SpecialReg::WarpId,
        "%nwarpid" => SpecialReg::NWarpId,
        "%smid" => SpecialReg::SmId,
        "%nsmid" => SpecialReg::NSmId,
        "%gridid" => SpecialReg::GridId,
        "%lanemask_eq" => SpecialReg::LaneMaskEq,
        "%lanemask_le" => SpecialReg::LaneMaskLe,
        "%lanemask_lt" => SpecialReg::LaneMaskLt,
        "%lanemask_ge" => SpecialReg::LaneMaskGe,
        "%lanemask_gt" => SpecialReg::LaneMaskGt,
        "%clock" => SpecialReg::Clock,
        "%clock_hi" => SpecialReg::ClockHi,
        "%clock64" => SpecialReg::Clock64,
        "%globaltimer" => SpecialReg::GlobalTimer,
        "%globaltimer_lo" => SpecialReg::GlobalTimerLo,
        "%globaltimer_hi" => SpecialReg::GlobalTimerHi,
        "%dynamic_smem_size" => SpecialReg::DynamicSmemSize,
        "%total_smem_size" => SpecialReg::TotalSmemSize,
        "%aggr_smem_size" => SpecialReg::AggregateSmemSize,
        "%reserved_smem_offset_begin" => SpecialReg::ReservedSmemOffsetBegin,
        "%reserved_smem_offset_end" => SpecialReg::ReservedSmemOffsetEnd,
        "%reserved_smem_offset_cap" => SpecialReg::ReservedSmemOffsetCap,
        "%cluster_ctarank" => SpecialReg::ClusterCtaRank,
        "%cluster_nctarank" => SpecialReg::ClusterNCtaRank,
        "%is_explicit_cluster" => SpecialReg::IsExplicitCluster,
        "%current_graph_exec" => SpecialReg::CurrentGraphExec,
        _ => return numbered(register),
    })
}

fn numbered(register: &str) -> Option<SpecialReg> {
    if let Some(number) = register.strip_prefix("%envreg") {
        return number.parse().ok().filter(|n| *n < 32).map(SpecialReg::EnvReg);
    }
    let number = register.strip_prefix("%pm")?;
    // `%pm0_64` is the wide form of `%pm0`
    let number = number.strip_suffix("_64").unwrap_or(number);
    number.parse().ok().filter(|n| *n < 8).map(SpecialReg::Pm)
}
