//! A pilot: the shortest schedule of rounds that measures every rung of a ladder to a wanted precision, and its cost.
//!
//! The precision is the half width of the 95 % interval of a rung's mean, as a share of that mean. The mean is that over
//! all turns of the rung's rounds, whose variance, beside the square of the mean, is
//!
//! ```text
//! ( between (1 + c^2) S  +  within / n  D ) / R
//! between = exp(tau^2) - 1                   sessions differ
//! within  = exp(tau^2) var / mean^2          turns of a session differ
//! D = 1 + 2 sum_k (1 - k/n) cov_k / var      turns lean on the turn before; (1 + rho) / (1 - rho) for an AR(1) and long rounds
//! S = (1 + q) / (1 - q), q = rho_session ^ rungs      sessions lean on the session before, a rung's own being so far apart
//! ```
//!
//! for *R* rounds of *n* turns on average with coefficient of variation *c* (empty rounds counted); the interval is
//! Student's over rounds. A design effect in the sense of Kish (Survey Sampling, 1965). Drift is not in it: the schedule is
//! in blocks, each with a round of every rung in an order drawn by the seed (randomised complete blocks, Fisher 1935),
//! so that drift falls on all rungs alike. Where a rung stands where a prior puts it, so does its plan: the run will tell.
//!
//! It runs nothing. Units: tokens, seconds, shares of a mean.

use super::fit::calls::SESSION_FLOOR;
use super::fit::ladder::{CHAIN, WORTH, is_backwards};
use super::fit::{CALLS_FLOOR, TAU_ELSEWHERE, TURNS_CV_ELSEWHERE};
use super::fixed::ufloat;
use super::scenario::{Evidence, Scenario, ScenarioError};
use super::stats::{CONFIDENCE, student};
use crate::sim::{AgentModel, Channel, Noise};

/// The fewest rounds of a rung: fewer tell nothing of how sessions differ.
pub const ROUNDS_FLOOR: u32 = 3;
/// The most rounds of a rung that are thought about.
pub const MOST_ROUNDS: u32 = 100_000;
/// Rounds from which the number of turns is told.
const LOOKED_AT: u32 = 4096;
/// Keeps the order of the schedule apart from the luck of the agent.
const ORDER: u64 = 0x4f72_6465_7269_6e67;

/// What a rung takes.
#[derive(Clone, Debug, PartialEq)]
pub struct RungPlan {
    /// The effort.
    pub effort: String,
    /// Whether the agent's rung stands where a prior puts it.
    pub assumed: bool,
    /// Expected mean, tokens per turn.
    pub mean: f64,
    /// Coefficient of variation of turns within a session.
    pub cv: f64,
    /// Mean turns of a round.
    pub turns: f64,
    /// What one turn is worth less for leaning on the one before, and sessions for differing: the variance of the mean
    /// beside that of as many independent turns.
    pub design_effect: f64,
    /// Rounds.
    pub rounds: u32,
    /// Expected half width of the 95 % interval, a share of the mean.
    pub half_width: f64,
    /// Expected output of all its rounds, tokens.
    pub tokens: f64,
    /// Expected time of all its rounds, seconds, rests included.
    pub seconds: f64,
}

/// A schedule.
#[derive(Clone, Debug, PartialEq)]
pub struct Pilot {
    /// The rungs, hardest first.
    pub rungs: Vec<RungPlan>,
    /// The rung of each round in order, in blocks.
    pub blocks: Vec<Vec<usize>>,
    /// The precision asked for.
    pub precision: f64,
    /// What the order came from.
    pub seed: u64,
}

impl Pilot {
    /// Rounds in all.
    #[must_use]
    pub fn rounds(&self) -> usize {
        self.blocks.iter().map(Vec::len).sum()
    }

    /// Expected output, tokens.
    #[must_use]
    pub fn tokens(&self) -> f64 {
        self.rungs.iter().map(|rung| rung.tokens).sum()
    }

    /// Expected time, seconds.
    #[must_use]
    pub fn seconds(&self) -> f64 {
        self.rungs.iter().map(|rung| rung.seconds).sum()
    }
}

/// Why there is no schedule.
#[derive(Debug, thiserror::Error)]
pub enum PilotError {
    /// A precision that is none.
    #[error("a precision is a share of the mean above 0 and below 1, not {0}")]
    Precision(f64),
    /// More rounds than anyone will run.
    #[error("{effort} would take more than {MOST_ROUNDS} rounds: ask for less precision")]
    Endless {
        /// The effort.
        effort: String,
    },
    /// Rounds of this rung have no turns.
    #[error("rounds at {effort} have no turns in this scenario")]
    Empty {
        /// The effort.
        effort: String,
    },
    /// One effort alone.
    #[error("a pilot measures how efforts differ, and there is one: {effort}")]
    OneRung {
        /// The effort.
        effort: String,
    },
    /// A ladder that stands softest first.
    #[error("a ladder stands hardest first: {}", efforts.iter().rev().map(String::as_str).collect::<Vec<_>>().join(", "))]
    Backwards {
        /// The efforts asked for.
        efforts: Vec<String>,
    },
    /// An effort that the prior does not know.
    #[error("no prior knows {effort:?}; it knows {}", CHAIN.join(", "))]
    Unknown {
        /// The effort.
        effort: String,
    },
    /// The prior makes no scenario.
    #[error("these efforts make no ladder")]
    Scenario(#[from] ScenarioError),
}

/// Plans a pilot of the scenario's ladder.
///
/// # Errors
/// [`PilotError`].
pub fn plan(scenario: &Scenario, precision: f64, seed: u64) -> Result<Pilot, PilotError> {
    if !(precision > 0.0 && precision < 1.0) {
        return Err(PilotError::Precision(precision));
    }
    let efforts = scenario.ladder.efforts();
    if let [only] = efforts {
        return Err(PilotError::OneRung { effort: only.word().to_owned() });
    }
    let mut rungs = Vec::new();
    for (rung, effort) in efforts.iter().enumerate() {
        rungs.push(rung_plan(scenario, rung, effort.word(), precision)?);
    }
    let blocks = schedule(&rungs, seed);
    Ok(Pilot { rungs, blocks, precision, seed })
}

fn rung_plan(scenario: &Scenario, rung: usize, effort: &str, precision: f64) -> Result<RungPlan, PilotError> {
    let spec = scenario.agent.spec();
    let (turns, turns_cv) = turn_counts(&scenario.agent, rung);
    if turns <= 0.0 {
        return Err(PilotError::Empty { effort: effort.to_owned() });
    }
    let size = Sizes::of(&scenario.agent, rung, turns);
    let tau = spec.session.tau * spec.session.tau;
    let lean = libm::pow(spec.session.rho, ufloat(scenario.agent.rungs() as u64));
    let between = libm::expm1(tau) * (1.0 + turns_cv * turns_cv) * (1.0 + lean) / (1.0 - lean);
    let within = libm::exp(tau) * size.cv * size.cv / turns;
    let one = between + within * size.lean;
    let half = |rounds: u32| {
        student(u64::from(rounds), CONFIDENCE).map_or(f64::INFINITY, |t| t * (one / f64::from(rounds)).sqrt())
    };
    let enough = |rounds: u32| half(rounds) <= precision && f64::from(rounds) * turns >= ufloat(CALLS_FLOOR);
    let rounds = least(enough).ok_or_else(|| PilotError::Endless { effort: effort.to_owned() })?;
    let seconds = (spec.time.overhead.mean + spec.time.tool.mean) * spec.rungs[rung].seconds_factor
        + size.mean / spec.time.tokens_per_second;
    let rest = ufloat(scenario.governor.rest.count()) / 1000.0;
    let all = f64::from(rounds);
    Ok(RungPlan {
        effort: effort.to_owned(),
        assumed: matches!(scenario.evidence.get(rung), Some(Evidence::Assumed { .. })),
        mean: size.mean,
        cv: size.cv,
        turns,
        design_effect: one / (size.cv * size.cv / turns).max(f64::MIN_POSITIVE),
        rounds,
        half_width: half(rounds),
        tokens: all * turns * size.mean,
        seconds: all * (turns * seconds + rest),
    })
}

/// The least count from the floor on for which a condition holds that once true stays true.
fn least(holds: impl Fn(u32) -> bool) -> Option<u32> {
    if holds(ROUNDS_FLOOR) {
        return Some(ROUNDS_FLOOR);
    }
    let (mut low, mut high) = (ROUNDS_FLOOR, MOST_ROUNDS);
    if !holds(high) {
        return None;
    }
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if holds(middle) {
            high = middle;
        } else {
            low = middle;
        }
    }
    Some(high)
}

/// Mean and coefficient of variation of the turns of a round.
fn turn_counts(agent: &AgentModel, rung: usize) -> (f64, f64) {
    let luck = agent.luck(1, 0, LOOKED_AT);
    let counts: Vec<f64> = (0..LOOKED_AT).map(|round| f64::from(luck.turns(rung, round))).collect();
    (super::fit::numeric::mean(&counts), super::fit::numeric::variation(&counts))
}

/// The sizes of a rung's turns within a session.
struct Sizes {
    mean: f64,
    cv: f64,
    /// The variance of a round's mean beside that of independent turns.
    lean: f64,
}

impl Sizes {
    fn of(agent: &AgentModel, rung: usize, turns: f64) -> Self {
        let spec = agent.spec();
        let size = &spec.rungs[rung].size;
        let (once, twice) = spec.turn.outliers.map_or((1.0, 1.0), |outliers| {
            let more = |factor: f64| 1.0 + outliers.share * (factor - 1.0);
            (more(outliers.factor), more(outliers.factor * outliers.factor))
        });
        let plain = size.mean();
        let (mean, variance) = (plain * once, (size.variance() + plain * plain) * twice - plain * plain * once * once);
        let (mut lean, mut lag, mut correlation, mut kinds) = (1.0, 1.0, spec.turn.rho, spec.turn.kind_rho);
        while lag < turns && correlation.abs().max(kinds.abs()) > 1e-6 && variance > 0.0 {
            lean += 2.0 * (1.0 - lag / turns) * size.covariance(correlation, kinds) * once * once / variance;
            lag += 1.0;
            correlation *= spec.turn.rho;
            kinds *= spec.turn.kind_rho;
        }
        Self { mean, cv: variance.max(0.0).sqrt() / mean, lean: lean.max(0.0) }
    }
}

/// As many blocks as the rung with the most rounds has; rungs with fewer are spread over them evenly, and each block is
/// shuffled.
fn schedule(rungs: &[RungPlan], seed: u64) -> Vec<Vec<usize>> {
    let blocks = rungs.iter().map(|rung| rung.rounds).max().unwrap_or(0);
    let all = u64::from(blocks.max(1));
    // half a block ahead, so that the few rounds of a rung lie around the middle
    let share = |rung: &RungPlan, block: u32| (2 * u64::from(block) * u64::from(rung.rounds) + all) / (2 * all);
    let noise = Noise::new(seed ^ ORDER, 0);
    let block = |block: u32| {
        let due = rungs.iter().enumerate().filter(|(_, rung)| share(rung, block + 1) > share(rung, block));
        let key = |rung: usize| noise.uniform(Channel::Ladder, block, u32::try_from(rung).unwrap_or(u32::MAX));
        let mut order: Vec<usize> = due.map(|(rung, _)| rung).collect();
        order.sort_by(|a, b| key(*a).total_cmp(&key(*b)));
        order
    };
    (0..blocks).map(block).collect()
}

/// A scenario of what public logs of agents show, for efforts that nobody has measured: hardest first, by the words of the
/// prior.
///
/// # Errors
/// [`PilotError::Unknown`]; [`PilotError::Scenario`] for efforts that make no ladder.
pub fn prior(efforts: &[String]) -> Result<Scenario, PilotError> {
    use core::fmt::Write as _;
    let middle = |step: &(f64, f64)| 0.5 * (step.0 + step.1);
    let mut text = String::from("format = 1\nname = \"prior\"\nabout = \"What public logs of agents show.\"\n");
    let first = efforts.first().map_or("", String::as_str);
    let unknown = |effort: &str| PilotError::Unknown { effort: effort.to_owned() };
    if !CHAIN.contains(&first) {
        return Err(unknown(first));
    }
    if is_backwards(efforts) {
        return Err(PilotError::Backwards { efforts: efforts.to_vec() });
    }
    // writing to a string does not fail
    let _ = write!(
        text,
        "[governor]\nlaw = \"reference\"\njuice = 600\nover = \"300s\"\nslack = 0.15\nrest = \"5s\"\nbudget = 0\n\
         [plan]\nstart = \"{first}\"\nrounds = 200\nruns = 1000\nseed = 1\n[turn]\nrho = 0.25\n[session]\ntau = {TAU_ELSEWHERE:?}\n\
         [turns]\nmean = 50\ncv = {TURNS_CV_ELSEWHERE:?}\nmin = {SESSION_FLOOR}\n\
         [time]\noverhead = {{ mean = 3, cv = 0.9 }}\ntool = {{ mean = 6, cv = 2.2 }}\ntokens_per_second = 80\n\
         [prior.public-logs]\nsource = \"{SOURCE}\"\n"
    );
    for effort in efforts {
        let place = CHAIN.iter().position(|word| word == effort).ok_or_else(|| unknown(effort))?;
        let up: f64 = WORTH.iter().take(place).skip(HIGH).map(middle).sum();
        let down: f64 = WORTH.iter().take(HIGH).skip(place).map(middle).sum();
        let half = |step: &(f64, f64)| 0.5 * (step.1 - step.0);
        let reach: f64 = WORTH.iter().take(place.max(HIGH)).skip(place.min(HIGH)).map(half).sum();
        let _ = write!(
            text,
            "[[rung]]\neffort = \"{effort}\"\nassumed = \"public-logs\"\nshift = [{:?}, {reach:?}]\nsize = {{ dist = \"mixture\", \
             effort_moves = \"wide\", narrow = {{ weight = 0.45, mu = 5.2, sigma = 0.45 }}, wide = {{ weight = 0.55, mu = {:?}, \
             sigma = 1.2 }} }}\n",
            0.0 - reach,
            6.15 + up - down
        );
    }
    Ok(Scenario::load(&text, "prior.toml")?)
}

/// The place of `high` in [`CHAIN`]: where most public logs are.
const HIGH: usize = 2;
const SOURCE: &str =
    "Between the fits to public logs of Claude and GPT models at effort high; other efforts by the prior of calibrate";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::RoundDraw;

    fn typical() -> Scenario {
        Scenario::load(include_str!("../../scenarios/s02-typical.toml"), "s02-typical.toml").unwrap()
    }

    fn logged() -> Scenario {
        Scenario::load(include_str!("../../scenarios/gpt-5.5.toml"), "gpt-5.5.toml").unwrap()
    }

    /// The relative error of each rung's mean, over many runs of the schedule.
    fn errors(scenario: &Scenario, pilot: &Pilot, runs: u32) -> Vec<Vec<f64>> {
        let order: Vec<usize> = pilot.blocks.concat();
        let rounds = u32::try_from(order.len()).unwrap();
        let (mut draw, mut out) = (RoundDraw::default(), vec![Vec::new(); pilot.rungs.len()]);
        for run in 0..runs {
            let mut luck = scenario.agent.luck(77, run, rounds);
            let mut sums = vec![(0.0, 0.0); pilot.rungs.len()];
            for (round, &rung) in (0..).zip(&order) {
                luck.realise(rung, round, &mut draw);
                sums[rung].0 += draw.tokens.iter().map(|&tokens| f64::from(tokens)).sum::<f64>();
                sums[rung].1 += ufloat(draw.tokens.len() as u64);
            }
            for (rung, (tokens, turns)) in sums.into_iter().enumerate() {
                let truth = libm::exp(luck.ln_mean(rung, 0));
                out[rung].push(tokens / turns / truth - 1.0);
            }
        }
        out
    }

    #[test]
    fn the_promised_precision_is_reached() {
        for scenario in [typical(), logged()] {
            let pilot = plan(&scenario, 0.1, 1).unwrap();
            for (rung, errors) in pilot.rungs.iter().zip(errors(&scenario, &pilot, 400)) {
                let t = student(u64::from(rung.rounds), 0.95).unwrap();
                let spread = t * (errors.iter().map(|e| e * e).sum::<f64>() / ufloat(errors.len() as u64)).sqrt();
                assert!(rung.half_width <= 0.1 && rung.half_width > 0.08, "{rung:?}");
                assert!((spread / rung.half_width - 1.0).abs() < 0.15, "{} {spread} {rung:?}", scenario.name);
                let within = errors.iter().filter(|error| error.abs() <= rung.half_width).count();
                assert!(within >= 370, "{} {within} of 400, {rung:?}", scenario.name);
            }
        }
    }

    #[test]
    fn one_round_fewer_would_not_do() {
        let pilot = plan(&typical(), 0.05, 1).unwrap();
        for rung in &pilot.rungs {
            let rounds = u64::from(rung.rounds);
            let (own, fewer) = (student(rounds, 0.95).unwrap(), student(rounds - 1, 0.95).unwrap());
            let half = rung.half_width / own * fewer * (ufloat(rounds) / ufloat(rounds - 1)).sqrt();
            assert!(rung.half_width <= 0.05 && half > 0.05, "{rung:?}");
        }
        let loose = plan(&typical(), 0.9, 1).unwrap();
        assert!(loose.rungs.iter().all(|rung| rung.rounds == ROUNDS_FLOOR));
    }

    #[test]
    fn every_rung_has_its_rounds_and_they_lie_around_the_middle() {
        let pilot = plan(&logged(), 0.1, 4).unwrap();
        let order: Vec<usize> = pilot.blocks.concat();
        assert_eq!(order.len(), pilot.rounds());
        for (rung, plan) in pilot.rungs.iter().enumerate() {
            let places: Vec<f64> = order
                .iter()
                .enumerate()
                .filter(|(_, at)| **at == rung)
                .map(|(place, _)| ufloat(place as u64))
                .collect();
            assert_eq!(places.len(), plan.rounds as usize);
            let middle = super::super::fit::numeric::mean(&places) / ufloat(order.len() as u64);
            assert!((middle - 0.5).abs() < 0.03, "{rung} {middle}");
        }
        assert!(pilot.blocks.iter().all(|block| {
            let mut sorted = block.clone();
            sorted.sort_unstable();
            sorted.windows(2).all(|pair| pair[0] < pair[1])
        }));
        assert_ne!(pilot.blocks, plan(&logged(), 0.1, 5).unwrap().blocks);
        assert_eq!(pilot, plan(&logged(), 0.1, 4).unwrap());
    }

    #[test]
    fn the_few_rounds_of_a_rung_are_spread_around_the_middle() {
        let with = |rounds| RungPlan { rounds, ..plan(&typical(), 0.5, 1).unwrap().rungs[0].clone() };
        let blocks = schedule(&[with(60), with(3), with(7)], 1);
        for (rung, rounds) in [(0, 60), (1, 3), (2, 7)] {
            let places: Vec<usize> = (0..blocks.len()).filter(|block| blocks[*block].contains(&rung)).collect();
            assert_eq!((blocks.len(), places.len()), (60, rounds));
            let ends = places[0] + places[rounds - 1];
            assert!((57..=61).contains(&ends), "{rung} {places:?}");
        }
    }

    #[test]
    fn a_ladder_that_nobody_measured_stands_on_the_prior() {
        let efforts = ["xhigh", "high", "low"].map(str::to_owned);
        let scenario = prior(&efforts).unwrap();
        let pilot = plan(&scenario, 0.2, 1).unwrap();
        assert!(pilot.rungs.iter().all(|rung| rung.assumed) && pilot.rungs.is_sorted_by(|a, b| a.mean > b.mean));
        assert!(pilot.tokens() > 0.0 && pilot.seconds() > 0.0);
        assert!(matches!(prior(&["ultra".to_owned()]), Err(PilotError::Unknown { .. })));
        assert!(matches!(prior(&[]), Err(PilotError::Unknown { .. })));
        assert!(matches!(prior(&["high", "high"].map(str::to_owned)), Err(PilotError::Scenario(_))));
    }

    #[test]
    fn what_cannot_be_planned_is_refused() {
        for precision in [0.0, 1.0, -0.1, f64::NAN, f64::INFINITY] {
            assert!(matches!(plan(&typical(), precision, 1), Err(PilotError::Precision(_))), "{precision}");
        }
        assert!(matches!(plan(&typical(), 1e-5, 1), Err(PilotError::Endless { .. })));
    }
}
