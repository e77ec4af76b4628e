//! One reading of a round: how many turns it rests on, how noisy it is, and which way it sends a law of one step.

use crate::engine::Ratio;
use crate::lab::fixed::{ufloat, whole};
use crate::lab::grid::Cell;
use crate::lab::passage::Ways;
use crate::lab::scenario::Scenario;
use crate::lab::special::normal_quantile;
use crate::lab::theory::reading_variance;
use crate::sim::{Accounting, AgentSpec, Correction, RungModel};

/// Into so many equal parts are the possible counts of turns of a round cut.
const PARTS: u32 = 32;
/// The most turns over which the correlation of neighbours is summed one by one.
const MOST_TURNS: f64 = 4096.0;

/// What a reading of a round on one rung rests on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Noise {
    /// Coefficient of variation of turns within a session, outliers included.
    pub(super) cv: f64,
    /// Turns of a round.
    pub(super) round_turns: f64,
    /// Turns in the reading.
    pub(super) turns: f64,
    /// Variance of the log of the reading.
    pub(super) variance: f64,
    /// Tokens of a round.
    pub(super) round_tokens: f64,
    /// Seconds of a turn.
    pub(super) turn_seconds: f64,
}

/// Reads rounds of a scenario with some settings, as if the window reached into no earlier round.
pub(super) struct Reader<'a> {
    spec: &'a AgentSpec,
    target: f64,
    slack: f64,
    over: f64,
    rest: f64,
}

impl<'a> Reader<'a> {
    pub(super) fn new(scenario: &'a Scenario, cell: &Cell) -> Self {
        Self {
            spec: scenario.agent.spec(),
            target: ufloat(cell.juice.micros()) / 1e6,
            slack: f64::from(cell.slack.ppm()) / 1e6,
            over: ufloat(cell.over.count()) / 1000.0,
            rest: ufloat(cell.rest.count()) / 1000.0,
        }
    }

    /// The share of rounds on a rung that are shorter than the window, the pause after them counted: the window of the
    /// next one may reach behind them.
    pub(super) fn short(&self, rung: usize) -> f64 {
        let model = &self.spec.rungs[rung];
        let (seconds, _) = self.seconds(model, self.size(model).0);
        let short = self.counts(model).into_iter().filter(|count| count * seconds + self.rest < self.over);
        ufloat(short.count() as u64) / f64::from(PARTS)
    }

    /// The share of a turn's time that its tokens take.
    pub(super) fn token_time(&self, rung: usize) -> f64 {
        let model = &self.spec.rungs[rung];
        let mean = self.size(model).0;
        let (seconds, _) = self.seconds(model, mean);
        if seconds > 0.0 { mean / self.spec.time.tokens_per_second / seconds } else { 0.0 }
    }

    pub(super) fn noise(&self, rung: usize) -> Noise {
        let model = &self.spec.rungs[rung];
        let (mean, cv) = self.size(model);
        let round_turns = self.turns_of(model);
        let (turn_seconds, most) = self.seconds(model, mean);
        let turns = round_turns.min(most);
        Noise {
            cv,
            round_turns,
            turns,
            variance: self.variance(model, cv, turns),
            round_tokens: mean * round_turns,
            turn_seconds,
        }
    }

    /// Which way a reading sends the law from this rung, and what the round costs in tokens.
    pub(super) fn ways(&self, rung: usize) -> Ways {
        let model = &self.spec.rungs[rung];
        let (mean, cv) = self.size(model);
        let (_, most) = self.seconds(model, mean);
        let kinds: Vec<(f64, Ways)> = self
            .counts(model)
            .into_iter()
            .map(|count| {
                let read = count.min(most);
                let e = libm::log(mean * self.bias(count, read) / self.target);
                let variance = self.variance(model, cv, read);
                let tokens = read * mean;
                let ways = if variance > 0.0 {
                    Ways::lognormal(e, self.slack, variance, tokens)
                } else {
                    Ways::certain(e, self.slack, tokens)
                };
                let rest = (count - read) * mean;
                let ways = Ways { up: ways.up.plus(rest), hold: ways.hold.plus(rest), down: ways.down.plus(rest) };
                (1.0 / f64::from(PARTS), ways)
            })
            .collect();
        Ways::mixed(&kinds)
    }

    /// The same to the last digit, for an agent of gamma turns that all take as long: see [`super::chain`] for when.
    pub(super) fn exact(&self, rung: usize, turn_millis: f64) -> Ways {
        let model = &self.spec.rungs[rung];
        let (mean, cv) = self.size(model);
        let count = self.turns_of(model);
        let read = count.min(libm::floor(self.over * 1000.0 / turn_millis) + 1.0);
        let ways = Ways::gamma(read, cv, mean, self.target, self.slack);
        let rest = (count - read) * mean;
        Ways { up: ways.up.plus(rest), hold: ways.hold.plus(rest), down: ways.down.plus(rest) }
    }

    /// Mean and coefficient of variation of a turn, outliers included.
    fn size(&self, model: &RungModel) -> (f64, f64) {
        let (mean, variance) = (model.size.mean(), model.size.variance());
        let (share, factor) = self.spec.turn.outliers.map_or((0.0, 1.0), |outliers| (outliers.share, outliers.factor));
        let all = mean * (1.0 + share * (factor - 1.0));
        let square = (variance + mean * mean) * (1.0 + share * (factor * factor - 1.0));
        (all, (square - all * all).max(0.0).sqrt() / all)
    }

    /// Seconds of a turn, and the most turns that a window holds: the one at its end, those that fit before it, and what
    /// the scatter of their times adds (renewal theory).
    fn seconds(&self, model: &RungModel, mean: f64) -> (f64, f64) {
        let time = &self.spec.time;
        let own = (time.overhead.mean + time.tool.mean) * model.seconds_factor;
        let spread = |span: &crate::sim::Span| {
            let sd = span.mean * span.cv * model.seconds_factor;
            sd * sd
        };
        let seconds = own + mean / time.tokens_per_second;
        let (_, cv) = self.size(model);
        let tokens = cv * mean / time.tokens_per_second;
        let square = (spread(&time.overhead) + spread(&time.tool) + tokens * tokens) / (seconds * seconds);
        let most = if seconds > 0.0 { self.over / seconds + f64::midpoint(1.0, square) } else { f64::INFINITY };
        (seconds, most.max(1.0))
    }

    fn turns_of(&self, model: &RungModel) -> f64 {
        let counts = self.counts(model);
        counts.iter().sum::<f64>() / f64::from(PARTS)
    }

    /// Counts of turns of a round, each as likely as the next.
    fn counts(&self, model: &RungModel) -> Vec<f64> {
        let turns = &self.spec.turns;
        let variance = libm::log1p(turns.cv * turns.cv);
        let mean = turns.mean * model.turns_factor;
        (0..PARTS)
            .map(|part| {
                let z = normal_quantile((f64::from(part) + 0.5) / f64::from(PARTS)).unwrap_or(0.0);
                let count = mean * libm::exp(variance.sqrt() * z - variance / 2.0);
                ufloat(whole(count).unsigned_abs()).clamp(f64::from(turns.min), f64::from(turns.most()))
            })
            .collect()
    }

    /// Variance of the log of a mean of so many turns of one session.
    fn variance(&self, model: &RungModel, cv: f64, turns: f64) -> f64 {
        let tau = self.spec.session.tau;
        let (rho, kind_rho) = (self.spec.turn.rho, self.spec.turn.kind_rho);
        if (rho == 0.0 && kind_rho == 0.0) || turns <= 1.0 {
            return reading_variance(cv, turns, tau);
        }
        // how much more a mean of turns that go together scatters than one of turns that do not
        let plain = model.size.variance();
        let (mut power, mut kinds, mut sum, mut lag) = (rho, kind_rho, 0.0, 1.0);
        while lag < turns.min(MOST_TURNS) && power.abs().max(kinds.abs()) > 1e-9 {
            sum += 2.0 * (1.0 - lag / turns) * model.size.covariance(power, kinds);
            power *= rho;
            kinds *= kind_rho;
            lag += 1.0;
        }
        let more = if plain > 0.0 { (1.0 + sum / plain).max(0.0) } else { 1.0 };
        reading_variance(cv * more.sqrt(), turns, tau)
    }

    /// What the reading of the last `read` of `count` turns is off by, as a factor: the trend within a round, and what is
    /// told as a lump at its end.
    fn bias(&self, count: f64, read: f64) -> f64 {
        let slope = self.spec.session.trend;
        let area = |from: f64, to: f64| {
            if slope == 0.0 { to - from } else { libm::expm1(slope * (to - from)) * libm::exp(slope * from) / slope }
        };
        let tail = read / count;
        let trend = area(1.0 - tail, 1.0) / tail / area(0.0, 1.0);
        match self.spec.accounting {
            Accounting::Partial { phi, correction: Correction::AtRoundEnd } => {
                let told = |phi: Ratio| f64::from(phi.ppm()) / 1e6;
                told(phi) * trend + (1.0 - told(phi)) * count / read
            }
            Accounting::Final | Accounting::Partial { .. } | Accounting::RoundTotalOnly => trend,
        }
    }
}
