//! Reading a TOML document with the place of everything in it: unknown keys, types and bounds, each fault kept with its
//! line and key, so that a person sees all of them at once.
//!
//! A method that answers `None` has reported why. It knows nothing of scenarios: settings and suites of gates are read by it too.

use std::cell::RefCell;
use std::ops::Range;

use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue};

use super::error::Problem;
use super::load::Takes;
use crate::lab::axis::nearest;

/// More faults than these help nobody.
const MOST_PROBLEMS: usize = 50;

/// The faults found so far in one text.
#[derive(Debug)]
pub(in crate::lab) struct Report<'t> {
    text: &'t str,
    problems: RefCell<Vec<Problem>>,
    /// Paths of keys that a misspelt one seems to mean, and where that stands.
    meant: RefCell<Vec<(String, usize)>>,
}

impl<'t> Report<'t> {
    pub(in crate::lab) fn new(text: &'t str) -> Self {
        Self { text, problems: RefCell::default(), meant: RefCell::default() }
    }

    pub(in crate::lab) fn say(&self, at: usize, key: &str, what: impl Into<String>) {
        if self.problems.borrow().len() >= MOST_PROBLEMS {
            return;
        }
        let before = self.text.get(..at).unwrap_or(self.text);
        let line = self.line(at);
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        self.problems.borrow_mut().push(Problem { line, column, key: key.to_owned(), what: what.into() });
    }

    /// The line of a place, from 1.
    pub(in crate::lab) fn line(&self, at: usize) -> usize {
        self.text.get(..at).unwrap_or(self.text).bytes().filter(|b| *b == b'\n').count() + 1
    }

    /// A fault of the syntax, where no keys are known yet: the key is made out from the lines.
    pub(in crate::lab) fn syntax(&self, error: &toml::de::Error) {
        let at = error.span().map_or(self.text.len(), |span| span.start);
        let mut start = at.min(self.text.len());
        while !self.text.is_char_boundary(start) {
            start -= 1;
        }
        let what = format!("this is no valid TOML: {}", error.message().replace('\n', ", "));
        let ends = self.text.get(start..).unwrap_or_default().trim().is_empty();
        let what = if ends { format!("{what}; the file ends here: is it complete?") } else { what };
        self.say(start, &key_near(self.text, start), what);
    }

    /// Nothing has been reported.
    pub(in crate::lab) fn is_clean(&self) -> bool {
        self.problems.borrow().is_empty()
    }

    /// All faults in the order of their places.
    pub(in crate::lab) fn into_problems(self) -> Vec<Problem> {
        let mut problems = self.problems.into_inner();
        problems.sort_by_key(|problem| (problem.line, problem.column));
        problems
    }
}

/// The key that the text at `at` belongs to, read off the lines before it: the last table's header, and the last key
/// that stands before an equals sign since.
fn key_near(text: &str, at: usize) -> String {
    let line_end = text.get(at..).and_then(|rest| rest.find('\n')).map_or(text.len(), |end| at + end);
    let mut table = String::new();
    let mut key = String::new();
    for line in text.get(..line_end).unwrap_or_default().lines().map(str::trim) {
        if let Some(header) = line.strip_prefix('[') {
            let name = header.trim_start_matches('[').split(']').next().unwrap_or_default();
            (table, key) = (name.trim().to_owned(), String::new());
        } else if let Some((left, _)) = line.split_once('=') {
            key = left.trim().to_owned();
        } else if !line.is_empty() && !line.starts_with('#') && line.len() <= 40 {
            key = line.to_owned();
        }
    }
    match (table.is_empty(), key.is_empty()) {
        (true, _) => key,
        (false, true) => table,
        (false, false) => format!("{table}.{key}"),
    }
}

/// The bounds of a number; `open` where the lower one itself is outside.
#[derive(Clone, Copy, Debug)]
pub(in crate::lab) struct Bounds {
    least: f64,
    open: bool,
    most: f64,
}

impl Bounds {
    /// From `least` to `most`, both allowed.
    pub(in crate::lab) const fn within(least: f64, most: f64) -> Self {
        Self { least, open: false, most }
    }

    /// Above 0, up to `most`.
    pub(in crate::lab) const fn positive(most: f64) -> Self {
        Self { least: 0.0, open: true, most }
    }

    fn hold(self, value: f64) -> bool {
        (if self.open { value > self.least } else { value >= self.least }) && value <= self.most
    }
}

/// A value with its key and its place.
#[derive(Clone, Debug)]
pub(in crate::lab) struct Item<'r> {
    report: &'r Report<'r>,
    key: String,
    at: Range<usize>,
    value: &'r DeValue<'r>,
}

impl<'r> Item<'r> {
    fn new(report: &'r Report<'r>, key: String, value: &'r Spanned<DeValue<'r>>) -> Self {
        Self { report, key, at: value.span(), value: value.get_ref() }
    }

    /// Reports that this value is wrong.
    pub(in crate::lab) fn wrong<T>(&self, what: impl Into<String>) -> Option<T> {
        self.report.say(self.at.start, &self.key, what);
        None
    }

    fn mistyped<T>(&self, wanted: &str) -> Option<T> {
        self.wrong(format!("it must be {wanted}, and is {}", name_of(self.value)))
    }

    /// The table, after every key of it that is not `known` was reported.
    pub(in crate::lab) fn table(&self, known: &[&str]) -> Option<Fields<'r>> {
        let Some(entries) = self.value.as_table() else { return self.mistyped("a table") };
        let fields = Fields { report: self.report, key: self.key.clone(), at: self.at.start, entries };
        fields.refuse_others(known);
        Some(fields)
    }

    /// The entries of a table that is a list by name.
    pub(in crate::lab) fn names(&self) -> Option<Vec<(&'r str, Self)>> {
        let Some(entries) = self.value.as_table() else { return self.mistyped("a table") };
        let named = |(name, value): (&'r Spanned<DeString<'r>>, _)| {
            let name: &'r str = name.get_ref();
            (name, Self::new(self.report, join(&self.key, name), value))
        };
        Some(entries.iter().map(named).collect())
    }

    pub(in crate::lab) fn list(&self) -> Option<Vec<Self>> {
        let Some(list) = self.value.as_array() else { return self.mistyped("a list") };
        let item = |(index, value)| Self::new(self.report, format!("{}[{index}]", self.key), value);
        Some(list.iter().enumerate().map(item).collect())
    }

    pub(in crate::lab) fn word(&self) -> Option<&'r str> {
        match self.value.as_str() {
            None => self.mistyped("a text in quotes"),
            Some(word) if word.trim().is_empty() => self.wrong("it must not be empty"),
            Some(word) => Some(word),
        }
    }

    /// One of these words.
    pub(in crate::lab) fn choice<T: Copy>(&self, known: &[(&str, T)]) -> Option<T> {
        let word = self.word()?;
        if let Some((_, value)) = known.iter().find(|(name, _)| *name == word) {
            return Some(*value);
        }
        let names: Vec<&str> = known.iter().map(|(name, _)| *name).collect();
        let near = nearest(word, &names).map(|near| format!("did you mean {near:?}? ")).unwrap_or_default();
        self.wrong(format!("{word:?} is not known here; {near}it must be one of {}", names.join(", ")))
    }

    /// A finite number within bounds.
    pub(in crate::lab) fn real(&self, bounds: Bounds) -> Option<f64> {
        let (text, value) = match self.value {
            DeValue::Float(number) => (number.as_str().to_owned(), number.as_str().parse::<f64>().ok()),
            DeValue::Integer(number) if number.radix() == 10 => {
                (number.as_str().to_owned(), number.as_str().parse::<f64>().ok())
            }
            DeValue::Integer(_)
            | DeValue::String(_)
            | DeValue::Boolean(_)
            | DeValue::Datetime(_)
            | DeValue::Array(_)
            | DeValue::Table(_) => return self.mistyped("a number"),
        };
        match value {
            Some(value) if !value.is_finite() => self.wrong(format!("it must be a finite number, and is {text}")),
            // Minus nought is nought.
            Some(value) if bounds.hold(value) => Some(value + 0.0),
            Some(_) | None => {
                let from = if bounds.open { "above" } else { "at least" };
                self.wrong(format!("it must be {from} {} and at most {}, and is {text}", bounds.least, bounds.most))
            }
        }
    }

    /// A whole number within bounds.
    pub(in crate::lab) fn count(&self, least: u64, most: u64) -> Option<u64> {
        let DeValue::Integer(number) = self.value else { return self.mistyped("a whole number") };
        match u64::from_str_radix(number.as_str(), number.radix()) {
            Ok(value) if (least..=most).contains(&value) => Some(value),
            Ok(_) | Err(_) => self.wrong(format!("it must be from {least} to {most}, and is {}", number.as_str())),
        }
    }

    /// A whole number that fits 32 bits.
    pub(in crate::lab) fn count32(&self, least: u32, most: u32) -> Option<u32> {
        self.count(least.into(), most.into()).and_then(|value| u32::try_from(value).ok())
    }

    /// The characters of a number or of a text in quotes, for values that are read exactly.
    pub(in crate::lab) fn literal(&self) -> Option<&'r str> {
        match self.value {
            DeValue::String(text) => Some(text.as_ref()),
            DeValue::Float(number) => Some(number.as_str()),
            DeValue::Integer(number) if number.radix() == 10 => Some(number.as_str()),
            DeValue::Integer(_)
            | DeValue::Boolean(_)
            | DeValue::Datetime(_)
            | DeValue::Array(_)
            | DeValue::Table(_) => self.mistyped("a decimal number or a text in quotes"),
        }
    }

    /// The truth value, where it is one; what else it is is for the caller to tell.
    pub(in crate::lab) const fn truth(&self) -> Option<bool> {
        match self.value {
            DeValue::Boolean(value) => Some(*value),
            DeValue::String(_)
            | DeValue::Float(_)
            | DeValue::Integer(_)
            | DeValue::Datetime(_)
            | DeValue::Array(_)
            | DeValue::Table(_) => None,
        }
    }

    /// What it says as text, where it is of the type that is taken: a literal as it stands, a truth value, a list of texts as JSON.
    pub(in crate::lab) fn plain(&self, takes: Takes) -> Option<String> {
        match (takes, self.value) {
            (Takes::Number, _) => self.literal().map(str::to_owned),
            (Takes::Truth, DeValue::Boolean(value)) => Some(value.to_string()),
            (Takes::Truth, _) => self.mistyped("true or false, without quotes"),
            (Takes::Text | Takes::Texts, DeValue::String(text)) => Some(text.as_ref().to_owned()),
            (Takes::Texts, DeValue::Array(_)) => {
                let words: Option<Vec<&str>> = self.list()?.iter().map(Self::word).collect();
                serde_json::to_string(&words?).ok()
            }
            (Takes::Text, _) => self.mistyped("a text in quotes"),
            (Takes::Texts, _) => self.mistyped("a list of texts in quotes, or one of them"),
        }
    }

    /// The line that it stands on, from 1.
    pub(in crate::lab) fn line(&self) -> usize {
        self.report.line(self.at.start)
    }

    /// What `read` makes of the literal.
    pub(in crate::lab) fn parsed<T>(&self, read: impl Fn(&str) -> Result<T, String>) -> Option<T> {
        let text = self.literal()?;
        read(text).or_else(|why| self.wrong::<T>(format!("{text:?}: {why}")).ok_or(())).ok()
    }
}

fn name_of(value: &DeValue<'_>) -> String {
    match value {
        DeValue::String(text) if text.len() <= 40 => format!("the text {text:?}"),
        DeValue::String(_) => "a text".to_owned(),
        DeValue::Integer(number) if number.radix() == 10 => format!("the number {}", number.as_str()),
        DeValue::Integer(_) => "a number that is not written in decimal".to_owned(),
        DeValue::Float(number) => format!("the number {}", number.as_str()),
        DeValue::Boolean(value) => format!("the truth value {value}"),
        DeValue::Datetime(_) => "a date".to_owned(),
        DeValue::Array(_) => "a list".to_owned(),
        DeValue::Table(_) => "a table".to_owned(),
    }
}

/// The path of `key` in the table at `path`. A key may hold anything; what is printed stays on one line.
fn join(path: &str, key: &str) -> String {
    let key: String = key.chars().take(80).flat_map(char::escape_debug).collect();
    if path.is_empty() { key } else { format!("{path}.{key}") }
}

/// A table with its path and its place.
#[derive(Clone, Debug)]
pub(in crate::lab) struct Fields<'r> {
    report: &'r Report<'r>,
    key: String,
    at: usize,
    entries: &'r DeTable<'r>,
}

impl<'r> Fields<'r> {
    /// The table as a whole document; what is missing in it is told at `at`.
    pub(in crate::lab) const fn root(report: &'r Report<'r>, at: usize, entries: &'r DeTable<'r>) -> Self {
        Self { report, key: String::new(), at, entries }
    }

    /// Reports every key that is not `known`, with the nearest that is.
    pub(in crate::lab) fn refuse_others(&self, known: &[&str]) {
        for key in self.entries.keys().filter(|key| !known.contains(&key.get_ref().as_ref())) {
            let name: &str = key.get_ref();
            let advice = match nearest(name, known) {
                Some(near) => {
                    self.report.meant.borrow_mut().push((self.path(near), key.span().start));
                    format!("unknown key; did you mean `{near}`?")
                }
                None => format!("unknown key; known here: {}", known.join(", ")),
            };
            self.report.say(key.span().start, &self.path(name), advice);
        }
    }

    fn path(&self, key: &str) -> String {
        join(&self.key, key)
    }

    /// The value of a key that may be absent.
    pub(in crate::lab) fn get(&self, key: &str) -> Option<Item<'r>> {
        let (_, value) = self.entries.iter().find(|(name, _)| name.get_ref().as_ref() == key)?;
        Some(Item::new(self.report, self.path(key), value))
    }

    /// The value of a key that must be there.
    pub(in crate::lab) fn need(&self, key: &str) -> Option<Item<'r>> {
        let item = self.get(key);
        if item.is_none() {
            // where it seems to be misspelt it is told there, after that: the slip is the cause
            let path = self.path(key);
            let misspelt = self.report.meant.borrow().iter().find(|(meant, _)| *meant == path).map(|(_, at)| *at);
            self.report.say(misspelt.unwrap_or(self.at), &path, "it is missing");
        }
        item
    }

    /// Reports that this table as a whole is wrong, under the name of one of its keys.
    pub(in crate::lab) fn wrong<T>(&self, key: &str, what: impl Into<String>) -> Option<T> {
        self.report.say(self.at, &self.path(key), what);
        None
    }

    /// A number that must be there.
    pub(in crate::lab) fn real(&self, key: &str, bounds: Bounds) -> Option<f64> {
        self.need(key)?.real(bounds)
    }

    /// A number, or `default` where the key is absent.
    pub(in crate::lab) fn real_or(&self, key: &str, default: f64, bounds: Bounds) -> Option<f64> {
        self.get(key).map_or(Some(default), |item| item.real(bounds))
    }

    /// What `read` makes of the key, or `default` where it is absent.
    pub(in crate::lab) fn or<T>(&self, key: &str, default: T, read: impl FnOnce(Item<'r>) -> Option<T>) -> Option<T> {
        self.get(key).map_or(Some(default), read)
    }
}
