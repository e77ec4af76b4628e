//! The metrics: what is said about a run, with stable names, units and the cases where a metric does not apply.
//!
//! A score is a fixed array of integers in millionths with a mask of those that apply. How it is formed is in
//! [`super::score`], how scores become means and intervals in [`super::tally`]. Not the loss: that is in
//! [`super::choose`].
//!
//! Rungs are the ones *used*, l_k, k = 0..R-1; A_k is the acceptable set of [`super::truth`]; J the target; b the
//! evaluation band. What a law decides after the last round counts for nothing.

use super::fixed::from_micros;

macro_rules! metrics {
    ($($(#[$doc:meta])* $variant:ident $name:literal $share:literal;)*) => {
        /// What is measured of a run. The order is stable, names are written to results and never change meaning.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        pub enum Metric { $($(#[$doc])* $variant,)* }

        impl Metric {
            /// All of them, in order.
            pub const ALL: [Self; METRICS] = [$(Self::$variant,)*];

            /// The stable name.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// Whether a run either has it or not, so that its mean is a share of runs.
            #[must_use]
            pub const fn is_share(self) -> bool {
                match self { $(Self::$variant => $share,)* }
            }
        }

        const COUNTED: usize = [$($name,)*].len();
    };
}

/// How many metrics there are.
pub const METRICS: usize = 27;
const _: () = assert!(COUNTED == METRICS && METRICS <= 32, "the mask of a score has a bit for each metric");

metrics! {
    /// Share of rounds with l_k in A_k. The primary one. None without a round.
    OnRung "on_rung" false;
    /// Share of rounds whose rung's true mean is in band. None where no round has a rung in band.
    InBandTrue "in_band_true" false;
    /// Share of rounds in which some rung is in band: what `in_band_true` can reach. None without a round.
    Feasible "feasible" false;
    /// Of the rounds with a reading, the share whose window mean is in band. Never to be shown without the oracle's,
    /// which is this metric of the oracle's own log. None without a reading.
    InBandMeasured "in_band_measured" false;
    /// Root of the mean squared e_k, nats. None without a round.
    RmsLog "rms_log" false;
    /// `rms_log` less the least that any choice of rungs could have, nats; never negative. None without a round.
    ExcessLog "excess_log" false;
    /// Root mean square over sliding blocks of ln((tokens / turns) / J), nats: what dithering improves. A block
    /// without turns is left out, one whose turns had no token counts as one token. None without a block.
    BlockErr "block_err" false;
    /// (Tokens / turns) / J - 1 after the burn-in, signed. None without a turn there.
    Bias "bias" false;
    /// Changes between used rungs per 100 rounds: at most R - 1 of them, divided by R. None without a round.
    Moves "moves" false;
    /// Moves against the direction of the move before, holds between them ignored, per 100 rounds. None without a
    /// round.
    Reversals "reversals" false;
    /// Decisions past an end of the ladder, clamped there, per 100 rounds. No moves. None without a round.
    Pinned "pinned" false;
    /// Rounds before the first acceptable one; R where there is none (a restricted mean). None without a round.
    HitRounds "hit_rounds" false;
    /// Whether the run settled: `hold` acceptable rounds in a row, the last of them inside the run.
    Settled "settled" true;
    /// Rounds finished before those `hold` began; R where it did not settle (a restricted mean: the survival curve of
    /// a tally treats it as censored). None without a round.
    SettleRounds "settle_rounds" false;
    /// Tokens before those rounds; all of the run's where it did not settle. None without a round.
    SettleTokens "settle_tokens" false;
    /// Seconds from the run's start to theirs; the whole run where it did not settle. None without a round.
    SettleSecs "settle_secs" false;
    /// Mean length of the stretches of acceptable rounds from settling on, rounds; the last may be cut off by the end.
    /// None where it did not settle.
    Retain "retain" false;
    /// After the first hit, the most rungs past the far side of A_k in the direction in which A was approached (from
    /// the first rung to that of the hit); 0 if never hit, or if there was nothing to approach. None without a round.
    Overshoot "overshoot" false;
    /// The largest |e_k| of the rounds that overshoot, nats; 0 if none does. None without a round.
    OvershootLog "overshoot_log" false;
    /// Tokens of rounds outside A_k over all tokens. The money. None without a token.
    OffTokens "off_tokens" false;
    /// True output tokens of the run.
    Tokens "tokens" false;
    /// Tokens past the budget: less than one round by construction. None without a budget.
    BudgetOver "budget_over" false;
    /// Of the rounds on a nearest rung with a round after them, the share that left it. None without such a round. A
    /// tally pools it over runs, so that it estimates a probability.
    FalseMove "false_move" false;
    /// Whether the run cycled: at least 8 half periods between reversals, and they are regular (mean above 3 standard
    /// deviations) or the mean swing rounds to 2 rungs or more. None without a round.
    LimitCycle "limit_cycle" true;
    /// Whether it chattered: at least 8 half periods, irregular, and a mean swing that rounds to 1 rung.
    Chatter "chatter" true;
    /// Rounds really run.
    Rounds "rounds" false;
    /// Seconds from the start of the first round to the end of the last.
    Secs "secs" false;
}

impl Metric {
    /// The place in [`Metric::ALL`] and in every array over metrics.
    #[must_use]
    pub const fn index(self) -> usize {
        self as usize
    }

    /// The least and the most that one run can come to: no interval says more.
    #[must_use]
    pub fn range(self) -> (f64, f64) {
        const SHARES: [Metric; 5] =
            [Metric::OnRung, Metric::InBandTrue, Metric::Feasible, Metric::InBandMeasured, Metric::OffTokens];
        let least = if self == Self::Bias { -1.0 } else { 0.0 };
        (least, if SHARES.contains(&self) { 1.0 } else { f64::INFINITY })
    }

    /// The metric of a name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|metric| metric.name() == name)
    }
}

/// When a run settled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settling {
    /// Rounds finished before the settled ones began; nothing where it did not settle.
    pub settled: Option<u32>,
    /// For how many rounds it could have settled: it was at risk at 0, 1, .., `at_risk` - 1. A run of R rounds is at
    /// risk R - hold + 1 times, because the settled rounds must end inside it.
    pub at_risk: u32,
}

/// The score of one run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunScore {
    values: [i64; METRICS],
    present: u32,
    /// When it settled, for the survival curve.
    pub settling: Settling,
    /// Rounds on a nearest rung with a round after them.
    pub at_best: u32,
    /// Of those, the ones that left it.
    pub left_best: u32,
}

impl RunScore {
    /// A score in which nothing applies.
    #[must_use]
    pub const fn empty() -> Self {
        let settling = Settling { settled: None, at_risk: 0 };
        Self { values: [0; METRICS], present: 0, settling, at_best: 0, left_best: 0 }
    }

    /// The metric in millionths of its unit, or nothing where it does not apply.
    #[must_use]
    #[inline]
    pub const fn micros(&self, metric: Metric) -> Option<i64> {
        if self.present >> metric.index() & 1 == 1 { Some(self.values[metric.index()]) } else { None }
    }

    /// The metric in its unit, or nothing where it does not apply.
    #[must_use]
    pub fn value(&self, metric: Metric) -> Option<f64> {
        self.micros(metric).map(from_micros)
    }

    /// Set a metric, in millionths of its unit.
    #[inline]
    pub const fn set(&mut self, metric: Metric, micros: i64) {
        self.values[metric.index()] = micros;
        self.present |= 1 << metric.index();
    }

    /// Values and whether each applies, in the order of [`Metric::ALL`].
    #[inline]
    pub(super) fn entries(&self) -> impl Iterator<Item = (i64, bool)> {
        self.values.iter().enumerate().map(|(index, &value)| (value, self.present >> index & 1 == 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn names_are_snake_case_distinct_and_lead_back() {
        let names: BTreeSet<_> = Metric::ALL.iter().map(|metric| metric.name()).collect();
        assert_eq!(names.len(), METRICS);
        for (index, metric) in Metric::ALL.into_iter().enumerate() {
            assert_eq!((metric.index(), Metric::from_name(metric.name())), (index, Some(metric)));
            assert!(metric.name().bytes().all(|byte| byte == b'_' || byte.is_ascii_lowercase()));
        }
        assert_eq!(Metric::from_name("On_rung"), None);
    }

    #[test]
    fn what_is_not_set_does_not_apply() {
        let mut score = RunScore::empty();
        score.set(Metric::Secs, 1_500_000);
        score.set(Metric::OnRung, 0);
        assert_eq!(score.value(Metric::Secs), Some(1.5));
        assert_eq!((score.micros(Metric::OnRung), score.micros(Metric::Bias)), (Some(0), None));
        assert_eq!(score.entries().filter(|&(_, present)| present).count(), 2);
    }
}
