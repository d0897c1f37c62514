//! A kernel's fault is final for the process, so each runs in one of its own.

use std::process::Command;

use super::driver::{Driver, ok};

/// Names the kernel that the child process launches.
const CHILD: &str = "SCOPED_GPU_SHIM_TEST_FAULT";

/// Runs `the_child` in a process of its own, which fails unless everything answers `code`.
fn expect(kernel: &str, address: &str, code: i32) {
    let test = std::env::current_exe().expect("a test has a path");
    let child = Command::new(test)
        .args(["--exact", "faults::the_child", "--nocapture"])
        .env(CHILD, format!("{kernel} {address} {code}"))
        .output()
        .expect("a test can be run");
    let printed = String::from_utf8_lossy(&child.stdout);
    assert!(child.status.success(), "{printed}{}", String::from_utf8_lossy(&child.stderr));
    assert!(printed.contains("1 passed"), "{printed}");
}

#[test]
fn a_null_store_ends_the_process_with_700() {
    expect("store", "0", 700);
}

#[test]
fn a_wild_store_ends_the_process_with_700() {
    expect("store", "281474976710656", 700);
}

#[test]
fn a_misaligned_store_ends_the_process_with_716() {
    expect("store", "misaligned", 716);
}

#[test]
fn a_trap_ends_the_process_with_719() {
    expect("stop", "0", 719);
}

#[test]
fn the_child() {
    let Ok(what) = std::env::var(CHILD) else { return };
    let words: Vec<&str> = what.split(' ').collect();
    let (kernel, code) = (words[0], words[2].parse::<i32>().expect("a code"));
    let (driver, context) = Driver::with_context();
    let mut other = 0;
    ok(driver.primary_retain(&mut other, 0));
    let mut memory = 0;
    ok(driver.alloc(&mut memory, 64));
    let address = words[1].parse().unwrap_or(memory + 2);
    let module = driver.module(super::PTX);
    let function = driver.kernel(module, kernel);
    ok(driver.launch(function, 1, 1, 0, 0, &[&u64::to_ne_bytes(address)]));
    assert_eq!(driver.synchronize(), code);
    // every later call, of whichever context
    assert_eq!(driver.free(memory), code);
    assert_eq!(driver.synchronize(), code);
    let mut more = 0;
    assert_eq!(driver.alloc(&mut more, 4), code);
    assert_eq!(driver.context_set(other), code);
    ok(driver.context_destroy(context));
    ok(driver.primary_reset(0));
    let mut late = 0;
    assert_eq!(driver.context_create(&mut late, 0, 0), code);
}
