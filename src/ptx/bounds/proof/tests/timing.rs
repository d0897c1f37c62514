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
