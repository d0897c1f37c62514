//! The pieces against a plain model, and the rules for pending work.

use super::pieces::{Pieces, rounded};
use super::*;

fn on(stream: u64, moment: u64) -> Pending {
    Pending { stream: StreamId { number: stream, handle: 0 }, moment }
}

fn any(_: Pending) -> bool {
    true
}

#[test]
fn pieces_never_overlap_and_join_again() {
    let mut pieces = Pieces::default();
    let mut live: Vec<(u64, usize)> = Vec::new();
    let mut seed = 0x2545_F491_4F6C_DD1D_u64;
    let mut random = move |below: u64| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        seed % below
    };
    let mut blocks = 0;
    for _ in 0..20_000 {
        if random(2) == 0 || live.is_empty() {
            let bytes = rounded(1 + random(10_000) as usize).unwrap();
            let piece = pieces.take(bytes, &any).unwrap_or_else(|| {
                blocks += 1;
                pieces.add_block(blocks << 32, 64 << 10);
                pieces.take(bytes, &any).unwrap()
            });
            let end = piece.address + bytes as u64;
            assert!(piece.address.is_multiple_of(512));
            assert!(live.iter().all(|&(a, b)| end <= a || a + b as u64 <= piece.address), "overlap");
            live.push((piece.address, bytes));
        } else {
            let (address, _) = live.swap_remove(random(live.len() as u64) as usize);
            pieces.free(address, PendingWork::new());
        }
        pieces.check();
    }
    for (address, _) in live {
        pieces.free(address, PendingWork::new());
    }
    pieces.check();
    assert_eq!(pieces.cached(), blocks * (64 << 10));
    assert_eq!(pieces.take_idle(0).len() as u64, blocks, "every block is whole again");
    assert_eq!(pieces.cached(), 0);
}

#[test]
fn a_piece_keeps_its_pending_work_and_hands_it_to_the_next_user() {
    let mut pieces = Pieces::default();
    pieces.add_block(1 << 20, 2048);
    let piece = pieces.take(2048, &any).unwrap();
    pieces.free(piece.address, [on(1, 7)].into_iter().collect());
    assert_eq!(pieces.take(512, &|p| p.stream != StreamId { number: 1, handle: 0 }), None, "not acceptable");
    let first = pieces.take(512, &any).unwrap();
    let second = pieces.take(512, &any).unwrap();
    assert_eq!((first.pending.as_slice(), second.pending.as_slice()), (&[on(1, 7)][..], &[on(1, 7)][..]));
    // joined parts have to wait for both, of one stream for the later moment
    pieces.free(first.address, [on(2, 1)].into_iter().collect());
    pieces.free(second.address, [on(1, 9)].into_iter().collect());
    pieces.check();
    let whole = pieces.take(2048, &any).unwrap();
    let mut pending = whole.pending.to_vec();
    pending.sort_by_key(|p| p.stream);
    assert_eq!(pending, [on(1, 9), on(2, 1)]);
}

#[test]
fn a_block_with_pending_work_is_not_given_back() {
    let mut pieces = Pieces::default();
    pieces.add_block(1 << 20, 2048);
    let piece = pieces.take(2048, &any).unwrap();
    pieces.free(piece.address, [on(1, 7)].into_iter().collect());
    assert_eq!(pieces.take_idle(0), []);
    pieces.forget(&|p| p.stream == StreamId { number: 1, handle: 0 });
    assert_eq!(pieces.take_idle(2048), [], "it may stay");
    assert_eq!(pieces.take_idle(0), [(1 << 20, 2048)]);
}

/// However many small pieces are free whose work is not known here, the block that was just added is found.
#[test]
fn a_new_block_is_found_behind_many_pieces_of_another_context() {
    let mut pieces = Pieces::default();
    pieces.add_block(1 << 20, 512 * 200);
    let taken: Vec<_> = (0..200).map(|_| pieces.take(512, &any).unwrap().address).collect();
    // every second one, so that they do not join
    for address in taken.iter().step_by(2) {
        pieces.free(*address, [on(1, 7)].into_iter().collect());
    }
    let known = |p: Pending| p.stream.number != 1;
    assert_eq!(pieces.take(512, &known), None);
    let piece = pieces.take_from_block(1 << 30, 4096, 512).unwrap();
    assert_eq!((piece.address, piece.pending.len()), (1 << 30, 0));
    // its rest is larger than all others, of which few are looked at, unless there is no other way
    assert_eq!(pieces.take(512, &known), None);
    assert_eq!(pieces.take_any(512, &known).map(|piece| piece.address), Some((1 << 30) + 512));
    pieces.check();
}
