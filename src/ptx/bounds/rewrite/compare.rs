//! What an address is compared with: the memory that it may lie in, and the code of one comparison.

use std::fmt::Write as _;

use super::items::{Form, Item};
use super::params::{IndexLimit, Limit};
use super::provenance::Origin;
use super::refuse::Refused;
use super::writer::Writer;
use crate::ptx::ir::{
    Address, AddressBase, FunctionKind, Inst, MemoryAccess, MemoryAccessKind, Reg, Space, Symbol, VariableId,
    Width,
};

/// One stretch of memory that an address is compared with.
#[derive(Clone, Copy, Debug)]
pub(super) struct Test {
    pub(super) base: Item,
    limit: Bound,
}

/// An access must begin at less than this from the base.
#[derive(Clone, Copy, Debug)]
enum Bound {
    Item(Item),
    Fixed(u64),
}

/// Where an access of `bytes` bytes to something of `size` bytes must begin.
fn fixed(size: u64, bytes: u32) -> Bound {
    Bound::Fixed((size + 1).saturating_sub(u64::from(bytes)))
}

/// The register that holds an address.
#[derive(Clone, Debug)]
pub(super) enum Located {
    /// 32 bits: a shared address.
    Narrow(String),
    /// 64 bits.
    Wide(String),
}

impl Writer<'_, '_> {
    /// Appends the comparison of an address with one stretch of memory: `ok` holds afterwards where it fits, with
    /// `combine` (`.or` or `.and`) where it fits or held before, or both. Gives the type and register of the
    /// distance from the base.
    pub(super) fn compare(
        &mut self,
        text: &mut String,
        located: &Located,
        test: &Test,
        ok: &str,
        combine: &str,
    ) -> (&'static str, String) {
        let p = self.p;
        let base = self.item(test.base);
        let limit = match test.limit {
            Bound::Item(item) => self.item(item),
            Bound::Fixed(value) => value.to_string(),
        };
        let (ty, distance, from) = match located {
            Located::Narrow(name) => ("u32", format!("{p}n"), name),
            Located::Wide(name) => ("u64", format!("{p}t"), name),
        };
        let also = if combine.is_empty() { String::new() } else { format!(", {ok}") };
        let _ = write!(text, "sub.{ty} {distance}, {from}, {base}; ");
        let _ = write!(text, "setp.lt{combine}.{ty} {ok}, {distance}, {limit}{also}; ");
        (ty, distance)
    }

    /// Appends the test of an index.
    pub(super) fn compare_index(
        &mut self,
        text: &mut String,
        index: &str,
        limit: IndexLimit,
        ok: &str,
        combine: &str,
    ) {
        let p = self.p;
        // there is one, or nobody would ask
        let first = limit.first().unwrap_or_default();
        let count = self.item(Item::Indices(limit));
        let also = if combine.is_empty() { String::new() } else { format!(", {ok}") };
        let from = match first {
            0 => index.to_owned(),
            _ => {
                let _ = write!(text, "sub.u32 {p}i, {index}, {}; ", first as u32);
                format!("{p}i")
            }
        };
        let _ = write!(text, "setp.lt{combine}.u32 {ok}, {from}, {count}{also}; ");
    }

    /// Is it a declaration with a constant distance, wholly inside and aligned?
    pub(super) fn is_named_and_inside(&self, address: &Address, bytes: u32, kind: MemoryAccessKind) -> bool {
        let AddressBase::Symbol(symbol) = address.base else { return false };
        let write = kind != MemoryAccessKind::Read;
        let (size, align) = match symbol {
            Symbol::Variable(id) | Symbol::Shared(id) => match self.module.variables.get(id.0 as usize) {
                Some(variable) if !(write && variable.space == Space::Const) => {
                    (variable.size, variable.align)
                }
                _ => return false,
            },
            Symbol::Local(index) => match self.function.locals.get(index as usize) {
                Some(local) => (u64::from(local.size), local.align),
                None => return false,
            },
            Symbol::Param(..) => return true,
            Symbol::DynamicShared(_) | Symbol::Function(_) => return false,
        };
        let Ok(offset) = u64::try_from(address.offset) else { return false };
        let inside = offset.checked_add(u64::from(bytes)).is_some_and(|end| end <= size);
        inside && align % bytes.max(1) == 0 && offset % u64::from(bytes.max(1)) == 0
    }

    /// Appends code that puts the address in registers, and gives their names.
    pub(super) fn locate(
        &self,
        text: &mut String,
        inst: &Inst,
        space: Space,
        address: &Address,
    ) -> Result<Located, Refused> {
        let unnamed = || Refused::inst(inst, "an address that is no plain register");
        let wide = format!("{}a", self.p);
        match address.base {
            AddressBase::Reg(reg) => {
                let name = self.function.register_name(reg).ok_or_else(unnamed)?;
                self.locate_from(text, space, reg, &name, address.offset).ok_or_else(unnamed)
            }
            AddressBase::Absolute => {
                let _ = write!(text, "mov.u64 {wide}, {}; ", address.offset);
                Ok(Located::Wide(wide))
            }
            AddressBase::Symbol(symbol) => {
                let name = self.symbol_name(symbol).ok_or_else(unnamed)?;
                let _ = write!(text, "mov.u64 {wide}, {name}; ");
                if address.offset != 0 {
                    let _ = write!(text, "add.s64 {wide}, {wide}, {}; ", address.offset);
                }
                Ok(Located::Wide(wide))
            }
        }
    }

    /// The same for an address that a register like `reg` holds under the name `name`.
    pub(super) fn locate_from(
        &self,
        text: &mut String,
        space: Space,
        reg: Reg,
        name: &str,
        offset: i64,
    ) -> Option<Located> {
        let p = self.p;
        let wide = format!("{p}a");
        match reg.width {
            Width::B64 if offset == 0 => Some(Located::Wide(name.to_owned())),
            Width::B64 => {
                let _ = write!(text, "add.s64 {wide}, {name}, {offset}; ");
                Some(Located::Wide(wide))
            }
            Width::B32 if matches!(space, Space::Shared | Space::Local) => {
                let mut name = name.to_owned();
                if offset != 0 {
                    let _ = write!(text, "add.s32 {p}m, {name}, {}; ", offset as i32);
                    name = format!("{p}m");
                }
                if space == Space::Shared {
                    return Some(Located::Narrow(name));
                }
                let _ = write!(text, "cvt.u64.u32 {wide}, {name}; ");
                Some(Located::Wide(wide))
            }
            _ => None,
        }
    }

    /// Appends the look at the alignment of an address: `ok` holds afterwards where it held and the address is a
    /// multiple of `size`.
    pub(super) fn look_at_alignment(&self, text: &mut String, located: &Located, size: u32, ok: &str) {
        let (p, mask) = (self.p, size - 1);
        let _ = match located {
            Located::Narrow(name) => {
                write!(text, "and.b32 {p}i, {name}, {mask}; setp.eq.and.u32 {ok}, {p}i, 0, {ok}; ")
            }
            Located::Wide(name) => {
                write!(text, "and.b64 {p}u, {name}, {mask}; setp.eq.and.u64 {ok}, {p}u, 0, {ok}; ")
            }
        };
    }

    fn symbol_name(&self, symbol: Symbol) -> Option<String> {
        Some(match symbol {
            Symbol::Variable(id) | Symbol::Shared(id) | Symbol::DynamicShared(id) => {
                self.module.variables.get(id.0 as usize)?.name.clone()
            }
            Symbol::Local(index) => self.function.locals.get(index as usize)?.name.clone(),
            Symbol::Param(..) | Symbol::Function(_) => return None,
        })
    }

    /// What the address is compared with; it must lie in one of them.
    pub(super) fn tests(
        &self,
        inst: &Inst,
        origin: Origin,
        narrow: bool,
        access: &MemoryAccess,
        align: u32,
    ) -> Result<Vec<Test>, Refused> {
        let MemoryAccess { space, size: bytes, .. } = *access;
        let write = access.kind != MemoryAccessKind::Read;
        let generic = space == Space::Generic;
        let buffer = |parameter, align| Test {
            base: Item::Pointer(parameter),
            limit: Bound::Item(Item::Limit(Limit { parameter, bytes, write, align })),
        };
        let shared = |form| {
            let narrow = if form == Form::Generic { Form::Wide } else { form };
            let limit = match (self.shared.fixed.as_slice(), &self.shared.dynamic) {
                ([(_, size)], None) => fixed(*size, bytes),
                _ => Bound::Item(Item::SharedLimit { bytes, form: narrow }),
            };
            Test { base: Item::SharedBase(form), limit }
        };
        let variable = |id: VariableId, generic| {
            let variable = self.module.variables.get(id.0 as usize)?;
            let size = if write && variable.space == Space::Const { 0 } else { variable.size };
            (size > 0).then(|| Test { base: Item::Variable { id, generic }, limit: fixed(size, bytes) })
        };
        let params = |generic| {
            let size = if write { 0 } else { u64::from(self.kernel.param_bytes) };
            Test { base: Item::ParamBase { generic }, limit: fixed(size, bytes) }
        };
        Ok(match (space, origin) {
            (Space::Global | Space::Generic, Origin::Buffer(parameter)) => vec![buffer(parameter, align)],
            (Space::Generic, Origin::Variable(id)) => variable(id, true).into_iter().collect(),
            (Space::Global | Space::Const, Origin::Variable(id)) if self.lies_in(id, space) => {
                variable(id, false).into_iter().collect()
            }
            (Space::Shared, _) => {
                vec![shared(if narrow { Form::Narrow } else { Form::Wide })]
            }
            (Space::Generic, Origin::Shared) => vec![shared(Form::Generic)],
            (Space::Local, _) => self.locals(bytes, false),
            (Space::Generic, Origin::Local) => self.locals(bytes, true),
            (Space::Param, _) if self.function.kind == FunctionKind::Device => {
                return Err(Refused::inst(inst, "an address of a device function's parameter"));
            }
            (Space::Param, _) => vec![params(false)],
            (Space::Generic, Origin::Param) => vec![params(true)],
            (Space::Const, _) => {
                let constants = self.named.iter().filter(|id| self.lies_in(**id, Space::Const));
                constants.filter_map(|id| variable(*id, false)).collect()
            }
            (Space::Global | Space::Generic, _) => {
                let mut all: Vec<Test> = self.buffers.iter().map(|index| buffer(*index, 1)).collect();
                let variables = self.named.iter().filter(|id| generic || self.lies_in(**id, Space::Global));
                all.extend(variables.filter_map(|id| variable(*id, generic)));
                if generic {
                    if !self.shared.fixed.is_empty() || self.shared.dynamic.is_some() {
                        all.push(shared(Form::Generic));
                    }
                    all.extend(self.locals(bytes, true));
                }
                all
            }
        })
    }

    fn lies_in(&self, id: VariableId, space: Space) -> bool {
        self.module.variables.get(id.0 as usize).is_some_and(|variable| variable.space == space)
    }

    /// The local variables of this function and of the kernel.
    fn locals(&self, bytes: u32, generic: bool) -> Vec<Test> {
        let of = |function: &crate::ptx::ir::Function, of_kernel| {
            let locals = function.locals.iter().enumerate();
            locals
                .map(|(index, local)| Test {
                    base: Item::Local { index: index as u32, generic, of_kernel },
                    limit: fixed(u64::from(local.size), bytes),
                })
                .collect::<Vec<_>>()
        };
        let mut all = of(self.function, false);
        if self.function.kind == FunctionKind::Device {
            all.extend(of(self.kernel, true));
        }
        all
    }
}
