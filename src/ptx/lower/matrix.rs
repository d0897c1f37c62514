//! Matrix fragments: `ldmatrix`, `stmatrix`, `movmatrix`, `mma`.

use super::function::Body;
use super::modifiers::Modifiers;
use super::{Lowered, Stop};
use crate::ptx::ast;
use crate::ptx::ir::*;

/// Shapes of `mma` by the type of `a`: `m`, `n`, `k`.
const SHAPES: &[(&str, [u32; 3])] = &[
    ("m16n8k4", [16, 8, 4]),
    ("m16n8k8", [16, 8, 8]),
    ("m16n8k16", [16, 8, 16]),
    ("m16n8k32", [16, 8, 32]),
    ("m16n8k64", [16, 8, 64]),
    ("m8n8k4", [8, 8, 4]),
    ("m8n8k16", [8, 8, 16]),
    ("m8n8k32", [8, 8, 32]),
];

/// Is this one of the products that sm_80 has? (`m8n8k4` of f16 has a layout of its own and is not
/// supported.)
fn known(shape: [u32; 3], d: Type, a: Type, b: Type, c: Type) -> bool {
    use Type::*;
    let [m, _, k] = shape;
    match a {
        F16 => a == b && m == 16 && [8, 16].contains(&k) && [F16, F32].contains(&d) && c == d,
        BF16 => a == b && m == 16 && [8, 16].contains(&k) && d == F32 && c == F32,
        TF32 => a == b && m == 16 && [4, 8].contains(&k) && d == F32 && c == F32,
        S8 | U8 => {
            let shapes = [[8, 8, 16], [16, 8, 16], [16, 8, 32]];
            [S8, U8].contains(&b) && shapes.contains(&shape) && d == S32 && c == S32
        }
        S4 | U4 => {
            let shapes = [[8, 8, 32], [16, 8, 32], [16, 8, 64]];
            [S4, U4].contains(&b) && shapes.contains(&shape) && d == S32 && c == S32
        }
        F64 => a == b && shape == [8, 8, 4] && d == F64 && c == F64,
        _ => false,
    }
}

impl<'src> Body<'_, '_, 'src> {
    /// `.sync.aligned.m8n8.xN[.trans].b16`: how many matrices, and whether transposed.
    fn matrix_words(m: &mut Modifiers) -> Lowered<(usize, bool, Space)> {
        if !(m.flag("sync") && m.flag("aligned") && m.flag("m8n8")) {
            return Err(Stop::Unsupported);
        }
        let count = m.needed(&[("x1", 1), ("x2", 2), ("x4", 4)])?;
        let transpose = m.flag("trans");
        let space = m.space();
        if m.ty()? != Type::B16 {
            return Err(Stop::Unsupported);
        }
        m.finish()?;
        Ok((count, transpose, space))
    }

    pub(super) fn load_matrix(&mut self, i: &ast::Instruction<'src>, m: &mut Modifiers) -> Lowered<()> {
        let (count, transpose, space) = Self::matrix_words(m)?;
        let [dst, address] = self.operands(i)?;
        let dsts = self.dst_vector(dst)?;
        self.check_count(dst.span, dsts.len(), count)?;
        let (address, space) = self.memory_operand(address, space)?;
        self.push(Op::LoadMatrix { transpose, space, dsts, address });
        Ok(())
    }

    pub(super) fn store_matrix(&mut self, i: &ast::Instruction<'src>, m: &mut Modifiers) -> Lowered<()> {
        let (count, transpose, space) = Self::matrix_words(m)?;
        let [address, src] = self.operands(i)?;
        let srcs = self.value_vector(src, Type::B32)?;
        self.check_count(src.span, srcs.len(), count)?;
        let (address, space) = self.memory_operand(address, space)?;
        self.push(Op::StoreMatrix { transpose, space, srcs, address });
        Ok(())
    }

    pub(super) fn transpose_matrix(&mut self, i: &ast::Instruction<'src>, m: &mut Modifiers) -> Lowered<()> {
        if !["sync", "aligned", "m8n8", "trans"].iter().all(|word| m.flag(word)) {
            return Err(Stop::Unsupported);
        }
        if m.ty()? != Type::B16 {
            return Err(Stop::Unsupported);
        }
        m.finish()?;
        let [dst, src] = self.operands(i)?;
        let src = self.value(src, Type::B32)?;
        let dst = self.dst(dst, Type::B32)?;
        self.push(Op::TransposeMatrix { dst, src });
        Ok(())
    }

    pub(super) fn mma(&mut self, i: &ast::Instruction<'src>, m: &mut Modifiers) -> Lowered<()> {
        let words = ["sync", "aligned", "row", "col"];
        if !words.iter().all(|word| m.flag(word)) {
            return Err(Stop::Unsupported);
        }
        let shape = m.needed(SHAPES)?;
        let saturate = m.flag("satfinite");
        // the rounding of f64 products; to nearest if not given
        if m.rounding().is_some_and(|rounding| rounding != Rounding::NearestEven) {
            return Err(Stop::Unsupported);
        }
        let types = m.types();
        m.finish()?;
        let &[d_ty, a_ty, b_ty, c_ty] = types.as_slice() else {
            return Err(Stop::Unsupported);
        };
        if !known(shape, d_ty, a_ty, b_ty, c_ty) {
            return Err(Stop::Unsupported);
        }
        let [d, a, b, c] = self.operands(i)?;
        let word = if a_ty == Type::F64 { Type::B64 } else { Type::B32 };
        let c_word = if c_ty == Type::F32 { Type::F32 } else { word };
        let spans = [a.span, b.span, c.span, d.span];
        let (a, b) = (self.value_vector(a, word)?, self.value_vector(b, word)?);
        let (c, d) = (self.value_vector(c, c_word)?, self.dst_vector(d)?);
        let [m, n, k] = shape;
        let product = MatrixMultiply { m, n, k, d_ty, a_ty, b_ty, c_ty, saturate, d, a, b, c };
        let [a, b, c] = product.fragment_registers();
        let found = [product.a.len(), product.b.len(), product.c.len(), product.d.len()];
        for ((span, found), wanted) in spans.into_iter().zip(found).zip([a, b, c, c]) {
            self.check_count(span, found, wanted)?;
        }
        self.push(Op::MatrixMultiply(Box::new(product)));
        Ok(())
    }
}
