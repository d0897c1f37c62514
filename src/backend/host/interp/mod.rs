//! Runs PTX on the CPU: a program is decoded once, a launch resolved once, then its blocks run warp by warp. The
//! parts: `decode` and `op` (the fast form), `fast`, `rows`, `transfer`, `shared` (the fast loop), `other` and its
//! neighbours (every instruction, from the IR), `warp` and `block` (who runs when), `access` and `report` (what is
//! allowed, and what is said when it is not). Launch limits are validated above, not here.

mod access;
mod asynchronous;
mod atomics;
mod barrier;
mod bits;
mod block;
mod call;
mod context;
mod convert;
mod decode;
mod dispatch;
mod fast;
mod float;
mod global;
mod integer;
mod launch;
mod liveness;
mod loads;
mod local;
mod matrix;
mod observed;
mod op;
mod order;
mod other;
mod overlay;
mod parallel;
mod printf;
mod program;
mod registers;
mod report;
mod rows;
mod shadow;
mod shapes;
mod shared;
mod soft;
mod stats;
mod strict;
mod sync;
mod transfer;
mod warp;

#[cfg(test)]
mod tests;

pub(crate) use launch::{AccessRule, LaunchBuffer, LaunchRequest, run};
pub(crate) use program::{Instance, Program};
pub(crate) use stats::Statistics;
