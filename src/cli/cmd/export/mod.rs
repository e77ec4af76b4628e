//! `export`: a run's record in the layouts that other tools expect.
//!
//! | layout | what stands in the folder |
//! |---|---|
//! | `loop` | `spend.log`, `logs/iter-N.json`, `logs/gate-N.log`, `progress.txt` |
//! | `ralf` | `ralph/RUN/` with `config.json`, `initial-prompt.md`, `iter-NNN/`, `active.lock` while it goes on, `budget.json` when it is over; `ralph-history.jsonl`, `ralph-warnings.log` |
//! | `pi` | `state.json`, `attempt-NNNN/` |
//!
//! A layout is made of texts and of copies of files of the record; what a run has not is left out, and said. The folder must be empty, or hold an export
//! made by this command, of which the files are replaced. flyball reads none of it back.
//!
//! Units: those of each layout, with their names; costs are US dollars as the agent stated them.

mod looped;
mod pi;
mod ralf;
mod read;
mod write;

use std::collections::BTreeSet;
use std::path::PathBuf;

use clap::{Args, ValueEnum};

use self::read::Taken;
use super::runs::Place;
use crate::cli::error::Outcome;
use crate::cli::exit::Exit;
use crate::cli::output::{say, warn};
use crate::engine::counted;

/// `export`.
#[derive(Debug, Args)]
pub struct Export {
    /// The run [default: the last one]
    #[arg(value_name = "RUN")]
    pub run: Option<String>,
    /// Which project.
    #[command(flatten)]
    pub place: Place,
    /// Whose layout
    #[arg(long, value_enum)]
    pub layout: Layout,
    /// The folder to write, which is empty or holds an earlier export
    #[arg(short, long, value_name = "DIR")]
    pub out: PathBuf,
}

/// A layout of another tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Layout {
    /// A shell loop's: a ledger of cost, and a result a round
    Loop,
    /// RALF's: a folder a round, and what the run came to
    Ralf,
    /// The pi controller's: a state, and a folder an attempt
    Pi,
}

impl Layout {
    const fn name(self) -> &'static str {
        match self {
            Self::Loop => "loop",
            Self::Ralf => "ralf",
            Self::Pi => "pi",
        }
    }
}

/// What is to be written.
#[derive(Debug, Default)]
pub struct Pack {
    items: Vec<(String, Content)>,
    /// Files that the run does not have, each once however many copies of it there would be.
    missing: BTreeSet<String>,
}

#[derive(Debug)]
enum Content {
    Text(String),
    Copy(PathBuf),
}

impl Pack {
    /// A file with this text.
    fn text(&mut self, path: impl Into<String>, text: impl Into<String>) {
        self.items.push((path.into(), Content::Text(text.into())));
    }

    /// A file with this object.
    fn json(&mut self, path: impl Into<String>, value: &serde_json::Value) {
        self.text(path, format!("{value:#}\n"));
    }

    /// A copy of a file of the record, where it is there. What is not the record's own file, but a link to another, is not copied.
    fn copy(&mut self, taken: &Taken, from: &str, path: impl Into<String>) {
        match taken.own(from) {
            Some(file) => self.items.push((path.into(), Content::Copy(file))),
            None => {
                self.missing.insert(from.to_owned());
            }
        }
    }

    /// What is left out, for people.
    fn left_out(&self) -> Option<String> {
        let first: Vec<&str> = self.missing.iter().take(4).map(String::as_str).collect();
        let more = self.missing.len() - first.len();
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        (!first.is_empty()).then(|| format!("left out, for the run does not have them: {}{more}", first.join(", ")))
    }
}

/// Writes the layout.
///
/// # Errors
/// A run that is not there or was changed, a folder that holds something else, what cannot be written.
pub fn run(args: &Export) -> Outcome {
    let taken = read::take(&args.place.folder(), args.run.as_deref())?;
    let mut pack = Pack::default();
    match args.layout {
        Layout::Loop => looped::lay(&taken, &mut pack)?,
        Layout::Ralf => ralf::lay(&taken, &mut pack),
        Layout::Pi => pi::lay(&taken, &mut pack),
    }
    let written = write::write(&args.out, args.layout.name(), &taken.id, &pack)?;
    say(&format!("flyball: {} of run {} in {}", counted(written, "file"), taken.id, args.out.display()));
    if let Some(left_out) = pack.left_out() {
        warn(&left_out);
    }
    Ok(Exit::Success)
}
