//! Which run is taken up: the last one goes on where it was interrupted, and otherwise a new one begins with what is kept.
//!
//! | the last run | what follows |
//! |---|---|
//! | was interrupted or lost, with these settings | it goes on |
//! | was interrupted or lost, with others | refused, with what differs |
//! | was stopped by its budget | a new one, clean |
//! | was stopped by another control | a new one of the same loop, with its counts and its rung |
//!
//! A loop is the same where agent, model and task are. `--resume` goes on in any case, `--fresh` takes over nothing. Whatever agent a lost run
//! has left is ended first.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value as Json;
use sha2::{Digest, Sha256};

use crate::cli::error::{Failure, Outcome};
use crate::cli::settings::gather::{Gathered, Origin, Value};
use crate::cli::settings::keys::KEYS;
use crate::engine::{Checkpoint, Control, Ladder, Millis, Rows, Timestamp, counted};
use crate::lab::axis;
use crate::run::folder::{Folder, FolderError, Lock};
use crate::run::record::{CONFIG, JOURNAL, Recovered, STATE};
use crate::run::system::files::write_whole;
use crate::run::system::{procs, unix_ms};
use crate::run::{Journal, recover};
use crate::trace::{Header, Kept, Record};

/// What the person said about earlier runs.
#[derive(Clone, Debug, Default)]
pub struct Wish {
    /// Go on with the last one.
    pub resume: bool,
    /// Take over nothing.
    pub fresh: bool,
    /// Keep the rung after a spent budget.
    pub keep_rung: bool,
    /// Caps to lift.
    pub raise: Vec<String>,
}

/// A run that is taken up.
#[derive(Debug)]
pub struct Opened {
    /// Its name.
    pub id: String,
    /// Its folder.
    pub folder: PathBuf,
    /// What it begins with.
    pub kept: Checkpoint,
    /// Where its clock goes on.
    pub at: Timestamp,
    /// It was there before.
    pub resumed: bool,
    /// The round that its last process lost under way.
    pub lost: Option<u64>,
    /// The oracle was asked of its last round and did not answer.
    pub unanswered: bool,
    /// The journal's place, where it was there before.
    place: Option<(u64, String)>,
    /// For people.
    pub notes: Vec<String>,
    found: u64,
    /// Held for as long as the run goes on.
    pub _lock: Lock,
}

/// The last run, as far as it can be read.
struct Last {
    id: String,
    recovered: Recovered,
    config: BTreeMap<String, String>,
    prompt: String,
}

/// Takes the project's lock, and chooses the run.
///
/// # Errors
/// Another runner at work, a record that was changed, settings that differ from those of the run that is to go on.
pub fn open(folder: &Folder, settings: &mut Gathered, prompt: &str, wish: &Wish) -> Outcome<Opened> {
    let now = Timestamp::from_millis(unix_ms());
    let lock = folder.lock(now).map_err(|error| {
        let hint = match &error {
            FolderError::Io { .. } => "the records must be written somewhere: --state DIR keeps them elsewhere",
            FolderError::Taken(_) | FolderError::TakenByUnknown => {
                "one run at a time in a project; --state DIR keeps another's records elsewhere"
            }
        };
        Failure::usage(error).while_("cannot start a run").hint(hint)
    })?;
    if wish.fresh {
        if let Some(id) = folder.runs().pop().filter(|id| is_held(&folder.run(id).join(JOURNAL))) {
            return Err(
                Failure::said(format!("another flyball is at work in the run {id}")).while_("cannot start a run")
            );
        }
        let notes = end_unread(folder);
        return Ok(begin(folder, now, Checkpoint::default(), notes, lock));
    }
    let Some(last) = last(folder)? else {
        if wish.resume {
            return Err(Failure::said("there is no run to go on with").hint("leave --resume out to start one"));
        }
        return Ok(begin(folder, now, Checkpoint::default(), Vec::new(), lock));
    };
    // whoever lost the lock's file still holds the journal
    if is_held(&folder.run(&last.id).join(JOURNAL)) {
        return Err(Failure::said(format!("another flyball is at work in the run {}", last.id))
            .while_("cannot start a run")
            .hint("one run at a time in a project; --state DIR keeps another's records elsewhere"));
    }
    let mut notes = end_leftovers(&folder.run(&last.id), &last);
    let goes_on = wish.resume || matches!(last.recovered.stopped, None | Some(Control::Interrupted));
    if !goes_on {
        let kept = take_over(&last, settings, prompt, wish, &mut notes);
        return Ok(begin(folder, now, kept, notes, lock));
    }
    for raise in &wish.raise {
        notes.push(lift(settings, &last.config, raise)?);
    }
    same(&last, settings, prompt, wish)?;
    let run = folder.run(&last.id);
    let journal = run.join(JOURNAL);
    cut(&journal, last.recovered.bytes)
        .map_err(|error| Failure::usage(error).while_(format!("cannot go on with {}", journal.display())))?;
    let Recovered { kept, found, at, lines, last: hash, before, stopped, open, unanswered, .. } = last.recovered;
    let lost = open.map(|(round, _)| round);
    // a spent budget cleared what was kept; whoever lifts it goes on from before
    let mut kept = if stopped == Some(Control::Budget) { before.unwrap_or(kept) } else { kept };
    if !matches!(stopped, None | Some(Control::Interrupted)) {
        // whoever says that it is to go on after a stop has patience again
        kept.rows = Rows::default();
    }
    Ok(Opened {
        id: last.id,
        folder: run,
        kept,
        at,
        resumed: true,
        lost,
        unanswered,
        place: Some((lines, hash)),
        notes,
        found: found.count(),
        _lock: lock,
    })
}

fn begin(folder: &Folder, now: Timestamp, kept: Checkpoint, notes: Vec<String>, lock: Lock) -> Opened {
    let id = folder.name(now);
    let run = folder.run(&id);
    Opened {
        id,
        folder: run,
        kept,
        at: Timestamp::EPOCH,
        resumed: false,
        lost: None,
        unanswered: false,
        place: None,
        notes,
        found: 0,
        _lock: lock,
    }
}

impl Opened {
    /// The journal, with the line that says what the run begins with.
    ///
    /// # Errors
    /// A ladder that is none.
    pub fn journal(&self, header: &Header, ladder: &Ladder) -> Outcome<Journal> {
        let mut journal = match &self.place {
            Some((lines, last)) => Journal::go_on(ladder.clone(), *lines, last.clone()),
            None => Journal::begin(header).map_err(Failure::internal)?,
        };
        let opened = Record::Opened { kept: Kept::of(&self.kept), found_tokens: self.found };
        journal.write(self.at, opened).map_err(Failure::internal)?;
        for text in &self.notes {
            journal.write(self.at, Record::Note { text: text.clone() }).map_err(Failure::internal)?;
        }
        Ok(journal)
    }

    /// Writes the settings down.
    ///
    /// # Errors
    /// Where they cannot be written.
    pub fn write_config(&self, settings: &Gathered, prompt: &str) -> Outcome<()> {
        let text = serde_json::json!({
            "format": "flyball-config",
            "version": 1,
            "by": concat!("flyball ", env!("CARGO_PKG_VERSION")),
            "settings": settings.record(),
            "prompt": prompt,
        });
        let path = self.folder.join(CONFIG);
        write_whole(&path, format!("{text:#}\n").as_bytes()).map_err(|error| {
            Failure::usage(error)
                .while_(format!("cannot write {}", path.display()))
                .hint("--state DIR keeps the records elsewhere")
        })
    }
}

/// The last run of a folder; none where there is none that began.
fn last(folder: &Folder) -> Outcome<Option<Last>> {
    for id in folder.runs().into_iter().rev() {
        let found = read(folder, id)?;
        if found.is_some() {
            return Ok(found);
        }
    }
    Ok(None)
}

/// A run; none where it was lost before it began.
fn read(folder: &Folder, id: String) -> Outcome<Option<Last>> {
    let run = folder.run(&id);
    let wrong = |error: &dyn std::fmt::Display| {
        Failure::said(error)
            .while_(format!("cannot take up the run {}", run.display()))
            .hint("--fresh starts a new one, and leaves this one as it is")
    };
    let journal = fs::read(run.join(JOURNAL)).map_err(|error| wrong(&error))?;
    if !journal.contains(&b'\n') {
        // lost before its first line was whole: nothing was started
        return Ok(None);
    }
    let state = fs::read(run.join(STATE)).ok();
    let recovered = recover(state.as_deref(), &journal).map_err(|error| wrong(&error))?;
    let config = fs::read(run.join(CONFIG)).map_err(|error| wrong(&error))?;
    let config: Json = serde_json::from_slice(&config).map_err(|error| wrong(&error))?;
    let settings = config.get("settings").and_then(Json::as_object).into_iter().flatten();
    let text = |value: &Json| value.get("value").and_then(Json::as_str).map(str::to_owned);
    let config_of = settings.filter_map(|(name, value)| Some((name.clone(), text(value)?))).collect();
    let prompt = config.get("prompt").and_then(Json::as_str).unwrap_or_default().to_owned();
    Ok(Some(Last { id, recovered, config: config_of, prompt }))
}

/// Ends whatever the last run has left, where its record need not be sound.
fn end_unread(folder: &Folder) -> Vec<String> {
    let Some(id) = folder.runs().pop() else { return Vec::new() };
    let run = folder.run(&id);
    let open = fs::read(run.join(JOURNAL)).ok().and_then(|journal| recover(None, &journal).ok()?.open);
    let ended = procs::end_of_run(open.as_ref().map(|(_, process)| process), &run);
    if ended == 0 {
        Vec::new()
    } else {
        vec![format!("the run {id} had left {ended} processes behind: they were ended")]
    }
}

/// Ends whatever a lost run has left.
fn end_leftovers(run: &Path, last: &Last) -> Vec<String> {
    let ended = procs::end_of_run(last.recovered.open.as_ref().map(|(_, process)| process), run);
    let mut notes = Vec::new();
    if ended > 0 {
        notes.push(format!("the run {} had left {ended} processes behind: they were ended", last.id));
    }
    if let Some((round, _)) = &last.recovered.open {
        notes.push(format!(
            "round {round} was lost under way; what it had reported, {} output tokens, is counted",
            last.recovered.found.count()
        ));
    }
    notes
}

/// What a new run takes over from one that is over.
fn take_over(last: &Last, settings: &Gathered, prompt: &str, wish: &Wish, notes: &mut Vec<String>) -> Checkpoint {
    let same_agent =
        ["agent.kind", "agent.model"].iter().all(|name| last.config.get(*name) == Some(&settings.get(name).text));
    // whoever starts again after a stop has patience again
    let kept = &Checkpoint { rows: Rows::default(), ..last.recovered.kept.clone() };
    let rung = |checkpoint: &Checkpoint| Checkpoint { effort: checkpoint.effort.clone(), ..Checkpoint::default() };
    match last.recovered.stopped {
        Some(Control::Budget) if !wish.keep_rung => Checkpoint::default(),
        Some(Control::Budget) => last.recovered.before.as_ref().map(rung).unwrap_or_default(),
        _ if !same_agent => Checkpoint::default(),
        // done, or another task: its counts are its own
        Some(Control::OraclePassed) => rung(kept),
        _ if last.prompt != digest(prompt) => rung(kept),
        _ => {
            notes.push(format!(
                "goes on counting from the run {}: {}, {}; --fresh starts from nothing",
                last.id,
                counted(kept.rounds, "round"),
                counted(kept.output.unwrap_or_default().count(), "output token")
            ));
            kept.clone()
        }
    }
}

/// Lifts a cap; says so.
fn lift(settings: &mut Gathered, before: &BTreeMap<String, String>, raise: &str) -> Outcome<String> {
    let caps: Vec<_> = KEYS.iter().filter(|key| key.cap).collect();
    let names = || caps.iter().map(|key| key.name).collect::<Vec<_>>().join(", ");
    let (name, text) = raise
        .split_once('=')
        .ok_or_else(|| Failure::said(format!("--raise {raise}: write it as CAP=VALUE, such as budget=20")))?;
    let key = caps.iter().find(|key| key.name == name || key.flag == name);
    let key =
        key.ok_or_else(|| Failure::said(format!("--raise {raise}: no cap is called {name}; there are {}", names())))?;
    let was = before.get(&key.full()).cloned().unwrap_or_default();
    let number = |text: &str| text.parse::<f64>().ok().or_else(|| axis::duration(text).ok().map(millis));
    if was == "none" || number(text).zip(number(&was)).is_some_and(|(now, was)| now <= was) {
        return Err(Failure::said(format!("--raise {raise}: {} is {was}, and this would not raise it", key.full())));
    }
    settings.replace(&key.full(), Value { text: text.to_owned(), origin: Origin::Flag("raise".to_owned()) });
    Ok(format!("{} was raised from {was} to {text}", key.full()))
}

/// Milliseconds as a number to compare.
fn millis(span: Millis) -> f64 {
    f64::from(u32::try_from(span.count()).unwrap_or(u32::MAX))
}

/// Refuses to go on with settings that differ.
fn same(last: &Last, settings: &Gathered, prompt: &str, wish: &Wish) -> Outcome<()> {
    let raised = |name: &str| {
        wish.raise.iter().any(|raise| {
            let cap = raise.split('=').next().unwrap_or_default();
            KEYS.iter().any(|key| key.cap && key.full() == name && (key.name == cap || key.flag == cap))
        })
    };
    let mut differ: Vec<String> = settings
        .differences(&last.config)
        .into_iter()
        .filter(|(name, ..)| !raised(name))
        .map(|(name, was, is)| format!("{name}: {was:?} there, {is:?} here"))
        .collect();
    if last.prompt != digest(prompt) {
        differ.push("the task is another one".to_owned());
    }
    if differ.is_empty() {
        return Ok(());
    }
    let failure = Failure::said(differ.join("\n")).while_(match last.recovered.stopped {
        None | Some(Control::Interrupted) => {
            format!("the run {} was not finished, and was started with other settings", last.id)
        }
        Some(control) => format!("the run {} was stopped by {control}, and was started with other settings", last.id),
    });
    Err(failure
        .hint("give the same settings to go on; --raise CAP=VALUE with --resume lifts a cap; --fresh starts a new run"))
}

/// Whether a living process writes this file.
fn is_held(journal: &Path) -> bool {
    let file = fs::File::open(journal);
    file.is_ok_and(|file| matches!(file.try_lock_shared(), Err(fs::TryLockError::WouldBlock)))
}

/// Cuts what was half written.
fn cut(path: &Path, bytes: u64) -> std::io::Result<()> {
    let file = fs::OpenOptions::new().write(true).open(path)?;
    file.set_len(bytes)?;
    file.sync_all()
}

/// By what a task is known again.
#[must_use]
pub fn digest(prompt: &str) -> String {
    Sha256::digest(prompt).iter().map(|byte| format!("{byte:02x}")).collect()
}
