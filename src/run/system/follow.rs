//! Files that a program writes while it works: found by name, read as they grow.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fs::{self, File};
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::Heard;
use crate::agents::adapter::Follow;

/// What is read of a file at once.
const PIECE: u64 = 1024 * 1024;
/// How far a file's first line is looked at.
const FIRST: u64 = 64 * 1024;
/// Between two searches for new files, so many looks.
const SEARCH_EVERY: u32 = 5;

/// The files of a round.
#[derive(Debug, Default)]
pub(super) struct Followed {
    follows: Vec<Follow>,
    since: Option<SystemTime>,
    /// How far each file was read.
    read: BTreeMap<PathBuf, u64>,
    /// Files that turned out to be somebody else's.
    others: BTreeSet<PathBuf>,
    looks: u32,
}

impl Followed {
    pub(super) const fn is_empty(&self) -> bool {
        self.follows.is_empty()
    }

    /// Follows these too, from what they hold now where they were there before the round.
    pub(super) fn add(&mut self, follows: &[Follow], since: Option<SystemTime>) {
        self.since = since;
        for follow in follows {
            if !self.follows.contains(follow) {
                self.follows.push(follow.clone());
                self.search(follow);
            }
        }
    }

    /// Reads what is new; the last look searches for files first.
    pub(super) fn look(&mut self, last: bool, queue: &mut VecDeque<Heard>) {
        if self.follows.is_empty() {
            return;
        }
        if last || self.looks.is_multiple_of(SEARCH_EVERY) {
            for follow in self.follows.clone() {
                self.search(&follow);
            }
        }
        self.looks = self.looks.wrapping_add(1);
        for (path, read) in &mut self.read {
            // a file that cannot be read now is looked at again
            let _ = grown(path, read, queue);
        }
    }

    fn search(&mut self, follow: &Follow) {
        let mut found = Vec::new();
        walk(&follow.folder, follow.depth, false, follow, &mut found);
        for path in found {
            if self.read.contains_key(&path) || (follow.begins.is_some() && self.others.contains(&path)) {
                continue;
            }
            let (before, size) = path.metadata().map_or((false, 0), |meta| {
                let born = meta.created().or_else(|_| meta.modified()).ok();
                (born.zip(self.since).is_some_and(|(born, since)| born < since), meta.len())
            });
            let begins = if before && follow.fresh { Some(false) } else { begins(&path, follow) };
            match (before, begins) {
                // what an earlier round wrote into it is not of this one
                (true, Some(true)) => drop(self.read.insert(path, size)),
                (false, Some(true)) => drop(self.read.insert(path, 0)),
                (_, Some(false)) => drop(self.others.insert(path)),
                (_, None) => {}
            }
        }
    }
}

/// All files that match and were made since then, with what is in them.
pub(super) fn all(follows: &[Follow], since: Option<SystemTime>) -> Vec<(String, Vec<u8>)> {
    let (mut followed, mut queue) = (Followed::default(), VecDeque::new());
    followed.add(follows, since);
    followed.look(true, &mut queue);
    let mut files: BTreeMap<String, Vec<u8>> = BTreeMap::new();
    for heard in queue {
        if let Heard::Followed { file, bytes } = heard {
            files.entry(file).or_default().extend(bytes);
        }
    }
    files.into_iter().collect()
}

fn walk(folder: &Path, depth: usize, named: bool, follow: &Follow, found: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let (path, name) = (entry.path(), entry.file_name());
        let named = named || name.to_string_lossy().contains(&follow.name_contains);
        match entry.file_type() {
            Ok(kind) if kind.is_dir() && depth > 0 => walk(&path, depth - 1, named, follow, found),
            Ok(kind) if kind.is_file() && named && path.extension().is_some_and(|own| own == follow.extension) => {
                found.push(path);
            }
            _ => {}
        }
    }
}

/// Whether a file begins as it must; `None` as long as that is not there to be seen.
fn begins(path: &Path, follow: &Follow) -> Option<bool> {
    if follow.begins.is_none() {
        return Some(true);
    }
    let mut bytes = Vec::new();
    File::open(path).ok()?.take(FIRST).read_to_end(&mut bytes).ok()?;
    let whole = u64::try_from(bytes.len()).is_ok_and(|read| read == FIRST);
    follow.begins(&bytes).or_else(|| whole.then_some(false))
}

/// Reads what a file grew by.
fn grown(path: &Path, read: &mut u64, queue: &mut VecDeque<Heard>) -> io::Result<()> {
    loop {
        let size = path.metadata()?.len();
        if size <= *read {
            return Ok(());
        }
        let mut file = File::open(path)?;
        file.seek(SeekFrom::Start(*read))?;
        let mut bytes = Vec::new();
        file.take(PIECE).read_to_end(&mut bytes)?;
        *read += u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        if bytes.is_empty() {
            return Ok(());
        }
        queue.push_back(Heard::Followed { file: path.display().to_string(), bytes });
    }
}
