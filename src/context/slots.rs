//! A table that is asked at every operation: an id holds the place of its entry, so finding it takes one look.

use std::num::NonZeroU64;

/// An entry of a table. Its number is never given out again, so a stale one names nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct EntryId {
    number: NonZeroU64,
    slot: usize,
}

/// Entries by id; a place that became free is used again.
#[derive(Debug)]
pub(crate) struct Slots<T> {
    entries: Vec<Option<(NonZeroU64, T)>>,
    free: Vec<usize>,
    /// How many entries there have been.
    numbers: u64,
}

impl<T> Default for Slots<T> {
    fn default() -> Self {
        Self { entries: Vec::new(), free: Vec::new(), numbers: 0 }
    }
}

impl<T> Slots<T> {
    pub(crate) fn insert(&mut self, value: T) -> EntryId {
        let number = NonZeroU64::MIN.saturating_add(self.numbers);
        self.numbers += 1;
        let slot = self.free.pop().unwrap_or(self.entries.len());
        match self.entries.get_mut(slot) {
            Some(place) => *place = Some((number, value)),
            None => self.entries.push(Some((number, value))),
        }
        EntryId { number, slot }
    }

    #[inline]
    pub(crate) fn get(&self, id: EntryId) -> Option<&T> {
        match self.entries.get(id.slot) {
            Some(Some((number, value))) if *number == id.number => Some(value),
            _ => None,
        }
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, id: EntryId) -> Option<&mut T> {
        match self.entries.get_mut(id.slot) {
            Some(Some((number, value))) if *number == id.number => Some(value),
            _ => None,
        }
    }

    pub(crate) fn remove(&mut self, id: EntryId) -> Option<T> {
        self.get(id)?;
        let (_, value) = self.entries.get_mut(id.slot)?.take()?;
        self.free.push(id.slot);
        Some(value)
    }

    pub(crate) fn len(&self) -> usize {
        self.entries.len() - self.free.len()
    }

    pub(crate) fn values(&self) -> impl Iterator<Item = &T> {
        self.entries.iter().flatten().map(|(_, value)| value)
    }

    /// Every id, newest first.
    pub(crate) fn newest_first(&self) -> Vec<EntryId> {
        let filled = self.entries.iter().enumerate();
        let id = |(slot, entry): (usize, &Option<(NonZeroU64, T)>)| {
            entry.as_ref().map(|(number, _)| EntryId { number: *number, slot })
        };
        let mut ids: Vec<_> = filled.filter_map(id).collect();
        ids.sort_unstable_by_key(|id| std::cmp::Reverse(id.number));
        ids
    }

    /// Takes every value out, newest first.
    pub(crate) fn take_all(&mut self) -> Vec<T> {
        self.newest_first().into_iter().filter_map(|id| self.remove(id)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_names_its_own_entry_and_never_another() {
        let mut slots = Slots::default();
        let [a, b, c] = ['a', 'b', 'c'].map(|value| slots.insert(value));
        assert_eq!((slots.get(a), slots.get(b), slots.get(c)), (Some(&'a'), Some(&'b'), Some(&'c')));
        assert_eq!(slots.remove(b), Some('b'));
        assert_eq!(slots.remove(b), None);
        assert_eq!(slots.len(), 2);
        let d = slots.insert('d');
        assert_eq!(d.slot, b.slot, "the place is used again");
        assert_eq!(slots.get(b), None);
        assert_eq!(slots.remove(b), None);
        assert_eq!(slots.get_mut(b), None);
        assert_eq!(slots.get(d), Some(&'d'));
        assert_eq!(slots.newest_first(), [d, c, a]);
        *slots.get_mut(a).unwrap() = 'A';
        assert_eq!(slots.values().collect::<String>(), "Adc");
        assert_eq!(slots.take_all(), ['d', 'c', 'A']);
        assert_eq!((slots.len(), slots.values().count()), (0, 0));
        let e = slots.insert('e');
        assert!([a, b, c, d].into_iter().all(|old| slots.get(old).is_none()), "{e:?}");
    }
}
