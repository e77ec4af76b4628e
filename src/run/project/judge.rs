//! Whether the task is done: the list of features, the check list and the oracle, in this order. All that are set must pass; the first that does
//! not is the answer.

use super::{Project, unwritten};
use crate::engine::{Answer, Control, Millis, counted, one_or};
use crate::run::features::Looked;
use crate::run::oracle::{Asking, Verdict as Answered, last_line};
use crate::run::os::Os;
use crate::run::prompt::{Check, Failure};
use crate::run::redact::redact;
use crate::run::site::Verdict;

/// With less than this left a question was cut off by the end of the run's time.
const NO_TIME: Millis = Millis::new(100);
/// How much of an oracle's output a prompt may quote, in bytes.
const QUOTED: usize = 16 * 1024;

impl Project {
    /// Asks all of them, in this time.
    pub(super) fn judge<O: Os>(&mut self, os: &mut O, left: Option<Millis>) -> Result<Verdict, String> {
        let mut verdict = Verdict { answer: Some(Answer::Pass), ..Verdict::default() };
        let mut time = left;
        (self.failure, self.check) = (None, None);
        if let Some(features) = &mut self.features {
            let looked = features.look(os, &self.place, time);
            time = less(time, looked.lasted);
            self.of_features(&looked, &mut verdict);
        }
        if let Some(checks) = self.asked.checks.clone().filter(|_| verdict.answer == Some(Answer::Pass)) {
            let asking = self.asking(time);
            let listed = checks.ask(os, &self.place, &asking, &self.content()).map_err(|error| unwritten(&error))?;
            time = less(time, listed.verdict.lasted);
            self.check = listed.first.as_ref().map(|first| Check { name: first.name.clone(), task: first.asks_for() });
            self.take(listed.verdict, &mut verdict);
        }
        if let Some(oracle) = self.asked.oracle.clone().filter(|_| verdict.answer == Some(Answer::Pass)) {
            let asking = self.asking(time);
            let mut answered = oracle.ask(os, &self.place, &asking).map_err(|error| unwritten(&error))?;
            time = less(time, answered.lasted);
            answered.why = format!("{}: {}", self.asked.oracle_words, answered.why);
            self.take(answered, &mut verdict);
        }
        if time.is_some_and(|time| time < NO_TIME) && matches!(verdict.answer, None | Some(Answer::Error)) {
            // cut off because the run's time is over: that says nothing of the oracle, and the cap is what stops
            verdict.answer = Some(Answer::Fail);
        }
        let control = match verdict.answer {
            Some(Answer::Pass) => Some(Control::OraclePassed),
            Some(Answer::Blocked) => Some(Control::Blocked),
            Some(Answer::Error) => Some(Control::OracleError),
            Some(Answer::Fail) | None => None,
        };
        if let Some(control) = control.filter(|_| !verdict.why.is_empty()) {
            self.details.insert(control, verdict.why.clone());
        }
        Ok(verdict)
    }

    fn asking(&self, left: Option<Millis>) -> Asking<'_> {
        Asking {
            rules: self.asked.rules,
            judge: self.asked.judge.as_ref(),
            task: &self.asked.task,
            diff: &self.diff,
            left,
        }
    }

    fn of_features(&mut self, looked: &Looked, verdict: &mut Verdict) {
        for note in &looked.notes {
            self.say(&mut verdict.notes, format!("round {}: {note}", self.place.round));
        }
        self.kept.passing = looked.passing;
        verdict.why = format!(
            "{} of {} {}",
            looked.passing,
            counted(looked.count, "feature"),
            one_or(looked.passing, "passes", "pass")
        );
        if looked.is_done() {
            return;
        }
        let next = self.features.as_ref().and_then(|features| features.missing().next().map(str::to_owned));
        verdict.answer = (!looked.cut).then_some(Answer::Fail);
        if let Some(broken) = &looked.broken {
            verdict.answer = Some(Answer::Error);
            verdict.why.clone_from(broken);
        }
        self.failure = Some(Failure { why: verdict.why.clone(), output: tail(&looked.output) });
        if let Some(next) = next.filter(|_| looked.broken.is_none()) {
            verdict.why = format!("{}; the next is `{next}`", verdict.why);
        }
    }

    /// Takes an answer over.
    fn take(&mut self, answered: Answered, verdict: &mut Verdict) {
        if let Some(score) = answered.score {
            self.kept.score = Some(score);
        }
        verdict.turns.extend(answered.turns);
        verdict.answer = answered.answer;
        verdict.why = redact(&answered.why).into_owned();
        if answered.answer != Some(Answer::Pass) {
            self.failure = Some(Failure { why: verdict.why.clone(), output: tail(&answered.output) });
        }
    }

    /// What is asked for, in words.
    pub(super) fn what_is_done(&self) -> String {
        let mut parts = Vec::new();
        if let Some((file, _)) = &self.asked.features {
            parts.push(format!("every feature of {} passes", file.display()));
        }
        if let Some(checks) = &self.asked.checks {
            let names: Vec<&str> = checks.checks().iter().map(|check| check.name.as_str()).collect();
            parts.push(format!("these checks pass: {}", names.join(", ")));
        }
        if self.asked.oracle.is_some() {
            parts.push(format!("the oracle passes: {}", self.asked.oracle_words));
        }
        parts.join("; ")
    }
}

fn less(left: Option<Millis>, lasted: Millis) -> Option<Millis> {
    left.map(|left| left.minus(lasted))
}

/// The end of what was printed.
fn tail(output: &[u8]) -> String {
    let text = String::from_utf8_lossy(&output[output.len().saturating_sub(QUOTED)..]).into_owned();
    if last_line(output).is_none() { String::new() } else { redact(&text).into_owned() }
}
