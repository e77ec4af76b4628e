//! One run of the simulated agent: what each round brings, at whatever rung it is run.
//!
//! It is not a stream: a [`RoundDraw`] is a function of (model, seed, run, round, rung) and of nothing else, neither of
//! the order of calls nor of other rungs. So the event-driven world and the tables of a sweep ask the same thing and get
//! the same numbers. What a round brings whatever the rung is drawn once, and shared by the rungs. Buffers are kept:
//! once warm, nothing is allocated. Units: tokens, and milliseconds of a turn from its start to its report.

use super::agent::{Accounting, AgentModel, Correction, Drift, Faults, Span};
use super::dist::{bounded_exp, log_sigma, nearest};
use super::exp::bounded_exp_row;
use super::noise::{Channel, Noise};
use super::normal;

/// What a round brings at one rung.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RoundDraw {
    /// Output tokens of each turn, as billed; at least 1.
    pub tokens: Vec<u32>,
    /// Milliseconds that each turn lasts; at least 1.
    pub millis: Vec<u32>,
    /// Output tokens of each turn that are reported as it lands.
    pub landed: Vec<u32>,
    /// What is reported as the round ends.
    pub closing: Closing,
}

impl RoundDraw {
    /// Output tokens of the round, as billed.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.tokens.iter().map(|tokens| u64::from(*tokens)).sum()
    }

    /// Keeps the first so many turns; what is reported as the round ends is that of a round of so many.
    pub fn keep(&mut self, turns: usize, accounting: Accounting) {
        if turns < self.tokens.len() {
            self.tokens.truncate(turns);
            self.millis.truncate(turns);
            report(accounting, self);
        }
    }
}

/// What is reported as a round ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Closing {
    /// Nothing: the turns said all, or there was none.
    #[default]
    None,
    /// Tokens in a report that is no turn; never 0.
    Lump(u64),
    /// The total of the round, to be settled onto its turns.
    Total(u64),
}

/// The luck of one run: made by [`AgentModel::luck`].
#[derive(Clone, Debug)]
pub struct Luck<'m> {
    model: &'m AgentModel,
    noise: Noise,
    rungs: Vec<RungLuck>,
    rounds: Vec<RoundLuck>,
    spread: Spread,
    drawn: Option<u32>,
    normals: Vec<f64>,
    kinds: Vec<f64>,
    spans: Vec<f64>,
    waits: Vec<f64>,
    shapes: Vec<ShapeDraw>,
    sizes: Vec<f64>,
}

/// What of the model is constant, ready for use.
#[derive(Clone, Copy, Debug)]
struct Spread {
    count_sigma: f64,
    millis_per_token: f64,
    ln_outliers: f64,
}

/// A rung in this run.
#[derive(Clone, Copy, Debug)]
struct RungLuck {
    scales: [f64; 2],
    ln_mean: f64,
}

/// A round in this run.
#[derive(Clone, Copy, Debug)]
struct RoundLuck {
    ln_level: f64,
    /// Level and session effect.
    factor: f64,
    /// Turns, as a multiple of their mean.
    count: f64,
    fate: Fate,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Fate {
    Whole,
    Empty,
    /// This share of the turns is kept.
    Cut(f64),
}

/// The turns of the round last drawn, by shape, outliers included.
#[derive(Clone, Debug, Default)]
struct ShapeDraw {
    values: Vec<f64>,
    wide: Vec<bool>,
}

impl AgentModel {
    /// The luck of run `run` of `seed`, for rounds 0 to `rounds` - 1.
    #[must_use]
    pub fn luck(&self, seed: u64, run: u32, rounds: u32) -> Luck<'_> {
        let spec = self.spec();
        let ln_outliers = spec.turn.outliers.map_or(0.0, |o| libm::log1p(o.share * (o.factor - 1.0)));
        let mut luck = Luck {
            model: self,
            noise: Noise::new(seed, run),
            rungs: Vec::with_capacity(self.rungs()),
            rounds: Vec::new(),
            spread: Spread {
                count_sigma: log_sigma(spec.turns.cv),
                millis_per_token: 1000.0 / spec.time.tokens_per_second,
                ln_outliers,
            },
            drawn: None,
            normals: Vec::new(),
            kinds: Vec::new(),
            spans: Vec::new(),
            waits: Vec::new(),
            shapes: vec![ShapeDraw::default(); self.shapes().len()],
            sizes: Vec::new(),
        };
        luck.restart(seed, run, rounds);
        luck
    }
}

impl Luck<'_> {
    /// Becomes the luck of another run, in the same buffers.
    pub fn restart(&mut self, seed: u64, run: u32, rounds: u32) {
        self.noise = Noise::new(seed, run);
        self.drawn = None;
        self.place_rungs();
        self.rounds.clear();
        let (mut walk, mut session) = (0.0, 0.0);
        for round in 0..rounds {
            let luck = self.round_luck(round, &mut walk, &mut session);
            self.rounds.push(luck);
        }
    }

    /// How many rounds it holds.
    #[must_use]
    pub const fn rounds(&self) -> usize {
        self.rounds.len()
    }

    /// ln of the true long-run mean of tokens per turn at `rung` in `round`: of the size, outliers, level and this run's
    /// shift of an assumed rung; without the session effect, and before rounding to whole tokens.
    ///
    /// # Panics
    /// As an index does, where there is no such rung or round.
    #[must_use]
    pub fn ln_mean(&self, rung: usize, round: u32) -> f64 {
        self.rungs[rung].ln_mean + self.rounds[place(round)].ln_level
    }

    /// How many turns `round` has at `rung`.
    ///
    /// # Panics
    /// As an index does, where there is no such rung or round.
    #[must_use]
    pub fn turns(&self, rung: usize, round: u32) -> u32 {
        self.counts(rung, round).1
    }

    /// What `round` brings at `rung`. Whatever the round brings to all rungs alike is drawn the first time that it is
    /// asked for and kept until another round is: ask for the rungs of one round together.
    ///
    /// # Panics
    /// As an index does, where there is no such rung or round.
    pub fn realise(&mut self, rung: usize, round: u32, out: &mut RoundDraw) {
        if self.drawn != Some(round) {
            self.draw(round);
            self.drawn = Some(round);
        }
        let (planned, kept) = self.counts(rung, round);
        self.scale(rung, round, planned, kept);
        out.tokens.clear();
        out.tokens.extend(self.sizes.iter().map(|size| nearest(*size, 1)));
        let (stretch, per_token) = (self.model.spec().rungs[rung].seconds_factor, self.spread.millis_per_token);
        out.millis.clear();
        out.millis.extend(
            out.tokens
                .iter()
                .zip(&self.waits)
                .map(|(tokens, wait)| nearest(wait * stretch + f64::from(*tokens) * per_token, 1)),
        );
        report(self.model.spec().accounting, out);
    }

    /// Where each rung lies in this run.
    fn place_rungs(&mut self) {
        let share = self.noise.uniform(Channel::Ladder, 0, 0);
        self.rungs.clear();
        for rung in &self.model.spec().rungs {
            let shift = rung.shift.map_or(0.0, |(low, high)| low + share * (high - low));
            let ln_mean = libm::log(rung.size.shifted_mean(shift)) + self.spread.ln_outliers;
            self.rungs.push(RungLuck { scales: rung.size.scales(shift), ln_mean });
        }
    }

    /// What round `round` is like, after the round before it left `walk` and `session`.
    fn round_luck(&self, round: u32, walk: &mut f64, session: &mut f64) -> RoundLuck {
        let spec = self.model.spec();
        let normal = |channel| normal::inverse_cdf(self.noise.uniform(channel, round, 0));
        if round > 0 && spec.drift.walk > 0.0 {
            *walk += spec.drift.walk * normal(Channel::Walk);
        }
        let ln_level = (ln_level(&spec.drift, round) + *walk).clamp(-300.0, 300.0);
        let tau = spec.session.tau;
        if tau > 0.0 {
            let (rho, fresh) = (if round == 0 { 0.0 } else { spec.session.rho }, normal(Channel::Session));
            *session = rho * *session + (1.0 - rho * rho).sqrt() * fresh;
        }
        let factor = bounded_exp(ln_level + tau * *session - tau * tau / 2.0);
        let sigma = self.spread.count_sigma;
        let count =
            if sigma > 0.0 { bounded_exp(sigma * normal(Channel::TurnCount) - sigma * sigma / 2.0) } else { 1.0 };
        RoundLuck { ln_level, factor, count, fate: fate(&spec.faults, &self.noise, round) }
    }

    /// Turns that the round sets out to take at this rung, and turns that it takes.
    fn counts(&self, rung: usize, round: u32) -> (u32, u32) {
        let (spec, luck) = (self.model.spec(), self.rounds[place(round)]);
        let mean = spec.turns.mean * spec.rungs[rung].turns_factor;
        let planned = nearest(mean * luck.count, 1).clamp(spec.turns.min, spec.turns.most());
        let kept = match luck.fate {
            Fate::Whole => planned,
            Fate::Empty => 0,
            Fate::Cut(share) => nearest((share * f64::from(planned)).ceil(), 1).min(planned),
        };
        (planned, kept)
    }

    /// Draws what `round` brings whatever the rung, for as many turns as the longest rung takes.
    fn draw(&mut self, round: u32) {
        let most = (0..self.model.rungs()).map(|rung| self.turns(rung, round)).max().unwrap_or(0);
        let (spec, length) = (self.model.spec(), place(most));
        self.normals.resize(length, 0.0);
        self.noise.fill(Channel::Size, round, &mut self.normals);
        normal::invert(&mut self.normals);
        correlate(spec.turn.rho, &mut self.normals);
        if spec.turn.kind_rho != 0.0 {
            self.kinds.resize(length, 0.0);
            self.noise.fill(Channel::Component, round, &mut self.kinds);
            normal::invert(&mut self.kinds);
            correlate(spec.turn.kind_rho, &mut self.kinds);
        }
        for (shape, draw) in self.model.shapes().iter().zip(&mut self.shapes) {
            shape.draw(&self.noise, round, [&self.normals, &self.kinds], &mut draw.values, &mut draw.wide);
        }
        self.spans.resize(length, 0.0);
        if let Some(outliers) = spec.turn.outliers {
            self.noise.fill(Channel::Outlier, round, &mut self.spans);
            for draw in &mut self.shapes {
                for (value, uniform) in draw.values.iter_mut().zip(&self.spans) {
                    *value *= if *uniform < outliers.share { outliers.factor } else { 1.0 };
                }
            }
        }
        self.waits.clear();
        self.waits.resize(length, 0.0);
        self.wait(Channel::Overhead, spec.time.overhead, round);
        self.wait(Channel::Tool, spec.time.tool, round);
    }

    /// Adds the milliseconds of one part of a turn's time.
    fn wait(&mut self, channel: Channel, span: Span, round: u32) {
        let (mean, sigma) = (1000.0 * span.mean, log_sigma(span.cv));
        if sigma > 0.0 && mean > 0.0 {
            let mu = libm::log(mean) - sigma * sigma / 2.0;
            self.noise.fill(channel, round, &mut self.spans);
            normal::invert(&mut self.spans);
            self.spans.iter_mut().for_each(|normal| *normal = mu + sigma * *normal);
            bounded_exp_row(&mut self.spans);
            self.waits.iter_mut().zip(&self.spans).for_each(|(wait, span)| *wait += span);
        } else {
            self.waits.iter_mut().for_each(|wait| *wait += mean);
        }
    }

    /// Sizes of the turns at this rung, not yet whole.
    fn scale(&mut self, rung: usize, round: u32, planned: u32, kept: u32) {
        let (factor, draw) = (self.rounds[place(round)].factor, &self.shapes[self.model.shape_of(rung)]);
        let scales = self.rungs[rung].scales.map(|scale| scale * factor);
        let values = &draw.values[..place(kept)];
        self.sizes.clear();
        if draw.wide.is_empty() {
            self.sizes.extend(values.iter().map(|value| value * scales[0]));
        } else {
            self.sizes.extend(values.iter().zip(&draw.wide).map(|(value, wide)| value * scales[usize::from(*wide)]));
        }
        let slope = self.model.spec().session.trend;
        if slope != 0.0 {
            tilt(slope, planned, &mut self.sizes);
        }
    }
}

/// Multiplies turn i of n by exp(slope (i + 1/2) / n), over the mean of these factors in the whole round.
fn tilt(slope: f64, planned: u32, sizes: &mut [f64]) {
    let turns = f64::from(planned);
    let (first, ratio) = (libm::exp(slope / (2.0 * turns)), libm::exp(slope / turns));
    let (mut factor, mut sum) = (first, 0.0);
    for _ in 0..planned {
        sum += factor;
        factor *= ratio;
    }
    let mut factor = first * (turns / sum);
    for size in sizes {
        *size *= factor;
        factor *= ratio;
    }
}

/// Makes each normal lean on the one before it, and keeps them standard.
fn correlate(rho: f64, normals: &mut [f64]) {
    if rho == 0.0 {
        return;
    }
    let fresh = (1.0 - rho * rho).sqrt();
    let mut last = None;
    for normal in normals {
        let next = last.map_or(*normal, |last| rho * last + fresh * *normal);
        *normal = next;
        last = Some(next);
    }
}

/// What is reported of a round, as turns land and as it ends.
fn report(accounting: Accounting, out: &mut RoundDraw) {
    out.landed.clear();
    out.closing = Closing::None;
    match accounting {
        Accounting::Final => out.landed.extend_from_slice(&out.tokens),
        Accounting::Partial { phi, correction } => {
            let share = u64::from(phi.ppm());
            let part = |tokens: &u32| u32::try_from((u64::from(*tokens) * share + 500_000) / 1_000_000);
            out.landed.extend(out.tokens.iter().map(|tokens| part(tokens).unwrap_or(*tokens)));
            let (total, landed) = (out.total(), out.landed.iter().map(|tokens| u64::from(*tokens)).sum::<u64>());
            match correction {
                Correction::AtRoundEnd if total > landed => out.closing = Closing::Lump(total - landed),
                Correction::Spread if total > 0 => out.closing = Closing::Total(total),
                Correction::AtRoundEnd | Correction::Spread => {}
            }
        }
        Accounting::RoundTotalOnly => {
            out.landed.resize(out.tokens.len(), 0);
            if !out.tokens.is_empty() {
                out.closing = Closing::Total(out.total());
            }
        }
    }
}

/// The log level of the steps and the ramp in `round`.
fn ln_level(drift: &Drift, round: u32) -> f64 {
    let step = drift.steps.iter().rev().find(|step| step.round <= round);
    step.map_or(0.0, |step| libm::log(step.level)) + drift.ramp_per_100 * f64::from(round) / 100.0
}

fn fate(faults: &Faults, noise: &Noise, round: u32) -> Fate {
    let happens = |channel, chance: f64| chance > 0.0 && noise.uniform(channel, round, 0) < chance;
    if faults.outages.iter().any(|outage| outage.contains(&round)) || happens(Channel::Empty, faults.empty) {
        Fate::Empty
    } else if happens(Channel::Truncated, faults.truncated) {
        Fate::Cut(noise.uniform(Channel::CutShare, round, 0))
    } else {
        Fate::Whole
    }
}

/// A round or a count as a place.
fn place(number: u32) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests;
