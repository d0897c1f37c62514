//! Random programs of streams, marks and waits: whatever order the device takes, it is one that the program allows.

use std::sync::Mutex;

use super::super::hostile::Choices;
use super::*;

/// Notes which launches ran, by the number that is their kernel's name.
#[derive(Default)]
struct Log(Mutex<Vec<usize>>);

impl Log {
    fn assert_has(&self, launches: &[usize]) {
        let ran = self.0.lock().expect("no panic");
        assert!(launches.iter().all(|launch| ran.contains(launch)), "{launches:?} should have run");
    }
}

impl Module for Log {
    fn name(&self) -> &str {
        "log"
    }

    fn run(self: Arc<Self>, call: &LaunchCall<'_>, _memory: &mut Memory) -> Result<(), Box<Fault>> {
        self.0.lock().expect("no panic").push(call.kernel.parse().expect("a number"));
        Ok(())
    }

    fn release(self: Arc<Self>, _memory: &mut Memory) {}
}

/// Queues a random program; returns which launches ran and, for each, the ones that had to run before it.
fn run(device: &HostBackend, seed: u64) -> (Vec<usize>, Vec<Vec<usize>>) {
    const STREAMS: usize = 4;
    let mut choices = Choices::new(seed);
    let log = Arc::new(Log::default());
    let module = device.load_module(|_| Ok(Arc::clone(&log) as Arc<dyn Module>)).unwrap();
    let streams = [(); STREAMS].map(|()| device.create_stream().unwrap());
    // the launches that the next one of each stream, or whoever waits for a mark, comes after
    let mut behind: [Vec<usize>; STREAMS] = Default::default();
    let mut marks: Vec<(MarkId, Vec<usize>)> = Vec::new();
    let mut after: Vec<Vec<usize>> = Vec::new();
    for _ in 0..300 {
        let at = choices.below(STREAMS);
        match choices.below(8) {
            0 => marks.push((device.record(streams[at]).unwrap(), behind[at].clone())),
            1 if !marks.is_empty() => {
                let (mark, before) = &marks[choices.below(marks.len())];
                device.wait_on(streams[at], *mark).unwrap();
                behind[at].extend(before);
            }
            2 if !marks.is_empty() => {
                let (mark, before) = marks.swap_remove(choices.below(marks.len()));
                match choices.below(3) {
                    0 => {
                        device.wait_mark(mark).unwrap();
                        log.assert_has(&before);
                    }
                    1 if device.is_done(mark).unwrap() => log.assert_has(&before),
                    _ => {}
                }
                device.destroy_mark(mark).unwrap();
            }
            3 if choices.below(4) == 0 => {
                device.wait_stream(streams[at]).unwrap();
                log.assert_has(&behind[at]);
            }
            _ => {
                let launch = after.len();
                super::launch(device, streams[at], module, &launch.to_string(), AccessRule::Checked);
                after.push(behind[at].clone());
                behind[at].push(launch);
            }
        }
    }
    streams.into_iter().for_each(|stream| device.wait_stream(stream).unwrap());
    let ran = log.0.lock().unwrap().clone();
    (ran, after)
}

/// Each launch ran once, and after all that it had to come after.
fn check(seed: u64, ran: &[usize], after: &[Vec<usize>]) {
    let mut when = vec![None; after.len()];
    for (time, &launch) in ran.iter().enumerate() {
        assert_eq!(when[launch].replace(time), None, "seed {seed}: launch {launch} ran twice");
    }
    for (launch, before) in after.iter().enumerate() {
        assert!(when[launch].is_some(), "seed {seed}: launch {launch} did not run");
        assert!(before.iter().all(|&other| when[other] < when[launch]), "seed {seed}: launch {launch}");
    }
}

#[test]
fn hostile_order_is_always_one_that_the_program_allows() {
    for seed in 0..200 {
        let (ran, after) = run(&hostile(seed), seed.wrapping_mul(31));
        check(seed, &ran, &after);
    }
}

#[test]
fn the_ordinary_order_is_allowed_and_the_same_in_every_run() {
    for seed in 0..100 {
        let (ran, after) = run(&device(), seed);
        check(seed, &ran, &after);
        assert_eq!(run(&device(), seed).0, ran);
    }
}
