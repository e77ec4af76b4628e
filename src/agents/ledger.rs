//! The ledger: what logs add up to.
//!
//! An [`Account`] counts the records of one log, or of several after [`join`](super::join()): turns by how far their counts can be trusted, tokens, models and
//! efforts, what was stated in sum beside what was counted, failures, cost. Tokens of known turns and estimated ones are kept apart, and turns without a count are
//! counted as turns and never as zero tokens. [`Ledger`] holds the account of each file and of all.
//!
//! It reads nothing and removes no copy: it adds up.
//!
//! Units: tokens, millionths of a USD.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::join::{Joined, join_each};
use super::log::{Coverage, Log};
use super::{Format, Health};
use crate::engine::{Grade, MicroUsd, Tokens, TurnRecord};

/// How copies are told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Dedup {
    /// Over all files: a file has what it is the best copy of.
    #[default]
    All,
    /// Each file alone; what stands in two files stands in both accounts.
    PerFile,
}

/// Tokens and turns of one kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Share {
    /// Turns.
    pub turns: u64,
    /// Turns whose count is known.
    pub known_turns: u64,
    /// Output tokens of known turns.
    pub output: Tokens,
    /// Output tokens that are right in sum, and laid onto turns, or onto none, by estimate.
    pub estimated: Tokens,
}

/// A model and an effort, where the records say.
pub type ModelEffort = (Option<Arc<str>>, Option<Arc<str>>);

/// What some records add up to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Account {
    /// The programs that wrote them.
    pub formats: BTreeSet<Format>,
    /// Their versions.
    pub versions: BTreeSet<Arc<str>>,
    /// Sessions.
    pub sessions: u64,
    /// All turns and tokens.
    pub all: Share,
    /// Turns whose count is estimated from a total.
    pub estimated_turns: u64,
    /// Turns without a count: a start value, or refused.
    pub unknown_turns: u64,
    /// Known turns of no output: an answer that was a call of a tool and nothing else, or was aborted.
    pub zero_turns: u64,
    /// By model and effort, as far as stated.
    pub by: BTreeMap<ModelEffort, Share>,
    /// Input outside the cache.
    pub input: Tokens,
    /// Read from the cache.
    pub cache_read: Tokens,
    /// Written to the cache.
    pub cache_write: Tokens,
    /// The part of the output that was reasoning, as far as stated.
    pub reasoning: Tokens,
    /// What was stated in sum, and how much of it call by call.
    pub stated: Option<Coverage>,
    /// Results of whole runs.
    pub results: u64,
    /// What the programs say it cost, where they do.
    pub cost: Option<MicroUsd>,
    /// What was odd.
    pub health: Health,
}

/// The account of each log, and of all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ledger {
    /// One for each log, in the order given.
    pub files: Vec<Account>,
    /// All logs, copies left out.
    pub total: Account,
    /// What the logs would add up to, one by one, beyond the total: what was counted twice.
    pub doubled: Share,
}

impl Ledger {
    /// Adds logs up.
    #[must_use]
    pub fn of(logs: &[Log], dedup: Dedup) -> Self {
        let mut parts = Parts::of(logs);
        let mut total = Account::default();
        let joined = join_each(logs, &mut |turn, file| {
            total.take(&turn);
            parts.take(&turn, file);
        });
        let total = total.closed(joined, logs);
        let doubled = logs.iter().fold(Share::default(), |sum, log| sum.plus(told(log))).minus(total.all);
        let files = match dedup {
            Dedup::PerFile => logs.iter().map(|log| Account::of(core::slice::from_ref(log))).collect(),
            Dedup::All => parts.close(),
        };
        Self { files, total, doubled }
    }
}

/// What the calls of a log tell by themselves.
fn told(log: &Log) -> Share {
    (0..log.turns.len())
        .map(|place| log.turns.facts(place))
        .fold(Share::default(), |sum, facts| sum.plus(Share::told(facts.counts_as_turn, facts.grade, facts.output)))
}

/// What each file has that no better copy of it has, beside what it states itself.
struct Parts {
    accounts: Vec<Account>,
    sessions: Vec<BTreeSet<u64>>,
    costs: Vec<Option<MicroUsd>>,
}

impl Parts {
    fn of(logs: &[Log]) -> Self {
        let account = |log: &Log| Account {
            formats: BTreeSet::from([log.format]),
            versions: log.versions.clone(),
            stated: log.stated,
            results: log.results,
            cost: log.closings.iter().filter_map(|closing| closing.cost).reduce(MicroUsd::plus),
            health: log.health.clone(),
            ..Account::default()
        };
        Self {
            accounts: logs.iter().map(account).collect(),
            sessions: vec![BTreeSet::new(); logs.len()],
            costs: vec![None; logs.len()],
        }
    }

    fn take(&mut self, turn: &TurnRecord, file: usize) {
        self.accounts[file].take(turn);
        self.sessions[file].insert(turn.round);
        let cost = &mut self.costs[file];
        *cost = turn.cost.map(|more| more.plus(cost.unwrap_or_default())).or(*cost);
    }

    fn close(self) -> Vec<Account> {
        let all = self.accounts.into_iter().zip(self.sessions).zip(self.costs);
        all.map(|((account, sessions), cost)| Account {
            sessions: u64::try_from(sessions.len()).unwrap_or(u64::MAX),
            cost: account.cost.or(cost),
            ..account
        })
        .collect()
    }
}

impl Account {
    fn of(logs: &[Log]) -> Self {
        let mut account = Self::default();
        let joined = join_each(logs, &mut |turn, _| account.take(&turn));
        account.closed(joined, logs)
    }

    /// With what is told of all turns together.
    fn closed(self, joined: Joined, logs: &[Log]) -> Self {
        Self {
            formats: logs.iter().map(|log| log.format).collect(),
            versions: logs.iter().flat_map(|log| log.versions.iter().cloned()).collect(),
            sessions: joined.sessions,
            stated: joined.stated,
            results: joined.results,
            cost: joined.cost,
            health: joined.health,
            ..self
        }
    }

    fn take(&mut self, turn: &TurnRecord) {
        let share = Share::of(turn);
        self.all = self.all.plus(share);
        let place = (turn.model.clone(), turn.effort_confirmed.clone());
        let by = self.by.entry(place).or_default();
        *by = by.plus(share);
        if turn.counts_as_turn {
            self.estimated_turns += u64::from(turn.grade == Grade::Estimated);
            self.unknown_turns += u64::from(turn.grade == Grade::Unknown);
            self.zero_turns += u64::from(turn.grade == Grade::Known && turn.output == Tokens::ZERO);
        }
        let parts = [
            (&mut self.input, turn.input),
            (&mut self.cache_read, turn.cache_read),
            (&mut self.cache_write, turn.cache_write),
            (&mut self.reasoning, turn.reasoning),
        ];
        for (sum, part) in parts {
            *sum = sum.plus(part.unwrap_or(Tokens::ZERO));
        }
    }

    /// Output tokens, however sure.
    #[must_use]
    pub const fn output(&self) -> Tokens {
        self.all.output.plus(self.all.estimated)
    }
}

impl Share {
    fn of(turn: &TurnRecord) -> Self {
        Self::told(turn.counts_as_turn, turn.grade, turn.output)
    }

    fn told(turn: bool, grade: Grade, output: Tokens) -> Self {
        let known = grade == Grade::Known && turn;
        Self {
            turns: u64::from(turn),
            known_turns: u64::from(known),
            output: if known { output } else { Tokens::ZERO },
            estimated: if known { Tokens::ZERO } else { output },
        }
    }

    const fn plus(self, other: Self) -> Self {
        Self {
            turns: self.turns + other.turns,
            known_turns: self.known_turns + other.known_turns,
            output: self.output.plus(other.output),
            estimated: self.estimated.plus(other.estimated),
        }
    }

    const fn minus(self, other: Self) -> Self {
        Self {
            turns: self.turns.saturating_sub(other.turns),
            known_turns: self.known_turns.saturating_sub(other.known_turns),
            output: self.output.minus(other.output),
            estimated: self.estimated.minus(other.estimated),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agents::log::{LogTurn, TurnKey};
    use crate::engine::Timestamp;

    fn turn(id: &str, output: u64, grade: Grade) -> LogTurn {
        let mut record = TurnRecord::new(1, Timestamp::from_millis(output), Tokens::new(output), "test");
        record.session = Some("s".into());
        record.model = Some("m".into());
        record.grade = grade;
        LogTurn { key: TurnKey::Message(id.into()), record }
    }

    fn log(turns: Vec<LogTurn>) -> Log {
        Log { turns: turns.into(), ..Log::new(Format::ClaudeSession) }
    }

    #[test]
    fn a_copy_is_counted_once_in_the_total_and_said_to_be_double() {
        let first = log(vec![turn("a", 5, Grade::Known), turn("b", 0, Grade::Unknown)]);
        let second = log(vec![turn("a", 5, Grade::Known), turn("b", 7, Grade::Known), turn("c", 9, Grade::Estimated)]);
        let logs = [first, second];
        let alone = Ledger::of(&logs, Dedup::PerFile);
        let shown = |account: &Account| (account.all.turns, account.all.known_turns, account.all.output.count());
        assert_eq!(alone.files.iter().map(shown).collect::<Vec<_>>(), [(2, 1, 5), (3, 2, 12)]);
        assert_eq!((shown(&alone.total), alone.total.all.estimated.count()), ((3, 2, 12), 9));
        assert_eq!((alone.doubled.turns, alone.doubled.output.count()), (2, 5));
        let all = Ledger::of(&logs, Dedup::All);
        assert_eq!(all.total, alone.total);
        let turns: u64 = all.files.iter().map(|account| account.all.turns).sum();
        assert_eq!(turns, 3, "each turn stands in one file");
        assert_eq!((alone.files[0].unknown_turns, alone.total.unknown_turns, alone.total.estimated_turns), (1, 0, 1));
    }
}
