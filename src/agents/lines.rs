//! Bytes to lines: pieces of any size in, whole lines out.
//!
//! Lines end in LF or CRLF. A byte order mark at the start is dropped, blank lines are skipped. A line longer than the
//! bound is passed over without being kept, a line that is not UTF-8 is passed over; both are counted. Where the pieces
//! are cut makes no difference. It knows nothing of what a line means.

/// The longest line that is kept, in bytes: tool output and pictures make lines of megabytes, an endless one is no log.
pub const MAX_LINE: usize = 64 * 1024 * 1024;

/// What was passed over, in lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LineCounts {
    /// Lines that are not blank, kept or passed over.
    pub lines: u64,
    /// Lines over the bound.
    pub too_long: u64,
    /// Lines that are not UTF-8.
    pub not_utf8: u64,
}

/// Splits a stream of bytes into lines.
///
/// ```
/// use flyball::agents::lines::Lines;
/// let (mut lines, mut seen) = (Lines::new(), Vec::new());
/// lines.push(b"one\r\ntw", &mut |line| seen.push(line.to_owned()));
/// lines.push(b"o\nhal", &mut |line| seen.push(line.to_owned()));
/// lines.finish(&mut |line| seen.push(format!("{line}?")));
/// assert_eq!(seen, ["one", "two", "hal?"]);
/// ```
#[derive(Clone, Debug)]
pub struct Lines {
    rest: Vec<u8>,
    limit: usize,
    skipping: bool,
    at_start: bool,
    counts: LineCounts,
}

impl Default for Lines {
    fn default() -> Self {
        Self::new()
    }
}

impl Lines {
    /// A splitter with the bound [`MAX_LINE`].
    #[must_use]
    pub const fn new() -> Self {
        Self::with_limit(MAX_LINE)
    }

    /// A splitter that passes over lines longer than `limit` bytes.
    #[must_use]
    pub const fn with_limit(limit: usize) -> Self {
        let counts = LineCounts { lines: 0, too_long: 0, not_utf8: 0 };
        Self { rest: Vec::new(), limit, skipping: false, at_start: true, counts }
    }

    /// What was passed over so far.
    #[must_use]
    pub const fn counts(&self) -> LineCounts {
        self.counts
    }

    /// Takes a piece and hands each line that is now whole to `each`. A line that lies in the piece whole is not copied.
    pub fn push(&mut self, mut bytes: &[u8], each: &mut impl FnMut(&str)) {
        while let Some(at) = memchr::memchr(b'\n', bytes) {
            if self.rest.is_empty() && !self.skipping {
                self.close(&bytes[..at], each);
            } else {
                self.keep(&bytes[..at]);
                self.close_kept(each);
            }
            bytes = &bytes[at + 1..];
        }
        self.keep(bytes);
    }

    /// Says that no more bytes come: a last line without its LF is handed to `each`, which must expect half a line.
    pub fn finish(&mut self, each: &mut impl FnMut(&str)) {
        if self.skipping || !self.rest.is_empty() {
            self.close_kept(each);
        }
    }

    fn keep(&mut self, part: &[u8]) {
        if self.skipping {
            return;
        }
        // One byte more than the bound is a carriage return at best; the line itself is measured when it closes.
        if self.rest.len().saturating_add(part.len()) > self.limit.saturating_add(1) {
            self.skipping = true;
            self.rest = Vec::new();
        } else {
            self.rest.extend_from_slice(part);
        }
    }

    fn close_kept(&mut self, each: &mut impl FnMut(&str)) {
        let rest = core::mem::take(&mut self.rest);
        if core::mem::take(&mut self.skipping) {
            self.at_start = false;
            self.counts.lines += 1;
            self.counts.too_long += 1;
        } else {
            self.close(&rest, each);
        }
        self.rest = rest;
        self.rest.clear();
    }

    fn close(&mut self, whole: &[u8], each: &mut impl FnMut(&str)) {
        let mut line = whole.strip_suffix(b"\r").unwrap_or(whole);
        if core::mem::take(&mut self.at_start) {
            line = line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line);
        }
        if line.len() > self.limit {
            self.counts.lines += 1;
            self.counts.too_long += 1;
        } else if line.iter().any(|byte| !byte.is_ascii_whitespace()) {
            self.counts.lines += 1;
            match core::str::from_utf8(line) {
                Ok(text) => each(text),
                Err(_) => self.counts.not_utf8 += 1,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn split(limit: usize, pieces: &[&[u8]]) -> (Vec<String>, LineCounts) {
        let (mut lines, mut seen) = (Lines::with_limit(limit), Vec::new());
        for piece in pieces {
            lines.push(piece, &mut |line| seen.push(line.to_owned()));
        }
        lines.finish(&mut |line| seen.push(format!("{line}?")));
        (seen, lines.counts())
    }

    #[test]
    fn ends_marks_and_blanks() {
        let (seen, counts) = split(100, &[b"\xEF\xBB\xBFa\r\n\n \t\r\nb\nc\r"]);
        assert_eq!(seen, ["a", "b", "c?"]);
        assert_eq!(counts, LineCounts { lines: 3, too_long: 0, not_utf8: 0 });
    }

    #[test]
    fn what_cannot_be_kept_is_counted_and_the_next_line_is_whole() {
        let (seen, counts) = split(4, &[b"12345\nok\n", b"\xff\xfe\n", b"1234\r\n", b"123456789", b"0\n", b"end\n"]);
        assert_eq!(seen, ["ok", "1234", "end"]);
        assert_eq!(counts, LineCounts { lines: 6, too_long: 2, not_utf8: 1 });
    }

    #[test]
    fn an_endless_line_takes_no_memory() {
        let mut lines = Lines::with_limit(10);
        for _ in 0..1000 {
            lines.push(&[b'x'; 100], &mut |_| panic!("no line ends here"));
        }
        assert!(lines.rest.capacity() <= 128, "kept {}", lines.rest.capacity());
        lines.finish(&mut |_| panic!("too long to hand on"));
        assert_eq!(lines.counts().too_long, 1);
    }

    proptest! {
        #[test]
        fn cuts_make_no_difference(bytes in proptest::collection::vec(prop_oneof![Just(b'\n'), Just(b'\r'), Just(b'a'), any::<u8>()], 0..200),
                                   cut in 1_usize..20) {
            let whole = split(12, &[&bytes]);
            let pieces: Vec<&[u8]> = bytes.chunks(cut).collect();
            prop_assert_eq!(whole, split(12, &pieces));
        }
    }
}
