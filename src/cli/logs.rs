//! Agents' logs on the disk: names and folders in, logs out.
//!
//! What reads them is in [`agents`](crate::agents); here is only what opens files.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use super::error::{Failure, Outcome};
use super::output::warn;
use crate::agents::{Health, Log, LogReader};

/// The deepest folder that is looked into.
const MAX_DEPTH: usize = 32;

/// Reads all logs that are named or lie in folders that are.
///
/// # Errors
/// A folder that cannot be read; logs of which none can be used, each by name.
pub fn load(named: &[PathBuf]) -> Outcome<Vec<Log>> {
    read_all(&files(named)?)
}

/// All files that are named, and all `*.jsonl` in folders that are, in order of name.
///
/// # Errors
/// A folder that cannot be read.
pub fn files(named: &[PathBuf]) -> Outcome<Vec<PathBuf>> {
    let mut found = Vec::new();
    for path in named {
        if path.is_dir() {
            let before = found.len();
            search(path, MAX_DEPTH, &mut found)?;
            if found.len() == before {
                warn(&format!("{}: there is no *.jsonl in this folder", path.display()));
            }
        } else {
            found.push(path.clone());
        }
    }
    found.sort();
    found.dedup();
    Ok(found)
}

fn search(folder: &Path, depth: usize, found: &mut Vec<PathBuf>) -> Outcome<()> {
    let unreadable = |error| Failure::usage(error).while_(format!("cannot read the folder {}", folder.display()));
    for entry in fs::read_dir(folder).map_err(unreadable)? {
        let entry = entry.map_err(unreadable)?;
        let (path, kind) = (entry.path(), entry.file_type().map_err(unreadable)?);
        if kind.is_dir() && depth > 0 {
            search(&path, depth - 1, found)?;
        } else if !kind.is_dir() && path.extension().is_some_and(|ending| ending == "jsonl") {
            found.push(path);
        }
    }
    Ok(())
}

/// Reads all files: those that are no log of a known kind are told, and are a failure where nothing else is left.
fn read_all(files: &[PathBuf]) -> Outcome<Vec<Log>> {
    let (mut logs, mut faults) = (Vec::new(), Vec::new());
    for file in files {
        match read(file) {
            Ok(log) => {
                let half = log.health.half_last > 0;
                if half {
                    warn(&format!("{}: its last line is cut off, and was left out", file.display()));
                }
                if log.turns.is_empty() {
                    faults.push(format!("{}: there is no call to a model in it", file.display()));
                } else {
                    logs.push(log);
                }
            }
            Err(why) => faults.push(format!("{}: {why}", file.display())),
        }
    }
    if logs.is_empty() {
        let what = if faults.is_empty() { "there is no log".to_owned() } else { faults.join("\n  ") };
        let hint = "name session files of Claude Code (~/.claude/projects) or rollouts of Codex (~/.codex/sessions)";
        return Err(Failure::said(what).while_("cannot use these logs").hint(hint));
    }
    faults.iter().for_each(|fault| warn(fault));
    Ok(logs)
}

fn read(file: &Path) -> Result<Log, String> {
    let mut source = File::open(file).map_err(|error| error.to_string())?;
    let (mut reader, mut piece) = (LogReader::new(), vec![0; 1 << 16]);
    loop {
        match source.read(&mut piece).map_err(|error| error.to_string())? {
            0 => return reader.finish().map_err(|error| error.to_string()),
            read => reader.push(&piece[..read]),
        }
    }
}

/// Says what was odd, in one line.
pub fn warn_of(health: &Health) {
    let counts = [
        (health.lost_lines(), "unreadable lines"),
        (health.unknown_types, "lines of unknown type"),
        (health.placeholders, "calls without a final count"),
        (health.bad_numbers, "numbers that cannot be"),
        (health.bad_times, "calls without a time"),
        (health.duplicates, "calls met twice and counted once"),
    ];
    let odd: Vec<String> = counts.iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{n} {what}")).collect();
    if !odd.is_empty() {
        warn(&odd.join(", "));
    }
}
