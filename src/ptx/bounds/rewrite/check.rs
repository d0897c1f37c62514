//! What is put before an access: the comparison of its address with the memory it may touch, and the note of a
//! failure. Straight-line code without a branch; the access itself is predicated.

use std::fmt::Write as _;

use super::items::{Form, Item};
use super::params::Limit;
use super::provenance::Origin;
use super::refuse::Refused;
use super::sites::{CheckedSite, Open, RecordedAddress, SiteKind};
use super::writer::Writer;
use crate::ptx::ir::{
    Address, AddressBase, FunctionKind, Guard, Inst, MemoryAccess, MemoryAccessKind, Space, Symbol,
    VariableId, Width,
};

/// One stretch of memory that an address is compared with.
struct Test {
    base: Item,
    limit: Bound,
}

/// An access must begin at less than this from the base.
enum Bound {
    Item(Item),
    Fixed(u64),
}

/// Where an access of `bytes` bytes to something of `size` bytes must begin.
fn fixed(size: u64, bytes: u32) -> Bound {
    Bound::Fixed((size + 1).saturating_sub(u64::from(bytes)))
}

/// The registers that hold an address.
struct Located {
    /// 32 bits, for a shared address in such a register.
    narrow: Option<String>,
    /// 64 bits; made from the narrow one where that is all there is.
    wide: String,
}

/// A checked access: the predicate that tells it may be made.
pub(super) struct Checked {
    pub(super) ok: String,
}

impl Writer<'_, '_> {
    /// Appends the check of `access` to `text`: afterwards the predicate holds where the access may be made, and a
    /// failure is noted. `pardon` is a predicate under which anything goes. `None`: nothing to check.
    pub(super) fn check(
        &mut self,
        text: &mut String,
        (pc, number): (usize, usize),
        inst: &Inst,
        access: &MemoryAccess,
        open: Open,
        pardon: Option<&str>,
    ) -> Result<Option<Checked>, Refused> {
        let MemoryAccess { kind, space, address, size } = *access;
        if self.is_named_and_inside(&address, size, kind) {
            return Ok(None);
        }
        let (origin, multiple) = self.provenance.origin(pc, number, &address);
        let located = self.locate(text, inst, space, &address)?;
        let known_multiple = origin != Origin::Any && multiple >= size;
        let tests = match open.range {
            true => {
                let aligned = open.alignment && known_multiple;
                self.tests(inst, origin, space, &located, access, aligned)?
            }
            false => Vec::new(),
        };
        let p = self.p;
        let ok = format!("{p}ok{number}");
        let single = tests.len() == 1;
        if !open.range {
            let _ = write!(text, "setp.eq.u32 {ok}, {p}f, {p}f; ");
        } else if tests.is_empty() {
            let _ = write!(text, "setp.ne.u32 {ok}, {p}f, {p}f; ");
        }
        let mut offset = format!("mov.u64 {p}g, {};", located.wide);
        let mut relative = false;
        for (number, test) in tests.iter().enumerate() {
            let base = self.item(test.base);
            let limit = match test.limit {
                Bound::Item(item) => self.item(item),
                Bound::Fixed(value) => value.to_string(),
            };
            let (combine, also) = if number == 0 { ("", String::new()) } else { (".or", format!(", {ok}")) };
            let (ty, distance, from) = match (&located.narrow, test.base.is_narrow()) {
                (Some(narrow), true) => ("u32", format!("{p}n"), narrow),
                _ => ("u64", format!("{p}t"), &located.wide),
            };
            let _ = write!(text, "sub.{ty} {distance}, {from}, {base}; ");
            let _ = write!(text, "setp.lt{combine}.{ty} {ok}, {distance}, {limit}{also}; ");
            relative = single
                && matches!(test.base, Item::SharedBase(_) | Item::Local { .. } | Item::ParamBase { .. });
            if relative {
                offset = match ty {
                    "u32" => format!("cvt.u64.u32 {p}g, {distance};"),
                    _ => format!("mov.u64 {p}g, {distance};"),
                };
            }
        }
        let looked_at = open.alignment && size > 1 && !(known_multiple && open.range);
        if looked_at {
            match &located.narrow {
                Some(narrow) => {
                    let _ = write!(text, "and.b32 {p}i, {narrow}, {}; ", size - 1);
                    let _ = write!(text, "setp.eq.and.u32 {ok}, {p}i, 0, {ok}; ");
                }
                None => {
                    let _ = write!(text, "and.b64 {p}u, {}, {}; ", located.wide, size - 1);
                    let _ = write!(text, "setp.eq.and.u64 {ok}, {p}u, 0, {ok}; ");
                }
            }
        }
        if let Some(pardon) = pardon {
            let _ = write!(text, "or.pred {ok}, {ok}, {pardon}; ");
        }
        let buffer = match (origin, space) {
            (Origin::Buffer(index), Space::Global | Space::Generic) => Some(index),
            _ => None,
        };
        let space = match (tests.first().map(|test| test.base), relative) {
            (Some(Item::SharedBase(_)), true) => Space::Shared,
            (Some(Item::Local { .. }), true) => Space::Local,
            (Some(Item::ParamBase { .. }), true) => Space::Param,
            _ => space,
        };
        let site = CheckedSite {
            function: self.id,
            pc: pc as u32,
            line: inst.line,
            span: inst.span,
            kind: SiteKind::Access(kind),
            space,
            buffer,
            bytes: size,
            address: if relative { RecordedAddress::Offset } else { RecordedAddress::Absolute },
        };
        let bad = match inst.guard {
            None => format!("!{ok}"),
            Some(guard) => {
                let guard = self.guard(text, inst, guard)?;
                let _ = write!(text, "not.pred {p}b, {ok}; and.pred {p}b, {p}b, {guard}; ");
                format!("{p}b")
            }
        };
        self.note(text, inst, site, Some(&bad), &offset)?;
        Ok(Some(Checked { ok }))
    }

    /// A predicate register that holds where the instruction's guard lets it run.
    pub(super) fn guard(&self, text: &mut String, inst: &Inst, guard: Guard) -> Result<String, Refused> {
        let name = self
            .function
            .register_name(guard.predicate)
            .ok_or_else(|| Refused::inst(inst, "a guard that is no plain register"))?;
        if !guard.negated {
            return Ok(name);
        }
        let negated = format!("{}ng", self.p);
        let _ = write!(text, "not.pred {negated}, {name}; ");
        Ok(negated)
    }

    /// Notes `site` as the thread's first failure where `bad` holds (always, if there is none) and nothing was noted
    /// before. `address` moves the address to its register.
    pub(super) fn note(
        &mut self,
        text: &mut String,
        inst: &Inst,
        site: CheckedSite,
        bad: Option<&str>,
        address: &str,
    ) -> Result<(), Refused> {
        let p = self.p;
        self.output.sites.push(site);
        let number = self.output.sites.len();
        if number > super::record::MOST_SITES - 1 {
            return Err(Refused::inst(inst, "more accesses than a record can number"));
        }
        let _ = match bad {
            Some(bad) => write!(text, "setp.eq.and.u32 {p}q, {p}f, 0, {bad}; "),
            None => write!(text, "setp.eq.u32 {p}q, {p}f, 0; "),
        };
        let _ = write!(text, "@{p}q mov.u32 {p}f, {number}; @{p}q {address} ");
        if self.options.diagnose {
            let record = super::record::write(p);
            let _ = write!(text, "@!{p}q bra {}n{number}; {record}{}n{number}: ", self.label, self.label);
        }
        Ok(())
    }

    /// Is it a declaration with a constant distance, wholly inside and aligned?
    fn is_named_and_inside(&self, address: &Address, bytes: u32, kind: MemoryAccessKind) -> bool {
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
    fn locate(
        &self,
        text: &mut String,
        inst: &Inst,
        space: Space,
        address: &Address,
    ) -> Result<Located, Refused> {
        let p = self.p;
        let offset = address.offset;
        let wide = format!("{p}a");
        let unnamed = || Refused::inst(inst, "an address that is no plain register");
        match address.base {
            AddressBase::Reg(reg) if reg.width == Width::B64 => {
                let name = self.function.register_name(reg).ok_or_else(unnamed)?;
                if offset == 0 {
                    return Ok(Located { narrow: None, wide: name });
                }
                let _ = write!(text, "add.s64 {wide}, {name}, {offset}; ");
                Ok(Located { narrow: None, wide })
            }
            AddressBase::Reg(reg)
                if reg.width == Width::B32 && matches!(space, Space::Shared | Space::Local) =>
            {
                let mut name = self.function.register_name(reg).ok_or_else(unnamed)?;
                if offset != 0 {
                    let _ = write!(text, "add.s32 {p}m, {name}, {}; ", offset as i32);
                    name = format!("{p}m");
                }
                let narrow = (space == Space::Shared).then(|| name.clone());
                let _ = write!(text, "cvt.u64.u32 {wide}, {name}; ");
                Ok(Located { narrow, wide })
            }
            AddressBase::Reg(_) => Err(unnamed()),
            AddressBase::Absolute => {
                let _ = write!(text, "mov.u64 {wide}, {offset}; ");
                Ok(Located { narrow: None, wide })
            }
            AddressBase::Symbol(symbol) => {
                let name = self.symbol_name(symbol).ok_or_else(unnamed)?;
                let _ = write!(text, "mov.u64 {wide}, {name}; ");
                if offset != 0 {
                    let _ = write!(text, "add.s64 {wide}, {wide}, {offset}; ");
                }
                Ok(Located { narrow: None, wide })
            }
        }
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
    fn tests(
        &self,
        inst: &Inst,
        origin: Origin,
        space: Space,
        located: &Located,
        access: &MemoryAccess,
        aligned: bool,
    ) -> Result<Vec<Test>, Refused> {
        let bytes = access.size;
        let write = access.kind != MemoryAccessKind::Read;
        let generic = space == Space::Generic;
        let buffer = |parameter, aligned| Test {
            base: Item::Pointer(parameter),
            limit: Bound::Item(Item::Limit(Limit { parameter, bytes, write, aligned })),
        };
        let shared = |form| Test {
            base: Item::SharedBase(form),
            limit: Bound::Item(Item::SharedLimit {
                bytes,
                form: if form == Form::Generic { Form::Wide } else { form },
            }),
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
            (Space::Global | Space::Generic, Origin::Buffer(parameter)) => vec![buffer(parameter, aligned)],
            (Space::Generic, Origin::Variable(id)) => variable(id, true).into_iter().collect(),
            (Space::Global | Space::Const, Origin::Variable(id)) if self.lies_in(id, space) => {
                variable(id, false).into_iter().collect()
            }
            (Space::Shared, _) => {
                vec![shared(if located.narrow.is_some() { Form::Narrow } else { Form::Wide })]
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
                let mut all: Vec<Test> = self.buffers.iter().map(|index| buffer(*index, false)).collect();
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
