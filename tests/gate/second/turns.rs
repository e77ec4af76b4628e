//! `model` and `hybrid`, and two rungs in turn. Places count from the softest rung here.

use flyball::engine::laws::real::place;
use flyball::engine::{Reading, Why};

use super::filter::over;
use super::reading::{Noise, edges};
use super::{Answer, Slip, Slipped};

/// What was spent too much, in targets.
#[derive(Default)]
pub(super) struct Debt {
    owed: f64,
    turns: f64,
}

impl Debt {
    pub(super) fn spent(&mut self, reading: &Reading<'_>, turns: f64, slip: Slipped) {
        self.turns = if self.turns > 0.0 { 0.8 * self.turns + 0.2 * turns } else { turns };
        let forgets = slip.is(Slip::DebtForgotten) || slip.is(Slip::OwesForgotten);
        let keep = if forgets { 0.0 } else { slip.pick(Slip::FadesNever, 1.0, 0.95) };
        let backwards = slip.is(Slip::DebtBackwards) || slip.is(Slip::OwesBackwards);
        let owed = keep * self.owed + (over(reading) - turns) * if backwards { -1.0 } else { 1.0 };
        self.owed = owed.clamp(-3.0 * self.turns, 3.0 * self.turns);
    }

    /// Which of the two around the target: each a place and its error.
    pub(super) fn choose(&self, here: usize, below: (usize, f64), above: (usize, f64), slip: Slipped) -> usize {
        let (owed, width) = (self.owed / self.turns.max(1.0), slip.pick(Slip::WidthLeftOut, 0.0, 0.5));
        match () {
            () if owed < -width => above.0,
            () if owed > width => below.0,
            () if here == above.0 || here == below.0 => here,
            () if above.1 < -below.1 => above.0,
            () => below.0,
        }
    }
}

pub(super) struct Model {
    noise: Noise,
    debt: Option<Debt>,
    mean: Vec<f64>,
    spread: Vec<Vec<f64>>,
    here: Option<usize>,
}

impl Model {
    pub(super) fn new(turns: bool) -> Self {
        let (mean, spread) = (vec![], vec![]);
        Self { noise: Noise::default(), debt: turns.then(Debt::default), mean, spread, here: None }
    }

    pub(super) fn decide(&mut self, reading: &Reading<'_>, slip: Slipped) -> Option<Answer> {
        let rungs = reading.rungs.count();
        let here = rungs - 1 - reading.rung.index();
        if self.mean.is_empty() || (slip.is(Slip::MoveForgets) && self.here.is_some_and(|last| last != here)) {
            self.begin(here, rungs, slip);
        }
        let seen = self.noise.observe(reading, slip)?;
        self.here = Some(here);
        let drift = slip.pick(Slip::NoDriftOfAny, 0.0, 0.05);
        for (row, values) in self.spread.iter_mut().enumerate() {
            for (column, value) in values.iter_mut().enumerate() {
                let drifts = !slip.is(Slip::DriftOfOne) || (row == here && column == here);
                *value += if drifts { drift * drift } else { 0.0 };
            }
        }
        self.correct(here, (seen.y, seen.v), slip);
        if let Some(debt) = &mut self.debt {
            debt.spent(reading, seen.turns, slip);
        }
        let (to, why) = self.choose(here, reading, slip);
        Some((rungs - 1 - to, why))
    }

    /// ln of a rung over the target, before anything was read.
    fn begin(&mut self, here: usize, rungs: usize, slip: Slipped) {
        let steps = |rung: usize| place(rung) - place(here);
        let slope = libm::log(1.6) * slip.pick(Slip::LadderBackwards, -1.0, 1.0);
        self.mean = (0..rungs).map(|rung| slope * steps(rung)).collect();
        let cell = |row: usize, column: usize| {
            let own = if row == column { 0.15 * 0.15 } else { 0.0 };
            4.0 + 0.25 * 0.25 * steps(row) * steps(column) + own
        };
        self.spread = (0..rungs).map(|row| (0..rungs).map(|column| cell(row, column)).collect()).collect();
    }

    fn correct(&mut self, here: usize, (y, v): (f64, f64), slip: Slipped) {
        let column: Vec<f64> = self.spread.iter().map(|row| row[here]).collect();
        let (innovation, whole) = (y - self.mean[here], column[here] + v);
        for (rung, mean) in self.mean.iter_mut().enumerate() {
            if rung == here || !slip.is(Slip::OthersNotLearnt) {
                *mean += column[rung] / whole * innovation;
            }
        }
        for (row, left) in self.spread.iter_mut().zip(&column) {
            row.iter_mut().zip(&column).for_each(|(value, right)| *value -= left * right / whole);
        }
    }

    fn choose(&self, here: usize, reading: &Reading<'_>, slip: Slipped) -> (usize, Why) {
        let nearer = |best: usize, rung: usize| {
            let passes = !slip.is(Slip::FirstBelow) || self.mean[rung] <= 0.0;
            if passes && self.mean[rung].abs() < self.mean[best].abs() { rung } else { best }
        };
        let best = (0..self.mean.len()).fold(0, nearer);
        let least = |above: bool| {
            let side = (0..self.mean.len()).filter(|rung| (self.mean[*rung] >= 0.0) == above);
            side.reduce(|best, rung| if self.mean[rung].abs() < self.mean[best].abs() { rung } else { best })
        };
        let (below, above, half) = (least(false), least(true), libm::log(1.6) / 2.0);
        let (error, (low, high)) = (self.mean[here], edges(reading));
        if let (Some(debt), Some(below), Some(above)) = (&self.debt, below, above) {
            let inside = (low..=high).contains(&self.mean[best]) && !slip.is(Slip::TurnsInBand);
            if !inside && !slip.is(Slip::NeverTurns) {
                let near = |rung: usize| (rung, self.mean[rung]);
                return (debt.choose(here, near(below), near(above), slip), Why::Between);
            }
        }
        let past = (error < -half && above.is_none()) || (error > half && below.is_none() && here == 0);
        let gain = error.abs() - self.mean[best].abs();
        let doubt = slip.pick(Slip::DoubtNotAsked, 0.0, libm::sqrt(self.spread[here][here].max(0.0)));
        match () {
            () if best == here && past => (here, Why::PastEnd),
            () if best == here => (here, Why::Nearest),
            () if gain <= slip.pick(Slip::NoGainAsked, 0.0, 0.1) => (here, Why::LittleGain),
            () if error.abs() <= doubt => (here, Why::Unsure),
            () => (best, Why::Nearer),
        }
    }
}
