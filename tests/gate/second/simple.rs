//! Laws that move one rung, or a share of the error: `confirm`, `integral`, `cusum`, `evidence`.

use flyball::engine::laws::real::place;
use flyball::engine::{Reading, Side, Why};

use super::reading::{Noise, edges, nearest};
use super::{Answer, Slip, Slipped};

/// One rung harder, or softer, or none; past the hardest is the hardest.
fn go(reading: &Reading<'_>, side: Side) -> usize {
    let here = reading.rung.index();
    match side {
        Side::Below => here.saturating_sub(1),
        Side::Within => here,
        Side::Above => here + 1,
    }
}

#[derive(Default)]
pub(super) struct Confirm {
    side: Option<Side>,
    row: u32,
}

impl Confirm {
    pub(super) fn decide(&mut self, reading: &Reading<'_>, slip: Slipped) -> Answer {
        let here = reading.rung.index();
        let side = reading.window.mean().filter(|mean| mean.total().count() > 0).map(|mean| reading.band.side(mean));
        let outside = side.filter(|side| *side != Side::Within);
        let Some(side) = outside else {
            if !slip.is(Slip::RowOutlivesBand) {
                *self = Self::default();
            }
            return (here, Why::WithinBand);
        };
        let goes_on = self.side == Some(side) || (slip.is(Slip::SidesAlike) && self.side.is_some());
        (self.row, self.side) = (if goes_on { self.row + 1 } else { 1 }, Some(side));
        let needed = slip.pick(Slip::ReadingLess, 2, slip.pick(Slip::ReadingMore, 4, 3));
        if self.row < needed {
            return (here, Why::Unconfirmed);
        }
        if !slip.is(Slip::RowOutlivesMove) {
            *self = Self::default();
        }
        (go(reading, side), Why::BelowBand)
    }
}

#[derive(Default)]
pub(super) struct Integral {
    noise: Noise,
    at: Option<f64>,
}

impl Integral {
    pub(super) fn decide(&mut self, reading: &Reading<'_>, slip: Slipped) -> Option<Answer> {
        let (here, rungs) = (place(reading.rung.index()), reading.rungs.count());
        let dead = 0.5 + slip.pick(Slip::NoHysteresis, 0.0, 0.15);
        let kept = |at: &f64| (at - here).abs() <= dead + 1e-9 || slip.is(Slip::NotHeldAtEnds);
        let at = self.at.filter(kept).filter(|_| !slip.is(Slip::PositionForgotten)).unwrap_or(here);
        self.at = Some(at);
        let seen = self.noise.observe(reading, slip)?;
        // harder is the smaller place, so that an error above zero asks for a larger one
        let ki = slip.pick(Slip::SharesWhole, 1.0, 0.3) * slip.pick(Slip::ErrorAdded, -1.0, 1.0);
        let wanted = at + ki * seen.y / slip.pick(Slip::ErrorInNats, 1.0, libm::log(1.6));
        let held = slip.pick(Slip::NotHeldAtEnds, wanted, wanted.clamp(0.0, place(rungs - 1)));
        self.at = Some(held);
        let stays = |position: f64| (position - here).abs() <= dead;
        Some(match () {
            () if stays(held) && !stays(wanted) => (reading.rung.index(), Why::PastEnd),
            () if stays(held) => (reading.rung.index(), Why::WithinBand),
            () => (nearest(held, rungs), Why::BelowBand),
        })
    }
}

#[derive(Default)]
pub(super) struct Cusum {
    noise: Noise,
    below: f64,
    above: f64,
    rung: Option<usize>,
}

impl Cusum {
    pub(super) fn decide(&mut self, reading: &Reading<'_>, slip: Slipped) -> Option<Answer> {
        let rung = reading.rung.index();
        if self.rung.is_some_and(|last| last != rung) && !slip.is(Slip::SumsOutliveMove) {
            (self.below, self.above) = (0.0, 0.0);
        }
        self.rung = Some(rung);
        let seen = self.noise.observe(reading, slip)?;
        let step = libm::log(1.6);
        let weight = step / slip.pick(Slip::PlainSpread, libm::sqrt(seen.v), seen.v);
        let half = slip.pick(Slip::NoHalfStep, 0.0, step / 2.0);
        let error = slip.pick(Slip::WrongWay, -seen.y, seen.y);
        let least = slip.pick(Slip::SumsBelowZero, f64::NEG_INFINITY, 0.0);
        let sum = |before: f64, error: f64| {
            let before = slip.pick(Slip::SumsForgotten, 0.0, before);
            (before + weight * (error - half)).max(least)
        };
        (self.above, self.below) = (sum(self.above, error), sum(self.below, -error));
        let most = slip.pick(Slip::EdgeHalved, 2.5, 5.0);
        let side = match () {
            () if self.above > most => Side::Above,
            () if self.below > most => Side::Below,
            () => return Some((rung, Why::Unsure)),
        };
        if !slip.is(Slip::SumsOutliveMove) {
            (self.below, self.above) = (0.0, 0.0);
        }
        Some((go(reading, side), Why::BelowBand))
    }
}

#[derive(Default)]
pub(super) struct Evidence {
    noise: Noise,
    stay: Vec<(f64, f64)>,
    rung: Option<usize>,
}

impl Evidence {
    pub(super) fn decide(&mut self, reading: &Reading<'_>, slip: Slipped) -> Option<Answer> {
        let rung = reading.rung.index();
        if self.rung != Some(rung) && !slip.is(Slip::StayOutlivesMove) {
            self.stay.clear();
        }
        self.rung = Some(rung);
        let seen = self.noise.observe(reading, slip)?;
        self.stay.push((seen.turns, seen.ln_mean));
        let most = slip.pick(Slip::OneRoundStays, 1, 20);
        if self.stay.len() > most {
            let gone = slip.pick(Slip::OldestStays, most, 0);
            self.stay.remove(gone);
        }
        let weighed = |(turns, ln): &(f64, f64)| {
            let weight = 1.0 / (seen.within / turns + seen.between);
            (weight, weight * ln)
        };
        let (weights, sum) =
            self.stay.iter().map(weighed).fold((0.0, 0.0), |(weights, sum), (one, ln)| (weights + one, sum + ln));
        let mean = slip.pick(Slip::ErrorOfLast, seen.ln_mean, sum / weights);
        let (error, se) = (mean - seen.ln_mean + seen.y, libm::sqrt(1.0 / weights));
        let (low, high) = slip.pick(Slip::NoBandAsked, (0.0, 0.0), edges(reading));
        let z = slip.pick(Slip::NoDoubtAsked, 0.0, 2.0);
        let side = match () {
            () if error.abs() <= z * se => Side::Within,
            () if error < low => Side::Below,
            () if error > high => Side::Above,
            () => Side::Within,
        };
        let why = if side == Side::Within { Why::Unsure } else { Why::BelowBand };
        Some((go(reading, side), why))
    }
}
