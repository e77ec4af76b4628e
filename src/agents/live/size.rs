//! How much there is of a value, without keeping any of it.

use std::borrow::Cow;

use serde::de::{MapAccess, SeqAccess};

use super::super::loose::{Fill, Take};

/// The bytes of all texts inside a value, keys included, and about as much for what is no text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Size(pub usize);

impl<'de> Take<'de> for Size {
    fn text(&mut self, text: Cow<'de, str>) {
        self.0 = text.len();
    }
    fn whole(&mut self, _: u64) {
        self.0 = 4;
    }
    fn number(&mut self, _: f64) {
        self.0 = 4;
    }
    fn flag(&mut self, _: bool) {
        self.0 = 4;
    }
    fn map<A: MapAccess<'de>>(&mut self, mut map: A) -> Result<(), A::Error> {
        let (mut key, mut value) = (Self::default(), Self::default());
        while map.next_key_seed(Fill(&mut key))?.is_some() {
            map.next_value_seed(Fill(&mut value))?;
            self.0 = self.0.saturating_add(key.0).saturating_add(value.0);
        }
        Ok(())
    }
    fn list<A: SeqAccess<'de>>(&mut self, mut list: A) -> Result<(), A::Error> {
        let mut item = Self::default();
        while list.next_element_seed(Fill(&mut item))?.is_some() {
            self.0 = self.0.saturating_add(item.0);
        }
        Ok(())
    }
}
