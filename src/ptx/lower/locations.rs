//! `.loc` directives: the table of source places, and the names of inlined functions, which stand as
//! bytes in the debug string section.

use std::collections::HashMap;

use crate::ptx::ast;
use crate::ptx::ir::{Inlined, Location, LocationId};
use crate::ptx::source::Source;

/// The table under construction.
pub(super) struct Locations<'a, 'src> {
    module: &'a ast::Module<'src>,
    source: &'a Source,
    pub table: Vec<Location>,
    /// The newest entry for a place, whatever it is inlined in.
    newest: HashMap<(u32, u32, u32), LocationId>,
    names: HashMap<(&'src str, i64), String>,
}

impl<'a, 'src> Locations<'a, 'src> {
    pub fn new(module: &'a ast::Module<'src>, source: &'a Source) -> Self {
        Self { module, source, table: Vec::new(), newest: HashMap::new(), names: HashMap::new() }
    }

    /// The entry of a `.loc`.
    pub fn add(&mut self, loc: &ast::Location<'src>) -> LocationId {
        let inlined = loc.inlined_at.map(|at| Inlined {
            function: self.function_name(at.function_name.text, at.offset),
            at: self.call_site(at.place),
        });
        self.entry(loc.place, inlined)
    }

    /// The place a body was inlined at: the compiler wrote a `.loc` for it before, which says what that
    /// place is inlined in.
    fn call_site(&mut self, place: ast::SourcePlace) -> LocationId {
        match self.newest.get(&(place.file, place.line, place.column)) {
            Some(id) => *id,
            None => self.entry(place, None),
        }
    }

    fn entry(&mut self, place: ast::SourcePlace, inlined: Option<Inlined>) -> LocationId {
        let ast::SourcePlace { file, line, column } = place;
        let key = (file, line, column);
        if let Some(id) = self.newest.get(&key)
            && self.table[id.0 as usize].inlined == inlined
        {
            return *id;
        }
        let id = LocationId(self.table.len() as u32);
        self.table.push(Location { file, line, column, inlined });
        self.newest.insert(key, id);
        id
    }

    fn function_name(&mut self, label: &'src str, offset: i64) -> String {
        let (module, source) = (self.module, self.source);
        self.names
            .entry((label, offset))
            .or_insert_with(|| {
                debug_string(module, source, label, offset).unwrap_or_else(|| label.to_owned())
            })
            .clone()
    }
}

/// The zero-terminated string `offset` bytes behind a label of a debug section.
fn debug_string(module: &ast::Module<'_>, source: &Source, label: &str, offset: i64) -> Option<String> {
    let bodies = module.items.iter().filter_map(|item| match item {
        ast::Item::Section(section) => Some(source.text(section.body)),
        _ => None,
    });
    for body in bodies {
        let mut lines = body.lines().map(str::trim);
        if !lines.any(|line| line.strip_suffix(':') == Some(label)) {
            continue;
        }
        let bytes = lines
            .filter_map(|line| line.strip_prefix(".b8"))
            .flat_map(|list| list.split(','))
            .map_while(|number| number.trim().parse::<u8>().ok())
            .skip(usize::try_from(offset).ok()?)
            .take_while(|&byte| byte != 0)
            .collect::<Vec<_>>();
        return String::from_utf8(bytes).ok().filter(|name| !name.is_empty());
    }
    None
}
