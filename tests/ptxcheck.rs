//! The example `ptxcheck` as its users meet it: whole outputs, exit statuses, and what it says to wrong arguments.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The built example. `cargo test` builds it; `cargo test --test ptxcheck` alone does not.
fn program() -> PathBuf {
    let test = std::env::current_exe().expect("this test has a path");
    let profile = test.ancestors().nth(2).expect("target/PROFILE/deps/ptxcheck-…");
    let program = profile.join("examples").join(format!("ptxcheck{}", std::env::consts::EXE_SUFFIX));
    assert!(program.exists(), "not built; run `cargo build --example ptxcheck` first");
    program
}

fn ptxcheck(arguments: &[&str]) -> Output {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    Command::new(program()).args(arguments).current_dir(root).output().expect("it starts")
}

#[track_caller]
fn ends(output: &Output, status: i32, stdout: &str, stderr: &str) {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("UTF-8");
    assert_eq!(text(&output.stderr), stderr, "standard error");
    assert_eq!(text(&output.stdout), stdout, "standard output");
    assert_eq!(output.status.code(), Some(status), "exit status");
}

/// It fails with status 2, says nothing on standard output, and says this on standard error.
#[track_caller]
fn refuses(arguments: &[&str], words: &[&str]) {
    let output = ptxcheck(arguments);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(output.stdout.is_empty(), "{}", String::from_utf8_lossy(&output.stdout));
    for word in words {
        assert!(said.contains(word), "`{word}` is not in:\n{said}");
    }
}

/// A kernel that stores one element past the end of its second array.
const SHIFT: [&str; 7] = [
    "ptx/shift_off_by_one.ptx",
    "--kernel=shift_off_by_one",
    "--grid=4",
    "--block=256",
    "--arg=read:f32[1000]=ramp",
    "--arg=f32[1000]",
    "--arg=u32=1000",
];

#[test]
fn a_file_is_listed() {
    let expected = "\
saxpy.ptx: PTX 9.0 for sm_75, 64-bit addresses

kernel saxpy
   0  saxpy_param_0  f32, 4 bytes
   1  saxpy_param_1  u64, 8 bytes, an array or a number
   2  saxpy_param_2  u64, 8 bytes, an array or a number
   3  saxpy_param_3  u32, 4 bytes

kernel daxpy
   0  daxpy_param_0  f64, 8 bytes
   1  daxpy_param_1  u64, 8 bytes, an array or a number
   2  daxpy_param_2  u64, 8 bytes, an array or a number
   3  daxpy_param_3  u32, 4 bytes

the host device executes all of it
";
    ends(&ptxcheck(&["ptx/saxpy.ptx"]), 0, expected, "");
}

#[test]
fn what_is_not_supported_is_listed_with_its_line() {
    let file = std::env::temp_dir().join(format!("ptxcheck-{}-unsupported.ptx", std::process::id()));
    let text = "\
.version 8.0
.target sm_90a
.address_size 64
.extern .func elsewhere ();
.visible .entry k(.param .b32 x)
{
    .shared .b32 s[64];
    .reg .b32 address;
    mov.u32 address, s;
    wgmma.fence.sync.aligned;
    call elsewhere, ();
    ret;
}
";
    std::fs::write(&file, text).expect("written");
    let output = ptxcheck(&[&file.display().to_string()]);
    std::fs::remove_file(&file).expect("removed");
    let expected = format!(
        "\
{}: PTX 8.0 for sm_90a, 64-bit addresses

kernel k
   0  x  b32, 4 bytes
  256 bytes of shared memory

not supported by the host device; reaching one is a fault
  line 10: wgmma.fence.sync.aligned (in `k`)
  line 11: call of `elsewhere`, which the file only declares (in `k`)
",
        file.file_name().expect("named").display()
    );
    ends(&output, 0, &expected, "");
}

/// Counted by hand from `ptx/saxpy.ptx`: all 32 threads run 4 loads of parameters, 3 `mov`, `mad`, `setp` and `ret`; the
/// 12 out of range the branch; the 20 in range 10 more. Three of the four warps begin to run these; of the third, half
/// the threads do, and the other half the branch.
#[test]
fn a_clean_run_prints_results_and_statistics() {
    let output = ptxcheck(&[
        "ptx/saxpy.ptx",
        "--kernel=saxpy",
        "--grid=4",
        "--block=8",
        "--arg=f32=2",
        "--arg=read:f32[20]=ramp",
        "--arg=f32[20]=1",
        "--arg=u32=20",
    ]);
    let said = String::from_utf8(output.stdout).expect("UTF-8");
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let results = "\
kernel saxpy: grid (4, 1, 1), block (8, 1, 1): no fault

  argument 1 `saxpy_param_1`: f32[20]
    0, 1, 2, 3, … 16, 17, 18, 19
    min 0, max 19, mean 9.5, checksum ";
    assert!(said.starts_with(results), "{said}");
    // 2 x + 1 for x from 0 to 19
    assert!(
        said.contains("f32[20]\n    1, 3, 5, 7, … 33, 35, 37, 39\n    min 1, max 39, mean 20, "),
        "{said}"
    );
    let statistics = "

               4  blocks
             532  thread instructions
             168     31.6 %  ld
              96     18.0 %  mov (special register)
              92     17.3 %  integer arithmetic
              40      7.5 %  cvta, isspacep
              40      7.5 %  float arithmetic
              32      6.0 %  call, ret, exit
              32      6.0 %  setp, set
              20      3.8 %  st
              12      2.3 %  bra
              74  warp instructions
              11     14.9 %  by a part of the warp
             928  bytes loaded
              80  bytes stored
";
    assert!(said.ends_with(statistics), "{said}");
}

#[test]
fn a_fault_is_reported_and_ends_with_status_1() {
    let output = ptxcheck(&SHIFT);
    let expected = "\
error: kernel `shift_off_by_one`: 4-byte store (global memory) out of range
  --> shift_off_by_one.ptx:52:2
   |
52 |     st.global.f32     [%rd8], %f1;
   |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
   |
   = note: buffer `shift_off_by_one_param_1` (argument 1, 4000 bytes): the access begins 0 bytes past its end
";
    let said = String::from_utf8(output.stderr).expect("UTF-8");
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(output.stdout.is_empty());
    let start: String = said.lines().take(7).map(|line| format!("{line}\n")).collect();
    assert_eq!(start, expected, "{said}");
    assert!(
        said.contains("block (3, 0, 0), thread (231, 0, 0), compiled from shift_off_by_one.cu:8"),
        "{said}"
    );
    assert!(!said.contains("launched at"), "the program's own line is no help:\n{said}");
}

#[test]
fn a_write_to_an_array_for_reading_is_a_fault() {
    let mut arguments = SHIFT.to_vec();
    arguments[5] = "--arg=read:f32[1000]";
    let output = ptxcheck(&arguments);
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("memory that the launch may only read"), "{said}");
}

#[test]
fn arrays_go_through_numpy_files() {
    let folder = std::env::temp_dir();
    let name = |what: &str| folder.join(format!("ptxcheck-{}-{what}.npy", std::process::id()));
    let (first, second) = (name("first"), name("second"));
    let scale = |array: &str, save: &Path| {
        let arguments =
            ["ptx/scale.ptx", "--kernel=scale", "--block=4", "--arg", array, "--arg=f32=3", "--arg=u32=4"];
        let save = format!("--save=scale_param_0={}", save.display());
        let output = ptxcheck(&[&arguments[..], &[&save]].concat());
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).expect("UTF-8")
    };
    assert!(scale("f32[4]=ramp", &first).contains("\n    0, 3, 6, 9\n"));
    // a header of 128 bytes, then the elements (NumPy's format 1.0)
    let bytes = std::fs::read(&first).expect("saved");
    assert!(bytes.starts_with(b"\x93NUMPY\x01\x00"));
    let elements: Vec<u8> = [0.0_f32, 3.0, 6.0, 9.0].iter().flat_map(|value| value.to_le_bytes()).collect();
    assert!(bytes.ends_with(&elements));
    assert!(scale(&format!("f32[]={}", first.display()), &second).contains("\n    0, 9, 18, 27\n"));
    refuses(
        &["ptx/scale.ptx", "--kernel=scale", "--arg", &format!("f32[5]={}", first.display())],
        &["argument 0", "has 4 elements, 5 are asked for"],
    );
    refuses(
        &["ptx/scale.ptx", "--kernel=scale", "--arg", &format!("i32[4]={}", first.display())],
        &["argument 0", "cannot read"],
    );
    for file in [first, second] {
        std::fs::remove_file(file).expect("removed");
    }
}

#[test]
fn the_same_seed_gives_the_same_noise() {
    let run = |seed: &str| {
        let array = format!("--arg=f32[100]=random:{seed}");
        ptxcheck(&["ptx/scale.ptx", "--kernel=scale", "--block=100", &array, "--arg=f32=1", "--arg=u32=100"])
            .stdout
    };
    assert_eq!(run("7"), run("7"));
    assert_ne!(run("7"), run("8"));
}

#[test]
fn wrong_arguments_are_explained() {
    refuses(&[], &["<FILE>", "--help"]);
    refuses(&["ptx/none.ptx"], &["cannot read ptx/none.ptx"]);
    refuses(&["ptx/README.md"], &["error", "README.md"]);
    refuses(&["ptx/saxpy.ptx", "--kernel=sax"], &["`sax`", "`saxpy`, `daxpy`"]);
    refuses(&["ptx/saxpy.ptx", "--kernel=saxpy", "--grid=1,2,3,4"], &["4 axes", "three at most"]);
    refuses(&["ptx/saxpy.ptx", "--kernel=saxpy", "--arg=f16=1"], &["no type is called `f16`", "f32 f64"]);
    refuses(
        &["ptx/saxpy.ptx", "--kernel=saxpy", "--arg=f32[10]=noise"],
        &["`noise` fills no array", "random:SEED"],
    );
    refuses(&["ptx/saxpy.ptx", "--kernel=saxpy", "--arg=f32[]=ramp"], &["leave its length out"]);
    refuses(&["ptx/saxpy.ptx", "--kernel=saxpy", "--arg=u8=300"], &["argument 0", "`300` is no u8"]);
    refuses(
        &["ptx/saxpy.ptx", "--kernel=saxpy", "--arg=u32=2", "--arg=f32[4]", "--arg=f32[4]"],
        &[
            "3 parameters here, 4 there",
            "declared: (u32, ReadWrite<f32>, ReadWrite<f32>)",
            "PTX:      saxpy(f32, u64, u64, u32)",
        ],
    );
    refuses(
        &["ptx/scale.ptx", "--kernel=scale", "--block=2048", "--arg=f32[4]", "--arg=f32=1", "--arg=u32=4"],
        &["kernel `scale`", "2048 threads", "1024"],
    );
    refuses(&["ptx/scale.ptx", "--kernel=scale", "--save=y=y.npy"], &["--save y=y.npy", "scale_param_0"]);
}
