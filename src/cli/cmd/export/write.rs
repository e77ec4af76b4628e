//! Writes a layout into a folder that is empty, or that holds an earlier export.

use std::fs;
use std::io;
use std::path::{Component, Path};

use serde::{Deserialize, Serialize};

use super::{Content, Pack};
use crate::cli::error::{Failure, Outcome};
use crate::cli::output::write_whole;

/// By this file an export is known again.
const MARK: &str = ".flyball-export.json";
const FORMAT: &str = "flyball-export";

#[derive(Serialize, Deserialize)]
struct Mark {
    format: String,
    version: u64,
    layout: String,
    run: String,
    /// All that was written, from the folder.
    files: Vec<String>,
}

/// Writes it, and gives how many files that are.
///
/// # Errors
/// A folder that holds something else, or what cannot be written.
pub(super) fn write(out: &Path, layout: &str, run: &str, pack: &Pack) -> Outcome<usize> {
    let failed = |error: io::Error, path: &Path| {
        Failure::usage(error).while_(format!("cannot write the export to {}", path.display()))
    };
    let earlier = earlier(out)?;
    fs::create_dir_all(out).map_err(|error| failed(error, out))?;
    // named before it is written, so that an export that was cut short is known again too
    let mut files: Vec<String> = pack.items.iter().map(|(path, _)| path.clone()).collect();
    files.extend(earlier.iter().cloned());
    mark(out, layout, run, &files)?;
    for file in earlier {
        let path = out.join(&file);
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(failed(error, &path)),
            _ => {}
        }
    }
    for (path, content) in &pack.items {
        let path = out.join(path);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(|error| failed(error, folder))?;
        }
        match content {
            Content::Text(text) => write_whole(&path, |file| file.write_all(text.as_bytes()))?,
            Content::Copy(from) => {
                let mut source = fs::File::open(from).map_err(|error| failed(error, from))?;
                write_whole(&path, |file| io::copy(&mut source, file).map(|_| ()))?;
            }
        }
    }
    let files: Vec<String> = pack.items.iter().map(|(path, _)| path.clone()).collect();
    mark(out, layout, run, &files)?;
    Ok(files.len())
}

fn mark(out: &Path, layout: &str, run: &str, files: &[String]) -> Outcome<()> {
    let (format, layout, run, files) = (FORMAT.to_owned(), layout.to_owned(), run.to_owned(), files.to_vec());
    let mark = Mark { format, version: 1, layout, run, files };
    write_whole(&out.join(MARK), |file| {
        serde_json::to_writer_pretty(&mut *file, &mark)?;
        file.write_all(b"\n")
    })
}

/// The files of an earlier export; none where the folder is not there or is empty.
fn earlier(out: &Path) -> Outcome<Vec<String>> {
    let wrong = |error: io::Error| Failure::usage(error).while_(format!("cannot export to {}", out.display()));
    let mut entries = match fs::read_dir(out) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(wrong)?,
    };
    if entries.next().is_none() {
        return Ok(Vec::new());
    }
    let mark: Option<Mark> = fs::read(out.join(MARK)).ok().and_then(|text| serde_json::from_slice(&text).ok());
    match mark.filter(|mark| mark.format == FORMAT) {
        Some(mark) => Ok(mark.files.into_iter().filter(|file| is_within(file)).collect()),
        None => Err(Failure::said("it holds something, and that is no export of flyball")
            .while_(format!("cannot export to {}", out.display()))
            .hint("name a folder that is empty, or not there yet")),
    }
}

/// Whether a path stays within the folder: a mark that was changed must not name other files.
fn is_within(file: &str) -> bool {
    !file.is_empty() && Path::new(file).components().all(|part| matches!(part, Component::Normal(_)))
}
