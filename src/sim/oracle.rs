//! `oracle`: the law that is told which rung is right. Only a simulation can run it; it is the ceiling for all others.

use crate::engine::{Decision, Evidence, Law, Reading, Rung, Why};

/// Runs the rung that is right in each round.
#[derive(Clone, Debug)]
pub struct Oracle<'a> {
    path: &'a [Rung],
    next: usize,
}

impl<'a> Oracle<'a> {
    /// An oracle for a run whose right rungs are these, the first round's first. It stays on the last of them.
    #[must_use]
    pub const fn new(path: &'a [Rung]) -> Self {
        Self { path, next: 1 }
    }
}

impl Law for Oracle<'_> {
    fn name(&self) -> &'static str {
        "oracle"
    }

    #[inline]
    fn decide(&mut self, reading: &Reading<'_>) -> Decision {
        let to = self.path.get(self.next).copied().unwrap_or(reading.rung);
        self.next += 1;
        let mean = reading.window.mean();
        let side = mean.map(|mean| reading.band.side(mean));
        Decision { to, why: Why::Told, evidence: Evidence::of(mean, side) }
    }
}
