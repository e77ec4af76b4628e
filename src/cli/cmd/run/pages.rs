//! The lines that stay of rounds and runs: `progress.txt` for people, `history.jsonl` for programs, both in the folder of the records.
//!
//! They are for reading: nothing is decided by them, and one that cannot be written is said and stops nothing.

use std::path::{Path, PathBuf};

use super::stop;
use crate::cli::exit::Exit;
use crate::cli::output::warn;
use crate::cli::settings::{Gathered, Typed};
use crate::engine::Timestamp;
use crate::run::history::{HISTORY, Over, PROGRESS, RoundOver, VERSION, progress, stopped};
use crate::run::redact::redact;
use crate::run::system::shelf::{add, add_run};
use crate::run::system::unix_ms;
use crate::run::{Ended, Told};
use crate::trace::{Word, iso};

/// Where they lie.
#[derive(Debug)]
pub struct Pages {
    folder: PathBuf,
    /// That one cannot be written was said.
    told: bool,
}

impl Pages {
    /// In the folder of the records.
    #[must_use]
    pub fn new(records: &Path) -> Self {
        Self { folder: records.to_owned(), told: false }
    }

    /// A line for people.
    pub fn say(&mut self, text: &str) {
        let line = progress(now(), &redact(text));
        if let Err(error) = add(&self.folder.join(PROGRESS), &line) {
            self.fault(PROGRESS, &error);
        }
    }

    /// A round that is over.
    pub fn round(&mut self, told: &Told<'_>) {
        let over = RoundOver {
            round: told.round,
            effort: told.asked,
            exit: told.exit,
            why: told.why,
            turns: told.turns,
            output: told.output,
            lasted: told.lasted,
            oracle: told.oracle.map(|(_, why)| why),
            changed: told.changed,
        };
        self.say(&over.words());
    }

    /// A run that is over.
    pub fn over(&mut self, run: &str, ended: &Ended, exit: Exit, settings: &Gathered, typed: &Typed) {
        let detail = redact(&stop::detail(ended, typed)).into_owned();
        self.say(&stopped(ended.control, &detail, exit.code()));
        let setting = |name: &str| settings.get(name).text.clone();
        let governor = ["law", "juice", "over", "slack", "rest", "budget"];
        let over = Over {
            version: VERSION,
            run: run.to_owned(),
            when: iso(now()),
            agent: setting("agent.kind"),
            model: setting("agent.model"),
            control: Word(ended.control),
            detail,
            exit: exit.code(),
            rounds: ended.spent.rounds,
            output_tokens: ended.spent.output.count(),
            tokens: ended.spent.tokens.count(),
            micro_usd: ended.spent.cost.count(),
            wall_ms: ended.spent.wall.count(),
            governor: governor.map(|name| (name.to_owned(), setting(&format!("governor.{name}")))).into(),
        };
        let written =
            over.line().map_err(std::io::Error::from).and_then(|line| add_run(&self.folder.join(HISTORY), &line));
        if let Err(error) = written {
            self.fault(HISTORY, &error);
        }
    }

    fn fault(&mut self, name: &str, error: &std::io::Error) {
        if !std::mem::replace(&mut self.told, true) {
            warn(&format!("{} cannot be written: {error}", self.folder.join(name).display()));
        }
    }
}

fn now() -> Timestamp {
    Timestamp::from_millis(unix_ms())
}
