//! Places by hash: which of many held things has this name, without holding the names again.
//!
//! Open addressing with linear steps, four bytes a slot and at most three slots of four taken. It holds places alone and asks whoever holds the
//! things whether one is meant. Nothing is ever taken out, and nothing is ever listed, so that the order of slots, which differs from
//! run to run (its hash has keys of its own, so that no log can be made to collide), is never seen.

use std::hash::{BuildHasher as _, RandomState};

/// A slot that holds nothing.
const FREE: u32 = u32::MAX;

/// Places by the hash of a name.
#[derive(Clone, Debug, Default)]
pub(super) struct Index {
    slots: Vec<u32>,
    taken: usize,
    keys: RandomState,
}

impl Index {
    /// The place of the thing that has this name, `name_of` telling the names of those that are held.
    pub(super) fn find<'n>(&self, name: &str, name_of: impl Fn(u32) -> &'n str) -> Option<u32> {
        if self.slots.is_empty() {
            return None;
        }
        let mut slot = self.slot(name);
        while self.slots[slot] != FREE {
            if name_of(self.slots[slot]) == name {
                return Some(self.slots[slot]);
            }
            slot = (slot + 1) % self.slots.len();
        }
        None
    }

    /// Takes the place of a thing with a name that it does not hold.
    pub(super) fn insert<'n>(&mut self, name: &str, place: u32, name_of: impl Fn(u32) -> &'n str) {
        if 4 * (self.taken + 1) > 3 * self.slots.len() {
            let room = (2 * self.slots.len()).max(64);
            let held = core::mem::replace(&mut self.slots, vec![FREE; room]);
            held.into_iter().filter(|place| *place != FREE).for_each(|place| self.put(name_of(place), place));
        }
        self.put(name, place);
        self.taken += 1;
    }

    fn put(&mut self, name: &str, place: u32) {
        let mut slot = self.slot(name);
        while self.slots[slot] != FREE {
            slot = (slot + 1) % self.slots.len();
        }
        self.slots[slot] = place;
    }

    /// Where to begin; the number of slots is a power of two.
    fn slot(&self, name: &str) -> usize {
        let hash = self.keys.hash_one(name.as_bytes());
        usize::try_from(hash & 0xFFFF_FFFF).unwrap_or(0) & (self.slots.len() - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        #[test]
        fn it_finds_what_a_map_finds(names in proptest::collection::vec("[a-d]{0,4}", 0..400)) {
            let (mut index, mut held, mut map) = (Index::default(), Vec::<String>::new(), BTreeMap::new());
            for name in names {
                let known = index.find(&name, |place| &held[place as usize]);
                prop_assert_eq!(known, map.get(&name).copied());
                if known.is_none() {
                    let place = u32::try_from(held.len()).unwrap();
                    index.insert(&name, place, |place| &held[place as usize]);
                    map.insert(name.clone(), place);
                    held.push(name);
                }
            }
            for (name, place) in map {
                prop_assert_eq!(index.find(&name, |place| &held[place as usize]), Some(place));
            }
            prop_assert!(index.slots.len() < 64 || 4 * index.taken <= 3 * index.slots.len());
        }
    }
}
