//! Files of a run: added to, made durable, replaced whole.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

/// The files of one run's folder.
#[derive(Debug)]
pub(super) struct Files {
    folder: PathBuf,
    open: BTreeMap<String, File>,
}

impl Files {
    pub(super) fn new(folder: &Path) -> Self {
        Self { folder: folder.to_owned(), open: BTreeMap::new() }
    }

    /// Closes what belongs to rounds that are over.
    pub(super) fn forget(&mut self) {
        self.open.retain(|name, _| !name.contains('/'));
    }

    fn file(&mut self, name: &str) -> io::Result<&mut File> {
        if !self.open.contains_key(name) {
            let path = self.folder.join(name);
            if let Some(folder) = path.parent() {
                fs::create_dir_all(folder)?;
            }
            let fresh = !path.exists();
            let file = OpenOptions::new().create(true).append(true).open(&path)?;
            if fresh && !name.contains('/') {
                sync_folder(&self.folder)?;
            }
            self.open.insert(name.to_owned(), file);
        }
        self.open.get_mut(name).ok_or_else(|| io::Error::other("a file that was just opened is gone"))
    }

    pub(super) fn append(&mut self, name: &str, bytes: &[u8]) -> io::Result<()> {
        self.file(name)?.write_all(bytes)
    }

    pub(super) fn sync(&mut self, name: &str) -> io::Result<()> {
        self.file(name)?.sync_data()
    }

    pub(super) fn replace(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        write_whole(&self.folder.join(name), bytes)
    }
}

/// Replaces a file whole and durably, or not at all.
///
/// # Errors
/// Those of the system.
pub fn write_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = path.parent().unwrap_or_else(|| Path::new("."));
    fs::create_dir_all(folder)?;
    let mut beside = path.as_os_str().to_owned();
    beside.push(".new");
    let beside = PathBuf::from(beside);
    let mut file = File::create(&beside)?;
    file.write_all(bytes)?;
    file.sync_data()?;
    drop(file);
    fs::rename(&beside, path)?;
    sync_folder(folder)
}

/// Makes a symbolic link, where what it leads to is there.
pub(super) fn link(link: &Path, to: &Path) -> io::Result<()> {
    if !to.exists() {
        return Ok(());
    }
    if let Some(folder) = link.parent() {
        fs::create_dir_all(folder)?;
    }
    match fs::remove_file(link) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => std::os::unix::fs::symlink(to, link),
    }
}

pub(super) fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}
