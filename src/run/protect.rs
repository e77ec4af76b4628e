//! Files that an agent may not change: tests, oracles, whatever patterns name.
//!
//! Before the first round each of them is fingerprinted and copied into the run's folder. After each round they are looked at again.
//! What was changed, removed or replaced by a link is put back from the copy; what was made where a pattern is of it is removed; a
//! folder that was replaced by a symbolic link is made a folder again, without touching what the link leads to. Bits of
//! permission count. Whether the loop stops then is the caller's to decide.
//!
//! Copies and their list lie in the run's folder, where an agent of the same user can write too: each copy is held against
//! its hash before it is used, and [`Protected::mark`] is one hash over the list for the journal's chain. An agent that rewrote the copy, the list
//! and the journal alike, and their hashes with them, would not be found.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::glob::Glob;
use super::os::{Os, Put};
use super::place::Place;
use super::tree::{Bounds, Kind, Tree, TreeAsk, hex, sha256};

/// The list of what is protected, in the run's folder.
pub const LIST: &str = "protected.json";
/// The folder of the copies, in the run's folder.
const COPIES: &str = "protected";
/// The most that is protected: files, and bytes of them.
pub const BOUNDS: Bounds = Bounds { files: 20_000, bytes: 256 << 20 };

/// One protected path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
enum Kept {
    /// A file: its hash, in hexadecimal, and its bits of permission.
    File { sha256: String, mode: u32 },
    /// A symbolic link: what it says, as bytes in hexadecimal.
    Link { to: String },
}

/// One line of the list. Names are bytes in hexadecimal where they are no text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Line {
    path: String,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    hex: bool,
    #[serde(flatten)]
    kept: Kept,
}

/// Files that an agent may not change.
#[derive(Clone, Debug)]
pub struct Protected {
    globs: Vec<Glob>,
    kept: BTreeMap<PathBuf, Kept>,
    mark: String,
}

/// What was wrong after a round.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// In words, one for each path: what was done to it, and that it was put back.
    pub put_back: Vec<String>,
    /// In words: what could not be put back.
    pub lost: Vec<String>,
}

impl Found {
    /// Whether everything was as it must be.
    #[must_use]
    pub const fn is_clean(&self) -> bool {
        self.put_back.is_empty() && self.lost.is_empty()
    }
}

fn ask(place: &Place, globs: &[Glob]) -> TreeAsk {
    // what flyball and git keep is theirs, whatever a pattern is of
    let ignored = [".git", super::folder::NAME].map(str::to_owned).to_vec();
    TreeAsk { root: place.project.clone(), ignored, only: globs.to_vec(), bounds: BOUNDS, ..TreeAsk::default() }
}

impl Protected {
    /// Takes the files as they are now, and keeps copies of them in the run's folder. The notes are for people: patterns that are of nothing.
    ///
    /// # Errors
    /// In words, where a file cannot be read or kept, or where there are too many.
    pub fn take(os: &mut impl Os, place: &Place, globs: &[Glob]) -> Result<(Self, Vec<String>), String> {
        let tree = os.tree(&ask(place, globs));
        if tree.entries.len() >= BOUNDS.files {
            return Err(format!("the patterns of protected files are of {} files or more; name fewer", BOUNDS.files));
        }
        let mut kept = BTreeMap::new();
        for (path, entry) in &tree.entries {
            let what = match &entry.kind {
                Kind::File { hash, mode, .. } => copy(os, place, path, *hash, *mode)?,
                Kind::Link(to) => Kept::Link { to: hex(to.as_os_str().as_encoded_bytes()) },
                Kind::Large(_) => {
                    return Err(format!("the protected files come to more than {} bytes; name fewer", BOUNDS.bytes));
                }
                Kind::Unreadable | Kind::Other => {
                    return Err(format!("{} is protected and cannot be read", path.display()));
                }
            };
            kept.insert(path.clone(), what);
        }
        let idle = globs.iter().filter(|glob| !kept.keys().any(|path| glob.matches(path)));
        let notes = idle.map(|glob| format!("no file is protected by `{glob}`: there is none that it is of")).collect();
        let lines: Vec<Line> = kept.iter().map(|(path, kept)| line(path, kept.clone())).collect();
        let bytes = serde_json::to_vec_pretty(&lines).map_err(|error| error.to_string())?;
        os.replace(LIST, &bytes).map_err(|error| format!("the list of protected files cannot be written: {error}"))?;
        Ok((Self { globs: globs.to_vec(), kept, mark: hex(&sha256(&bytes)) }, notes))
    }

    /// Takes up what an earlier process of the run protected.
    ///
    /// # Errors
    /// In words, where the list is not there or not as it was written; `mark` is the [`mark`](Self::mark) of then.
    pub fn reopen(os: &mut impl Os, place: &Place, globs: &[Glob], mark: Option<&str>) -> Result<Self, String> {
        let bytes =
            os.read(&place.record.join(LIST), 64 << 20).map_err(|error| format!("{LIST} cannot be read: {error}"))?;
        let own = hex(&sha256(&bytes));
        if mark.is_some_and(|mark| mark != own) {
            return Err(format!("{LIST} was changed since flyball wrote it; what was protected is not known any more"));
        }
        let lines: Vec<Line> =
            serde_json::from_slice(&bytes).map_err(|error| format!("{LIST} cannot be read: {error}"))?;
        let kept = lines.into_iter().map(|line| Ok((line.path()?, line.kept))).collect::<Result<_, String>>()?;
        Ok(Self { globs: globs.to_vec(), kept, mark: own })
    }

    /// One hash over what is protected.
    #[must_use]
    pub fn mark(&self) -> &str {
        &self.mark
    }

    /// How many paths are protected.
    #[must_use]
    pub fn len(&self) -> usize {
        self.kept.len()
    }

    /// Whether none is.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.kept.is_empty()
    }

    /// Looks at the files after a round, and puts back what is not as it was.
    pub fn after(&self, os: &mut impl Os, place: &Place) -> Found {
        let (tree, mut found) = (os.tree(&ask(place, &self.globs)), Found::default());
        for path in tree.entries.keys().filter(|path| !self.kept.contains_key(*path)) {
            let done = os.put(&place.project, path, Put::Nothing);
            found.note(
                path,
                "was made where nothing may be made, and is removed",
                done.map_err(|error| error.to_string()),
            );
        }
        for (path, kept) in &self.kept {
            if let Some(what) = differs(&tree, path, kept) {
                let done = restore(os, place, path, kept);
                found.note(path, &format!("{what}, and is put back"), done);
            }
        }
        found
    }
}

impl Found {
    fn note(&mut self, path: &Path, what: &str, done: Result<(), String>) {
        let path = path.display();
        match done {
            Ok(()) => self.put_back.push(format!("{path} {what}")),
            Err(error) => self.lost.push(format!("{path} {what}, which failed: {error}")),
        }
    }
}

/// What was done to a path, if anything was.
fn differs(tree: &Tree, path: &Path, kept: &Kept) -> Option<&'static str> {
    let Some(entry) = tree.entries.get(path) else { return Some("was removed") };
    match (&entry.kind, kept) {
        (Kind::File { hash, mode, .. }, Kept::File { sha256, mode: before }) => {
            let same = hex(hash) == *sha256;
            if !same { Some("was changed") } else { (mode != before).then_some("was given other permissions") }
        }
        (Kind::Link(to), Kept::Link { to: before }) => {
            (hex(to.as_os_str().as_encoded_bytes()) != *before).then_some("was led elsewhere")
        }
        (Kind::Link(_), Kept::File { .. }) => Some("was replaced by a symbolic link"),
        (Kind::File { .. } | Kind::Large(_) | Kind::Unreadable | Kind::Other, _) => Some("was replaced"),
    }
}

fn copy_name(sha256: &str) -> String {
    format!("{COPIES}/{sha256}")
}

fn copy(os: &mut impl Os, place: &Place, path: &Path, hash: [u8; 32], mode: u32) -> Result<Kept, String> {
    let bytes = os
        .read(&place.project.join(path), BOUNDS.bytes)
        .map_err(|error| format!("{} is protected and cannot be read: {error}", path.display()))?;
    if sha256(&bytes) != hash {
        return Err(format!("{} changes while it is read, and cannot be protected", path.display()));
    }
    let sha256 = hex(&hash);
    os.replace(&copy_name(&sha256), &bytes)
        .map_err(|error| format!("a copy of {} cannot be kept: {error}", path.display()))?;
    Ok(Kept::File { sha256, mode })
}

fn restore(os: &mut impl Os, place: &Place, path: &Path, kept: &Kept) -> Result<(), String> {
    let done = match kept {
        Kept::File { sha256: hash, mode } => {
            let copy = place.record.join(copy_name(hash));
            let bytes = os.read(&copy, BOUNDS.bytes).map_err(|error| format!("its copy cannot be read: {error}"))?;
            if hex(&sha256(&bytes)) != *hash {
                return Err("its copy in the run's folder was changed too".to_owned());
            }
            os.put(&place.project, path, Put::File(&bytes, *mode))
        }
        Kept::Link { to } => {
            let to = unhex(to).ok_or("the list of protected files is damaged")?;
            os.put(&place.project, path, Put::Link(&super::system::files::path_of(&to)))
        }
    };
    done.map_err(|error| error.to_string())
}

fn line(path: &Path, kept: Kept) -> Line {
    match path.to_str() {
        Some(text) => Line { path: text.to_owned(), hex: false, kept },
        None => Line { path: hex(path.as_os_str().as_encoded_bytes()), hex: true, kept },
    }
}

impl Line {
    fn path(&self) -> Result<PathBuf, String> {
        if !self.hex {
            return Ok(PathBuf::from(&self.path));
        }
        let bytes = unhex(&self.path).ok_or_else(|| format!("{LIST} has a name that is none: {}", self.path))?;
        Ok(super::system::files::path_of(&bytes))
    }
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let pairs = text.as_bytes().chunks(2);
    pairs.map(|pair| if let [high, low] = pair { Some(digit(*high)? * 16 + digit(*low)?) } else { None }).collect()
}
