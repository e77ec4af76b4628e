//! Oracles: what decides, outside the agent, whether the task is done.
//!
//! | written | passes |
//! |---|---|
//! | `cli:COMMAND LINE`, or a command line alone | the program ends with 0 |
//! | `python:FILE` | `python3 FILE` ends with 0 |
//! | `regex:FILE:PATTERN` | the pattern is found in the file; `^` and `$` are the ends of lines |
//! | `judge:RUBRIC` | another agent's score reaches the rubric's threshold |
//! | `all(A; B)` | all of them do |
//! | `any(A; B)` | one of them does |
//!
//! A command line is split on spaces; quotes hold a word together, and no shell reads it. In `all` and `any` quotes and brackets
//! hold a part together, and a part that is in quotes as a whole is taken without them: `all(cli:make test; 'regex:a.log:x;y')`.
//!
//! | a program | answers |
//! |---|---|
//! | ends with 0 | pass |
//! | ends with the code that is set for it, or ends otherwise and its last line begins with `flyball: blocked` | blocked |
//! | is ended by a signal or for its time, ends with 126 or 127, does not start | error |
//! | ends otherwise | fail; where it is asked to be strict, only 2 does, and everything else is an error |
//!
//! Parts are asked in order. `all` answers with the first that does not pass, and asks none after it; `any` with the first that passes,
//! else with the worst of *error, fail, blocked* in this order: what is broken is to be mended, and as long as one may
//! still come to pass nothing is blocked. There is no answer where no time was left or where somebody asked the runner to stop.
//!
//! Each part has a time limit, and never more than what is left. What it printed is kept in the round's folder as `oracle.log`,
//! what came of it as `oracle.json`.
//!
//! | module | holds |
//! |---|---|
//! | [`words`] | command lines and parts |
//! | [`judge`] | the agent that judges |
//! | [`list`] | checks that are asked in order, all of them |
//!
//! Units: milliseconds; scores in millionths.

pub mod judge;
pub mod list;
pub mod words;

use std::path::{Path, PathBuf};

use regex::{Regex, RegexBuilder};
use serde::Serialize;

use self::judge::Judge;
use super::os::{CheckEnd, Checked, Keep, Os};
use super::place::Place;
use super::redact::redact;
use crate::engine::{Answer, Millis, TurnRecord};

/// The most bytes that are read of a file in which a pattern is looked for.
const FILE: u64 = 64 * 1024 * 1024;
/// How much of a line is kept for people, in characters.
const LINE: usize = 300;
/// How a last line begins that says that nothing more can be done here.
const BLOCKED: &str = "flyball: blocked";

/// What decides that the task is done.
#[derive(Clone, Debug)]
pub enum Oracle {
    /// A program.
    Command(Vec<String>),
    /// A pattern in a file.
    Pattern {
        /// The file, from the project's folder.
        file: PathBuf,
        /// The pattern.
        pattern: Regex,
    },
    /// Another agent, by this rubric.
    Judge(PathBuf),
    /// All of them.
    All(Vec<Self>),
    /// One of them.
    Any(Vec<Self>),
}

/// What exit codes mean.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Exits {
    /// Only 0 and 2 are answers.
    pub strict: bool,
    /// The code that says that nothing more can be done here.
    pub blocked: Option<i32>,
}

/// How oracles are asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rules {
    /// What exit codes mean.
    pub exits: Exits,
    /// How long one may take.
    pub limit: Millis,
    /// How much of what it prints is kept, in bytes.
    pub keep: usize,
}

impl Default for Rules {
    /// Ten minutes, 4 MiB.
    fn default() -> Self {
        Self { exits: Exits::default(), limit: Millis::from_secs(600), keep: 4 << 20 }
    }
}

/// What an oracle may be told.
#[derive(Clone, Copy, Debug, Default)]
pub struct Asking<'a> {
    /// How they are asked.
    pub rules: Rules,
    /// Who judges, where a rubric is named.
    pub judge: Option<&'a Judge>,
    /// The task, for a judge.
    pub task: &'a str,
    /// What was changed, for a judge.
    pub diff: &'a str,
    /// How much time is left, where there is an end to it.
    pub left: Option<Millis>,
}

/// What an oracle came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verdict {
    /// Its answer; none where no time was left or where it was given up because somebody asked the runner to stop.
    pub answer: Option<Answer>,
    /// Why, in one line for people.
    pub why: String,
    /// The last score that was told, in millionths.
    pub score: Option<i64>,
    /// What was printed.
    pub output: Vec<u8>,
    /// What a judge spent: to be paid for, and no reading for the governor.
    pub turns: Vec<TurnRecord>,
    /// How long it took.
    pub lasted: Millis,
}

impl Oracle {
    /// Reads an oracle as a person writes it.
    ///
    /// # Errors
    /// In words.
    pub fn parse(text: &str) -> Result<Self, String> {
        words::oracle(text.trim(), 0)
    }

    /// All of these; one alone is itself.
    #[must_use]
    pub fn all(mut oracles: Vec<Self>) -> Option<Self> {
        if oracles.len() > 1 { Some(Self::All(oracles)) } else { oracles.pop() }
    }

    /// The rubrics by which it has somebody judge.
    #[must_use]
    pub fn rubrics(&self) -> Vec<&Path> {
        match self {
            Self::Judge(rubric) => vec![rubric],
            Self::All(parts) | Self::Any(parts) => parts.iter().flat_map(Self::rubrics).collect(),
            Self::Command(_) | Self::Pattern { .. } => Vec::new(),
        }
    }

    /// The files in which it looks for patterns.
    #[must_use]
    pub fn searched(&self) -> Vec<&Path> {
        match self {
            Self::Pattern { file, .. } => vec![file],
            Self::All(parts) | Self::Any(parts) => parts.iter().flat_map(Self::searched).collect(),
            Self::Command(_) | Self::Judge(_) => Vec::new(),
        }
    }

    /// Files that it decides by and that the task has no business to change: scripts that are named by a path, rubrics.
    #[must_use]
    pub fn files(&self) -> Vec<PathBuf> {
        match self {
            Self::Command(argv) => scripts(argv),
            Self::Judge(rubric) => vec![rubric.clone()],
            Self::All(parts) | Self::Any(parts) => parts.iter().flat_map(Self::files).collect(),
            Self::Pattern { .. } => Vec::new(),
        }
    }

    /// What of it must be there before anything is asked: programs that are named by a path, what an interpreter is given, rubrics.
    #[must_use]
    pub fn needs(&self) -> Vec<PathBuf> {
        match self {
            Self::Command(argv) => needs(argv),
            Self::Judge(rubric) => vec![rubric.clone()],
            Self::All(parts) | Self::Any(parts) => parts.iter().flat_map(Self::needs).collect(),
            Self::Pattern { .. } => Vec::new(),
        }
    }

    /// Asks it, and keeps what it said in the round's folder.
    ///
    /// # Errors
    /// Where the record cannot be written.
    pub fn ask(&self, os: &mut impl Os, place: &Place, asking: &Asking<'_>) -> std::io::Result<Verdict> {
        let verdict = self.asked(os, place, asking);
        keep(os, place, &verdict, None)?;
        Ok(verdict)
    }

    fn asked(&self, os: &mut impl Os, place: &Place, asking: &Asking<'_>) -> Verdict {
        if asking.left == Some(Millis::ZERO) {
            return Verdict { why: "no time was left to ask the oracle".to_owned(), ..Verdict::default() };
        }
        match self {
            Self::Command(argv) => command(os, place, asking, argv.clone()),
            Self::Pattern { file, pattern } => look(os, place, file, pattern),
            Self::Judge(rubric) => match asking.judge {
                Some(judge) => judge.ask(os, place, asking, rubric),
                None => Verdict::error(format!("no judge is set for {}", rubric.display())),
            },
            Self::All(parts) => several(os, place, asking, parts, true),
            Self::Any(parts) => several(os, place, asking, parts, false),
        }
    }
}

/// What of a command must be there: its program where that is a path, and the script that an interpreter is given.
#[must_use]
pub fn needs(argv: &[String]) -> Vec<PathBuf> {
    let [program, rest @ ..] = argv else { return Vec::new() };
    let interprets = ["python3", "python", "sh", "bash", "node", "ruby", "perl"].contains(&program.as_str());
    let script = rest.first().filter(|word| interprets && (is_script(word) || program.starts_with("python")));
    let script = script.filter(|word| !word.starts_with('-'));
    let path = Some(program).filter(|program| program.contains('/'));
    path.into_iter().chain(script).map(PathBuf::from).collect()
}

/// Files that a command decides by: what is written in it as a path of a script.
#[must_use]
pub fn scripts(argv: &[String]) -> Vec<PathBuf> {
    let needed = needs(argv);
    argv.iter()
        .map(PathBuf::from)
        .filter(|word| needed.contains(word) || word.to_str().is_some_and(is_script))
        .collect()
}

/// Whether a word of an argv is a path that a person wrote as one.
fn is_script(word: &str) -> bool {
    let script = [".sh", ".py", ".rb", ".js", ".ts", ".pl", ".bash"].iter().any(|end| word.ends_with(end));
    word.starts_with("./") || (script && !word.starts_with('-'))
}

impl Verdict {
    fn error(why: String) -> Self {
        Self { answer: Some(Answer::Error), why, ..Self::default() }
    }

    /// Adds what another one came to, which stands from now on.
    fn then(mut self, next: Self) -> Self {
        self.output.extend(next.output);
        self.turns.extend(next.turns);
        Self {
            answer: next.answer,
            why: next.why,
            score: next.score.or(self.score),
            output: self.output,
            turns: self.turns,
            lasted: self.lasted.plus(next.lasted),
        }
    }
}

/// Asks parts in order, up to the first that does not pass where all must, else up to the first that passes.
fn several(os: &mut impl Os, place: &Place, asking: &Asking<'_>, parts: &[Oracle], all: bool) -> Verdict {
    let (mut sum, mut worst) = (Verdict::default(), None::<(Answer, String)>);
    for part in parts {
        let left = asking.left.map(|left| left.minus(sum.lasted));
        sum = sum.then(part.asked(os, place, &Asking { left, ..*asking }));
        let Some(answer) = sum.answer else { return sum };
        if all != (answer == Answer::Pass) {
            return sum;
        }
        if worst.as_ref().is_none_or(|(so_far, _)| badness(answer) > badness(*so_far)) {
            worst = Some((answer, sum.why.clone()));
        }
    }
    let (answer, why) = worst.unwrap_or((Answer::Error, "nothing was asked".to_owned()));
    Verdict { answer: Some(answer), why, ..sum }
}

/// Which answer stands for several of which none passed.
const fn badness(answer: Answer) -> u8 {
    match answer {
        Answer::Pass => 0,
        Answer::Blocked => 1,
        Answer::Fail => 2,
        Answer::Error => 3,
    }
}

/// What the end of a program answers; none where it was given up.
#[must_use]
pub fn answer_of(checked: &Checked, exits: Exits) -> Option<Answer> {
    let says_blocked = || last_line(&checked.output).is_some_and(|line| line.starts_with(BLOCKED));
    match checked.end {
        CheckEnd::GivenUp => None,
        CheckEnd::Exited(0) => Some(Answer::Pass),
        CheckEnd::Exited(code) if exits.blocked == Some(code) => Some(Answer::Blocked),
        CheckEnd::Exited(126 | 127) | CheckEnd::Signalled(_) | CheckEnd::TimedOut | CheckEnd::NotStarted(_) => {
            Some(Answer::Error)
        }
        CheckEnd::Exited(code) if exits.strict && code != 2 => Some(Answer::Error),
        CheckEnd::Exited(_) if says_blocked() => Some(Answer::Blocked),
        CheckEnd::Exited(_) => Some(Answer::Fail),
    }
}

/// Runs a program and says what it answers.
fn command(os: &mut impl Os, place: &Place, asking: &Asking<'_>, argv: Vec<String>) -> Verdict {
    let limit = asking.left.map_or(asking.rules.limit, |left| left.min(asking.rules.limit));
    let name = argv.join(" ");
    let checked = os.check(&place.launch(argv), limit, Keep::Both(asking.rules.keep));
    let answer = answer_of(&checked, asking.rules.exits);
    let why = why(&checked, limit, &name);
    Verdict {
        answer,
        why,
        score: score_line(&checked.output),
        output: checked.output,
        turns: Vec::new(),
        lasted: checked.lasted,
    }
}

/// Why a program answers what it answers, in one line.
fn why(checked: &Checked, limit: Millis, name: &str) -> String {
    let last = last_line(&checked.output);
    let and_last = |what: String| last.as_ref().map_or_else(|| what.clone(), |last| format!("{what}: {last}"));
    match &checked.end {
        CheckEnd::Exited(0) => "passed".to_owned(),
        CheckEnd::Exited(126) => and_last(format!("`{name}` ended with 126: it cannot be run")),
        CheckEnd::Exited(127) => and_last(format!("`{name}` ended with 127: something it needs is not there")),
        CheckEnd::Exited(code) => and_last(format!("ended with {code}")),
        CheckEnd::Signalled(signal) => and_last(format!("`{name}` was ended by signal {signal}")),
        CheckEnd::TimedOut => and_last(format!("`{name}` was ended after {} s", limit.count().div_ceil(1000))),
        CheckEnd::NotStarted(why) => why.clone(),
        CheckEnd::GivenUp => "given up: somebody asked the runner to stop".to_owned(),
    }
}

/// Looks for a pattern in a file of the project.
fn look(os: &mut impl Os, place: &Place, file: &Path, pattern: &Regex) -> Verdict {
    let name = file.display();
    let (answer, why) = match os.read(&place.project.join(file), FILE + 1) {
        Ok(bytes) if u64::try_from(bytes.len()).is_ok_and(|size| size > FILE) => {
            (Answer::Error, format!("{name} is larger than the {FILE} bytes in which a pattern is looked for"))
        }
        Ok(bytes) => {
            let text = String::from_utf8_lossy(&bytes);
            match pattern.find(text.trim_start_matches('\u{FEFF}')) {
                Some(found) => (Answer::Pass, format!("{name} has `{}`", short(found.as_str()))),
                None => (Answer::Fail, format!("{name} has nothing like `{pattern}`")),
            }
        }
        // whatever is in the file's place, the agent may put the file there yet
        Err(error) => (Answer::Fail, format!("{name} cannot be read: {error}")),
    };
    Verdict { answer: Some(answer), why, ..Verdict::default() }
}

/// A pattern of lines, which is found in something and not in nothing.
///
/// # Errors
/// In words.
pub fn pattern(text: &str) -> Result<Regex, String> {
    let built = RegexBuilder::new(text).multi_line(true).crlf(true).size_limit(4 << 20).build();
    let pattern = built.map_err(|error| format!("`{text}` is no pattern: {error}"))?;
    if pattern.is_match("") {
        return Err(format!("the pattern `{text}` is found in any text, also where there is none"));
    }
    Ok(pattern)
}

/// The last line that says something, in bounded length and without colours.
#[must_use]
pub fn last_line(output: &[u8]) -> Option<String> {
    let from = output.len().saturating_sub(64 * 1024);
    let text = String::from_utf8_lossy(&output[from..]);
    let plain = super::kill::without_colours(&text);
    plain.lines().map(str::trim).rfind(|line| !line.is_empty()).map(short)
}

fn short(line: &str) -> String {
    let plain: String = line.chars().take(LINE).map(|mark| if mark.is_control() { ' ' } else { mark }).collect();
    if line.chars().nth(LINE).is_some() { format!("{plain}...") } else { plain }
}

/// The score of the last line that is `score: X` and nothing else.
fn score_line(output: &[u8]) -> Option<i64> {
    let text = String::from_utf8_lossy(output);
    text.lines().rev().find_map(judge::score_of_line)
}

#[derive(Serialize)]
struct Stored<'a> {
    answer: &'a str,
    why: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    score_millionths: Option<i64>,
    lasted_ms: u64,
    judge_turns: usize,
    judge_output_tokens: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    checks: Option<Vec<list::StoredCheck<'a>>>,
}

/// The word for an answer.
#[must_use]
pub const fn word(answer: Option<Answer>) -> &'static str {
    match answer {
        Some(answer) => answer.word(),
        None => "none",
    }
}

/// Keeps a verdict in the round's folder.
fn keep(
    os: &mut impl Os,
    place: &Place,
    verdict: &Verdict,
    checks: Option<Vec<list::StoredCheck<'_>>>,
) -> std::io::Result<()> {
    let stored = Stored {
        answer: word(verdict.answer),
        why: &redact(&verdict.why),
        score_millionths: verdict.score,
        lasted_ms: verdict.lasted.count(),
        judge_turns: verdict.turns.iter().filter(|turn| turn.counts_as_turn).count(),
        judge_output_tokens: verdict.turns.iter().map(|turn| turn.output.count()).sum(),
        checks,
    };
    let printed = String::from_utf8_lossy(&verdict.output);
    os.replace(&place.file("oracle.log"), redact(&printed).as_bytes())?;
    os.replace(&place.file("oracle.json"), &serde_json::to_vec_pretty(&stored)?)
}

#[cfg(test)]
mod tests;
