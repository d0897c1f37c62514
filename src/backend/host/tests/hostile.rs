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

/// Ten allocations given back one after another while the `k`-th call fails; returns how many are left.
fn left_of_ten(k: u64, goes_on: bool) -> usize {
    let device = hostile(1);
    let addresses: Vec<u64> = (0..10).map(|_| device.allocate(16).unwrap()).collect();
    device.failures().fail_call(k, Failure::Once);
    let mut freed = addresses.into_iter().rev().map(|address| free(&device, address));
    let met = if goes_on {
        freed.filter(Result::is_err).count()
    } else {
        freed.by_ref().find(Result::is_err).iter().count()
    };
    assert_eq!(met, 1);
    device.statistics().allocations
}

#[test]
fn a_cleanup_that_ends_at_its_first_error_is_noticed() {
    for k in 1..=10 {
        assert_eq!(left_of_ten(k, true), 1);
        assert_eq!(left_of_ten(k, false), 11 - k as usize);
    }
}

#[test]
fn a_cleanup_by_raw_address_after_a_reset_is_noticed() {
    let device = hostile(1);
    let stale = device.allocate(16).unwrap();
    device.reset();
    let stream = device.create_stream().unwrap();
    let new = device.allocate(16).unwrap();
    assert_eq!(new, stale);
    free(&device, stale).unwrap();
    queue_fill(&device, stream, new, 16, 4).unwrap();
    let answer = device.wait_stream(stream);
    assert!(
        matches!(&answer, Err(ErrorKind::Fault(fault)) if fault.to_string().contains("were freed")),
        "{answer:?}"
    );
}

#[test]
fn a_slow_stream_runs_only_when_it_is_waited_for() {
    let slow = |seed| {
        let device = hostile(seed);
        let a = device.allocate(2).unwrap();
        let (one, two) = (device.create_stream().unwrap(), device.create_stream().unwrap());
        write(&device, a, &[0, 0]);
        queue_fill(&device, one, a, 1, 1).unwrap();
        for _ in 0..64 {
            queue_fill(&device, two, a + 1, 1, 1).unwrap();
        }
        device.wait_stream(two).unwrap();
        let late = read(&device, a, 1) == [0];
        device.wait_stream(one).unwrap();
        assert_eq!(read(&device, a, 1), [1]);
        late
    };
    // A stream that is not slow is passed over 64 times with a chance of 2⁻⁶⁴.
    let late = (0..64).filter(|&seed| slow(seed)).count();
    assert!((4..=32).contains(&late), "{late} of 64");
}

#[test]
fn a_function_of_the_host_runs_only_where_it_is_waited_for() {
    for seed in 0..64 {
        let device = hostile(seed);
        let a = device.allocate(1).unwrap();
        let (held, other) = (device.create_stream().unwrap(), device.create_stream().unwrap());
        let ran = Arc::new(std::sync::atomic::AtomicBool::new(false));
        let runs = Arc::clone(&ran);
        device.call(held, Box::new(move || runs.store(true, std::sync::atomic::Ordering::Relaxed))).unwrap();
        for byte in 0..32 {
            queue_fill(&device, other, a, 1, byte).unwrap();
        }
        device.wait_stream(other).unwrap();
        assert!(!ran.load(std::sync::atomic::Ordering::Relaxed), "seed {seed}");
        device.wait_stream(held).unwrap();
        assert!(ran.load(std::sync::atomic::Ordering::Relaxed));
    }
}

#[test]
fn a_reset_from_outside_takes_everything_and_is_said() {
    let probe = Probe::default();
    let device = HostBackend::new(HostOptions::new().memory_limit(1 << 20).probe(&probe));
    let stream = device.create_stream().unwrap();
    let memory = device.allocate(16).unwrap();
    let mark = device.record(stream).unwrap();
    let module = stand_in(&device);
    probe.reset_from_outside();
    assert!(device.has_ended());
    let lost = [
        device.wait_stream(stream),
        device.record(stream).map(drop),
        device.wait_on(stream, mark),
        device.wait_mark(mark),
        device.is_done(mark).map(drop),
        device.allocate(16).map(drop),
        device.create_stream().map(drop),
        queue_fill(&device, stream, memory, 16, 1),
        try_launch(&device, stream, module, "bump", AccessRule::Checked, SmallVec::new()),
    ];
    for answer in lost {
        assert!(matches!(answer, Err(ErrorKind::ContextLost)), "{answer:?}");
    }
    // what is gone is given back without a word
    for answer in [
        free(&device, memory),
        device.destroy_mark(mark),
        device.destroy_stream(stream),
        device.unload(module),
    ] {
        answer.unwrap();
    }
    assert_eq!(device.reset(), Reset::Recovered);
    device.allocate(16).unwrap();
}
