//! What a round says about its rung: the reading that all laws that estimate share, a second time.

use flyball::engine::laws::real::{nats, place, real};
use flyball::engine::{Reading, RoundSums};

use super::{Slip, Slipped};

/// What a round says.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seen {
    /// ln of the rung's mean in the long run, over the target, and its variance.
    pub(super) y: f64,
    pub(super) v: f64,
    pub(super) turns: f64,
    pub(super) ln_mean: f64,
    pub(super) within: f64,
    pub(super) between: f64,
    /// By how much what is added to the mean of ln x has changed with this round.
    pub(super) amended: f64,
}

/// Noise so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Noise {
    squares: (f64, f64),
    pairs: (f64, f64),
    all: (f64, f64),
    own: Vec<(f64, f64)>,
    last: Option<(usize, f64, f64)>,
}

/// ln of the target.
pub(super) fn ln_target(reading: &Reading<'_>) -> f64 {
    libm::log(real(reading.band.target().micros()) / 1e6)
}

/// ln of the band's edges over the target.
pub(super) fn edges(reading: &Reading<'_>) -> (f64, f64) {
    let over = |edge: f64| libm::log(edge) - ln_target(reading);
    (over(reading.band.low().tokens()), over(reading.band.high().tokens()))
}

impl Noise {
    pub(super) fn observe(&mut self, reading: &Reading<'_>, slip: Slipped) -> Option<Seen> {
        let RoundSums { positive, output, logged, ln, ln_squared, .. } = reading.round;
        if positive == 0 || output.count() == 0 {
            return None;
        }
        let less = slip.pick(Slip::TurnsLessOne, u64::from(positive > 1), 0);
        let (rung, n, a) = (reading.rung.index(), real(positive - less), real(output.count()));
        let (l, q) = (nats(ln), nats(ln_squared));
        let before = self.lift(rung, slip);
        let mut m = l / n / slip.pick(Slip::LogToBaseTwo, libm::log(2.0), 1.0);
        if positive >= 2 {
            self.squares.0 += (q - l * (l / n)).max(0.0);
            self.squares.1 += n - 1.0;
        }
        if slip.is(Slip::NothingPooled) {
            self.squares = (0.0, 0.0);
        }
        if !slip.is(Slip::LumpLost) {
            m += libm::log(a / real(logged.count()));
        }
        let s2 = self.within();
        let t2 = self.between((rung, m, n), s2, slip);
        self.add((rung, m, n), a, s2, reading.rungs.count());
        let lift = self.lift(rung, slip);
        let v = slip.pick(Slip::WithinUndivided, s2, s2 / n) + t2;
        Some(Seen {
            y: m + lift - ln_target(reading),
            v,
            turns: n,
            ln_mean: m,
            within: s2,
            between: t2,
            amended: lift - before,
        })
    }

    fn within(&self) -> f64 {
        ((self.squares.0 + 6.9) / (self.squares.1 + 10.0)).min(500.0)
    }

    fn t2(&self) -> f64 {
        ((self.pairs.0 + 0.54) / (self.pairs.1 + 6.0)).max(0.0025)
    }

    fn between(&mut self, (rung, m, n): (usize, f64, f64), s2: f64, slip: Slipped) -> f64 {
        if let Some((at, m0, n0)) = self.last
            && (at == rung || slip.is(Slip::AnyRungCompared))
        {
            let luck = s2 * (1.0 / n + 1.0 / n0);
            let apart = ((m - m0) * (m - m0)).min(9.0 * (luck + 2.0 * self.t2()));
            self.pairs.0 += (apart - luck * slip.pick(Slip::LuckAdded, -1.0, 1.0)) / 2.0;
            self.pairs.1 += 1.0;
        }
        self.last = Some((rung, m, n));
        self.t2()
    }

    fn add(&mut self, (rung, m, n): (usize, f64, f64), a: f64, s2: f64, rungs: usize) {
        self.own.resize(rungs, (0.0, 0.0));
        let gap = (a / n / libm::exp(m)).min(30.0) * libm::exp(s2 / 2.0 / n);
        let add = |(sum, turns): &mut (f64, f64)| (*sum, *turns) = (*sum + n * gap, *turns + n);
        add(&mut self.all);
        add(&mut self.own[rung]);
    }

    /// What is added to the mean of ln x on this rung.
    fn lift(&self, rung: usize, slip: Slipped) -> f64 {
        let pooled = (self.all.0 + 600.0 * libm::exp(self.within() / 2.0)) / (self.all.1 + 600.0);
        let (sum, turns) = self.own.get(rung).copied().unwrap_or((0.0, 0.0));
        let c = match () {
            () if slip.is(Slip::RatioLeftOut) => 0.0,
            () if slip.is(Slip::RatioOfAll) => libm::log(pooled),
            () => libm::log((sum + 300.0 * pooled) / (turns + 300.0)),
        };
        c + slip.pick(Slip::BetweenLeftOut, 0.0, self.t2() / 2.0)
    }
}

/// The nearest place to a position, no farther than the ends.
pub(super) fn nearest(position: f64, rungs: usize) -> usize {
    (0..rungs).fold(0, |best, rung| {
        let apart = |rung: usize| (place(rung) - position).abs();
        if apart(rung) < apart(best) - 1e-12 { rung } else { best }
    })
}
