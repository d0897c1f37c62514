//! Programs that the compiler must refuse, in `tests/refused/` with its words beside each, and what to write instead,
//! in `tests/accepted/` under the same name. New cases are files; nothing is listed here but the clauses to cover.
//! A twin is listed in `tests/accepted/main.rs`. The words are written anew by
//! `TRYBUILD=overwrite cargo test --test refused`, and are to be read then.

use std::collections::BTreeSet;
use std::path::Path;

/// What the library promises that the compiler refuses, and the prefix of the files that show it. Files that begin with
/// `b` are ways around these promises that somebody thought of.
const CLAUSES: &[(&str, &str)] = &[
    ("a buffer is returned from `with`", "a01_buffer_returned_from_with"),
    ("an array is returned from `with`", "a01_array_returned_from_with"),
    ("a buffer is stored in an outer variable", "a01_stored_in_outer_variable"),
    ("an array is stored in an outer variable", "a01_array_stored_in_outer_variable"),
    ("a buffer is sent to `thread::spawn`", "a01_sent_to_thread_spawn"),
    ("an array is kept beyond `alloc_pitched`", "a01_kept_beyond_alloc_pitched"),
    ("reset while a scope is open", "a02_reset_while_scope_open"),
    ("reset while a buffer lives", "a02_reset_while_buffer_lives"),
    ("reset while an array lives", "a02_reset_while_array_lives"),
    ("reset while a module lives", "a02_reset_while_module_lives"),
    ("reset while a kernel lives", "a02_reset_while_kernel_lives"),
    ("reset while a stream lives", "a02_reset_while_stream_lives"),
    ("reset while an event lives", "a02_reset_while_event_lives"),
    ("a buffer of one device with the context of another", "a03_buffer_with_another_context"),
    ("a buffer of one device with a kernel of another", "a03_buffer_to_another_kernel"),
    ("a kernel of one device launched on another", "a03_kernel_on_another_device"),
    ("a buffer of one device with a stream of another", "a03_buffer_to_another_stream"),
    ("a buffer of one device in a copy of another", "a03_buffer_to_another_copy"),
    ("`mem::swap` of arrays of two allocation scopes", "a04_swap_arrays_of_two_scopes"),
    ("`mem::swap` of pitched arrays of two allocation scopes", "a04_swap_pitched_arrays_of_two_scopes"),
    ("`mem::swap` of two contexts", "a04_swap_two_contexts"),
    ("`mem::swap` of two open devices", "a04_swap_two_open_devices"),
    ("one array as `Read` and `ReadWrite` of a launch", "a05_one_array_read_and_written"),
    ("one buffer as `Read` and `ReadWrite` of a launch", "a05_one_buffer_read_and_written"),
    ("two overlapping mutable views", "a05_overlapping_mutable_views"),
    ("two overlapping mutable views of rows", "a05_overlapping_mutable_rows"),
    ("a host slice changed under a queued copy", "a06_host_slice_changed"),
    ("a host slice dropped under a queued copy", "a06_host_slice_dropped"),
    ("a host slice moved under a queued copy", "a06_host_slice_moved"),
    ("a host slice read before the queued copy wrote it", "a06_host_slice_read_before_its_copy"),
    ("a queued copy from a temporary", "a06_copy_from_a_temporary"),
    ("a launch with a wrong float width", "a07_wrong_scalar_width"),
    ("a launch with a wrong integer width", "a07_wrong_integer_width"),
    ("a launch with a wrong element type", "a07_wrong_element_type"),
    ("a launch with too few arguments", "a07_too_few_arguments"),
    ("a launch with too many arguments", "a07_too_many_arguments"),
    ("a launch with a wrong mutability", "a07_wrong_mutability"),
    ("a host slice, or no tuple, in a signature", "a07_slice_in_a_signature"),
    ("a module after its scope", "a08_module_after_its_scope"),
    ("a kernel after its scope", "a08_kernel_after_its_scope"),
    ("elements of `bool`", "a09_bool_elements"),
    ("elements of `&T`", "a09_reference_elements"),
    ("elements of `String`", "a09_string_elements"),
    ("a context's `'ctx` shortened", "a10_context_shortened"),
    ("a buffer's `'ctx` shortened", "a10_buffer_shortened"),
    ("`'ctx` lengthened", "a10_context_lengthened"),
    ("an allocation's `'s` shortened", "a10_array_scope_shortened"),
];

/// What the compiler may say: a lifetime, a borrow, a move, a trait, a missing item, or an assertion.
const INTENDED: &[&str] = &[
    "error: lifetime may not live long enough",
    "error[E0080]", // an assertion evaluated by the compiler
    "error[E0133]", // unsafe function called
    "error[E0277]", // trait not implemented
    "error[E0382]", // used after it was moved
    "error[E0499]", // borrowed mutably twice
    "error[E0502]", // borrowed mutably and shared
    "error[E0505]", // moved while borrowed
    "error[E0506]", // assigned while borrowed
    "error[E0521]", // escapes the closure
    "error[E0596]", // borrowed mutably through a shared borrow
    "error[E0597]", // does not live long enough
    "error[E0599]", // no such method
    "error[E0716]", // temporary dropped while borrowed
];

/// May stand beside an intended one: a sealed trait's methods cannot be written either.
const BESIDE: &str = "error[E0046]";

/// The names without extension of the files in a directory of tests that have this extension.
fn stems(directory: &str, extension: &str) -> BTreeSet<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(directory);
    let entries = std::fs::read_dir(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    entries
        .map(|entry| entry.expect("the directory is readable").path())
        .filter(|path| path.extension().is_some_and(|found| found == extension))
        .filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned()))
        .collect()
}

#[test]
fn refused_programs_do_not_compile() {
    // Only checked, which takes seconds; a program that were to pass in here would have all of them built.
    trybuild::TestCases::new().compile_fail("tests/refused/*.rs");
}

#[test]
fn the_compilers_words_stand_beside_every_program() {
    assert_eq!(
        stems("refused", "rs"),
        stems("refused", "stderr"),
        "TRYBUILD=overwrite cargo test --test refused"
    );
}

#[test]
fn every_clause_is_shown() {
    let shown: BTreeSet<_> =
        stems("refused", "rs").into_iter().filter(|name| !name.starts_with("b_")).collect();
    let clauses: BTreeSet<_> = CLAUSES.iter().map(|(_, file)| (*file).to_owned()).collect();
    assert_eq!(clauses.len(), CLAUSES.len(), "a file shows one clause");
    assert_eq!(shown, clauses);
}

#[test]
fn refusals_are_the_intended_ones() {
    for name in stems("refused", "stderr") {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/refused/{name}.stderr"));
        let words = std::fs::read_to_string(&path).expect("listed just now");
        let errors: Vec<_> = words.lines().filter(|line| line.starts_with("error")).collect();
        let intended = |line: &&str| INTENDED.iter().any(|known| line.starts_with(known));
        assert!(errors.iter().any(intended), "{name}: no intended refusal in {errors:?}");
        let others: Vec<_> =
            errors.iter().filter(|line| !intended(line) && !line.starts_with(BESIDE)).collect();
        assert!(others.is_empty(), "{name}: {others:?}");
        let place = format!("tests/refused/{name}.rs:");
        assert!(
            words.contains(&format!("--> {place}")),
            "{name}: the error is in the program, not beside it"
        );
    }
}

/// Compiles only if the handles may be shared with, and sent to, threads that end inside their scopes.
#[test]
fn handles_may_cross_threads() {
    use scoped_gpu::{
        Buffer, Context, Device, Error, Event, Kernel, Linear, Module, Pending, Pinned, Pitched, PitchedView,
        PitchedViewMut, RectView, RectViewMut, Stream, Streams, View, ViewMut,
    };

    fn crosses<T: Send + Sync>() {}
    crosses::<Device>();
    crosses::<Error>();
    crosses::<Context>();
    crosses::<(Linear<f32>, Pitched<f32>, Buffer<f32>, Pinned<f32>)>();
    crosses::<(
        View<f32>,
        ViewMut<f32>,
        PitchedView<f32>,
        PitchedViewMut<f32>,
        RectView<f32>,
        RectViewMut<f32>,
    )>();
    crosses::<(Module, Kernel<(f32,)>)>();
    crosses::<(Streams, Stream, Event, Pending<[f32]>)>();
}
