//! Which launches share a proof: what must be equal, and what may be less or more.

use std::sync::Arc;

use super::super::{LaunchFacts, ProofCache, Verdicts};
use super::shapes;
use crate::dim::Dim3;

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
    assert!(Arc::ptr_eq(&first, &again));
    assert!(again.all_proved());
    buffers[0].bytes -= 4;
    let short = cache.prove(&shape.facts(&params, &buffers));
    assert!(!short.all_proved());
}

/// Whether the proof of `first`, which is whole, was used for `second`. `second` is analysed anew beside it.
#[track_caller]
fn is_shared(kernel: &super::Kernel, first: &LaunchFacts<'_>, second: &LaunchFacts<'_>) -> bool {
    let cache = ProofCache::new(super::Analysis::new(&kernel.module, kernel.id));
    let proofs: [Arc<Verdicts>; 2] = [first, second].map(|launch| cache.prove(launch));
    assert!(proofs[0].all_proved());
    let again = cache.prove(second);
    assert!(Arc::ptr_eq(&again, &proofs[1]), "found again by what it is");
    assert_eq!(proofs[1].all_proved(), kernel.analysis.prove(second).all_proved(), "{second:?}");
    Arc::ptr_eq(&proofs[0], &proofs[1])
}

/// A block less, and longer buffers that are better aligned: proved, if the kernel does not look at the grid's size.
#[test]
fn a_whole_proof_holds_for_less_with_more() {
    let (mut shared, mut own) = (Vec::new(), Vec::new());
    for shape in shapes() {
        let kernel = shape.load();
        let (params, mut buffers) = kernel.arguments(&shape.args);
        let known = buffers.clone();
        let first = shape.facts(&params, &known);
        if !kernel.analysis.prove(&first).all_proved() {
            continue;
        }
        for buffer in &mut buffers {
            buffer.bytes += 4096;
            buffer.align *= 2;
        }
        assert!(is_shared(&kernel, &first, &shape.facts(&params, &buffers)), "{}", shape.kernel);
        let grid = Dim3::new(shape.grid.x.div_ceil(2), shape.grid.y, shape.grid.z);
        if grid != shape.grid {
            let smaller = LaunchFacts { grid, ..shape.facts(&params, &buffers) };
            let is_shared = is_shared(&kernel, &first, &smaller);
            if is_shared { &mut shared } else { &mut own }.push(shape.kernel);
        }
    }
    // these stride over the grid
    for kernel in ["axpyloop", "saxpy_grid"] {
        assert!(
            own.iter().any(|own| own == kernel) && !shared.iter().any(|shared| shared == kernel),
            "{own:?}"
        );
    }
    for kernel in ["saxpy", "stencil", "matmul", "transpose", "softmax"] {
        assert!(shared.iter().any(|shared| shared == kernel), "{kernel}: {shared:?}");
    }
}

#[test]
fn a_proof_does_not_hold_for_more_with_less() {
    let shape = shapes().into_iter().find(|shape| shape.kernel == "stencil").unwrap();
    let kernel = shape.load();
    let (params, buffers) = kernel.arguments(&shape.args);
    let first = shape.facts(&params, &buffers);
    let with = |change: &dyn Fn(&mut super::BufferFacts)| {
        let mut buffers = buffers.clone();
        buffers.iter_mut().for_each(change);
        is_shared(&kernel, &first, &shape.facts(&params, &buffers))
    };
    assert!(with(&|_| {}));
    assert!(!with(&|buffer| buffer.bytes -= 4));
    assert!(!with(&|buffer| buffer.align = 2));
    assert!(!with(&|buffer| buffer.writable = false));
    let launch = |change: &dyn Fn(&mut LaunchFacts<'_>)| {
        let mut second = first;
        change(&mut second);
        is_shared(&kernel, &first, &second)
    };
    assert!(launch(&|launch| launch.grid.y -= 1));
    assert!(!launch(&|launch| launch.grid.y += 1));
    assert!(!launch(&|launch| launch.block.y -= 1));
    assert!(!launch(&|launch| launch.dynamic_shared += 4));
    let longer = [&params[..16], &[params[16] ^ 1], &params[17..]].concat();
    assert!(!is_shared(&kernel, &first, &LaunchFacts { params: &longer, ..first }), "a side is a number");
}

/// What an index array contains belongs to the proof that counted on it.
#[test]
fn a_proof_holds_for_the_indices_that_it_counted_on() {
    let shape = shapes().into_iter().find(|shape| shape.kernel == "spmv").unwrap();
    let kernel = shape.load();
    let (params, mut buffers) = kernel.arguments(&shape.args);
    super::sparse_contents(&mut buffers);
    let known = buffers.clone();
    let first = shape.facts(&params, &known);
    buffers[2].bytes += 4;
    assert!(is_shared(&kernel, &first, &shape.facts(&params, &buffers)));
    buffers[1].contents = None;
    assert!(!is_shared(&kernel, &first, &shape.facts(&params, &buffers)));
}
