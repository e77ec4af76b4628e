//! `stride`, `stride3` and their guard: a filter of three numbers as plain matrices. Places count from the softest rung here.

use flyball::engine::laws::real::{place, real, whole};
use flyball::engine::{Reading, Why};

use super::reading::{Noise, Seen};
use super::turns::Debt;
use super::{Answer, Slip, Slipped};

type Matrix = [[f64; 3]; 3];

fn times(a: &Matrix, b: &Matrix) -> Matrix {
    let cell = |row: usize, column: usize| (0..3).map(|k| a[row][k] * b[k][column]).sum();
    std::array::from_fn(|row| std::array::from_fn(|column| cell(row, column)))
}

/// A move: by how much it should have changed the level, the level before it and its variance.
#[derive(Clone, Copy)]
struct Made {
    expected: f64,
    before: f64,
    variance: f64,
}

#[derive(Default)]
struct Guard {
    trust: f64,
    made: Option<Made>,
    age: u32,
}

impl Guard {
    fn said(&self, level: f64, variance: f64) -> f64 {
        self.made.map_or(0.0, |made| {
            (2.0 * made.expected * (level - made.before) / (made.variance + variance)).clamp(-3.0, 3.0)
        })
    }
}

pub(super) struct Stride {
    noise: Noise,
    rated: bool,
    debt: Option<Debt>,
    begun: bool,
    state: [f64; 3],
    spread: Matrix,
    tried: Vec<usize>,
    recent: Vec<f64>,
    last: usize,
    rungs: usize,
    flipped: bool,
    against: bool,
    guard: Guard,
}

impl Stride {
    pub(super) fn new(rated: bool, dithers: bool) -> Self {
        let rate = if rated { 0.000_064 } else { 0.0 };
        Self {
            noise: Noise::default(),
            rated,
            debt: dithers.then(Debt::default),
            begun: false,
            state: [0.0, 0.47, 0.0],
            spread: [[4.0, 0.0, 0.0], [0.0, 0.04, 0.0], [0.0, 0.0, rate]],
            tried: vec![],
            recent: vec![],
            last: 0,
            rungs: 0,
            flipped: false,
            against: false,
            guard: Guard::default(),
        }
    }

    pub(super) fn decide(&mut self, reading: &Reading<'_>, slip: Slipped) -> Option<Answer> {
        self.rungs = reading.rungs.count();
        let seen = self.noise.observe(reading, slip)?;
        self.learn(self.turned(reading.rung.index()), &seen, slip);
        let ([x, g, _], here) = (self.state, self.last);
        if let Some(debt) = &mut self.debt {
            debt.spent(reading, seen.turns, slip);
        }
        let steps = -x / g;
        let wanted = place_of(here) + slip.pick(Slip::RoundsDown, whole(libm::floor(steps)), whole(steps));
        let there = usize::try_from(wanted.clamp(0, place_of(self.rungs - 1))).ok()?;
        let there = slip.pick(Slip::OneRungAMove, there.clamp(here.saturating_sub(1), here + 1), there);
        let gain = (x.abs() - (x + (place(there) - place(here)) * g).abs()) * slip.pick(Slip::GainBackwards, -1.0, 1.0);
        let least = slip.pick(Slip::NoHysteresisAtAll, 0.0, if self.rated { 0.06 } else { 0.08 });
        let tried = self.tried.contains(&there) || slip.is(Slip::AllTried);
        let (to, why) = match self.between(slip) {
            Some(other) => (other, Why::Between),
            None if there == here && wanted == place_of(here) => (here, Why::Nearest),
            None if there == here => (here, Why::PastEnd),
            None if gain > least || (gain > 0.0 && !tried) => (there, Why::Nearer),
            None => (here, Why::LittleGain),
        };
        let (to, why) = match self.probe(slip).filter(|_| to == here) {
            Some(back) => (back, Why::Probe),
            None => (to, if self.against { Why::Backwards } else { why }),
        };
        Some((self.turned(to), why))
    }

    const fn turned(&self, place: usize) -> usize {
        if self.flipped { place } else { self.rungs - 1 - place }
    }

    fn learn(&mut self, rung: usize, seen: &Seen, slip: Slipped) {
        let amended = slip.pick(Slip::AmendedBackwards, -seen.amended, seen.amended);
        self.state[0] += slip.pick(Slip::AmendedNever, 0.0, amended);
        if !self.begun {
            (self.begun, self.state[0], self.last) = (true, seen.y, rung);
        }
        if !slip.is(Slip::NothingTried) {
            self.tried.push(rung);
        }
        let (k, before) = (place(rung) - place(self.last), (self.state[0], self.spread[0][0]));
        self.last = rung;
        self.predict(k, slip);
        self.against = false;
        if k.abs() > 0.5 {
            let made = Made { expected: k * self.state[1], before: before.0, variance: before.1 + 0.01 * k * k };
            if self.moved(made, seen, slip) {
                self.turn_over();
                let rate = self.spread[2][2];
                self.state[0] = seen.y;
                self.spread = [[seen.v, 0.0, 0.0], [0.0, 0.04, self.spread[1][2]], [0.0, self.spread[2][1], rate]];
                self.recent.clear();
                return;
            }
        }
        self.correct(seen, slip);
        let stuck = self.past_end();
        let said = self.guard.said(self.state[0], self.spread[0][0]);
        let upside = stuck && self.guard.age <= 6 && self.guard.trust + said < -1.5;
        self.guard.age += 1;
        if upside && !slip.is(Slip::TurnsOverNever) {
            self.guard = Guard::default();
            self.against = true;
            self.turn_over();
        }
    }

    /// A round has passed, on a rung that is `k` harder than the one before.
    fn predict(&mut self, k: f64, slip: Slipped) {
        let k = match () {
            () if slip.is(Slip::MoveNotPredicted) => 0.0,
            () if slip.is(Slip::MovePredictedBackwards) => -k,
            () => k,
        };
        let moved = k.abs() > 0.5;
        self.step(&[[1.0, k, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]);
        if moved {
            self.spread[0][0] += 0.01;
            self.spread[1][1] += 0.0025;
        }
        if self.rated {
            let d = slip.pick(Slip::RateNotAdded, 0.0, slip.pick(Slip::RateAddedTwice, 2.0, 1.0));
            if slip.is(Slip::RateForgotten) {
                self.state[2] = 0.0;
            }
            self.step(&[[1.0, 0.0, d], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]);
            self.spread[2][2] += 0.000_000_01;
        }
        let drift = if self.rated { 0.016 } else { 0.03 };
        let drift = slip.pick(Slip::NoDriftOfLevel, 0.0, drift);
        self.spread[0][0] += drift * drift;
    }

    fn step(&mut self, f: &Matrix) {
        let turned = std::array::from_fn(|row| std::array::from_fn(|column| f[column][row]));
        self.state = std::array::from_fn(|row| (0..3).map(|k| f[row][k] * self.state[k]).sum());
        self.spread = times(&times(f, &self.spread), &turned);
    }

    fn correct(&mut self, seen: &Seen, slip: Slipped) {
        let innovation = seen.y - self.state[0];
        self.recent.push(innovation / libm::sqrt(self.spread[0][0] + seen.v));
        let latest = self.recent.iter().rev().take(4).scan(0.0, |sum, one| {
            *sum += one;
            Some(*sum)
        });

        let jumped = (1..).zip(latest).any(|(count, sum)| count > 1 && sum.abs() / libm::sqrt(place(count)) > 4.0);
        if (jumped && !slip.is(Slip::SurpriseNever)) || slip.is(Slip::SurpriseAlways) {
            self.recent.clear();
            self.spread[0][0] += 0.25;
        }
        let whole = self.spread[0][0] + seen.v;
        let mut gain = [0, 1, 2].map(|row| self.spread[row][0] / whole);
        if slip.is(Slip::RateForStep) {
            gain.swap(1, 2);
        }
        let first = self.spread[0];
        self.state[0] += gain[0] * innovation;
        let learnt = match () {
            () if slip.is(Slip::StepNotLearnt) => 0.0,
            () if slip.is(Slip::StepLearntBackwards) => -gain[1],
            () => gain[1],
        };
        self.state[1] = (self.state[1] + learnt * innovation).max(0.15);
        if self.rated {
            self.state[2] += slip.pick(Slip::RateLearntBackwards, -1.0, 1.0) * gain[2] * innovation;
        }
        if slip.is(Slip::SpreadStays) {
            return;
        }
        for (row, gain) in self.spread.iter_mut().zip(gain) {
            row.iter_mut().zip(first).for_each(|(value, first)| *value -= gain * first);
        }
        if slip.is(Slip::SpreadGone) {
            self.spread[0][0] = 0.0;
        }
    }

    /// Whether a move says, with those before it, that the ladder is upside down.
    fn moved(&mut self, made: Made, seen: &Seen, slip: Slipped) -> bool {
        self.guard.trust = (self.guard.trust + self.guard.said(made.before, made.variance)).min(6.0);
        (self.guard.made, self.guard.age) = (Some(made), 0);
        let said = self.guard.said(seen.y, seen.v);
        let upside = self.guard.trust + said < -4.0;
        self.against = upside || said < -2.9;
        let turns = (upside && !slip.is(Slip::TurnsOverNever)) || slip.is(Slip::TurnsOverAtOnce);
        if turns {
            self.guard = Guard::default();
        }
        turns
    }

    fn turn_over(&mut self) {
        self.flipped = !self.flipped;
        self.last = self.rungs - 1 - self.last;
        self.tried = vec![self.last];
        (self.state[1], self.spread[1][1]) = (0.47, 0.04);
    }

    fn past_end(&self) -> bool {
        let [x, g, _] = self.state;
        let sure = x.abs() > g / 2.0 + 2.0 * libm::sqrt(self.spread[0][0]);
        sure && self.last == if x > 0.0 { 0 } else { self.rungs - 1 }
    }

    fn probe(&self, slip: Slipped) -> Option<usize> {
        let guard = &self.guard;
        let trusts = guard.trust + guard.said(self.state[0], self.spread[0][0]) >= 1.5;
        let wonders = (guard.age > 3 && !trusts && !slip.is(Slip::ProbesNever)) || slip.is(Slip::ProbesAlways);
        let back = if self.last == 0 { 1 } else { self.last - 1 };
        (wonders && self.rungs > 1 && self.past_end()).then_some(back)
    }

    /// The rung to run where the target lies between two.
    fn between(&self, slip: Slipped) -> Option<usize> {
        let debt = self.debt.as_ref()?;
        let ([x, g, _], here) = (self.state, place(self.last));
        let unsure = self.spread[0][0] + self.spread[1][1] >= 0.35 * 0.35;
        let below = here + libm::floor(-x / g);
        if unsure || below < 0.0 || below + 1.0 > place(self.rungs - 1) {
            return None;
        }
        let error = |at: f64| x + (at - here) * g;
        let near = slip.pick(Slip::TurnsWhenNear, 0.0, 0.14);
        if error(below) > -near || error(below + 1.0) < near {
            return None;
        }
        let at = usize::try_from(whole(below)).ok()?;
        Some(debt.choose(self.last, (at, error(below)), (at + 1, error(below + 1.0)), slip))
    }
}

/// A place as a whole number.
fn place_of(at: usize) -> i64 {
    whole(place(at))
}

/// Output of the round over the target.
pub(super) fn over(reading: &Reading<'_>) -> f64 {
    real(reading.round.output.count()) * 1e6 / real(reading.band.target().micros())
}
