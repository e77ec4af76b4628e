//! Each setting's text and where it comes from.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use serde_json::json;

use super::juice;
use super::keys::{KEYS, Key, tables};
use crate::cli::error::Outcome;
use crate::cli::input;
use crate::engine::laws::Tuning;
use crate::lab::scenario::{Entry, ScenarioError, entries};
use crate::lab::settings::Settings;
use crate::run::redact::redact;
use crate::trace::Setup;

/// The settings file that is read where none is named.
pub const USUAL_FILE: &str = "flyball.toml";

/// The file of a user's own defaults, which are read below a project's file: `$XDG_CONFIG_HOME/flyball/flyball.toml`, else below
/// `~/.config`. `variable` looks up the environment; the file need not be there.
#[must_use]
pub fn users_file(variable: impl Fn(&str) -> Option<String>) -> Option<PathBuf> {
    // a path that is not absolute is to be ignored, says the base directory specification
    let folder = |name: &str| variable(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let config = folder("XDG_CONFIG_HOME").or_else(|| Some(folder("HOME")?.join(".config")))?;
    Some(config.join("flyball").join(USUAL_FILE))
}

/// Where a setting comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Nobody said.
    Usual,
    /// It follows from something else, which is named.
    From(String),
    /// A file and its line.
    File(String, usize),
    /// A variable of the environment.
    Variable(String),
    /// A flag.
    Flag(String),
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Usual => f.write_str("default"),
            Self::From(what) => f.write_str(what),
            Self::File(file, line) => write!(f, "{file}:{line}"),
            Self::Variable(name) => f.write_str(name),
            Self::Flag(flag) => write!(f, "--{flag}"),
        }
    }
}

/// A setting's text and where it comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Value {
    /// The text.
    pub text: String,
    /// Where it comes from.
    pub origin: Origin,
}

/// All settings, by their full names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gathered {
    all: BTreeMap<String, Value>,
    tuning: Option<Tuning>,
}

/// What of [`Tuning`] is set, in one text.
const SET: &str = "governor.set";

impl Gathered {
    /// Gathers them: `flags` are those that were given, `environment` looks variables up, `file` is the settings file that was named. Below it
    /// stand the user's own defaults, [`users_file`].
    ///
    /// # Errors
    /// A settings file that cannot be read, or its faults.
    pub fn gather(
        flags: &[(&'static str, String)],
        environment: impl Fn(&str) -> Option<String>,
        file: Option<&Path>,
        project: &Path,
    ) -> Outcome<Self> {
        let mut all: BTreeMap<String, Value> =
            KEYS.iter().map(|key| (key.full(), Value { text: key.usual.to_owned(), origin: Origin::Usual })).collect();
        let mut tuning = None;
        let usual = project.join(USUAL_FILE);
        let file = file.map(Path::to_owned).or_else(|| usual.is_file().then_some(usual));
        let users = users_file(&environment).filter(|users| users.is_file());
        for file in users.into_iter().chain(file) {
            let (entries, set) = read(&file)?;
            tuning = set.map(|set| (set, file.display().to_string())).or(tuning);
            for (name, text, line) in entries {
                all.insert(name, Value { text, origin: Origin::File(file.display().to_string(), line) });
            }
        }
        for key in &KEYS {
            if let Some(text) = environment(&key.variable()) {
                all.insert(key.full(), Value { text, origin: Origin::Variable(key.variable()) });
            }
        }
        for (flag, text) in flags {
            if let Some(key) = Key::of_flag(flag) {
                all.insert(key.full(), Value { text: text.clone(), origin: Origin::Flag((*flag).to_owned()) });
            }
        }
        let mut gathered = Self { all, tuning: None };
        if let Some((tuning, file)) = tuning {
            gathered.tune(tuning, &file);
        }
        Ok(gathered)
    }

    /// What else is set.
    #[must_use]
    pub fn tuning(&self) -> Tuning {
        self.tuning.unwrap_or(Tuning::USUAL)
    }

    /// Sets it, where nobody did.
    pub fn tune(&mut self, tuning: Tuning, what: &str) {
        if self.tuning.is_none() && tuning != Tuning::USUAL {
            let text = serde_json::to_string(&Setup::set_of(&tuning)).unwrap_or_default();
            self.all.insert(SET.to_owned(), Value { text, origin: Origin::From(what.to_owned()) });
            self.tuning = Some(tuning);
        }
    }

    /// A setting.
    #[must_use]
    pub fn get(&self, full: &str) -> &Value {
        const NONE: &Value = &Value { text: String::new(), origin: Origin::Usual };
        self.all.get(full).unwrap_or(NONE)
    }

    /// Whether somebody said it.
    #[must_use]
    pub fn is_said(&self, full: &str) -> bool {
        self.get(full).origin != Origin::Usual
    }

    /// Says what a setting is where nobody did.
    pub fn follows(&mut self, full: &str, text: &str, what: &str) {
        if !self.is_said(full) {
            self.all.insert(full.to_owned(), Value { text: text.to_owned(), origin: Origin::From(what.to_owned()) });
        }
    }

    /// Replaces what a setting says.
    pub fn replace(&mut self, full: &str, value: Value) {
        self.all.insert(full.to_owned(), value);
    }

    /// What differs from other settings: name, there, here.
    #[must_use]
    pub fn differences(&self, other: &BTreeMap<String, String>) -> Vec<(String, String, String)> {
        let here = self
            .all
            .iter()
            // a record holds keys as marks, which are the same where the keys are
            .filter(|(name, value)| other.get(*name).is_some_and(|text| redact(text) != redact(&value.text)));
        let mut differ: Vec<_> =
            here.map(|(name, value)| (name.clone(), other[name].clone(), redact(&value.text).into_owned())).collect();
        // what else is set is named only where something is
        match (other.get(SET), self.all.get(SET)) {
            (Some(there), None) => differ.push((SET.to_owned(), there.clone(), String::new())),
            (None, Some(here)) => differ.push((SET.to_owned(), String::new(), here.text.clone())),
            (Some(_), Some(_)) | (None, None) => {}
        }
        differ
    }

    /// For the run's record: without what looks like a key.
    #[must_use]
    pub fn record(&self) -> serde_json::Value {
        let one = |value: &Value| json!({"value": redact(&value.text), "from": value.origin.to_string()});
        serde_json::Value::Object(self.all.iter().map(|(name, value)| (name.clone(), one(value))).collect())
    }

    /// For programs.
    #[must_use]
    pub fn json(&self) -> serde_json::Value {
        let one = |value: &Value| json!({"value": value.text, "from": value.origin.to_string()});
        serde_json::Value::Object(self.all.iter().map(|(name, value)| (name.clone(), one(value))).collect())
    }

    /// For people: a line a setting.
    #[must_use]
    pub fn lines(&self) -> String {
        let width = self.all.keys().map(String::len).max().unwrap_or(0);
        let wide = self.all.values().map(|value| value.text.len()).max().unwrap_or(0).min(40);
        let set = self.all.get(SET).map(|value| (SET.to_owned(), value));
        let in_order = KEYS.iter().map(|key| (key.full(), self.get(&key.full()))).chain(set);
        in_order
            .map(|(name, value)| format!("{name:width$}  {:wide$}  {}\n", shown(&value.text), value.origin))
            .collect()
    }
}

fn shown(text: &str) -> &str {
    if text.is_empty() { "-" } else { text }
}

type Entries = Vec<(String, String, usize)>;

fn read(file: &Path) -> Outcome<(Entries, Option<Tuning>)> {
    let name = file.display().to_string();
    // an empty flyball.toml sets nothing, which is no fault of a project that has one
    let text = input::text(input::SETTINGS, file, input::LONG)?;
    if file.extension().is_some_and(|extension| extension == "yaml" || extension == "yml") {
        return Ok((juice::read(&text, file)?, None));
    }
    let wrong = |error| input::faulty(input::SETTINGS, file, error);
    let found =
        entries(&text, &tables()).map_err(|problems| wrong(ScenarioError::Faulty { file: name.clone(), problems }))?;
    let tuning = Settings::load(&text, &name).map_err(wrong)?.governor.tuning;
    let named = |entry: Entry| (format!("{}.{}", entry.table, entry.key), entry.text, entry.line);
    Ok((found.into_iter().map(named).collect(), (tuning != Tuning::USUAL).then_some(tuning)))
}
