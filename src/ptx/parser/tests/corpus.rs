//! All that nvcc, numba and Triton wrote is read, and nothing of it is lost.

use super::{corpus, instructions, parsed, source};
use crate::ptx::ast::{Function, Item};
use crate::ptx::signature::KernelSignature;

/// The text without its line comments, for counting words in it. The corpus has no others.
fn without_comments(text: &str) -> String {
    text.lines().map(|line| line.split("//").next().unwrap_or("")).collect::<Vec<_>>().join("\n")
}

fn count(text: &str, needle: &str) -> usize {
    let starts_word = |at: usize| {
        let before = text[..at].chars().next_back();
        before.is_none_or(|character| !character.is_alphanumeric() && !"_.$%".contains(character))
    };
    text.match_indices(needle).filter(|&(at, _)| starts_word(at)).count()
}

#[test]
fn every_file_parses_and_every_kernel_has_a_signature() {
    let files = corpus();
    assert_eq!(files.len(), 10);
    for (name, text) in files {
        let entries = count(&without_comments(&text), ".visible .entry");
        let source = source(text);
        let module = parsed(&source);
        assert!(!module.items.iter().any(|item| matches!(item, Item::Unknown(_))), "{name}");
        assert_eq!(KernelSignature::all(&module).unwrap().len(), entries, "{name}");
        assert_eq!((module.address_size, module.targets[0].text.starts_with("sm_")), (64, true), "{name}");
    }
}

#[test]
fn instructions_are_as_many_as_a_text_search_finds() {
    for (name, text) in corpus() {
        let plain = without_comments(&text);
        let source = source(text);
        let module = parsed(&source);
        let mut all = Vec::new();
        for body in module.functions().filter_map(|function: &Function<'_>| function.body.as_ref()) {
            instructions(body, &mut all);
        }
        for (needle, opcode, first) in [
            ("ld.param.", "ld", Some("param")),
            ("ld.global.", "ld", Some("global")),
            ("st.global.", "st", Some("global")),
            ("ld.shared.", "ld", Some("shared")),
            ("fma.rn.", "fma", Some("rn")),
            ("mad.lo.", "mad", Some("lo")),
            ("setp.", "setp", None),
            ("bra", "bra", None),
            ("ret;", "ret", None),
            ("call", "call", None),
            ("shfl.", "shfl", None),
            ("atom.", "atom", None),
            ("cvta.", "cvta", None),
        ] {
            let matches = all.iter().filter(|instruction| {
                let modifier = instruction.modifiers.iter().next().map(|modifier| modifier.text);
                instruction.opcode.text == opcode && (first.is_none() || first == modifier)
            });
            assert_eq!(matches.count(), count(&plain, needle), "{name}: {needle}");
        }
    }
}
