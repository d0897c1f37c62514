//! Modules: logs, variables, limits of launches.

use std::ffi::CString;

use super::driver::{Driver, ok};

#[test]
fn bad_ptx_is_refused_with_a_log() {
    let (driver, context) = Driver::with_context();
    let ptx = super::PTX.replace("fma.rn.f32 %f3", "fma.rn.f32 %undeclared");
    let text = CString::new(ptx).expect("PTX has no NUL");
    let mut log = [b'#'; 2000];
    let names = [5, 6];
    let mut values = [log.as_mut_ptr() as usize, log.len()];
    let mut module = 0;
    assert_eq!(driver.load_with(&mut module, text.as_ptr(), 2, names.as_ptr(), values.as_mut_ptr()), 218);
    let written = values[1];
    assert!((2..=log.len()).contains(&written), "{written}");
    let text = String::from_utf8_lossy(&log[..written]);
    assert!(text.contains("undeclared"), "{text}");
    // nothing behind the size that was given, and a NUL within it
    let mut short = [b'#'; 16];
    let mut values = [short.as_mut_ptr() as usize, 8];
    let bad = CString::new("nonsense").expect("no NUL");
    assert_eq!(driver.load_with(&mut module, bad.as_ptr(), 2, names.as_ptr(), values.as_mut_ptr()), 218);
    assert_eq!(short[8..], [b'#'; 8]);
    assert!(short[..8].contains(&0));
    ok(driver.context_destroy(context));
}

#[test]
fn newer_ptx_and_missing_names_have_codes_of_their_own() {
    let (driver, context) = Driver::with_context();
    let newer = CString::new(super::PTX.replace(".version 8.0", ".version 99.0")).expect("no NUL");
    let (mut module, mut function) = (0, 0);
    assert_eq!(driver.load(&mut module, newer.as_ptr()), 222);
    let module = driver.module(super::PTX);
    assert_eq!(driver.function(&mut function, module, c"nobody".as_ptr()), 500);
    ok(driver.context_destroy(context));
}

#[test]
fn variables_have_addresses_and_first_values() {
    let (driver, context) = Driver::with_context();
    let module = driver.module(super::PTX);
    let (mut address, mut bytes) = (0, 0);
    ok(driver.global(&mut address, &mut bytes, module, c"counter".as_ptr()));
    assert_eq!((bytes, driver.download(address, 1)[0].to_bits()), (4, 41));
    ok(driver.global(&mut address, &mut bytes, module, c"factors".as_ptr()));
    assert_eq!((bytes, driver.download(address, 2)), (8, vec![1.0, 2.0]));
    assert_eq!(driver.global(&mut address, &mut bytes, module, c"nobody".as_ptr()), 500);
    ok(driver.context_destroy(context));
}

#[test]
fn launches_beyond_the_limits_are_refused() {
    let (driver, context) = Driver::with_context();
    let module = driver.module(super::PTX);
    let kernel = driver.kernel(module, "shared_user");
    assert_eq!(driver.launch(kernel, 0, 32, 0, 0, &[]), 1);
    assert_eq!(driver.launch(kernel, 1, 1025, 0, 0, &[]), 1);
    assert_eq!(driver.launch(kernel, 1, 32, (48 << 10) + 4, 0, &[]), 1);
    ok(driver.set_attribute(kernel, 8, 64 << 10));
    ok(driver.launch(kernel, 1, 32, (48 << 10) + 4, 0, &[]));
    assert_eq!(driver.set_attribute(kernel, 8, 1 << 20), 1);
    ok(driver.synchronize());
    ok(driver.context_destroy(context));
}
