//! Runs a suite: every row anew.

use super::script::scripts;
use super::{Counts, Held, Key, Row, Rows, Suite};
use crate::engine::{Law, LawKind};
use crate::lab::explain::silenced;
use crate::lab::fixed::{ONE, whole};
use crate::lab::grid::Cell;
use crate::lab::metric::Metric;
use crate::lab::scenario::Scenario;
use crate::lab::sweep::SweepError;
use crate::lab::trial::{Ran, Trial, trial};
use crate::sim::AgentModel;

/// Makes the law of a cell. The caller's, so that a law of its own can be put through the gate.
pub type Build<'a> = &'a (dyn Fn(&Cell) -> Box<dyn Law> + Sync);

/// Runs the suite on these scenarios, with luck from `seed`.
///
/// # Errors
/// [`SweepError`].
pub fn run(suite: &Suite, scenarios: &[Scenario], seed: u64, build: Build<'_>) -> Result<Rows, SweepError> {
    let mut rows = Vec::new();
    for scenario in scenarios {
        let cells = cells(suite, scenario);
        let asked = Trial { scenario, cells: &cells, runs: 0..suite.runs, rounds: suite.rounds, seed };
        let counted = trial(&asked, build, &|ran| counts(ran))?;
        push(&mut rows, &scenario.name, &cells, counted.into_iter().map(Held::Runs).collect());
    }
    for scenario in scenarios {
        let cells = cells(suite, scenario);
        // a scenario that was sound is sound without its noise
        let Some(agent) = silenced(scenario.agent.spec()).and_then(|spec| AgentModel::new(spec).ok()) else { continue };
        let still = Scenario { agent, ..scenario.clone() };
        let asked = Trial { scenario: &still, cells: &cells, runs: 0..1, rounds: suite.rounds, seed: 0 };
        let paths = trial(&asked, build, &|ran| path(&ran.log.rung))?;
        let held = paths.into_iter().map(|mut path| Held::Path(path.pop().unwrap_or_default())).collect();
        push(&mut rows, &format!("{} without noise", scenario.name), &cells, held);
    }
    if let Some(scenario) = scenarios.first() {
        let mut named: Vec<(&'static str, Vec<Held>)> = Vec::new();
        let cells = cells(suite, scenario);
        for cell in &cells {
            for (name, text) in scripts(build, cell) {
                match named.iter_mut().find(|(known, _)| *known == name) {
                    Some((_, held)) => held.push(Held::Path(text)),
                    None => named.push((name, vec![Held::Path(text)])),
                }
            }
        }
        named.into_iter().for_each(|(name, held)| push(&mut rows, name, &cells, held));
    }
    Ok(Rows { seed, runs: suite.runs, rounds: suite.rounds, rows })
}

fn cells(suite: &Suite, scenario: &Scenario) -> Vec<Cell> {
    let base = scenario.base();
    let of = |&law: &LawKind| suite.settings.iter().map(move |&(over, slack)| Cell { law, over, slack, ..base });
    suite.laws.iter().flat_map(of).collect()
}

/// Adds the rows of a scenario; those of a law to which the settings make no difference as one.
fn push(rows: &mut Vec<Row>, scenario: &str, cells: &[Cell], held: Vec<Held>) {
    let mut held = held.into_iter();
    for alike in cells.chunk_by(|one, next| one.law == next.law) {
        let of_law: Vec<Held> = held.by_ref().take(alike.len()).collect();
        let one = of_law.len() > 1 && of_law.windows(2).all(|pair| pair[0] == pair[1]);
        for (cell, held) in alike.iter().zip(of_law).take(if one { 1 } else { alike.len() }) {
            let key = Key {
                scenario: scenario.to_owned(),
                law: cell.law,
                over: (!one).then_some(cell.over),
                slack: (!one).then_some(cell.slack),
            };
            rows.push(Row { key, held });
        }
    }
}

fn counts(ran: &Ran<'_>) -> Counts {
    let rounds = ran.log.rounds() as u64;
    // shares and rates of integers, back to the integers
    let of = |metric, per: u64| {
        let micros = ran.score.micros(metric).unwrap_or(0);
        let count =
            i128::from(micros) * i128::from(rounds.max(1)) + i128::from(ONE * i64::try_from(per).unwrap_or(1)) / 2;
        u64::try_from(count / i128::from(ONE) / i128::from(per)).unwrap_or(0)
    };
    let total = |metric| u64::try_from(ran.score.micros(metric).unwrap_or(0) / ONE).unwrap_or(0);
    Counts {
        right: of(Metric::OnRung, 1),
        moves: of(Metric::Moves, 100),
        reversals: of(Metric::Reversals, 100),
        pinned: u64::from(ran.log.pinned),
        settle: whole(ran.score.value(Metric::SettleRounds).unwrap_or(0.0)).unsigned_abs(),
        tokens: total(Metric::Tokens),
    }
}

/// Rungs with their repeats counted: `4 3 2x198`.
fn path(rungs: &[u8]) -> String {
    let stretch = |stretch: &[u8]| match stretch {
        [one] => one.to_string(),
        [first, ..] => format!("{first}x{}", stretch.len()),
        [] => String::new(),
    };
    rungs.chunk_by(|one, next| one == next).map(stretch).collect::<Vec<_>>().join(" ")
}
