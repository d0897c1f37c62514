//! Memory: allocation, copies in one and two dimensions, and what is refused.

use super::driver::{Driver, ok};

#[test]
fn saxpy_from_end_to_end() {
    let (driver, context) = Driver::with_context();
    let module = driver.module(super::PTX);
    let saxpy = driver.kernel(module, "saxpy");
    let (x, y): (Vec<f32>, Vec<f32>) = (0..1000).map(|i| (i as f32, 0.5 * i as f32)).unzip();
    let (on_x, on_y) = (driver.upload(&x), driver.upload(&y));
    let (n, a) = (1000_u32.to_ne_bytes(), 3_f32.to_ne_bytes());
    ok(driver.launch(saxpy, 8, 128, 0, 0, &[&n, &a, &on_x.to_ne_bytes(), &on_y.to_ne_bytes()]));
    ok(driver.stream_synchronize(0));
    let expected: Vec<f32> = x.iter().zip(&y).map(|(x, y)| 3.0 * x + y).collect();
    assert_eq!(driver.download(on_y, 1000), expected);
    ok(driver.free(on_x));
    ok(driver.free(on_y));
    assert_eq!(driver.free(on_y + 4), 1);
    ok(driver.unload(module));
    ok(driver.context_destroy(context));
}

#[test]
fn too_much_memory_is_refused_and_not_sticky() {
    let (driver, context) = Driver::with_context();
    let (mut free, mut total) = (0, 0);
    ok(driver.memory_info(&mut free, &mut total));
    let mut address = 0;
    assert_eq!(driver.alloc(&mut address, total.saturating_mul(2)), 2);
    assert_eq!(driver.alloc(&mut address, 0), 1);
    ok(driver.alloc(&mut address, 1 << 20));
    assert_eq!(address % 256, 0);
    ok(driver.free(address));
    ok(driver.context_destroy(context));
}

#[test]
fn rows_are_copied_between_pitches() {
    let (driver, context) = Driver::with_context();
    let (mut image, mut pitch) = (0, 0);
    ok(driver.alloc_pitch(&mut image, &mut pitch, 12, 3, 4));
    assert_eq!(pitch, 512);
    let host: [f32; 9] = std::array::from_fn(|i| i as f32);
    // CUDA_MEMCPY2D: from host memory without a pitch of its own to device memory
    let source = [0, 0, 1, host.as_ptr() as usize, 0, 0, 12];
    let target = [0, 0, 2, 0, image as usize, 0, pitch];
    let copy = |source: [usize; 7], target: [usize; 7], width, height| {
        let words: Vec<usize> = [&source[..], &target[..], &[width, height]].concat();
        driver.copy_2d(words.as_slice().try_into().expect("sixteen words"), 0)
    };
    ok(copy(source, target, 12, 3));
    ok(driver.synchronize());
    assert_eq!(driver.download(image + 2 * 512, 3), host[6..]);
    // the lower right 2 × 2 comes back
    let mut back = [0_f32; 4];
    let corner = [4, 1, 2, 0, image as usize, 0, pitch];
    ok(copy(corner, [0, 0, 1, back.as_mut_ptr() as usize, 0, 0, 8], 8, 2));
    ok(driver.synchronize());
    assert_eq!(back, [4.0, 5.0, 7.0, 8.0]);
    // a row that does not fit its pitch, and one row too many
    assert_eq!(copy([0, 0, 1, host.as_ptr() as usize, 0, 0, 8], target, 12, 3), 1);
    assert_eq!(copy(source, [0, 2, 2, 0, image as usize, 0, pitch], 12, 3), 1);
    ok(driver.free(image));
    ok(driver.context_destroy(context));
}

#[test]
fn calls_without_a_context_are_refused() {
    let (driver, context) = Driver::with_context();
    let (mut popped, mut address) = (0, 0);
    ok(driver.context_pop(&mut popped));
    assert_eq!(popped, context);
    assert_eq!(driver.alloc(&mut address, 4), 201);
    assert_eq!(driver.stream_synchronize(0), 201);
    assert_eq!(driver.context_pop(&mut popped), 201);
    ok(driver.context_set(context));
    ok(driver.alloc(&mut address, 4));
    ok(driver.context_destroy(context));
    assert_ne!(driver.alloc(&mut address, 4), 0);
}
