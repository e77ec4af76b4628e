//! The content of a project: a fingerprint of it, and what changed between two moments.
//!
//! A [`Tree`] holds for each path what is there: a file by the SHA-256 of its content and whether it can be run, a symbolic link by
//! what it says, anything else by its kind. Times, owners and empty folders are no content. [`Tree::fingerprint`] is one hash over all
//! of them in the order of paths. A symbolic link is never followed; one that leads out of the project is said.
//!
//! Not looked at, wherever they lie, are the folders of [`IGNORED`]: what version control, flyball, builds and caches keep. `dist`,
//! `build` and `out` are not among them, since they may be what a task is about; settings add names. Notes and lists that
//! change in every round are left out by path.
//!
//! A file is read again unless its number, its size and the time at which the system last saw it change are those of the tree before,
//! and that time was [`SETTLED_SECS`] gone when that tree was taken: a program can set every other time. What lies past the bounds of an ask
//! is told by size and by that time alone, and [`Tree::notes`] says so.
//!
//! Units: bytes; seconds and nanoseconds of the system's calendar in stamps.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use sha2::{Digest as _, Sha256};

use super::glob::Glob;

/// Folders that are not looked at, wherever they lie.
pub const IGNORED: [&str; 24] = [
    ".git",
    ".hg",
    ".svn",
    ".jj",
    ".flyball",
    "target",
    "node_modules",
    "bower_components",
    "__pycache__",
    ".venv",
    "venv",
    ".tox",
    ".nox",
    ".mypy_cache",
    ".pytest_cache",
    ".ruff_cache",
    ".hypothesis",
    ".cache",
    ".gradle",
    ".next",
    ".nuxt",
    ".turbo",
    ".parcel-cache",
    ".terraform",
];

/// How long a file must have been as it is, before its stamp stands for its content.
pub const SETTLED_SECS: i64 = 2;

/// How much is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Files, links and what else there is.
    pub files: usize,
    /// Bytes of files.
    pub bytes: u64,
}

impl Default for Bounds {
    /// 200,000 files and 2 GiB.
    fn default() -> Self {
        Self { files: 200_000, bytes: 2 << 30 }
    }
}

/// What is asked of a folder.
#[derive(Clone, Debug, Default)]
pub struct TreeAsk {
    /// The folder.
    pub root: PathBuf,
    /// Names of folders that are not looked at.
    pub ignored: Vec<String>,
    /// Paths below the folder that are left out, with all that is below them.
    pub left_out: Vec<PathBuf>,
    /// Only what one of these patterns is of; everything where there is none.
    pub only: Vec<Glob>,
    /// How much is looked at.
    pub bounds: Bounds,
    /// The same folder at an earlier moment, to spare reading what did not change.
    pub before: Option<Arc<Tree>>,
}

impl TreeAsk {
    /// The project, without what [`IGNORED`] names.
    #[must_use]
    pub fn project(root: &Path) -> Self {
        Self { root: root.to_owned(), ignored: IGNORED.map(str::to_owned).to_vec(), ..Self::default() }
    }
}

/// What is at a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A file.
    File {
        /// Its content.
        hash: [u8; 32],
        /// Its size.
        bytes: u64,
        /// Its bits of permission; only whether anybody can run it is content.
        mode: u32,
    },
    /// A file past the bounds, told by its stamp.
    Large(Stamp),
    /// A symbolic link that says this.
    Link(PathBuf),
    /// A file or folder that cannot be read.
    Unreadable,
    /// A pipe, a socket, a device.
    Other,
}

/// What tells that a file is as it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// The file's number, and its device's.
    pub number: (u64, u64),
    /// Its size.
    pub bytes: u64,
    /// When the system last saw it change: seconds and nanoseconds.
    pub changed: (i64, i64),
}

/// What is at a path, and its stamp where it is a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// What is there.
    pub kind: Kind,
    /// The stamp of a file.
    pub stamp: Option<Stamp>,
}

/// A folder at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tree {
    /// What is there, by path from the folder.
    pub entries: BTreeMap<PathBuf, Entry>,
    /// For people: bounds that were reached, what could not be read, links that lead out.
    pub notes: Vec<String>,
    /// When it was taken, in seconds of the calendar.
    pub taken_secs: i64,
}

/// What became of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum How {
    /// It is new.
    Added,
    /// It is gone.
    Removed,
    /// It is another.
    Changed,
}

/// One path that is not as it was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The path.
    pub path: PathBuf,
    /// What became of it.
    pub how: How,
}

impl Tree {
    /// The fingerprint of all content, in hexadecimal.
    #[must_use]
    pub fn fingerprint(&self) -> String {
        let mut sum = Sha256::new();
        for (path, entry) in &self.entries {
            let name = path.as_os_str().as_encoded_bytes();
            sum.update(size_of(name).to_le_bytes());
            sum.update(name);
            match &entry.kind {
                Kind::File { hash, mode, .. } => {
                    sum.update([b'f', u8::from(mode & 0o111 != 0)]);
                    sum.update(hash);
                }
                Kind::Large(stamp) => {
                    sum.update(b"s");
                    sum.update(stamp.bytes.to_le_bytes());
                    sum.update(stamp.changed.0.to_le_bytes());
                    sum.update(stamp.changed.1.to_le_bytes());
                }
                Kind::Link(to) => {
                    let to = to.as_os_str().as_encoded_bytes();
                    sum.update(b"l");
                    sum.update(size_of(to).to_le_bytes());
                    sum.update(to);
                }
                Kind::Unreadable => sum.update(b"u"),
                Kind::Other => sum.update(b"o"),
            }
        }
        hex(&sum.finalize())
    }

    /// The bytes of its files, as far as they were read.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        let bytes = |entry: &Entry| if let Kind::File { bytes, .. } = entry.kind { bytes } else { 0 };
        self.entries.values().map(bytes).sum()
    }

    /// What is not as it was, in the order of paths.
    #[must_use]
    pub fn changes(&self, before: &Self) -> Vec<Change> {
        let change = |path: &Path, how| Change { path: path.to_owned(), how };
        let gone = before.entries.keys().filter(|path| !self.entries.contains_key(*path));
        let mut changes: Vec<Change> = gone.map(|path| change(path, How::Removed)).collect();
        for (path, entry) in &self.entries {
            match before.entries.get(path) {
                None => changes.push(change(path, How::Added)),
                Some(old) if !old.kind.is_same(&entry.kind) => changes.push(change(path, How::Changed)),
                Some(_) => {}
            }
        }
        changes.sort_by(|one, other| one.path.cmp(&other.path));
        changes
    }
}

impl Kind {
    /// Whether the content is the same.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::File { hash, mode, .. }, Self::File { hash: old, mode: old_mode, .. }) => {
                hash == old && (mode & 0o111 == 0) == (old_mode & 0o111 == 0)
            }
            (one, other) => one == other,
        }
    }
}

/// Bytes in hexadecimal.
#[must_use]
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        // a text takes all that is written to it
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// The SHA-256 of these bytes.
#[must_use]
pub fn sha256(bytes: &[u8]) -> [u8; 32] {
    Sha256::digest(bytes).into()
}

fn size_of(bytes: &[u8]) -> u64 {
    u64::try_from(bytes.len()).unwrap_or(u64::MAX)
}
