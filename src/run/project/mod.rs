//! The project of settings: oracles, gates, kill-on, progress, commits and prompts, put together for the host.
//!
//! | module | holds |
//! |---|---|
//! | this | what is set, and when each part is asked |
//! | `open` | what must be there before the first round |
//! | `judge` | whether the task is done |
//! | `leave` | what a round has left: content, difference, commit |
//!
//! The parts know nothing of each other: each is a module of its own beside this one. The order after a round is this:
//!
//! 1. protected files are put back;
//! 2. kill-on rules are asked, on the agent's own last message;
//! 3. the list of features is held against its committed copy, and the tests of what passes are run;
//! 4. the check list, then the oracle;
//! 5. the content is looked at, the difference kept, the round committed.
//!
//! Where the machine will not have the oracle asked, because somebody asked for a stop or a rule matched, 3 and 4 are left out.
//!
//! What the loop must remember from one process to the next lies in `site.json` in the run's folder. It is not the host, and counts nothing:
//! how long is too long is the machine's to say. Units: milliseconds of the run's clock; bytes.

mod judge;
mod leave;
mod open;

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::features::{Features, Gate};
use super::git::{Dirty, Git, Snapshot};
use super::glob::Glob;
use super::kill::{KillOn, Said, normalise_error};
use super::oracle::judge::Judge;
use super::oracle::list::CheckList;
use super::oracle::{Oracle, Rules};
use super::os::Os;
use super::place::Place;
use super::prompt::{Check, Facts, Failure, Prompts};
use super::protect::Protected;
use super::purse::Bounds;
use super::redact::redact;
use super::site::{Begin, Gone, Left, Progress, Site, Verdict};
use super::system::purse::Purses;
use super::tree::{Tree, TreeAsk};
use crate::engine::{Caps, Control, Fingerprint, Millis, RoundExit, Spent, Timestamp};

/// What a run keeps of its project, in its folder.
const STATE: &str = "site.json";
/// What was not as committed when a round began, in the run's folder.
const DIRTY: &str = "dirty";

/// What is asked of a project.
#[derive(Debug, Default)]
pub struct Asked {
    /// The task.
    pub task: String,
    /// What decides that it is done.
    pub oracle: Option<Oracle>,
    /// The same as it was written.
    pub oracle_words: String,
    /// How it is asked.
    pub rules: Rules,
    /// Who judges, where a rubric is named.
    pub judge: Option<Judge>,
    /// Checks in order.
    pub checks: Option<CheckList>,
    /// The file of the list of features, and how their tests are run.
    pub features: Option<(PathBuf, Option<Gate>)>,
    /// What gives up.
    pub kill_on: Vec<KillOn>,
    /// Files that the agent must not change, as a person names them.
    pub protect: Vec<Glob>,
    /// Files by which the loop decides: the agent must not change them either, nor make them.
    pub decides: Vec<Glob>,
    /// A change of them stops the loop, after it was put back.
    pub stop_on_change: bool,
    /// Names of folders, and paths, whose change is no progress.
    pub ignore: Vec<String>,
    /// Look at the content at all: not where no agent of this loop ever changes it.
    pub look: bool,
    /// Commit what each round changed.
    pub commit: bool,
    /// The branch on which to do so.
    pub branch: Option<String>,
    /// The templates.
    pub prompts: Prompts,
    /// The most bytes of a prompt.
    pub prompt_most: usize,
    /// Lines that templates quote.
    pub constraints: Vec<String>,
    /// The loop's own caps, for the countdown.
    pub caps: Caps,
    /// The agent's own words are all that it prints.
    pub plain: bool,
    /// The round that the process before lost under way.
    pub lost: Option<u64>,
    /// The run goes on.
    pub resumed: bool,
}

/// What is remembered from one process to the next.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
struct Kept {
    /// The commit that somebody other than flyball made last.
    #[serde(skip_serializing_if = "Option::is_none")]
    head: Option<String>,
    /// What the oracle's score was, in millionths.
    #[serde(skip_serializing_if = "Option::is_none")]
    score: Option<i64>,
    /// How many features pass.
    passing: usize,
    /// The commit that the list of features is held against.
    #[serde(skip_serializing_if = "Option::is_none")]
    features: Option<String>,
    /// One hash over what is protected.
    #[serde(skip_serializing_if = "Option::is_none")]
    protected: Option<String>,
}

/// The project as it was at one moment.
#[derive(Debug, Default)]
struct Before {
    tree: Option<Arc<Tree>>,
    snapshot: Option<Snapshot>,
    dirty: Dirty,
    head: Option<String>,
}

/// The project of settings.
#[derive(Debug)]
pub struct Project {
    asked: Asked,
    place: Place,
    git: Option<Git>,
    features: Option<Features>,
    protected: Option<Protected>,
    purses: Option<Purses>,
    bounds: Bounds,
    kept: Kept,
    before: Before,
    /// What the last round changed, as a patch.
    diff: String,
    failure: Option<Failure>,
    check: Option<Check>,
    /// What was said of the last round, for the next prompt.
    notes: Vec<String>,
    /// The round's end is still to be looked at, once the oracle has answered.
    pending: Option<Pending>,
    /// What was said at the start.
    opening: Vec<String>,
    /// What was said of the content.
    told: std::collections::BTreeSet<String>,
    details: BTreeMap<Control, String>,
}

/// What is known of a round before its end is looked at.
#[derive(Clone, Debug)]
struct Pending {
    round: u64,
    interrupted: bool,
    error: Option<String>,
}

impl Project {
    /// A project of which this is asked, in this place; `purses` are those of caps over several runs.
    #[must_use]
    pub fn new(asked: Asked, place: Place, purses: Option<Purses>) -> Self {
        Self {
            asked,
            place,
            git: None,
            features: None,
            protected: None,
            purses,
            bounds: Bounds::default(),
            kept: Kept::default(),
            before: Before::default(),
            diff: String::new(),
            failure: None,
            check: None,
            notes: Vec::new(),
            pending: None,
            opening: Vec::new(),
            told: std::collections::BTreeSet::new(),
            details: BTreeMap::new(),
        }
    }

    /// Whether the machine has an oracle to ask.
    #[must_use]
    pub const fn verifies(&self) -> bool {
        self.asked.oracle.is_some() || self.asked.checks.is_some() || self.asked.features.is_some()
    }

    /// What of the project is content.
    fn content(&self) -> TreeAsk {
        let mut ask = TreeAsk::project(&self.place.project);
        ask.ignored.extend(self.asked.ignore.iter().filter(|name| !name.contains('/')).cloned());
        ask.left_out = self.asked.ignore.iter().map(PathBuf::from).collect();
        ask.left_out.extend(NOTES.map(PathBuf::from));
        ask.left_out.extend(self.features.as_ref().map(|features| features.file().to_owned()));
        ask.before.clone_from(&self.before.tree);
        ask
    }

    fn keep(&self, os: &mut impl Os) -> Result<(), String> {
        let bytes = serde_json::to_vec_pretty(&self.kept).map_err(|error| error.to_string())?;
        os.replace(STATE, &bytes).map_err(|error| unwritten(&error))
    }

    /// One fingerprint over all that counts as progress: content, commits of others, the oracle's score, features that pass.
    fn progress(&self) -> Option<Progress> {
        let tree = self.before.tree.as_ref()?;
        let mut sum = Sha256::new();
        sum.update(tree.fingerprint());
        sum.update(serde_json::to_vec(&(&self.kept.head, self.kept.score, self.kept.passing)).unwrap_or_default());
        Some(Progress { tree: Some(Fingerprint(sum.finalize().into())), error: None })
    }

    /// Notes for people, which the next prompt may quote too.
    fn say(&mut self, notes: &mut Vec<String>, text: String) {
        self.notes.push(text.clone());
        notes.push(text);
    }

    /// What is left of the loop's own caps and of those that it shares, whichever is less; this round is counted as spent already.
    fn left(&self, spent: &Spent) -> Caps {
        let (own, shared) = (&self.asked.caps, self.bounds.caps());
        Caps {
            rounds: less(own.rounds, shared.rounds).map(|cap| cap.saturating_add(1).saturating_sub(spent.rounds)),
            budget: less(own.budget, shared.budget).map(|cap| cap.minus(spent.output)),
            tokens: less(own.tokens, shared.tokens).map(|cap| cap.minus(spent.tokens)),
            cost: less(own.cost, shared.cost).map(|cap| cap.minus(spent.cost)),
            wall: less(own.wall, shared.wall).map(|cap| cap.minus(spent.wall)),
        }
    }

    fn facts(&self, begin: &Begin<'_>) -> Facts {
        Facts {
            task: self.asked.task.clone(),
            round: begin.round,
            effort: begin.effort.word().to_owned(),
            done: self.what_is_done(),
            kill_on: self.asked.kill_on.iter().map(ToString::to_string).collect(),
            diff: self.diff.clone(),
            oracle: self.failure.clone(),
            check: self.check.clone(),
            constraints: self.asked.constraints.clone(),
            left: self.left(&begin.spent),
            notes: self.notes.clone(),
        }
    }
}

/// The smaller of two caps.
fn less<T: Ord>(a: Option<T>, b: Option<T>) -> Option<T> {
    a.into_iter().chain(b).min()
}

/// Files for people that change in every round: no content, or nothing would ever stand still.
const NOTES: [&str; 2] = ["progress.txt", "features.json"];

fn unwritten(error: &io::Error) -> String {
    format!("the run's record cannot be written: {error}")
}

impl<O: Os> Site<O> for Project {
    fn found(&mut self, os: &mut O) -> Result<(Option<Progress>, Vec<String>), String> {
        let progress = self.open(os)?;
        Ok((progress, std::mem::take(&mut self.opening)))
    }

    fn shared(&mut self, os: &mut O, spent: Spent) -> Result<Option<Caps>, String> {
        let Some(purses) = &mut self.purses else { return Ok(None) };
        let now = Timestamp::from_millis(os.unix_ms());
        self.bounds = purses.checkpoint(now, &spent).map_err(|error| error.to_string())?;
        Ok((!self.bounds.all().is_empty()).then(|| self.bounds.caps()))
    }

    fn before(&mut self, os: &mut O, begin: &Begin<'_>) -> Result<(Option<String>, Vec<String>), String> {
        self.place.round = begin.round;
        if self.asked.commit {
            os.replace(DIRTY, &self.before.dirty.to_bytes()).map_err(|error| unwritten(&error))?;
        }
        let facts = self.facts(begin);
        let mut rendered = self.asked.prompts.render(&facts, self.asked.prompt_most);
        if self.asked.prompts == Prompts::default()
            && let Some(check) = &self.check
        {
            // without a template of the person's own, the first check that fails is still the round's task
            rendered.text.push_str(&format!("\n\nNow: {}\n", check.task));
        }
        let notes = rendered.cut.iter().map(|cut| format!("round {}: {cut}", begin.round)).collect();
        self.notes.clear();
        Ok((Some(rendered.text), notes))
    }

    fn after(&mut self, os: &mut O, gone: &Gone<'_>) -> Result<Left, String> {
        let mut left = Left::default();
        let said = self.own_words(os, gone);
        if !said.is_empty() {
            let file = self.place.file("output.md");
            os.append(&file, redact(&said).as_bytes()).map_err(|error| unwritten(&error))?;
        }
        left.kill = self.protect(os, &mut left.notes);
        if left.kill.is_none() && !gone.interrupted {
            left.kill = self.gives_up(os, gone.said, &gone.spent, &mut left.notes);
        }
        self.head_moved(os);
        let pending = Pending {
            round: gone.round,
            interrupted: gone.interrupted,
            error: gone.error.filter(|_| gone.exit == RoundExit::Failed).and_then(normalise_error),
        };
        if gone.verifies && left.kill.is_none() {
            self.pending = Some(pending);
        } else {
            left.progress = self.leave(os, &pending, &mut left.notes)?;
        }
        Ok(left)
    }

    fn verify(&mut self, os: &mut O, round: u64, time: Option<Millis>) -> Result<Verdict, String> {
        self.place.round = round;
        let mut seen = Vec::new();
        self.see_for_the_judge(os, &mut seen);
        let mut verdict = self.judge(os, time)?;
        verdict.notes.append(&mut seen);
        if let Some(mut pending) = self.pending.take() {
            pending.error =
                pending.error.or_else(|| self.failure.as_ref().and_then(|failure| normalise_error(&failure.why)));
            pending.interrupted |= verdict.answer.is_none();
            verdict.progress = self.leave(os, &pending, &mut verdict.notes)?;
        }
        Ok(verdict)
    }

    fn detail(&self, control: Control) -> Option<String> {
        let shared = || self.bounds.words(control, &self.asked.caps).map(str::to_owned);
        self.details.get(&control).cloned().or_else(shared)
    }
}

impl Project {
    /// The agent's own words of a round.
    fn own_words<O: Os>(&self, os: &mut O, gone: &Gone<'_>) -> String {
        if !self.asked.plain {
            return gone.whole.to_owned();
        }
        let path = self.place.folder().join("stdout.log");
        os.read(&path, 1 << 20).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default()
    }

    /// Puts protected files back; whether that is a reason to stop.
    fn protect<O: Os>(&mut self, os: &mut O, notes: &mut Vec<String>) -> Option<String> {
        let found = self.protected.as_ref()?.after(os, &self.place);
        if found.is_clean() {
            return None;
        }
        for text in found.put_back.iter().chain(&found.lost) {
            self.say(notes, format!("round {}: protected: {text}", self.place.round));
        }
        let stops = self.asked.stop_on_change || !found.lost.is_empty();
        let first = found.lost.first().or_else(|| found.put_back.first());
        first.filter(|_| stops).map(|text| format!("a protected file was changed: {text}"))
    }

    /// The rule that gives the loop up, and what it saw.
    fn gives_up<O: Os>(&mut self, os: &mut O, message: &str, spent: &Spent, notes: &mut Vec<String>) -> Option<String> {
        let left = self.asked.caps.wall.map(|wall| wall.minus(spent.wall));
        let limit = left.map_or(self.asked.rules.limit, |left| left.min(self.asked.rules.limit));
        for rule in &self.asked.kill_on {
            match rule.ask(os, &self.place, message, limit) {
                Said::GoOn => {}
                Said::Kill(why) => return Some(format!("{rule}: {why}")),
                Said::Broken(why) => notes.push(format!("the kill-on rule {rule} is broken: {why}")),
            }
        }
        None
    }
}
