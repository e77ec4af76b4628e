//! Agents' logs on the disk: names and folders in, logs out.
//!
//! What reads them is in [`agents`](crate::agents); here is only what opens files.

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use indicatif::ProgressBar;

use super::error::{Failure, Outcome};
use super::output::{self, say, warn};
use crate::agents::{Health, Log, LogReader, NotRead};
use crate::engine::{counted, one_or};
use crate::lab::scenario::file;

/// The deepest folder that is looked into.
const MAX_DEPTH: usize = 32;

/// Endings of the files that a folder is searched for.
const ENDINGS: [&str; 2] = ["jsonl", "json"];

/// A log and the name that it goes by.
#[derive(Debug)]
pub struct Named {
    /// The path as given; below a single folder, the path within it.
    pub name: String,
    /// What was in it.
    pub log: Log,
}

/// Reads all logs that are named or lie in folders that are, those without a call left out.
///
/// # Errors
/// A folder that cannot be read; logs of which none can be used, each by name.
pub fn load(named: &[PathBuf]) -> Outcome<Vec<Log>> {
    with_calls(load_named(named)?)
}

/// The same of files that were found before.
///
/// # Errors
/// As [`load`].
pub fn load_found(found: &[Found]) -> Outcome<Vec<Log>> {
    with_calls(read_all(found, Vec::new(), None)?)
}

fn with_calls(mut logs: Vec<Named>) -> Outcome<Vec<Log>> {
    logs.retain(|found| {
        let any = !found.log.turns.is_empty();
        if !any {
            warn(&format!("{}: there is no call to a model in it", found.name));
        }
        any
    });
    if logs.is_empty() {
        return Err(nothing("there is no call to a model in any of them"));
    }
    Ok(logs.into_iter().map(|found| found.log).collect())
}

/// Reads all logs with their names, logs without a call among them.
///
/// # Errors
/// As [`load`].
pub fn load_named(named: &[PathBuf]) -> Outcome<Vec<Named>> {
    let (found, faults) = files(named)?;
    let base = match named {
        [folder] if folder.is_dir() => Some(folder.as_path()),
        _ => None,
    };
    read_all(&found, faults, base)
}

fn read_all(found: &[Found], mut faults: Vec<String>, base: Option<&Path>) -> Outcome<Vec<Named>> {
    let bar = output::bytes(found.iter().filter_map(|file| fs::metadata(&file.path).ok()).map(|meta| meta.len()).sum());
    let (mut logs, mut others, mut missing) = (Vec::new(), 0_u64, Vec::new());
    for file in found {
        let shown = |path: &Path| path.display().to_string().replace(char::is_control, "\u{FFFD}");
        // a name goes into tables; a fault is to be found
        let name = shown(base.and_then(|base| file.path.strip_prefix(base).ok()).unwrap_or(&file.path));
        let place = shown(&file.path);
        match read(&file.path, &bar) {
            Ok(log) => {
                if log.health.half_last > 0 {
                    bar.suspend(|| warn(&format!("{name}: its last line is cut off, and was left out")));
                }
                logs.push(Named { name, log });
            }
            // a folder may hold anything; a file that was named is meant
            Err(Unread::NoLog(_)) if file.searched => others += 1,
            Err(Unread::NoLog(why)) => faults.push(format!("{place}: {why}")),
            Err(Unread::Failed(why)) if file.searched => faults.push(format!("{place}: {why}")),
            Err(Unread::Failed(why)) => missing.push(format!("{place}: {why}")),
        }
    }
    bar.finish_and_clear();
    // a sum without a file that was meant to be in it is a wrong sum
    if !missing.is_empty() {
        return Err(Failure::said(missing.join("\n"))
            .while_("cannot read all of these logs")
            .hint("name logs and folders that can be read, or leave these out"));
    }
    let no_logs = format!(
        "{} in the folders {} of a known kind",
        counted(others, "file"),
        one_or(others, "is no log", "are no logs")
    );
    if logs.is_empty() {
        if others > 0 {
            faults.push(no_logs);
        }
        return Err(nothing(&if faults.is_empty() { "there is no log".to_owned() } else { faults.join("\n") }));
    }
    faults.iter().for_each(|fault| warn(fault));
    if others > 0 {
        say(&format!("{no_logs}, and {} passed over", one_or(others, "was", "were")));
    }
    Ok(logs)
}

/// The files that are named, that a pattern matches, or that lie in folders, in order of name.
///
/// # Errors
/// A folder or a pattern that cannot be followed.
pub fn find(named: &[PathBuf]) -> Outcome<Vec<Found>> {
    let (found, faults) = files(named)?;
    faults.iter().for_each(|fault| warn(fault));
    Ok(found)
}

fn nothing(what: &str) -> Failure {
    let hint = "name session files of an agent (~/.claude/projects, ~/.codex/sessions, ~/.pi/agent/sessions), or what one printed as JSON";
    Failure::said(what).while_("cannot use these logs").hint(hint)
}

/// A file to read.
#[derive(Debug)]
pub struct Found {
    /// Where it lies.
    pub path: PathBuf,
    /// It was found in a folder, and not named.
    pub searched: bool,
}

/// All files that are named, that a pattern matches, or that lie in folders, in order of name; and what matched nothing.
fn files(named: &[PathBuf]) -> Outcome<(Vec<Found>, Vec<String>)> {
    let (mut found, mut faults) = (Vec::new(), Vec::new());
    for path in named {
        if path.is_dir() {
            let before = found.len();
            search(path, MAX_DEPTH, &mut found)?;
            if found.len() == before {
                faults.push(format!("{}: there is no *.jsonl or *.json in this folder", path.display()));
            }
        } else if path.as_os_str() != "-" && !path.exists() && is_pattern(path) {
            let before = found.len();
            for hit in glob::glob(&path.to_string_lossy())
                .map_err(|error| Failure::usage(error).while_(format!("cannot read the pattern {}", path.display())))?
            {
                let hit = hit.map_err(|error| {
                    Failure::usage(error).while_(format!("cannot follow the pattern {}", path.display()))
                })?;
                if hit.is_file() {
                    found.push(Found { path: hit, searched: false });
                }
            }
            if found.len() == before {
                faults.push(format!("{}: no file matches this pattern", path.display()));
            }
        } else {
            found.push(Found { path: path.clone(), searched: false });
        }
    }
    found.sort_by(|a, b| a.path.cmp(&b.path));
    found.dedup_by(|a, b| a.path == b.path);
    Ok((found, faults))
}

fn is_pattern(path: &Path) -> bool {
    path.to_string_lossy().contains(['*', '?', '['])
}

fn search(folder: &Path, depth: usize, found: &mut Vec<Found>) -> Outcome<()> {
    let unreadable = |error| Failure::usage(error).while_(format!("cannot read the folder {}", folder.display()));
    for entry in fs::read_dir(folder).map_err(unreadable)? {
        let entry = entry.map_err(unreadable)?;
        let (path, kind) = (entry.path(), entry.file_type().map_err(unreadable)?);
        let ending = path.extension().and_then(|ending| ending.to_str());
        if kind.is_dir() && depth > 0 {
            search(&path, depth - 1, found)?;
        } else if !kind.is_dir() && ending.is_some_and(|ending| ENDINGS.contains(&ending)) && !is_special(&path) {
            found.push(Found { path, searched: true });
        }
    }
    Ok(())
}

/// Whether it is there and no file: a pipe that lies in a folder was not asked for, and would be waited for. What a link leads to
/// counts; one that leads nowhere is told where it is read.
fn is_special(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|meta| !meta.is_file() && !meta.is_dir())
}

enum Unread {
    /// It was read, and is no log.
    NoLog(NotRead),
    /// It could not be read.
    Failed(io::Error),
}

fn read(path: &Path, bar: &ProgressBar) -> Result<Log, Unread> {
    let mut source: Box<dyn Read> = if path.as_os_str() == "-" {
        Box::new(io::stdin().lock())
    } else {
        Box::new(file::open(path).map_err(Unread::Failed)?)
    };
    let (mut reader, mut piece) = (LogReader::new(), vec![0; 1 << 18]);
    loop {
        match source.read(&mut piece) {
            Ok(0) => return reader.finish().map_err(Unread::NoLog),
            Ok(read) => {
                reader.push(&piece[..read]);
                bar.inc(u64::try_from(read).unwrap_or(0));
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(Unread::Failed(error)),
        }
    }
}

/// Says what was odd, in one line.
pub fn warn_of(health: &Health) {
    let odd = odd(health);
    if !odd.is_empty() {
        warn(&odd.join(", "));
    }
}

fn odd(health: &Health) -> Vec<String> {
    let counts = [
        (health.lost_lines(), "unreadable line", ""),
        (health.unknown_types, "line", " of unknown type"),
        (health.placeholders, "call", " without a final count"),
        (health.bad_numbers, "number", " that cannot be"),
        (health.bad_times, "call", " without a time"),
        (health.duplicates, "call", " met twice and counted once"),
    ];
    counts.iter().filter(|(n, ..)| *n > 0).map(|(n, what, how)| format!("{}{how}", counted(n, what))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_odd_is_counted_in_words() {
        let of = |placeholders, duplicates| odd(&Health { placeholders, duplicates, ..Health::default() });
        assert_eq!(of(1, 0), ["1 call without a final count"]);
        assert_eq!(of(0, 2), ["2 calls met twice and counted once"]);
    }
}
