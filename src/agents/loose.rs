//! JSON taken loosely: what is of the expected kind is taken, all else is passed over, and nothing of it is kept.
//!
//! The programs whose logs are read change their fields from week to week, and a field of another kind than expected must
//! not cost the line. So no type here fails on JSON that is well-formed: text that is no text is absent, a number that
//! cannot be a count is [`Count::Bad`], an object that is a list is absent, of a key given twice the last stands. Text is
//! borrowed from the line, and what nobody asks for is skipped without being built: reading a log
//! costs little more than finding its ends.
//!
//! `object!` declares the shape of an object; [`parse`] reads a line into one. JSON knows no `NaN`; some writers do, and
//! such a line is read as if it said `null`, and counted.
//!
//! It knows no program's format.

use core::fmt;
use std::borrow::Cow;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::time::parse_time;
use crate::engine::{MicroUsd, Timestamp};

/// The largest plausible count of one call, in tokens: ten times the largest context window in use.
pub const MAX_PER_CALL: u64 = 10_000_000;

/// The largest plausible running total of a session, in tokens.
pub const MAX_TOTAL: u64 = 1_000_000_000_000_000;

/// The largest plausible price of one call or session, in USD.
const MAX_USD: f64 = 1_000_000.0;

/// An object of a declared shape.
pub trait Object<'de>: Default {
    /// Takes the value under `key` where the shape has it; says whether it did.
    ///
    /// # Errors
    /// JSON that is not well-formed.
    fn take<A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<bool, A::Error>;
}

/// Declares the shape of an object: fields, their kinds, and the keys under which they stand.
macro_rules! object {
    ($($(#[$meta:meta])* $vis:vis struct $name:ident { $($(#[$doc:meta])* $field:ident: $kind:ty = $($key:literal)|+,)+ })+) => { $(
        $(#[$meta])*
        #[derive(Clone, Debug, Default)]
        $vis struct $name<'a> { $($(#[$doc])* pub $field: $kind,)+ marker: core::marker::PhantomData<&'a ()> }

        impl<'a> crate::agents::loose::Object<'a> for $name<'a> {
            fn take<A: serde::de::MapAccess<'a>>(&mut self, key: &str, map: &mut A) -> Result<bool, A::Error> {
                match key {
                    $($($key)|+ => map.next_value_seed(crate::agents::loose::Fill(&mut self.$field))?,)+
                    _ => return Ok(false),
                }
                Ok(true)
            }
        }
    )+ };
}
pub(crate) use object;

/// Reads one line into a shape and hands it on; says whether it could be read. Numbers that JSON does not have are counted as refused.
macro_rules! read_line {
    ($shape:ty, $text:expr, $health:expr, |$line:ident| $take:expr) => {{
        // allocates only where a line holds what JSON does not have
        let mut patched = String::new();
        match crate::agents::loose::parse::<$shape>($text, &mut patched) {
            crate::agents::loose::Parsed::Object($line, refused) => {
                $health.bad_numbers += refused;
                $take;
                true
            }
            crate::agents::loose::Parsed::Unreadable => false,
        }
    }};
}
pub(crate) use read_line;

/// A line read into a shape.
#[derive(Clone, Debug)]
pub enum Parsed<T> {
    /// An object, and how many values that JSON does not have (`NaN`, `Infinity`) were taken for `null`.
    Object(T, u64),
    /// Not JSON, or not an object.
    Unreadable,
}

/// Reads one line; `patched` is a buffer that is only used where the line holds what JSON does not have.
pub fn parse<'a, T: Object<'a>>(line: &'a str, patched: &'a mut String) -> Parsed<T> {
    if !line.trim_start().starts_with('{') {
        return Parsed::Unreadable;
    }
    let (mut object, mut times) = (Held::default(), 0);
    let mut read = fill(line, &mut object);
    if !read {
        times = patch(line, patched);
        read = times > 0 && fill(patched, &mut object);
    }
    match object.0 {
        Some(object) if read => Parsed::Object(object, times),
        Some(_) | None => Parsed::Unreadable,
    }
}

/// Reads all of a line into an object; says whether it is JSON.
fn fill<'a, T: Object<'a>>(line: &'a str, object: &mut Held<T>) -> bool {
    let mut json = serde_json::Deserializer::from_str(line);
    Fill(object).deserialize(&mut json).and_then(|()| json.end()).is_ok()
}

/// Reads one line as a whole value, where it is an object.
#[must_use]
pub fn value(line: &str) -> Option<serde_json::Value> {
    if !line.trim_start().starts_with('{') {
        return None;
    }
    let mut patched = String::new();
    let parsed = serde_json::from_str(line).or_else(|_| {
        patch(line, &mut patched);
        serde_json::from_str(&patched)
    });
    parsed.ok().filter(serde_json::Value::is_object)
}

/// Writes `line` with `null` for each number that JSON does not have outside of strings; how many there were.
fn patch(line: &str, patched: &mut String) -> u64 {
    const NUMBERS: [&str; 4] = ["NaN", "-Infinity", "Infinity", "-NaN"];
    patched.clear();
    let (mut times, mut quoted, mut at) = (0, false, 0);
    while let Some(mark) = line[at..].chars().next() {
        let wide = mark.len_utf8();
        if quoted && mark == '\\' {
            let escaped = line[at + wide..].chars().next().map_or(0, char::len_utf8);
            patched.push_str(&line[at..at + wide + escaped]);
            at += wide + escaped;
            continue;
        }
        if !quoted && let Some(number) = NUMBERS.iter().find(|number| line[at..].starts_with(**number)) {
            patched.push_str("null");
            at += number.len();
            times += 1;
            continue;
        }
        quoted ^= mark == '"';
        patched.push(mark);
        at += wide;
    }
    times
}

/// Text that is not empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Text<'a>(Option<Cow<'a, str>>);

impl Text<'_> {
    /// The text.
    #[must_use]
    pub fn get(&self) -> Option<&str> {
        self.0.as_deref().filter(|text| !text.is_empty())
    }

    /// The text, or nothing between quotes.
    #[must_use]
    pub fn word(&self) -> &str {
        self.get().unwrap_or("")
    }
}

/// A count of tokens as a source states it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Count {
    /// Not there, or null.
    #[default]
    Absent,
    /// A whole number from 0 to [`MAX_TOTAL`].
    Of(u64),
    /// There, and not to be believed: negative, a fraction, text, absurd.
    Bad,
}

impl Count {
    /// The count, where there is one of at most `max` to believe.
    #[must_use]
    pub const fn within(self, max: u64) -> Self {
        match self {
            Self::Of(count) if count > max => Self::Bad,
            Self::Absent | Self::Of(_) | Self::Bad => self,
        }
    }

    /// The count, where there is one to believe.
    #[must_use]
    pub const fn get(self) -> Option<u64> {
        match self {
            Self::Of(count) => Some(count),
            Self::Absent | Self::Bad => None,
        }
    }
}

/// A moment: RFC 3339 text, or milliseconds of Unix time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Time(pub Option<Timestamp>);

/// A price in USD, kept in millionths.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Price {
    /// Not there, or null.
    #[default]
    Absent,
    /// From 0 to a million USD.
    Of(MicroUsd),
    /// There, and not to be believed.
    Bad,
}

impl Price {
    /// The price, where there is one to believe.
    #[must_use]
    pub const fn get(self) -> Option<MicroUsd> {
        match self {
            Self::Of(price) => Some(price),
            Self::Absent | Self::Bad => None,
        }
    }
}

/// True, false, or neither.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flag(pub Option<bool>);

impl Flag {
    /// It is there, and true.
    #[must_use]
    pub fn is_set(self) -> bool {
        self.0 == Some(true)
    }
}

/// An object, where there is one.
#[derive(Clone, Debug)]
pub struct Held<T>(pub Option<T>);

impl<T> Default for Held<T> {
    fn default() -> Self {
        Self(None)
    }
}

impl<T: Default + Clone> Held<T> {
    /// The object, or an empty one.
    #[must_use]
    pub fn or_empty(self) -> T {
        self.0.unwrap_or_default()
    }
}

/// An object that is only looked at for being there: something other than null.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Present(pub bool);

/// The objects of a list; what is no object in it is passed over.
#[derive(Clone, Debug)]
pub struct List<T>(pub Vec<T>);

impl<T> Default for List<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

/// The objects of an object, by name; what is no object in it is passed over.
#[derive(Clone, Debug)]
pub struct Named<'a, T>(pub Vec<(Cow<'a, str>, T)>);

impl<T> Default for Named<'_, T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

/// What each kind makes of each kind of JSON value; by default it passes over all of them.
///
/// Values are filled in where they stand: the objects are large, and moving them about would cost more than reading them.
pub trait Take<'de>: Default {
    /// Text.
    fn text(&mut self, _: Cow<'de, str>) {}
    /// A whole number that is not negative.
    fn whole(&mut self, _: u64) {}
    /// Any other number.
    fn number(&mut self, _: f64) {}
    /// True or false.
    fn flag(&mut self, _: bool) {}
    /// An object.
    ///
    /// # Errors
    /// JSON that is not well-formed.
    fn map<A: MapAccess<'de>>(&mut self, mut map: A) -> Result<(), A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        self.other();
        Ok(())
    }
    /// A list.
    ///
    /// # Errors
    /// JSON that is not well-formed.
    fn list<A: SeqAccess<'de>>(&mut self, mut list: A) -> Result<(), A::Error> {
        while list.next_element::<IgnoredAny>()?.is_some() {}
        self.other();
        Ok(())
    }
    /// A value that is neither null nor of a kind that it takes.
    fn other(&mut self) {}
}

/// Fills a value from JSON, whatever it held before.
#[derive(Debug)]
pub struct Fill<'s, T>(pub &'s mut T);

impl<'de, T: Take<'de>> DeserializeSeed<'de> for Fill<'_, T> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        *self.0 = T::default();
        from.deserialize_any(self)
    }
}

impl<'de, T: Take<'de>> Visitor<'de> for Fill<'_, T> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<(), E> {
        self.0.flag(value);
        Ok(())
    }

    fn visit_u64<E>(self, value: u64) -> Result<(), E> {
        self.0.whole(value);
        Ok(())
    }

    fn visit_i64<E>(self, value: i64) -> Result<(), E> {
        match u64::try_from(value) {
            Ok(value) => self.0.whole(value),
            Err(_) => self.0.number(-1.0),
        }
        Ok(())
    }

    fn visit_f64<E>(self, value: f64) -> Result<(), E> {
        self.0.number(value);
        Ok(())
    }

    fn visit_borrowed_str<E>(self, value: &'de str) -> Result<(), E> {
        self.0.text(Cow::Borrowed(value));
        Ok(())
    }

    fn visit_str<E>(self, value: &str) -> Result<(), E> {
        self.0.text(Cow::Owned(value.to_owned()));
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<(), A::Error> {
        self.0.list(list)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<(), A::Error> {
        self.0.map(map)
    }
}

impl<'de> Take<'de> for Text<'de> {
    fn text(&mut self, text: Cow<'de, str>) {
        self.0 = Some(text);
    }
}

impl<'de> Take<'de> for Count {
    fn text(&mut self, _: Cow<'de, str>) {
        *self = Self::Bad;
    }
    fn whole(&mut self, count: u64) {
        *self = Self::Of(count).within(MAX_TOTAL);
    }
    fn number(&mut self, _: f64) {
        *self = Self::Bad;
    }
    fn flag(&mut self, _: bool) {
        *self = Self::Bad;
    }
    fn other(&mut self) {
        *self = Self::Bad;
    }
}

impl<'de> Take<'de> for Time {
    fn text(&mut self, text: Cow<'de, str>) {
        self.0 = parse_time(&text);
    }
    fn whole(&mut self, millis: u64) {
        // 2200-01-01; seconds of Unix time would be read as a day in January 1970
        const SENSIBLE: core::ops::Range<u64> = 100_000_000_000..7_258_118_400_000;
        self.0 = SENSIBLE.contains(&millis).then(|| Timestamp::from_millis(millis));
    }
}

impl<'de> Take<'de> for Price {
    fn text(&mut self, _: Cow<'de, str>) {
        *self = Self::Bad;
    }
    fn whole(&mut self, dollars: u64) {
        match u32::try_from(dollars) {
            Ok(dollars) => self.number(f64::from(dollars)),
            Err(_) => *self = Self::Bad,
        }
    }
    fn number(&mut self, dollars: f64) {
        *self = if (0.0..=MAX_USD).contains(&dollars) { Self::Of(micros(dollars)) } else { Self::Bad };
    }
    fn flag(&mut self, _: bool) {
        *self = Self::Bad;
    }
    fn other(&mut self) {
        *self = Self::Bad;
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "between 0 and a million USD: far below 2^53 millionths"
)]
fn micros(dollars: f64) -> MicroUsd {
    MicroUsd::new((dollars * 1e6).round() as u64)
}

impl<'de> Take<'de> for Flag {
    fn flag(&mut self, flag: bool) {
        self.0 = Some(flag);
    }
}

impl<'de> Take<'de> for Present {
    fn text(&mut self, _: Cow<'de, str>) {
        self.0 = true;
    }
    fn whole(&mut self, _: u64) {
        self.0 = true;
    }
    fn number(&mut self, _: f64) {
        self.0 = true;
    }
    fn flag(&mut self, _: bool) {
        self.0 = true;
    }
    fn other(&mut self) {
        self.0 = true;
    }
}

impl<'de, T: Object<'de>> Take<'de> for Held<T> {
    fn map<A: MapAccess<'de>>(&mut self, mut map: A) -> Result<(), A::Error> {
        let object = self.0.insert(T::default());
        let mut key = Text::default();
        while map.next_key_seed(Fill(&mut key))?.is_some() {
            if !object.take(key.word(), &mut map)? {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(())
    }
}

impl<'de, T: Object<'de>> Take<'de> for List<T> {
    fn list<A: SeqAccess<'de>>(&mut self, mut list: A) -> Result<(), A::Error> {
        let mut item = Held::default();
        while list.next_element_seed(Fill(&mut item))?.is_some() {
            self.0.extend(item.0.take());
        }
        Ok(())
    }
}

impl<'de, T: Object<'de>> Take<'de> for Named<'de, T> {
    fn map<A: MapAccess<'de>>(&mut self, mut map: A) -> Result<(), A::Error> {
        let (mut name, mut item) = (Text::default(), Held::default());
        while map.next_key_seed(Fill(&mut name))?.is_some() {
            map.next_value_seed(Fill(&mut item))?;
            self.0.extend(name.0.take().zip(item.0.take()));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::marker::PhantomData;
    use proptest::prelude::*;

    object! {
        struct Inner {
            count: Count = "count",
            price: Price = "price",
            flag: Flag = "flag",
            at: Time = "at",
        }
        struct Line {
            kind: Text<'a> = "type" | "kind",
            inner: Held<Inner<'a>> = "inner",
            list: List<Inner<'a>> = "list",
            named: Named<'a, Inner<'a>> = "named",
            any: Present = "any",
        }
    }

    fn read(line: &str) -> Option<(String, Inner<'static>, usize, Vec<String>, bool, u64)> {
        let mut buffer = String::new();
        match parse::<Line<'_>>(line, &mut buffer) {
            Parsed::Unreadable => None,
            Parsed::Object(line, patched) => {
                let inner = line.inner.or_empty();
                let inner = Inner {
                    count: inner.count,
                    price: inner.price,
                    flag: inner.flag,
                    at: inner.at,
                    marker: PhantomData,
                };
                let names = line.named.0.iter().map(|(name, _)| name.to_string()).collect();
                Some((line.kind.word().to_owned(), inner, line.list.0.len(), names, line.any.0, patched))
            }
        }
    }

    fn count(value: &str) -> Count {
        read(&format!(r#"{{"inner":{{"count":{value}}}}}"#)).unwrap().1.count
    }

    #[test]
    fn what_is_of_the_kind_is_taken_and_all_else_passed_over() {
        let (kind, inner, list, names, any, _) = read(
            r#"{"kind":"a\nb","new":{"deep":[1,{"x":null}]},"inner":{"count":7,"price":0.25,"flag":true,"at":"1970-01-01T00:00:01Z","z":[]},
                "list":[{},1,"x",{"count":1},[]],"named":{"a":{},"b":3,"c":{"count":2}},"any":[]}"#,
        )
        .unwrap();
        assert_eq!((kind.as_str(), list, names, any), ("a\nb", 2, vec!["a".to_owned(), "c".to_owned()], true));
        assert_eq!((inner.count, inner.flag.is_set()), (Count::Of(7), true));
        assert_eq!((inner.price.get(), inner.at.0), (Some(MicroUsd::new(250_000)), Some(Timestamp::from_millis(1000))));
        let (kind, inner, list, names, any, _) =
            read(r#"{"type":["x"],"inner":[1],"list":{"a":1},"named":[{}],"any":null}"#).unwrap();
        assert_eq!((kind.as_str(), inner.count, list, names.len(), any), ("", Count::Absent, 0, 0, false));
    }

    #[test]
    fn of_a_key_given_twice_the_last_stands() {
        assert_eq!(read(r#"{"type":"a","type":"b"}"#).unwrap().0, "b");
    }

    #[test]
    fn numbers_that_are_no_counts() {
        for bad in
            ["\"7\"", "-1", "7.5", "7.0", "1e300", "1000000000000001", "true", "[7]", "{}", "18446744073709551616"]
        {
            assert_eq!(count(bad), Count::Bad, "{bad}");
        }
        assert_eq!((count("null"), count("0"), count("7")), (Count::Absent, Count::Of(0), Count::Of(7)));
        assert_eq!(count("10000001").within(MAX_PER_CALL), Count::Bad);
    }

    #[test]
    fn prices_and_times_that_cannot_be() {
        let inner = |key: &str, value: &str| read(&format!(r#"{{"inner":{{"{key}":{value}}}}}"#)).unwrap().1;
        for bad in ["-0.1", "\"1\"", "1e9", "[]"] {
            assert_eq!(inner("price", bad).price, Price::Bad, "{bad}");
        }
        assert_eq!(inner("price", "3").price.get(), Some(MicroUsd::new(3_000_000)));
        assert_eq!(inner("at", "1785262846283").at.0, Some(Timestamp::from_millis(1_785_262_846_283)));
        for bad in ["1785262846", "-5", "1.5", "\"soon\"", "9999999999999999"] {
            assert_eq!(inner("at", bad).at.0, None, "{bad}");
        }
    }

    #[test]
    fn a_number_that_json_does_not_have_costs_itself_and_not_the_line() {
        let (kind, inner, .., patched) =
            read(r#"{"type":"a NaN \" NaN","inner":{"count":NaN,"price":-Infinity,"flag":true}}"#).unwrap();
        assert_eq!((kind.as_str(), patched), ("a NaN \" NaN", 2));
        assert_eq!((inner.count, inner.price, inner.flag.is_set()), (Count::Absent, Price::Absent, true));
        for bad in ["", "1", "[{}]", "\"{}\"", "{", "{\"type\":}", "nothing", "{\"a\":NaN"] {
            assert!(read(bad).is_none(), "{bad}");
        }
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(line in r#"\{?["\\{}\[\]:,NaInfity0-9eE+. \u{e9}\u{2028}-]{0,60}"#) {
            let _ = read(&line);
        }
    }
}
