//! Command lines and parts of oracles, as a person writes them on one line.
//!
//! It starts nothing. A backslash takes the next byte as it is, outside quotes and in double ones before `"` and `\`.

use std::path::PathBuf;

use super::{Oracle, pattern};

/// How deep `all` and `any` may be in one another.
const DEPTH: usize = 16;
/// Words that a shell would act upon.
const SHELL: [&str; 9] = ["&&", "||", "|", ";", "&", ">", ">>", "<", "2>&1"];

/// Reads an oracle.
pub(super) fn oracle(text: &str, depth: usize) -> Result<Oracle, String> {
    for (name, make) in [("all", Oracle::All as fn(Vec<Oracle>) -> Oracle), ("any", Oracle::Any)] {
        let inner = text.strip_prefix(name).and_then(|rest| rest.trim_start().strip_prefix('('));
        if let Some(inner) = inner {
            let inner = inner.strip_suffix(')').ok_or_else(|| format!("a bracket is not closed: `{text}`"))?;
            if depth == DEPTH {
                return Err(format!("`{name}` stands {DEPTH} deep in others; that is as deep as it goes"));
            }
            let parts = parts(inner)?.iter().map(|part| oracle(part, depth + 1)).collect::<Result<Vec<_>, _>>()?;
            return if parts.is_empty() {
                Err(format!("`{name}()` has no parts: write `{name}(A; B)`"))
            } else {
                Ok(make(parts))
            };
        }
    }
    let (kind, value) = text.split_once(':').unwrap_or(("", text));
    match kind {
        "cli" => command_line(value).map(Oracle::Command),
        "python" => Ok(Oracle::Command(vec!["python3".to_owned(), named(value, "python:FILE")?.to_owned()])),
        "judge" => Ok(Oracle::Judge(PathBuf::from(named(value, "judge:RUBRIC")?))),
        "regex" => {
            let (file, text) = value.split_once(':').ok_or("write `regex:FILE:PATTERN`")?;
            let file = named(file, "regex:FILE:PATTERN")?;
            if text.is_empty() {
                return Err("the pattern of `regex:FILE:PATTERN` is empty, and would be found in anything".to_owned());
            }
            Ok(Oracle::Pattern { file: PathBuf::from(file), pattern: pattern(text)? })
        }
        word if !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_alphabetic()) => Err(format!(
            "there is no oracle of the type `{word}`: there are cli, python, regex, judge, all(A; B) and any(A; B)"
        )),
        _ => command_line(text).map(Oracle::Command),
    }
}

fn named<'a>(value: &'a str, form: &str) -> Result<&'a str, String> {
    let value = value.trim();
    if value.is_empty() { Err(format!("no file is named: write `{form}`")) } else { Ok(value) }
}

/// Parts between `;`, of which quotes and brackets hold each together.
fn parts(text: &str) -> Result<Vec<String>, String> {
    let (mut parts, mut part, mut depth, mut quote) = (Vec::new(), String::new(), 0_usize, None);
    let mut marks = text.chars();
    while let Some(mark) = marks.next() {
        match (quote, mark) {
            (None, ';') if depth == 0 => {
                parts.push(std::mem::take(&mut part));
                continue;
            }
            (None, '\'' | '"') => quote = Some(mark),
            (None, '(') => depth += 1,
            (None, ')') => {
                depth =
                    depth.checked_sub(1).ok_or_else(|| format!("a bracket is closed that was not opened: `{text}`"))?;
            }
            (Some(open), _) if open == mark => quote = None,
            (None | Some('"'), '\\') => {
                part.push(mark);
                part.extend(marks.next());
                continue;
            }
            (None | Some(_), _) => {}
        }
        part.push(mark);
    }
    if let Some(quote) = quote {
        return Err(format!(
            "a quote {quote} is not closed; a part that has one goes into quotes of the other kind: `{text}`"
        ));
    }
    if depth > 0 {
        return Err(format!("a bracket is not closed; a part that has one goes into quotes: `{text}`"));
    }
    parts.push(part);
    let bare = parts.iter().map(|part| unquoted(part.trim()).to_owned());
    Ok(bare.filter(|part| !part.is_empty()).collect())
}

/// A text without the quotes that it is in as a whole.
fn unquoted(text: &str) -> &str {
    let inner = |quote| text.strip_prefix(quote)?.strip_suffix(quote).filter(|inner: &&str| !inner.contains(quote));
    inner('\'').or_else(|| inner('"')).unwrap_or(text)
}

/// Splits a command line into words.
///
/// # Errors
/// In words, where there is no word, where a quote is not closed, and where something is meant for a shell.
pub fn command_line(text: &str) -> Result<Vec<String>, String> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<(String, bool)>, None);
    let mut marks = text.chars().peekable();
    while let Some(mark) = marks.next() {
        match (quote, mark) {
            (None, mark) if mark.is_whitespace() => words.extend(word.take()),
            (None, '\'' | '"') => {
                quote = Some(mark);
                word.get_or_insert_default().1 = true;
            }
            (Some(open), _) if open == mark => quote = None,
            (None, '\\') => word.get_or_insert_default().0.extend(marks.next()),
            (Some('"'), '\\') if matches!(marks.peek(), Some('"' | '\\')) => {
                word.get_or_insert_default().0.extend(marks.next());
            }
            (None | Some(_), _) => word.get_or_insert_default().0.push(mark),
        }
    }
    if quote.is_some() {
        return Err(format!("a quote is not closed: `{text}`"));
    }
    words.extend(word);
    if let Some((word, _)) = words.iter().find(|(word, quoted)| !quoted && SHELL.contains(&&**word)) {
        return Err(format!(
            "no shell reads `{text}`, so `{word}` would be a plain word: write `sh -c '...'` where you mean one"
        ));
    }
    let words: Vec<String> = words.into_iter().map(|(word, _)| word).collect();
    if words.first().is_none_or(String::is_empty) {
        Err("no program is named: write `cli:PROGRAM ARGUMENTS`".to_owned())
    } else {
        Ok(words)
    }
}
