//! Layers: a module imports only modules that stand before it in one list.

use super::source::{Source, sources};

/// Modules, lowest first, under the layers' names. A name stands for all that is below it and not listed itself; an
/// item that a module re-exports from another layer is listed by its own name.
const ORDER: &[(&str, &[&str])] = &[
    ("words", &["dim", "fault", "error", "extent", "element", "statistics", "verdict"]),
    ("text", &["ptx"]),
    ("contract", &["backend"]),
    ("devices", &["backend::host", "backend::cuda"]),
    (
        "choice",
        &[
            "pool",
            "device::leaks",
            "device::LeakKind",
            "device::LeakReport",
            "device::shared",
            "device::Shared",
            "device::MemoryStatistics",
        ],
    ),
    // `Device` opens scopes, so the rest of `device` stands above the context that it hands out.
    ("scope", &["context", "device"]),
    ("nouns", &["memory", "kernel", "stream"]),
    (
        "verbs",
        &[
            "transfer",
            "kernel::launch",
            "kernel::Launch",
            "kernel::queue",
            "kernel::verdict",
            "stream::queued",
        ],
    ),
    ("edges", &["kernels", "guide", "prelude", "lib"]),
];

/// Imports against the order: from, what, why.
const EXCEPTIONS: &[(&str, &str, &str)] = &[(
    "device::shared",
    "context::core::lock",
    "two lines that every holder of a lock shares; no state, no layer",
)];

/// Who may name a device's own module: everybody else goes through the contract.
const OPENS_DEVICES: &[&str] = &["backend", "device", "device::choice"];

/// Position in [`ORDER`] of the longest listed name that `path` begins with.
fn rank(path: &str) -> Option<(usize, &'static str)> {
    ORDER
        .iter()
        .flat_map(|(_, modules)| *modules)
        .enumerate()
        .filter(|(_, name)| {
            path.strip_prefix(**name).is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
        })
        .max_by_key(|(_, name)| name.len())
        .map(|(rank, name)| (rank, *name))
}

/// Every path that the code of a file names from the crate's root, whether it begins with `crate`, `super` or `self`.
fn imports(source: &Source) -> Vec<String> {
    let module = source.module();
    let code = source.product_code();
    let mut found = Vec::new();
    for (keyword, base) in [("crate", ""), ("super", parent(&module)), ("self", module.as_str())] {
        let start = format!("{keyword}::");
        for (at, _) in code.match_indices(&start) {
            let before = code[..at].chars().next_back();
            // `self::` inside a longer path, and `super::super::`, begin elsewhere.
            if before.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == ':') {
                continue;
            }
            tree(base, &code[at + start.len()..], &mut found);
        }
    }
    found
}

/// The module around a module.
fn parent(module: &str) -> &str {
    module.rsplit_once("::").map_or("", |(parent, _)| parent)
}

/// The leaves of a use tree that follows `base::`.
fn tree(base: &str, code: &str, found: &mut Vec<String>) {
    let code = code.trim_start();
    let joined = |name: &str| if base.is_empty() { name.to_owned() } else { format!("{base}::{name}") };
    if code.starts_with('{') {
        let inside = super::source::braced(code);
        let mut depth = 0_usize;
        for part in inside[1..inside.len() - 1].split(|c| {
            match c {
                '{' => depth += 1,
                '}' => depth -= 1,
                _ => {}
            }
            c == ',' && depth == 0
        }) {
            if !part.trim().is_empty() {
                tree(base, part, found);
            }
        }
        return;
    }
    let name: String = code.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
    match code[name.len()..].strip_prefix("::") {
        Some(rest) if name == "super" => tree(parent(base), rest, found),
        Some(rest) => tree(&joined(&name), rest, found),
        None => found.push(joined(&name)),
    }
}

#[test]
fn use_trees_are_read() {
    let code = "use crate::{a::{B, c::D}, e}; use super::F; use self::g::H; fn f() { crate::i::j() }";
    let source =
        Source { path: "m/n.rs".to_owned(), text: code.to_owned(), code: super::source::blanked(code) };
    assert_eq!(imports(&source), ["a::B", "a::c::D", "e", "i::j", "m::F", "m::n::g::H"]);
}

#[test]
fn lower_layers_do_not_import_higher_ones() {
    let mut wrong = Vec::new();
    let mut excepted = Vec::new();
    for source in sources().iter().filter(|source| !source.is_test()) {
        let module = source.module();
        let Some((from, _)) = rank(&module) else {
            wrong.push(format!("{} is in no layer", source.path));
            continue;
        };
        for import in imports(source) {
            // What `lib.rs` re-exports at the root belongs to the edges.
            let (to, name) = rank(&import).unwrap_or((usize::MAX, "lib"));
            if to <= from || module == "lib" || (name == "lib" && module == "prelude") {
                continue;
            }
            match EXCEPTIONS.iter().position(|(user, used, _)| *user == module && *used == import) {
                Some(exception) => excepted.push(exception),
                None if same_module(&module, &import) => {}
                None => wrong.push(format!("{} imports `{import}` of the higher `{name}`", source.path)),
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    for (index, (user, used, _)) in EXCEPTIONS.iter().enumerate() {
        assert!(
            excepted.contains(&index),
            "`{user}` does not import `{used}` any more: take the exception out"
        );
    }
}

/// Whether a `mod.rs` names what is directly below it, to declare and re-export it.
fn same_module(module: &str, import: &str) -> bool {
    import.strip_prefix(module).is_some_and(|rest| rest.starts_with("::"))
}

#[test]
fn only_the_choice_of_devices_names_one() {
    for source in sources().iter().filter(|source| !source.is_test()) {
        let module = source.module();
        if module.starts_with("backend::host") || OPENS_DEVICES.contains(&module.as_str()) {
            continue;
        }
        let named: Vec<_> =
            imports(source).into_iter().filter(|import| import.starts_with("backend::host")).collect();
        assert!(named.is_empty(), "{} names {named:?}", source.path);
    }
}
