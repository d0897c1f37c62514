//! Which bytes of an allocation hold something: those that a copy, a fill or a kernel wrote. Strict mode reports
//! loads of the others. Which launches are watched, and what they wrote, is known in `interp`.

use std::ops::Range;

/// Bytes that were written, as ranges in order with gaps between them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Written {
    ranges: Vec<Range<usize>>,
}

impl Written {
    /// Notes that `range` was written.
    pub(crate) fn add(&mut self, range: Range<usize>) {
        if range.is_empty() {
            return;
        }
        // what touches the new range becomes part of it
        let first = self.ranges.partition_point(|old| old.end < range.start);
        let later = self.ranges.get(first..).unwrap_or_default();
        let touched = later.get(..later.partition_point(|old| old.start <= range.end)).unwrap_or_default();
        let start = touched.first().map_or(range.start, |old| old.start.min(range.start));
        let end = touched.last().map_or(range.end, |old| old.end.max(range.end));
        let last = first + touched.len();
        self.ranges.splice(first..last, std::iter::once(start..end));
    }

    /// Was all of `range` written?
    pub(crate) fn contains(&self, range: Range<usize>) -> bool {
        let after = self.ranges.partition_point(|old| old.end < range.end);
        range.is_empty() || self.ranges.get(after).is_some_and(|old| old.start <= range.start)
    }

    /// The parts of `range` that were written.
    pub(crate) fn within(&self, range: Range<usize>) -> impl Iterator<Item = Range<usize>> {
        let first = self.ranges.partition_point(|old| old.end <= range.start);
        let parts =
            self.ranges.get(first..).unwrap_or_default().iter().take_while(move |old| old.start < range.end);
        parts.map(move |old| old.start.max(range.start)..old.end.min(range.end))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_agree_with_one_flag_for_each_byte() {
        let mut written = Written::default();
        let mut flags = [false; 40];
        // 17 is coprime to 40, so the starts come in no order
        for step in 0..40 {
            let start = step * 17 % 40;
            let end = (start + step % 4).min(40);
            written.add(start..end);
            flags[start..end].fill(true);
            for from in 0..40 {
                for to in from..=40 {
                    assert_eq!(written.contains(from..to), flags[from..to].iter().all(|&flag| flag));
                    let parts = written.within(from..to).map(|part| part.len()).sum::<usize>();
                    assert_eq!(parts, flags[from..to].iter().filter(|&&flag| flag).count());
                }
            }
        }
        assert!(written.ranges.windows(2).all(|pair| pair[0].end < pair[1].start));
    }
}
