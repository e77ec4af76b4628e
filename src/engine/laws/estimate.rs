//! The reading that every estimating law shares: what a round says about its rung's long-run tokens per turn, and how
//! surely.
//!
//! It is not a law: it knows no target and moves nothing. It is fed the sums of one round ([`RoundSums`]) and gives the
//! logarithm of the mean with a variance. Units: nats (natural logarithm of tokens per turn), and their squares.
//!
//! # Theory
//!
//! Turns of a round share a session effect; on the log scale a turn is the rung's level + session + turn, with variances
//! tau^2 (between sessions) and s^2 (within). What is spent in the long run is the *arithmetic* mean, and
//!
//! ln(mean) = mean of ln x + ln(arithmetic over geometric mean inside a session) + tau^2/2.
//!
//! The first term has little noise even where turns have heavy tails; the other two are learnt slowly. For lognormal turns the
//! second is s^2/2. Real turns are a mixture of short tool calls and long thinking, of which effort moves the second alone,
//! so that the second term differs from rung to rung: each rung starts at the lognormal's value and goes over to its own
//! measured ratio as its turns come in. A law that leaves out the third reads tau^2/2 too low.
//!
//! With n turns, A their sum, L and Q the sums of ln x and ln^2 x:
//!
//! 1. m = L/n; the sums of squares within rounds give s^2, pooled over all rungs, beginning as of [`WITHIN`] with the weight
//!    of [`WITHIN_TURNS`] turns.
//! 2. Two successive rounds on one rung differ by w = s^2 (1/n + 1/n') and twice tau^2: the method of moments, each
//!    difference held at 9 (w + 2 tau^2), beginning as of [`BETWEEN`] with the weight of [`BETWEEN_ROUNDS`] rounds, and never
//!    below [`BETWEEN_LEAST`]. A drift of the level adds only its step to one difference.
//! 3. The gap (A/n) / e^m, times e^(s^2/2n) because e^m is biased up by that much, at most [`GAP_MOST`], is averaged over turns: over all rungs
//!    beginning as of e^(s^2/2) with the weight of [`GAP_POOLED`] turns, and for each rung beginning as of that with the
//!    weight of [`GAP_OWN`].
//! 4. The estimate is m + ln(gap) + tau^2/2 with variance s^2/n + tau^2.
//!
//! What is added to m, the *lift* of the rung, is learnt while the loop runs, so that earlier estimates were made with another one.
//! A law that keeps a level over rounds can ask for the lift and correct what it holds by as much as it has changed.
//!
//! Tokens that came in a report that is no turn belong to the turns of their round, and are laid onto them in proportion:
//! that adds ln of the whole over what the turns told to every logarithm, and leaves s^2 alone.
//!
//! Turns without output have no logarithm and are left out; a round without any says nothing. Sources: the control study's
//! reading; method of moments for variance components as in Searle, Casella and McCulloch, *Variance Components* (1992);
//! ratio of means by Finney (1941) for the lognormal.

use alloc::vec::Vec;

use super::real::{nats, real};
use crate::engine::law::LawState;
use crate::engine::meter::RoundSums;

/// Variance of ln x within a session before anything was seen: that of a lognormal whose cv is one, about ln 2.
pub const WITHIN: f64 = 0.69;
/// How many turns that is worth.
pub const WITHIN_TURNS: f64 = 10.0;
/// No counts of 64 bits have a larger variance of ln x.
const WITHIN_MOST: f64 = 500.0;
/// Variance between sessions before anything was seen: 0.3 squared.
pub const BETWEEN: f64 = 0.09;
/// How many rounds that is worth.
pub const BETWEEN_ROUNDS: f64 = 6.0;
/// The least variance between sessions that is believed: 0.05 squared.
pub const BETWEEN_LEAST: f64 = 0.0025;
/// Turns that the lognormal's ratio of means is worth beside those seen on all rungs.
pub const GAP_POOLED: f64 = 600.0;
/// Turns that the ratio of all rungs is worth beside those seen on one.
pub const GAP_OWN: f64 = 300.0;
/// The most that one round's ratio of means counts.
pub const GAP_MOST: f64 = 30.0;

/// What a round says about its rung.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// ln of the rung's tokens per turn in the long run, as this round alone has it.
    pub level: f64,
    /// Its variance.
    pub variance: f64,
    /// Turns that it rests on.
    pub turns: f64,
    /// Mean of ln x over them.
    pub ln_mean: f64,
    /// What is added to `ln_mean`: ln of the ratio of means, and half the variance between sessions.
    pub lift: f64,
    /// Variance of ln x within a session.
    pub within: f64,
    /// Variance between sessions.
    pub between: f64,
}

/// Ratio of means, summed over turns.
#[derive(Clone, Copy, Debug, Default)]
struct Gap {
    sum: f64,
    turns: f64,
}

impl Gap {
    fn add(&mut self, turns: f64, gap: f64) {
        self.sum += turns * gap;
        self.turns += turns;
    }
}

/// The last round that had turns.
#[derive(Clone, Copy, Debug)]
struct Last {
    rung: usize,
    ln_mean: f64,
    turns: f64,
}

/// What has been learnt about noise so far. Fresh by default.
#[derive(Clone, Debug, Default)]
pub struct Estimator {
    squares: f64,
    freedom: f64,
    between: f64,
    pairs: f64,
    all: Gap,
    own: Vec<Gap>,
    last: Option<Last>,
}

impl Estimator {
    /// Takes in the round that ended, run at `rung` (any numbering, as long as it stays) of `rungs`; none where it had no
    /// turn with output.
    pub fn observe(&mut self, rung: usize, rungs: usize, sums: &RoundSums) -> Option<Estimate> {
        if sums.positive == 0 || sums.output.count() == 0 {
            return None;
        }
        let (turns, tokens) = (real(sums.positive), real(sums.output.count()));
        let (ln, ln_squared) = (nats(sums.ln), nats(sums.ln_squared));
        let mut ln_mean = ln / turns;
        if sums.positive >= 2 {
            self.squares += (ln_squared - ln * ln_mean).max(0.0);
            self.freedom += turns - 1.0;
        }
        if sums.output > sums.logged {
            ln_mean += libm::log(tokens / real(sums.logged.count()));
        }
        let within = self.within();
        let between = self.compare(Last { rung, ln_mean, turns }, within);
        self.add_gap(rung, rungs, (turns, tokens), (ln_mean, within));
        let lift = self.ratio(rung, within) + between / 2.0;
        let variance = within / turns + between;
        Some(Estimate { level: ln_mean + lift, variance, turns, ln_mean, lift, within, between })
    }

    /// What is added to the mean of ln x of this rung, as known so far.
    pub fn lift(&self, rung: usize) -> f64 {
        self.ratio(rung, self.within()) + self.between() / 2.0
    }

    /// The variance within a session as known so far.
    fn within(&self) -> f64 {
        ((self.squares + WITHIN_TURNS * WITHIN) / (self.freedom + WITHIN_TURNS)).min(WITHIN_MOST)
    }

    /// The variance between sessions as known so far.
    fn between(&self) -> f64 {
        let moment = (self.between + BETWEEN_ROUNDS * BETWEEN) / (self.pairs + BETWEEN_ROUNDS);
        moment.max(BETWEEN_LEAST)
    }

    /// Compares a round with the one before it, and gives the variance between sessions.
    fn compare(&mut self, now: Last, within: f64) -> f64 {
        let before = self.last.replace(now).filter(|before| before.rung == now.rung);
        if let Some(before) = before {
            let luck = within * (1.0 / now.turns + 1.0 / before.turns);
            let apart = now.ln_mean - before.ln_mean;
            let held = (apart * apart).min(9.0 * (luck + 2.0 * self.between()));
            self.between += (held - luck) / 2.0;
            self.pairs += 1.0;
        }
        self.between()
    }

    /// Takes in the arithmetic over the geometric mean of a round.
    fn add_gap(&mut self, rung: usize, rungs: usize, (turns, tokens): (f64, f64), (ln_mean, within): (f64, f64)) {
        if self.own.len() != rungs {
            self.own.resize(rungs, Gap::default());
        }
        // no number here can get too large: a count has at most 44 nats
        let gap = (tokens / turns * libm::exp(-ln_mean)).min(GAP_MOST) * libm::exp(within / (2.0 * turns));
        self.all.add(turns, gap);
        if let Some(own) = self.own.get_mut(rung) {
            own.add(turns, gap);
        }
    }

    /// ln of the arithmetic over the geometric mean at this rung, as known so far.
    fn ratio(&self, rung: usize, within: f64) -> f64 {
        let pooled = (self.all.sum + GAP_POOLED * libm::exp(within / 2.0)) / (self.all.turns + GAP_POOLED);
        let own = self.own.get(rung).copied().unwrap_or_default();
        libm::log((own.sum + GAP_OWN * pooled) / (own.turns + GAP_OWN))
    }

    /// Forgets what belongs to rungs, because the ladder is another one; noise is kept.
    pub fn new_ladder(&mut self) {
        *self = Self {
            squares: self.squares,
            freedom: self.freedom,
            between: self.between,
            pairs: self.pairs,
            ..Self::default()
        };
    }

    /// Writes everything down by name.
    pub fn save(&self, state: &mut LawState) {
        let Gap { sum, turns } = self.all;
        let noise = [self.squares, self.freedom, self.between, self.pairs, sum, turns];
        NOISE.iter().zip(noise).for_each(|(name, value)| state.set_real(name, value));
        for (rung, own) in self.own.iter().enumerate() {
            state.set_real(&alloc::format!("reading.{rung}.gap"), own.sum);
            state.set_real(&alloc::format!("reading.{rung}.turns"), own.turns);
        }
        state.set("reading.rungs", self.own.len() as u64);
        if let Some(Last { rung, ln_mean, turns }) = self.last {
            state.set("reading.last.rung", rung as u64);
            state.set_real("reading.last.ln", ln_mean);
            state.set_real("reading.last.turns", turns);
        }
    }

    /// Takes up what was saved; what is missing, or cannot be, starts afresh.
    pub fn restore(&mut self, state: &LawState) {
        let [squares, freedom, between, pairs, sum, turns] = NOISE.map(|name| state.real(name).unwrap_or(0.0));
        let sound = |value: f64| if (0.0..MOST).contains(&value) { value } else { 0.0 };
        let gap = |sum: f64, turns: f64| Gap { sum: sound(sum).max(sound(turns)), turns: sound(turns) };
        *self = Self {
            squares: sound(squares),
            freedom: sound(freedom),
            between: if between.abs() < MOST { between } else { 0.0 },
            pairs: sound(pairs),
            all: gap(sum, turns),
            ..Self::default()
        };
        let rungs = state.get("reading.rungs").and_then(|rungs| usize::try_from(rungs).ok()).unwrap_or(0);
        for rung in 0..rungs.min(crate::engine::Ladder::MAX) {
            let of = |what| state.real(&alloc::format!("reading.{rung}.{what}")).unwrap_or(0.0);
            self.own.push(gap(of("gap"), of("turns")));
        }
        self.last = last(state);
    }
}

/// The last round that had turns, if it was saved and can be.
fn last(state: &LawState) -> Option<Last> {
    let rung = usize::try_from(state.get("reading.last.rung")?).ok()?;
    let (ln_mean, turns) = (state.real("reading.last.ln")?, state.real("reading.last.turns")?);
    ((1.0..MOST).contains(&turns) && ln_mean.abs() < MOST).then_some(Last { rung, ln_mean, turns })
}

/// No sum of real rounds comes near this.
const MOST: f64 = 1e18;

const NOISE: [&str; 6] =
    ["reading.squares", "reading.freedom", "reading.between", "reading.pairs", "reading.gaps", "reading.turns"];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Tokens;
    use proptest::prelude::*;

    fn sums(outputs: &[u64]) -> RoundSums {
        let mut sums = RoundSums { turns: outputs.len() as u64, ..RoundSums::default() };
        sums.output = Tokens::new(outputs.iter().sum());
        outputs.iter().for_each(|output| sums.add_log(*output));
        sums
    }

    /// The rule as it is written in the module's page, from floats, without sharing a line with the code.
    fn by_hand(rounds: &[(usize, &[f64])]) -> (f64, f64) {
        let (mut ss, mut df, mut td, mut tn, mut g, mut n) = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0);
        let (mut own, mut last, mut out) = ([(0.0, 0.0); 4], None, (0.0, 0.0));
        for (rung, x) in rounds {
            let k = crate::engine::laws::real::place(x.len());
            let m = x.iter().map(|x| libm::log(*x)).sum::<f64>() / k;
            ss += x.iter().map(|x| (libm::log(*x) - m) * (libm::log(*x) - m)).sum::<f64>();
            df += k - 1.0;
            let s2 = (ss + 6.9) / (df + 10.0);
            let t2 = |td: f64, tn: f64| f64::max(0.0025, (td + 0.54) / (tn + 6.0));
            if let Some((at, m0, k0)) = last
                && at == *rung
            {
                let w: f64 = s2 * (1.0 / k + 1.0 / k0);
                let d: f64 = m - m0;
                td += (f64::min(d * d, 9.0 * (w + 2.0 * t2(td, tn))) - w) / 2.0;
                tn += 1.0;
            }
            last = Some((*rung, m, k));
            let gap = f64::min(30.0, x.iter().sum::<f64>() / k / libm::exp(m)) * libm::exp(s2 / 2.0 / k);
            (g, n) = (g + k * gap, n + k);
            own[*rung] = (own[*rung].0 + k * gap, own[*rung].1 + k);
            let pooled = (g + 600.0 * libm::exp(s2 / 2.0)) / (n + 600.0);
            let c = libm::log((own[*rung].0 + 300.0 * pooled) / (own[*rung].1 + 300.0));
            out = (m + c + t2(td, tn) / 2.0, s2 / k + t2(td, tn));
        }
        out
    }

    proptest! {
        #[test]
        fn it_is_the_rule_of_its_page(rounds in prop::collection::vec((0usize..4, prop::collection::vec(1u64..100_000, 1..30)), 1..20)) {
            let mut estimator = Estimator::default();
            let mut last = None;
            for (rung, outputs) in &rounds {
                last = estimator.observe(*rung, 4, &sums(outputs));
            }
            let floats: Vec<(usize, Vec<f64>)> =
                rounds.iter().map(|(rung, outputs)| (*rung, outputs.iter().map(|x| real(*x)).collect())).collect();
            let borrowed: Vec<(usize, &[f64])> = floats.iter().map(|(rung, x)| (*rung, x.as_slice())).collect();
            let (level, variance) = by_hand(&borrowed);
            let seen = last.unwrap();
            prop_assert!((seen.level - level).abs() < 1e-6 && (seen.variance - variance).abs() < 1e-6, "{seen:?} {level} {variance}");
        }

        #[test]
        fn what_is_saved_goes_on_as_if_nothing_had_been(
            rounds in prop::collection::vec((0usize..4, prop::collection::vec(0u64..100_000, 0..9)), 1..20), cut in 0usize..20
        ) {
            let (mut whole, mut parts) = (Estimator::default(), Estimator::default());
            for (place, (rung, outputs)) in rounds.iter().enumerate() {
                if place == cut {
                    let mut state = LawState::default();
                    parts.save(&mut state);
                    parts = Estimator::default();
                    parts.restore(&state);
                }
                prop_assert_eq!(whole.observe(*rung, 4, &sums(outputs)), parts.observe(*rung, 4, &sums(outputs)));
            }
        }

        #[test]
        fn any_round_gives_a_number(rungs in 1usize..5, rounds in prop::collection::vec((0usize..9, prop::collection::vec(0u64..u64::MAX / 64, 0..40)), 0..9)) {
            let mut estimator = Estimator::default();
            for (rung, outputs) in &rounds {
                if let Some(seen) = estimator.observe(*rung, rungs, &sums(outputs)) {
                    prop_assert!(seen.level.is_finite() && seen.variance.is_finite() && seen.variance > 0.0, "{seen:?}");
                }
            }
        }

        #[test]
        fn any_state_is_taken_up_without_a_panic(names in prop::collection::vec((0usize..9, any::<u64>()), 0..12)) {
            let mut state = LawState::default();
            let known = ["reading.rungs", "reading.last.rung", "reading.last.ln", "reading.last.turns", "reading.0.gap"];
            for (name, bits) in names {
                let name = *NOISE.get(name).or(known.get(name.saturating_sub(6))).unwrap_or(&"reading.0.turns");
                state.set(name, bits);
            }
            let mut estimator = Estimator::default();
            estimator.restore(&state);
            let seen = estimator.observe(0, 3, &sums(&[100, 200])).unwrap();
            prop_assert!(seen.level.is_finite() && seen.variance > 0.0, "{seen:?}");
        }
    }

    #[test]
    fn a_round_without_output_says_nothing() {
        let mut estimator = Estimator::default();
        assert_eq!(estimator.observe(0, 2, &sums(&[])), None);
        assert_eq!(estimator.observe(0, 2, &sums(&[0, 0])), None);
    }

    #[test]
    fn tokens_that_are_no_turn_belong_to_the_turns_of_their_round() {
        let (mut whole, mut lumped) = (Estimator::default(), Estimator::default());
        let told = sums(&[100, 200, 300, 150]);
        let lump = RoundSums { output: Tokens::new(7500), ..told };
        for _ in 0..3 {
            let (whole, lumped) = (whole.observe(0, 1, &sums(&[1000, 2000, 3000, 1500])), lumped.observe(0, 1, &lump));
            let (whole, lumped) = (whole.unwrap(), lumped.unwrap());
            assert!((whole.level - lumped.level).abs() < 1e-9 && (whole.variance - lumped.variance).abs() < 1e-9);
        }
    }

    /// Turns of two kinds, of which the larger carry the mean: a lognormal's ratio of means is far off, and the rung's own is learnt.
    #[test]
    fn each_rung_learns_its_own_ratio_of_means() {
        let mut estimator = Estimator::default();
        let mixed: Vec<u64> = (0..40).map(|turn| if turn % 10 == 0 { 10_000 } else { 100 }).collect();
        let mean = 1090.0;
        let first = estimator.observe(1, 3, &sums(&mixed)).unwrap();
        let mut last = first;
        for _ in 0..300 {
            last = estimator.observe(1, 3, &sums(&mixed)).unwrap();
        }
        let off = |seen: &Estimate| (seen.level - seen.between / 2.0 - libm::log(mean)).abs();
        assert!(off(&first) > 0.3 && off(&last) < 0.04, "{} {}", off(&first), off(&last));
    }
}
