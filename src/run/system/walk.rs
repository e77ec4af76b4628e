//! The files below a folder, read: what [`tree`](crate::run::tree) is made of.

use std::fs::{self, File, Metadata};
use std::io::{self, Read as _};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Component, Path, PathBuf};

use sha2::{Digest as _, Sha256};

use super::process::now;
use crate::run::tree::{Entry, Kind, SETTLED_SECS, Stamp, Tree, TreeAsk, sha256};

/// What is read of a file at once.
const PIECE: usize = 128 * 1024;
/// How many paths are named in a note.
const NAMED: usize = 5;

/// Walks a folder.
struct Walk<'a> {
    ask: &'a TreeAsk,
    /// The folder without symbolic links.
    root: PathBuf,
    tree: Tree,
    bytes: u64,
    large: Vec<PathBuf>,
    unreadable: Vec<PathBuf>,
    leaving: Vec<PathBuf>,
    piece: Vec<u8>,
}

/// The files below a folder as they are now.
pub(super) fn tree(ask: &TreeAsk) -> Tree {
    let taken = now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default().as_secs();
    let tree = Tree { taken_secs: i64::try_from(taken).unwrap_or(i64::MAX), ..Tree::default() };
    let root = fs::canonicalize(&ask.root).unwrap_or_else(|_| ask.root.clone());
    let (large, unreadable, leaving) = (Vec::new(), Vec::new(), Vec::new());
    let mut walk = Walk { ask, root, tree, bytes: 0, large, unreadable, leaving, piece: vec![0; PIECE] };
    let whole = walk.all();
    walk.said(whole)
}

impl Walk<'_> {
    /// Looks at everything, in the order of names; says whether that is all there is.
    fn all(&mut self) -> bool {
        let mut next = vec![PathBuf::new()];
        while let Some(path) = next.pop() {
            if self.tree.entries.len() >= self.ask.bounds.files {
                return false;
            }
            let full = self.root.join(&path);
            let Ok(meta) = full.symlink_metadata() else {
                self.cannot_read(path);
                continue;
            };
            if meta.is_dir() {
                if self.is_left_out(&path) {
                    continue;
                }
                match names(&full) {
                    Ok(names) => next.extend(names.into_iter().rev().map(|name| path.join(name))),
                    Err(_) => self.cannot_read(path),
                }
            } else if !self.ask.left_out.contains(&path) && self.is_asked_for(&path) {
                self.file(path, &full, &meta);
            }
        }
        true
    }

    fn is_asked_for(&self, path: &Path) -> bool {
        self.ask.only.is_empty() || self.ask.only.iter().any(|glob| glob.matches(path))
    }

    fn is_left_out(&self, folder: &Path) -> bool {
        let only = &self.ask.only;
        let name = folder.file_name();
        name.is_some_and(|name| self.ask.ignored.iter().any(|ignored| name == ignored.as_str()))
            || self.ask.left_out.iter().any(|out| out == folder)
            || !(only.is_empty() || only.iter().any(|glob| glob.may_hold(folder)))
    }

    fn cannot_read(&mut self, path: PathBuf) {
        if self.is_asked_for(&path) || path.as_os_str().is_empty() {
            self.unreadable.push(path.clone());
            self.tree.entries.insert(path, Entry { kind: Kind::Unreadable, stamp: None });
        }
    }

    fn file(&mut self, path: PathBuf, full: &Path, meta: &Metadata) {
        let kind = meta.file_type();
        if kind.is_symlink() {
            let Ok(to) = fs::read_link(full) else { return self.cannot_read(path) };
            if leaves(&self.root, full, &to) {
                self.leaving.push(path.clone());
            }
            self.tree.entries.insert(path, Entry { kind: Kind::Link(to), stamp: None });
            return;
        }
        if !kind.is_file() {
            self.tree.entries.insert(path, Entry { kind: Kind::Other, stamp: None });
            return;
        }
        let stamp =
            Stamp { number: (meta.dev(), meta.ino()), bytes: meta.len(), changed: (meta.ctime(), meta.ctime_nsec()) };
        let mode = meta.permissions().mode() & 0o7777;
        self.bytes = self.bytes.saturating_add(stamp.bytes);
        let kind = if self.bytes > self.ask.bounds.bytes {
            self.large.push(path.clone());
            Kind::Large(stamp)
        } else if stamp.bytes == 0 {
            // it is not opened: what a kernel makes up says that it is empty, and may keep who reads it waiting for ever
            Kind::File { hash: sha256(&[]), bytes: 0, mode }
        } else if let Some(hash) = self.known(&path, stamp) {
            Kind::File { hash, bytes: stamp.bytes, mode }
        } else {
            match self.hash(full) {
                Ok((hash, bytes)) => Kind::File { hash, bytes, mode },
                Err(_) => return self.cannot_read(path),
            }
        };
        self.tree.entries.insert(path, Entry { kind, stamp: Some(stamp) });
    }

    /// The content's hash, where the file cannot have changed since it was read.
    fn known(&self, path: &Path, stamp: Stamp) -> Option<[u8; 32]> {
        let before = self.ask.before.as_ref()?;
        let entry = before.entries.get(path)?;
        let settled = stamp.changed.0.saturating_add(SETTLED_SECS) < before.taken_secs;
        match entry.kind {
            Kind::File { hash, .. } if settled && entry.stamp == Some(stamp) => Some(hash),
            Kind::File { .. } | Kind::Large(_) | Kind::Link(_) | Kind::Unreadable | Kind::Other => None,
        }
    }

    fn hash(&mut self, path: &Path) -> io::Result<([u8; 32], u64)> {
        let (mut file, mut sum, mut size) = (File::open(path)?, Sha256::new(), 0_u64);
        loop {
            match file.read(&mut self.piece) {
                Ok(0) => return Ok((sum.finalize().into(), size)),
                Ok(count) => {
                    sum.update(&self.piece[..count]);
                    size += u64::try_from(count).unwrap_or(0);
                    if size > self.ask.bounds.bytes {
                        return Err(io::Error::other("a file that grows while it is read"));
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    fn said(self, whole: bool) -> Tree {
        let Self { mut tree, large, unreadable, leaving, ask, .. } = self;
        let mut note = |paths: &[PathBuf], what: &str| {
            if !paths.is_empty() {
                tree.notes.push(format!("{what}: {}", list(paths)));
            }
        };
        note(&leaving, "symbolic links that lead out of the project and are not followed");
        note(&unreadable, "cannot be read, and count as they are");
        let past = format!("past the first {} bytes of the project, and told by size and time alone", ask.bounds.bytes);
        note(&large, &past);
        if !whole {
            tree.notes.push(format!("the project has more than {} files; the rest is not looked at", ask.bounds.files));
        }
        tree
    }
}

/// Some paths, for people.
fn list(paths: &[PathBuf]) -> String {
    let named: Vec<String> = paths.iter().take(NAMED).map(|path| path.display().to_string()).collect();
    let more = paths.len().saturating_sub(NAMED);
    let and = if more == 0 { String::new() } else { format!(" and {more} more") };
    format!("{}{and}", named.join(", "))
}

fn names(folder: &Path) -> io::Result<Vec<std::ffi::OsString>> {
    let mut names = fs::read_dir(folder)?.map(|entry| Ok(entry?.file_name())).collect::<io::Result<Vec<_>>>()?;
    names.sort_unstable();
    Ok(names)
}

/// Whether a symbolic link leads out of the folder: by where it ends, or by what it says where it ends nowhere.
fn leaves(root: &Path, link: &Path, to: &Path) -> bool {
    if let Ok(end) = fs::canonicalize(link) {
        return !end.starts_with(root);
    }
    let mut end = PathBuf::new();
    let from = link.parent().unwrap_or(root).join(to);
    for part in from.components() {
        match part {
            Component::ParentDir => drop(end.pop()),
            Component::CurDir => {}
            Component::Prefix(_) | Component::RootDir | Component::Normal(_) => end.push(part),
        }
    }
    !end.starts_with(root)
}
