//! What an analysis costs. Figures are printed, not asserted: the machine is anybody's.

use std::time::Instant;

use super::super::ProofCache;
use super::shapes;

/// `cargo test --release --lib bounds::proof::tests::timing -- --nocapture --ignored`
#[test]
#[ignore = "a measurement: run it in release, alone"]
fn analysis_and_cache() {
    for shape in shapes().into_iter().filter(|shape| shape.suite == "checks") {
        let kernel = shape.load();
        let (params, buffers) = kernel.arguments(&shape.args);
        let facts = shape.facts(&params, &buffers);
        let mut best = f64::MAX;
        for _ in 0..50 {
            let start = Instant::now();
            std::hint::black_box(kernel.analysis.prove(&facts));
            best = best.min(start.elapsed().as_secs_f64());
        }
        let cache = ProofCache::new(kernel.analysis);
        cache.prove(&facts);
        let start = Instant::now();
        for _ in 0..10_000 {
            std::hint::black_box(cache.prove(std::hint::black_box(&facts)));
        }
        let hit = start.elapsed().as_secs_f64() / 10_000.0;
        println!("{:30} {:7.1} µs, cached {:5.1} ns", shape.kernel, best * 1e6, hit * 1e9);
    }
}

/// A changed float is found in the cache; a changed length is not.
#[test]
fn only_what_addresses_depend_on_is_analysed_again() {
    let shape = shapes().into_iter().find(|shape| shape.kernel.contains("saxpy")).unwrap();
    let kernel = shape.load();
    let (mut params, mut buffers) = kernel.arguments(&shape.args);
    let alpha = kernel.module.functions[kernel.id.0 as usize].params[1].offset as usize;
    let cache = ProofCache::new(kernel.analysis);
    let first = cache.prove(&shape.facts(&params, &buffers));
    params[alpha] ^= 0x55;
    let again = cache.prove(&shape.facts(&params, &buffers));
    assert!(std::sync::Arc::ptr_eq(&first, &again));
    assert!(again.all_proved());
    buffers[0].bytes -= 4;
    let short = cache.prove(&shape.facts(&params, &buffers));
    assert!(!short.all_proved());
}
