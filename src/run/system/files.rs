//! Files of a run: added to, made durable, replaced whole.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Component, Path, PathBuf};

use crate::run::os::Put;
use crate::run::record::JOURNAL;

/// The files of one run's folder.
#[derive(Debug)]
pub(super) struct Files {
    folder: PathBuf,
    open: BTreeMap<String, Open>,
}

/// A file that is added to.
#[derive(Debug)]
struct Open {
    file: File,
    /// Its length, as far as this process knows.
    length: u64,
}

impl Files {
    pub(super) fn new(folder: &Path) -> Self {
        Self { folder: folder.to_owned(), open: BTreeMap::new() }
    }

    /// Closes what belongs to rounds that are over.
    pub(super) fn forget(&mut self) {
        self.open.retain(|name, _| !name.contains('/'));
    }

    fn file(&mut self, name: &str) -> io::Result<&mut Open> {
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
            if name == JOURNAL {
                // held for as long as this process lives, whatever becomes of the lock's file
                file.try_lock().map_err(|_| io::Error::other("another flyball writes the journal of this run"))?;
            }
            let length = file.metadata()?.len();
            self.open.insert(name.to_owned(), Open { file, length });
        }
        self.open.get_mut(name).ok_or_else(|| io::Error::other("a file that was just opened is gone"))
    }

    pub(super) fn append(&mut self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let open = self.file(name)?;
        open.file.write_all(bytes)?;
        open.length = open.length.saturating_add(u64::try_from(bytes.len()).unwrap_or(u64::MAX));
        Ok(())
    }

    pub(super) fn sync(&mut self, name: &str) -> io::Result<()> {
        let path = self.folder.join(name);
        let open = self.file(name)?;
        open.file.sync_data()?;
        open.is_there(&path)
    }

    pub(super) fn replace(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        write_whole(&self.folder.join(name), bytes)
    }
}

impl Open {
    /// That the file is still the one at its path, and as long as it was written: an agent of the same user can remove or cut it.
    fn is_there(&self, path: &Path) -> io::Result<()> {
        let (own, there) = (self.file.metadata()?, fs::symlink_metadata(path).ok());
        let same = there.is_some_and(|there| (there.dev(), there.ino()) == (own.dev(), own.ino()));
        if same && own.len() == self.length {
            return Ok(());
        }
        let what = if same { "changed" } else { "removed or replaced" };
        Err(io::Error::other(format!("{} was {what} by somebody else while the run went on", path.display())))
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

/// The beginning of a file. What a symbolic link leads to is not read, nor anything that may never end.
///
/// # Errors
/// What the system says, or what stands in the file's place.
pub fn read(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let kind = path.symlink_metadata()?.file_type();
    if !kind.is_file() {
        let what = if kind.is_symlink() {
            "a symbolic link, which is not followed"
        } else if kind.is_dir() {
            "a folder"
        } else {
            "neither a file nor a folder"
        };
        return Err(io::Error::new(io::ErrorKind::InvalidInput, format!("it is {what}")));
    }
    let mut bytes = Vec::new();
    File::open(path)?.take(most).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Puts something at a path below `root`, see [`Os::put`](crate::run::Os::put).
pub(super) fn put(root: &Path, path: &Path, put: Put<'_>) -> io::Result<()> {
    if path.is_absolute() || !path.components().all(|part| matches!(part, Component::Normal(_))) {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            format!("{} is no path below a folder", path.display()),
        ));
    }
    let full = root.join(path);
    if put == Put::Nothing {
        return match full.symlink_metadata() {
            Ok(meta) if meta.is_dir() => fs::remove_dir(&full),
            Ok(_) => fs::remove_file(&full),
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => Ok(()),
            Err(error) => Err(error),
        };
    }
    let mut folder = root.to_owned();
    for part in path.parent().into_iter().flat_map(Path::components) {
        folder.push(part);
        match folder.symlink_metadata() {
            Ok(meta) if meta.is_dir() => continue,
            Ok(_) => fs::remove_file(&folder)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
        fs::create_dir(&folder)?;
    }
    if full.symlink_metadata().is_ok_and(|meta| meta.is_dir()) {
        fs::remove_dir_all(&full)?;
    }
    let mut beside = full.as_os_str().to_owned();
    beside.push(".flyball-new");
    let beside = PathBuf::from(beside);
    let _ = fs::remove_file(&beside);
    match put {
        Put::File(bytes, mode) => {
            let mut file = OpenOptions::new().write(true).create_new(true).open(&beside)?;
            file.write_all(bytes)?;
            file.set_permissions(Permissions::from_mode(mode))?;
        }
        Put::Link(to) => std::os::unix::fs::symlink(to, &beside)?,
        Put::Nothing => {}
    }
    fs::rename(&beside, &full)
}

/// Whether this user can write a file, or make one in a folder.
pub(super) fn can_write(path: &Path) -> bool {
    if path.symlink_metadata().is_ok_and(|meta| meta.is_file()) {
        return OpenOptions::new().append(true).open(path).is_ok();
    }
    let probe = path.join(format!(".flyball-probe-{}", std::process::id()));
    let made = OpenOptions::new().write(true).create_new(true).open(&probe).is_ok();
    made && fs::remove_file(&probe).is_ok()
}

/// The path of these bytes, as git says paths.
#[must_use]
pub fn path_of(bytes: &[u8]) -> PathBuf {
    PathBuf::from(OsStr::from_bytes(bytes))
}
