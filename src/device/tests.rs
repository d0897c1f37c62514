//! A device that a fault ended for good: what scopes and resets answer then. A reset of the host device always succeeds
//! otherwise, so this needs the switch that the backend has for tests.

use std::sync::Arc;

use super::{Device, HostOptions, Reset, Shared};
use crate::backend::host::HostBackend;
use crate::error::{Error, ErrorKind};
use crate::kernel::{Launch, Write};

/// Stores through a null pointer.
const PTX: &str = "\
.version 8.0
.target sm_80
.address_size 64
.visible .entry store_null(.param .u64 unused) {
    .reg .b64 %rd<2>;
    mov.u64 %rd1, 0;
    st.global.u32 [%rd1], 7;
    ret;
}";

/// A scope in which a fault ends the context; returns its error.
fn end(device: &Device) -> Error {
    let ended = device.scope(|ctx| {
        let kernel = ctx.module(PTX)?.kernel::<(Write<u32>,)>("store_null")?;
        let mut unused = ctx.buffer::<u32>(1)?;
        // SAFETY: none: the launch breaks C5 on purpose, which the host device notices before any memory is touched.
        unsafe { ctx.launch_unchecked(&kernel, Launch::grid(1, 1), (&mut unused,)) }?;
        ctx.synchronize()
    });
    ended.expect_err("the launch's fault")
}

fn origin(error: &Error) -> Option<&str> {
    match error.kind() {
        ErrorKind::Poisoned { origin } => Some(origin),
        _ => None,
    }
}

/// Acceptance 12, 29: the next scope fails at once, with the origin.
#[test]
fn a_device_that_does_not_recover_says_why_until_it_does() {
    let backend = HostBackend::new(HostOptions::new());
    let failures = backend.failures();
    let mut device = Device::from_shared(Arc::new(Shared::new(Box::new(backend))));

    // Where the device recovers, the next scope works.
    assert!(end(&device).fault().is_some());
    device.scope(|ctx| ctx.buffer::<u8>(1)?.to_vec()).unwrap();

    failures.fail_resets(true);
    assert!(end(&device).fault().is_some());
    let line = line!() + 1;
    let refused = device.scope(|_| -> Result<(), Error> { panic!("this scope cannot open") }).unwrap_err();
    let cause = origin(&refused).expect("poisoned").to_owned();
    assert!(cause.contains("store_null"), "{cause}");
    assert_eq!((refused.location().file(), refused.location().line()), (file!(), line));
    assert_eq!(device.reset().unwrap(), Reset::Poisoned { origin: cause.clone() });
    assert_eq!(origin(&device.scope(|ctx| ctx.synchronize()).unwrap_err()), Some(cause.as_str()));
    let memory = device.memory();
    assert_eq!((memory.live, memory.count, memory.allocated), (0, 0, memory.freed));

    failures.fail_resets(false);
    assert_eq!(device.reset().unwrap(), Reset::Recovered);
    assert_eq!(device.scope(|ctx| ctx.buffer::<u8>(1)?.to_vec()).unwrap(), [0]);
}
