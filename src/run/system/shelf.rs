//! Files that lie beside the runs: lines that are added to, and the small files of a folder.
//!
//! They lie where the agent may write. A symbolic link in their place is refused: it could lead anywhere. It makes nothing of what it reads.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::path::Path;

use super::files::sync_folder;
use crate::run::history::{Mend, mend};

/// A file's name and what it holds, or why that cannot be read.
pub type Found = (String, io::Result<Vec<u8>>);

/// The most bytes that are read of a small file.
pub const MOST: u64 = 1 << 20;

/// Adds a line to a list of runs and makes it durable; a last line that was cut off is taken away first. Gives how many bytes that were.
///
/// # Errors
/// Those of the system; a symbolic link.
pub fn add_run(path: &Path, line: &str) -> io::Result<usize> {
    refuse_link(path)?;
    let there = match fs::read(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
        read => read?,
    };
    let (gap, torn) = match mend(&there) {
        Mend::Sound => ("", 0),
        Mend::End => ("\n", 0),
        Mend::Cut(whole) => {
            OpenOptions::new().write(true).open(path)?.set_len(u64::try_from(whole).unwrap_or(u64::MAX))?;
            ("", there.len() - whole)
        }
    };
    add(path, &format!("{gap}{line}"))?;
    Ok(torn)
}

/// Adds lines to a file for people and makes them durable.
///
/// # Errors
/// Those of the system; a symbolic link.
pub fn add(path: &Path, lines: &str) -> io::Result<()> {
    refuse_link(path)?;
    let fresh = !path.exists();
    if let Some(folder) = path.parent().filter(|_| fresh) {
        fs::create_dir_all(folder)?;
    }
    let mut file = OpenOptions::new().create(true).append(true).open(path)?;
    file.write_all(lines.as_bytes())?;
    file.sync_data()?;
    match path.parent().filter(|folder| fresh && !folder.as_os_str().is_empty()) {
        Some(folder) => sync_folder(folder),
        None => Ok(()),
    }
}

/// The files of a folder whose names end so, by name; nothing where there is no folder.
///
/// # Errors
/// Where the folder is there and cannot be listed.
pub fn files(folder: &Path, ending: &str) -> io::Result<Vec<Found>> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let mut found = Vec::new();
    for entry in entries {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if name.ends_with(ending) {
            let bytes = small(&folder.join(&name));
            found.push((name, bytes));
        }
    }
    found.sort_by(|a, b| a.0.cmp(&b.0));
    Ok(found)
}

/// Reads a small file.
///
/// # Errors
/// Those of the system; a symbolic link; one that is not small.
pub fn small(path: &Path) -> io::Result<Vec<u8>> {
    refuse_link(path)?;
    let length = fs::metadata(path)?.len();
    if length > MOST {
        return Err(io::Error::other(format!("it has {length} bytes, and at most {MOST} are expected")));
    }
    fs::read(path)
}

fn refuse_link(path: &Path) -> io::Result<()> {
    let link = fs::symlink_metadata(path).is_ok_and(|meta| meta.is_symlink());
    if link { Err(io::Error::other("it is a symbolic link, which is not followed here")) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_torn_line_is_taken_away_before_the_next_is_added() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("deep/history.jsonl");
        assert_eq!(add_run(&path, "{\"a\":1}\n").unwrap(), 0);
        fs::write(&path, "{\"a\":1}\n{\"b\":").unwrap();
        assert_eq!(add_run(&path, "{\"c\":1}\n").unwrap(), 5);
        assert_eq!(fs::read_to_string(&path).unwrap(), "{\"a\":1}\n{\"c\":1}\n");
    }

    #[test]
    fn a_link_is_not_written_through_nor_read() {
        let dir = tempfile::tempdir().unwrap();
        let (secret, link) = (dir.path().join("secret"), dir.path().join("a.json"));
        fs::write(&secret, "mine\n").unwrap();
        std::os::unix::fs::symlink(&secret, &link).unwrap();
        for error in [add(&link, "x\n"), add_run(&link, "x\n").map(|_| ()), small(&link).map(|_| ())] {
            assert!(error.unwrap_err().to_string().contains("symbolic link"));
        }
        assert_eq!(fs::read_to_string(&secret).unwrap(), "mine\n");
        let found = files(dir.path(), ".json").unwrap();
        assert!(found.len() == 1 && found[0].1.is_err());
    }

    #[test]
    fn files_are_listed_by_name_and_a_folder_that_is_not_there_is_empty() {
        let dir = tempfile::tempdir().unwrap();
        for name in ["b.json", "a.json", "a.json.new", "c.txt"] {
            fs::write(dir.path().join(name), name).unwrap();
        }
        let names: Vec<String> = files(dir.path(), ".json").unwrap().into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["a.json", "b.json"]);
        assert!(files(&dir.path().join("none"), ".json").unwrap().is_empty());
        assert!(files(&dir.path().join("a.json"), ".json").is_err(), "a file is no folder");
    }
}
