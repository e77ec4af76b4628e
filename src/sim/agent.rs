//! The simulated agent as data: sizes by rung, sessions, turn counts, times, drift, faults and how usage is told.
//!
//! It is not a run: nothing is drawn here ([`luck`](super::luck) does that), and no target or law is known. A spec is
//! plain and may hold anything; [`AgentModel::new`] checks all of it once, so that a run cannot fail. Rungs stand
//! *hardest first*: rung 0 spends most. Units: seconds where a person writes them, rounds and turns counted from 0,
//! levels as factors, `tau`, `walk`, `trend`, `ramp_per_100` and shifts on the scale of ln tokens.

use std::fmt;
use std::ops::RangeInclusive;

use super::dist::{Shape, Size, SizeError};
use crate::engine::{Ladder, Ratio};

/// The most turns a round may have: a bound on memory, far above any real session.
pub const MOST_TURNS: u32 = 100_000;

/// An agent, before it is checked. Start from [`AgentSpec::geometric`] or [`AgentSpec::new`] and change what differs.
///
/// ```
/// use flyball::sim::{AgentModel, AgentSpec, RoundDraw};
/// let mut spec = AgentSpec::geometric(500.0, 1.6, 6).unwrap();
/// spec.session.tau = 0.3;
/// let model = AgentModel::new(spec).unwrap();
/// let mut luck = model.luck(1, 0, 200);
/// let mut round = RoundDraw::default();
/// luck.realise(2, 0, &mut round);
/// assert_eq!(round.tokens.len(), round.millis.len());
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct AgentSpec {
    /// What each rung makes, hardest first.
    pub rungs: Vec<RungModel>,
    /// What happens to single turns.
    pub turn: TurnModel,
    /// What the turns of a round have in common.
    pub session: SessionModel,
    /// How many turns a round has.
    pub turns: TurnCount,
    /// How long a turn lasts.
    pub time: TurnTime,
    /// How the level moves over the rounds.
    pub drift: Drift,
    /// What goes wrong.
    pub faults: Faults,
    /// How usage is told.
    pub accounting: Accounting,
}

impl AgentSpec {
    /// These rungs, hardest first; 20 turns a round, 43 s a turn, no session effect, no drift, no faults.
    #[must_use]
    pub fn new(rungs: Vec<RungModel>) -> Self {
        Self {
            rungs,
            turn: TurnModel::default(),
            session: SessionModel::default(),
            turns: TurnCount::default(),
            time: TurnTime::default(),
            drift: Drift::default(),
            faults: Faults::default(),
            accounting: Accounting::default(),
        }
    }

    /// `rungs` lognormal rungs of cv 1 whose means grow by `ratio`, the softest at `soft_mean` tokens per turn; the rest
    /// as in [`new`](Self::new), with a session effect of 0.2.
    ///
    /// # Errors
    /// [`SizeError::Outside`] where a mean is.
    pub fn geometric(soft_mean: f64, ratio: f64, rungs: usize) -> Result<Self, SizeError> {
        let mut mean = soft_mean;
        let mut soft_first = Vec::new();
        for _ in 0..rungs {
            soft_first.push(RungModel::new(Size::lognormal(mean, 1.0)?));
            mean *= ratio;
        }
        soft_first.reverse();
        let mut spec = Self::new(soft_first);
        spec.session.tau = 0.2;
        Ok(spec)
    }
}

/// One rung of the agent.
#[derive(Clone, Debug, PartialEq)]
pub struct RungModel {
    /// Output tokens per turn.
    pub size: Size,
    /// Multiplies the mean number of turns.
    pub turns_factor: f64,
    /// Multiplies overhead and tool time.
    pub seconds_factor: f64,
    /// Where nobody measured this rung: the least and the most by which ln(size) may lie from `size`. Each run draws one
    /// share for its whole ladder, and every assumed rung lies at that share of its own shift.
    pub shift: Option<(f64, f64)>,
}

impl RungModel {
    /// A measured rung with factors of one.
    #[must_use]
    pub const fn new(size: Size) -> Self {
        Self { size, turns_factor: 1.0, seconds_factor: 1.0, shift: None }
    }
}

/// What happens to single turns. The default is nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TurnModel {
    /// Correlation of the normal behind ln size from one turn of a round to the next.
    pub rho: f64,
    /// The same of the normal behind a turn's kind, the component of a mixture that it comes from.
    pub kind_rho: f64,
    /// Turns that are far larger than the rest.
    pub outliers: Option<Outliers>,
}

/// Turns far larger than the rest; the mean is not scaled back.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outliers {
    /// The share of turns, 0 to 1.
    pub share: f64,
    /// What their size is multiplied by.
    pub factor: f64,
}

/// What the turns of a round have in common. The default is nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SessionModel {
    /// Standard deviation of the log of the session effect, whose mean is one on the scale of tokens.
    pub tau: f64,
    /// Correlation of that log from one round to the next.
    pub rho: f64,
    /// Log slope from the first turn of a round to its last; the round's mean is kept.
    pub trend: f64,
}

/// How many turns a round has: lognormal, rounded to the nearest, then clipped.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TurnCount {
    /// Mean before clipping.
    pub mean: f64,
    /// Coefficient of variation; 0 is always the mean.
    pub cv: f64,
    /// The fewest.
    pub min: u32,
    /// The most; six times the mean where it is not given.
    pub max: Option<u32>,
}

impl Default for TurnCount {
    fn default() -> Self {
        Self { mean: 20.0, cv: 0.5, min: 2, max: None }
    }
}

impl TurnCount {
    /// The most turns a round may have.
    #[must_use]
    pub fn most(&self) -> u32 {
        self.max.unwrap_or_else(|| super::dist::nearest(6.0 * self.mean, 1))
    }
}

/// A lognormal length of time, in seconds: arithmetic mean and coefficient of variation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Span {
    /// Mean, seconds; 0 is none.
    pub mean: f64,
    /// Coefficient of variation; 0 is a constant.
    pub cv: f64,
}

/// How long a turn lasts: overhead and tool time, times the rung's factor, and tokens over speed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TurnTime {
    /// Time that is neither tokens nor tools.
    pub overhead: Span,
    /// Time in tools.
    pub tool: Span,
    /// Speed of output; infinite is allowed, and makes tokens take no time.
    pub tokens_per_second: f64,
}

impl Default for TurnTime {
    fn default() -> Self {
        Self { overhead: Span { mean: 6.0, cv: 0.5 }, tool: Span { mean: 8.0, cv: 1.5 }, tokens_per_second: 70.0 }
    }
}

/// How the level of every rung moves over the rounds. A level holds for a whole round. The default is none.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Drift {
    /// Levels, each from its round on until the next; absolute, not on top of each other. Before the first: 1.
    pub steps: Vec<Step>,
    /// Slope of the log level, per 100 rounds.
    pub ramp_per_100: f64,
    /// Standard deviation of the step of the log level from one round to the next; round 0 is where the walk starts.
    pub walk: f64,
}

/// One level of the drift.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// From this round on.
    pub round: u32,
    /// The factor on every rung's size.
    pub level: f64,
}

/// What goes wrong. The default is nothing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Faults {
    /// Chance that a round has no turn.
    pub empty: f64,
    /// Chance that a round is cut short: of n turns, 1 to n are kept, each count with the same chance.
    pub truncated: f64,
    /// Rounds without a turn.
    pub outages: Vec<RangeInclusive<u32>>,
}

/// How usage is told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Accounting {
    /// Each turn's output as it lands.
    #[default]
    Final,
    /// A share of each turn's output as it lands, the rest later.
    Partial {
        /// The share, rounded to whole tokens, a half up.
        phi: Ratio,
        /// How the rest is told.
        correction: Correction,
    },
    /// Nothing as turns land; a total when the round ends.
    RoundTotalOnly,
}

/// How the rest of a partial report is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Correction {
    /// As a lump at the end of the round that is no turn.
    AtRoundEnd,
    /// As a closing total, settled onto the turns.
    Spread,
}

/// An agent that was checked, ready to run any number of times.
#[derive(Clone, Debug, PartialEq)]
pub struct AgentModel {
    spec: AgentSpec,
    shapes: Vec<Shape>,
    shape_of: Vec<usize>,
}

impl AgentModel {
    /// Checks the whole of `spec`.
    ///
    /// # Errors
    /// [`ModelError`], which names the first thing that is wrong.
    pub fn new(spec: AgentSpec) -> Result<Self, ModelError> {
        check(&spec)?;
        let mut shapes: Vec<Shape> = Vec::new();
        let mut shape_of = Vec::with_capacity(spec.rungs.len());
        for rung in &spec.rungs {
            let shape = rung.size.shape();
            let place = shapes.iter().position(|known| *known == shape).unwrap_or(shapes.len());
            if place == shapes.len() {
                shapes.push(shape);
            }
            shape_of.push(place);
        }
        Ok(Self { spec, shapes, shape_of })
    }

    /// What it was made from.
    #[must_use]
    pub const fn spec(&self) -> &AgentSpec {
        &self.spec
    }

    /// How many rungs it has.
    #[must_use]
    pub const fn rungs(&self) -> usize {
        self.spec.rungs.len()
    }

    /// The shapes of its rungs, each once.
    pub(super) fn shapes(&self) -> &[Shape] {
        &self.shapes
    }

    /// The place of a rung's shape.
    pub(super) fn shape_of(&self, rung: usize) -> usize {
        self.shape_of[rung]
    }
}

/// Why a spec makes no agent.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ModelError {
    /// No rung, or more than a ladder may have.
    Rungs {
        /// How many.
        count: usize,
    },
    /// A number is outside its range, or is none.
    Outside {
        /// Which one, by its name in a scenario.
        what: &'static str,
        /// What it was.
        got: f64,
        /// What it has to be.
        need: &'static str,
    },
    /// The two ends of something are the wrong way round.
    Crossed {
        /// Of what.
        what: &'static str,
        /// What stands first.
        first: f64,
        /// What stands second.
        second: f64,
    },
    /// The step at this place, counted from 0, is not later than the one before it.
    Steps {
        /// The place.
        index: usize,
    },
    /// The tokens that finish a task are not given for each rung.
    Finish {
        /// How many are given.
        given: usize,
        /// How many rungs there are.
        rungs: usize,
    },
    /// Kinds are to be correlated, and no rung has two.
    OneKind,
    /// Turns are to be correlated, and this rung's come from a gamma.
    CorrelatedGamma {
        /// The rung, counted from the hardest.
        rung: usize,
    },
}

impl fmt::Display for ModelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rungs { count } => write!(f, "{count} rungs, and an agent has 1 to {}", Ladder::MAX),
            Self::Outside { what, got, need } => write!(f, "{what} is {got}, and must be {need}"),
            Self::Crossed { what, first, second } => write!(f, "{what} runs from {first} to {second}"),
            Self::Steps { index } => write!(f, "drift.steps[{index}] is not later than the step before it"),
            Self::Finish { given, rungs } => {
                write!(
                    f,
                    "outcome.finish has {given} values, and needs one for each of the {rungs} rungs, hardest first"
                )
            }
            Self::OneKind => f.write_str("turn.kind_rho needs a rung whose turns are of two kinds, a mixture"),
            Self::CorrelatedGamma { rung } => {
                write!(f, "turn.rho needs a normal behind each size, and rung {rung} is a gamma")
            }
        }
    }
}

impl std::error::Error for ModelError {}

fn check(spec: &AgentSpec) -> Result<(), ModelError> {
    if spec.rungs.is_empty() || spec.rungs.len() > Ladder::MAX {
        return Err(ModelError::Rungs { count: spec.rungs.len() });
    }
    for (rung, model) in spec.rungs.iter().enumerate() {
        factor("turns_factor", model.turns_factor)?;
        factor("seconds_factor", model.seconds_factor)?;
        if let Some((low, high)) = model.shift {
            within("shift", low, -20.0, 20.0, "from -20 to 20")?;
            within("shift", high, -20.0, 20.0, "from -20 to 20")?;
            ordered("shift", low, high)?;
        }
        if spec.turn.rho != 0.0 && model.size.is_gamma() {
            return Err(ModelError::CorrelatedGamma { rung });
        }
    }
    correlation("turn.rho", spec.turn.rho)?;
    correlation("turn.kind_rho", spec.turn.kind_rho)?;
    if spec.turn.kind_rho != 0.0 && spec.rungs.iter().all(|rung| !rung.size.is_mixture()) {
        return Err(ModelError::OneKind);
    }
    if let Some(outliers) = spec.turn.outliers {
        share("outliers.share", outliers.share)?;
        factor("outliers.factor", outliers.factor)?;
    }
    within("session.tau", spec.session.tau, 0.0, 5.0, "from 0 to 5")?;
    correlation("session.rho", spec.session.rho)?;
    within("session.trend", spec.session.trend, -20.0, 20.0, "from -20 to 20")?;
    check_turns(&spec.turns)?;
    check_time(&spec.time)?;
    check_drift(&spec.drift)?;
    check_faults(&spec.faults)?;
    match spec.accounting {
        Accounting::Partial { phi, .. } => share("accounting.phi", f64::from(phi.ppm()) / 1e6),
        Accounting::Final | Accounting::RoundTotalOnly => Ok(()),
    }
}

fn check_turns(turns: &TurnCount) -> Result<(), ModelError> {
    let most = f64::from(MOST_TURNS);
    within("turns.mean", turns.mean, 1.0, most, "from 1 to 100000")?;
    within("turns.cv", turns.cv, 0.0, 100.0, "from 0 to 100")?;
    within("turns.min", f64::from(turns.min), 1.0, most, "from 1 to 100000")?;
    if let Some(max) = turns.max {
        within("turns.max", f64::from(max), 1.0, most, "from 1 to 100000")?;
    }
    within("six times turns.mean", f64::from(turns.most()), 1.0, most, "at most 100000, or turns.max be given")?;
    ordered("turns.min and turns.max", f64::from(turns.min), f64::from(turns.most()))
}

fn check_time(time: &TurnTime) -> Result<(), ModelError> {
    within("time.overhead.mean", time.overhead.mean, 0.0, 1e6, "from 0 to 1000000 seconds")?;
    within("time.overhead.cv", time.overhead.cv, 0.0, 100.0, "from 0 to 100")?;
    within("time.tool.mean", time.tool.mean, 0.0, 1e6, "from 0 to 1000000 seconds")?;
    within("time.tool.cv", time.tool.cv, 0.0, 100.0, "from 0 to 100")?;
    within("time.tokens_per_second", time.tokens_per_second, 1e-3, f64::INFINITY, "at least 0.001")
}

fn check_drift(drift: &Drift) -> Result<(), ModelError> {
    for (index, step) in drift.steps.iter().enumerate() {
        factor("drift.steps.level", step.level)?;
        if index > 0 && drift.steps[index - 1].round >= step.round {
            return Err(ModelError::Steps { index });
        }
    }
    within("drift.ramp_per_100", drift.ramp_per_100, -100.0, 100.0, "from -100 to 100")?;
    within("drift.walk", drift.walk, 0.0, 5.0, "from 0 to 5")
}

fn check_faults(faults: &Faults) -> Result<(), ModelError> {
    share("faults.empty", faults.empty)?;
    share("faults.truncated", faults.truncated)?;
    for outage in &faults.outages {
        ordered("faults.outages", f64::from(*outage.start()), f64::from(*outage.end()))?;
    }
    Ok(())
}

fn within(what: &'static str, got: f64, least: f64, most: f64, need: &'static str) -> Result<(), ModelError> {
    if (least..=most).contains(&got) { Ok(()) } else { Err(ModelError::Outside { what, got, need }) }
}

fn share(what: &'static str, got: f64) -> Result<(), ModelError> {
    within(what, got, 0.0, 1.0, "from 0 to 1")
}

fn factor(what: &'static str, got: f64) -> Result<(), ModelError> {
    within(what, got, 1e-6, 1e6, "from 0.000001 to 1000000")
}

fn correlation(what: &'static str, got: f64) -> Result<(), ModelError> {
    within(what, got, -0.999_999, 0.999_999, "above -1 and below 1")
}

fn ordered(what: &'static str, first: f64, second: f64) -> Result<(), ModelError> {
    if first <= second { Ok(()) } else { Err(ModelError::Crossed { what, first, second }) }
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "pinned values are the same bits or are wrong")]
mod tests {
    use super::*;

    fn base() -> AgentSpec {
        AgentSpec::geometric(500.0, 1.6, 6).unwrap()
    }

    fn refused(change: impl FnOnce(&mut AgentSpec)) -> ModelError {
        let mut spec = base();
        change(&mut spec);
        AgentModel::new(spec).unwrap_err()
    }

    #[test]
    fn a_geometric_ladder_stands_hardest_first() {
        let model = AgentModel::new(base()).unwrap();
        let means: Vec<f64> = model.spec().rungs.iter().map(|rung| rung.size.mean()).collect();
        assert!((means[0] - 5242.88).abs() < 1e-9 && (means[4] - 800.0).abs() < 1e-9, "{means:?}");
        assert_eq!(means[5], 500.0);
        assert_eq!(model.spec().turns.most(), 120);
        assert!(AgentSpec::geometric(-1.0, 1.6, 6).is_err());
        assert!(AgentSpec::geometric(1.0, 10.0, 64).is_err());
    }

    #[test]
    fn rungs_that_differ_by_scale_alone_share_a_shape() {
        let mut spec = base();
        assert_eq!(AgentModel::new(spec.clone()).unwrap().shapes().len(), 1);
        spec.rungs[2].size = Size::lognormal(2000.0, 0.7).unwrap();
        spec.rungs[3].size = Size::empirical(vec![1.0, 3.0]).unwrap();
        spec.rungs[4].size = Size::empirical(vec![1.0, 3.0]).unwrap();
        let model = AgentModel::new(spec).unwrap();
        assert_eq!(model.shapes().len(), 3);
        assert_eq!([0, 1, 2, 3, 4, 5].map(|rung| model.shape_of(rung)), [0, 0, 1, 2, 2, 0]);
    }

    #[test]
    fn a_number_outside_its_range_is_named() {
        type Change = Box<dyn FnOnce(&mut AgentSpec)>;
        let cases: Vec<(&str, Change)> = vec![
            ("turns_factor", Box::new(|spec| spec.rungs[1].turns_factor = 0.0)),
            ("seconds_factor", Box::new(|spec| spec.rungs[1].seconds_factor = f64::NAN)),
            ("shift", Box::new(|spec| spec.rungs[1].shift = Some((f64::NEG_INFINITY, 0.0)))),
            ("turn.rho", Box::new(|spec| spec.turn.rho = 1.0)),
            ("turn.kind_rho", Box::new(|spec| spec.turn.kind_rho = f64::NAN)),
            ("outliers.share", Box::new(|spec| spec.turn.outliers = Some(Outliers { share: 1.1, factor: 2.0 }))),
            ("outliers.factor", Box::new(|spec| spec.turn.outliers = Some(Outliers { share: 0.1, factor: -2.0 }))),
            ("session.tau", Box::new(|spec| spec.session.tau = -0.1)),
            ("session.rho", Box::new(|spec| spec.session.rho = f64::NAN)),
            ("session.trend", Box::new(|spec| spec.session.trend = f64::INFINITY)),
            ("turns.mean", Box::new(|spec| spec.turns.mean = 0.0)),
            ("turns.cv", Box::new(|spec| spec.turns.cv = -1.0)),
            ("turns.min", Box::new(|spec| spec.turns.min = 0)),
            ("turns.max", Box::new(|spec| spec.turns.max = Some(MOST_TURNS + 1))),
            ("six times turns.mean", Box::new(|spec| spec.turns.mean = 20_000.0)),
            ("time.overhead.mean", Box::new(|spec| spec.time.overhead.mean = -1.0)),
            ("time.tool.cv", Box::new(|spec| spec.time.tool.cv = f64::NAN)),
            ("time.tokens_per_second", Box::new(|spec| spec.time.tokens_per_second = 0.0)),
            ("drift.steps.level", Box::new(|spec| spec.drift.steps = vec![Step { round: 1, level: 0.0 }])),
            ("drift.ramp_per_100", Box::new(|spec| spec.drift.ramp_per_100 = f64::NAN)),
            ("drift.walk", Box::new(|spec| spec.drift.walk = -0.1)),
            ("faults.empty", Box::new(|spec| spec.faults.empty = 1.5)),
            ("faults.truncated", Box::new(|spec| spec.faults.truncated = f64::NAN)),
            (
                "accounting.phi",
                Box::new(|spec| {
                    let phi = Ratio::from_ppm(1_000_001);
                    spec.accounting = Accounting::Partial { phi, correction: Correction::Spread };
                }),
            ),
        ];
        for (name, change) in cases {
            let error = refused(change);
            let ModelError::Outside { what, .. } = error else { panic!("{name}: {error}") };
            assert_eq!(what, name);
        }
    }

    #[test]
    fn what_does_not_fit_together_is_refused() {
        assert_eq!(refused(|spec| spec.rungs.clear()), ModelError::Rungs { count: 0 });
        assert_eq!(refused(|spec| spec.rungs = vec![spec.rungs[0].clone(); 65]), ModelError::Rungs { count: 65 });
        let crossed = |change: fn(&mut AgentSpec)| matches!(refused(change), ModelError::Crossed { .. });
        assert!(crossed(|spec| spec.rungs[0].shift = Some((0.2, 0.1))));
        assert!(crossed(|spec| spec.turns.min = 121));
        #[expect(clippy::reversed_empty_ranges, reason = "an outage the wrong way round is what is refused")]
        let backwards = |spec: &mut AgentSpec| spec.faults.outages = vec![5..=4];
        assert!(crossed(backwards));
        let steps = |spec: &mut AgentSpec| {
            spec.drift.steps = vec![Step { round: 5, level: 2.0 }, Step { round: 5, level: 1.0 }];
        };
        assert_eq!(refused(steps), ModelError::Steps { index: 1 });
        let gamma = |spec: &mut AgentSpec| {
            spec.rungs[3].size = Size::gamma(500.0, 1.0).unwrap();
            spec.turn.rho = 0.1;
        };
        assert_eq!(refused(gamma), ModelError::CorrelatedGamma { rung: 3 });
        assert_eq!(refused(|spec| spec.turn.kind_rho = 0.5), ModelError::OneKind);
    }

    #[test]
    fn output_without_time_is_allowed() {
        let mut spec = base();
        spec.time.tokens_per_second = f64::INFINITY;
        assert!(AgentModel::new(spec).is_ok());
    }
}
