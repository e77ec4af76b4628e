//! The list of features: what is to be done, of which the agent may flip `passes` and nothing else.
//!
//! The list is a JSON array of objects, or an object that has one array of objects. Each has `passes`, true or false, and may have
//! `test`, which is put into the gate's command for `{test}`. What everything but `passes` must be is the copy that was committed when
//! the run began; a commit that the agent makes later changes nothing about it. After a round:
//!
//! | found | done |
//! |---|---|
//! | a list that differs in `passes` alone | each feature that passes has its test run; where that does not pass, `passes` is false again |
//! | a list that is written otherwise and says the same | as before, and the committed writing is put back |
//! | anything else: changed, removed, added, put in another order, no JSON, no file | the committed writing is put back, with what passed before the round |
//!
//! A feature without a test passes when the agent says so only where no gate is set; with one it is refused at the start. Flipping back to
//! false is free. All pass: done. Tests run in a folder outside the project, each for so long at most; a test that is ended or cannot be run proves
//! nothing, so its flip does not survive. A command that the system cannot even start is the gate's fault and not the agent's: then the
//! list says what it said before the round, and [`Looked::broken`] says why.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::git::Git;
use super::oracle::{self, Exits};
use super::os::{CheckEnd, Keep, Os, Put};
use super::place::Place;
use super::tree::{Bounds, TreeAsk};
use crate::engine::{Answer, Millis, counted};

/// The longest list, in bytes.
const MOST: u64 = 16 * 1024 * 1024;
/// How many files of a gate are looked at for who can write them.
const LOOKED: usize = 10_000;
/// How much of what tests print is kept, in bytes.
const KEPT: usize = 1024 * 1024;

/// How tests are run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gate {
    /// The command; `{test}` is replaced in each word by the feature's test.
    pub command: Vec<String>,
    /// The folder that it runs in, outside the project.
    pub folder: PathBuf,
    /// How long one test may take.
    pub limit: Millis,
    /// Refuse a folder that this user can write.
    pub strict: bool,
}

/// The list of a project.
#[derive(Clone, Debug)]
pub struct Features {
    file: PathBuf,
    gate: Option<Gate>,
    commit: String,
    text: String,
    value: Value,
    /// Where each `passes` stands in the text.
    places: Vec<core::ops::Range<usize>>,
    tests: Vec<Option<String>>,
    names: Vec<String>,
    passing: Vec<bool>,
}

/// What a look at the list came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Looked {
    /// For people: what was put back, which flips did not survive.
    pub notes: Vec<String>,
    /// How many features pass, with their tests.
    pub passing: usize,
    /// How many there are.
    pub count: usize,
    /// What tests printed.
    pub output: Vec<u8>,
    /// How long tests took.
    pub lasted: Millis,
    /// Not every test was run: no time was left, or somebody asked the runner to stop.
    pub cut: bool,
    /// The first test that could not be started, in words: the gate can say nothing.
    pub broken: Option<String>,
}

impl Looked {
    /// Whether all features pass.
    #[must_use]
    pub const fn is_done(&self) -> bool {
        self.passing == self.count && !self.cut && self.broken.is_none()
    }
}

/// What one test came to.
enum Tested {
    /// It ended.
    Answered(Answer),
    /// No time was left, or somebody asked the runner to stop.
    Cut,
    /// The system could not start it; why, and what to do.
    NotStarted(String),
}

/// Where the parts of a list are.
struct Read {
    value: Value,
    places: Vec<core::ops::Range<usize>>,
    passing: Vec<bool>,
}

impl Features {
    /// Opens a list as it is committed. `commit` is that of an earlier process of the run; none is the present one. The notes are for people: a gate
    /// that this user can write.
    ///
    /// # Errors
    /// In words: a list that is not committed, not as it must be, or a gate that cannot be trusted and is asked to be strict.
    pub fn open(
        os: &mut impl Os,
        place: &Place,
        git: &Git,
        file: &Path,
        commit: Option<&str>,
        gate: Option<Gate>,
    ) -> Result<(Self, Vec<String>), String> {
        let name = file.display();
        let below = place.below(file).ok_or_else(|| format!("the list of features {name} is not in the project"))?;
        let head = match commit {
            Some(commit) => commit.to_owned(),
            None => git.head(os).ok_or_else(|| {
                format!("the list of features {name} must be committed before the run, so that it can be put back: there is no commit here")
            })?,
        };
        let bytes = git.committed(os, &head, &below).ok_or_else(|| {
            format!("the list of features {name} must be committed before the run, so that it can be put back: `git add {name}` and commit it")
        })?;
        let text = String::from_utf8(bytes).map_err(|_| format!("the list of features {name} is no text"))?;
        let Read { value, places, passing } =
            read(&text).map_err(|why| format!("the list of features {name}: {why}"))?;
        let (mut tests, mut names) = (Vec::new(), Vec::new());
        for (at, feature) in items(&value).unwrap_or_default().iter().enumerate() {
            let test = feature.get("test").and_then(Value::as_str).map(str::to_owned);
            let title = ["id", "name", "title", "description"].iter().find_map(|key| feature.get(*key)?.as_str());
            let title = title.map_or_else(|| format!("feature {}", at + 1), str::to_owned);
            if gate.is_some() && test.as_deref().is_none_or(str::is_empty) {
                return Err(format!(
                    "the list of features {name}: `{title}` has no `test`, and the gate has none to run for it"
                ));
            }
            tests.push(test);
            names.push(title);
        }
        let notes = gate.as_ref().map_or(Ok(Vec::new()), |gate| gate.look(os, place))?;
        let list = Self { file: below, gate, commit: head, text, value, places, tests, names, passing };
        if commit.is_none() {
            // what a person is about to commit is not put back
            let now = os.read(&place.project.join(&list.file), MOST).map_err(|error| error.to_string());
            let now = now.and_then(|bytes| String::from_utf8(bytes).map_err(|_| "it is no text".to_owned()));
            now.and_then(|text| list.flips(&text)).map_err(|why| {
                format!(
                    "the list of features {name} is not as it is committed: {why}; commit it, or `git checkout {name}`"
                )
            })?;
        }
        Ok((list, notes))
    }

    /// The commit that the list is held against, for the record.
    #[must_use]
    pub fn commit(&self) -> &str {
        &self.commit
    }

    /// The list's path in the project: not content, or a flip would be progress.
    #[must_use]
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// The names of the features that do not pass, in order.
    pub fn missing(&self) -> impl Iterator<Item = &str> {
        self.names.iter().zip(&self.passing).filter(|(_, passes)| !**passes).map(|(name, _)| name.as_str())
    }

    /// Looks at the list after a round, or before the first one.
    pub fn look(&mut self, os: &mut impl Os, place: &Place, left: Option<Millis>) -> Looked {
        let name = self.file.display().to_string();
        let mut looked = Looked { count: self.passing.len(), ..Looked::default() };
        let found = os.read(&place.project.join(&self.file), MOST);
        let text = found
            .map_err(|error| error.to_string())
            .and_then(|bytes| String::from_utf8(bytes).map_err(|_| "it is no text".to_owned()));
        let passing = text.as_ref().map_err(Clone::clone).and_then(|text| self.flips(text));
        let mut passing = passing.unwrap_or_else(|why| {
            looked.notes.push(format!("{name} was changed beyond `passes` and is put back: {why}"));
            self.passing.clone()
        });
        self.run_tests(os, place, left, &mut passing, &mut looked);
        let right = self.with(&passing);
        if text.as_ref() != Ok(&right) {
            if looked.notes.is_empty() {
                looked.notes.push(format!("{name} was written otherwise, and is put back"));
            }
            if let Err(error) = os.put(&place.project, &self.file, Put::File(right.as_bytes(), 0o644)) {
                looked.notes.push(format!("{name} cannot be put back: {error}"));
                looked.cut = true;
            }
        }
        looked.passing = passing.iter().filter(|passes| **passes).count();
        self.passing = passing;
        looked
    }

    /// Runs the test of each feature that is said to pass.
    fn run_tests(
        &self,
        os: &mut impl Os,
        place: &Place,
        left: Option<Millis>,
        passing: &mut [bool],
        looked: &mut Looked,
    ) {
        let Some(gate) = &self.gate else { return };
        for (at, passes) in passing.iter_mut().enumerate().filter(|(_, passes)| **passes) {
            let left = left.map(|left| left.minus(looked.lasted));
            let test = self.tests[at].as_deref().unwrap_or("");
            let answer = match gate.test(os, place, test, left, looked) {
                Tested::Answered(answer) => answer,
                // a test that was not run says nothing
                Tested::Cut => {
                    *passes = self.passing[at];
                    looked.cut = true;
                    continue;
                }
                Tested::NotStarted(why) => {
                    *passes = self.passing[at];
                    let name = &self.names[at];
                    let why = format!("the test {test} of `{name}` could not be run: {why}");
                    looked.notes.push(format!("{why}; `{name}` is as it was before the round"));
                    looked.broken.get_or_insert(why);
                    continue;
                }
            };
            if answer != Answer::Pass {
                *passes = false;
                let why = oracle::last_line(&looked.output).map_or_else(String::new, |line| format!(": {line}"));
                looked
                    .notes
                    .push(format!("`{}` does not pass its test {test}, and is put back to false{why}", self.names[at]));
            }
        }
    }

    /// What passes by this writing of the list, where it differs in nothing else.
    fn flips(&self, text: &str) -> Result<Vec<bool>, String> {
        let Read { value, passing, .. } = read(text)?;
        if passing.len() != self.passing.len() {
            return Err(format!("it has {} instead of {}", counted(passing.len(), "feature"), self.passing.len()));
        }
        let mut value = value;
        let (ours, theirs) = (items(&self.value).unwrap_or_default(), items_mut(&mut value).unwrap_or_default());
        for (at, (ours, theirs)) in ours.iter().zip(theirs.iter_mut()).enumerate() {
            theirs["passes"] = ours["passes"].clone();
            if ours != theirs {
                return Err(format!("`{}` is another", self.names[at]));
            }
        }
        if value == self.value { Ok(passing) } else { Err("what stands around the features is another".to_owned()) }
    }

    /// The committed writing with these flips.
    fn with(&self, passing: &[bool]) -> String {
        let (mut text, mut from) = (String::with_capacity(self.text.len()), 0);
        for (place, passes) in self.places.iter().zip(passing) {
            text.push_str(&self.text[from..place.start]);
            text.push_str(if *passes { "true" } else { "false" });
            from = place.end;
        }
        text.push_str(&self.text[from..]);
        text
    }
}

impl Gate {
    /// Looks at the folder of the tests: it must be outside the project; what this user can write is said, or refused.
    fn look(&self, os: &mut impl Os, place: &Place) -> Result<Vec<String>, String> {
        let folder = self.folder.display();
        if self.command.first().is_none_or(String::is_empty) {
            return Err(
                "the gate has no command: write it with `{test}`, as [\"pytest\", \"-q\", \"{test}\"]".to_owned()
            );
        }
        if !self.command.iter().any(|word| word.contains("{test}")) {
            return Err("the gate's command has no `{test}`, so every feature would have the same test".to_owned());
        }
        if !self.folder.is_absolute() || place.below(&self.folder).is_some() {
            return Err(format!("the gate's folder {folder} must be outside the project, given as an absolute path"));
        }
        let Some(path) = self.writable(os) else { return Ok(Vec::new()) };
        let what = format!("{} of the gate can be written by this user, and so by the agent", path.display());
        if self.strict {
            return Err(format!("{what}; give it to another user, or mount it read-only"));
        }
        Ok(vec![format!("{what}: a test that it changes would pass")])
    }

    /// Something of the gate that this user can write: the folder, what is in it, or the folder around it, in which it could be replaced.
    fn writable(&self, os: &mut impl Os) -> Option<PathBuf> {
        let ask =
            TreeAsk { root: self.folder.clone(), bounds: Bounds { files: LOOKED, bytes: 0 }, ..TreeAsk::default() };
        let files: Vec<PathBuf> = os.tree(&ask).entries.into_keys().map(|path| self.folder.join(path)).collect();
        let folders: BTreeSet<PathBuf> = files.iter().filter_map(|path| path.parent()).map(Path::to_owned).collect();
        let around = self.folder.parent().map(Path::to_owned);
        let all = [self.folder.clone()].into_iter().chain(folders).chain(files).chain(around);
        all.into_iter().find(|path| os.can_write(path))
    }

    fn test(&self, os: &mut impl Os, place: &Place, test: &str, left: Option<Millis>, looked: &mut Looked) -> Tested {
        let limit = left.map_or(self.limit, |left| left.min(self.limit));
        if limit == Millis::ZERO {
            return Tested::Cut;
        }
        let mut launch = place.launch(self.command.iter().map(|word| word.replace("{test}", test)).collect());
        launch.folder.clone_from(&self.folder);
        launch.set.push(("FLYBALL_PROJECT".to_owned(), place.project.display().to_string()));
        let checked = os.check(&launch, limit, Keep::Both(KEPT));
        looked.output.extend(format!("== {test}\n").into_bytes());
        looked.output.extend(&checked.output);
        let over = looked.output.len().saturating_sub(KEPT);
        looked.output.drain(..over);
        looked.lasted = looked.lasted.plus(checked.lasted);
        if let CheckEnd::NotStarted(why) = checked.end {
            return Tested::NotStarted(why);
        }
        oracle::answer_of(&checked, Exits::default()).map_or(Tested::Cut, Tested::Answered)
    }
}

/// The features of a list.
fn items(value: &Value) -> Option<&[Value]> {
    match value {
        Value::Array(items) => Some(items),
        Value::Object(members) => {
            let mut lists = members
                .values()
                .filter_map(Value::as_array)
                .filter(|items| items.iter().all(Value::is_object) && !items.is_empty());
            lists.next().filter(|_| lists.next().is_none()).map(Vec::as_slice)
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    }
}

fn items_mut(value: &mut Value) -> Option<&mut [Value]> {
    match value {
        Value::Array(items) => Some(items),
        Value::Object(members) => members
            .values_mut()
            .filter_map(Value::as_array_mut)
            .find(|items| items.iter().all(Value::is_object) && !items.is_empty())
            .map(Vec::as_mut_slice),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    }
}

/// Reads a list.
fn read(text: &str) -> Result<Read, String> {
    let value: Value = serde_json::from_str(text).map_err(|error| format!("it is no JSON: {error}"))?;
    let features = items(&value).ok_or("it is neither an array of features nor an object with one such array")?;
    if features.is_empty() {
        return Err("it has no feature".to_owned());
    }
    let mut passing = Vec::new();
    for (at, feature) in features.iter().enumerate() {
        let passes = feature.get("passes").and_then(Value::as_bool);
        passing.push(passes.ok_or_else(|| format!("its feature {} has no `passes` that is true or false", at + 1))?);
    }
    let places = places(text, if value.is_array() { 2 } else { 3 });
    if places.len() != passing.len() {
        return Err("a feature has `passes` twice".to_owned());
    }
    Ok(Read { value, places, passing })
}

/// Where the values of `"passes"` stand in objects so deep; the text is known to be JSON.
fn places(text: &str, wanted: usize) -> Vec<core::ops::Range<usize>> {
    let (bytes, mut places, mut depth, mut at) = (text.as_bytes(), Vec::new(), 0_usize, 0);
    while at < bytes.len() {
        match bytes[at] {
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            b'"' => {
                let from = at;
                at += 1;
                while at < bytes.len() && bytes[at] != b'"' {
                    at += if bytes[at] == b'\\' { 2 } else { 1 };
                }
                let key = bytes.get(from..=at).is_some_and(|word| word == b"\"passes\"");
                let mut next = at + 1;
                let skip = |next: &mut usize| {
                    while bytes.get(*next).is_some_and(u8::is_ascii_whitespace) {
                        *next += 1
                    }
                };
                skip(&mut next);
                if key && depth == wanted && bytes.get(next) == Some(&b':') {
                    next += 1;
                    skip(&mut next);
                    let end = bytes[next..]
                        .iter()
                        .position(|byte| !byte.is_ascii_alphabetic())
                        .map_or(bytes.len(), |end| next + end);
                    places.push(next..end);
                }
            }
            _ => {}
        }
        at += 1;
    }
    places
}
