//! Controls: everything that can stop the loop, and what bounds it.
//!
//! Every stop names its control. Which one fires is deterministic, because limits are looked at in one documented order,
//! the order of [`Caps::reached`]. It is not the machine: it neither counts nor waits.

use core::fmt;
use core::num::{NonZeroU32, NonZeroU64};

use super::units::{MicroUsd, Millis, Ratio, Tokens};

/// What stopped the loop. The names are stable: they stand in records, exit lines and results.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Control {
    /// The allowed number of rounds was run.
    Rounds,
    /// Output tokens reached the budget.
    Budget,
    /// Tokens of all kinds reached their cap.
    Tokens,
    /// Cost reached its ceiling.
    Cost,
    /// The run's wall time is over.
    Wall,
    /// One round made more requests than allowed.
    Requests,
    /// Several rounds in a row changed nothing.
    NoProgress,
    /// Several rounds in a row failed with the same error.
    SameError,
    /// The backend's limit lasts longer than may be waited for, or ended too many rounds in a row.
    Limit,
    /// The agent failed several rounds in a row.
    AgentFailures,
    /// A kill-on pattern or predicate matched.
    KillOn,
    /// Something was spent that nobody counted, and a budget is set.
    Unmetered,
    /// The oracle passed: success.
    OraclePassed,
    /// The oracle itself is broken.
    OracleError,
    /// The oracle says that nothing more can be done here.
    Blocked,
    /// Stopped by hand or by a signal.
    Interrupted,
}

impl Control {
    /// All controls.
    pub const ALL: [Self; 16] = [
        Self::Rounds,
        Self::Budget,
        Self::Tokens,
        Self::Cost,
        Self::Wall,
        Self::Requests,
        Self::NoProgress,
        Self::SameError,
        Self::Limit,
        Self::AgentFailures,
        Self::KillOn,
        Self::Unmetered,
        Self::OraclePassed,
        Self::OracleError,
        Self::Blocked,
        Self::Interrupted,
    ];

    /// The stable name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Rounds => "rounds",
            Self::Budget => "budget",
            Self::Tokens => "tokens",
            Self::Cost => "cost",
            Self::Wall => "wall",
            Self::Requests => "requests",
            Self::NoProgress => "no-progress",
            Self::SameError => "same-error",
            Self::Limit => "limit",
            Self::AgentFailures => "agent-failures",
            Self::KillOn => "kill-on",
            Self::Unmetered => "unmetered",
            Self::OraclePassed => "oracle-passed",
            Self::OracleError => "oracle-error",
            Self::Blocked => "blocked",
            Self::Interrupted => "interrupted",
        }
    }
}

impl fmt::Display for Control {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// What has been spent and done, over the whole life of the loop but for `wall`, which is of this run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spent {
    /// Rounds begun.
    pub rounds: u64,
    /// Output tokens.
    pub output: Tokens,
    /// Tokens of all kinds.
    pub tokens: Tokens,
    /// Cost.
    pub cost: MicroUsd,
    /// Time since this run began.
    pub wall: Millis,
}

/// What bounds a loop. `None` bounds nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// Rounds, over the whole life of the loop.
    pub rounds: Option<NonZeroU64>,
    /// Output tokens: what settings call `budget`, there in millions.
    pub budget: Option<Tokens>,
    /// Tokens of all kinds.
    pub tokens: Option<Tokens>,
    /// Cost.
    pub cost: Option<MicroUsd>,
    /// Wall time of this run.
    pub wall: Option<Millis>,
    /// Wall time of one round: it is ended, and the loop goes on.
    pub round_wall: Option<Millis>,
    /// Time without a report in a round: it is ended, and the loop goes on.
    pub inactivity: Option<Millis>,
    /// Requests of one round: the round is ended and the loop stops.
    pub requests: Option<NonZeroU64>,
    /// Failed rounds in a row.
    pub agent_failures: Option<NonZeroU32>,
    /// Rounds in a row that changed nothing.
    pub no_progress: Option<NonZeroU32>,
    /// Rounds in a row with the same error.
    pub same_error: Option<NonZeroU32>,
    /// The longest wait for a backend's limit.
    pub limit_wait: Option<Millis>,
    /// Rounds in a row that a backend's limit may end.
    pub limited: Option<NonZeroU32>,
}

/// What bounds spending and doing as such. `None` bounds nothing; a cap exactly reached is reached.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Caps {
    /// Output tokens.
    pub budget: Option<Tokens>,
    /// Tokens of all kinds.
    pub tokens: Option<Tokens>,
    /// Cost.
    pub cost: Option<MicroUsd>,
    /// Wall time of this run.
    pub wall: Option<Millis>,
    /// Rounds.
    pub rounds: Option<u64>,
}

impl Caps {
    /// The first that is reached: budget, tokens, cost, wall, rounds.
    #[must_use]
    pub fn reached(&self, spent: &Spent) -> Option<Control> {
        let reached = [
            (self.budget.is_some_and(|cap| spent.output >= cap), Control::Budget),
            (self.tokens.is_some_and(|cap| spent.tokens >= cap), Control::Tokens),
            (self.cost.is_some_and(|cap| spent.cost >= cap), Control::Cost),
            (self.wall.is_some_and(|cap| spent.wall >= cap), Control::Wall),
            (self.rounds.is_some_and(|cap| spent.rounds >= cap), Control::Rounds),
        ];
        reached.into_iter().find_map(|(reached, control)| reached.then_some(control))
    }

    /// This share of each: where people are warned.
    ///
    /// ```
    /// use flyball::engine::{Caps, Ratio, Tokens};
    /// let caps = Caps { budget: Some(Tokens::new(1_000)), ..Caps::default() };
    /// assert_eq!(caps.share(Ratio::from_ppm(800_000)).budget, Some(Tokens::new(800)));
    /// ```
    #[must_use]
    pub fn share(&self, share: Ratio) -> Self {
        Self {
            budget: self.budget.map(|cap| Tokens::new(share.of(cap.count()))),
            tokens: self.tokens.map(|cap| Tokens::new(share.of(cap.count()))),
            cost: self.cost.map(|cap| MicroUsd::new(share.of(cap.count()))),
            wall: self.wall.map(|cap| Millis::new(share.of(cap.count()))),
            rounds: self.rounds.map(|cap| share.of(cap)),
        }
    }

    /// Whether some spending is bounded, so that spending which nobody counts must stop the loop.
    #[must_use]
    pub const fn bounds_spend(&self) -> bool {
        self.budget.is_some() || self.tokens.is_some() || self.cost.is_some()
    }

    /// Whether a loop that is bounded so can end by itself at all.
    #[must_use]
    pub const fn is_finite(&self) -> bool {
        self.bounds_spend() || self.rounds.is_some() || self.wall.is_some()
    }

    /// What one round may come to if all of the rounds are to have the same: the budget, or else the cap on all tokens, over the cap
    /// on rounds.
    #[must_use]
    pub fn fair_share(&self) -> Option<Tokens> {
        let whole = self.budget.or(self.tokens)?;
        let rounds = self.rounds.filter(|&rounds| rounds > 0)?;
        Some(Tokens::new(whole.count() / rounds))
    }
}

impl Limits {
    /// The caps among them.
    #[must_use]
    pub fn caps(&self) -> Caps {
        Caps {
            budget: self.budget,
            tokens: self.tokens,
            cost: self.cost,
            wall: self.wall,
            rounds: self.rounds.map(NonZeroU64::get),
        }
    }
}

/// Rounds in a row that went nowhere: kept across runs, so that a restart gives no new patience.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rows {
    /// The agent failed.
    pub failures: u32,
    /// A backend's limit ended them.
    pub limited: u32,
    /// The project stayed the same.
    pub tree: Streak,
    /// The error stayed the same.
    pub error: Streak,
}

/// Counts how often the same thing came in a row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Streak {
    /// The last one seen.
    pub last: Option<Fingerprint>,
    /// How many in a row it makes.
    pub length: u32,
}

/// What a state of the project, or an error, hashes to. Opaque here: equal prints are the same thing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Fingerprint(pub [u8; 32]);

impl Streak {
    /// Takes one down and gives how many in a row it makes; nothing at all breaks the row.
    pub fn see(&mut self, print: Option<Fingerprint>) -> u32 {
        self.length = match print {
            Some(_) if print == self.last => self.length.saturating_add(1),
            Some(_) => 1,
            None => 0,
        };
        self.last = print;
        self.length
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_stable_and_distinct() {
        let mut names = Control::ALL.map(Control::name);
        assert_eq!(names[0], "rounds");
        names.sort_unstable();
        assert!(names.windows(2).all(|pair| pair[0] != pair[1]));
        assert!(names.iter().all(|name| name.chars().all(|c| c.is_ascii_lowercase() || c == '-')));
    }

    #[test]
    fn caps_fire_in_order_and_exactly() {
        let limits = Limits {
            rounds: NonZeroU64::new(2),
            budget: Some(Tokens::new(10)),
            tokens: Some(Tokens::new(20)),
            cost: Some(MicroUsd::new(30)),
            wall: Some(Millis::new(40)),
            ..Limits::default()
        };
        let all = Spent {
            rounds: 2,
            output: Tokens::new(10),
            tokens: Tokens::new(20),
            cost: MicroUsd::new(30),
            wall: Millis::new(40),
        };
        assert_eq!(limits.caps().reached(&all), Some(Control::Budget));
        let no_output = Spent { output: Tokens::new(9), ..all };
        assert_eq!(limits.caps().reached(&no_output), Some(Control::Tokens));
        let no_tokens = Spent { tokens: Tokens::new(19), ..no_output };
        assert_eq!(limits.caps().reached(&no_tokens), Some(Control::Cost));
        let no_cost = Spent { cost: MicroUsd::new(29), ..no_tokens };
        assert_eq!(limits.caps().reached(&no_cost), Some(Control::Wall));
        let no_wall = Spent { wall: Millis::new(39), ..no_cost };
        assert_eq!(limits.caps().reached(&no_wall), Some(Control::Rounds));
        assert_eq!(limits.caps().reached(&Spent { rounds: 1, ..no_wall }), None);
        assert_eq!(Limits::default().caps().reached(&all), None);
    }

    #[test]
    fn a_share_of_caps_and_what_is_fair() {
        let caps = Caps { budget: Some(Tokens::new(900)), rounds: Some(10), ..Caps::default() };
        assert_eq!(caps.fair_share(), Some(Tokens::new(90)));
        assert_eq!(Caps { tokens: Some(Tokens::new(50)), budget: None, ..caps }.fair_share(), Some(Tokens::new(5)));
        assert_eq!(Caps { rounds: None, ..caps }.fair_share(), None);
        let early = caps.share(Ratio::from_ppm(500_000));
        let spent = Spent { output: Tokens::new(450), ..Spent::default() };
        assert_eq!((early.reached(&spent), caps.reached(&spent)), (Some(Control::Budget), None));
        assert_eq!(early.rounds, Some(5));
    }

    #[test]
    fn a_streak_is_broken_by_another_or_by_nothing() {
        let (a, b) = (Some(Fingerprint([1; 32])), Some(Fingerprint([2; 32])));
        let mut streak = Streak::default();
        let lengths = [a, a, b, None, b, b, b].map(|print| streak.see(print));
        assert_eq!(lengths, [1, 2, 1, 0, 1, 2, 3]);
    }
}
