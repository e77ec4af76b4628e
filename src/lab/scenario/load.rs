//! From the text of a scenario file to a [`Scenario`], or to all that is wrong with it.

use std::collections::BTreeMap;
use std::path::Path;

use toml::de::DeTable;

use super::agent;
use super::error::{Problem, ScenarioError};
use super::fields::{Fields, Report};
use super::model::{Evidence, GovernorSettings, Scenario};
use super::{file, outcome, sections};
use crate::sim::{AgentModel, AgentSpec, ModelError, RungModel};

const TOP: [&str; 19] = [
    "format",
    "name",
    "about",
    "governor",
    "plan",
    "sweep",
    "evaluate",
    "rung",
    "prior",
    "turn",
    "session",
    "turns",
    "time",
    "drift",
    "faults",
    "accounting",
    "outcome",
    "usage",
    "controls",
];
const RUNG: [&str; 7] = ["effort", "size", "turns_factor", "seconds_factor", "measured", "assumed", "shift"];

impl Scenario {
    /// Reads the text of a scenario file; `file` is what faults are told under, and nothing else.
    ///
    /// ```
    /// use flyball::lab::scenario::Scenario;
    /// let error = Scenario::load("format = 1\nnmae = \"mine\"\n", "mine.toml").unwrap_err();
    /// assert!(error.to_string().contains("mine.toml:2: nmae: unknown key; did you mean `name`?"));
    /// ```
    ///
    /// # Errors
    /// [`ScenarioError::Faulty`] with the line, the key and the remedy of each fault.
    pub fn load(text: &str, file: &str) -> Result<Self, ScenarioError> {
        checked(text, None).map_err(|problems| ScenarioError::Faulty { file: file.to_owned(), problems })
    }

    /// Reads a scenario file, whose stem must be the scenario's name.
    ///
    /// # Errors
    /// [`ScenarioError::Unreadable`] where there is no such file, it is no text or larger than
    /// [`MAX_BYTES`](Self::MAX_BYTES); [`ScenarioError::Faulty`] as [`load`](Self::load).
    pub fn read(path: &Path) -> Result<Self, ScenarioError> {
        let file = path.display().to_string();
        let unread = |error: std::io::Error| ScenarioError::Unreadable { file: file.clone(), why: error.to_string() };
        let text = file::text(path, Self::MAX_BYTES).map_err(unread)?;
        let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
        checked(&text, stem.as_deref()).map_err(|problems| ScenarioError::Faulty { file, problems })
    }
}

/// The scenario, or its faults, of which there is at least one.
fn checked(text: &str, stem: Option<&str>) -> Result<Scenario, Vec<Problem>> {
    document(text, |root| whole(root, stem))
}

/// What `read` makes of a TOML text, or its faults, of which there is at least one.
pub(in crate::lab) fn document<T>(text: &str, read: impl FnOnce(&Fields<'_>) -> Option<T>) -> Result<T, Vec<Problem>> {
    let report = Report::new(text);
    let made = match DeTable::parse(text) {
        Ok(document) => read(&Fields::root(&report, text.trim_end().len(), document.get_ref())),
        Err(error) => {
            report.syntax(&error);
            None
        }
    };
    match made {
        Some(made) if report.is_clean() => Ok(made),
        Some(_) | None => Err(report.into_problems()),
    }
}

/// The tables of a settings file. All but the first are the real loop's.
const TABLES: [&str; 8] = ["governor", "agent", "controls", "oracle", "gate", "git", "prompt", "sim"];

/// The settings of `[governor]` in a settings file, over those of `usual`; or all its faults.
pub(in crate::lab) fn governor_of(text: &str, usual: GovernorSettings) -> Result<GovernorSettings, Vec<Problem>> {
    document(text, |root| {
        root.refuse_others(&TABLES);
        root.or("governor", usual, |item| sections::settings(&item.table(&sections::governor_keys())?, usual))
    })
}

/// How the value of a setting is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takes {
    /// A text in quotes, which may be empty.
    Text,
    /// A decimal number, or a text that says one exactly or in words.
    Number,
    /// A truth value.
    Truth,
    /// A list of texts, or one text.
    Texts,
}

/// One setting of a text: its table and key, what it says as text, and its line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The table.
    pub table: &'static str,
    /// The key.
    pub key: &'static str,
    /// What it says: a number or a text as it stands, a list as JSON.
    pub text: String,
    /// The line, from 1.
    pub line: usize,
}

/// The settings of a text that has these tables with these keys and no others but what `[governor]` may set beside; or all its faults.
///
/// # Errors
/// Each fault, with its line and its key: a value of another type is one, and never taken for its text.
pub fn entries(text: &str, known: &[(&'static str, Vec<(&'static str, Takes)>)]) -> Result<Vec<Entry>, Vec<Problem>> {
    let report = Report::new(text);
    let tables: Vec<&str> = known.iter().map(|(table, _)| *table).collect();
    let mut found = Vec::new();
    match DeTable::parse(text) {
        Ok(document) => {
            let root = Fields::root(&report, text.trim_end().len(), document.get_ref());
            root.refuse_others(&tables);
            for (table, keys) in known {
                let table = *table;
                let governor = if table == TABLES[0] { sections::governor_keys() } else { Vec::new() };
                let all: Vec<&str> = keys.iter().map(|(key, _)| *key).chain(governor).collect();
                let Some(fields) = root.get(table).and_then(|item| item.table(&all)) else { continue };
                let read = |&(key, takes): &(&'static str, Takes)| {
                    fields.get(key).and_then(|item| Some((key, item.plain(takes)?, item.line())))
                };
                found.extend(keys.iter().filter_map(read).map(|(key, text, line)| Entry { table, key, text, line }));
            }
        }
        Err(error) => report.syntax(&error),
    }
    if report.is_clean() { Ok(found) } else { Err(report.into_problems()) }
}

/// The whole document. All parts are read before any is given up, so that every fault is told.
fn whole(root: &Fields<'_>, stem: Option<&str>) -> Option<Scenario> {
    if root.get("format").is_none() {
        // its name may be misspelt: then that is told too
        root.refuse_others(&TOP);
    }
    let format = root.need("format")?;
    if format.count(0, u64::MAX)? != Scenario::FORMAT {
        return format.wrong("this version of the format is not known here: write 1, or use a newer flyball");
    }
    root.refuse_others(&TOP);
    let name = name(root, stem);
    let about = root.need("about").and_then(|item| item.word());
    let governor = section(root, "governor", &sections::governor_keys()).and_then(|fields| sections::governor(&fields));
    let sweep = optional(root, "sweep", &sections::SWEEP, sections::sweep);
    let evaluate = optional(root, "evaluate", &sections::EVALUATE, sections::evaluate);
    let priors = root.or("prior", BTreeMap::new(), |item| sections::priors(&item));
    let rungs = rungs(root);
    let ladder = rungs.as_deref().and_then(sections::ladder);
    let plan = section(root, "plan", &sections::PLAN).and_then(|fields| sections::plan(&fields, ladder.as_ref()));
    let (models, evidence) = each(rungs.as_deref(), priors.as_ref()).unzip();
    let count = models.as_ref().map(Vec::len);
    let agent = agent_of(root, models);
    let outcome = root.or("outcome", None, |item| outcome::outcome(&item, count).map(Some));
    let usage = optional(root, "usage", &outcome::USAGE, outcome::usage);
    let controls = optional(root, "controls", &outcome::CONTROLS, outcome::controls);
    Some(Scenario {
        name: name?.to_owned(),
        about: about?.to_owned(),
        governor: governor?,
        plan: plan?,
        sweep: sweep?,
        evaluate: evaluate?,
        ladder: ladder?,
        agent: agent?,
        evidence: evidence?,
        priors: priors?,
        outcome: outcome?,
        usage: usage?,
        controls: controls?,
    })
}

fn name<'r>(root: &Fields<'r>, stem: Option<&str>) -> Option<&'r str> {
    let item = root.need("name")?;
    let name = item.word()?;
    match stem {
        Some(stem) if stem != name => {
            item.wrong(format!("{name:?} is not the file's name without its ending, {stem:?}: rename one of them"))
        }
        Some(_) | None => Some(name),
    }
}

fn section<'r>(root: &Fields<'r>, key: &str, known: &[&str]) -> Option<Fields<'r>> {
    match root.get(key) {
        Some(item) => item.table(known),
        None => root.wrong(key, format!("the file ends without the table [{key}]: add it; is the file complete?")),
    }
}

fn optional<T: Default>(root: &Fields<'_>, key: &str, known: &[&str], read: fn(&Fields<'_>) -> Option<T>) -> Option<T> {
    root.or(key, T::default(), |item| read(&item.table(known)?))
}

fn rungs<'r>(root: &Fields<'r>) -> Option<Vec<Fields<'r>>> {
    let Some(list) = root.get("rung") else {
        return root.wrong("rung", "the ladder is empty: add a table [[rung]] for each effort, hardest first");
    };
    let items = list.list()?;
    if items.is_empty() {
        return list.wrong("the ladder is empty: add a table [[rung]] for each effort, hardest first");
    }
    let rungs: Vec<Option<Fields<'r>>> = items.iter().map(|item| item.table(&RUNG)).collect();
    rungs.into_iter().collect()
}

/// What each rung makes, and where that is from.
fn each(
    rungs: Option<&[Fields<'_>]>,
    priors: Option<&BTreeMap<String, String>>,
) -> Option<(Vec<RungModel>, Vec<Evidence>)> {
    let read: Vec<Option<(RungModel, Evidence)>> = rungs?.iter().map(|rung| one(rung, priors)).collect();
    Some(read.into_iter().collect::<Option<Vec<_>>>()?.into_iter().unzip())
}

fn one(rung: &Fields<'_>, priors: Option<&BTreeMap<String, String>>) -> Option<(RungModel, Evidence)> {
    let size = rung.need("size").and_then(|item| agent::size(&item));
    let turns_factor = rung.real_or("turns_factor", 1.0, agent::FACTOR);
    let seconds_factor = rung.real_or("seconds_factor", 1.0, agent::FACTOR);
    let evidence = sections::evidence(rung, priors)?;
    let shift = match &evidence {
        Evidence::Assumed { shift, .. } => Some(*shift),
        Evidence::Stated | Evidence::Measured { .. } => None,
    };
    let model = RungModel { size: size?, turns_factor: turns_factor?, seconds_factor: seconds_factor?, shift };
    Some((model, evidence))
}

fn agent_of(root: &Fields<'_>, rungs: Option<Vec<RungModel>>) -> Option<AgentModel> {
    let turn = optional(root, "turn", &agent::TURN, agent::turn);
    let session = optional(root, "session", &agent::SESSION, agent::session);
    let turns = section(root, "turns", &agent::TURNS).and_then(|fields| agent::turns(&fields));
    let time = section(root, "time", &agent::TIME).and_then(|fields| agent::time(&fields));
    let drift = optional(root, "drift", &agent::DRIFT, agent::drift);
    let faults = optional(root, "faults", &agent::FAULTS, agent::faults);
    let accounting = optional(root, "accounting", &agent::ACCOUNTING, agent::accounting);
    let spec = AgentSpec {
        rungs: rungs?,
        turn: turn?,
        session: session?,
        turns: turns?,
        time: time?,
        drift: drift?,
        faults: faults?,
        accounting: accounting?,
    };
    AgentModel::new(spec).or_else(|error| whole_agent(root, &error).ok_or(())).ok()
}

/// What only the model as a whole can say, told at the key that can mend it.
fn whole_agent(root: &Fields<'_>, error: &ModelError) -> Option<AgentModel> {
    let key = if matches!(error, ModelError::CorrelatedGamma { .. }) {
        "rho"
    } else if matches!(error, ModelError::OneKind) {
        "kind_rho"
    } else {
        return root.wrong("rung", error.to_string());
    };
    let item = root.get("turn").and_then(|item| item.table(&agent::TURN)).and_then(|turn| turn.get(key));
    item.map_or_else(|| root.wrong("rung", error.to_string()), |item| item.wrong(error.to_string()))
}
