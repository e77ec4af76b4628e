//! Checkpoints and caps as they stand in a line.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::words::Hex;
use crate::engine::{Caps, Checkpoint, Effort, LawState, MicroUsd, Millis, Rows, Streak, Tokens};

/// Caps; what is not bounded is absent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the fields are those of the caps, with their units")]
pub struct CapsOf {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_tokens: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub all_tokens: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_micro_usd: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wall_ms: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rounds: Option<u64>,
}

impl CapsOf {
    pub(super) fn of(caps: &Caps) -> Self {
        Self {
            output_tokens: caps.budget.map(Tokens::count),
            all_tokens: caps.tokens.map(Tokens::count),
            cost_micro_usd: caps.cost.map(MicroUsd::count),
            wall_ms: caps.wall.map(Millis::count),
            rounds: caps.rounds,
        }
    }

    pub(super) fn caps(&self) -> Caps {
        Caps {
            budget: self.output_tokens.map(Tokens::new),
            tokens: self.all_tokens.map(Tokens::new),
            cost: self.cost_micro_usd.map(MicroUsd::new),
            wall: self.wall_ms.map(Millis::new),
            rounds: self.rounds,
        }
    }
}

/// Rounds in a row that went nowhere.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the fields are those of the rows")]
#[serde(default)]
pub struct RowsOf {
    #[serde(skip_serializing_if = "is_none")]
    pub failures: u32,
    #[serde(skip_serializing_if = "is_none")]
    pub limited: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tree: Option<Hex>,
    #[serde(skip_serializing_if = "is_none")]
    pub same_tree: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<Hex>,
    #[serde(skip_serializing_if = "is_none")]
    pub same_error: u32,
}

impl RowsOf {
    fn of(rows: &Rows) -> Self {
        Self {
            failures: rows.failures,
            limited: rows.limited,
            tree: rows.tree.last.map(Hex),
            same_tree: rows.tree.length,
            error: rows.error.last.map(Hex),
            same_error: rows.error.length,
        }
    }

    fn rows(&self) -> Rows {
        let streak = |last: Option<Hex>, length| Streak { last: last.map(|hex| hex.0), length };
        Rows {
            failures: self.failures,
            limited: self.limited,
            tree: streak(self.tree, self.same_tree),
            error: streak(self.error, self.same_error),
        }
    }

    fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// A checkpoint.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kept {
    /// Rounds begun.
    pub rounds: u64,
    /// Output spent; absent before the first was counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_tokens: Option<u64>,
    /// The effort to run at next; absent before the first decision.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effort: Option<String>,
    /// Tokens of all kinds.
    pub all_tokens: u64,
    /// Cost.
    pub cost_micro_usd: u64,
    /// What the law remembers.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub law: BTreeMap<String, u64>,
    /// Rounds in a row that went nowhere.
    #[serde(default, skip_serializing_if = "RowsOf::is_empty")]
    pub rows: RowsOf,
}

impl Kept {
    /// The line's part for a checkpoint.
    #[must_use]
    pub fn of(checkpoint: &Checkpoint) -> Self {
        Self {
            rounds: checkpoint.rounds,
            output_tokens: checkpoint.output.map(Tokens::count),
            effort: checkpoint.effort.as_ref().map(|effort| effort.word().to_owned()),
            all_tokens: checkpoint.tokens.count(),
            cost_micro_usd: checkpoint.cost.count(),
            law: checkpoint.law.iter().map(|(name, value)| (name.to_owned(), value)).collect(),
            rows: RowsOf::of(&checkpoint.rows),
        }
    }

    /// The checkpoint.
    #[must_use]
    pub fn checkpoint(&self) -> Checkpoint {
        let mut law = LawState::default();
        self.law.iter().for_each(|(name, value)| law.set(name, *value));
        Checkpoint {
            rounds: self.rounds,
            output: self.output_tokens.map(Tokens::new),
            effort: self.effort.as_deref().map(Effort::new),
            tokens: Tokens::new(self.all_tokens),
            cost: MicroUsd::new(self.cost_micro_usd),
            law,
            rows: self.rows.rows(),
        }
    }
}

fn is_none(count: &u32) -> bool {
    *count == 0
}
