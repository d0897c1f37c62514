//! Hostile mode: any order that the marks allow and no other, garbage, addresses that come back, failing calls.

use std::collections::BTreeSet;

use super::*;

/// Two streams that write the same byte; whoever is later is seen.
fn race(seed: u64, ordered: bool) -> u8 {
    let device = hostile(seed);
    let a = device.allocate(1).unwrap();
    let (one, two) = (device.create_stream().unwrap(), device.create_stream().unwrap());
    queue_fill(&device, one, a, 1, 1).unwrap();
    if ordered {
        let mark = device.record(one).unwrap();
        device.wait_on(two, mark).unwrap();
    }
    queue_fill(&device, two, a, 1, 2).unwrap();
    device.wait_stream(one).unwrap();
    device.wait_stream(two).unwrap();
    read(&device, a, 1)[0]
}

#[test]
fn an_order_is_random_unless_a_mark_makes_it() {
    let outcomes = |ordered| (0..64).map(|seed| race(seed, ordered)).collect::<BTreeSet<_>>();
    assert_eq!(outcomes(false), BTreeSet::from([1, 2]));
    assert_eq!(outcomes(true), BTreeSet::from([2]));
    assert!((0..64).all(|seed| race(seed, false) == race(seed, false)), "a seed repeats");
}

#[test]
fn a_stream_keeps_its_own_order_under_every_seed() {
    for seed in 0..32 {
        let device = hostile(seed);
        let a = device.allocate(40).unwrap();
        let streams = [(); 4].map(|()| device.create_stream().unwrap());
        for n in 0..10 {
            for (stream, place) in streams.into_iter().zip(0..) {
                queue_fill(&device, stream, a + place * 10 + n, 10 - n as usize, n as u8).unwrap();
            }
        }
        streams.into_iter().for_each(|stream| device.wait_stream(stream).unwrap());
        let expected: Vec<u8> = (0..40).map(|n| n % 10).collect();
        assert_eq!(read(&device, a, 40), expected, "seed {seed}");
    }
}

#[test]
fn something_runs_early_under_some_seed_and_late_under_another() {
    let early: Vec<bool> = (0..64)
        .map(|seed| {
            let device = hostile(seed);
            let a = device.allocate(1).unwrap();
            let stream = device.create_stream().unwrap();
            queue_fill(&device, stream, a, 1, 1).unwrap();
            read(&device, a, 1) == [1]
        })
        .collect();
    assert!(early.contains(&true) && early.contains(&false));
}

#[test]
fn memory_is_garbage_and_addresses_come_back_only_with_a_reset() {
    let device = hostile(1);
    let a = device.allocate(16).unwrap();
    assert!(read(&device, a, 16).iter().all(|&byte| byte != 0));
    free(&device, a).unwrap();
    let b = device.allocate(16).unwrap();
    assert_ne!(a, b, "freed memory is kept out of use, so that a stale address is recognised");
    device.reset();
    assert_eq!(device.allocate(16).unwrap(), a);
    // without hostile mode a stale address stays stale
    let device = super::device();
    let a = device.allocate(16).unwrap();
    device.reset();
    assert_ne!(device.allocate(16).unwrap(), a);
}

/// A small program that goes on after each error, as a cleanup does. Returns its errors.
fn program(device: &HostBackend) -> Vec<ErrorKind> {
    let mut errors = Vec::new();
    macro_rules! note {
        ($call:expr) => {
            $call.map_err(|error| errors.push(error)).ok()
        };
    }
    let mut landed = [0_u8; 8];
    let stream = note!(device.create_stream());
    let memory = note!(device.allocate(8));
    if let (Some(stream), Some(memory)) = (stream, memory) {
        note!(queue_fill(device, stream, memory, 8, 1));
        let copy = row_copy(host_place(landed.as_mut_ptr()), Place::Device(memory), 8);
        // SAFETY: `landed` outlives the wait.
        let queued = note!(unsafe { device.copy(stream, &copy) });
        let mark = note!(device.record(stream));
        note!(device.wait_stream(stream));
        // also a wait that failed has waited: nothing writes to `landed` from here on
        let seen = landed;
        if let Some(mark) = mark {
            note!(device.wait_mark(mark));
            note!(device.destroy_mark(mark));
        }
        assert_eq!(landed, seen);
        assert!(queued.is_none() || landed != [0; 8]);
    }
    if let Some(memory) = memory {
        note!(free(device, memory));
    }
    if let Some(stream) = stream {
        note!(device.destroy_stream(stream));
    }
    errors
}

#[test]
fn each_call_can_fail_once_or_for_good() {
    let device = hostile(3);
    let before = device.statistics().calls;
    assert!(program(&device).is_empty());
    let calls = device.statistics().calls - before;
    for k in 1..=calls {
        device.failures().fail_call(k, Failure::Once);
        let errors = program(&device);
        assert!(matches!(errors[..], [ErrorKind::Driver { code: 999, .. }]), "call {k}: {errors:?}");
        device.failures().fail_call(k, Failure::Forever);
        assert!(!program(&device).is_empty(), "call {k}");
        device.failures().fail_call(0, Failure::Once);
        device.reset();
        assert!(program(&device).is_empty(), "after call {k} failed");
        assert_eq!(device.statistics().allocations, 0);
    }
}

#[test]
fn a_device_can_be_opened_with_a_call_that_fails() {
    let device = HostBackend::new(HostOptions::new().fail_call(2, Failure::Forever));
    device.make_current().unwrap();
    for _ in 0..2 {
        let refused = device.create_stream();
        assert!(matches!(refused, Err(ErrorKind::Driver { call: "create_stream", .. })), "{refused:?}");
    }
}
