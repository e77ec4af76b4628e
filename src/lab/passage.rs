//! How long, and how much spent, until a law first stands right and until it has stood right for some rounds in a row:
//! exact for a law that moves one rung a round on a reading of that round alone.
//!
//! A round both costs something and decides the next rung, and the two go together: a round that falls short of the band
//! is a cheap one. So each rung states, for each way it can go, the chance of that way and what the round then costs,
//! times that chance. Everything follows from sums and products of what is not negative: there is no subtraction, so that
//! rungs far from the target, from which a way back is all but impossible, make large numbers and never 0/0. Rungs are in
//! **ascending tokens**, as in [`theory`](super::theory). It is not a simulation and knows no window over several rounds.
//!
//! Sources: Kemeny and Snell (1960), *Finite Markov Chains*, for absorption; Grassmann, Taksar and Heyman (1985) for
//! elimination without subtraction; the theory of success runs (Feller 1968, XIII.7) for rounds in a row.

use super::special::{gamma_tails, normal_cdf};
use super::theory::{Chain, log_edges};

/// So many steps of a distribution of times are summed at the most: a second or so.
const MOST_STEPS: u64 = 100_000_000;

/// One way that a round can go.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Way {
    /// Its chance.
    pub chance: f64,
    /// What the round costs if it goes so, times the chance.
    pub cost: f64,
}

impl Way {
    /// Both ways as one.
    #[must_use]
    pub const fn or(self, other: Self) -> Self {
        Self { chance: self.chance + other.chance, cost: self.cost + other.cost }
    }

    /// With a cost in addition, whichever way the round goes.
    #[must_use]
    pub const fn plus(self, more: f64) -> Self {
        Self { chance: self.chance, cost: self.cost + more * self.chance }
    }
}

/// The ways of a round at one rung.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Ways {
    /// Towards more tokens.
    pub up: Way,
    /// It stays.
    pub hold: Way,
    /// Towards fewer tokens.
    pub down: Way,
}

impl Ways {
    /// Of a reading of `n` gamma turns of mean `mean` and coefficient of variation `c`, all turns of the round, against
    /// a band of slack `s` about `target`. The cost is in tokens. Exact.
    #[must_use]
    pub fn gamma(n: f64, c: f64, mean: f64, target: f64, s: f64) -> Self {
        let shape = n / (c * c);
        let (low, high) = (shape * target * (1.0 - s).max(0.0) / mean, shape * target * (1.0 + s) / mean);
        let ((below, over_low), (under_high, above)) = (gamma_tails(shape, low), gamma_tails(shape, high));
        // E[X; X < a] of a gamma is its mean times the same tail with one more in the shape
        let ((cheap, _), (_, dear)) = (gamma_tails(shape + 1.0, low), gamma_tails(shape + 1.0, high));
        let within = gamma_tails(shape + 1.0, high).0 - cheap;
        Self {
            up: Way { chance: below, cost: n * mean * cheap },
            hold: Way { chance: (over_low - above).min(under_high - below).max(0.0), cost: n * mean * within.max(0.0) },
            down: Way { chance: above, cost: n * mean * dear },
        }
    }

    /// The same where the log of the reading is normal with variance `v` and mean e - v/2 above the target's: the closed
    /// form of Fenton and Wilkinson for sums of lognormals. `tokens` is what the round costs in the mean.
    #[must_use]
    pub fn lognormal(e: f64, s: f64, v: f64, tokens: f64) -> Self {
        let (low, high) = log_edges(s);
        let sd = v.sqrt();
        // shifted by v, the same tails hold the share of the tokens
        let tails = |centre: f64| (normal_cdf((low - centre) / sd), normal_cdf((centre - high) / sd));
        let ((below, above), (cheap, dear)) = (tails(e - 0.5 * v), tails(e + 0.5 * v));
        Self {
            up: Way { chance: below, cost: tokens * cheap },
            hold: Way { chance: (1.0 - below - above).max(0.0), cost: tokens * (1.0 - cheap - dear).max(0.0) },
            down: Way { chance: above, cost: tokens * dear },
        }
    }

    /// A round that surely holds or moves by where the mean lies, at this cost: no noise at all.
    #[must_use]
    pub fn certain(e: f64, s: f64, tokens: f64) -> Self {
        let (sure, (low, high)) = (Way { chance: 1.0, cost: tokens }, log_edges(s));
        if e < low {
            Self { up: sure, ..Self::default() }
        } else if e > high {
            Self { down: sure, ..Self::default() }
        } else {
            Self { hold: sure, ..Self::default() }
        }
    }

    /// The mean of several kinds of round, each with its share.
    #[must_use]
    pub fn mixed(kinds: &[(f64, Self)]) -> Self {
        let mut all = Self::default();
        let scaled = |way: Way, share: f64| Way { chance: way.chance * share, cost: way.cost * share };
        for &(share, ways) in kinds {
            all.up = all.up.or(scaled(ways.up, share));
            all.hold = all.hold.or(scaled(ways.hold, share));
            all.down = all.down.or(scaled(ways.down, share));
        }
        all
    }

    /// The same ways, each round costing one: for counting rounds.
    #[must_use]
    pub const fn rounds(self) -> Self {
        const fn one(way: Way) -> Way {
            Way { chance: way.chance, cost: way.chance }
        }
        Self { up: one(self.up), hold: one(self.hold), down: one(self.down) }
    }
}

/// A ladder of rungs in ascending tokens, each with its ways. What would lead off an end holds.
#[derive(Clone, Debug, PartialEq)]
pub struct Passage {
    rungs: Vec<Ways>,
}

impl Passage {
    /// Of these rungs; nothing for an empty ladder, or where a chance or a cost is negative or no number.
    #[must_use]
    pub fn new(mut rungs: Vec<Ways>) -> Option<Self> {
        let sound = |way: &Way| (0.0..=1.0 + 1e-9).contains(&way.chance) && way.cost >= 0.0 && way.cost.is_finite();
        if rungs.is_empty() || !rungs.iter().all(|ways| [ways.up, ways.hold, ways.down].iter().all(sound)) {
            return None;
        }
        if let Some(top) = rungs.last_mut() {
            top.hold = top.hold.or(std::mem::take(&mut top.up));
        }
        if let Some(bottom) = rungs.first_mut() {
            bottom.hold = bottom.hold.or(std::mem::take(&mut bottom.down));
        }
        Some(Self { rungs })
    }

    /// Without costs: the chain of its moves.
    #[must_use]
    pub fn chain(&self) -> Option<Chain> {
        Chain::new(&self.rungs.iter().map(|ways| (ways.up.chance, ways.down.chance)).collect::<Vec<_>>())
    }

    /// The same ladder with each round costing one.
    #[must_use]
    pub fn rounds(&self) -> Self {
        Self { rungs: self.rungs.iter().map(|ways| ways.rounds()).collect() }
    }

    /// The expected cost of the rounds before the first `hold` rounds in a row on rungs that are `right`, from a start
    /// on each rung: what is spent before the run of right rounds that settles begins. With `hold` = 1, before the first
    /// right round. Infinite where that never comes; nothing unless `right` has a place for each rung and `hold` is at
    /// least 1.
    #[must_use]
    pub fn before(&self, right: &[bool], hold: u32) -> Option<Vec<f64>> {
        if right.len() != self.rungs.len() || hold == 0 {
            return None;
        }
        let attempts = self.attempts(right, hold);
        let wrong: Vec<usize> = (0..right.len()).filter(|&rung| !right[rung]).collect();
        let mut system = System::new(wrong.len());
        for (row, &from) in wrong.iter().enumerate() {
            for (to, way) in self.ways(from) {
                system.cost[row] += way.cost;
                if right[to] {
                    system.enter(row, way.chance, &attempts[to]);
                } else if let Ok(column) = wrong.binary_search(&to) {
                    system.add(row, column, way.chance);
                }
            }
        }
        let solved = system.solve();
        let from = |rung: usize| match wrong.binary_search(&rung) {
            Ok(row) => solved[row],
            Err(_) => attempts[rung].total(&solved),
        };
        Some((0..right.len()).map(from).collect())
    }

    /// The mean share of the first `rounds` rounds on each rung, from a start on one; nothing off the ladder, or for no
    /// round.
    #[must_use]
    pub fn shares(&self, start: usize, rounds: u32) -> Option<Vec<f64>> {
        if start >= self.rungs.len() || rounds == 0 {
            return None;
        }
        let (mut at, mut sums) = (vec![0.0; self.rungs.len()], vec![0.0; self.rungs.len()]);
        at[start] = 1.0;
        for _ in 0..rounds {
            let mut then = vec![0.0; at.len()];
            for (rung, here) in at.iter().enumerate().filter(|(_, here)| **here > 0.0) {
                sums[rung] += here;
                self.ways(rung).for_each(|(to, way)| then[to] += here * way.chance);
            }
            at = then;
        }
        Some(sums.into_iter().map(|sum| sum / f64::from(rounds)).collect())
    }

    /// The chance that, from a start on a rung, `hold` rounds in a row on rungs that are `right` lie within the first
    /// `rounds`: the distribution of the time to settle, summed. Nothing where [`before`](Self::before) says nothing, off
    /// the ladder, or where it would take more than a hundred million steps.
    #[must_use]
    pub fn settled(&self, right: &[bool], hold: u32, start: usize, rounds: u32) -> Option<f64> {
        let (rungs, run) = (self.rungs.len(), usize::try_from(hold).ok()?);
        if right.len() != rungs || hold == 0 || start >= rungs {
            return None;
        }
        if hold > rounds {
            return Some(0.0);
        }
        if u64::from(rounds) * u64::from(hold) * rungs as u64 > MOST_STEPS {
            return None;
        }
        // by rung and by how many right rounds in a row lie just before; of a wrong rung that does not matter
        let place = |rung: usize, row: usize| rung * run + if right[rung] { row } else { 0 };
        let mut at = vec![0.0; rungs * run];
        at[place(start, 0)] = 1.0;
        let mut settled = 0.0;
        for _ in 0..rounds {
            let mut then = vec![0.0; at.len()];
            for (state, here) in at.iter().enumerate().filter(|(_, here)| **here > 0.0) {
                let (rung, row) = (state / run, state % run);
                let row = if right[rung] { row + 1 } else { 0 };
                if row == run {
                    settled += here;
                    continue;
                }
                self.ways(rung).for_each(|(to, way)| then[place(to, row)] += here * way.chance);
            }
            at = then;
        }
        Some(settled)
    }

    /// Where a round at a rung may lead, itself included.
    fn ways(&self, rung: usize) -> impl Iterator<Item = (usize, Way)> + '_ {
        let ways = &self.rungs[rung];
        let down = rung.checked_sub(1).map(|to| (to, ways.down));
        let up = (rung + 1 < self.rungs.len()).then_some((rung + 1, ways.up));
        [down, Some((rung, ways.hold)), up].into_iter().flatten().filter(|(_, way)| way.chance > 0.0)
    }

    /// For each rung, the attempt at `hold` right rounds in a row that begins there; those on wrong rungs mean nothing.
    fn attempts(&self, right: &[bool], hold: u32) -> Vec<Attempt> {
        let wrongs = right.iter().filter(|right| !**right).count();
        let place: Vec<usize> = right
            .iter()
            .scan(0, |next, right| {
                let here = *next;
                *next += usize::from(!right);
                Some(here)
            })
            .collect();
        let mut ahead = vec![Attempt { success: 1.0, failure: 0.0, cost: 0.0, exits: vec![0.0; wrongs] }; right.len()];
        for _ in 1..hold {
            let mut here = vec![Attempt { exits: vec![0.0; wrongs], ..Attempt::default() }; right.len()];
            for (rung, attempt) in here.iter_mut().enumerate().filter(|(rung, _)| right[*rung]) {
                for (to, way) in self.ways(rung) {
                    if right[to] {
                        let then = &ahead[to];
                        attempt.success += way.chance * then.success;
                        attempt.failure += way.chance * then.failure;
                        // this round is lost only if the attempt fails later
                        attempt.cost += way.chance * then.cost + way.cost * then.failure;
                        attempt.exits.iter_mut().zip(&then.exits).for_each(|(sum, exit)| *sum += way.chance * exit);
                    } else {
                        attempt.failure += way.chance;
                        attempt.cost += way.cost;
                        attempt.exits[place[to]] += way.chance;
                    }
                }
            }
            ahead = here;
        }
        ahead
    }
}

/// An attempt at right rounds in a row.
#[derive(Clone, Debug, Default)]
struct Attempt {
    success: f64,
    failure: f64,
    /// What its rounds cost if it fails, times the chance of that.
    cost: f64,
    /// The chance to fail onto each wrong rung.
    exits: Vec<f64>,
}

impl Attempt {
    fn total(&self, wrong: &[f64]) -> f64 {
        let after = self.exits.iter().zip(wrong).filter(|(exit, _)| **exit > 0.0).map(|(exit, then)| exit * then);
        self.cost + after.sum::<f64>()
    }
}

/// x = cost + moves x, with a way out, solved by elimination from the last row without subtraction.
struct System {
    size: usize,
    moves: Vec<f64>,
    out: Vec<f64>,
    cost: Vec<f64>,
}

impl System {
    fn new(size: usize) -> Self {
        Self { size, moves: vec![0.0; size * size], out: vec![0.0; size], cost: vec![0.0; size] }
    }

    fn add(&mut self, row: usize, column: usize, chance: f64) {
        self.moves[row * self.size + column] += chance;
    }

    /// An attempt that begins with this chance.
    fn enter(&mut self, row: usize, chance: f64, attempt: &Attempt) {
        self.out[row] += chance * attempt.success;
        self.cost[row] += chance * attempt.cost;
        for (column, exit) in attempt.exits.iter().enumerate() {
            self.add(row, column, chance * exit);
        }
    }

    fn solve(mut self) -> Vec<f64> {
        let size = self.size;
        let mut leave = vec![0.0; size];
        for last in (0..size).rev() {
            leave[last] = self.out[last] + self.moves[last * size..last * size + last].iter().sum::<f64>();
            for row in 0..last {
                let into = self.moves[row * size + last];
                if into <= 0.0 {
                    continue;
                }
                if leave[last] <= 0.0 {
                    // a place that is never left
                    self.cost[row] = f64::INFINITY;
                    continue;
                }
                let share = into / leave[last];
                for column in 0..last {
                    self.moves[row * size + column] += share * self.moves[last * size + column];
                }
                self.out[row] += share * self.out[last];
                self.cost[row] += share * self.cost[last];
            }
        }
        let mut solved: Vec<f64> = Vec::with_capacity(size);
        for (row, &leave) in leave.iter().enumerate() {
            let before = self.moves[row * size..row * size + row].iter().zip(&solved);
            let known: f64 = before.filter(|(chance, _)| **chance > 0.0).map(|(chance, then)| chance * then).sum();
            solved.push(if leave > 0.0 { (self.cost[row] + known) / leave } else { f64::INFINITY });
        }
        solved
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(got: f64, want: f64) -> bool {
        (got - want).abs() <= 1e-9 * want.abs().max(1.0)
    }

    fn way(chance: f64) -> Way {
        Way { chance, cost: chance }
    }

    fn walk(rungs: &[(f64, f64)]) -> Passage {
        let ways = |&(up, down): &(f64, f64)| Ways { up: way(up), hold: way(1.0 - up - down), down: way(down) };
        Passage::new(rungs.iter().map(ways).collect()).unwrap()
    }

    #[test]
    fn the_first_right_round_is_that_of_the_chain() {
        for (c, s) in [(1.0, 0.15), (0.4, 0.3)] {
            let means: Vec<f64> = (0..6).map(|rung| 500.0 * libm::pow(1.6, f64::from(rung))).collect();
            let ways = means.iter().map(|mean| Ways::gamma(10.0, c, *mean, 2048.0, s)).collect();
            let passage = Passage::new(ways).unwrap();
            let chain = passage.chain().unwrap();
            let right: Vec<bool> = (0..6).map(|rung| rung == 3).collect();
            let rounds = passage.rounds().before(&right, 1).unwrap();
            for (from, rounds) in rounds.iter().enumerate() {
                assert!(near(*rounds, chain.hitting(from, 3).unwrap()), "from {from}: {rounds}");
            }
        }
    }

    /// A coin until so many heads in a row: Feller's (p^-n - 1) / (1 - p), less the heads themselves.
    #[test]
    fn rounds_in_a_row_are_a_success_run() {
        for (p, hold) in [(0.5, 3), (0.9, 10), (0.25, 2)] {
            let passage = walk(&[(p, 1.0 - p), (p, 1.0 - p)]);
            let got = passage.before(&[false, true], hold).unwrap();
            let flips = (libm::pow(p, -f64::from(hold)) - 1.0) / (1.0 - p);
            // a first round that is wrong costs a flip, whichever rung it is
            assert!(near(got[0], 1.0 + flips - f64::from(hold)), "{got:?}");
            let first = (got[0] * (1.0 - p) + got[1] * p) + 1.0;
            assert!(near(first, got[0]), "{got:?}");
        }
    }

    /// A coin again: the first heads in a row by a round has a chance that is counted over all sequences.
    #[test]
    fn the_chance_to_settle_is_that_of_all_sequences() {
        let (p, hold, rounds) = (0.4, 3, 9_u32);
        let passage = walk(&[(p, 1.0 - p), (p, 1.0 - p)]);
        let counted: f64 = (0..1_u32 << rounds)
            // the first round is the start's, a tail
            .filter(|flips| flips & 1 == 0 && (0..rounds).any(|at| flips >> at & 0b111 == 0b111))
            .map(|flips| {
                let heads = f64::from(flips.count_ones());
                libm::pow(p, heads) * libm::pow(1.0 - p, f64::from(rounds) - 1.0 - heads)
            })
            .sum();
        let got = passage.settled(&[false, true], hold, 0, rounds).unwrap();
        assert!(near(got, counted) && got > 0.1, "{got} {counted}");
        // the mean time is the sum of the chances that it is not yet over
        let mean: f64 = (hold..4000).map(|by| 1.0 - passage.settled(&[false, true], hold, 0, by).unwrap()).sum();
        assert!(near(mean, passage.before(&[false, true], hold).unwrap()[0]), "{mean}");
        assert_eq!(passage.settled(&[false, true], 10, 0, 9), Some(0.0));
        assert_eq!(passage.settled(&[true, true], 9, 0, 9), Some(1.0));
        assert_eq!((passage.settled(&[true], 1, 0, 9), passage.settled(&[true, true], 0, 0, 9)), (None, None));
        assert_eq!(passage.settled(&[true, true], 100_000, 0, 100_000), None, "too long to sum");
    }

    #[test]
    fn shares_of_a_plan_begin_at_the_start_and_end_in_the_long_run() {
        let passage = walk(&[(0.5, 0.0), (0.2, 0.3), (0.0, 0.1)]);
        assert_eq!(passage.shares(0, 1).unwrap(), [1.0, 0.0, 0.0]);
        assert_eq!(passage.shares(0, 2).unwrap(), [0.75, 0.25, 0.0]);
        let long = passage.chain().unwrap().stationary().unwrap();
        let plan = passage.shares(2, 100_000).unwrap();
        assert!(plan.iter().zip(&long).all(|(plan, long)| (plan - long).abs() < 1e-3), "{plan:?} {long:?}");
        assert_eq!((passage.shares(3, 1), passage.shares(0, 0)), (None, None));
    }

    #[test]
    fn ways_at_slack_one_go_on_from_those_just_below() {
        for e in [-2.0, 0.0, 2.0] {
            let of =
                |s: f64| [Ways::lognormal(e, s, 0.4, 7.0), Ways::gamma(9.0, 1.0, 2000.0 * libm::exp(e), 2000.0, s)];
            for (one, below) in of(1.0).into_iter().zip(of(0.999_999)) {
                assert_eq!(one.up, Way::default());
                assert!(
                    (one.down.chance - below.down.chance).abs() < 1e-5 && (one.hold.cost - below.hold.cost).abs() < 1.0
                );
            }
            for (two, one) in of(2.0).into_iter().zip(of(1.0)) {
                assert!(two.up == Way::default() && two.down.chance <= one.down.chance, "{two:?} {one:?}");
            }
        }
        let sure = |e: f64, s: f64| Ways::certain(e, s, 1.0);
        assert_eq!((sure(-9.0, 1.0).hold.chance, sure(-9.0, 2.0).hold.chance), (1.0, 1.0));
        assert_eq!((sure(0.7, 1.0).down.chance, sure(0.7, 2.0).hold.chance), (1.0, 1.0));
    }

    #[test]
    fn costs_go_with_the_way_that_a_round_goes() {
        // half the rounds are cheap and move up, half are dear and hold
        let wrong =
            Ways { up: Way { chance: 0.5, cost: 0.5 }, hold: Way { chance: 0.5, cost: 5.0 }, down: Way::default() };
        let right = Ways { hold: Way { chance: 1.0, cost: 3.0 }, ..Ways::default() };
        let passage = Passage::new(vec![wrong, right]).unwrap();
        assert!(near(passage.before(&[false, true], 4).unwrap()[0], 1.0 + 10.0));
        assert!(near(passage.rounds().before(&[false, true], 4).unwrap()[0], 2.0));
    }

    #[test]
    fn ways_of_a_reading_add_up_to_the_round() {
        for (n, c, mean) in [(10.0, 1.0, 2048.0), (5.0, 1.5, 300.0), (60.0, 0.6, 9000.0)] {
            let all = |ways: Ways| ways.up.or(ways.hold).or(ways.down);
            let gamma = all(Ways::gamma(n, c, mean, 2048.0, 0.15));
            assert!(near(gamma.chance, 1.0) && (gamma.cost / (n * mean) - 1.0).abs() < 1e-9, "{gamma:?}");
            let v = super::super::theory::reading_variance(c, n, 0.2);
            let lognormal = all(Ways::lognormal(libm::log(mean / 2048.0), 0.15, v, n * mean));
            assert!(near(lognormal.chance, 1.0) && (lognormal.cost / (n * mean) - 1.0).abs() < 1e-9, "{lognormal:?}");
        }
        let sure = Ways::certain(libm::log(1.2), 0.15, 7.0);
        assert_eq!((sure.down, sure.up), (Way { chance: 1.0, cost: 7.0 }, Way::default()));
        assert_eq!(Ways::mixed(&[(0.25, sure), (0.75, sure)]), sure);
        assert_eq!(sure.down.plus(3.0), Way { chance: 1.0, cost: 10.0 });
    }

    #[test]
    fn distant_rungs_and_dead_ends_give_no_nonsense() {
        // twelve steps of four: chances far under what a float holds beside one
        let means: Vec<f64> = (0..12).map(|rung| libm::pow(4.0, f64::from(rung))).collect();
        let ways = means.iter().map(|mean| Ways::gamma(400.0, 0.3, *mean, 4096.0, 0.3)).collect();
        let passage = Passage::new(ways).unwrap();
        let right: Vec<bool> = (0..12).map(|rung| rung == 6).collect();
        let rounds = passage.rounds().before(&right, 10).unwrap();
        for (from, rounds) in rounds.iter().enumerate() {
            let steps = libm::fabs(f64::from(u8::try_from(from).unwrap()) - 6.0);
            assert!((rounds - steps).abs() < 1e-6, "from {from}: {rounds}");
        }
        // a tiny way out is a long time, and none is for ever
        let rare = walk(&[(1e-280, 0.0), (0.0, 0.0)]).before(&[false, true], 1).unwrap();
        assert!((rare[0] / 1e280 - 1.0).abs() < 1e-9, "{rare:?}");
        let never = walk(&[(0.0, 0.0), (0.5, 0.5), (0.0, 0.0)]).before(&[false, false, true], 1).unwrap();
        assert_eq!((never[0], never[1], never[2]), (f64::INFINITY, f64::INFINITY, 0.0));
        let none = walk(&[(0.5, 0.0), (0.0, 0.5)]).before(&[false, false], 1).unwrap();
        assert!(none.iter().all(|cost| cost.is_infinite()));
    }

    #[test]
    fn what_is_no_ladder_is_refused() {
        assert_eq!(Passage::new(vec![]), None);
        let bad = Ways { up: Way { chance: f64::NAN, cost: 0.0 }, ..Ways::default() };
        assert_eq!(Passage::new(vec![bad]), None);
        let passage = walk(&[(0.5, 0.0), (0.0, 0.5)]);
        assert_eq!((passage.before(&[true], 1), passage.before(&[true, false], 0)), (None, None));
    }
}
