use super::access::{Place, Raise};
use super::context::Launch;
use super::other::Lanes;
use super::registers::Frame;
use crate::fault::AccessKind;
use crate::ptx::ir::{Inst, Op, Reg};

pub(super) struct Strict;
pub(super) struct Event {
    pub(super) function: u32,
    pub(super) pc: u32,
    pub(super) warp: u32,
    pub(super) lane: u32,
    pub(super) block: [u32; 3],
    pub(super) kind: AccessKind,
    pub(super) non_coherent: bool,
}
impl Strict {
    pub(super) fn new(_l: &Launch) -> Self {
        Self
    }
    pub(super) fn begin_block(&mut self, _b: [u32; 3], _w: u32) {}
    pub(super) fn enter(&mut self, _w: u32, _f: &Frame, _m: u32) {}
    pub(super) fn leave(&mut self, _w: u32, _f: &Frame, _m: u32) {}
    pub(super) fn block_synchronised(&mut self) {}
    pub(super) fn check_register(&self, _w: u32, _f: &Frame, _r: Reg, _m: u32) -> Result<(), Box<Raise>> {
        Ok(())
    }
    pub(super) fn registers(&mut self, _w: u32, _f: &Frame, _i: &Inst, _m: u32) -> Result<(), Box<Raise>> {
        Ok(())
    }
    pub(super) fn check_arithmetic(&self, _on: &Lanes<'_>, _op: &Op) -> Result<(), Box<Raise>> {
        Ok(())
    }
    pub(super) fn access(&mut self, _e: Event, _p: Place, _s: usize) -> Result<(), Box<Raise>> {
        Ok(())
    }
}
