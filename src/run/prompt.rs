//! Prompts: a template, the facts of a round, and the text that the agent is given.
//!
//! Where no template is set, the prompt is the task itself, byte for byte, the same in every round: braces in it mean nothing. A template is
//! text with `{placeholders}`; `{{` and `}}` stand for braces. A byte order mark is left out, and ends of lines are `\n`.
//!
//! | placeholder | what stands there |
//! |---|---|
//! | `{task}` | what the agent is asked to do |
//! | `{round}` | the number of this round, from 1 |
//! | `{rounds_left}` | rounds that are left, this one among them |
//! | `{effort}` | the effort that is asked for |
//! | `{done}` | how it is decided that the task is done |
//! | `{kill_on}` | what gives the loop up, and how near it is, a line each |
//! | `{diff}` | what the last round changed |
//! | `{oracle}` | why the oracle did not pass, and the end of what it printed |
//! | `{check}` | the first failing check: its name and its task |
//! | `{constraints}` | what to keep to, a line each |
//! | `{caps}` | what is left of each cap, a line each |
//! | `{notes}` | what flyball has to say of the last round, a line each |
//!
//! What is not known or is not set reads `none`. A text that is longer than it may be is cut, in this order: the diff at its end, the oracle's
//! output at its beginning, and then the end of the whole; a line in the text and a note say how much.
//!
//! It reads no file and knows no clock. Units: bytes of UTF-8, tokens, millionths of a USD, milliseconds.

use std::fmt::{self, Write as _};

use super::figures::{self, size};
use crate::engine::{Caps, counted};

/// The built-in template of a first round.
pub const INIT: &str = include_str!("prompts/init.md");
/// The built-in template of the rounds after it.
pub const CONTINUATION: &str = include_str!("prompts/continuation.md");
/// The most bytes of a prompt where nobody says otherwise.
pub const USUAL_MOST: usize = 256 * 1024;

/// What is not there reads so.
const NONE: &str = "none";

/// A placeholder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[expect(missing_docs, reason = "the table of the module says what each is")]
pub enum Field {
    Task,
    Round,
    RoundsLeft,
    Effort,
    Done,
    KillOn,
    Diff,
    Oracle,
    Check,
    Constraints,
    Caps,
    Notes,
}

impl Field {
    /// All of them.
    pub const ALL: [Self; 12] = [
        Self::Task,
        Self::Round,
        Self::RoundsLeft,
        Self::Effort,
        Self::Done,
        Self::KillOn,
        Self::Diff,
        Self::Oracle,
        Self::Check,
        Self::Constraints,
        Self::Caps,
        Self::Notes,
    ];

    /// What stands between the braces.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Task => "task",
            Self::Round => "round",
            Self::RoundsLeft => "rounds_left",
            Self::Effort => "effort",
            Self::Done => "done",
            Self::KillOn => "kill_on",
            Self::Diff => "diff",
            Self::Oracle => "oracle",
            Self::Check => "check",
            Self::Constraints => "constraints",
            Self::Caps => "caps",
            Self::Notes => "notes",
        }
    }
}

/// What an oracle said that did not pass.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Failure {
    /// Why, in one line.
    pub why: String,
    /// What it printed.
    pub output: String,
}

/// The first failing check.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Check {
    /// Its name.
    pub name: String,
    /// What it asks for; empty where it does not say.
    pub task: String,
}

/// The facts of a round. What is empty is not known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// What the agent is asked to do.
    pub task: String,
    /// The round, from 1.
    pub round: u64,
    /// The effort that is asked for.
    pub effort: String,
    /// How it is decided that the task is done.
    pub done: String,
    /// What gives the loop up, and how near it is.
    pub kill_on: Vec<String>,
    /// What the last round changed.
    pub diff: String,
    /// Why the oracle did not pass.
    pub oracle: Option<Failure>,
    /// The first failing check.
    pub check: Option<Check>,
    /// What to keep to.
    pub constraints: Vec<String>,
    /// What is left of each cap.
    pub left: Caps,
    /// What is to be said of the last round.
    pub notes: Vec<String>,
}

/// Why a text is no template.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TemplateError {
    /// A placeholder that is not known.
    #[error("line {line}: {{{name}}} is no placeholder{}; there are {}", near(.nearest.as_ref()), names())]
    Unknown {
        /// Its line, from 1.
        line: usize,
        /// What stands between the braces.
        name: String,
        /// The nearest one.
        nearest: Option<&'static str>,
    },
    /// A brace without its other half.
    #[error("line {line}: `{brace}` stands alone: write `{brace}{brace}` for a brace")]
    Alone {
        /// Its line, from 1.
        line: usize,
        /// Which.
        brace: char,
    },
    /// Nothing in it.
    #[error("the template is empty")]
    Empty,
}

fn near(nearest: Option<&&'static str>) -> String {
    nearest.map(|name| format!("; did you mean {{{name}}}?")).unwrap_or_default()
}

fn names() -> String {
    Field::ALL.map(|field| format!("{{{}}}", field.name())).join(" ")
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    Text(String),
    Field(Field),
}

/// A template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template(Vec<Piece>);

/// The prompt of a round.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rendered {
    /// The text.
    pub text: String,
    /// What was left out of it, for people.
    pub cut: Option<String>,
}

impl Rendered {
    /// Its size for people: bytes, and about how many tokens.
    #[must_use]
    pub fn size(&self) -> String {
        size(&self.text)
    }
}

/// The templates of a loop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prompts {
    /// Of the first round, and of the others where they have none.
    pub init: Template,
    /// Of the rounds after it.
    pub continuation: Option<Template>,
}

impl Default for Prompts {
    /// The task, in every round.
    fn default() -> Self {
        Self { init: Template::task(), continuation: None }
    }
}

impl Prompts {
    /// The prompt of a round. `most` bounds its bytes.
    #[must_use]
    pub fn render(&self, facts: &Facts, most: usize) -> Rendered {
        let later = self.continuation.as_ref().filter(|_| facts.round > 1);
        later.unwrap_or(&self.init).render(facts, most)
    }
}

/// How much of what may be cut is kept, in bytes.
#[derive(Clone, Copy, Debug)]
struct Keep {
    diff: usize,
    output: usize,
}

impl Template {
    /// The task alone.
    #[must_use]
    pub fn task() -> Self {
        Self(vec![Piece::Field(Field::Task)])
    }

    /// Reads a template.
    ///
    /// ```
    /// use flyball::run::prompt::{Facts, Template};
    /// let facts = Facts { task: "mend it".into(), round: 3, ..Facts::default() };
    /// assert_eq!(Template::parse("{round}: {task} {{}}").unwrap().render(&facts, 100).text, "3: mend it {}");
    /// let error = Template::parse("{tsk}").unwrap_err();
    /// assert!(error.to_string().contains("did you mean {task}?"));
    /// ```
    ///
    /// # Errors
    /// [`TemplateError`], with the line.
    pub fn parse(text: &str) -> Result<Self, TemplateError> {
        let text = text.trim_start_matches('\u{feff}').replace("\r\n", "\n");
        if text.trim().is_empty() {
            return Err(TemplateError::Empty);
        }
        let (mut pieces, mut plain, mut rest) = (Vec::new(), String::new(), text.as_str());
        while let Some(at) = rest.find(['{', '}']) {
            plain.push_str(&rest[..at]);
            let line = 1 + text[..text.len() - rest.len() + at].matches('\n').count();
            rest = &rest[at..];
            if let Some(after) = rest.strip_prefix("{{").or_else(|| rest.strip_prefix("}}")) {
                plain.push_str(&rest[..1]);
                rest = after;
                continue;
            }
            let alone = |brace| TemplateError::Alone { line, brace };
            let inner = rest.strip_prefix('{').ok_or_else(|| alone('}'))?;
            let end = inner.find(['{', '}', '\n']).filter(|&end| inner[end..].starts_with('}'));
            let end = end.ok_or_else(|| alone('{'))?;
            let field = field(&inner[..end], line)?;
            if !plain.is_empty() {
                pieces.push(Piece::Text(std::mem::take(&mut plain)));
            }
            pieces.push(Piece::Field(field));
            rest = &inner[end + 1..];
        }
        plain.push_str(rest);
        if !plain.is_empty() {
            pieces.push(Piece::Text(plain));
        }
        Ok(Self(pieces))
    }

    /// Whether this placeholder stands in it.
    #[must_use]
    pub fn asks(&self, field: Field) -> bool {
        self.0.contains(&Piece::Field(field))
    }

    /// The text for these facts, at most `most` bytes long.
    #[must_use]
    pub fn render(&self, facts: &Facts, most: usize) -> Rendered {
        let all = Keep { diff: usize::MAX, output: usize::MAX };
        let text = self.fill(facts, all);
        let whole = text.len();
        if whole <= most {
            return Rendered { text, cut: None };
        }
        let fits = |keep: Keep| self.fill(facts, keep).len() <= most;
        let diff_is = if self.asks(Field::Diff) { facts.diff.len() } else { 0 };
        let diff = longest(diff_is, |diff| fits(Keep { diff, ..all }));
        let output_is = facts.oracle.as_ref().filter(|_| self.asks(Field::Oracle)).map_or(0, |said| said.output.len());
        let none = diff.is_none();
        let keep = match diff {
            Some(diff) => Keep { diff, ..all },
            None => Keep { diff: 0, output: longest(output_is, |output| fits(Keep { diff: 0, output })).unwrap_or(0) },
        };
        let mut text = self.fill(facts, keep);
        let mut parts = Vec::new();
        if diff_is > 0 {
            parts.push(format!("{} of the diff", counted(diff_is - head(&facts.diff, keep.diff).len(), "byte")));
        }
        if none && output_is > 0 {
            let said = facts.oracle.as_ref().map_or("", |said| said.output.as_str());
            parts
                .push(format!("{} of the oracle's output", counted(output_is - tail(said, keep.output).len(), "byte")));
        }
        if text.len() > most {
            let (kept, left_out) = cut_end(&text, most);
            parts.push(format!("{} of its end", counted(left_out, "byte")));
            text = kept;
        }
        let cut = format!("the prompt had {whole} bytes and may have {most}: left out were {}", parts.join(", "));
        Rendered { text, cut: Some(cut) }
    }

    fn fill(&self, facts: &Facts, keep: Keep) -> String {
        let mut text = String::new();
        for piece in &self.0 {
            match piece {
                Piece::Text(plain) => text.push_str(plain),
                Piece::Field(field) => put(&mut text, *field, facts, keep),
            }
        }
        text
    }
}

impl fmt::Display for Template {
    /// The text that it is read from.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|piece| match piece {
            Piece::Text(plain) => f.write_str(&plain.replace('{', "{{").replace('}', "}}")),
            Piece::Field(field) => write!(f, "{{{}}}", field.name()),
        })
    }
}

fn field(name: &str, line: usize) -> Result<Field, TemplateError> {
    Field::ALL.into_iter().find(|field| field.name() == name).ok_or_else(|| {
        // nobody misspells a word by a third of its letters and hundreds of them
        let slips = |known: &'static str| (strsim::osa_distance(known, name), known);
        let nearest = Field::ALL.into_iter().map(|field| slips(field.name())).min();
        let nearest = nearest.filter(|(slips, known)| name.len() < 64 && *slips <= known.len() / 2);
        TemplateError::Unknown { line, name: name.to_owned(), nearest: nearest.map(|(_, known)| known) }
    })
}

fn put(text: &mut String, field: Field, facts: &Facts, keep: Keep) {
    match field {
        Field::Task => text.push_str(&facts.task),
        Field::Round => {
            let _ = write!(text, "{}", facts.round);
        }
        Field::RoundsLeft => match facts.left.rounds {
            Some(left) => {
                let _ = write!(text, "{left}");
            }
            None => text.push_str("no cap"),
        },
        Field::Effort => text.push_str(or_none(&facts.effort)),
        Field::Done => text.push_str(or_none(&facts.done)),
        Field::KillOn => list(text, &facts.kill_on),
        Field::Diff => {
            let kept = head(&facts.diff, keep.diff);
            text.push_str(or_none(if facts.diff.is_empty() { "" } else { kept }));
            say_cut(text, facts.diff.len() - kept.len(), "the rest of the diff");
        }
        Field::Oracle => oracle(text, facts.oracle.as_ref(), keep.output),
        Field::Check => match &facts.check {
            Some(check) if check.task.is_empty() => text.push_str(&check.name),
            Some(check) => {
                let _ = write!(text, "{}: {}", check.name, check.task);
            }
            None => text.push_str(NONE),
        },
        Field::Constraints => list(text, &facts.constraints),
        Field::Caps => list(text, &left(&facts.left)),
        Field::Notes => list(text, &facts.notes),
    }
}

fn oracle(text: &mut String, said: Option<&Failure>, keep: usize) {
    let Some(said) = said else {
        text.push_str(NONE);
        return;
    };
    text.push_str(or_none(&said.why));
    if !said.output.is_empty() {
        let kept = tail(&said.output, keep);
        say_cut(text, said.output.len() - kept.len(), "the beginning of the output");
        let _ = write!(text, "\n\n{kept}");
    }
}

fn or_none(text: &str) -> &str {
    if text.is_empty() { NONE } else { text }
}

fn list(text: &mut String, lines: &[String]) {
    if lines.is_empty() {
        text.push_str(NONE);
    }
    for (at, line) in lines.iter().enumerate() {
        let _ = write!(text, "{}- {line}", if at == 0 { "" } else { "\n" });
    }
}

fn say_cut(text: &mut String, bytes: usize, what: &str) {
    if bytes > 0 {
        let _ = write!(text, "\n[cut: {}, {what}]", counted(bytes, "byte"));
    }
}

/// The beginning of a text, at most so many bytes of it.
fn head(text: &str, most: usize) -> &str {
    let mut at = most.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    &text[..at]
}

/// The end of a text, at most so many bytes of it.
fn tail(text: &str, most: usize) -> &str {
    let mut at = text.len() - most.min(text.len());
    while !text.is_char_boundary(at) {
        at += 1;
    }
    &text[at..]
}

/// A line for each cap that there is.
fn left(left: &Caps) -> Vec<String> {
    let mut lines = figures::caps(left);
    if left.rounds.is_some()
        && let Some(rounds) = lines.first_mut()
    {
        rounds.push_str(", this one among them");
    }
    lines
}

/// A text without its end, with a line that says so where there is room for one; and how many bytes were left out.
fn cut_end(text: &str, most: usize) -> (String, usize) {
    let line = |kept: &str| format!("\n[cut: {}, the rest]\n", counted(text.len() - kept.len(), "byte"));
    // a longer text leaves out less, and says so with no more digits
    let kept = head(text, most.saturating_sub(line("").len()));
    let line = line(kept);
    let said = if kept.len() + line.len() <= most { line.as_str() } else { "" };
    let kept = if said.is_empty() { head(text, most) } else { kept };
    (format!("{kept}{said}"), text.len() - kept.len())
}

/// The largest count below `length` that fits, where larger ones never fit better; none where not even nothing does.
fn longest(length: usize, fits: impl Fn(usize) -> bool) -> Option<usize> {
    let (mut low, mut high) = (0, length);
    if length == 0 || !fits(0) {
        return None;
    }
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if fits(middle) { low = middle } else { high = middle }
    }
    Some(low)
}

#[cfg(test)]
mod tests;
