//! The default device where the environment names one that is not there: a test of its own, since it is opened once
//! per process.

use scoped_gpu::{Device, ErrorKind};

const NAME: &str = "SCOPED_GPU_DEVICE";

/// Whether the variable has this value; if not, runs `test` once more where it has: a process's own cannot be set safely
/// beside other threads.
fn is_named(value: &str, test: &str) -> bool {
    if std::env::var(NAME).as_deref() == Ok(value) {
        return true;
    }
    let mut again = std::process::Command::new(std::env::current_exe().expect("this test runs"));
    let output = again.args(["--exact", test]).env(NAME, value).output().expect("it runs again");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.contains("1 passed"), "{said}");
    false
}

/// An empty variable is one that is not set.
#[test]
fn an_empty_name_is_none() {
    if is_named("", "an_empty_name_is_none") {
        assert!(Device::with(|ctx| ctx.synchronize()).is_ok());
    }
}

/// Also says which variable is to blame, and the line that asked.
#[test]
fn a_name_that_is_none_is_an_error_at_the_callers_line() {
    if !is_named("nonsense", "a_name_that_is_none_is_an_error_at_the_callers_line") {
        return;
    }
    let error = Device::with(|ctx| ctx.synchronize()).expect_err("no device is called that");
    assert!(matches!(error.kind(), ErrorKind::DeviceUnavailable { .. }));
    assert_eq!(
        error.to_string(),
        "SCOPED_GPU_DEVICE: no device is called `nonsense`; names are `host` and `cuda:N` (N = 0, 1, …)"
    );
    assert!(error.location().file().ends_with("default_device.rs"), "{error:?}");
}
