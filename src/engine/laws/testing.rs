//! What the laws' tests share: one law, fed round by round.

use super::{AnyLaw, Cooldown, LawKind, Tuning};
use crate::engine::{
    Band, Belief, Decision, Law, Ratio, Reading, RoundSums, Rungs, Sums, Target, Timestamp, Tokens, Why,
};

/// The sums of a round of these turns.
pub(super) fn sums(turns: &[u64]) -> RoundSums {
    let mut sums = RoundSums { turns: turns.len() as u64, ..RoundSums::default() };
    sums.output = turns.iter().fold(Tokens::ZERO, |sum, turn| sum.plus(Tokens::new(*turn)));
    turns.iter().for_each(|turn| sums.add_log(*turn));
    sums
}

/// Turns with the spread of a lognormal of cv one, and this mean.
pub(super) fn like(mean: u64) -> [u64; 10] {
    [25, 50, 80, 120, 225, 25, 50, 80, 120, 225].map(|share| mean * share / 100)
}

/// A reading after a round at the place `rung` from the hardest; the window is the round.
pub(super) fn reading<'a>(band: &'a Band, rungs: Rungs, rung: usize, round: &RoundSums) -> Reading<'a> {
    Reading {
        now: Timestamp::EPOCH,
        cutoff: Timestamp::EPOCH,
        window: Sums { turns: round.turns, output: round.output },
        round: *round,
        rung: rungs.rung(rung).unwrap(),
        rungs,
        band,
        spent: Tokens::ZERO,
        budget: None,
    }
}

/// One law. Places count from the softest rung.
pub(super) struct Bench {
    kind: LawKind,
    tuning: Tuning,
    pub(super) law: Cooldown<AnyLaw>,
    band: Band,
    rungs: Rungs,
    last: Option<Decision>,
}

impl Bench {
    pub(super) fn new(kind: LawKind, rungs: usize, target: u64) -> Self {
        let band = Band::new(Target::from_tokens(target), Ratio::from_ppm(150_000)).unwrap();
        let (tuning, rungs) = (Tuning::USUAL, Rungs::new(rungs).unwrap());
        Self { kind, tuning, law: kind.tuned(&tuning), band, rungs, last: None }
    }

    pub(super) fn with(mut self, knob: &str, value: u32) -> Self {
        self.tuning.set(self.kind, knob, value).unwrap();
        self.law = self.kind.tuned(&self.tuning);
        self
    }

    pub(super) fn slack(mut self, ppm: u32) -> Self {
        self.band = Band::new(self.band.target(), Ratio::from_ppm(ppm)).unwrap();
        self
    }

    pub(super) fn aim(&mut self, target: u64) {
        self.band = Band::new(Target::from_tokens(target), Ratio::from_ppm(150_000)).unwrap();
    }

    /// A round at this place, whose decision does not matter.
    pub(super) fn past(&mut self, at: usize, turns: &[u64]) {
        self.round(at, turns);
    }

    pub(super) fn round(&mut self, at: usize, turns: &[u64]) -> (usize, Why) {
        let last = self.rungs.count() - 1;
        let decision = self.law.decide(&reading(&self.band, self.rungs, last - at, &sums(turns)));
        self.last = Some(decision);
        (last - self.rungs.clamp(decision.to).index(), decision.why)
    }

    pub(super) fn belief(&self) -> Option<Belief> {
        self.last?.evidence.belief
    }
}
