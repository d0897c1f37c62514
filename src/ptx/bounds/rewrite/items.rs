//! The values that checks compare with, each kept in one register of the function that needs it: bases of buffers,
//! variables and windows, and limits. Here stand their names and the code at the entry of a function that makes them.

use std::fmt::Write as _;

use super::params::{ExtraValue, IndexLimit, Limit};
use super::writer::Writer;
use crate::ptx::ir::{Space, VariableId};

/// A value that a check needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Item {
    /// The address that the kernel's parameter with this index holds.
    Pointer(usize),
    /// A limit that the launch gives.
    Limit(Limit),
    /// How many values an index may take, 32 bits.
    Indices(IndexLimit),
    /// Address of a `.global` or `.const` variable.
    Variable { id: VariableId, generic: bool },
    /// The lowest address of the block's shared memory.
    SharedBase(Form),
    /// Where accesses of so many bytes to shared memory must begin, from its lowest address.
    SharedLimit { bytes: u32, form: Form },
    /// Address of a `.local` variable of this function, or of the kernel as a function sees it.
    Local { index: u32, generic: bool, of_kernel: bool },
    /// Address of the kernel's first parameter.
    ParamBase { generic: bool },
}

/// Which kind of address a value belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// 32 bits, in the space.
    Narrow,
    /// 64 bits, in the space.
    Wide,
    /// 64 bits, generic.
    Generic,
}

impl Item {
    pub(super) fn is_narrow(self) -> bool {
        matches!(
            self,
            Self::SharedBase(Form::Narrow) | Self::SharedLimit { form: Form::Narrow, .. } | Self::Indices(_)
        )
    }

    /// Can only the kernel know it?
    pub(super) fn is_of_kernel(self) -> bool {
        !matches!(self, Self::Variable { .. } | Self::Local { of_kernel: false, .. })
    }

    /// The same value as the kernel calls it.
    pub(super) fn in_kernel(self) -> Self {
        match self {
            Self::Local { index, generic, .. } => Self::Local { index, generic, of_kernel: false },
            other => other,
        }
    }
}

/// What a launch's shared memory consists of, by the names that the kernel can say.
#[derive(Clone, Debug, Default)]
pub(super) struct SharedNames {
    /// Static variables: name and bytes.
    pub(super) fixed: Vec<(String, u64)>,
    /// One array of dynamic size.
    pub(super) dynamic: Option<String>,
}

impl Writer<'_, '_> {
    /// The register of `item`.
    pub(super) fn item(&mut self, item: Item) -> String {
        let index = self.items.iter().position(|known| *known == item).unwrap_or_else(|| {
            self.items.push(item);
            self.items.len() - 1
        });
        self.register_of(index, item)
    }

    pub(super) fn register_of(&self, index: usize, item: Item) -> String {
        format!("{}{}{index}", self.p, if item.is_narrow() { "w" } else { "v" })
    }

    /// The code that makes every item at the kernel's entry. Asks for the parameters it loads.
    pub(super) fn define(&mut self, index: usize, item: Item) -> String {
        let r = self.register_of(index, item);
        match item {
            Item::Pointer(parameter) => {
                let name = self.function.params.get(parameter).map_or("", |param| param.name.as_str());
                format!("ld.param.u64 {r}, [{name}]; ")
            }
            Item::Limit(limit) => {
                let name = self.extra(ExtraValue::Limit(limit));
                format!("ld.param.u64 {r}, [{name}]; ")
            }
            Item::Indices(limit) => {
                let name = self.extra(ExtraValue::Indices(limit));
                format!("ld.param.u32 {r}, [{name}]; ")
            }
            Item::Variable { id, generic } => {
                let Some(variable) = self.module.variables.get(id.0 as usize) else { return String::new() };
                let space = if variable.space == Space::Const { "const" } else { "global" };
                let mut text = format!("mov.u64 {r}, {}; ", variable.name);
                if generic {
                    let _ = write!(text, "cvta.{space}.u64 {r}, {r}; ");
                }
                text
            }
            Item::SharedBase(form) => self.shared_base(&r, form),
            Item::SharedLimit { bytes, form } => self.shared_limit(&r, bytes, form),
            Item::Local { index, generic, .. } => {
                let name = self.function.locals.get(index as usize).map_or("", |local| local.name.as_str());
                let mut text = format!("mov.u64 {r}, {name}; ");
                if generic {
                    let _ = write!(text, "cvta.local.u64 {r}, {r}; ");
                }
                text
            }
            Item::ParamBase { generic } => {
                let name = self.function.params.first().map_or("", |param| param.name.as_str());
                if name.is_empty() {
                    return format!("mov.u64 {r}, 0; ");
                }
                let mut text = format!("mov.b64 {r}, {name}; ");
                if generic {
                    let _ = write!(text, "cvta.param.u64 {r}, {r}; ");
                }
                text
            }
        }
    }

    fn shared_base(&self, r: &str, form: Form) -> String {
        let p = self.p;
        let (ty, t) = match form {
            Form::Narrow => ("u32", format!("{p}n")),
            Form::Wide | Form::Generic => ("u64", format!("{p}t")),
        };
        let names = self.shared.fixed.iter().map(|(name, _)| name).chain(&self.shared.dynamic);
        let mut text = String::new();
        for (number, name) in names.enumerate() {
            let _ = match number {
                0 => write!(text, "mov.{ty} {r}, {name}; "),
                _ => write!(text, "mov.{ty} {t}, {name}; min.{ty} {r}, {r}, {t}; "),
            };
        }
        if text.is_empty() {
            let _ = write!(text, "mov.{ty} {r}, 0; ");
        }
        if form == Form::Generic {
            let _ = write!(text, "cvta.shared.u64 {r}, {r}; ");
        }
        text
    }

    /// The end of the highest variable less the lowest address, as the assembler laid them out.
    fn shared_limit(&self, r: &str, bytes: u32, form: Form) -> String {
        let p = self.p;
        let (low, high, t) = (format!("{p}i"), format!("{p}j"), format!("{p}n"));
        let mut text = self.shared_base(&low, Form::Narrow);
        let _ = write!(text, "mov.u32 {high}, {low}; ");
        for (name, size) in &self.shared.fixed {
            let _ =
                write!(text, "mov.u32 {t}, {name}; add.u32 {t}, {t}, {size}; max.u32 {high}, {high}, {t}; ");
        }
        if let Some(name) = &self.shared.dynamic {
            let _ = write!(text, "mov.u32 {t}, {name}; mov.u32 {p}k, %dynamic_smem_size; ");
            let _ = write!(text, "add.u32 {t}, {t}, {p}k; max.u32 {high}, {high}, {t}; ");
        }
        let less = bytes.saturating_sub(1);
        let _ = write!(text, "sub.u32 {high}, {high}, {low}; max.u32 {high}, {high}, {less}; ");
        let _ = match form {
            Form::Narrow => write!(text, "sub.u32 {r}, {high}, {less}; "),
            _ => write!(text, "sub.u32 {high}, {high}, {less}; cvt.u64.u32 {r}, {high}; "),
        };
        text
    }
}
