//! Lowering: from the syntax tree to the [intermediate representation](super::ir).
//!
//! Names are resolved, modifiers typed, parameters and variables laid out, calls turned into copies.
//! Here stands the module as a whole; declarations are in `declare`, a function's statements in
//! `function`, what instructions share in `operand` and `modifiers`, and the instructions in one file
//! for each family.

mod asynchronous;
mod bits;
mod call;
mod compare;
mod control;
mod convert;
mod declare;
mod float;
mod function;
mod instruction;
mod integer;
mod local;
mod locations;
mod matrix;
mod memory;
mod modifiers;
mod moves;
mod operand;
mod scope;
mod shared;
mod special;
#[cfg(test)]
mod tests;
mod warp;

use std::collections::HashMap;

use self::locations::Locations;
use self::scope::{Binding, Scopes};
use super::ast;
use super::ir::*;
use super::source::{Source, Span, SyntaxError};

/// Why an instruction was not lowered.
#[derive(Debug)]
enum Stop {
    /// Opcode, modifier, type or operand form that is not supported: a fault where it is reached.
    Unsupported,
    /// The text is wrong: the module is refused.
    Error(Box<SyntaxError>),
}

impl From<SyntaxError> for Stop {
    fn from(error: SyntaxError) -> Self {
        Stop::Error(Box::new(error))
    }
}

type Lowered<T> = Result<T, Stop>;

/// Lowers a parsed module. `source` must be the text it was parsed from.
///
/// Instructions and declarations that are not supported are kept as such ([rule 8](super::ir)). The
/// result is not yet [verified](super::verify).
///
/// # Errors
/// Names that are not declared or declared twice, operands of the wrong number or form, labels that are
/// missing, layouts that overflow: the first of them, with its place.
pub fn lower(module: &ast::Module<'_>, source: &Source) -> Result<Module, SyntaxError> {
    Lowering::new(module, source).run()
}

/// The module under construction.
struct Lowering<'a, 'src> {
    ast: &'a ast::Module<'src>,
    source: &'a Source,
    scopes: Scopes<'src>,
    locations: Locations<'a, 'src>,
    functions: Vec<Function>,
    variables: Vec<Variable>,
    /// Initialisers are lowered once every name is known.
    initializers: Vec<(VariableId, &'a ast::Variable<'src>)>,
}

impl<'a, 'src> Lowering<'a, 'src> {
    fn new(module: &'a ast::Module<'src>, source: &'a Source) -> Self {
        Self {
            ast: module,
            source,
            scopes: Scopes::new(),
            locations: Locations::new(module, source),
            functions: Vec::new(),
            variables: Vec::new(),
            initializers: Vec::new(),
        }
    }

    fn run(mut self) -> Result<Module, SyntaxError> {
        let bodies = self.declare_functions()?;
        for item in &self.ast.items {
            match item {
                ast::Item::Variable(variable) => self.declare_module_variable(variable)?,
                ast::Item::Alias(alias) => self.declare_alias(alias)?,
                _ => {}
            }
        }
        for (id, function) in bodies {
            function::lower_body(&mut self, id, function)?;
        }
        self.lower_initializers()?;
        let mut module = Module {
            version: (self.ast.version.major, self.ast.version.minor),
            target: target(self.ast),
            address_size: self.ast.address_size,
            functions: self.functions,
            variables: self.variables,
            files: files(self.ast),
            locations: self.locations.table,
        };
        shared::lay_out(&mut module)?;
        Ok(module)
    }

    /// One entry for each name; a definition replaces a declaration. Returns the definitions.
    fn declare_functions(&mut self) -> Result<Vec<(FunctionId, &'a ast::Function<'src>)>, SyntaxError> {
        let mut ids: HashMap<&str, FunctionId> = HashMap::new();
        let mut bodies = Vec::new();
        let module = self.ast;
        for function in module.functions() {
            let name = function.name;
            let mut lowered = declare::function(function)?;
            if let Some(unsupported) = &mut lowered.unsupported {
                unsupported.line = self.source.line(unsupported.span.start);
            }
            let id = match ids.get(name.text) {
                None => {
                    let id = FunctionId(self.functions.len() as u32);
                    ids.insert(name.text, id);
                    if !self.scopes.bind(name.text, Binding::Function(id)) {
                        return Err(declared_twice(name));
                    }
                    self.functions.push(lowered);
                    id
                }
                Some(&id) => {
                    let known = &mut self.functions[id.0 as usize];
                    if known.defined && lowered.defined {
                        return Err(SyntaxError::new(
                            name.span,
                            format!("function `{}` is defined twice", name.text),
                        ));
                    }
                    if !declare::same_signature(known, &lowered) {
                        return Err(SyntaxError::new(
                            name.span,
                            format!("`{}` is declared with other parameters before", name.text),
                        ));
                    }
                    if lowered.defined {
                        *known = lowered;
                    }
                    id
                }
            };
            if function.body.is_some() {
                bodies.push((id, function));
            }
        }
        Ok(bodies)
    }

    fn declare_alias(&mut self, alias: &ast::Alias<'src>) -> Result<(), SyntaxError> {
        let Some(Binding::Function(id)) = self.scopes.get(alias.aliasee.text) else {
            return Err(not_declared(alias.aliasee.text, alias.aliasee.span));
        };
        // the alias may have a declaration of its own before
        let _ = self.scopes.bind(alias.alias.text, Binding::Function(id));
        Ok(())
    }

    fn declare_module_variable(&mut self, variable: &'a ast::Variable<'src>) -> Result<(), SyntaxError> {
        let binding = match variable.space {
            ast::Space::Global | ast::Space::Const | ast::Space::Shared => {
                match self.add_variable(variable)? {
                    Some(binding) => binding,
                    None => return Ok(()),
                }
            }
            _ => Binding::Unsupported,
        };
        match self.scopes.bind(variable.name.text, binding) {
            true => Ok(()),
            false => Err(declared_twice(variable.name)),
        }
    }

    /// Adds a variable in global, constant or shared memory. `None` if it completes or repeats an
    /// `.extern` declaration.
    fn add_variable(&mut self, ast: &'a ast::Variable<'src>) -> Result<Option<Binding>, SyntaxError> {
        let Some(variable) = declare::variable(ast)? else {
            return Ok(Some(Binding::Unsupported));
        };
        if let Some(Binding::Variable(id)) = self.scopes.get(ast.name.text) {
            let known = &mut self.variables[id.0 as usize];
            let external = [known.linkage, variable.linkage].contains(&Linkage::Extern);
            if external && known.space == variable.space && known.space != Space::Shared {
                if variable.linkage != Linkage::Extern {
                    *known = variable;
                    self.initializers.push((id, ast));
                }
                return Ok(None);
            }
        }
        let id = VariableId(self.variables.len() as u32);
        self.variables.push(variable);
        self.initializers.push((id, ast));
        Ok(Some(Binding::Variable(id)))
    }

    fn lower_initializers(&mut self) -> Result<(), SyntaxError> {
        for (id, ast) in std::mem::take(&mut self.initializers) {
            let Some(initializer) = &ast.initializer else {
                continue;
            };
            let variable = &self.variables[id.0 as usize];
            let lowered = declare::initializer(variable, ast, initializer, &self.scopes)?;
            self.variables[id.0 as usize].initializer = Some(lowered);
        }
        Ok(())
    }
}

fn target(module: &ast::Module<'_>) -> Target {
    let arch = module.targets.first().map_or("", |name| name.text);
    let digits = arch.trim_start_matches(|c: char| !c.is_ascii_digit());
    let number = digits.trim_end_matches(|c: char| !c.is_ascii_digit());
    Target {
        arch: arch.to_owned(),
        sm: number.parse().unwrap_or(0),
        debug: module.targets.iter().any(|name| name.text == "debug"),
    }
}

fn files(module: &ast::Module<'_>) -> Vec<SourceFile> {
    let files = module.items.iter().filter_map(|item| match item {
        ast::Item::File(file) => Some(file),
        _ => None,
    });
    files.map(|file| SourceFile { number: file.index, path: file.path.to_owned() }).collect()
}

fn declared_twice(name: ast::Name<'_>) -> SyntaxError {
    SyntaxError::new(name.span, format!("`{}` is declared twice", name.text))
        .label("the same name stands before, in this scope")
}

fn not_declared(name: &str, span: Span) -> SyntaxError {
    SyntaxError::new(span, format!("`{name}` is not declared"))
        .label("no register, variable, parameter, label or function of this name")
}
