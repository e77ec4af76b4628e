//! The pi controller's layout: a state of the whole run, and a folder an attempt.
//!
//! `attempt-0000` holds what was checked before the first agent, `attempt-NNNN` the attempt and what was checked after it.

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::Pack;
use super::read::{Round, Taken};
use crate::cli::cmd::runs::Stands;
use crate::engine::Control;
use crate::run::record::CONFIG;

/// Lays a run out.
pub(super) fn lay(taken: &Taken, pack: &mut Pack) {
    pack.json("state.json", &state(taken));
    let before = Round::default();
    if taken.own(&before.file("oracle.json")).is_some() {
        checks(taken, &before, pack);
    }
    for round in &taken.rounds {
        for (from, to) in [
            ("prompt.md", "prompt.md"),
            ("output.md", "output.md"),
            ("stdout.log", "agent.stdout.log"),
            ("diff.patch", "diff.patch"),
        ] {
            pack.copy(taken, &round.file(from), format!("attempt-{:04}/{to}", round.number));
        }
        // an agent that wrote nothing there has no such file
        if taken.own(&round.file("stderr.log")).is_some() {
            pack.copy(taken, &round.file("stderr.log"), format!("attempt-{:04}/agent.stderr.log", round.number));
        }
        checks(taken, round, pack);
    }
}

fn checks(taken: &Taken, round: &Round, pack: &mut Pack) {
    for (from, to) in [("oracle.json", "checks.json"), ("oracle.log", "checks.log")] {
        pack.copy(taken, &round.file(from), format!("attempt-{:04}/{to}", round.number));
    }
}

fn state(taken: &Taken) -> Value {
    let config: Option<String> =
        taken.text(CONFIG).map(|text| Sha256::digest(text).iter().map(|byte| format!("{byte:02x}")).collect());
    let phase = match taken.stands {
        Stands::Runs => "running",
        Stands::Lost => "interrupted",
        Stands::Stopped(Control::OraclePassed) => "complete",
        Stands::Stopped(_) => "stopped",
    };
    let control = match taken.stands {
        Stands::Stopped(control) => Some(control.name()),
        Stands::Runs | Stands::Lost => None,
    };
    json!({
        "version": 1,
        "run": taken.id,
        "config_sha256": config,
        "attempts": taken.summary.begun,
        "max_iterations": taken.count("controls.rounds"),
        "stagnation": stagnation(&taken.rounds),
        "phase": phase,
        "control": control,
        "last_task": last_task(taken),
        "fingerprint": taken.rounds.iter().rev().find_map(|round| round.tree.clone()),
    })
}

/// How many of the last rounds left the project as the one before them did.
fn stagnation(rounds: &[Round]) -> usize {
    let trees: Vec<&str> = rounds.iter().filter_map(|round| round.tree.as_deref()).collect();
    trees.windows(2).rev().take_while(|pair| pair[0] == pair[1]).count()
}

/// The first failing check of the last round in which one failed.
fn last_task(taken: &Taken) -> Option<String> {
    taken.rounds.iter().rev().find_map(|round| {
        let checked: Value = serde_json::from_str(&taken.text(&round.file("oracle.json"))?).ok()?;
        let failing = checked["checks"].as_array()?.iter().find(|check| check["answer"] != "pass")?;
        failing["name"].as_str().map(str::to_owned)
    })
}
