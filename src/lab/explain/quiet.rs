//! The loop without noise: every turn as large and as long as the mean. Whether it rests, or goes round for ever.
//!
//! Any law can be asked, as it is run and not worked out. A window of W whole rounds makes the original go round with
//! period 2W even where a rung lies exactly on the target: turns of rungs that were left long ago still weigh.

use serde::Serialize;

use crate::engine::{BandError, Over};
use crate::lab::fixed::ufloat;
use crate::lab::grid::Cell;
use crate::lab::runlog::RunLog;
use crate::lab::scenario::Scenario;
use crate::lab::sweep::{Governed, Scratch, Tables};
use crate::sim::{AgentModel, AgentSpec, Drift, Faults, RungModel, Size, Span, TurnModel};

/// Rounds that are run.
const ROUNDS: u32 = 600;
/// The last of them, in which a period is looked for.
const TAIL: usize = 300;

/// What comes of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Quiet {
    /// After so many rounds the path repeats; 1 where it rests, 0 where it does not repeat within 150 rounds.
    pub period: usize,
    /// The first round, from 0, of what repeats.
    pub since: usize,
    /// The hardest rung of what repeats, by its place.
    pub hardest: usize,
    /// The softest.
    pub softest: usize,
    /// The share of its rounds on right rungs.
    pub right: f64,
}

/// Runs each of these settings on it, laid down once.
pub(in crate::lab) fn quiets(scenario: &Scenario, cells: &[Cell], right: &[bool]) -> Result<Vec<Quiet>, BandError> {
    // a scenario that was sound is sound without its scatter
    let Some(model) = silenced(scenario.agent.spec()).and_then(|spec| AgentModel::new(spec).ok()) else {
        return Ok(vec![]);
    };
    let (mut tables, mut scratch, mut log) = (Tables::default(), Scratch::default(), RunLog::default());
    tables.fill(&mut model.luck(0, 0, ROUNDS), model.rungs(), true);
    let (start, tuning) = (scenario.plan.start, &scenario.governor.tuning);
    let one = |cell: &Cell| {
        let band = tuning.band(cell.juice, cell.slack)?;
        let over = Over::new(cell.over);
        let governed = Governed { band: &band, seen: &band, over, rest: cell.rest, budget: None, start };
        tables.govern(&governed, cell.law.tuned(tuning), &mut scratch, &mut log);
        Ok(judged(&log.rung, right))
    };
    cells.iter().map(one).collect()
}

/// What a path comes to.
fn judged(path: &[u8], right: &[bool]) -> Quiet {
    let from = path.len().saturating_sub(TAIL);
    let tail = &path[from..];
    let repeats = |period: &usize| tail.iter().zip(&tail[*period..]).all(|(one, later)| one == later);
    let period = (1..=tail.len() / 2).find(repeats).unwrap_or(0);
    let since = match period {
        0 => from,
        period => (0..from).rev().find(|&at| path[at] != path[at + period]).map_or(0, |at| at + 1),
    };
    let whole = if period == 0 { tail } else { &tail[..period] };
    let rung = |rung: Option<&u8>| usize::from(rung.copied().unwrap_or(0));
    let hits = whole.iter().filter(|&&at| right.get(usize::from(at)).copied().unwrap_or(false)).count();
    Quiet {
        period,
        since,
        hardest: rung(whole.iter().min()),
        softest: rung(whole.iter().max()),
        right: ufloat(hits as u64) / ufloat(whole.len().max(1) as u64),
    }
}

/// The agent with all scatter, drift and faults taken out; trend and accounting stay.
pub(in crate::lab) fn silenced(spec: &AgentSpec) -> Option<AgentSpec> {
    let outliers = spec.turn.outliers.map_or(1.0, |outliers| 1.0 + outliers.share * (outliers.factor - 1.0));
    let rung = |rung: &RungModel| {
        let size = Size::lognormal(rung.size.mean() * outliers, 0.0).ok()?;
        Some(RungModel { size, shift: None, ..rung.clone() })
    };
    let mut quiet = AgentSpec { rungs: spec.rungs.iter().map(rung).collect::<Option<_>>()?, ..spec.clone() };
    quiet.turn = TurnModel::default();
    (quiet.session.tau, quiet.session.rho, quiet.turns.cv) = (0.0, 0.0, 0.0);
    let still = |span: Span| Span { cv: 0.0, ..span };
    (quiet.time.overhead, quiet.time.tool) = (still(quiet.time.overhead), still(quiet.time.tool));
    (quiet.drift, quiet.faults) = (Drift::default(), Faults::default());
    Some(quiet)
}
