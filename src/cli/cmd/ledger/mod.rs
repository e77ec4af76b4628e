//! `flyball ledger`: logs of agents in, what they add up to out.

use crate::agents::Log;
use crate::agents::ledger::{Account, Dedup, Ledger};
use crate::cli::args::{DedupWord, Ledger as Args, LedgerFormat};
use crate::cli::error::Outcome;
use crate::cli::exit::Exit;
use crate::cli::{logs, output};

mod csv;
mod json;
mod table;

/// What was asked for, read and added up.
struct Sheet {
    names: Vec<String>,
    ledger: Ledger,
    dedup: Dedup,
}

impl Sheet {
    /// Whether some files state what they cost, and others with turns do not.
    fn is_partial(&self) -> bool {
        let states = |account: &Account| account.cost.is_some();
        let silent = |account: &Account| account.all.turns > 0 && account.cost.is_none();
        self.ledger.files.iter().any(states) && self.ledger.files.iter().any(silent)
    }

    fn files(&self) -> impl Iterator<Item = (&str, &Account)> {
        self.names.iter().map(String::as_str).zip(&self.ledger.files)
    }
}

/// Adds logs up.
///
/// # Errors
/// No log that can be used; output that cannot be written.
pub fn run(args: &Args) -> Outcome {
    let (names, logs): (Vec<String>, Vec<Log>) =
        logs::load_named(&args.paths)?.into_iter().map(|found| (found.name, found.log)).unzip();
    let dedup = match args.dedup {
        DedupWord::All => Dedup::All,
        DedupWord::PerFile => Dedup::PerFile,
    };
    let sheet = Sheet { ledger: Ledger::of(&logs, dedup), names, dedup };
    let text = match args.format {
        LedgerFormat::Table => table::of(&sheet),
        LedgerFormat::Json => json::of(&sheet)?,
        LedgerFormat::Csv => csv::of(&sheet)?,
    };
    logs::warn_of(&sheet.ledger.total.health);
    output::print(text.as_bytes())?;
    Ok(Exit::Success)
}

/// A count in millionths of a USD, with its cents.
fn dollars(micros: u64) -> String {
    format!("{}.{:02}", micros / 1_000_000, micros % 1_000_000 / 10_000)
}

/// Words of a set, with commas between.
fn words<T: AsRef<str>>(words: impl IntoIterator<Item = T>) -> String {
    let all: Vec<String> = words.into_iter().map(|word| word.as_ref().to_owned()).collect();
    if all.is_empty() { "-".to_owned() } else { all.join(",") }
}
