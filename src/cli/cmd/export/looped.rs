//! The layout of a hardened shell loop: a ledger of cost, a result a round as its agent would print it, and lines for people.
//!
//! `spend.log` has a line a round: its number, a tab, US dollars. `logs/iter-N.json` is what a program with a JSON result says at its end: of
//! the ledger, not of the agent's own last line, so that every agent has one.

use serde_json::{Value, json};

use super::Pack;
use super::read::{Round, Taken, decimal, dollars};
use crate::cli::cmd::runs::Stands;
use crate::cli::error::{Failure, Outcome};
use crate::engine::{Control, RoundExit, Tokens};
use crate::run::figures::usd;
use crate::run::history::{RoundOver, progress};

/// Lays a run out.
///
/// # Errors
/// None but faults of this program.
pub(super) fn lay(taken: &Taken, pack: &mut Pack) -> Outcome<()> {
    let mut spend = String::new();
    for round in &taken.rounds {
        spend.push_str(&format!("{}\t{}\n", round.number, decimal(round.cost)));
        let said = result(taken, round);
        let text = serde_json::to_string(&said).map_err(Failure::internal)?;
        pack.text(format!("logs/iter-{}.json", round.number), text + "\n");
        pack.copy(taken, &round.file("oracle.log"), format!("logs/gate-{}.log", round.number));
    }
    pack.text("spend.log", spend);
    pack.text("progress.txt", lines(taken));
    Ok(())
}

fn result(taken: &Taken, round: &Round) -> Value {
    let fine = round.exit == Some(RoundExit::Done);
    json!({
        "type": "result",
        "subtype": if fine { "success" } else { "error_during_execution" },
        "is_error": !fine,
        "result": taken.text(&round.file("output.md")).unwrap_or_default(),
        "session_id": round.session,
        "num_turns": round.turns,
        "duration_ms": round.lasted().count(),
        "total_cost_usd": dollars(round.cost),
        "usage": {
            "input_tokens": round.input,
            "cache_read_input_tokens": round.cache_read,
            "cache_creation_input_tokens": round.cache_write,
            "output_tokens": round.output,
        },
    })
}

/// What happened, in order.
fn lines(taken: &Taken) -> String {
    let mut lines: Vec<(u64, String)> = taken.notes.clone();
    for round in &taken.rounds {
        let over = RoundOver {
            round: round.number,
            effort: &round.effort,
            exit: round.exit.unwrap_or(RoundExit::Cut),
            why: None,
            turns: round.turns,
            output: Tokens::new(round.output),
            lasted: round.lasted(),
            oracle: round.verdict.as_deref(),
            changed: None,
        };
        if round.exit.is_some() || taken.stands != Stands::Runs {
            lines.push((round.ended_ms, over.words()));
        }
    }
    if let Stands::Stopped(control) = taken.stands {
        lines.push((taken.summary.at.millis(), stop(taken, control)));
    }
    lines.sort_by_key(|(at_ms, _)| *at_ms);
    lines.into_iter().map(|(at_ms, text)| progress(taken.unix(at_ms), &text)).collect()
}

fn stop(taken: &Taken, control: Control) -> String {
    let cost = usd(taken.summary.cost);
    format!("stopped by {control} after {} round(s), spend {cost}", taken.summary.begun)
}
