//! What a loop is set up with, and the choices in which it may be told to behave as the original did.

use alloc::string::String;

use crate::engine::control::Limits;
use crate::engine::ladder::Ladder;
use crate::engine::units::Millis;

/// What a loop is set up with.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The efforts, hardest first.
    pub ladder: Ladder,
    /// The effort that the agent was set up with: may carry the width prefix, may be off the ladder.
    pub configured: String,
    /// The pause between two rounds.
    pub rest: Millis,
    /// The pause after one failed round, doubled for each further one in a row up to 64 times this; the longer of it and
    /// `rest` is kept.
    pub backoff: Millis,
    /// How long a round that was told to end may take before it is killed.
    pub grace: Millis,
    /// Caps.
    pub limits: Limits,
    /// The pause where a backend's limit does not say when it ends: doubled for each further round in a row that it ended up to 64
    /// times this, with up to a quarter more that depends on `salt`; never longer than the longest wait that is allowed.
    pub limit_backoff: Millis,
    /// What tells this loop from others that wait for the same limit, so that they do not all come back at once.
    pub salt: u64,
    /// When the oracle is asked.
    pub verify: Asks,
    /// When spending is charged.
    pub charge: Charge,
    /// When a spent budget stops the loop.
    pub budget_order: BudgetOrder,
}

impl Plan {
    /// A plan on this ladder with 5 s of rest and nothing else: no caps, no oracle.
    #[must_use]
    pub fn new(ladder: Ladder, configured: &str) -> Self {
        Self {
            ladder,
            configured: configured.into(),
            rest: Millis::from_secs(5),
            backoff: Millis::ZERO,
            grace: Millis::from_secs(10),
            limits: Limits::default(),
            limit_backoff: Millis::from_secs(60),
            salt: 0,
            verify: Asks::Never,
            charge: Charge::AsItLands,
            budget_order: BudgetOrder::BeforeARound,
        }
    }
}

/// When the oracle is asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Asks {
    /// There is none.
    #[default]
    Never,
    /// After each round.
    After,
    /// Before the first round of each run too: what is done already costs nothing, and what is to be done is known.
    BeforeToo,
}

/// When spending is charged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Charge {
    /// With each report, so that a killed round is charged for what it spent.
    #[default]
    AsItLands,
    /// When a round ends by itself, as in the original: an interrupted one is forgotten.
    AtRoundEnd,
}

/// When a spent budget stops the loop.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BudgetOrder {
    /// Before a round that would run on it.
    #[default]
    BeforeARound,
    /// Only after a round, as in the original: a run that is taken up with its budget spent runs one more.
    AfterARound,
}
