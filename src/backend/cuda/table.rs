//! Handles by id. Ids are counted up and never used again, so a sorted list is found through fast and grows at its end.

use std::sync::{Arc, PoisonError, RwLock};

/// Handles of one sort, which several threads look up and few change.
pub(super) struct Table<T>(RwLock<Vec<(u64, Arc<T>)>>);

impl<T> Default for Table<T> {
    fn default() -> Self {
        Self(RwLock::default())
    }
}

impl<T> Table<T> {
    pub(super) fn get(&self, id: u64) -> Option<Arc<T>> {
        let entries = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let index = entries.binary_search_by_key(&id, |(id, _)| *id).ok()?;
        entries.get(index).map(|(_, value)| Arc::clone(value))
    }

    pub(super) fn insert(&self, id: u64, value: T) {
        let mut entries = self.0.write().unwrap_or_else(PoisonError::into_inner);
        // Two threads may come here in another order than the one in which they got their ids.
        let at = entries.partition_point(|(other, _)| *other < id);
        entries.insert(at, (id, Arc::new(value)));
    }

    pub(super) fn remove(&self, id: u64) -> Option<Arc<T>> {
        let mut entries = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let index = entries.binary_search_by_key(&id, |(id, _)| *id).ok()?;
        Some(entries.remove(index).1)
    }

    /// The id of the first that `wanted` accepts.
    pub(super) fn find(&self, wanted: impl Fn(&T) -> bool) -> Option<u64> {
        let entries = self.0.read().unwrap_or_else(PoisonError::into_inner);
        entries.iter().find(|(_, value)| wanted(value)).map(|(id, _)| *id)
    }

    /// Takes out those that `wanted` accepts.
    pub(super) fn remove_where(&self, wanted: impl Fn(&T) -> bool) -> Vec<Arc<T>> {
        let mut entries = self.0.write().unwrap_or_else(PoisonError::into_inner);
        entries.extract_if(.., |(_, value)| wanted(value)).map(|(_, value)| value).collect()
    }

    pub(super) fn clear(&self) {
        self.0.write().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_found_in_whatever_order_they_came() {
        let table = Table::default();
        for id in [3, 1, 2, 9] {
            table.insert(id, id * 10);
        }
        assert_eq!((table.get(2).as_deref(), table.get(4)), (Some(&20), None));
        assert_eq!((table.get(1).as_deref(), table.get(9).as_deref()), (Some(&10), Some(&90)));
        assert_eq!((table.remove(3).as_deref(), table.remove(3)), (Some(&30), None));
        table.clear();
        assert_eq!(table.get(1), None);
    }
}
