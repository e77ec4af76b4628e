//! RALF's layout: a folder a round, what the run was set up with, and what it came to. The folder that is written stands for its
//! `.ai-skills-memory`.
//!
//! A round is marked as a runaway where it took more than three times its fair share: the cap on tokens over the cap on rounds. Without either
//! there is no fair share, and no mark.

use serde_json::{Value, json};

use super::Pack;
use super::read::{Round, Taken, dollars};
use crate::cli::cmd::runs::Stands;
use crate::trace::iso;

/// Lays a run out.
pub(super) fn lay(taken: &Taken, pack: &mut Pack) {
    let home = format!("ralph/{}", taken.id);
    let caps = Share::of(taken);
    pack.json(format!("{home}/config.json"), &config(taken));
    let first = taken.rounds.first().map_or(1, |round| round.number);
    pack.copy(taken, &format!("rounds/{first:04}/prompt.md"), format!("{home}/initial-prompt.md"));
    let mut warnings = String::new();
    for round in &taken.rounds {
        let iter = format!("{home}/iter-{:03}", round.number);
        for (from, to) in [
            ("prompt.md", "prompt.md"),
            ("output.md", "output.md"),
            ("diff.patch", "diff.patch"),
            ("oracle.json", "oracle-result.json"),
        ] {
            pack.copy(taken, &round.file(from), format!("{iter}/{to}"));
        }
        let runaway = caps.as_ref().is_some_and(|caps| caps.is_runaway(round));
        pack.json(format!("{iter}/tokens.json"), &tokens(round, runaway));
        if let Some(caps) = caps.as_ref().filter(|_| runaway) {
            warnings.push_str(&caps.warning(taken, round));
        }
    }
    if taken.stands == Stands::Runs {
        pack.text(format!("{home}/active.lock"), format!("{}\n", taken.id));
    } else {
        pack.json(format!("{home}/budget.json"), &budget(taken));
        pack.text("ralph-history.jsonl", format!("{}\n", history(taken)));
    }
    if !warnings.is_empty() {
        pack.text("ralph-warnings.log", warnings);
    }
}

/// What one round may come to if all are to have the same.
struct Share {
    tokens: u64,
    rounds: u64,
    /// All kinds are counted, or output alone.
    all: bool,
}

impl Share {
    fn of(taken: &Taken) -> Option<Self> {
        let rounds = taken.count("controls.rounds").filter(|&rounds| rounds > 0)?;
        let (all, output) = (taken.millions("controls.tokens"), taken.millions("governor.budget"));
        Some(Self { tokens: all.or(output)?, rounds, all: all.is_some() })
    }

    const fn came_to(&self, round: &Round) -> u64 {
        if self.all { round.tokens } else { round.output }
    }

    fn is_runaway(&self, round: &Round) -> bool {
        u128::from(self.came_to(round)) * u128::from(self.rounds) > 3 * u128::from(self.tokens)
    }

    fn warning(&self, taken: &Taken, round: &Round) -> String {
        let (what, share) = (if self.all { "tokens" } else { "output tokens" }, self.tokens / self.rounds);
        let at = iso(taken.unix(round.ended_ms));
        let came = self.came_to(round);
        format!(
            "{at} {} iter-{:03}: {came} {what}, more than 3 times the fair share of {share}\n",
            taken.id, round.number
        )
    }
}

fn tokens(round: &Round, runaway: bool) -> Value {
    let mut value = json!({
        "tokens": round.tokens,
        "output_tokens": round.output,
        "cost_usd": if round.priced { dollars(round.cost) } else { Value::Null },
    });
    if runaway {
        value["runaway"] = true.into();
    }
    value
}

fn minutes(taken: &Taken) -> Option<u64> {
    taken.span("controls.wall").map(|span| span.count().div_ceil(60_000))
}

fn config(taken: &Taken) -> Value {
    let set = |full: &str| Some(taken.setting(full)).filter(|text| !text.is_empty()).map(str::to_owned);
    json!({
        "run_id": taken.id,
        "locked_at": iso(taken.began),
        "agent": taken.agent,
        "oracle": set("oracle.run").or_else(|| set("oracle.checks")),
        "kill_on": set("controls.kill_on"),
        "max_iterations": taken.count("controls.rounds"),
        "token_budget": taken.millions("controls.tokens"),
        "output_token_budget": taken.millions("governor.budget"),
        "time_cap_minutes": minutes(taken),
        "settings": taken.config["settings"],
    })
}

fn reason(taken: &Taken) -> &'static str {
    match taken.stands {
        Stands::Stopped(control) => control.name(),
        Stands::Lost => "lost",
        Stands::Runs => "running",
    }
}

fn budget(taken: &Taken) -> Value {
    let summary = &taken.summary;
    json!({
        "iterations": summary.begun,
        "tokens": summary.tokens.count(),
        "output_tokens": summary.output.count(),
        "cost_usd": dollars(summary.cost),
        "duration_ms": summary.at.millis(),
        "exit_reason": reason(taken),
    })
}

fn history(taken: &Taken) -> Value {
    let mut line = budget(taken);
    line["run_id"] = taken.id.clone().into();
    line["ended_at"] = iso(taken.unix(taken.summary.at.millis())).into();
    line["agent"] = taken.agent.clone().into();
    line
}
