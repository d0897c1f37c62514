//! Names in force at a point of a module or function, innermost scope first.

use std::collections::HashMap;

use crate::ptx::ir::{FunctionId, Reg, VariableId};

/// What a name stands for.
#[derive(Clone, Debug)]
pub(super) enum Binding {
    /// One register.
    Register(Reg),
    /// The elements of a vector register.
    Vector(Vec<Reg>),
    /// `.global`, `.const` or `.shared` variable.
    Variable(VariableId),
    /// `.local` variable of the function.
    Local(u32),
    /// Parameter of the function.
    In(u32),
    /// Return parameter of the function.
    Out(u32),
    /// `.param` variable for calls.
    CallParam(u32),
    /// A function.
    Function(FunctionId),
    /// A label of the function, by number.
    Label(u32),
    /// `.branchtargets`: numbers of labels, resolved when used.
    BranchTargets(Vec<String>),
    /// `.calltargets`
    CallTargets(Vec<String>),
    /// `.callprototype`, by number.
    Prototype(usize),
    /// A declaration that is not supported.
    Unsupported,
}

/// `%r<10>`: registers `%r0` to `%r9`.
#[derive(Clone, Copy, Debug)]
struct Range {
    first: Reg,
    count: u32,
}

/// One scope.
#[derive(Default, Debug)]
struct Names<'src> {
    single: HashMap<&'src str, Binding>,
    ranges: HashMap<&'src str, Range>,
}

/// The scopes in force.
#[derive(Debug)]
pub(super) struct Scopes<'src> {
    stack: Vec<Names<'src>>,
}

impl<'src> Scopes<'src> {
    pub fn new() -> Self {
        Self { stack: vec![Names::default()] }
    }

    pub fn enter(&mut self) {
        self.stack.push(Names::default());
    }

    pub fn leave(&mut self) {
        self.stack.pop();
    }

    /// Binds a name in the innermost scope. `false` if it is bound there already.
    #[must_use]
    pub fn bind(&mut self, name: &'src str, binding: Binding) -> bool {
        let Some(names) = self.stack.last_mut() else {
            return false;
        };
        names.single.insert(name, binding).is_none()
    }

    /// Binds a range of registers. `false` if the prefix has a range already.
    #[must_use]
    pub fn bind_range(&mut self, prefix: &'src str, first: Reg, count: u32) -> bool {
        let Some(names) = self.stack.last_mut() else {
            return false;
        };
        names.ranges.insert(prefix, Range { first, count }).is_none()
    }

    /// What the name stands for.
    pub fn get(&self, name: &str) -> Option<Binding> {
        self.stack.iter().rev().find_map(|names| names.get(name))
    }
}

impl Names<'_> {
    fn get(&self, name: &str) -> Option<Binding> {
        if let Some(binding) = self.single.get(name) {
            return Some(binding.clone());
        }
        if self.ranges.is_empty() {
            return None;
        }
        // `%r15` may be number 15 of `%r<…>` or number 5 of `%r1<…>`
        let digits = name.bytes().rev().take_while(u8::is_ascii_digit).count();
        (name.len() - digits..name.len()).find_map(|split| {
            let (prefix, number) = name.split_at(split);
            if number.len() > 1 && number.starts_with('0') {
                return None;
            }
            let range = self.ranges.get(prefix)?;
            let number: u32 = number.parse().ok()?;
            (number < range.count).then(|| {
                let index = range.first.index + number;
                Binding::Register(Reg { index, ..range.first })
            })
        })
    }
}
