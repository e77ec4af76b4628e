//! Where things go: data to stdout, talk to stderr, files whole or not at all.
//!
//! Colour and the progress bar show on a terminal only; `NO_COLOR` is honoured. A file is written beside its place and
//! renamed into it, so that nobody ever reads half of one.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::error::{Failure, Outcome};

/// Says something to the person, on stderr.
pub fn say(text: &str) {
    let mut stderr = anstream::stderr().lock();
    // where even stderr is closed there is nobody left to tell
    let _ = writeln!(stderr, "{}", text.trim_end());
}

/// A warning on stderr.
pub fn warn(text: &str) {
    say(&format!("\u{1b}[1;33mwarning:\u{1b}[0m {text}"));
}

/// A hint on stderr.
pub fn hint(text: &str) {
    say(&format!("\u{1b}[1;36mhint:\u{1b}[0m {text}"));
}

/// Prints data on stdout.
///
/// # Errors
/// What the pipe or file says.
pub fn print(data: &[u8]) -> Outcome<()> {
    let mut stdout = io::stdout().lock();
    let printed = stdout.write_all(data).and_then(|()| stdout.flush());
    printed.map_err(|error| Failure::usage(error).while_("cannot print on stdout"))
}

/// A bar of so many runs; hidden off a terminal.
#[must_use]
pub fn bar(runs: u32, cells: usize) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(runs.into()), ProgressDrawTarget::stderr());
    let template = "{bar:32} {pos}/{len} runs of {msg} cells  {per_sec} runs/s  {eta} left";
    // a template that is not understood leaves the plain bar
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style.with_key("per_sec", |state: &indicatif::ProgressState, out: &mut dyn std::fmt::Write| {
            let _ = write!(out, "{:.0}", state.per_sec());
        }));
    }
    bar.set_message(cells.to_string());
    bar
}

/// What is being done, where nobody knows how long it takes; hidden off a terminal.
#[must_use]
pub fn stages() -> ProgressBar {
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
    // a template that is not understood leaves the plain mark
    if let Ok(style) = ProgressStyle::with_template("{spinner} {elapsed}  {msg}") {
        bar.set_style(style);
    }
    bar.enable_steady_tick(std::time::Duration::from_millis(100));
    bar
}

/// A bar of so many bytes; hidden off a terminal.
#[must_use]
pub fn bytes(all: u64) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(all), ProgressDrawTarget::stderr());
    // a template that is not understood leaves the plain bar
    if let Ok(style) =
        ProgressStyle::with_template("{bar:32} {bytes}/{total_bytes}  {binary_bytes_per_sec}  {eta} left")
    {
        bar.set_style(style);
    }
    bar
}

/// A folder that results go to.
#[derive(Debug)]
pub struct Folder(PathBuf);

impl Folder {
    /// Makes the folder and finds out whether files can be written in it, before anything costs time.
    ///
    /// # Errors
    /// What the system says, with the folder's name.
    pub fn open(path: &Path) -> Outcome<Self> {
        let failed = |error: io::Error| {
            Failure::usage(error)
                .while_(format!("cannot write results to {}", path.display()))
                .hint("name a folder that can be written")
        };
        if path.is_file() {
            let told = io::Error::new(io::ErrorKind::NotADirectory, "it is a file, and results go to a folder");
            return Err(failed(told));
        }
        fs::create_dir_all(path).map_err(failed)?;
        let probe = path.join(format!(".probe-{}", std::process::id()));
        File::create(&probe).and_then(|_| fs::remove_file(&probe)).map_err(failed)?;
        Ok(Self(path.to_owned()))
    }

    /// The folder.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Removes the files that an earlier run left here.
    ///
    /// # Errors
    /// What the system says, with the file's name.
    pub fn forget(&self, is_ours: impl Fn(&str) -> bool) -> Outcome<()> {
        let failed = |error: io::Error| {
            Failure::usage(error)
                .while_(format!("cannot remove the results of an earlier run from {}", self.0.display()))
        };
        for entry in fs::read_dir(&self.0).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let ours = entry.file_name().to_str().is_some_and(&is_ours);
            if ours && entry.file_type().map_err(failed)?.is_file() {
                fs::remove_file(entry.path()).map_err(failed)?;
            }
        }
        Ok(())
    }

    /// Writes a file of the folder, whole or not at all.
    ///
    /// # Errors
    /// What the system says, with the file's name.
    pub fn write(&self, name: &str, content: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Outcome<()> {
        write_whole(&self.0.join(name), content)
    }
}

/// Makes the folder of results and finds out whether it and a file beside can be written, before anything costs time. Of the file
/// nothing is left; where it cannot be written, no folder is made but the one that it was to stand in.
///
/// # Errors
/// What the system says, with the name of the folder or file.
pub fn results(folder: &Path, file: Option<&Path>) -> Outcome<Folder> {
    match file {
        Some(file) if file.starts_with(folder) => {
            let opened = Folder::open(folder)?;
            can_write(file).map(|()| opened)
        }
        Some(file) => can_write(file).and_then(|()| Folder::open(folder)),
        None => Folder::open(folder),
    }
}

/// The same where there need not be a folder.
///
/// # Errors
/// As [`results`].
pub fn places(folder: Option<&Path>, file: Option<&Path>) -> Outcome<Option<Folder>> {
    match folder {
        Some(folder) => results(folder, file).map(Some),
        None => file.map_or(Ok(()), can_write).map(|()| None),
    }
}

/// Finds out whether a file can be written.
///
/// # Errors
/// What the system says, with the file's name.
pub fn can_write(path: &Path) -> Outcome<()> {
    let failed = |error: io::Error| {
        Failure::usage(error)
            .while_(format!("cannot write {}", path.display()))
            .hint("name a file in a folder that is there and can be written")
    };
    match fs::metadata(path) {
        Ok(meta) if meta.is_dir() => {
            return Err(failed(io::Error::new(io::ErrorKind::IsADirectory, "it is a folder")));
        }
        // it would be replaced, and not written to
        Ok(meta) if !meta.is_file() => {
            return Err(failed(io::Error::new(io::ErrorKind::InvalidInput, "it is there already, and is no file")));
        }
        Ok(_) | Err(_) => {}
    }
    let beside = beside(path);
    File::create(&beside).and_then(|_| fs::remove_file(&beside)).map_err(failed)
}

/// Where a file is written before it is renamed into its place.
fn beside(path: &Path) -> PathBuf {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    path.with_file_name(format!(".{name}.{}", std::process::id()))
}

/// Writes a file beside its place and renames it into it.
///
/// # Errors
/// What the system says, with the file's name; the file is then as it was before.
pub fn write_whole(path: &Path, content: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Outcome<()> {
    let beside = beside(path);
    let written = File::create(&beside).and_then(|file| {
        let mut out = BufWriter::new(file);
        content(&mut out)?;
        out.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()?;
        fs::rename(&beside, path)
    });
    written.map_err(|error| {
        // best effort: the half file has a name of its own and is never read
        let _ = fs::remove_file(&beside);
        let plain = io::Error::other(error.to_string());
        Failure::usage(plain)
            .while_(format!("cannot write {}", path.display()))
            .hint("is the place writable, and is there room?")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_written_whole_or_not_at_all() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.json");
        write_whole(&path, |out| out.write_all(b"old")).unwrap();
        let failed = write_whole(&path, |out| {
            out.write_all(b"half")?;
            Err(io::Error::from(io::ErrorKind::BrokenPipe))
        });
        let failure = failed.unwrap_err();
        assert!(failure.lines().contains("a.json") && !failure.is_closed_pipe(), "{}", failure.lines());
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1, "nothing is left behind");
    }

    #[test]
    fn a_folder_that_is_a_file_is_refused_and_a_good_one_is_left_clean() {
        let dir = tempfile::tempdir().unwrap();
        let folder = Folder::open(&dir.path().join("a/b")).unwrap();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
        fs::write(dir.path().join("file"), b"").unwrap();
        let failure = Folder::open(&dir.path().join("file")).unwrap_err();
        assert!(failure.lines().contains("file") && failure.lines().contains("name a folder"), "{}", failure.lines());
    }
}
