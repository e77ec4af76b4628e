//! A judge: another agent that gives what was done a score, by a rubric.
//!
//! It is a call of its own in a folder of its own, with a session of its own, and sees what is put before it: the rubric, the task, what was
//! changed. It may do what its program does in its safe mode, and is asked once more where its answer has no score.
//!
//! Its answer's score is that of the last line `score: X` or of the last JSON object with a `"score"`, whichever comes later. X is a decimal
//! number and nothing else; a number elsewhere in the text is none. The rubric's first lines may say `threshold: X` between two lines
//! `---`; it beats the setting.
//!
//! Units: scores in millionths.

use std::path::Path;

use super::{Asking, Verdict};
use crate::agents::adapter::AgentKind;
use crate::agents::live::{Landed, Live, ProcessEnd};
use crate::engine::{Answer, Millis, TurnRecord, counted, one_or};
use crate::run::agent::{Agent, Agents as _, RECORD_VARIABLE};
use crate::run::kill::last_of;
use crate::run::os::{CheckEnd, Checked, Keep, Os};
use crate::run::place::Place;
use crate::run::redact::redact;

/// The longest rubric, in bytes; what comes after is not read.
pub const LONGEST: u64 = 1024 * 1024;
/// How much of what was changed is put before a judge, in bytes.
const DIFF: usize = 200_000;
/// How much of what it prints is kept, in bytes.
const KEPT: usize = 32 * 1024 * 1024;
/// How much of an answer's end is looked at, in bytes.
const ANSWER: usize = 256 * 1024;
/// How often it is asked, at most.
const TRIES: u32 = 2;

/// Who judges.
#[derive(Clone, Debug)]
pub struct Judge {
    /// The program, its model and what else is asked of it. Its project, its record, its run and its prompt are set for each call.
    pub agent: Agent,
    /// The effort that it is asked for.
    pub effort: String,
    /// The score that passes, where the rubric says none.
    pub threshold: Option<i64>,
}

/// A rubric, read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rubric {
    /// The score that passes.
    threshold: i64,
    body: String,
}

impl Rubric {
    /// Reads one; `usual` is the score that passes where the rubric says none.
    ///
    /// # Errors
    /// In words: no score that passes, or none that can be read.
    pub fn read(bytes: &[u8], usual: Option<i64>) -> Result<Self, String> {
        let text = String::from_utf8_lossy(bytes).trim_start_matches('\u{FEFF}').replace("\r\n", "\n");
        let (own, body) = threshold_of(&text)?;
        let threshold = own.or(usual).ok_or(
            "it says no score that passes: begin it with `threshold: 4.0` between two lines `---`, or give --threshold",
        )?;
        Ok(Self { threshold, body: body.trim().to_owned() })
    }
}

/// One call.
struct Called {
    end: CheckEnd,
    said: String,
    why: Option<String>,
    turns: Vec<TurnRecord>,
    lasted: Millis,
}

impl Judge {
    /// Asks for a score.
    pub(super) fn ask(&self, os: &mut impl Os, place: &Place, asking: &Asking<'_>, rubric: &Path) -> Verdict {
        let read = os.read(&place.project.join(rubric), LONGEST).map_err(|error| format!("it cannot be read: {error}"));
        let rubric = match read.and_then(|bytes| Rubric::read(&bytes, self.threshold)) {
            Ok(rubric) => rubric,
            Err(why) => return Verdict::error(format!("the rubric {}: {why}", rubric.display())),
        };
        let (prompt, threshold) = (prompt(&rubric, asking), rubric.threshold);
        let mut sum = Verdict::default();
        for attempt in 1..=TRIES {
            let left = asking.left.map(|left| left.minus(sum.lasted));
            if left == Some(Millis::ZERO) {
                return Verdict { answer: None, why: "no time was left to ask the judge".to_owned(), ..sum };
            }
            let limit = left.map_or(asking.rules.limit, |left| left.min(asking.rules.limit));
            let called = match self.call(os, place, attempt, &prompt, limit) {
                Ok(called) => called,
                Err(why) => return sum.then(Verdict::error(why)),
            };
            let score = score_of(&called.said);
            let last = attempt == TRIES;
            sum = sum.then(judged(called, score, threshold));
            if sum.answer.is_none() || score.is_some() || last {
                break;
            }
        }
        sum
    }

    fn call(
        &self,
        os: &mut impl Os,
        place: &Place,
        attempt: u32,
        prompt: &str,
        limit: Millis,
    ) -> Result<Called, String> {
        let mut agent = self.agent.clone();
        let name = format!("judge-{attempt}");
        let folder = place.folder().join(&name);
        (agent.project, agent.record) = (folder.clone(), folder);
        agent.run = format!("{} {name}", self.agent.run);
        prompt.clone_into(&mut agent.prompt);
        // which makes its folder
        os.replace(&place.file(&format!("{name}/prompt.md")), redact(prompt).as_bytes())
            .map_err(|error| format!("the judge's prompt cannot be written: {error}"))?;
        let mut launch =
            agent.launch(place.round, &self.effort, None, os.now()).map_err(|why| format!("the judge: {why}"))?;
        let record = place.record.display().to_string();
        launch
            .set
            .iter_mut()
            .filter(|(name, _)| name == RECORD_VARIABLE)
            .for_each(|(_, value)| value.clone_from(&record));
        let checked = os.check(&launch, limit, Keep::Stdout(KEPT));
        Ok(read(os, &agent, place.round, &self.effort, checked))
    }
}

/// What a call came to: what it said and what it spent, by the readers that count every agent's.
fn read(os: &mut impl Os, agent: &Agent, round: u64, effort: &str, checked: Checked) -> Called {
    let mut live: Live = agent.live();
    let mut landed = Vec::new();
    live.stdout(&checked.output, &mut landed);
    let session = live.session().map(str::to_owned);
    for (file, bytes) in os.logs(&agent.follows(session.as_deref())) {
        live.followed(&file, &bytes, &mut landed);
    }
    let parts = live.parts().to_vec();
    for (name, launch) in agent.afterwards(&parts) {
        live.followed(&name, &os.query(&launch), &mut landed);
    }
    let (end, cut) = match &checked.end {
        CheckEnd::Exited(code) => (ProcessEnd::Exited(*code), false),
        CheckEnd::Signalled(signal) => (ProcessEnd::Signalled(*signal), false),
        CheckEnd::NotStarted(_) | CheckEnd::TimedOut | CheckEnd::GivenUp => (ProcessEnd::Signalled(15), true),
    };
    let (mut said, mut turns) = (String::new(), Vec::new());
    for landed in landed {
        match landed {
            Landed::Turn(turn) => turns.push(turn),
            Landed::Said(text) => {
                said.push_str(&text);
                said.push('\n');
            }
            Landed::Request
            | Landed::Effort { .. }
            | Landed::Ignored { .. }
            | Landed::Limit { .. }
            | Landed::Note(_)
            | Landed::Result => {}
        }
    }
    let started = !matches!(checked.end, CheckEnd::NotStarted(_));
    let closed = live.close(end, cut);
    if started {
        turns.extend(closed.late);
    }
    for (id, output) in closed.total.into_iter().flat_map(|(_, named)| named) {
        turns.iter_mut().filter(|turn| turn.id.as_ref() == Some(&id)).for_each(|turn| turn.output = output);
    }
    let now = os.now();
    for turn in &mut turns {
        (turn.round, turn.start, turn.end) = (round, None, now);
        turn.effort_asked = Some(effort.into());
    }
    if said.is_empty() && agent.adapter.kind() == AgentKind::Command && turns.iter().all(|turn| turn.id.is_none()) {
        // a program that speaks no agent's language says what it prints
        said = String::from_utf8_lossy(&checked.output).into_owned();
    }
    Called { end: checked.end, said, why: closed.why, turns, lasted: checked.lasted }
}

/// What a call with this score comes to.
fn judged(called: Called, score: Option<i64>, threshold: i64) -> Verdict {
    let Called { end, said, why, turns, lasted } = called;
    let (answer, why) = match (end, score) {
        (CheckEnd::GivenUp, _) => (None, "given up: somebody asked the runner to stop".to_owned()),
        (CheckEnd::TimedOut, _) => {
            (Some(Answer::Error), format!("the judge was ended after {} s", lasted.count().div_ceil(1000)))
        }
        (CheckEnd::NotStarted(why), _) => (Some(Answer::Error), format!("the judge: {why}")),
        (CheckEnd::Exited(_) | CheckEnd::Signalled(_), Some(score)) => {
            let passes = score >= threshold;
            let answer = if passes { Answer::Pass } else { Answer::Fail };
            let against = if passes { "of" } else { "short of" };
            (Some(answer), format!("the judge's score is {}, {against} {}", decimal(score), decimal(threshold)))
        }
        (CheckEnd::Exited(_) | CheckEnd::Signalled(_), None) => {
            let said = why.or_else(|| super::last_line(said.as_bytes())).unwrap_or_else(|| "nothing".to_owned());
            (Some(Answer::Error), format!("the judge's answer has no score: {said}"))
        }
    };
    let reads = matches!(answer, Some(Answer::Pass | Answer::Fail));
    Verdict { answer, why, score: score.filter(|_| reads), output: said.into_bytes(), turns, lasted }
}

fn prompt(rubric: &Rubric, asking: &Asking<'_>) -> String {
    let (task, diff) = (asking.task.trim(), cut(asking.diff, DIFF));
    format!(
        "You judge what another agent did. Change nothing. Give it one score by the rubric.\n\n# Rubric\n\n{}\n\n# Task\n\n{task}\n\n\
         # What was changed\n\n{diff}\n\n# Your answer\n\nSay in a few sentences why, and end with a line of its own:\n\n\
         score: X\n\nX is a decimal number. {} or more passes.\n",
        rubric.body,
        decimal(rubric.threshold)
    )
}

/// The beginning of a text, with a note where that is not all.
fn cut(text: &str, most: usize) -> String {
    let at = (0..=most.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    if at == text.len() {
        text.to_owned()
    } else {
        let more = text.len() - at;
        format!("{}\n[{} {} left out]\n", &text[..at], counted(more, "more byte"), one_or(more, "is", "are"))
    }
}

/// The threshold that a rubric's first lines say, and the rubric after them.
fn threshold_of(text: &str) -> Result<(Option<i64>, &str), String> {
    let Some(rest) = text.strip_prefix("---\n") else { return Ok((None, text)) };
    let end = rest.find("\n---").ok_or("its first lines begin with `---` and have no second one")?;
    let (head, body) = rest.split_at(end);
    let mut threshold = None;
    for line in head.lines() {
        if let Some(value) = line.strip_prefix("threshold:") {
            let number = parse_decimal(value.trim());
            threshold =
                Some(number.ok_or_else(|| format!("`{}` is no threshold: write a number as 4.0", value.trim()))?);
        }
    }
    Ok((threshold, body.trim_start_matches("\n---")))
}

/// The score that an answer gives.
fn score_of(answer: &str) -> Option<i64> {
    let answer = last_of(answer, ANSWER);
    let (mut at, mut line) = (0, None);
    for text in answer.split_inclusive('\n') {
        if has_score_label(text) {
            line = Some((at, score_of_line(text)));
        }
        at += text.len();
    }
    let object = last_object(answer);
    let later = [line, object].into_iter().flatten().max_by_key(|(at, _)| *at);
    later.and_then(|(_, score)| score)
}

fn has_score_label(line: &str) -> bool {
    let line = line.trim_start();
    line.get(..6).is_some_and(|label| label.eq_ignore_ascii_case("score:"))
}

/// The score of a line that is `score: X` and nothing else.
pub(super) fn score_of_line(line: &str) -> Option<i64> {
    let line = line.trim();
    if has_score_label(line) { parse_decimal(line.get(6..)?.trim()) } else { None }
}

/// Where the last JSON object with a score ends, and that score where it is a number.
fn last_object(text: &str) -> Option<(usize, Option<i64>)> {
    let (mut found, mut at) = (None, 0);
    while let Some(next) = text[at..].find('{') {
        at += next;
        let mut values = serde_json::Deserializer::from_str(&text[at..]).into_iter::<serde_json::Value>();
        match values.next() {
            Some(Ok(value)) => {
                at += values.byte_offset();
                if let Some(score) = value.get("score") {
                    let number = if score.is_number() { parse_decimal(&score.to_string()) } else { None };
                    found = Some((at, number));
                }
            }
            Some(Err(_)) | None => at += 1,
        }
    }
    found
}

/// A decimal number in millionths; what is smaller is dropped.
#[must_use]
pub fn parse_decimal(text: &str) -> Option<i64> {
    let (negative, digits) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
    let (whole, part) = digits.split_once('.').unwrap_or((digits, "0"));
    let plain = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !plain(whole) || !plain(part) {
        return None;
    }
    let millionths: String = part.chars().chain("000000".chars()).take(6).collect();
    let number = whole.parse::<i64>().ok()?.checked_mul(1_000_000)?.checked_add(millionths.parse().ok()?)?;
    Some(if negative { -number } else { number })
}

/// Millionths as a decimal number.
#[must_use]
pub fn decimal(millionths: i64) -> String {
    let sign = if millionths < 0 { "-" } else { "" };
    let (whole, part) = (millionths.unsigned_abs() / 1_000_000, millionths.unsigned_abs() % 1_000_000);
    let part = format!("{part:06}");
    let part = part.trim_end_matches('0');
    format!("{sign}{whole}.{}", if part.is_empty() { "0" } else { part })
}
