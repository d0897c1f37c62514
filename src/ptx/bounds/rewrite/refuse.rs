//! What a rewritten kernel may contain. An instruction that is not listed as understood is refused by name and line,
//! and the kernel left to unchecked launches.

use std::fmt;

use crate::ptx::ir::{
    BarrierOp, CallTarget, Function, FunctionId, Hint, Inst, Intrinsic, Module, Op, Operand, Symbol,
};
use crate::ptx::source::{Source, Span};

/// Why a kernel cannot be rewritten.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// What is in the way, as a noun phrase.
    pub what: String,
    /// Its line in the PTX, from 1.
    pub line: u32,
    /// Its place in the PTX.
    pub span: Span,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (PTX line {})", self.what, self.line)
    }
}

impl std::error::Error for Refused {}

impl Refused {
    pub(super) fn at(source: &Source, span: Span, what: impl Into<String>) -> Self {
        Self { what: what.into(), line: source.line(span.start), span }
    }

    pub(super) fn inst(inst: &Inst, what: impl Into<String>) -> Self {
        Self { what: what.into(), line: inst.line, span: inst.span }
    }
}

/// The device functions that `kernel` may call, itself first.
///
/// # Errors
/// Recursion, and calls of functions that are not defined: their stack and their accesses have no bound.
pub(super) fn reachable(module: &Module, kernel: FunctionId) -> Result<Vec<FunctionId>, Refused> {
    let mut order = Vec::new();
    visit(module, kernel, &mut Vec::new(), &mut order, None)?;
    order.reverse();
    Ok(order)
}

fn visit(
    module: &Module,
    id: FunctionId,
    path: &mut Vec<FunctionId>,
    done: &mut Vec<FunctionId>,
    from: Option<&Inst>,
) -> Result<(), Refused> {
    let Some(function) = module.functions.get(id.0 as usize) else { return Ok(()) };
    let span = from.map_or(function.span, |inst| inst.span);
    let line = from.map_or(0, |inst| inst.line);
    let refuse = |what: String| Err(Refused { what, line, span });
    if path.contains(&id) {
        return refuse(format!("recursion: `{}` calls itself", function.name));
    }
    if done.contains(&id) {
        return Ok(());
    }
    if !function.defined {
        return refuse(format!("a call of `{}`, which is not defined", function.name));
    }
    path.push(id);
    for inst in &function.code {
        if let Op::Call(call) = &inst.op
            && let CallTarget::Direct(callee) = call.target
        {
            visit(module, callee, path, done, Some(inst))?;
        }
    }
    path.pop();
    done.push(id);
    Ok(())
}

/// Checks each instruction of `function` against the list.
pub(super) fn check(function: &Function) -> Result<(), Refused> {
    if let Some(unsupported) = &function.unsupported {
        let (line, span) = (unsupported.line, unsupported.span);
        return Err(Refused { what: format!("`{}`", unsupported.what), line, span });
    }
    function.code.iter().try_for_each(|inst| match reason(&inst.op) {
        None => Ok(()),
        Some(what) => Err(Refused::inst(inst, what)),
    })
}

/// Why an instruction is refused; `None` for what is understood.
fn reason(op: &Op) -> Option<String> {
    let refuse = |what: &str| Some(what.to_owned());
    match op {
        // registers to registers
        Op::Mov { .. }
        | Op::ReadSpecial { .. }
        | Op::Pack { .. }
        | Op::Unpack { .. }
        | Op::Integer { .. }
        | Op::MultiplyAdd { .. }
        | Op::Carry { .. }
        | Op::MultiplyAddCarry { .. }
        | Op::SumAbsoluteDifference { .. }
        | Op::DotProduct { .. }
        | Op::IntegerUnary { .. }
        | Op::Logic { .. }
        | Op::Lop3 { .. }
        | Op::Shift { .. }
        | Op::FunnelShift { .. }
        | Op::BitFieldExtract { .. }
        | Op::BitFieldInsert { .. }
        | Op::BitMask { .. }
        | Op::Extend { .. }
        | Op::FindNthSet { .. }
        | Op::Permute { .. }
        | Op::Float { .. }
        | Op::FloatMultiplyAdd { .. }
        | Op::FloatUnary { .. }
        | Op::FloatMinMax3 { .. }
        | Op::TestProperty { .. }
        | Op::SetPredicate { .. }
        | Op::Set { .. }
        | Op::Select { .. }
        | Op::SelectBySign { .. }
        | Op::Convert(_)
        | Op::ConvertPair { .. }
        | Op::PackSaturate { .. }
        | Op::ConvertAddress { .. }
        | Op::IsSpace { .. }
        | Op::Shuffle { .. }
        | Op::Vote { .. }
        | Op::Match { .. }
        | Op::Reduce { .. }
        | Op::ActiveMask { .. }
        | Op::Elect { .. }
        | Op::TransposeMatrix { .. }
        | Op::MatrixMultiply(_) => None,
        Op::AddressOf { symbol: Symbol::Function(_), .. } => refuse("the address of a function"),
        Op::AddressOf { .. } => None,
        // memory: checked
        Op::Load(_) | Op::Store(_) | Op::Atomic(_) | Op::LoadMatrix { .. } | Op::StoreMatrix { .. } => None,
        Op::AsyncCopy { source_size: None, .. } | Op::AsyncCommit | Op::AsyncWait { .. } => None,
        Op::AsyncCopy { .. } => refuse("`cp.async` with a source size in a register"),
        Op::AsyncArrive { .. } => refuse("`cp.async.mbarrier.arrive`"),
        Op::Mbarrier(_) => refuse("`mbarrier`"),
        // order and hints
        Op::Fence { .. } | Op::WarpBarrier { .. } | Op::NanoSleep { .. } => None,
        Op::Hint { what: Hint::SetMaxRegisters, .. } => refuse("`setmaxnreg`"),
        Op::Hint { .. } => None,
        Op::Barrier(barrier) => match (barrier.op, barrier.id, barrier.threads) {
            (BarrierOp::ClusterArrive | BarrierOp::ClusterWait, ..) => None,
            (_, Operand::Imm(_), None | Some(Operand::Imm(_))) => None,
            _ => refuse("a barrier whose number or count is in a register"),
        },
        // control
        Op::Branch { .. } | Op::Return | Op::Exit | Op::Trap | Op::Breakpoint => None,
        Op::BranchIndexed { .. } => refuse("`brx.idx`"),
        Op::Call(call) => match &call.target {
            CallTarget::Direct(_) | CallTarget::Intrinsic(Intrinsic::Vprintf | Intrinsic::AssertFail) => None,
            CallTarget::Intrinsic(Intrinsic::Malloc) => refuse("`malloc`"),
            CallTarget::Intrinsic(Intrinsic::Free) => refuse("`free`"),
            CallTarget::Indirect { .. } => refuse("a call through a pointer"),
        },
        Op::Unsupported(text) => Some(format!("`{text}`")),
    }
}
