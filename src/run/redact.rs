//! Things that look like keys, replaced by `[redacted 12ab]`: four digits of their SHA-256, so that equal ones can be told and none can be read.
//!
//! | what | by what it is known |
//! |---|---|
//! | keys of providers | `sk-`, `ghp_` and its kin, `github_pat_`, `glpat-`, `AKIA`, `ASIA`, `AIza`, `xoxb-` and its kin, `hf_`, `npm_`, `gsk_`, `xai-`, `sk_live_`, `rk_live_`; then enough letters and at least one digit |
//! | web tokens | `eyJ`, and `.eyJ` a little later |
//! | bearer tokens | `bearer`, a space, and 16 letters or more with a digit among them |
//! | private keys | `-----BEGIN ... PRIVATE KEY-----` at the end of a line, up to its `-----END ...-----` |
//! | named values | a name that ends with `api_key`, `token`, `secret`, `password` or the like, then `=` or `:`, then a quoted word of 8 letters or more, or a bare one with letters and digits |
//! | arguments | `--` and such a name, then `=`, a space, or the comma of a list, then a word as above; after `=` also a short one with a digit, and a long one without |
//! | addresses | what stands between `://NAME:` and `@` |
//!
//! The name stays, the value goes. Names of variables in place of a value (`$TOKEN`) stay, and so do an argument's value in capitals and one that
//! begins with `your`: they stand for one. All else is passed on byte for byte, also what is
//! no UTF-8. It is a net and no wall: a key of a form that is not listed passes, and so does one that was taken apart.
//!
//! It reads bytes and looks at nothing else. [`Redactor`] takes them in pieces of any size and gives the same as for the whole; it holds back no
//! more than [`HELD`] bytes.

use std::borrow::Cow;

use sha2::{Digest, Sha256};

/// The most bytes that are held back until it is known what they are.
pub const HELD: usize = 1024;
/// Bytes that are looked back at: a name and what stands between it and its value.
const BACK: usize = 96;
/// Bytes of a key that are looked at before it is taken for one.
const LOOK: usize = 48;
/// A private key is at most so long; what comes after is passed on again.
const LONGEST_BLOCK: usize = 64 * 1024;
/// A quoted value is at most so long.
const LONGEST_QUOTED: usize = 512;

/// A beginning by which a key is known.
struct Prefix {
    text: &'static str,
    /// The fewest bytes after it.
    least: usize,
    /// Which bytes may follow.
    of: Charset,
    /// A digit must be among the first ones.
    digit: bool,
}

/// Which bytes make up a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Charset {
    /// Letters, digits and `_`.
    Word,
    /// Those and `-`.
    Dashed,
    /// Capitals and digits.
    Capitals,
    /// Those of base64 of both kinds, with `.` and `~` between.
    Token,
}

impl Charset {
    const fn has(self, byte: u8) -> bool {
        match self {
            Self::Word => byte.is_ascii_alphanumeric() || byte == b'_',
            Self::Dashed => byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'),
            Self::Capitals => byte.is_ascii_uppercase() || byte.is_ascii_digit(),
            Self::Token => {
                byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'~' | b'+' | b'/' | b'=')
            }
        }
    }
}

const fn prefix(text: &'static str, least: usize, of: Charset) -> Prefix {
    Prefix { text, least, of, digit: true }
}

const PREFIXES: [Prefix; 23] = [
    prefix("sk-", 20, Charset::Dashed),
    prefix("sk_live_", 16, Charset::Word),
    prefix("sk_test_", 16, Charset::Word),
    prefix("rk_live_", 16, Charset::Word),
    prefix("ghp_", 20, Charset::Word),
    prefix("gho_", 20, Charset::Word),
    prefix("ghu_", 20, Charset::Word),
    prefix("ghs_", 20, Charset::Word),
    prefix("ghr_", 20, Charset::Word),
    prefix("github_pat_", 20, Charset::Word),
    prefix("glpat-", 16, Charset::Dashed),
    Prefix { text: "AKIA", least: 16, of: Charset::Capitals, digit: false },
    Prefix { text: "ASIA", least: 16, of: Charset::Capitals, digit: false },
    prefix("AIza", 30, Charset::Dashed),
    prefix("xoxa-", 10, Charset::Dashed),
    prefix("xoxb-", 10, Charset::Dashed),
    prefix("xoxp-", 10, Charset::Dashed),
    prefix("xoxr-", 10, Charset::Dashed),
    prefix("xoxs-", 10, Charset::Dashed),
    prefix("hf_", 20, Charset::Word),
    prefix("npm_", 30, Charset::Word),
    prefix("gsk_", 20, Charset::Word),
    prefix("xai-", 20, Charset::Dashed),
];

/// Names of secrets end so, in small letters and with `_` for `-`.
const NAMES: [&str; 15] = [
    "api_key",
    "apikey",
    "access_key",
    "secret_key",
    "private_key",
    "auth_key",
    "signing_key",
    "encryption_key",
    "token",
    "secret",
    "password",
    "passwd",
    "passphrase",
    "credential",
    "credentials",
];

/// What is known of a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Found {
    /// No secret begins here.
    Nothing,
    /// It depends on bytes that are not there yet.
    More,
    /// A secret begins here, and goes on as long as bytes are of these.
    Word(Charset),
    /// A secret of so many bytes begins here.
    Bytes(usize),
    /// A private key begins here.
    Block,
}

/// A secret that is being passed over.
struct Within {
    kind: Found,
    hash: Sha256,
    length: usize,
}

/// Takes bytes in pieces and passes them on without what looks like a key.
#[derive(Default)]
pub struct Redactor {
    /// Bytes from a little before the first that was not passed on.
    bytes: Vec<u8>,
    /// How many of them were passed on.
    done: usize,
    within: Option<Within>,
    found: u64,
}

impl std::fmt::Debug for Redactor {
    /// Its figures: what it holds may be a key.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Redactor").field("held", &self.held()).field("found", &self.found).finish_non_exhaustive()
    }
}

impl Redactor {
    /// One at the beginning of a text.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// How many secrets were replaced.
    #[must_use]
    pub const fn found(&self) -> u64 {
        self.found
    }

    /// How many bytes are held back.
    #[must_use]
    pub fn held(&self) -> usize {
        self.bytes.len() - self.done
    }

    /// Takes a piece, and adds to `out` what may be passed on.
    pub fn push(&mut self, piece: &[u8], out: &mut Vec<u8>) {
        // in steps, so that a large piece is not held a second time
        for piece in piece.chunks(64 * 1024) {
            self.bytes.extend_from_slice(piece);
            self.step(false, out);
        }
    }

    /// The text is over: adds to `out` what was held back. What comes after is another text.
    pub fn finish(&mut self, out: &mut Vec<u8>) {
        self.step(true, out);
        if let Some(within) = self.within.take() {
            self.close(within, out);
        }
        self.bytes.clear();
        self.done = 0;
    }

    fn step(&mut self, over: bool, out: &mut Vec<u8>) {
        let (mut at, mut plain) = (self.done, self.done);
        while at < self.bytes.len() {
            if let Some(mut within) = self.within.take() {
                let Some((next, ended)) = pass(&self.bytes, at, over, &mut within) else {
                    self.within = Some(within);
                    break;
                };
                (at, plain) = (next, next);
                if ended {
                    self.close(within, out);
                } else {
                    self.within = Some(within);
                }
                continue;
            }
            let kind = look(&self.bytes, at, over);
            match kind {
                Found::Nothing => at += 1,
                Found::More => break,
                Found::Word(_) | Found::Bytes(_) | Found::Block => {
                    out.extend_from_slice(&self.bytes[plain..at]);
                    plain = at;
                    self.within = Some(Within { kind, hash: Sha256::new(), length: 0 });
                }
            }
        }
        out.extend_from_slice(&self.bytes[plain..at]);
        self.done = at;
        let gone = self.done.saturating_sub(BACK);
        self.bytes.drain(..gone);
        self.done -= gone;
    }

    fn close(&mut self, within: Within, out: &mut Vec<u8>) {
        self.found += 1;
        let print = within.hash.finalize();
        out.extend_from_slice(format!("[redacted {:02x}{:02x}]", print[0], print[1]).as_bytes());
    }
}

/// A text without what looks like a key.
///
/// ```
/// use flyball::run::redact::redact;
/// let text = redact("GITHUB_TOKEN=ghp_16C7e42F292c6912E7710c838347Ae178B4a");
/// assert!(text.starts_with("GITHUB_TOKEN=[redacted ") && text.len() == 28, "{text}");
/// assert!(matches!(redact("output_tokens=1200"), std::borrow::Cow::Borrowed(_)));
/// ```
#[must_use]
pub fn redact(text: &str) -> Cow<'_, str> {
    let (mut redactor, mut out) = (Redactor::new(), Vec::new());
    redactor.push(text.as_bytes(), &mut out);
    redactor.finish(&mut out);
    // what is replaced is of whole characters
    if redactor.found == 0 { Cow::Borrowed(text) } else { Cow::Owned(String::from_utf8_lossy(&out).into_owned()) }
}

/// Goes on in a secret: the place after what is passed over now, and whether it is over; none where that depends on what comes.
fn pass(bytes: &[u8], at: usize, over: bool, within: &mut Within) -> Option<(usize, bool)> {
    let byte = bytes[at];
    let (mut length, mut ended) = (1, false);
    match within.kind {
        Found::Word(of) => {
            // a full stop belongs to the sentence where nothing of the word comes after it
            let joins = |byte: u8| matches!(byte, b'.' | b'=' | b'-');
            if !of.has(byte) {
                return Some((at, true));
            }
            if joins(byte) {
                let run = bytes[at..].iter().take(LOOK).take_while(|&&byte| joins(byte)).count();
                match bytes.get(at + run) {
                    None if !over && run < LOOK => return None,
                    Some(&next) if run < LOOK && of.has(next) => {}
                    None | Some(_) => return Some((at, true)),
                }
            }
        }
        Found::Bytes(all) => ended = within.length + 1 == all,
        Found::Block => match if byte == b'-' { footer(&bytes[at..], over) } else { Some(0) } {
            None => return None,
            Some(0) => ended = within.length + 1 >= LONGEST_BLOCK,
            Some(footer) => (length, ended) = (footer, true),
        },
        Found::Nothing | Found::More => return Some((at, true)),
    }
    within.hash.update(&bytes[at..at + length]);
    within.length += length;
    Some((at + length, ended))
}

/// What begins at a place.
fn look(bytes: &[u8], at: usize, over: bool) -> Found {
    let before = at.checked_sub(1).map(|before| bytes[before]);
    let rest = &bytes[at..];
    if before.is_some_and(|byte| Charset::Word.has(byte)) {
        return Found::Nothing;
    }
    if before == Some(b':') {
        let found = in_address(bytes, at, over);
        if found != Found::Nothing {
            return found;
        }
    }
    if rest[0] == b'-' {
        return if before == Some(b'-') { Found::Nothing } else { block(rest, over) };
    }
    let begins = Charset::Token.has(rest[0]);
    if begins {
        let found = key(rest, over);
        if found != Found::Nothing {
            return found;
        }
    }
    match before {
        Some(b'"' | b'\'') => value(bytes, at, over),
        Some(b'=' | b':' | b' ' | b'\t') if begins => value(bytes, at, over),
        Some(_) | None => Found::Nothing,
    }
}

/// A key that is known by its beginning.
fn key(rest: &[u8], over: bool) -> Found {
    if !matches!(rest[0], b's' | b'r' | b'g' | b'A' | b'x' | b'h' | b'n' | b'e') {
        return Found::Nothing;
    }
    let mut found = Found::Nothing;
    for prefix in &PREFIXES {
        let begins = rest.len().min(prefix.text.len());
        if rest[..begins] != prefix.text.as_bytes()[..begins] {
            continue;
        }
        let here = word(&rest[begins..], prefix, over || begins < prefix.text.len());
        if here != Found::Nothing {
            return here;
        }
        if begins < prefix.text.len() && !over {
            found = Found::More;
        }
    }
    if found == Found::Nothing { web_token(rest, over) } else { found }
}

/// What follows the beginning of a key.
fn word(rest: &[u8], prefix: &Prefix, over: bool) -> Found {
    let run = rest.iter().take(LOOK).take_while(|&&byte| prefix.of.has(byte)).count();
    if run >= prefix.least && (!prefix.digit || rest[..run].iter().any(u8::is_ascii_digit)) {
        return Found::Word(prefix.of);
    }
    if run == rest.len() && run < LOOK && !over { Found::More } else { Found::Nothing }
}

/// Two parts of base64 that both begin with a brace, and a dot between.
fn web_token(rest: &[u8], over: bool) -> Found {
    const HEAD: &[u8] = b"eyJ";
    const SECOND: &[u8] = b".eyJ";
    let begins = rest.len().min(HEAD.len());
    if rest[..begins] != HEAD[..begins] {
        return Found::Nothing;
    }
    let run = rest.iter().take(256).take_while(|&&byte| Charset::Dashed.has(byte)).count();
    let after = &rest[run..];
    let second = after.len().min(SECOND.len());
    if run < 256 && after[..second] == SECOND[..second] {
        if second == SECOND.len() {
            return Found::Word(Charset::Token);
        }
        return if over { Found::Nothing } else { Found::More };
    }
    Found::Nothing
}

/// A private key's first line.
fn block(rest: &[u8], over: bool) -> Found {
    let Some(header) = line(rest, b"-----BEGIN ", over) else { return Found::More };
    if header == 0 || !contains(&rest[..header], b"PRIVATE KEY") {
        return Found::Nothing;
    }
    match rest.get(header) {
        // an end of line, also one that is written out
        Some(b'\n' | b'\r' | b'\\') => Found::Block,
        None if !over => Found::More,
        None | Some(_) => Found::Nothing,
    }
}

/// The length of a private key's last line, 0 where it does not begin here; none where that depends on what comes.
fn footer(rest: &[u8], over: bool) -> Option<usize> {
    line(rest, b"-----END ", over)
}

/// The length of a line of dashes, this word, capitals and dashes; 0 where it is none, none where that depends on what comes.
fn line(rest: &[u8], begins: &[u8], over: bool) -> Option<usize> {
    const DASHES: &[u8] = b"-----";
    let more = if over { Some(0) } else { None };
    let length = rest.len().min(begins.len());
    if rest[..length] != begins[..length] {
        return Some(0);
    }
    if length < begins.len() {
        return more;
    }
    let is_name = |byte: &&u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || **byte == b' ';
    let name = rest[length..].iter().take(48).take_while(is_name).count();
    let after = &rest[length + name..];
    let dashes = after.len().min(DASHES.len());
    match after[..dashes] == DASHES[..dashes] {
        true if dashes == DASHES.len() => Some(length + name + dashes),
        true => more,
        false => Some(0),
    }
}

const fn is_quote(byte: u8) -> bool {
    matches!(byte, b'"' | b'\'')
}

/// A value that is a secret because of what stands before it.
fn value(bytes: &[u8], at: usize, over: bool) -> Found {
    let before = &bytes[at.saturating_sub(BACK)..at];
    let rest = &bytes[at..];
    let quoted = before.last().copied().filter(|&byte| is_quote(byte));
    let mut name = before;
    if quoted.is_some() {
        name = unescaped(&name[..name.len() - 1]);
    }
    let gap = name.iter().rev().take_while(|&&byte| matches!(byte, b' ' | b'\t')).count();
    name = &name[..name.len() - gap];
    if quoted.is_none() && gap > 0 && ends(name, b"bearer") {
        return bare(rest, 16, over, false);
    }
    let Some(b'=' | b':') = name.last() else { return after_flag(name, gap > 0, quoted, rest, over) };
    let joined = name.ends_with(b"=") && gap == 0 && is_flag(&name[..name.len() - 1]);
    name = &name[..name.len() - 1];
    let gap = name.iter().rev().take_while(|&&byte| matches!(byte, b' ' | b'\t')).count();
    name = &name[..name.len() - gap];
    if name.last().is_some_and(|&byte| is_quote(byte)) {
        name = unescaped(&name[..name.len() - 1]);
    }
    if !is_secret(name) {
        return Found::Nothing;
    }
    match quoted {
        Some(quote) => within_quotes(rest, quote, over),
        None if joined => argument(rest, over),
        None => bare(rest, 8, over, true),
    }
}

/// A value that is a secret because the argument before it is a flag; `before` ends where the flag does, or with a list's comma.
fn after_flag(before: &[u8], gap: bool, quoted: Option<u8>, rest: &[u8], over: bool) -> Found {
    let found = match quoted {
        None if gap && is_flag(before) => bare(rest, 8, over, true),
        Some(quote) if gap && is_flag(before) => within_quotes(rest, quote, over),
        Some(quote) => {
            let list = before.trim_ascii_end().strip_suffix(b",").map(<[u8]>::trim_ascii_end);
            let flag = list.and_then(|list| list.split_last()).filter(|(last, _)| is_quote(**last));
            if !flag.is_some_and(|(_, flag)| is_flag(unescaped(flag))) {
                return Found::Nothing;
            }
            within_quotes(rest, quote, over)
        }
        None => Found::Nothing,
    };
    match found {
        Found::Bytes(length) if stands_for_one(&rest[..length]) => Found::Nothing,
        Found::Word(of) if stands_for_one(run_of(rest, of)) => Found::Nothing,
        Found::Nothing | Found::More | Found::Word(_) | Found::Bytes(_) | Found::Block => found,
    }
}

/// What follows a flag and `=`: with a digit it need not be long, and without one it is longer than most words.
fn argument(rest: &[u8], over: bool) -> Found {
    let word = run_of(rest, Charset::Token);
    let found = bare(rest, 6, over, true);
    match found {
        Found::Word(_) if stands_for_one(word) => Found::Nothing,
        Found::Nothing if word.len() >= 12 && !stands_for_one(word) && !is_called(rest, word.len()) => {
            Found::Word(Charset::Token)
        }
        Found::Nothing | Found::More | Found::Word(_) | Found::Bytes(_) | Found::Block => found,
    }
}

/// Whether a text ends with a flag whose value is a secret.
fn is_flag(text: &[u8]) -> bool {
    let length = text.iter().rev().take_while(|&&byte| Charset::Dashed.has(byte)).count();
    text[text.len() - length..].starts_with(b"--") && is_secret(text)
}

/// Whether a word says what would stand in its place.
fn stands_for_one(word: &[u8]) -> bool {
    let capitals = word.iter().all(|byte| byte.is_ascii_uppercase() || matches!(byte, b'_' | b'-'));
    capitals || word.get(..4).is_some_and(|head| head.eq_ignore_ascii_case(b"your"))
}

/// The password of an address: `at` comes after `://NAME:`, and an `@` follows before the address goes on.
fn in_address(bytes: &[u8], at: usize, over: bool) -> Found {
    let before = &bytes[at.saturating_sub(BACK)..at - 1];
    let of_name = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~' | b'%' | b'+');
    let name = before.iter().rev().take_while(of_name).count();
    let rest = &bytes[at..];
    if !before[..before.len() - name].ends_with(b"://") || matches!(rest[0], b'$' | b'{' | b'<' | b'[') {
        return Found::Nothing;
    }
    let ends = |byte: &u8| {
        matches!(byte, b'@' | b'/' | b'?' | b'#' | b'"' | b'\'' | b'`' | b'<' | b'>' | b'\\') || *byte <= b' '
    };
    match rest.iter().take(LONGEST_QUOTED).position(ends) {
        Some(length) if length > 0 && rest[length] == b'@' => Found::Bytes(length),
        None if rest.len() < LONGEST_QUOTED && !over => Found::More,
        Some(_) | None => Found::Nothing,
    }
}

/// Without the backslashes at its end, which are those of a quote within a quoted text.
fn unescaped(text: &[u8]) -> &[u8] {
    let slashes = text.iter().rev().take_while(|&&byte| byte == b'\\').count();
    &text[..text.len() - slashes]
}

/// Whether a text ends with this word, and no letter stands before it.
fn ends(text: &[u8], word: &[u8]) -> bool {
    text.len() >= word.len() && {
        let at = text.len() - word.len();
        text[at..].eq_ignore_ascii_case(word)
            && !at.checked_sub(1).is_some_and(|before| Charset::Word.has(text[before]))
    }
}

/// Whether what a text ends with is the name of a secret.
fn is_secret(text: &[u8]) -> bool {
    let length = text.iter().rev().take_while(|&&byte| Charset::Dashed.has(byte)).count();
    let name = &text[text.len() - length..];
    let small: Vec<u8> = name.iter().map(|byte| if *byte == b'-' { b'_' } else { byte.to_ascii_lowercase() }).collect();
    let capitals = !name.is_empty() && !name.iter().any(u8::is_ascii_lowercase);
    NAMES.iter().any(|ending| small.ends_with(ending.as_bytes())) || capitals && name.ends_with(b"_KEY")
}

/// The bytes of a charset that a text begins with, as far as they are looked at.
fn run_of(rest: &[u8], of: Charset) -> &[u8] {
    &rest[..rest.iter().take(LONGEST_QUOTED).take_while(|&&byte| of.has(byte)).count()]
}

/// Whether a word of this length is the beginning of a call or an index.
fn is_called(rest: &[u8], length: usize) -> bool {
    matches!(rest.get(length), Some(b'(' | b'[' | b'{' | b'<' | b':'))
}

/// A word without quotes: long enough, with a digit, and not the beginning of a call or an index.
fn bare(rest: &[u8], least: usize, over: bool, letter: bool) -> Found {
    let word = run_of(rest, Charset::Token);
    let run = word.len();
    if run == rest.len() && run < LONGEST_QUOTED && !over {
        return Found::More;
    }
    let fine = run >= least && word.iter().any(u8::is_ascii_digit) && !is_called(rest, run);
    if fine && (!letter || word.iter().any(u8::is_ascii_alphabetic)) {
        Found::Word(Charset::Token)
    } else {
        Found::Nothing
    }
}

/// A word in quotes: long enough, without a space, and not a variable's name.
fn within_quotes(rest: &[u8], quote: u8, over: bool) -> Found {
    let mut length = 0;
    loop {
        let slashes = rest[length..].iter().take(LONGEST_QUOTED).take_while(|&&byte| byte == b'\\').count();
        if length + slashes >= LONGEST_QUOTED {
            return Found::Nothing;
        }
        match rest.get(length + slashes) {
            None => return if over { Found::Nothing } else { Found::More },
            Some(&byte) if byte == quote => break,
            Some(byte) if byte.is_ascii_whitespace() => return Found::Nothing,
            Some(_) => length += slashes + 1,
        }
    }
    let variable = matches!(rest[0], b'$' | b'{' | b'<' | b'%' | b'[');
    if !variable && length >= 8 { Found::Bytes(length) } else { Found::Nothing }
}

fn contains(text: &[u8], part: &[u8]) -> bool {
    text.windows(part.len()).any(|window| window == part)
}

#[cfg(test)]
mod tests;
