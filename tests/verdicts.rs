//! The example `verdicts` as its users meet it: nothing that the reference proves is left to be checked, and a reference
//! that proves more is noticed.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The built example. `cargo test` builds it; `cargo test --test verdicts` alone does not.
fn program() -> PathBuf {
    let test = std::env::current_exe().expect("this test has a path");
    let profile = test.ancestors().nth(2).expect("target/PROFILE/deps/verdicts-…");
    let program = profile.join("examples").join(format!("verdicts{}", std::env::consts::EXE_SUFFIX));
    assert!(program.exists(), "not built; run `cargo build --example verdicts` first");
    program
}

fn verdicts(table: Option<&Path>) -> (Option<i32>, String) {
    let Output { status, stdout, stderr } =
        Command::new(program()).args(table).output().expect("the example starts");
    let said = [stdout, stderr].map(|bytes| String::from_utf8(bytes).expect("UTF-8")).concat();
    (status.code(), said)
}

/// A table in a file of its own, and what is said of it.
fn of_table(name: &str, table: &str) -> (Option<i32>, String) {
    let file = std::env::temp_dir().join(format!("verdicts-{}-{name}.txt", std::process::id()));
    std::fs::write(&file, table).expect("written");
    let answer = verdicts(Some(&file));
    std::fs::remove_file(&file).expect("removed");
    answer
}

/// The reference proves 948 of 977 accesses: 128 of 143 of the measured kernels, 482 of 495 of nvcc's others, 80 of 80
/// of Triton's, 258 of 259 of numba's.
#[test]
fn the_reference_proves_nothing_that_is_not_proved() {
    let (status, said) = verdicts(None);
    assert_eq!(status, Some(0), "{said}");
    let totals: Vec<Vec<&str>> = said.lines().map(|line| line.split_whitespace().collect()).collect();
    for (suite, accesses, reference) in [
        ("checks", 143, 128),
        ("common", 495, 482),
        ("triton", 80, 80),
        ("numba", 259, 258),
        ("all", 977, 948),
    ] {
        let row = totals.iter().find(|words| words.first() == Some(&suite) && words.len() == 3);
        let Some([_, proved, by_reference]) = row.map(Vec::as_slice) else { panic!("{suite}:\n{said}") };
        let (proved, of) = proved.split_once('/').expect("PROVED/ACCESSES");
        assert_eq!((of, *by_reference), (&*accesses.to_string(), &*reference.to_string()), "{said}");
        assert!(proved.parse::<usize>().expect("a number") >= reference, "{said}");
    }
}

/// `saxpy` over one element more than its arrays have.
const TOO_LONG: &str = "\
kernel checks nvcc/checks_sm90.ptx saxpy 4,1,1 256,1,1 0 0=1001 2=buffer:4000:256 3=buffer:4000:256
49 ok
51 open
53 ok
";

#[test]
fn what_only_the_reference_proves_is_named_and_ends_with_status_1() {
    let (status, said) = of_table("too-long", TOO_LONG);
    assert_eq!(status, Some(1), "{said}");
    assert!(said.contains("line 49: reference: ok; here: 4-byte load (global memory): checked"), "{said}");
    assert!(!said.contains("line 51"), "both leave it open:\n{said}");
    assert!(said.contains("2 accesses are proved by the reference only"), "{said}");
}

#[test]
fn what_the_reference_leaves_open_may_be_proved() {
    let (status, said) = of_table("right", &TOO_LONG.replace("0=1001", "0=1000"));
    assert_eq!(status, Some(0), "{said}");
    assert!(said.contains("line 51: reference: open; here: 4-byte load (global memory): proved"), "{said}");
}

#[test]
fn a_table_that_cannot_be_read_is_an_error_with_its_line() {
    let (status, said) =
        of_table("broken", "# a launch\nkernel checks nvcc/checks_sm90.ptx saxpy 4,1 256,1,1 0\n");
    assert_eq!(status, Some(1), "{said}");
    assert!(said.contains("line 2 cannot be read: kernel checks"), "{said}");
    let (status, said) = of_table("missing", "kernel checks nvcc/checks_sm90.ptx sax 4,1,1 256,1,1 0\n");
    assert_eq!(status, Some(1), "{said}");
    assert!(said.contains("there is no such kernel"), "{said}");
}
