//! The switch `SCOPED_GPU_LEAKS`: what a program says on standard error. The report itself is a chapter of the device suite.

use std::process::Command;

use scoped_gpu::Device;

/// Set for the program that leaks.
const PROGRAM: &str = "SCOPED_GPU_TEST_LEAKS";

/// The line of the first statement of `leaking_program`'s scope, less one.
const SCOPE: u32 = line!() + 9;

/// Not a test by itself: what the others run in a process of its own.
#[test]
fn leaking_program() {
    if std::env::var_os(PROGRAM).is_none() {
        return;
    }
    let device = Device::host();
    let leak = device.scope(|ctx| {
        std::mem::forget(ctx.buffer::<u32>(2)?);
        scoped_gpu::ok(())
    });
    leak.unwrap();
    device.scope(|ctx| ctx.buffer::<u32>(2)?.to_vec()).unwrap();
}

fn standard_error(switch: Option<&str>) -> String {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "leaking_program", "--nocapture"]).env(PROGRAM, "1");
    match switch {
        Some(value) => command.env("SCOPED_GPU_LEAKS", value),
        None => command.env_remove("SCOPED_GPU_LEAKS"),
    };
    let output = command.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn leaks_are_printed_where_that_is_asked_for() {
    let file = file!();
    let expected = format!(
        "scoped-gpu: host: the scope at {file}:{SCOPE}:23 gave back 1 forgotten handle (8 bytes)\n  {file}:{}:30: 1 buffer, 8 bytes\n",
        SCOPE + 1
    );
    assert_eq!(standard_error(Some("1")), expected);
}

#[test]
fn and_only_there() {
    assert_eq!(standard_error(None), "");
    assert_eq!(standard_error(Some("0")), "");
}
