//! From an opcode to the file of its family.

use super::function::Body;
use super::modifiers::Modifiers;
use super::{Lowered, Stop};
use crate::ptx::ast;
use crate::ptx::ir::*;

impl<'src> Body<'_, '_, 'src> {
    /// Lowers one instruction; the guard and the place are set already.
    pub(super) fn instruction(&mut self, i: &ast::Instruction<'src>) -> Lowered<()> {
        let m = &mut Modifiers::new(&i.modifiers)?;
        match i.opcode.text {
            "mov" => self.mov(i, m),
            "add" | "sub" => self.add_or_sub(i, m),
            "addc" | "subc" => self.add_or_sub_with_carry(i, m),
            "mul" => self.mul(i, m),
            "mul24" => self.mul24(i, m),
            "mad" | "madc" => self.mad(i, m),
            "mad24" => self.mad24(i, m),
            "fma" => self.fma(i, m),
            "div" => self.div(i, m),
            "rem" => self.rem(i, m),
            "min" | "max" => self.min_or_max(i, m),
            "abs" | "neg" => self.abs_or_neg(i, m),
            "sad" => self.sad(i, m),
            "dp4a" | "dp2a" => self.dot_product(i, m),
            "and" => self.logic(i, m, BoolOp::And),
            "or" => self.logic(i, m, BoolOp::Or),
            "xor" => self.logic(i, m, BoolOp::Xor),
            "not" => self.integer_unary(i, m, IntegerUnaryOp::Not),
            "cnot" => self.integer_unary(i, m, IntegerUnaryOp::CNot),
            "popc" => self.integer_unary(i, m, IntegerUnaryOp::Popc),
            "clz" => self.integer_unary(i, m, IntegerUnaryOp::Clz),
            "brev" => self.integer_unary(i, m, IntegerUnaryOp::Brev),
            "bfind" => self.bfind(i, m),
            "shl" | "shr" => self.shift(i, m),
            "shf" => self.funnel_shift(i, m),
            "lop3" => self.lop3(i, m),
            "bfe" => self.bit_field_extract(i, m),
            "bfi" => self.bit_field_insert(i, m),
            "bmsk" => self.bit_mask(i, m),
            "szext" => self.extend(i, m),
            "fns" => self.find_nth_set(i, m),
            "prmt" => self.permute(i, m),
            "rcp" => self.float_unary(i, m, FloatUnaryOp::Rcp),
            "sqrt" => self.float_unary(i, m, FloatUnaryOp::Sqrt),
            "rsqrt" => self.float_unary(i, m, FloatUnaryOp::Rsqrt),
            "sin" => self.float_unary(i, m, FloatUnaryOp::Sin),
            "cos" => self.float_unary(i, m, FloatUnaryOp::Cos),
            "lg2" => self.float_unary(i, m, FloatUnaryOp::Lg2),
            "ex2" => self.float_unary(i, m, FloatUnaryOp::Ex2),
            "tanh" => self.float_unary(i, m, FloatUnaryOp::Tanh),
            "copysign" => self.copysign(i, m),
            "testp" => self.testp(i, m),
            "set" => self.set(i, m),
            "setp" => self.setp(i, m),
            "selp" => self.selp(i, m),
            "slct" => self.slct(i, m),
            "cvt" => self.cvt(i, m),
            "cvta" => self.cvta(i, m),
            "isspacep" => self.isspacep(i, m),
            "mapa" => self.mapa(i, m),
            "getctarank" => self.getctarank(i, m),
            "ld" | "ldu" => self.load(i, m),
            "st" => self.store(i, m),
            "atom" => self.atomic(i, m, true),
            "red" => self.atomic(i, m, false),
            "prefetch" | "prefetchu" => self.hint(i, m, Hint::Prefetch),
            "discard" => self.hint(i, m, Hint::Discard),
            "applypriority" => self.hint(i, m, Hint::ApplyPriority),
            "griddepcontrol" => self.plain_hint(m, Hint::GridDependencyControl),
            "setmaxnreg" => self.plain_hint(m, Hint::SetMaxRegisters),
            "pmevent" => self.plain_hint(m, Hint::PerformanceEvent),
            "createpolicy" => self.createpolicy(i),
            "membar" | "fence" => self.fence(i, m),
            "cp" => self.async_copy(i, m),
            "mbarrier" => self.mbarrier(i, m),
            "bra" => self.bra(i, m),
            "brx" => self.brx(i, m),
            "call" => self.call(i, m),
            "ret" => self.ret(m),
            "exit" => self.simple(m, Op::Exit),
            "trap" => self.simple(m, Op::Trap),
            "brkpt" => self.simple(m, Op::Breakpoint),
            "nanosleep" => self.nanosleep(i, m),
            "bar" | "barrier" => self.barrier(i, m),
            "shfl" => self.shuffle(i, m),
            "vote" => self.vote(i, m),
            "match" => self.match_lanes(i, m),
            "redux" => self.redux(i, m),
            "activemask" => self.activemask(i, m),
            "elect" => self.elect(i, m),
            "ldmatrix" => self.load_matrix(i, m),
            "stmatrix" => self.store_matrix(i, m),
            "movmatrix" => self.transpose_matrix(i, m),
            "mma" => self.mma(i, m),
            _ => Err(Stop::Unsupported),
        }
    }

    /// An instruction without operands.
    fn simple(&mut self, m: &Modifiers, op: Op) -> Lowered<()> {
        m.finish()?;
        self.push(op);
        Ok(())
    }
}
