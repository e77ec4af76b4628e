//! Controls: everything that can stop the loop, and what bounds it.
//!
//! Every stop names its control. Which one fires is deterministic, because limits are looked at in one documented order,
//! the order of [`Limits::spent`]. It is not the machine: it neither counts nor waits.

use core::fmt;
use core::num::{NonZeroU32, NonZeroU64};

use super::units::{MicroUsd, Millis, Tokens};

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
    pub const ALL: [Self; 15] = [
        Self::Rounds,
        Self::Budget,
        Self::Tokens,
        Self::Cost,
        Self::Wall,
        Self::Requests,
        Self::NoProgress,
        Self::SameError,
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
}

impl Limits {
    /// The first cap that is reached: budget, tokens, cost, wall, rounds. A cap exactly reached is reached.
    #[must_use]
    pub fn spent(&self, spent: &Spent) -> Option<Control> {
        let reached = [
            (self.budget.is_some_and(|cap| spent.output >= cap), Control::Budget),
            (self.tokens.is_some_and(|cap| spent.tokens >= cap), Control::Tokens),
            (self.cost.is_some_and(|cap| spent.cost >= cap), Control::Cost),
            (self.wall.is_some_and(|cap| spent.wall >= cap), Control::Wall),
            (self.rounds.is_some_and(|cap| spent.rounds >= cap.get()), Control::Rounds),
        ];
        reached.into_iter().find_map(|(reached, control)| reached.then_some(control))
    }

    /// Whether some spend is bounded, so that spend which nobody counts must stop the loop.
    #[must_use]
    pub const fn bounds_spend(&self) -> bool {
        self.budget.is_some() || self.tokens.is_some() || self.cost.is_some()
    }

    /// Whether the loop can end by itself at all.
    #[must_use]
    pub const fn is_finite(&self) -> bool {
        self.bounds_spend() || self.rounds.is_some() || self.wall.is_some()
    }
}

/// Counts how often the same thing came in a row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Streak {
    last: Option<Fingerprint>,
    length: u32,
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
        assert_eq!(limits.spent(&all), Some(Control::Budget));
        let no_output = Spent { output: Tokens::new(9), ..all };
        assert_eq!(limits.spent(&no_output), Some(Control::Tokens));
        let no_tokens = Spent { tokens: Tokens::new(19), ..no_output };
        assert_eq!(limits.spent(&no_tokens), Some(Control::Cost));
        let no_cost = Spent { cost: MicroUsd::new(29), ..no_tokens };
        assert_eq!(limits.spent(&no_cost), Some(Control::Wall));
        let no_wall = Spent { wall: Millis::new(39), ..no_cost };
        assert_eq!(limits.spent(&no_wall), Some(Control::Rounds));
        assert_eq!(limits.spent(&Spent { rounds: 1, ..no_wall }), None);
        assert_eq!(Limits::default().spent(&all), None);
    }

    #[test]
    fn a_streak_is_broken_by_another_or_by_nothing() {
        let (a, b) = (Some(Fingerprint([1; 32])), Some(Fingerprint([2; 32])));
        let mut streak = Streak::default();
        let lengths = [a, a, b, None, b, b, b].map(|print| streak.see(print));
        assert_eq!(lengths, [1, 2, 1, 0, 1, 2, 3]);
    }
}
