//! The default device where the environment names one that is not there: a test of its own, since it is opened once
//! per process.

use scoped_gpu::{Device, ErrorKind};

/// An empty variable is one that is not set.
#[test]
fn an_empty_name_is_none() {
    const NAME: &str = "SCOPED_GPU_DEVICE";
    if std::env::var(NAME).as_deref() != Ok("") {
        let test = std::env::current_exe().expect("this test runs");
        let output = std::process::Command::new(test)
            .args(["--exact", "an_empty_name_is_none"])
            .env(NAME, "")
            .output()
            .expect("it runs again");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
        return;
    }
    assert!(Device::with(|ctx| ctx.synchronize()).is_ok());
}

/// Also says which variable is to blame, and the line that asked.
#[test]
fn a_name_that_is_none_is_an_error_at_the_callers_line() {
    const NAME: &str = "SCOPED_GPU_DEVICE";
    if std::env::var(NAME).as_deref() != Ok("nonsense") {
        // Runs itself once more with the variable set: a process's own cannot be set safely beside other threads.
        let test = std::env::current_exe().expect("this test runs");
        let output = std::process::Command::new(test)
            .args(["--exact", "a_name_that_is_none_is_an_error_at_the_callers_line"])
            .env(NAME, "nonsense")
            .output()
            .expect("it runs again");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
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
