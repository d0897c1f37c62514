//! The rewriting of a module for one of its kernels, from text to text.

use std::collections::{HashMap, HashSet};

use super::edits::Edits;
use super::functions::append;
use super::items::SharedNames;
use super::params::{ExtraParams, ExtraValue};
use super::provenance::Provenance;
use super::refuse::{self, Refused};
use super::sites::SiteSet;
use super::writer::{Output, Placed, Writer};
use super::{RewriteOptions, Rewritten};
use crate::ptx::ast::{self, Item, Statement};
use crate::ptx::ir::{
    AddressBase, CallTarget, Function, FunctionId, FunctionKind, Module, Op, ParamBlock, RelocationTarget,
    Space, Symbol, VariableId,
};
use crate::ptx::source::{Source, Span};
use crate::ptx::{LoadedPtx, parse};

/// Rewrites the module `loaded` for its kernel `kernel`, whose parameters with the indices `buffers` are addresses of
/// buffers; the accesses `open` are checked, and all of those in functions that it calls.
///
/// # Errors
/// What is not understood, with its place.
pub fn rewrite(
    loaded: &LoadedPtx,
    kernel: &str,
    buffers: &[usize],
    open: &SiteSet,
    options: RewriteOptions,
) -> Result<Rewritten, Refused> {
    let (source, module) = (&**loaded.source(), &**loaded.module());
    let nowhere = |what: String| Refused { what, line: 0, span: Span::default() };
    let syntax = parse(source).map_err(|error| nowhere(error.to_string()))?;
    let Some((id, function)) = module.function(kernel).filter(|(_, f)| f.kind == FunctionKind::Kernel) else {
        return Err(nowhere(format!("`{kernel}`, which is no kernel of this module")));
    };
    if module.address_size != 64 {
        return Err(nowhere("addresses of 32 bits".to_owned()));
    }
    let functions = refuse::reachable(module, id)?;
    functions.iter().try_for_each(|id| match module.functions.get(id.0 as usize) {
        Some(function) => refuse::check(function).and_then(|()| refuse_locals(function)),
        None => Ok(()),
    })?;
    let prefix = prefix(source.as_str());
    let named = named_variables(module, &functions);
    let by_name: HashMap<&str, &ast::Function<'_>> =
        syntax.functions().filter(|f| f.body.is_some()).map(|f| (f.name.text, f)).collect();
    let shared = shared_names(source, &syntax, module, function, by_name.get(kernel).copied())?;

    let mut output = Output { extras: vec![ExtraValue::Record], ..Output::default() };
    // functions first, so that the kernel knows what they need
    for id in functions.iter().rev() {
        let Some(this) = module.functions.get(id.0 as usize) else { continue };
        let Some(syntax) = by_name.get(this.name.as_str()).copied() else { continue };
        let is_kernel = this.kind == FunctionKind::Kernel;
        let registers = syntax.parameters.iter().chain(&syntax.returns).find(|p| p.space == ast::Space::Reg);
        if let Some(parameter) = registers {
            return Err(Refused::at(source, parameter.span, "a function's parameter in a register"));
        }
        let mut instructions = HashMap::new();
        if let Some(body) = &syntax.body {
            collect(&body.statements, true, &mut 0, &mut instructions);
        }
        let writer = Writer {
            p: &prefix,
            label: format!("$L{}{}_", prefix.trim_start_matches('%'), id.0),
            source,
            module,
            function: this,
            id: id.0,
            kernel: function,
            syntax,
            instructions,
            provenance: Provenance::of(module, this, if is_kernel { buffers } else { &[] }),
            buffers,
            named: &named,
            shared: &shared,
            options,
            items: Vec::new(),
            calls: false,
            numbers: HashMap::new(),
            indexed: HashMap::new(),
            labels: 0,
            spare: [0; 4],
            cold: String::new(),
            output,
        };
        output = writer.run(open)?;
    }
    let kept: HashSet<&str> = functions
        .iter()
        .filter_map(|id| module.functions.get(id.0 as usize))
        .map(|f| f.name.as_str())
        .collect();
    let Output { mut edits, sites, extras, .. } = output;
    leave_out(source, &syntax, module, &kept, &prefix, kernel, &mut edits)?;
    let text = edits.apply(source.as_str()).ok_or_else(|| nowhere("instructions that overlap".to_owned()))?;
    let bytes = loaded.kernel(kernel).map_or(0, |signature| signature.bytes);
    let params = ExtraParams { offset: bytes.next_multiple_of(8), values: extras };
    if params.bytes() > crate::ptx::signature::MAX_PARAMETER_BYTES {
        return Err(nowhere(format!("{} bytes of parameters", params.bytes())));
    }
    Ok(Rewritten { text, kernel: kernel.to_owned(), params, sites })
}

/// The parameters of a kernel that are used as addresses: those that some access or call may lead to.
///
/// A launch knows better which of its arguments are buffers; this is for tools that have only the text.
#[must_use]
pub fn buffers_by_use(loaded: &LoadedPtx, kernel: &str) -> Vec<usize> {
    let module = loaded.module();
    let Some((_, function)) = module.function(kernel) else { return Vec::new() };
    let parameters = function.params.iter().enumerate();
    let candidates: Vec<usize> =
        parameters.filter(|(_, param)| param.size == 8 && param.array.is_none()).map(|(i, _)| i).collect();
    candidates.into_iter().filter(|index| super::summary::is_address(module, function, *index)).collect()
}

/// A prefix for registers that no name of the text contains.
fn prefix(text: &str) -> String {
    let mut number = 0;
    loop {
        let prefix = if number == 0 { "sg_".to_owned() } else { format!("sg{number}_") };
        if !text.contains(&prefix) {
            return format!("%{prefix}");
        }
        number += 1;
    }
}

/// A device function with local variables of its own may hand their addresses to what it calls, which would not know
/// them.
fn refuse_locals(function: &Function) -> Result<(), Refused> {
    if function.kind == FunctionKind::Kernel {
        return Ok(());
    }
    for inst in &function.code {
        match &inst.op {
            Op::Call(call) if !function.locals.is_empty() && matches!(call.target, CallTarget::Direct(_)) => {
                return Err(Refused::inst(inst, "a call from a function with local variables"));
            }
            Op::AddressOf { symbol: Symbol::Param(..), .. } => {
                return Err(Refused::inst(inst, "the address of a device function's parameter"));
            }
            _ => {}
        }
    }
    Ok(())
}

/// Instructions by where they begin, those of inner scopes too.
fn collect<'a, 's>(
    statements: &'a [Statement<'s>],
    outermost: bool,
    stretch: &mut u32,
    found: &mut HashMap<u32, Placed<'a, 's>>,
) {
    for statement in statements {
        match statement {
            Statement::Instruction(syntax) => {
                found.insert(syntax.span.start, Placed { syntax, stretch: *stretch, outermost });
            }
            Statement::Block(block) => {
                *stretch += 1;
                collect(&block.statements, false, stretch, found);
                *stretch += 1;
            }
            Statement::Label(_) | Statement::Location(_) | Statement::Pragma(_) => {}
            _ => *stretch += 1,
        }
    }
}

/// The `.global` and `.const` variables that code or an initialiser names.
fn named_variables(module: &Module, functions: &[FunctionId]) -> Vec<VariableId> {
    let mut named = Vec::new();
    let mut add = |id: VariableId| {
        let space = module.variables.get(id.0 as usize).map(|variable| variable.space);
        if matches!(space, Some(Space::Global | Space::Const)) && !named.contains(&id) {
            named.push(id);
        }
    };
    let functions = functions.iter().filter_map(|id| module.functions.get(id.0 as usize));
    for inst in functions.flat_map(|function| &function.code) {
        inst.op.for_each_symbol(|symbol| {
            if let Symbol::Variable(id) = symbol {
                add(id);
            }
        });
    }
    for relocation in
        module.variables.iter().filter_map(|v| v.initializer.as_ref()).flat_map(|i| &i.relocations)
    {
        if let RelocationTarget::Variable(id) | RelocationTarget::Generic(id) = relocation.target {
            add(id);
        }
    }
    named
}

/// The shared variables of a kernel, which it must be able to name at its entry.
fn shared_names(
    source: &Source,
    syntax: &ast::Module<'_>,
    module: &Module,
    kernel: &Function,
    body: Option<&ast::Function<'_>>,
) -> Result<SharedNames, Refused> {
    let mut visible: HashSet<Span> = syntax.variables().map(|variable| variable.name.span).collect();
    let statements = body.and_then(|f| f.body.as_ref()).map_or(&[][..], |body| &body.statements);
    for statement in statements {
        match statement {
            Statement::Variable(variable) => {
                visible.insert(variable.name.span);
            }
            Statement::Instruction(_) | Statement::Label(_) | Statement::Block(_) => break,
            _ => {}
        }
    }
    let mut names = SharedNames::default();
    for id in &kernel.shared.variables {
        let Some(variable) = module.variables.get(id.0 as usize) else { continue };
        if !visible.contains(&variable.span) {
            let what =
                format!("shared variable `{}`, declared where the kernel cannot name it", variable.name);
            return Err(Refused::at(source, variable.span, what));
        }
        names.fixed.push((variable.name.clone(), variable.size));
    }
    if kernel.shared.uses_dynamic {
        let dynamic = module.variables.iter().find(|v| v.is_dynamic_shared() && visible.contains(&v.span));
        match dynamic {
            Some(variable) => names.dynamic = Some(variable.name.clone()),
            None => {
                let what = "dynamic shared memory, declared where the kernel cannot name it";
                return Err(Refused::at(source, kernel.span, what));
            }
        }
    }
    Ok(names)
}

/// Functions whose addresses initialisers hold, and what those call.
fn tabled(module: &Module) -> HashSet<&str> {
    let relocations =
        module.variables.iter().filter_map(|v| v.initializer.as_ref()).flat_map(|i| &i.relocations);
    let mut work: Vec<FunctionId> = relocations
        .filter_map(|relocation| match relocation.target {
            RelocationTarget::Function(id) => Some(id),
            _ => None,
        })
        .collect();
    let mut names = HashSet::new();
    while let Some(id) = work.pop() {
        let Some(function) = module.functions.get(id.0 as usize) else { continue };
        if names.insert(function.name.as_str()) {
            work.extend(function.code.iter().filter_map(|inst| match &inst.op {
                Op::Call(call) => match call.target {
                    CallTarget::Direct(callee) => Some(callee),
                    _ => None,
                },
                _ => None,
            }));
        }
    }
    names
}

/// Takes out what the kernel does not use: other kernels and functions, and debug data about them. Gives declarations
/// of the functions that stay their new parameter.
fn leave_out(
    source: &Source,
    syntax: &ast::Module<'_>,
    module: &Module,
    kept: &HashSet<&str>,
    prefix: &str,
    kernel: &str,
    edits: &mut Edits,
) -> Result<(), Refused> {
    let tabled = tabled(module);
    // without its sections a module must not promise them
    for pair in syntax.targets.windows(2) {
        if pair[1].text == "debug" {
            edits.remove(source, Span::new(pair[0].span.end, pair[1].span.end));
        }
    }
    for item in &syntax.items {
        match item {
            Item::Function(function) => {
                let name = function.name.text;
                let defined = module.function(name).is_some_and(|(_, f)| f.defined);
                if tabled.contains(name) && kept.contains(name) {
                    return Err(Refused::at(
                        source,
                        function.name.span,
                        "a function that is called and stands in a table",
                    ));
                } else if !defined || tabled.contains(name) {
                    // what the device provides; what a table names, though the kernel calls nothing through one
                } else if !kept.contains(name) {
                    edits.remove(source, function.span);
                } else if name != kernel {
                    append(edits, function, &format!(", .param .b64 {prefix}in"));
                } else if function.body.is_none() {
                    edits.remove(source, function.span);
                }
            }
            // `.loc` names inlined functions by labels in this one
            Item::Section(section) if section.name.text != "debug_str" => edits.remove(source, section.span),
            Item::Alias(alias) => return Err(Refused::at(source, alias.span, "`.alias`")),
            _ => {}
        }
    }
    Ok(())
}

/// Does `inst` load the parameter `index` whole?
pub(super) fn loads_parameter(op: &Op, index: usize) -> bool {
    match op {
        Op::Load(load) => {
            load.space == Space::Param
                && load.address.base == AddressBase::Symbol(Symbol::Param(ParamBlock::In, index as u32))
        }
        _ => false,
    }
}
