//! Caps over several runs: those of a project, of a day, of a named group of projects.
//!
//! | scope | which runs | where their files lie |
//! |---|---|---|
//! | `project` | all of this project | `.flyball/purse/` |
//! | `day` | the same, and of them what was spent on this UTC day | `.flyball/purse/` |
//! | `group` | all runs of any project that name the group | `$XDG_STATE_HOME/flyball/groups/NAME/`, else below `~/.local/state` |
//!
//! Each run keeps one small file in each folder, replaced whole at each checkpoint: what it spent, by UTC day. What the others spent is the sum of their
//! files. A file that cannot be read is an error and no zero: a cap whose spend is unknown fails closed. A run that takes over the counts of one before it
//! does not spend them a second time: they stand in the file of the run that spent them.
//!
//! Runs of a group that go on at once see what the others had spent at their last checkpoint: together they may pass a cap by the rounds that are
//! under way. The files are as safe as their folders: whoever can write there can make them smaller.
//!
//! It opens nothing and knows no clock: [`system::shelf`](super::system::shelf) reads. Units: rounds, output tokens, tokens of all kinds, millionths of a
//! USD, milliseconds.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::figures::{millions, rounds, span, usd};
use super::system::shelf::Found;
use crate::engine::{Caps, Control, MicroUsd, Millis, Spent, Timestamp, Tokens, counted};
use crate::trace::iso;

/// The folder's name in the folder of the records.
pub const FOLDER: &str = "purse";
/// How its files end.
pub const ENDING: &str = ".json";
/// What a file calls itself.
pub const FORMAT: &str = "flyball-purse";
/// The version that is written, and the newest that is read.
pub const VERSION: u64 = 1;

/// Which runs a cap is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scope {
    /// All of this project.
    Project,
    /// All of this project, on one UTC day.
    Day,
    /// All that name the group.
    Group,
}

impl Scope {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Project, Self::Day, Self::Group];

    /// The word in settings.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Project => "project",
            Self::Day => "day",
            Self::Group => "group",
        }
    }
}

/// What is capped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Rounds begun.
    Rounds,
    /// Output tokens.
    Budget,
    /// Tokens of all kinds.
    Tokens,
    /// Cost, millionths of a USD.
    Cost,
    /// Wall time, milliseconds.
    Wall,
}

impl Kind {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Rounds, Self::Budget, Self::Tokens, Self::Cost, Self::Wall];

    /// The word in settings.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.control().name()
    }

    /// The control that fires.
    #[must_use]
    pub const fn control(self) -> Control {
        match self {
            Self::Rounds => Control::Rounds,
            Self::Budget => Control::Budget,
            Self::Tokens => Control::Tokens,
            Self::Cost => Control::Cost,
            Self::Wall => Control::Wall,
        }
    }

    /// How much of it that is.
    #[must_use]
    pub const fn of(self, spent: &Spent) -> u64 {
        match self {
            Self::Rounds => spent.rounds,
            Self::Budget => spent.output.count(),
            Self::Tokens => spent.tokens.count(),
            Self::Cost => spent.cost.count(),
            Self::Wall => spent.wall.count(),
        }
    }

    /// A count of it for people.
    #[must_use]
    pub fn words(self, count: u64) -> String {
        match self {
            Self::Rounds => rounds(count),
            Self::Budget => counted(millions(Tokens::new(count)), "output token").to_string(),
            Self::Tokens => counted(millions(Tokens::new(count)), "token").to_string(),
            Self::Cost => usd(MicroUsd::new(count)),
            Self::Wall => format!("{} of wall time", span(Millis::new(count))),
        }
    }
}

/// A cap over several runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SharedCap {
    /// Which runs.
    pub scope: Scope,
    /// What.
    pub kind: Kind,
    /// The most, in the unit of the kind; at least 1.
    pub most: u64,
}

/// Caps over several runs, each scope and kind at most once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SharedCaps(Vec<SharedCap>);

impl SharedCaps {
    /// Reads `SCOPE.KIND=VALUE`, with commas between several; an empty text is none. `value` reads the value of a kind in its settings' unit.
    ///
    /// ```
    /// use flyball::run::purse::{SharedCaps, Kind};
    /// let plain = |_: Kind, text: &str| text.parse().map_err(|_| "it is no number".to_owned());
    /// assert_eq!(SharedCaps::parse("day.rounds=20, group.rounds=100", plain).unwrap().all().len(), 2);
    /// assert!(SharedCaps::parse("day.runds=20", plain).unwrap_err().contains("did you mean day.rounds?"));
    /// ```
    ///
    /// # Errors
    /// What is wrong with it, for people.
    pub fn parse(text: &str, value: impl Fn(Kind, &str) -> Result<u64, String>) -> Result<Self, String> {
        let mut caps = Self::default();
        for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            let Some((name, worth)) = part.split_once('=') else {
                return Err(format!("{part:?}: write SCOPE.KIND=VALUE, such as day.cost=20"));
            };
            let (scope, kind) = named(name.trim())?;
            let most = value(kind, worth.trim()).map_err(|why| format!("{}: {why}", name.trim()))?;
            if most == 0 {
                return Err(format!("{}: it must be above 0; leave it out for no cap", name.trim()));
            }
            if caps.0.iter().any(|cap| (cap.scope, cap.kind) == (scope, kind)) {
                return Err(format!("{} is given twice", name.trim()));
            }
            caps.0.push(SharedCap { scope, kind, most });
        }
        Ok(caps)
    }

    /// All of them, in the order in which they were given.
    #[must_use]
    pub fn all(&self) -> &[SharedCap] {
        &self.0
    }

    /// Whether any is of this scope.
    #[must_use]
    pub fn has(&self, scope: Scope) -> bool {
        self.0.iter().any(|cap| cap.scope == scope)
    }

    /// Whether some spend is capped, so that spend which nobody counts must stop the loop.
    #[must_use]
    pub fn bounds_spend(&self) -> bool {
        self.0.iter().any(|cap| matches!(cap.kind, Kind::Budget | Kind::Tokens | Kind::Cost))
    }
}

fn named(name: &str) -> Result<(Scope, Kind), String> {
    let known = || Scope::ALL.into_iter().flat_map(|scope| Kind::ALL.map(|kind| (scope, kind)));
    let full = |(scope, kind): (Scope, Kind)| format!("{}.{}", scope.name(), kind.name());
    known().find(|pair| full(*pair) == name).ok_or_else(|| {
        let near = known().map(|pair| (strsim::osa_distance(&full(pair), name), full(pair))).min();
        let near = near.filter(|(slips, full)| name.len() < 64 && *slips <= full.len() / 3);
        let near = near.map(|(_, full)| format!("did you mean {full}? ")).unwrap_or_default();
        let (scopes, kinds) = (Scope::ALL.map(Scope::name).join(", "), Kind::ALL.map(Kind::name).join(", "));
        format!("no cap is called {name:?}; {near}scopes are {scopes}; kinds are {kinds}")
    })
}

/// The name of a group: a safe name of a folder.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct GroupName(String);

impl GroupName {
    /// From a text: letters, digits, `-`, `_` and `.`, at most 64, the first a letter or a digit.
    ///
    /// # Errors
    /// What is wrong with it, for people.
    pub fn new(name: &str) -> Result<Self, String> {
        let fine = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        let first = name.chars().next().is_some_and(|c| c.is_ascii_alphanumeric());
        if first && name.len() <= 64 && name.chars().all(fine) && !name.ends_with('.') {
            return Ok(Self(name.to_owned()));
        }
        Err(format!(
            "{name:?} cannot name a group: use letters, digits, `-`, `_` and `.`, at most 64, a letter or a digit first"
        ))
    }

    /// The name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Its folder, where the environment says where a user's state lies: `variable` looks one up.
    #[must_use]
    pub fn folder(&self, variable: impl Fn(&str) -> Option<String>) -> Option<PathBuf> {
        // a path that is not absolute is to be ignored, says the base directory specification
        let state = variable("XDG_STATE_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
        let home = || variable("HOME").map(PathBuf::from).filter(|path| path.is_absolute());
        let state = state.or_else(|| home().map(|home| home.join(".local/state")))?;
        Some(state.join("flyball/groups").join(&self.0))
    }
}

impl fmt::Display for GroupName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The name of a run's file: runs of two projects may have the same name.
#[must_use]
pub fn file_name(run: &str, project: &Path) -> String {
    let print = Sha256::digest(project.as_os_str().as_encoded_bytes());
    let print: String = print.iter().take(4).map(|byte| format!("{byte:02x}")).collect();
    format!("{run}-{print}{ENDING}")
}

/// The UTC day of a moment of Unix time, as it stands in the files: `2026-12-01`.
#[must_use]
pub fn day(unix: Timestamp) -> String {
    iso(unix).split('T').next().unwrap_or_default().to_owned()
}

/// What was spent, as it stands in a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Counts {
    rounds: u64,
    output_tokens: u64,
    tokens: u64,
    micro_usd: u64,
    wall_ms: u64,
}

impl Counts {
    const fn of(spent: &Spent) -> Self {
        Self {
            rounds: spent.rounds,
            output_tokens: spent.output.count(),
            tokens: spent.tokens.count(),
            micro_usd: spent.cost.count(),
            wall_ms: spent.wall.count(),
        }
    }

    const fn spent(&self) -> Spent {
        Spent {
            rounds: self.rounds,
            output: Tokens::new(self.output_tokens),
            tokens: Tokens::new(self.tokens),
            cost: MicroUsd::new(self.micro_usd),
            wall: Millis::new(self.wall_ms),
        }
    }
}

fn sum(a: &Spent, b: &Spent) -> Spent {
    Spent {
        rounds: a.rounds.saturating_add(b.rounds),
        output: a.output.plus(b.output),
        tokens: a.tokens.plus(b.tokens),
        cost: a.cost.plus(b.cost),
        wall: a.wall.plus(b.wall),
    }
}

fn less(a: &Spent, b: &Spent) -> Spent {
    Spent {
        rounds: a.rounds.saturating_sub(b.rounds),
        output: a.output.minus(b.output),
        tokens: a.tokens.minus(b.tokens),
        cost: a.cost.minus(b.cost),
        wall: a.wall.minus(b.wall),
    }
}

/// A run's file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Page {
    format: String,
    version: u64,
    run: String,
    /// The loop's counts when it was written: what came since is not in it yet.
    seen: Counts,
    /// What the run spent, by UTC day.
    days: BTreeMap<String, Counts>,
}

/// Why caps over several runs cannot be held.
#[derive(Debug, thiserror::Error)]
pub enum PurseError {
    /// The folder cannot be listed.
    #[error("what other runs spent cannot be read in {folder}: {source}")]
    Folder {
        /// Which.
        folder: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// A file cannot be read.
    #[error(
        "what a run spent cannot be read in {file}: {why}; a cap over several runs needs it: mend it, or take it away if you know what it spent"
    )]
    File {
        /// Which.
        file: String,
        /// Why.
        why: String,
    },
}

fn page(name: &str, bytes: Result<&[u8], String>) -> Result<Page, PurseError> {
    let wrong = |why: String| PurseError::File { file: name.to_owned(), why };
    let page: Page = serde_json::from_slice(bytes.map_err(wrong)?).map_err(|error| wrong(error.to_string()))?;
    if page.format != FORMAT {
        return Err(wrong(format!("it calls itself {:?}", page.format)));
    }
    if page.version > VERSION {
        return Err(wrong(format!("it has version {}, and this flyball reads up to {VERSION}", page.version)));
    }
    Ok(page)
}

/// What other runs spent: the sum of all files but one's own, on one day or on all. Files are as [`files`](super::system::shelf::files) gives them.
///
/// # Errors
/// A file that cannot be read: what it says is not known, and is not taken for nothing.
pub fn others(files: &[Found], own: &str, day: Option<&str>) -> Result<Spent, PurseError> {
    let mut all = Spent::default();
    for (name, bytes) in files.iter().filter(|(name, _)| name != own) {
        let page = page(name, bytes.as_deref().map_err(ToString::to_string))?;
        let days = page.days.iter().filter(|(on, _)| day.is_none_or(|day| *on == day));
        all = days.fold(all, |all, (_, counts)| sum(&all, &counts.spent()));
    }
    Ok(all)
}

/// What one's own run spent, by day.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Purse(Page);

impl Purse {
    /// Of a run that begins, in a loop that comes to `base` already.
    #[must_use]
    pub fn begin(run: &str, base: &Spent) -> Self {
        let (format, run) = (FORMAT.to_owned(), run.to_owned());
        let seen = Counts { wall_ms: 0, ..Counts::of(base) };
        Self(Page { format, version: VERSION, run, seen, days: BTreeMap::new() })
    }

    /// Of a run that goes on, from its file. Wall time is counted anew by each process.
    ///
    /// # Errors
    /// A file that cannot be read.
    pub fn go_on(name: &str, bytes: &[u8]) -> Result<Self, PurseError> {
        let mut page = page(name, Ok(bytes))?;
        page.seen.wall_ms = 0;
        Ok(Self(page))
    }

    /// Takes down what the loop comes to now, on this UTC day. Counts that became smaller were cleared, and are begun anew.
    pub fn reach(&mut self, day: &str, spent: &Spent) {
        let more = less(spent, &self.0.seen.spent());
        self.0.seen = Counts::of(spent);
        let counts = self.0.days.entry(day.to_owned()).or_default();
        *counts = Counts::of(&sum(&counts.spent(), &more));
    }

    /// What the run spent on a day, or on all.
    #[must_use]
    pub fn spent(&self, day: Option<&str>) -> Spent {
        let days = self.0.days.iter().filter(|(on, _)| day.is_none_or(|day| *on == day));
        days.fold(Spent::default(), |all, (_, counts)| sum(&all, &counts.spent()))
    }

    /// What the loop came to when it was last taken down.
    #[must_use]
    pub const fn seen(&self) -> Spent {
        self.0.seen.spent()
    }

    /// The file.
    ///
    /// # Errors
    /// None that can arise from texts and numbers.
    pub fn bytes(&self) -> serde_json::Result<Vec<u8>> {
        let mut text = serde_json::to_vec_pretty(&self.0)?;
        text.push(b'\n');
        Ok(text)
    }
}

/// What other runs spent, by scope; none where no cap is of that scope.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Others {
    /// Of the project.
    pub project: Spent,
    /// Of the project, today.
    pub day: Spent,
    /// Of the group.
    pub group: Spent,
}

/// What one kind may still come to because of a cap over several runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bound {
    /// Which cap.
    pub cap: SharedCap,
    /// What the loop may come to in all, in the unit of the kind.
    pub most: u64,
    /// Where that comes from, for people.
    pub words: String,
}

/// What the loop may still come to because of caps over several runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bounds(Vec<Bound>);

/// What the loop may come to in all: for each cap, what the loop has come to, and what is left after the other runs and this one.
///
/// `own` is what was taken down of this run, `today` the UTC day.
#[must_use]
pub fn left(caps: &SharedCaps, others: &Others, own: &Purse, today: &str) -> Bounds {
    let bound = |cap: &SharedCap| {
        let (others, own_spent) = match cap.scope {
            Scope::Project => (&others.project, own.spent(None)),
            Scope::Day => (&others.day, own.spent(Some(today))),
            Scope::Group => (&others.group, own.spent(None)),
        };
        let (others, own_spent) = (cap.kind.of(others), cap.kind.of(&own_spent));
        let room = cap.most.saturating_sub(others).saturating_sub(own_spent);
        let whose = match cap.scope {
            Scope::Project => "project",
            Scope::Day => "day",
            Scope::Group => "group",
        };
        let words = format!(
            "the {whose}'s cap of {}, of which other runs spent {}",
            cap.kind.words(cap.most),
            cap.kind.words(others)
        );
        Bound { cap: *cap, most: cap.kind.of(&own.seen()).saturating_add(room), words }
    };
    Bounds(caps.all().iter().map(bound).collect())
}

impl Bounds {
    /// All of them.
    #[must_use]
    pub fn all(&self) -> &[Bound] {
        &self.0
    }

    /// The one that is the tightest of its control.
    #[must_use]
    pub fn of(&self, control: Control) -> Option<&Bound> {
        self.0.iter().filter(|bound| bound.cap.kind.control() == control).min_by_key(|bound| bound.most)
    }

    /// As caps of the engine.
    #[must_use]
    pub fn caps(&self) -> Caps {
        let most = |kind: Kind| self.of(kind.control()).map(|bound| bound.most);
        Caps {
            budget: most(Kind::Budget).map(Tokens::new),
            tokens: most(Kind::Tokens).map(Tokens::new),
            cost: most(Kind::Cost).map(MicroUsd::new),
            wall: most(Kind::Wall).map(Millis::new),
            rounds: most(Kind::Rounds),
        }
    }

    /// The words of a control that fired, where a cap that is shared and not one of the loop's own is what it hit.
    #[must_use]
    pub fn words(&self, control: Control, own: &Caps) -> Option<&str> {
        let bound = self.of(control)?;
        let own = match bound.cap.kind {
            Kind::Rounds => own.rounds,
            Kind::Budget => own.budget.map(Tokens::count),
            Kind::Tokens => own.tokens.map(Tokens::count),
            Kind::Cost => own.cost.map(MicroUsd::count),
            Kind::Wall => own.wall.map(Millis::count),
        };
        own.is_none_or(|own| bound.most < own).then_some(bound.words.as_str())
    }
}

#[cfg(test)]
mod tests;
