//! Every metric from its definition, with no care for speed: the judge of the fast one.

use super::super::fixed::ufloat;
use super::super::metric::Metric;
use super::super::runlog::{RunLog, Seen};
use super::Scoring;

/// A log, ln of the mean of each rung in each round, and how to score.
pub(super) struct Slow<'a> {
    pub(super) log: &'a RunLog,
    pub(super) ln: &'a [Vec<f64>],
    pub(super) s: &'a Scoring,
}

fn f(n: usize) -> f64 {
    ufloat(n as u64)
}

fn part(n: usize, of: usize) -> Option<f64> {
    (of > 0).then(|| f(n) / f(of))
}

fn average(all: &[f64]) -> f64 {
    all.iter().sum::<f64>() / f(all.len())
}

#[expect(clippy::wildcard_enum_match_arm, reason = "each judge takes the metrics it knows and passes on the rest")]
impl Slow<'_> {
    pub(super) fn metric(&self, metric: Metric) -> Option<f64> {
        let total = match metric {
            Metric::Tokens => Some(ufloat(self.log.total_tokens())),
            Metric::BudgetOver => self.log.budget.map(|budget| ufloat(self.log.total_tokens().saturating_sub(budget))),
            Metric::Rounds => Some(f(self.rounds())),
            Metric::Secs => Some(self.secs(self.rounds())),
            _ => None,
        };
        if total.is_some() || self.rounds() == 0 {
            return total;
        }
        self.levels(metric).or_else(|| self.changes(metric)).or_else(|| self.stays(metric))
    }

    fn rounds(&self) -> usize {
        self.log.rounds()
    }

    fn rung(&self, k: usize) -> usize {
        usize::from(self.log.rung[k])
    }

    fn target(&self) -> f64 {
        ufloat(self.s.target.micros()) / 1e6
    }

    fn secs(&self, k: usize) -> f64 {
        ufloat(self.log.at_ms[k] - self.log.at_ms[0]) / 1e3
    }

    fn e(&self, k: usize, l: usize) -> f64 {
        self.ln[k][l] - libm::log(self.target())
    }

    fn d(&self, k: usize) -> f64 {
        (0..self.ln[k].len()).map(|l| self.e(k, l).abs()).fold(f64::INFINITY, f64::min)
    }

    fn band(&self, k: usize, l: usize) -> bool {
        libm::log(0.85) <= self.e(k, l) && self.e(k, l) <= libm::log(1.15)
    }

    fn near(&self, k: usize, l: usize) -> bool {
        self.e(k, l).abs() <= self.d(k) + 1e-9
    }

    fn good(&self, k: usize, l: usize) -> bool {
        self.band(k, l) || self.near(k, l)
    }

    fn on(&self, k: usize) -> bool {
        self.good(k, self.rung(k))
    }

    fn count(&self, holds: impl Fn(usize) -> bool) -> usize {
        (0..self.rounds()).filter(|&k| holds(k)).count()
    }

    /// Tokens per turn over the target between two rounds.
    fn mean(&self, from: usize, to: usize) -> Option<f64> {
        let turns = self.log.turns[to] - self.log.turns[from];
        (turns > 0).then(|| ufloat(self.log.tokens[to] - self.log.tokens[from]) / ufloat(turns) / self.target())
    }

    fn levels(&self, metric: Metric) -> Option<f64> {
        let (rounds, log) = (self.rounds(), self.log);
        let root = |square: &dyn Fn(usize) -> f64| ((0..rounds).map(square).sum::<f64>() / f(rounds)).sqrt();
        let rms = root(&|k| self.e(k, self.rung(k)) * self.e(k, self.rung(k)));
        match metric {
            Metric::OnRung => part(self.count(|k| self.on(k)), rounds),
            Metric::InBandTrue => {
                self.metric(Metric::Feasible).filter(|&some| some > 0.0)?;
                part(self.count(|k| self.band(k, self.rung(k))), rounds)
            }
            Metric::Feasible => part(self.count(|k| (0..self.ln[k].len()).any(|l| self.band(k, l))), rounds),
            Metric::InBandMeasured => {
                let readings = self.count(|k| log.seen[k] != Seen::Nothing);
                part(self.count(|k| log.seen[k] == Seen::Inside), readings)
            }
            Metric::RmsLog => Some(rms),
            Metric::ExcessLog => Some(rms - root(&|k| self.d(k) * self.d(k))),
            Metric::BlockErr => self.blocks(),
            Metric::Bias => {
                let from = self.s.burn_in as usize;
                if from < rounds { Some(self.mean(from, rounds)? - 1.0) } else { None }
            }
            Metric::OffTokens => {
                let spent = |k: usize| log.tokens[k + 1] - log.tokens[k];
                let off: u64 = (0..rounds).filter(|&k| !self.on(k)).map(spent).sum();
                (log.total_tokens() > 0).then(|| ufloat(off) / ufloat(log.total_tokens()))
            }
            Metric::FalseMove => {
                let at_best = |k: usize| k + 1 < rounds && self.near(k, self.rung(k));
                let left = self.count(|k| at_best(k) && self.rung(k + 1) != self.rung(k));
                part(left, self.count(at_best))
            }
            _ => None,
        }
    }

    fn blocks(&self) -> Option<f64> {
        let block = self.s.block as usize;
        let squares: Vec<f64> = (self.s.burn_in as usize..)
            .step_by(self.s.block_step as usize)
            .take_while(|from| from + block <= self.rounds())
            .filter_map(|from| self.mean(from, from + block))
            .map(|ratio| libm::log(ratio) * libm::log(ratio))
            .collect();
        (!squares.is_empty()).then(|| average(&squares).sqrt())
    }

    /// Rounds after which the rung turned back.
    fn turning(&self) -> Vec<usize> {
        let moves: Vec<usize> = (0..self.rounds() - 1).filter(|&k| self.rung(k) != self.rung(k + 1)).collect();
        let softer = |k: usize| self.rung(k + 1) > self.rung(k);
        moves.windows(2).filter(|pair| softer(pair[0]) != softer(pair[1])).map(|pair| pair[1]).collect()
    }

    fn changes(&self, metric: Metric) -> Option<f64> {
        let rounds = self.rounds();
        let turns = self.turning();
        match metric {
            Metric::Moves => part(100 * self.count(|k| k > 0 && self.rung(k) != self.rung(k - 1)), rounds),
            Metric::Reversals => part(100 * turns.len(), rounds),
            Metric::Pinned => part(100 * self.log.pinned as usize, rounds),
            Metric::LimitCycle | Metric::Chatter => {
                let halves: Vec<f64> = turns.windows(2).map(|pair| f(pair[1] - pair[0])).collect();
                let swings: Vec<f64> =
                    turns.windows(2).map(|pair| f(self.rung(pair[0]).abs_diff(self.rung(pair[1])))).collect();
                if halves.len() < 8 {
                    return Some(0.0);
                }
                let m = average(&halves);
                let sd = (halves.iter().map(|h| (h - m) * (h - m)).sum::<f64>() / f(halves.len() - 1)).sqrt();
                let cycle = m > 3.0 * sd || average(&swings) >= 1.5;
                Some(if cycle == (metric == Metric::LimitCycle) { 1.0 } else { 0.0 })
            }
            _ => None,
        }
    }

    fn stays(&self, metric: Metric) -> Option<f64> {
        let (rounds, hold) = (self.rounds(), self.s.hold as usize);
        let hit = (0..rounds).find(|&k| self.on(k));
        let settle = (0..rounds).find(|&k| k + hold <= rounds && (k..k + hold).all(|j| self.on(j)));
        let at = settle.unwrap_or(rounds);
        let past = |k: usize| {
            let good: Vec<usize> = (0..self.ln[k].len()).filter(|&l| self.good(k, l)).collect();
            match hit {
                Some(hit) if k > hit && self.rung(hit) < self.rung(0) => good[0].saturating_sub(self.rung(k)),
                Some(hit) if k > hit && self.rung(hit) > self.rung(0) => {
                    self.rung(k).saturating_sub(good[good.len() - 1])
                }
                _ => 0,
            }
        };
        match metric {
            Metric::HitRounds => Some(f(hit.unwrap_or(rounds))),
            Metric::Settled => Some(if settle.is_some() { 1.0 } else { 0.0 }),
            Metric::SettleRounds => Some(f(at)),
            Metric::SettleTokens => Some(ufloat(self.log.tokens[at])),
            Metric::SettleSecs => Some(self.secs(at)),
            Metric::Retain => settle.map(|from| {
                let starts = self.count(|k| k >= from && self.on(k) && (k == from || !self.on(k - 1)));
                f(self.count(|k| k >= from && self.on(k))) / f(starts)
            }),
            Metric::Overshoot => (0..rounds).map(past).max().map(f),
            Metric::OvershootLog => {
                let overs = (0..rounds).filter(|&k| past(k) > 0);
                Some(overs.map(|k| self.e(k, self.rung(k)).abs()).fold(0.0, f64::max))
            }
            _ => None,
        }
    }
}
