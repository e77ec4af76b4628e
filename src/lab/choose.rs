//! Which cell to recommend for one target: a loss per run, paired differences, and a rule that prefers the simple.
//!
//! Every cell meets the same luck, so losses are compared run by run. Of the cells that cannot be told from the best, the
//! simplest law is taken, then the shortest window, then the largest slack inside the legal interval. Everything that
//! the choice rests on comes back with it, and a sentence that says why. It does not sweep and does not weigh scenarios
//! against each other. Source: the control study, `recommend`, steps 3 and 4. The weights are a judgement; show how the
//! choice changes when they are halved and doubled. Losses are in millionths.

use core::cmp::Ordering;
use core::fmt::Write as _;

use thiserror::Error;

use super::fixed::{ONE, whole};
use super::metric::{Metric, RunScore};
use super::stats::{Estimate, Interval, Moments, paired};
use super::tally::CellTally;
use crate::engine::{Millis, Ratio, Target};

/// Laws from the simplest on. A law that is not named here counts as less simple than all that are.
pub const SIMPLEST_FIRST: [&str; 12] = [
    "fixed",
    "reference",
    "reset",
    "confirm",
    "integral",
    "cusum",
    "evidence",
    "stride",
    "stride3",
    "model",
    "hybrid",
    "dither",
];

/// Laws that are yardsticks: chosen only where nothing else was compared.
pub const YARDSTICKS: [&str; 2] = ["fixed", "oracle"];

/// The largest share of runs that may not settle, and of rounds in which a law may be pinned at an end.
pub const TOLERATED: f64 = 0.05;

/// What the parts of the loss weigh, in millionths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Weights {
    /// On `excess_log`, nats.
    pub excess: i64,
    /// On the size of the bias past `bias_free`.
    pub bias: i64,
    /// Bias that costs nothing.
    pub bias_free: i64,
    /// On reversals per round, in the share of rounds in which some rung is in band.
    pub reversals: i64,
    /// On the share of the scale spent before settling.
    pub settle: i64,
}

impl Default for Weights {
    /// The study's: 1, .5 past .05, .2, 1.
    fn default() -> Self {
        Self { excess: ONE, bias: 500_000, bias_free: 50_000, reversals: 200_000, settle: ONE }
    }
}

/// The tokens by which tokens to settle are measured: the budget, or where a run has none (or a budget of zero, which
/// is no limit) what the whole run would take at the target, rounds x mean turns of a round x J. At least 1.
///
/// ```
/// use flyball::{engine::Target, lab::choose::settle_scale};
/// assert_eq!(settle_scale(None, 200, 20.0, Target::from_tokens(2048)), 8_192_000);
/// assert_eq!(settle_scale(Some(10_000_000), 200, 20.0, Target::from_tokens(2048)), 10_000_000);
/// ```
#[must_use]
pub fn settle_scale(budget: Option<u64>, rounds: u32, mean_turns: f64, target: Target) -> u64 {
    let at_target = || {
        let tokens = f64::from(rounds) * mean_turns * super::fixed::ufloat(target.micros()) / 1e6;
        whole(tokens).unsigned_abs()
    };
    budget.filter(|&tokens| tokens > 0).unwrap_or_else(at_target).max(1)
}

/// What the loss of one run is made of, in millionths, before it is weighed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Parts {
    /// `excess_log`, nats.
    pub excess: i64,
    /// The size of the bias past what is free.
    pub bias: i64,
    /// Reversals per round, in the share of rounds in which some rung is in band.
    pub reversals: i64,
    /// The share of the scale that was spent before settling; all of it where the run did not settle.
    pub settle: i64,
}

impl Parts {
    /// The parts of a run.
    #[must_use]
    pub fn of(score: &RunScore, bias_free: i64, scale: u64) -> Self {
        let of = |metric| score.micros(metric).unwrap_or(0);
        let settle = match score.micros(Metric::SettleTokens).filter(|_| score.settling.settled.is_some()) {
            Some(tokens) => {
                let share = i128::from(tokens) / i128::from(scale.max(1));
                i64::try_from(share).unwrap_or(ONE).min(ONE)
            }
            None => ONE,
        };
        Self {
            excess: of(Metric::ExcessLog),
            bias: of(Metric::Bias).saturating_abs().saturating_sub(bias_free).max(0),
            reversals: product(of(Metric::Reversals), of(Metric::Feasible)) / 100,
            settle,
        }
    }

    /// The loss that they come to.
    #[must_use]
    pub fn weighed(&self, weights: &Weights) -> i64 {
        let parts = [
            (weights.excess, self.excess),
            (weights.bias, self.bias),
            (weights.reversals, self.reversals),
            (weights.settle, self.settle),
        ];
        parts.iter().fold(0, |sum: i64, &(weight, part)| sum.saturating_add(product(weight, part)))
    }
}

/// The loss of one run, in millionths: `excess_log` + .5 max(0, |bias| - .05) + .2 reversals per round x share of
/// feasible rounds + min(tokens to settle, scale) / scale. A run that did not settle is charged the whole scale,
/// whatever it spent, so that resting on a cheap wrong rung is no bargain. A part that does not apply adds nothing.
#[must_use]
pub fn loss(score: &RunScore, weights: &Weights, scale: u64) -> i64 {
    Parts::of(score, weights.bias_free, scale).weighed(weights)
}

/// The product of two numbers in millionths, rounded down, held at the end.
fn product(left: i64, right: i64) -> i64 {
    let exact = (i128::from(left) * i128::from(right)).div_euclid(i128::from(ONE));
    i64::try_from(exact).unwrap_or(i64::MAX)
}

/// One cell that may be chosen.
#[derive(Clone, Copy, Debug)]
pub struct Candidate<'a> {
    /// The law's stable name.
    pub law: &'a str,
    /// Its window, or nothing for a law without one, which counts as the shortest.
    pub over: Option<Millis>,
    /// Its slack, or nothing for a law without one, which comes after the laws with one.
    pub slack: Option<Ratio>,
    /// What its runs add up to.
    pub tally: &'a CellTally,
    /// [`loss`] of its runs, in the same order of runs for every candidate.
    pub losses: &'a [i64],
}

/// What all candidates share.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// The legal slacks of the ladder around the target ([`super::theory::legal_slack`]), if it has any.
    pub legal: Option<Interval>,
    /// Whether the target lies on or between the rungs' means. If not, resting at an end is right, and neither
    /// settling nor being pinned is held against a cell.
    pub reachable: bool,
    /// Confidence of all intervals; that of the comparisons holds for all of them together (Bonferroni).
    pub confidence: f64,
}

/// Why the limits on runs that do not settle and on pinned rounds were let go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relaxed {
    /// The target lies off the ladder.
    Unreachable,
    /// No cell keeps them.
    NoneKeeps,
}

/// The choice and what it rests on. Indices are into the candidates.
#[derive(Clone, Debug, PartialEq)]
pub struct Choice {
    /// The chosen cell.
    pub chosen: usize,
    /// The cell with the least mean loss of those compared; often another one.
    pub best: usize,
    /// Next by the same rule; the next by mean loss where no other cell is as good. Nothing where there is no other.
    pub runner_up: Option<usize>,
    /// Mean loss of the chosen cell.
    pub loss: Estimate,
    /// Loss of the runner-up less that of the chosen cell, paired.
    pub difference: Option<Estimate>,
    /// Cells compared: those that keep the limits.
    pub compared: usize,
    /// Of those, the cells that cannot be told from the best, itself included.
    pub as_good: usize,
    /// Whether and why limits were let go.
    pub relaxed: Option<Relaxed>,
    /// Why, in a sentence.
    pub why: String,
}

/// Why there is no choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum ChooseError {
    /// No candidate.
    #[error("there is no cell to choose from")]
    Empty,
    /// Candidates with unequally many runs, or none.
    #[error("cells are compared run by run: each needs as many losses, and at least one")]
    Unpaired,
    /// A confidence that is not between 0 and 1.
    #[error("the confidence must lie between 0 and 1")]
    Confidence,
}

/// Choose.
///
/// # Errors
/// See [`ChooseError`].
pub fn choose(candidates: &[Candidate<'_>], setting: &Setting) -> Result<Choice, ChooseError> {
    let runs = candidates.first().ok_or(ChooseError::Empty)?.losses.len();
    if runs == 0 || candidates.iter().any(|cell| cell.losses.len() != runs) {
        return Err(ChooseError::Unpaired);
    }
    if !(0.0 < setting.confidence && setting.confidence < 1.0) {
        return Err(ChooseError::Confidence);
    }
    let (mut order, relaxed) = eligible(candidates, setting.reachable);
    let sum = |index: usize| candidates[index].losses.iter().map(|&loss| i128::from(loss)).sum::<i128>();
    let simple = |a: &usize, b: &usize| simpler(&candidates[*a], &candidates[*b], setting.legal);
    order.sort_by(|a, b| sum(*a).cmp(&sum(*b)).then_with(|| simple(a, b)).then(a.cmp(b)));
    let compared = order.len();
    let best = *order.first().ok_or(ChooseError::Empty)?;
    let comparisons = u32::try_from(compared.saturating_sub(1).max(1)).unwrap_or(u32::MAX);
    let confidence = 1.0 - (1.0 - setting.confidence) / f64::from(comparisons);
    let as_good = |&index: &usize| {
        let difference = paired(candidates[index].losses, candidates[best].losses, confidence);
        // one run tells nothing apart
        difference.and_then(|difference| difference.interval).is_none_or(|interval| interval.covers(0.0))
    };
    let mut equals: Vec<_> = order.iter().copied().filter(as_good).collect();
    equals.sort_by(simple);
    let chosen = equals.first().copied().unwrap_or(best);
    let runner_up = equals.get(1).or_else(|| order.iter().find(|&&index| index != chosen)).copied();
    let mut moments = Moments::default();
    candidates[chosen].losses.iter().for_each(|&loss| moments.add(loss));
    let mut choice = Choice {
        chosen,
        best,
        runner_up,
        loss: moments.estimate(setting.confidence).ok_or(ChooseError::Unpaired)?,
        difference: runner_up
            .and_then(|other| paired(candidates[other].losses, candidates[chosen].losses, setting.confidence)),
        compared,
        as_good: equals.len(),
        relaxed,
        why: String::new(),
    };
    choice.why = why(&choice, candidates, setting);
    Ok(choice)
}

/// The cells to compare: no yardsticks unless alone, and those that keep the limits unless none does.
fn eligible(candidates: &[Candidate<'_>], reachable: bool) -> (Vec<usize>, Option<Relaxed>) {
    let mut real: Vec<_> = (0..candidates.len()).filter(|&i| !YARDSTICKS.contains(&candidates[i].law)).collect();
    if real.is_empty() {
        real = (0..candidates.len()).collect();
    }
    if !reachable {
        return (real, Some(Relaxed::Unreachable));
    }
    let kept: Vec<_> = real.iter().copied().filter(|&index| keeps_limits(candidates[index].tally)).collect();
    if kept.is_empty() { (real, Some(Relaxed::NoneKeeps)) } else { (kept, None) }
}

fn keeps_limits(tally: &CellTally) -> bool {
    // pinned is per 100 rounds
    let pinned = tally.moments(Metric::Pinned).mean().unwrap_or(0.0) / 100.0;
    tally.censored().unwrap_or(1.0) <= TOLERATED && pinned <= TOLERATED
}

/// The rule among cells that are as good: simplest law, shortest window, largest slack inside the legal interval.
/// Slacks outside come after, the nearest to it first.
fn simpler(a: &Candidate<'_>, b: &Candidate<'_>, legal: Option<Interval>) -> Ordering {
    let rank = |cell: &Candidate<'_>| {
        let known = SIMPLEST_FIRST.iter().position(|&law| law == cell.law);
        (known.unwrap_or(SIMPLEST_FIRST.len()), cell.over.map_or(0, Millis::count))
    };
    let slack = |cell: &Candidate<'_>| {
        let Some(ppm) = cell.slack.map(Ratio::ppm) else { return (f64::INFINITY, 0.0) };
        let slack = f64::from(ppm) / 1e6;
        let outside = legal.map_or(0.0, |legal| (legal.lo - slack).max(slack - legal.hi).max(0.0));
        (outside, -slack)
    };
    let ((out_a, slack_a), (out_b, slack_b)) = (slack(a), slack(b));
    rank(a).cmp(&rank(b)).then(out_a.total_cmp(&out_b)).then(slack_a.total_cmp(&slack_b))
}

fn name(cell: &Candidate<'_>) -> String {
    let mut name = cell.law.to_owned();
    if let Some(over) = cell.over {
        let _ = write!(name, " over {} s", over.count() / 1000);
    }
    if let Some(slack) = cell.slack {
        let _ = write!(name, " slack {}.{:02} %", slack.ppm() / 10_000, slack.ppm() % 10_000 / 100);
    }
    name
}

/// Why a cell had nothing to be compared with.
fn alone(chosen: &str, cells: usize, relaxed: Option<Relaxed>) -> String {
    let others = match (cells, relaxed) {
        (1, _) => return format!("{chosen} is the only cell that was tried"),
        (_, None) => {
            "each of the others settles in fewer than 95 % of its runs, stands at an end of the ladder in more than 5 % of its rounds, \
             or is fixed, which is only there to compare with"
        }
        (_, Some(Relaxed::Unreachable | Relaxed::NoneKeeps)) => {
            "the others are fixed, which is only there to compare with"
        }
    };
    format!("{chosen} is the only one of {cells} cells that may be chosen: {others}")
}

fn why(choice: &Choice, candidates: &[Candidate<'_>], setting: &Setting) -> String {
    let (chosen, best) = (name(&candidates[choice.chosen]), name(&candidates[choice.best]));
    let mut text = if choice.compared == 1 {
        alone(&chosen, candidates.len(), choice.relaxed)
    } else if choice.as_good == 1 {
        format!("{chosen} has the least loss of {} cells, and no other is as good", choice.compared)
    } else if choice.chosen == choice.best {
        format!(
            "{chosen} has the least loss of {} cells and comes first of the {} that cannot be told apart, by simplest law, \
             shortest window, largest legal slack",
            choice.compared, choice.as_good
        )
    } else {
        format!(
            "{chosen} is the simplest of {} cells that cannot be told from the best of {}, {best}, by simplest law, shortest \
             window, largest legal slack",
            choice.as_good, choice.compared
        )
    };
    if choice.compared > 1 {
        let _ = write!(text, " ({} % confidence over all comparisons, paired runs)", setting.confidence * 100.0);
    }
    text.push_str(match choice.relaxed {
        None => ".",
        Some(Relaxed::Unreachable) => "; the target lies off the ladder, so that resting at its end was not held against a cell.",
        Some(Relaxed::NoneKeeps) => {
            "; no cell settles in 95 % of its runs and stays off the ends of the ladder in 95 % of its rounds, so that these \
             limits were let go."
        }
    });
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lab::metric::Settling;
    use proptest::prelude::*;

    fn settled(tokens: i64) -> RunScore {
        let mut score = RunScore::empty();
        score.settling = Settling { settled: Some(3), at_risk: 191 };
        score.set(Metric::SettleTokens, tokens * ONE);
        score.set(Metric::Feasible, ONE);
        score
    }

    #[test]
    fn the_loss_is_the_sum_of_its_parts() {
        let weights = Weights::default();
        let mut score = settled(250_000);
        assert_eq!(loss(&score, &weights, 1_000_000), 250_000);
        score.set(Metric::ExcessLog, 100_000);
        assert_eq!(loss(&score, &weights, 1_000_000), 350_000);
        score.set(Metric::Bias, -150_000);
        assert_eq!(loss(&score, &weights, 1_000_000), 400_000);
        score.set(Metric::Reversals, 50 * ONE);
        assert_eq!(loss(&score, &weights, 1_000_000), 500_000);
        score.set(Metric::Feasible, ONE / 2);
        assert_eq!(loss(&score, &weights, 1_000_000), 450_000);
        score.set(Metric::Bias, 40_000);
        assert_eq!(loss(&score, &weights, 1_000_000), 400_000);
    }

    #[test]
    fn what_does_not_settle_is_charged_everything() {
        let weights = Weights::default();
        assert_eq!(loss(&settled(3_000_000), &weights, 1_000_000), ONE);
        let mut stuck = settled(10);
        stuck.settling.settled = None;
        assert_eq!(loss(&stuck, &weights, 1_000_000), ONE);
        assert_eq!(loss(&RunScore::empty(), &weights, 0), ONE);
        assert_eq!(settle_scale(Some(0), 10, 2.0, Target::from_tokens(5)), 100);
        assert_eq!(settle_scale(None, 0, f64::NAN, Target::from_tokens(5)), 1);
    }

    fn tally(settles: bool, pinned: i64) -> CellTally {
        let mut tally = CellTally::default();
        let mut score = settled(1);
        score.settling.settled = settles.then_some(0);
        score.set(Metric::Pinned, pinned);
        tally.add(&score);
        tally
    }

    const SETTING: Setting =
        Setting { legal: Some(Interval { lo: 0.23, hi: 0.375 }), reachable: true, confidence: 0.95 };

    struct Cell(&'static str, u64, u32, [i64; 4]);

    fn picked(cells: &[Cell], setting: &Setting, tallies: &[CellTally]) -> Choice {
        let candidates: Vec<_> = cells
            .iter()
            .zip(tallies.iter().cycle())
            .map(|(Cell(law, over, slack, losses), tally)| Candidate {
                law,
                over: Some(Millis::from_secs(*over)),
                slack: Some(Ratio::from_ppm(*slack)),
                tally,
                losses,
            })
            .collect();
        choose(&candidates, setting).unwrap()
    }

    const GOOD: [i64; 4] = [100, 200, 300, 400];
    const NEAR: [i64; 4] = [110, 195, 310, 395];
    const WORSE: [i64; 4] = [1101, 1200, 1300, 1400];

    #[test]
    fn among_equals_law_then_window_then_legal_slack() {
        let fine = [tally(true, 0)];
        let pick = |cells: &[Cell]| picked(cells, &SETTING, &fine).chosen;
        let law = [Cell("evidence", 60, 250_000, GOOD), Cell("reset", 3600, 250_000, NEAR)];
        assert_eq!(pick(&law), 1);
        let window = [Cell("reset", 3600, 300_000, GOOD), Cell("reset", 600, 250_000, NEAR)];
        assert_eq!(pick(&window), 1);
        let slack = [
            Cell("reset", 600, 250_000, GOOD),
            Cell("reset", 600, 400_000, NEAR),
            Cell("reset", 600, 370_000, NEAR),
            Cell("reset", 600, 150_000, NEAR),
        ];
        assert_eq!(pick(&slack), 2);
        let unknown = [Cell("of one's own", 1, 250_000, GOOD), Cell("dither", 3600, 250_000, NEAR)];
        assert_eq!(pick(&unknown), 1);
    }

    #[test]
    fn a_simpler_cell_that_is_worse_is_not_taken() {
        let cells = [Cell("reference", 60, 250_000, WORSE), Cell("evidence", 600, 250_000, GOOD)];
        let choice = picked(&cells, &SETTING, &[tally(true, 0)]);
        assert_eq!((choice.chosen, choice.runner_up, choice.as_good, choice.compared), (1, Some(0), 1, 2));
        let difference = choice.difference.unwrap();
        assert!((difference.mean - 0.001_000_25).abs() < 1e-12 && !difference.interval.unwrap().covers(0.0));
        assert!(
            choice.why.starts_with("evidence over 600 s slack 25.00 % has the least loss of 2 cells"),
            "{}",
            choice.why
        );
        assert!((choice.loss.mean - 250e-6).abs() < 1e-15);
    }

    /// t = 3.43 on 3 degrees of freedom: past 3.18 for one comparison, short of 4.18 for two.
    #[test]
    fn comparing_more_cells_asks_for_more_evidence() {
        let cells = [
            Cell("evidence", 60, 250_000, GOOD),
            Cell("reset", 60, 250_000, [110, 235, 335, 460]),
            Cell("model", 60, 250_000, WORSE),
        ];
        let pick = |cells: &[Cell]| picked(cells, &SETTING, &[tally(true, 0)]);
        assert_eq!((pick(&cells[..2]).chosen, pick(&cells[..2]).as_good), (0, 1));
        let three = pick(&cells);
        assert_eq!((three.chosen, three.best, three.runner_up, three.as_good), (1, 0, Some(0), 2));
        assert!(
            three.why.contains("of 2 cells that cannot be told from the best of 3, evidence over 60 s"),
            "{}",
            three.why
        );
    }

    #[test]
    fn yardsticks_are_chosen_only_alone() {
        let cells = [Cell("fixed", 60, 250_000, GOOD), Cell("oracle", 60, 0, GOOD), Cell("model", 60, 0, WORSE)];
        assert_eq!(picked(&cells, &SETTING, &[tally(true, 0)]).chosen, 2);
        let alone = picked(&cells[..1], &SETTING, &[tally(true, 0)]);
        assert_eq!((alone.chosen, alone.runner_up, alone.difference), (0, None, None));
    }

    #[test]
    fn limits_hold_unless_none_keeps_them_or_the_target_is_off_the_ladder() {
        let cells = [Cell("reset", 60, 250_000, GOOD), Cell("evidence", 60, 250_000, WORSE)];
        let pick = |first, second, reachable| {
            let choice = picked(&cells, &Setting { reachable, ..SETTING }, &[first, second]);
            (choice.chosen, choice.relaxed)
        };
        let fine = || tally(true, 0);
        assert_eq!(pick(tally(false, 0), fine(), true), (1, None));
        assert_eq!(pick(tally(true, 6 * ONE), fine(), true), (1, None));
        assert_eq!(pick(tally(true, 5 * ONE), fine(), true), (0, None));
        assert_eq!(pick(tally(false, 0), tally(true, 9 * ONE), true), (0, Some(Relaxed::NoneKeeps)));
        assert_eq!(pick(tally(false, 90 * ONE), fine(), false), (0, Some(Relaxed::Unreachable)));
        assert!(alone("reset", 1, None).ends_with("the only cell that was tried"));
        assert!(
            alone("reset", 2, None).contains("only one of 2 cells")
                && alone("reset", 2, None).contains("settles in fewer")
        );
        assert!(alone("reset", 2, Some(Relaxed::NoneKeeps)).ends_with("only there to compare with"));
    }

    #[test]
    fn what_cannot_be_compared_is_refused() {
        let (fine, one, two) = (tally(true, 0), [1], [1, 2]);
        let cell = |losses| Candidate { law: "reset", over: None, slack: None, tally: &fine, losses };
        assert_eq!(choose(&[], &SETTING), Err(ChooseError::Empty));
        assert_eq!(choose(&[cell(&one), cell(&two)], &SETTING), Err(ChooseError::Unpaired));
        assert_eq!(choose(&[cell(&[])], &SETTING), Err(ChooseError::Unpaired));
        let sure = Setting { confidence: 1.0, ..SETTING };
        assert_eq!(choose(&[cell(&two)], &sure), Err(ChooseError::Confidence));
        // one run tells nothing apart: the simplest
        let cells = [Candidate { law: "model", ..cell(&one) }, Candidate { losses: &[900], ..cell(&one) }];
        assert_eq!(choose(&cells, &SETTING).unwrap().chosen, 1);
    }

    proptest! {
        #[test]
        fn the_choice_does_not_depend_on_the_order_of_cells(
            losses in prop::collection::vec(prop::array::uniform4(0_i64..1000), 2..7), turn in 0_usize..7
        ) {
            let laws = ["reference", "reset", "evidence", "stride", "model", "cusum", "confirm"];
            let cells: Vec<_> = losses.iter().zip(laws).map(|(&losses, law)| Cell(law, 60, 250_000, losses)).collect();
            let mut turned: Vec<_> = losses.iter().zip(laws).map(|(&losses, law)| Cell(law, 60, 250_000, losses)).collect();
            turned.rotate_left(turn % cells.len());
            let fine = [tally(true, 0)];
            let (one, other) = (picked(&cells, &SETTING, &fine), picked(&turned, &SETTING, &fine));
            prop_assert_eq!(cells[one.chosen].0, turned[other.chosen].0);
            prop_assert_eq!(one.why, other.why);
            // the chosen is never told from the best
            let best = &losses[one.best];
            prop_assert!(losses.iter().all(|other| other.iter().sum::<i64>() >= best.iter().sum::<i64>()));
        }
    }
}
