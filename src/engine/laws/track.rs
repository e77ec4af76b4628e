//! Where the loop stands and how long a step of the ladder is: the filter that `stride` and `stride3` share.
//!
//! It is not a law: it says where rungs are expected and does not move. Three numbers in nats: x, ln of the present rung's
//! tokens over the target; g, ln of one rung harder over this one; d, by how much x changes in a round. Their covariance is
//! kept whole. With no variance in d it is a filter of two numbers, and d stays zero.
//!
//! What a round was read as rests on the rung's *lift* as it was known then ([`estimate`](super::estimate)). Where turns are no
//! lognormal it takes some hundred of them to be learnt, and x holds what was read before. So x is amended: each round it changes by
//! as much as the lift of the round's rung has.
//!
//! # Theory
//!
//! A Kalman filter. After a move by k rungs x becomes x + k g, with noise for what single steps differ by
//! ([`STEP_NOISE`], [`STEP_WANDER`]); each round adds d to x and noise for how the level may drift; the reading of the round is x with
//! the variance that [`Estimator`] gives. A level that jumps shows as several innovations in a row of one sign: where their
//! standardised sum passes [`SURPRISE`], x is made unsure again. Source: Kalman (1960); the control study for the constants.

use super::aim::Aim;
use super::estimate::{Estimate, Estimator};
use super::guard::{Guard, Move, Said};
use super::real::place;
use crate::engine::law::{LawState, Reading};

/// ln of a step before any was seen, a factor of 1.6, and its variance.
const STEP: f64 = 0.47;
const STEP_VARIANCE: f64 = 0.04;
/// The shortest step that is believed.
const STEP_LEAST: f64 = 0.15;
/// Variance of x before anything was read.
const START: f64 = 4.0;
/// Variance that a move adds to x: by how much single steps differ.
const STEP_NOISE: f64 = 0.01;
/// Variance that a move adds to g.
const STEP_WANDER: f64 = 0.0025;
/// A standardised sum of innovations past this says that the level has jumped.
const SURPRISE: f64 = 4.0;
/// Variance that a jump, or a pause between two runs, adds to x.
const JUMP: f64 = 0.25;
/// Innovations that are remembered.
const RECENT: usize = 4;
/// Variance of d at the start: 0.008 squared.
const RATE_VARIANCE: f64 = 6.4e-5;
/// Variance that a round adds to d: 0.0001 squared.
const RATE_WANDER: f64 = 1e-8;

/// A covariance of three numbers: the rows of its lower triangle.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Spread {
    pub(super) xx: f64,
    pub(super) xg: f64,
    pub(super) gg: f64,
    pub(super) xd: f64,
    pub(super) gd: f64,
    pub(super) dd: f64,
}

/// The filter.
#[derive(Clone, Debug)]
pub(super) struct Track {
    estimator: Estimator,
    aim: Aim,
    /// Whether d is estimated.
    rated: bool,
    /// Whether x is corrected as the lift of its rung is learnt.
    amends: bool,
    /// Whether a rung was read since the start, or since the ladder changed.
    begun: bool,
    /// Whether the loop was taken up again since the last reading.
    resumed: bool,
    pub(super) x: f64,
    pub(super) g: f64,
    pub(super) d: f64,
    pub(super) spread: Spread,
    /// Rungs that were read, a bit each, the softest first.
    tried: u64,
    recent: [f64; RECENT],
    count: usize,
    /// The last rung with turns, from the softest.
    last: usize,
    rungs: usize,
    guard: Guard,
    /// Whether the ladder turned out to be upside down: places count from its hardest word.
    flipped: bool,
    /// Whether the last move went against the order.
    pub(super) against: bool,
}

impl Track {
    /// A filter that has seen nothing; `rated`: with a rate of drift; `amends`: x is corrected as the lift of its rung is learnt.
    pub(super) fn new(rated: bool, amends: bool) -> Self {
        Self {
            estimator: Estimator::default(),
            aim: Aim::default(),
            rated,
            amends,
            begun: false,
            resumed: false,
            x: 0.0,
            g: STEP,
            d: 0.0,
            spread: Self::start(rated),
            tried: 0,
            recent: [0.0; RECENT],
            count: 0,
            last: 0,
            rungs: 0,
            guard: Guard::default(),
            flipped: false,
            against: false,
        }
    }

    const fn start(rated: bool) -> Spread {
        let dd = if rated { RATE_VARIANCE } else { 0.0 };
        Spread { xx: START, xg: 0.0, gg: STEP_VARIANCE, xd: 0.0, gd: 0.0, dd }
    }

    /// Takes in the round; `drift` is the standard deviation of how the level moves in one. None where it had no turns.
    pub(super) fn observe(&mut self, reading: &Reading<'_>, drift: f64) -> Option<Estimate> {
        let rungs = reading.rungs.count();
        if self.rungs != rungs {
            self.new_ladder(rungs);
        }
        let index = reading.rung.index().min(rungs - 1);
        let rung = self.turned(index);
        self.x -= self.aim.at(reading);
        // what a rung's turns say belongs to its word, whichever way round the ladder is taken
        let word = rungs - 1 - index;
        let lift = self.amends.then(|| self.estimator.lift(word));
        let seen = self.estimator.observe(word, rungs, &reading.round)?;
        self.x += lift.map_or(0.0, |lift| seen.lift - lift);
        let y = seen.level - self.aim.ln;
        if !self.begun {
            (self.begun, self.x, self.last) = (true, y, rung);
        }
        if self.resumed {
            self.resumed = false;
            self.spread.xx += JUMP;
        }
        self.tried |= 1 << rung;
        let (k, before) = (place(rung) - place(self.last), (self.x, self.spread.xx));
        self.last = rung;
        self.moved(k);
        self.drifted(drift);
        self.against = false;
        if k != 0.0 {
            let made = Move { expected: k * self.g, before: before.0, variance: before.1 + STEP_NOISE * k * k };
            let said = self.guard.moved(made, y, seen.variance);
            self.against = said != Said::Fine;
            if said == Said::Upside {
                self.turn_over();
                self.begin_at(y, seen.variance);
                return Some(seen);
            }
        }
        self.correct(y, seen.variance);
        let stuck = self.past_end();
        if self.guard.stayed(stuck, self.x, self.spread.xx) {
            self.against = true;
            self.turn_over();
        }
        Some(seen)
    }

    /// The place from the softest of an index from the hardest, and back.
    pub(super) const fn turned(&self, index: usize) -> usize {
        if self.flipped { index } else { self.rungs - 1 - index }
    }

    /// Whether the loop is at an end of the ladder, and the target surely past it.
    fn past_end(&self) -> bool {
        let sure = self.x.abs() > self.g / 2.0 + 2.0 * libm::sqrt(self.spread.xx);
        sure && (if self.x > 0.0 { self.last == 0 } else { self.last + 1 == self.rungs })
    }

    /// One rung back from an end of the ladder where the loop wants to go on and has no reason to trust the order.
    pub(super) fn probe(&self) -> Option<usize> {
        let wonders = self.rungs > 1 && self.past_end() && self.guard.wonders(self.x, self.spread.xx);
        wonders.then(|| if self.last == 0 { 1 } else { self.last - 1 })
    }

    /// Places count from the other end from here on.
    fn turn_over(&mut self) {
        self.flipped = !self.flipped;
        self.last = self.rungs - 1 - self.last;
        self.tried = 1 << self.last;
        (self.g, self.spread.gg) = (STEP, STEP_VARIANCE);
    }

    /// Nothing is known of the level but this reading.
    fn begin_at(&mut self, y: f64, variance: f64) {
        self.x = y;
        self.spread = Spread { xx: variance, xg: 0.0, xd: 0.0, ..self.spread };
        self.count = 0;
    }

    /// The ladder is another one: noise is kept, the rest starts again.
    fn new_ladder(&mut self, rungs: usize) {
        if self.rungs > 0 {
            let mut estimator = core::mem::take(&mut self.estimator);
            estimator.new_ladder();
            *self = Self { estimator, aim: self.aim, ..Self::new(self.rated, self.amends) };
        }
        self.rungs = rungs;
    }

    /// The rung is another one, `k` rungs harder.
    fn moved(&mut self, k: f64) {
        if k == 0.0 {
            return;
        }
        let s = &mut self.spread;
        self.x += k * self.g;
        s.xx += 2.0 * k * s.xg + k * k * s.gg + STEP_NOISE;
        s.xg += k * s.gg;
        s.xd += k * s.gd;
        s.gg += STEP_WANDER;
    }

    /// A round has passed.
    fn drifted(&mut self, drift: f64) {
        let s = &mut self.spread;
        if self.rated {
            self.x += self.d;
            s.xx += 2.0 * s.xd + s.dd;
            s.xg += s.gd;
            s.xd += s.dd;
            s.dd += RATE_WANDER;
        }
        s.xx += drift * drift;
    }

    /// The round was read as `y`, with this variance.
    fn correct(&mut self, y: f64, variance: f64) {
        let innovation = y - self.x;
        self.surprised(innovation / libm::sqrt(self.spread.xx + variance));
        let s = &mut self.spread;
        let whole = s.xx + variance;
        let (a, b, c) = (s.xx / whole, s.xg / whole, s.xd / whole);
        self.x += a * innovation;
        self.g = (self.g + b * innovation).max(STEP_LEAST);
        s.gg -= b * s.xg;
        if self.rated {
            self.d += c * innovation;
            s.dd -= c * s.xd;
            s.gd -= b * s.xd;
            s.xd -= a * s.xd;
        }
        s.xg -= a * s.xg;
        s.xx -= a * s.xx;
    }

    /// Takes down a standardised innovation, and makes x unsure where the latest say that the level has jumped.
    fn surprised(&mut self, innovation: f64) {
        self.recent.copy_within(1.., 0);
        self.recent[RECENT - 1] = innovation;
        self.count = (self.count + 1).min(RECENT);
        let mut sum = innovation;
        for latest in 2..=self.count {
            sum += self.recent[RECENT - latest];
            // |sum| / sqrt(latest) > SURPRISE
            if sum * sum > SURPRISE * SURPRISE * place(latest) {
                self.count = 0;
                self.spread.xx += JUMP;
                return;
            }
        }
    }

    /// Rungs of the ladder, and the last one read, from the softest.
    pub(super) const fn at(&self) -> (usize, usize) {
        (self.last, self.rungs)
    }

    /// Whether the rung at `place` from the softest was read.
    pub(super) const fn tried(&self, place: usize) -> bool {
        self.tried >> place & 1 == 1
    }

    /// Writes everything down by name.
    pub(super) fn save(&self) -> LawState {
        let mut state = LawState::default();
        self.estimator.save(&mut state);
        let Spread { xx, xg, gg, xd, gd, dd } = self.spread;
        let values = [self.x, self.g, self.d, xx, xg, gg, xd, gd, dd, self.aim.ln];
        NAMES.iter().zip(values).for_each(|(name, value)| state.set_real(name, value));
        for (place, value) in self.recent[RECENT - self.count..].iter().enumerate() {
            state.set_real(RECENT_NAMES[place], *value);
        }
        state.set("recent", self.count as u64);
        state.set("tried", self.tried);
        state.set("rung", self.last as u64);
        state.set("rungs", self.rungs as u64);
        state.set("begun", u64::from(self.begun));
        state.set("flipped", u64::from(self.flipped));
        self.guard.save(&mut state);
        state
    }

    /// Takes up what was saved. What cannot be is left fresh, all of it: half of a filter is none.
    pub(super) fn restore(&mut self, state: &LawState) {
        let fresh = Self::new(self.rated, self.amends);
        *self = Self { estimator: core::mem::take(&mut self.estimator), ..fresh };
        self.estimator.restore(state);
        if let Some(restored) = self.restored(state) {
            *self = restored;
        }
    }

    fn restored(&self, state: &LawState) -> Option<Self> {
        let mut values = [0.0; NAMES.len()];
        for (value, name) in values.iter_mut().zip(NAMES) {
            *value = state.real(name).filter(|value| value.abs() < 1e6)?;
        }
        let [x, g, d, xx, xg, gg, xd, gd, dd, aim] = values;
        let (begun, rungs) = (state.get("begun")? == 1, small(state, "rungs")?);
        let (last, count) = (small(state, "rung")?, small(state, "recent")?.min(RECENT));
        if xx < 0.0 || gg < 0.0 || dd < 0.0 || g < STEP_LEAST || rungs == 0 || last >= rungs {
            return None;
        }
        let mut recent = [0.0; RECENT];
        for (slot, name) in recent[RECENT - count..].iter_mut().zip(RECENT_NAMES) {
            *slot = state.real(name)?;
        }
        Some(Self {
            estimator: self.estimator.clone(),
            // as if the target had been the one of then: the first reading corrects for a new one
            aim: Aim::resumed(aim),
            begun,
            resumed: begun,
            x,
            g,
            d,
            spread: Spread { xx, xg, gg, xd, gd, dd },
            tried: state.get("tried")?,
            recent,
            count,
            last,
            rungs,
            rated: self.rated,
            amends: self.amends,
            guard: Guard::restore(state),
            flipped: state.get("flipped") == Some(1),
            against: false,
        })
    }
}

/// A place or a small count.
pub(super) fn small(state: &LawState, name: &str) -> Option<usize> {
    state.get(name).and_then(|value| usize::try_from(value).ok()).filter(|value| *value <= 64)
}

const NAMES: [&str; 10] =
    ["x", "step", "rate", "spread.xx", "spread.xg", "spread.gg", "spread.xd", "spread.gd", "spread.dd", "aim"];
const RECENT_NAMES: [&str; RECENT] = ["recent.0", "recent.1", "recent.2", "recent.3"];
