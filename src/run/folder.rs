//! Where the records of a project's runs lie, and who may write there.
//!
//! | path | what |
//! |---|---|
//! | `.flyball/lock` | locked by the system for as long as a run goes on; says whose |
//! | `.flyball/runs/ID/` | one run, see [`record`](super::record); ids sort by the moment of their start |
//!
//! The folder is the project's, or any other that the person names. It is added to the exclude file of a git project, never to what is committed.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read as _, Seek as _, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::engine::Timestamp;
use crate::trace::iso;

/// The folder's name in a project.
pub const NAME: &str = ".flyball";

/// Whose lock it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Owner {
    /// The process.
    pub pid: u32,
    /// Since when, in UTC.
    pub since: String,
}

/// Why a folder cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    /// Another runner is at work.
    #[error("another flyball runs in this project: process {}, since {}", .0.pid, .0.since)]
    Taken(Owner),
    /// Another runner is at work, and its name cannot be read.
    #[error("another flyball runs in this project")]
    TakenByUnknown,
    /// It cannot be made or written.
    #[error("{path}: {source}")]
    Io {
        /// Which path.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
}

/// The lock, for as long as it is held.
#[derive(Debug)]
pub struct Lock {
    _file: File,
}

/// The folder of a project's records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Folder {
    root: PathBuf,
}

impl Folder {
    /// The folder at this path, which need not be there.
    #[must_use]
    pub fn new(root: &Path) -> Self {
        Self { root: root.to_owned() }
    }

    /// Its path.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.root
    }

    /// The folder of a run.
    #[must_use]
    pub fn run(&self, id: &str) -> PathBuf {
        self.root.join("runs").join(id)
    }

    /// All runs, the oldest first.
    #[must_use]
    pub fn runs(&self) -> Vec<String> {
        let Ok(entries) = fs::read_dir(self.root.join("runs")) else { return Vec::new() };
        let folders = entries.flatten().filter(|entry| entry.path().join(super::record::JOURNAL).is_file());
        let mut runs: Vec<String> = folders.filter_map(|entry| entry.file_name().into_string().ok()).collect();
        runs.sort_unstable();
        runs
    }

    /// A name for a run that starts now. It sorts after all that are there, also where the calendar was set back.
    #[must_use]
    pub fn name(&self, unix: Timestamp) -> String {
        let second = iso(unix);
        let digits: String = second.chars().filter(char::is_ascii_digit).take(14).collect();
        let now = format!("{}-{}", &digits[..8], &digits[8..]);
        let there = fs::read_dir(self.root.join("runs")).into_iter().flatten().flatten();
        let last = there.filter_map(|entry| entry.file_name().into_string().ok()).max().unwrap_or_default();
        if now > last {
            return now;
        }
        let stem = last.get(..now.len()).unwrap_or(&last);
        let numbered = (2_u32..10_000).map(|number| format!("{stem}-{number:04}"));
        numbered.into_iter().find(|name| *name > last).unwrap_or_else(|| format!("{last}-0001"))
    }

    /// Takes the lock.
    ///
    /// # Errors
    /// [`FolderError`] where another runner has it, or the folder cannot be written.
    pub fn lock(&self, unix: Timestamp) -> Result<Lock, FolderError> {
        let path = self.root.join("lock");
        let io = |source| FolderError::Io { path: path.clone(), source };
        fs::create_dir_all(&self.root).map_err(|source| FolderError::Io { path: self.root.clone(), source })?;
        let mut file =
            OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path).map_err(io)?;
        match file.try_lock() {
            // somebody removed it between the two: the lock on what is gone keeps nobody out
            Ok(()) if !is_at(&file, &path) => return self.lock(unix),
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(taken(&mut file)),
            Err(TryLockError::Error(source)) => return Err(io(source)),
        }
        let owner = Owner { pid: std::process::id(), since: iso(unix) };
        let text = serde_json::to_vec(&owner).map_err(|error| io(error.into()))?;
        file.set_len(0).and_then(|()| file.rewind()).and_then(|()| file.write_all(&text)).map_err(io)?;
        Ok(Lock { _file: file })
    }

    /// Who has the lock, if anybody has.
    #[must_use]
    pub fn owner(&self) -> Option<Owner> {
        let mut file = File::open(self.root.join("lock")).ok()?;
        match file.try_lock_shared() {
            Err(TryLockError::WouldBlock) => match taken(&mut file) {
                FolderError::Taken(owner) => Some(owner),
                FolderError::TakenByUnknown | FolderError::Io { .. } => Some(Owner { pid: 0, since: String::new() }),
            },
            Ok(()) | Err(TryLockError::Error(_)) => None,
        }
    }
}

/// Whether a file is the one at this path.
fn is_at(file: &File, path: &Path) -> bool {
    let there = fs::symlink_metadata(path).ok().zip(file.metadata().ok());
    there.is_some_and(|(there, own)| (there.dev(), there.ino()) == (own.dev(), own.ino()))
}

fn taken(file: &mut File) -> FolderError {
    let mut text = String::new();
    let owner =
        file.rewind().and_then(|()| file.read_to_string(&mut text)).ok().and_then(|_| serde_json::from_str(&text).ok());
    owner.map_or(FolderError::TakenByUnknown, FolderError::Taken)
}

/// Adds a name to the exclude file of the git project that `project` is in, if it is in one: what is written here is nobody's commit.
///
/// # Errors
/// Where the file cannot be written.
pub fn exclude(project: &Path, name: &str) -> io::Result<()> {
    let Some(git) = project.ancestors().map(|folder| folder.join(".git")).find(|git| git.exists()) else {
        return Ok(());
    };
    let git = if git.is_dir() { git } else { git_of_file(&git)? };
    // a work tree has its exclude file in the folder that all of them share
    let common =
        fs::read_to_string(git.join("commondir")).map_or_else(|_| git.clone(), |common| git.join(common.trim()));
    let path = common.join("info").join("exclude");
    let line = format!("{name}/");
    let known = fs::read_to_string(&path).unwrap_or_default();
    if known.lines().any(|known| known.trim() == line) {
        return Ok(());
    }
    fs::create_dir_all(common.join("info"))?;
    let mut file = OpenOptions::new().create(true).append(true).open(&path)?;
    let gap = if known.is_empty() || known.ends_with('\n') { "" } else { "\n" };
    writeln!(file, "{gap}{line}")
}

fn git_of_file(file: &Path) -> io::Result<PathBuf> {
    let text = fs::read_to_string(file)?;
    let path = text.trim().strip_prefix("gitdir:").map(str::trim);
    let path = path.ok_or_else(|| io::Error::other(format!("{}: no git folder is named in it", file.display())))?;
    Ok(file.parent().unwrap_or_else(|| Path::new(".")).join(path))
}
