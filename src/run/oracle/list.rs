//! A check list: named checks in order, all of them asked each time.
//!
//! ```toml
//! [[check]]
//! name = "builds"
//! command = "cargo build"   # or argv = ["cargo", "build"]
//! timeout = "5m"            # else the limit of oracles
//! task = "Make it build."   # what the round is asked to do while this check is the first that does not pass
//! ```
//!
//! The first check that does not pass is the list's answer, and its task is the round's. All of them pass only if the content of the
//! project is the same after them as before: a check that changes what it checks proves nothing. Checks that no time is left for are not
//! asked, and then the list has no answer unless one before them did not pass.

use serde::{Deserialize, Serialize};
use toml::Spanned;

use super::words::command_line;
use super::{Asking, Verdict, command, keep, word};
use crate::engine::{Answer, Millis};
use crate::run::os::Os;
use crate::run::place::Place;
use crate::run::tree::{Tree, TreeAsk};

/// How many paths are named where checks changed the content.
const NAMED: usize = 3;

/// One check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    /// Its name.
    pub name: String,
    /// The program and its arguments.
    pub argv: Vec<String>,
    /// Its own limit.
    pub limit: Option<Millis>,
    /// What a round is asked to do about it.
    pub task: Option<String>,
}

/// Checks in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckList {
    checks: Vec<Check>,
}

/// What one check came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckResult {
    /// Its name.
    pub name: String,
    /// Its answer; none where it was not asked or given up.
    pub answer: Option<Answer>,
    /// Why, in one line.
    pub why: String,
    /// How long it took.
    pub lasted: Millis,
}

/// What a list came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// What stands for all.
    pub verdict: Verdict,
    /// Each of them.
    pub results: Vec<CheckResult>,
    /// The first that does not pass.
    pub first: Option<Check>,
    /// The content after the checks.
    pub tree: Tree,
}

#[derive(Serialize)]
pub(super) struct StoredCheck<'a> {
    name: &'a str,
    answer: &'a str,
    why: &'a str,
    lasted_ms: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    #[serde(default)]
    check: Vec<WrittenCheck>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenCheck {
    name: Spanned<String>,
    argv: Option<Vec<String>>,
    command: Option<String>,
    timeout: Option<Span>,
    task: Option<String>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Span {
    Seconds(u64),
    Words(String),
}

impl Span {
    fn read(&self) -> Result<Millis, String> {
        let wrong =
            |text: &str| format!("`{text}` is no time limit: write seconds as 300, or \"300s\", \"5m\", \"1h\"");
        let (text, seconds) = match self {
            Self::Seconds(seconds) => (seconds.to_string(), Some(*seconds)),
            Self::Words(text) => {
                let at = text.find(|mark: char| !mark.is_ascii_digit()).unwrap_or(text.len());
                let scale = match text[at..].trim() {
                    "" | "s" => Some(1),
                    "m" => Some(60),
                    "h" => Some(3600),
                    _ => None,
                };
                let seconds =
                    text[..at].parse::<u64>().ok().zip(scale).and_then(|(count, scale)| count.checked_mul(scale));
                (text.clone(), seconds)
            }
        };
        let millis = seconds.filter(|seconds| *seconds > 0).and_then(|seconds| seconds.checked_mul(1000));
        millis.map(Millis::new).ok_or_else(|| wrong(&text))
    }
}

impl CheckList {
    /// Reads a list.
    ///
    /// # Errors
    /// In words, with the place.
    pub fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim_start_matches('\u{FEFF}');
        let written: Written = toml::from_str(text).map_err(|error| error.to_string().trim_end().to_owned())?;
        let mut checks: Vec<Check> = Vec::new();
        for check in written.check {
            let line = 1 + text.bytes().take(check.name.span().start).filter(|byte| *byte == b'\n').count();
            let check = check.read().map_err(|why| format!("line {line}: {why}"))?;
            if checks.iter().any(|other| other.name == check.name) {
                return Err(format!("line {line}: two checks are called `{}`", check.name));
            }
            checks.push(check);
        }
        if checks.is_empty() {
            Err("the list has no check: write `[[check]]`, `name` and `command`".to_owned())
        } else {
            Ok(Self { checks })
        }
    }

    /// The checks.
    #[must_use]
    pub fn checks(&self) -> &[Check] {
        &self.checks
    }

    /// Asks all checks, and keeps what they said in the round's folder. `content` is what must not change meanwhile.
    ///
    /// # Errors
    /// Where the record cannot be written.
    pub fn ask(
        &self,
        os: &mut impl Os,
        place: &Place,
        asking: &Asking<'_>,
        content: &TreeAsk,
    ) -> std::io::Result<Listed> {
        let before = os.tree(content);
        let (mut sum, mut results) = (Verdict::default(), Vec::new());
        for check in &self.checks {
            let one = check.ask(os, place, asking, sum.lasted);
            sum.output.extend(format!("== {}: {}: {}\n", check.name, word(one.answer), one.why).into_bytes());
            results.push(CheckResult {
                name: check.name.clone(),
                answer: one.answer,
                why: one.why.clone(),
                lasted: one.lasted,
            });
            sum = sum.then(one);
            if !sum.output.ends_with(b"\n") && !sum.output.is_empty() {
                sum.output.push(b'\n');
            }
        }
        let after = os.tree(content);
        let first = results.iter().position(|result| result.answer != Some(Answer::Pass));
        (sum.answer, sum.why) = match first {
            Some(at) => (results[at].answer, format!("{}: {}", results[at].name, results[at].why)),
            None => unchanged(&before, &after, results.len()),
        };
        let stored = results.iter().map(|result| StoredCheck {
            name: &result.name,
            answer: word(result.answer),
            why: &result.why,
            lasted_ms: result.lasted.count(),
        });
        keep(os, place, &sum, Some(stored.collect()))?;
        Ok(Listed { verdict: sum, first: first.map(|at| self.checks[at].clone()), results, tree: after })
    }
}

/// What all checks together answer that passed each.
fn unchanged(before: &Tree, after: &Tree, count: usize) -> (Option<Answer>, String) {
    let changes = after.changes(before);
    let passed = if count == 1 { "the one check passed".to_owned() } else { format!("all {count} checks passed") };
    if changes.is_empty() {
        return (Some(Answer::Pass), passed);
    }
    let named: Vec<String> = changes.iter().take(NAMED).map(|change| change.path.display().to_string()).collect();
    let more = if changes.len() > NAMED { ", ..." } else { "" };
    (Some(Answer::Fail), format!("{passed}, but the content changed meanwhile: {}{more}", named.join(", ")))
}

impl Check {
    fn ask(&self, os: &mut impl Os, place: &Place, asking: &Asking<'_>, used: Millis) -> Verdict {
        let left = asking.left.map(|left| left.minus(used));
        if left == Some(Millis::ZERO) {
            return Verdict { why: "no time was left".to_owned(), ..Verdict::default() };
        }
        let mut rules = asking.rules;
        rules.limit = self.limit.unwrap_or(rules.limit);
        command(os, place, &Asking { left, rules, ..*asking }, self.argv.clone())
    }

    /// What a round is asked to do about it.
    #[must_use]
    pub fn asks_for(&self) -> String {
        self.task.clone().unwrap_or_else(|| format!("Make the check `{}` pass: {}", self.name, self.argv.join(" ")))
    }
}

impl WrittenCheck {
    fn read(self) -> Result<Check, String> {
        let name = self.name.into_inner();
        if name.trim().is_empty() {
            return Err("the check has an empty name: name it as it is to be called in reports".to_owned());
        }
        // it stands in lines for people, in the record and in prompts
        let is_odd =
            |mark: char| mark.is_control() || matches!(mark, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
        if name.chars().any(is_odd) {
            return Err(format!("the check's name {name:?} has marks that would break or turn a line: use others"));
        }
        let argv = match (self.argv, self.command) {
            (Some(argv), None) if argv.first().is_some_and(|program| !program.is_empty()) => argv,
            (None, Some(line)) => command_line(&line).map_err(|why| format!("the check `{name}`: {why}"))?,
            (Some(_), None) => return Err(format!("the check `{name}` has an empty argv")),
            (Some(_), Some(_)) | (None, None) => {
                return Err(format!("the check `{name}` needs either `command` or `argv`"));
            }
        };
        let limit =
            self.timeout.map(|span| span.read()).transpose().map_err(|why| format!("the check `{name}`: {why}"))?;
        Ok(Check { name, argv, limit, task: self.task })
    }
}
