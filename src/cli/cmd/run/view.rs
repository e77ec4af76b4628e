//! What `run` shows while it goes on: a line a round on stdout, talk on stderr.

use std::io::Write as _;

use serde_json::{Value, json};

use super::pages::Pages;
use crate::cli::cmd::common;
use crate::cli::output::{say, warn};
use crate::engine::{
    Band, Ladder, MicroUsd, RoundExit, Spent, Timestamp, Tokens, TurnRecord, Verdict, Waiting, counted,
};
use crate::run::figures::{millions, span, usd};
use crate::run::{Told, View};

/// How much is said.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Loud {
    /// Only how it ended.
    Quiet,
    /// A line a round.
    Usual,
    /// Each turn, and the agent's own words.
    Verbose,
}

/// Shows a run.
#[derive(Debug)]
pub struct Show {
    /// How much.
    pub loud: Loud,
    /// For programs.
    pub json: bool,
    /// The ladder of the decisions.
    pub ladder: Ladder,
    /// The band.
    pub band: Band,
    /// What may be spent.
    pub budget: Option<Tokens>,
    /// Lines that stay.
    pub pages: Pages,
    /// The head of the table was printed.
    headed: bool,
}

impl Show {
    /// Shows a run on this ladder.
    #[must_use]
    pub const fn new(loud: Loud, json: bool, ladder: Ladder, band: Band, budget: Option<Tokens>, pages: Pages) -> Self {
        Self { loud, json, ladder, band, budget, pages, headed: false }
    }

    fn line(&self, text: &str) {
        // whoever closed the pipe does not want to hear; the loop goes on
        let _ = writeln!(std::io::stdout(), "{text}");
    }

    fn object(&self, value: &Value) {
        if self.json {
            self.line(&value.to_string());
        }
    }

    fn spent(&self, spent: Spent) -> String {
        let budget = self.budget.map(|budget| format!(" of {}", millions(budget))).unwrap_or_default();
        let cost = if spent.cost == MicroUsd::ZERO { String::new() } else { format!("  {}", usd(spent.cost)) };
        format!("{}{budget}{cost}", millions(spent.output))
    }
}

impl View for Show {
    fn began(&mut self, round: u64, effort: &str, at: Timestamp) {
        self.object(&json!({"event": "began", "round": round, "effort": effort, "at_ms": at.millis()}));
        if self.loud == Loud::Verbose && !self.json {
            say(&format!("round {round} at {effort}"));
        }
    }

    fn landed(&mut self, turn: &TurnRecord, spent: Spent) {
        if self.loud == Loud::Verbose {
            let (grade, output) = (turn.grade.word(), turn.output.count());
            self.object(&json!({"event": "turn", "round": turn.round, "output_tokens": output, "grade": grade, "at_ms": turn.end.millis()}));
            if !self.json {
                say(&format!("  turn of {} ({grade}); {}", counted(output, "token"), self.spent(spent)));
            }
        }
    }

    fn said(&mut self, text: &str) {
        if self.loud == Loud::Verbose && !self.json {
            say(&text.lines().map(|line| format!("  | {line}\n")).collect::<String>());
        }
    }

    fn ended(&mut self, told: &Told<'_>) {
        self.pages.round(told);
        let verdict = told.verdict;
        let mean = verdict.and_then(|verdict| verdict.decision.evidence.mean);
        self.object(&json!({
            "event": "round",
            "round": told.round,
            "effort": told.asked,
            "exit": told.exit.word(),
            "why_failed": told.why,
            "turns": told.turns,
            "output_tokens": told.output.count(),
            "lasted_ms": told.lasted.count(),
            "reading": mean.map(|mean| json!({"total_tokens": mean.total().count(), "turns": mean.turns()})),
            "next": verdict.map(|verdict| self.ladder.effort(verdict.to).word()),
            "why": verdict.map(|verdict| verdict.decision.why.word()),
            "oracle": told.oracle.map(|(answer, why)| json!({"answer": answer.word(), "why": why})),
            "pinned": verdict.map(|verdict| verdict.pinned),
            "spent_output_tokens": told.spent.output.count(),
            "spent_tokens": told.spent.tokens.count(),
            "spent_micro_usd": told.spent.cost.count(),
        }));
        if self.json || self.loud == Loud::Quiet {
            return;
        }
        if !self.headed {
            self.headed = true;
            self.line(&row(["round", "effort", "turns", "reading", "band", "then", "output", "lasted", "spent"]));
        }
        let side = verdict.and_then(|verdict| verdict.decision.evidence.side);
        let then = verdict.map_or_else(|| "not read".to_owned(), |verdict| then(&self.ladder, verdict));
        let mark = match told.exit {
            RoundExit::Done => String::new(),
            RoundExit::Failed | RoundExit::Cut => {
                format!("  {}: {}", told.exit.word(), told.why.unwrap_or("ended by flyball"))
            }
        };
        let text = row([
            &told.round.to_string(),
            told.asked,
            &told.turns.to_string(),
            &common::whole(mean),
            side.map_or("-", common::side),
            &then,
            &told.output.count().to_string(),
            &span(told.lasted),
            &self.spent(told.spent),
        ]);
        let oracle = told.oracle.map_or_else(String::new, |(answer, why)| format!("  oracle {}: {why}", answer.word()));
        self.line(&format!("{text}{mark}{oracle}"));
    }

    fn waits(&mut self, until: Timestamp, why: Waiting) {
        if self.loud == Loud::Verbose && why != Waiting::Rest {
            self.object(&json!({"event": "wait", "until_ms": until.millis(), "why": why.word()}));
        }
    }

    fn note(&mut self, text: &str) {
        self.pages.say(text);
        self.object(&json!({"event": "note", "text": text}));
        if self.loud > Loud::Quiet && !self.json {
            warn(text);
        }
    }
}

fn then(ladder: &Ladder, verdict: &Verdict) -> String {
    let then = common::then(ladder, verdict);
    if verdict.decision.evidence.side.is_none() { format!("{then} ({})", verdict.decision.why.word()) } else { then }
}

fn row(cells: [&str; 9]) -> String {
    let [round, effort, turns, reading, band, then, output, lasted, spent] = cells;
    format!(
        "{round:>5}  {effort:<8}  {turns:>5}  {reading:>8}  {band:<6}  {then:<16}  {output:>8}  {lasted:>7}  {spent}"
    )
}
