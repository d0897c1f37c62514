//! The crate as others meet it: a program outside of it that has one dependency, on a machine that has Rust and nothing
//! else. What such a program is built from, what it is linked to, and that the README's first one runs.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// What points builds and programs to a toolkit or a driver in an unusual place, or to a device.
const POINTERS: [&str; 6] =
    ["CUDA_PATH", "CUDA_HOME", "CUDA_ROOT", "CUDA_LIBRARY_PATH", "LD_LIBRARY_PATH", "SCOPED_GPU_DEVICE"];

/// The first program on the README.
fn first_program() -> String {
    let readme = std::fs::read_to_string(Path::new(ROOT).join("README.md")).expect("it is there");
    let (_, rest) = readme.split_once("```rust\n").expect("it has a program");
    let (program, _) = rest.split_once("```").expect("the program ends");
    program.to_owned()
}

/// A package with this one as its only dependency, and the README's first program as its own.
fn package() -> PathBuf {
    let package = Path::new(env!("CARGO_TARGET_TMPDIR")).join("outside");
    std::fs::create_dir_all(package.join("src")).expect("there is room");
    let write = |name: &str, text: String| std::fs::write(package.join(name), text).expect("there is room");
    let head = "[package]\nname = \"outside\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[workspace]\n";
    write("Cargo.toml", format!("{head}\n[dependencies]\nscoped-gpu = {{ path = '{ROOT}' }}\n"));
    write("src/main.rs", first_program());
    // The versions that were tested, which are on this machine.
    let lock =
        std::fs::read_to_string(Path::new(ROOT).join("Cargo.lock")).expect("it is part of the project");
    write("Cargo.lock", lock);
    package
}

fn output(command: &mut Command) -> Output {
    POINTERS.iter().for_each(|name| _ = command.env_remove(name));
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {}\n{said}", output.status);
    output
}

fn cargo(package: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    // Without debug information it is built faster; nobody looks at it.
    command
        .env("CARGO_PROFILE_DEV_DEBUG", "0")
        .env("CARGO_TARGET_DIR", package.join("target"))
        .current_dir(package);
    output(command.arg(arguments[0]).arg("--offline").args(&arguments[1..]))
}

/// The libraries that a program is linked to, and those that they are. The loader prints them instead of running it.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn libraries(program: &Path) -> Vec<String> {
    let listed = output(Command::new(program).env("LD_TRACE_LOADED_OBJECTS", "1"));
    let listed = String::from_utf8(listed.stdout).expect("names are UTF-8");
    let name = |line: &str| {
        let path = line.split_whitespace().next().unwrap_or_default();
        path.rsplit('/').next().unwrap_or_default().split(".so").next().unwrap_or_default().to_owned()
    };
    listed.lines().map(name).collect()
}

/// The C library and what it consists of, the compiler's own, the loader, the kernel's page.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[track_caller]
fn is_linked_to_nothing_else(program: &Path) {
    let libraries = libraries(program);
    assert!(libraries.iter().any(|name| name == "libc"), "{libraries:?}");
    let usual = |name: &str| {
        let libc = ["libc", "libm", "libdl", "libpthread", "librt", "libgcc_s", "linux-vdso", "linux-gate"];
        libc.contains(&name) || name.starts_with("ld-linux") || name.starts_with("ld64")
    };
    let others: Vec<_> = libraries.iter().filter(|name| !usual(name)).collect();
    assert!(others.is_empty(), "{}: {others:?}", program.display());
}

/// Acceptance 20, 39, 41: one line in `Cargo.toml`, the README's first program; it runs to its end, with the default
/// device open until then. Of all the packages that it is built from none is a native library's, and it is linked to the
/// C library alone.
#[test]
fn the_readmes_first_program_with_one_dependency() {
    let package = package();
    let ran = cargo(&package, &["run", "--quiet"]);
    assert!(ran.stdout.is_empty() && ran.stderr.is_empty(), "{ran:?}");
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    is_linked_to_nothing_else(&package.join("target/debug/outside"));

    // For this machine: packages for others need not be here.
    let compiler = output(Command::new("rustc").arg("-vV")).stdout;
    let compiler = String::from_utf8(compiler).expect("rustc writes UTF-8");
    let host = compiler.lines().find_map(|line| line.strip_prefix("host: ")).expect("rustc knows its host");
    let metadata = cargo(&package, &["metadata", "--format-version=1", "--filter-platform", host]);
    let metadata = String::from_utf8(metadata.stdout).expect("cargo writes UTF-8");
    let links: Vec<_> =
        metadata.split("\"links\":\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
    // Which names itself so that there is one pool of threads in a program.
    assert_eq!(links, ["rayon-core"], "packages that say which native library they are for");
    assert!(!Path::new(ROOT).join("build.rs").exists(), "this package has nothing to look for");
}

/// Acceptance 39: each example runs without a driver, a toolkit or a GPU, and is linked to none.
#[cfg(not(feature = "cuda"))]
#[test]
fn each_example_on_a_bare_machine() {
    let test = std::env::current_exe().expect("this test has a path");
    let built = test.ancestors().nth(2).expect("target/PROFILE/deps/outside-…").join("examples");
    let pictures = Path::new(env!("CARGO_TARGET_TMPDIR")).join("pictures");
    std::fs::create_dir_all(&pictures).expect("there is room");
    let denoise = ["--steps=1", "--output", pictures.to_str().expect("a path of UTF-8")];
    let ptxcheck = ["ptx/saxpy.ptx"];
    let examples: [(&str, &[&str], &str); 4] = [
        ("denoise", &denoise, "device"),
        ("fault", &[], "shift_off_by_one"),
        ("ptxcheck", &ptxcheck, "kernel saxpy"),
        ("verdicts", &[], "948"),
    ];
    let there = std::fs::read_dir(Path::new(ROOT).join("examples")).expect("it is there");
    let there = there.filter_map(|entry| Some(entry.ok()?.path().file_stem()?.to_str()?.to_owned()));
    let there: std::collections::BTreeSet<_> = there.filter(|name| name != "data").collect();
    assert_eq!(there, examples.iter().map(|(name, ..)| (*name).to_owned()).collect(), "all are run");
    for (name, arguments, says) in examples {
        let program = built.join(format!("{name}{}", std::env::consts::EXE_SUFFIX));
        assert!(program.exists(), "not built; run `cargo build --examples` first");
        let ran = output(Command::new(&program).args(arguments).current_dir(ROOT));
        let said = [ran.stdout, ran.stderr].concat();
        let said = String::from_utf8_lossy(&said);
        assert!(said.contains(says), "{name} says: {said}");
        #[cfg(all(target_os = "linux", target_env = "gnu"))]
        is_linked_to_nothing_else(&program);
    }
}
