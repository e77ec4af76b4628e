//! Opening the files that commands are given: the one place that says what may be read as one, and what of its bytes is text.
//!
//! A regular file or a pipe is read. A device may never end, and reading it can do something; it is refused, as are folders and
//! sockets. It knows nothing of what a text means, and does not search folders.

use std::fs::{self, File, FileType};
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

/// Opens a file to read.
///
/// # Errors
/// What the system says, or that it is neither a regular file nor a pipe.
pub fn open(path: &Path) -> io::Result<File> {
    // looked at before it is opened: opening alone can act on a device
    let kind = fs::metadata(path)?.file_type();
    if kind.is_dir() {
        return Err(io::Error::new(io::ErrorKind::IsADirectory, "it is a folder"));
    }
    if !kind.is_file() && !is_pipe(kind) {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is neither a file nor a pipe"));
    }
    File::open(path)
}

#[cfg(unix)]
fn is_pipe(kind: FileType) -> bool {
    std::os::unix::fs::FileTypeExt::is_fifo(&kind)
}

#[cfg(not(unix))]
const fn is_pipe(_: FileType) -> bool {
    false
}

/// Reads a text of at most so many bytes, without the byte order mark that it may begin with.
///
/// # Errors
/// As [`open`]; a text that is larger, or is none.
pub fn text(path: &Path, most: u64) -> io::Result<String> {
    let mut bytes = Vec::new();
    open(path)?.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    let unfit = |why: String| io::Error::new(io::ErrorKind::InvalidData, why);
    if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > most {
        return Err(unfit(format!("it has more than {most} bytes, and no such file is as large")));
    }
    let text = String::from_utf8(bytes).map_err(|error| {
        let sound = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = sound.iter().filter(|byte| **byte == b'\n').count() + 1;
        unfit(format!("it is no text: line {line} has bytes that are not UTF-8"))
    })?;
    Ok(unmarked(&text).to_owned())
}

/// The byte order mark: some editors write one, and nobody sees it.
const MARK: &str = "\u{feff}";

/// A text without the byte order mark that it may begin with.
#[must_use]
pub fn unmarked(text: &str) -> &str {
    text.strip_prefix(MARK).unwrap_or(text)
}

/// The same of what is read piece by piece.
///
/// # Errors
/// Those of the source.
pub fn unmarked_lines(mut source: impl Read) -> io::Result<impl BufRead> {
    let mut head = Vec::new();
    source.by_ref().take(MARK.len() as u64).read_to_end(&mut head)?;
    if head == MARK.as_bytes() {
        head.clear();
    }
    Ok(io::Cursor::new(head).chain(BufReader::new(source)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_is_passed_over_and_what_is_no_text_is_told() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a");
        let read = |bytes: &[u8]| {
            fs::write(&path, bytes).unwrap();
            text(&path, 8).map_err(|error| error.to_string())
        };
        assert_eq!(read(b"\xef\xbb\xbfa\n"), Ok("a\n".to_owned()));
        assert_eq!(read(b"12345678"), Ok("12345678".to_owned()));
        assert!(read(b"123456789").unwrap_err().contains("more than 8 bytes"));
        assert!(read(b"a\n\xff").unwrap_err().contains("line 2"));
        assert_eq!(text(dir.path(), 8).unwrap_err().to_string(), "it is a folder");
        for (bytes, want) in
            [("", ""), ("a", "a"), ("\u{feff}", ""), ("\u{feff}a\nb", "a\nb"), ("ab\u{feff}", "ab\u{feff}")]
        {
            let mut all = String::new();
            unmarked_lines(bytes.as_bytes()).unwrap().read_to_string(&mut all).unwrap();
            assert_eq!(all, want);
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_device_is_refused_at_once() {
        for device in ["/dev/zero", "/dev/null"] {
            assert!(text(Path::new(device), 8).unwrap_err().to_string().contains("neither a file nor a pipe"));
        }
    }
}
