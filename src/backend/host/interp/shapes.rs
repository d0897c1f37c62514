//! How the lanes of a warp's access lie relative to each other. Most instructions see few such shapes, so each
//! remembers its last one: to find it again takes one comparison, and what is known of it need not be found out anew.
//! Where the access as a whole lies, and whether it may, is decided at each access: see `transfer`.

use super::registers::{LANES, Row64};

/// Shapes kept at a time.
const KNOWN: usize = 16;
/// New shapes that an instruction may come with before its addresses count as random.
const PATIENCE: u16 = 64;

/// Bytes.
const LARGEST_ELEMENT: u32 = 16;

/// What an instruction remembers of its last access.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Hint {
    /// The stretch of memory it hit.
    pub(super) stretch: u32,
    /// The shape of its lanes.
    shape: u16,
    /// New shapes it came with.
    new: u16,
}

/// The addresses of 32 lanes but for where they begin.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    /// From lane 0, with wrapping.
    distances: Row64,
    /// From the lowest lane.
    pub(super) offsets: [[u32; 8]; 4],
    /// The greatest of these.
    pub(super) span: u32,
    /// Bits that are set in any of the distances: they are multiples of a power of two if its lower bits are not.
    bits: u64,
    pub(super) kind: Kind,
}

/// Regular shapes. Eight lanes are a row of the block in blocks 8, 16 or 32 threads wide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// All lanes at one place.
    Same,
    /// Each lane `step` bytes behind the one before it.
    Line {
        step: u32,
    },
    /// Each eight lanes at one place.
    Same8,
    /// Each eight lanes in a line of elements.
    Line8 {
        step: u32,
    },
    /// The second half of the lanes as the first.
    Repeated,
    Other,
}

impl Shape {
    /// The shape of these addresses, unless they are too far apart to be of one buffer.
    fn of(addresses: &Row64) -> Option<Self> {
        let first = addresses.lane(0);
        let distance = |lane| addresses.lane(lane).wrapping_sub(first) as i64;
        let (low, high) = (0..LANES).map(distance).fold((0, 0), |(low, high), d| (d.min(low), d.max(high)));
        let span = u32::try_from(high.checked_sub(low)?).ok()?;
        let offset = |lane| distance(lane).wrapping_sub(low) as u32;
        let offsets: [[u32; 8]; 4] = std::array::from_fn(|k| std::array::from_fn(|i| offset(8 * k + i)));
        let mut distances = Row64::splat(0);
        (0..LANES).for_each(|lane| *distances.lane_mut(lane) = distance(lane) as u64);
        let bits = (0..LANES).fold(0, |bits, lane| bits | distance(lane) as u64);
        Some(Self { distances, offsets, span, bits, kind: Kind::of(offsets.as_flattened()) })
    }

    /// The address of the lowest lane if lane 0 is at `first`. `None`: not all are multiples of `size`, a power of 2.
    #[inline(always)]
    pub(super) fn low(&self, first: u64, size: u64) -> Option<u64> {
        ((first | self.bits) & (size - 1) == 0).then(|| first.wrapping_sub(u64::from(self.offsets[0][0])))
    }
}

impl Kind {
    fn of(offsets: &[u32]) -> Self {
        let in_line = |lanes: &[u32], step| lanes.windows(2).all(|w| w[1].checked_sub(w[0]) == Some(step));
        let step = offsets[1].wrapping_sub(offsets[0]);
        if in_line(offsets, step) {
            return if step == 0 { Self::Same } else { Self::Line { step } };
        }
        // with gaps between the elements a line has no use
        if step <= LARGEST_ELEMENT && offsets.chunks(8).all(|eight| in_line(eight, step)) {
            return if step == 0 { Self::Same8 } else { Self::Line8 { step } };
        }
        let (low, high) = offsets.split_at(LANES / 2);
        if low == high { Self::Repeated } else { Self::Other }
    }
}

/// The shapes that instructions came with.
#[derive(Debug, Default)]
pub(super) struct Shapes {
    known: Vec<Shape>,
    /// Where the next new one goes.
    next: usize,
}

impl Shapes {
    /// The shape of these addresses. `None`: nothing is known of them.
    #[inline(always)]
    pub(super) fn find(&mut self, hint: &mut Hint, addresses: &Row64) -> Option<&Shape> {
        let known = self.known.get(usize::from(hint.shape)).is_some_and(|shape| shape.fits(addresses));
        if !known && !self.learn(hint, addresses) {
            return None;
        }
        self.known.get(usize::from(hint.shape))
    }

    /// Searches all shapes, and adds this one.
    #[cold]
    #[inline(never)]
    fn learn(&mut self, hint: &mut Hint, addresses: &Row64) -> bool {
        if hint.new >= PATIENCE {
            return false;
        }
        if let Some(index) = self.known.iter().position(|shape| shape.fits(addresses)) {
            hint.shape = index as u16;
            return true;
        }
        hint.new += 1;
        let Some(shape) = Shape::of(addresses) else { return false };
        hint.shape = self.next as u16;
        match self.known.get_mut(self.next) {
            Some(old) => *old = shape,
            None => self.known.push(shape),
        }
        self.next = (self.next + 1) % KNOWN;
        true
    }
}

impl Shape {
    #[inline(always)]
    fn fits(&self, addresses: &Row64) -> bool {
        let first = addresses.0[0][0];
        let pairs = addresses.0.as_flattened().iter().zip(self.distances.0.as_flattened());
        pairs.fold(0, |different, (address, distance)| different | address.wrapping_sub(first) ^ distance)
            == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(f: impl Fn(u64) -> u64) -> Row64 {
        let mut row = Row64::splat(0);
        (0..LANES).for_each(|lane| *row.lane_mut(lane) = f(lane as u64));
        row
    }

    fn kind(f: impl Fn(u64) -> u64) -> Kind {
        Shape::of(&row(f)).unwrap().kind
    }

    #[test]
    fn regular_shapes_are_told_apart() {
        assert_eq!(kind(|_| 5000), Kind::Same);
        assert_eq!(kind(|lane| 5000 + 4 * lane), Kind::Line { step: 4 });
        assert_eq!(kind(|lane| 5000 + 512 * (lane / 16)), Kind::Same8);
        assert_eq!(kind(|lane| 5000 + 512 * (lane / 8) + 4 * (lane % 8)), Kind::Line8 { step: 4 });
        assert_eq!(kind(|lane| 5000 + 512 * (lane % 16)), Kind::Repeated);
        assert_eq!(kind(|lane| 5000 - 4 * lane), Kind::Other);
        assert_eq!(kind(|lane| 5000 + u64::from(lane == 31)), Kind::Other);
    }

    #[test]
    fn the_lowest_lane_may_be_any() {
        let shape = Shape::of(&row(|lane| 5000 - 8 * lane)).unwrap();
        assert_eq!((shape.span, shape.offsets[0][0], shape.offsets[3][7]), (248, 248, 0));
        assert_eq!(shape.low(6000, 8), Some(6000 - 248));
        assert_eq!(shape.low(6004, 8), None, "all lanes are off by four");
        assert_eq!(shape.low(6000, 16), None, "every second lane is off by eight");
    }

    #[test]
    fn lanes_of_different_buffers_have_no_shape() {
        assert!(Shape::of(&row(|lane| lane << 40)).is_none());
        assert!(Shape::of(&row(|lane| if lane == 3 { 0 } else { u64::MAX / 2 + 5 })).is_none());
    }

    #[test]
    fn a_shape_is_found_wherever_it_lies() {
        let (mut shapes, mut hint) = (Shapes::default(), Hint::default());
        let (near, far) = (row(|lane| 64 * (lane % 7)), row(|lane| (1 << 41) + 64 * (lane % 7)));
        let offsets = shapes.find(&mut hint, &near).unwrap().offsets;
        assert_eq!(shapes.find(&mut hint, &far).unwrap().offsets, offsets);
        assert_eq!(hint.new, 1);
    }

    #[test]
    fn random_addresses_are_given_up() {
        let (mut shapes, mut hint) = (Shapes::default(), Hint::default());
        let found = (0..1000).filter(|i| shapes.find(&mut hint, &row(|lane| i * lane * lane)).is_some());
        assert_eq!(found.count(), usize::from(PATIENCE));
        assert_eq!(shapes.known.len(), KNOWN);
    }
}
