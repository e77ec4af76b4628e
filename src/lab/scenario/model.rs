//! A scenario after everything in its file was checked: typed, with its units, and with nothing left to go wrong.

use std::collections::BTreeMap;

use crate::engine::laws::{LawKind, Tuning};
use crate::engine::{Ladder, Limits, Millis, Ratio, Rung, Target, Tokens};
use crate::lab::grid::{Axes, Cell, Grid, GridError};
use crate::sim::{AgentModel, OutcomeModel, Usage};

/// A simulated agent, the plan of its runs and the settings to try on it.
///
/// Rungs are places in the file's list, which is hardest first: `evidence[0]` belongs to the hardest.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// The name, which is the file's stem.
    pub name: String,
    /// What it is for, in a sentence.
    pub about: String,
    /// The governor's settings, where nobody says otherwise.
    pub governor: GovernorSettings,
    /// What is run.
    pub plan: Plan,
    /// The axes of a sweep, where the file names them.
    pub sweep: Axes,
    /// What counts as right.
    pub evaluate: Evaluate,
    /// The efforts, hardest first.
    pub ladder: Ladder,
    /// The simulated agent.
    pub agent: AgentModel,
    /// Where each rung's sizes come from, one for each rung.
    pub evidence: Vec<Evidence>,
    /// The named priors and their sources.
    pub priors: BTreeMap<String, String>,
    /// What comes of rounds, where the file says so.
    pub outcome: Option<OutcomeModel>,
    /// What a turn takes in, and what tokens cost.
    pub usage: Usage,
    /// What stops a run beside its plan and its budget.
    pub controls: Controls,
}

/// What stops a run, or a round of it: the names are those of the real loop's settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Controls {
    /// The caps, without the budget, which is the governor's.
    pub limits: Limits,
    /// The pause after one failed round, doubled with each further one in a row.
    pub backoff: Millis,
    /// The pause where a limit does not say when it ends, doubled with each further round in a row that it ended.
    pub limit_backoff: Millis,
}

impl Default for Controls {
    /// Nothing is bounded, and failures need no rest of their own.
    fn default() -> Self {
        Self { limits: Limits::default(), backoff: Millis::ZERO, limit_backoff: Millis::from_secs(60) }
    }
}

/// The settings of the governor: the same names as in the settings file of the real loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GovernorSettings {
    /// The rule.
    pub law: LawKind,
    /// The target.
    pub juice: Target,
    /// The window.
    pub over: Millis,
    /// Half the width of the band, as a share of the target.
    pub slack: Ratio,
    /// The pause between rounds.
    pub rest: Millis,
    /// The most output tokens that a run may spend; none where there is no limit.
    pub budget: Option<Tokens>,
    /// What else can be set: cooldown, a slack for each side, and the knobs of each law.
    pub tuning: Tuning,
}

/// What is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The rung of the first round.
    pub start: Rung,
    /// Rounds of a run, at least 1.
    pub rounds: u32,
    /// Runs of a cell, at least 1.
    pub runs: u32,
    /// What all luck comes from.
    pub seed: u64,
}

/// What counts as right, whatever slack is tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Evaluate {
    /// How far a rung's true mean may be from the target, as a share of it.
    pub band: Ratio,
    /// So many rounds in a row on right rungs are settled.
    pub hold: u32,
}

impl Default for Evaluate {
    /// 15 %, and ten rounds.
    fn default() -> Self {
        Self { band: Ratio::from_ppm(150_000), hold: 10 }
    }
}

/// Where a rung's sizes come from.
#[derive(Clone, Debug, PartialEq)]
pub enum Evidence {
    /// The file just states them.
    Stated,
    /// They were fitted to real turns.
    Measured {
        /// Sessions seen.
        sessions: u64,
        /// Turns seen.
        calls: u64,
        /// Distance of Kolmogorov and Smirnov to the mixture, where it was fitted.
        ks_mixture: Option<f64>,
        /// The same to the lognormal.
        ks_lognormal: Option<f64>,
    },
    /// Nobody saw this rung: its sizes follow from others by a prior.
    Assumed {
        /// The prior's name, a key of [`Scenario::priors`].
        prior: String,
        /// By how much ln(size) may lie from what is stated, from the first to the second.
        shift: (f64, f64),
    },
}

impl Scenario {
    /// The most bytes that a scenario file may have.
    pub const MAX_BYTES: u64 = 1 << 20;
    /// The version of the format that is read.
    pub const FORMAT: u64 = 1;

    /// The governor's settings as one cell.
    #[must_use]
    pub const fn base(&self) -> Cell {
        let GovernorSettings { law, juice, over, slack, rest, .. } = self.governor;
        Cell { law, juice, over, slack, rest }
    }

    /// The grid of a sweep: `flags` over the file's axes over the governor's settings.
    ///
    /// # Errors
    /// [`GridError`] where an axis has no value or the product is too large.
    pub fn grid(&self, flags: Axes) -> Result<Grid, GridError> {
        Grid::new(self.base(), flags.or(&self.sweep))
    }

    /// Whether what comes of a run hangs on the path that it takes: outcomes, prices or controls are given. Then the loop machine
    /// runs it.
    #[must_use]
    pub fn hangs_on_the_path(&self) -> bool {
        self.outcome.is_some() || self.usage != Usage::default() || self.controls != Controls::default()
    }

    /// Whether some rung's sizes are assumed.
    #[must_use]
    pub fn has_assumed_rungs(&self) -> bool {
        self.evidence.iter().any(|rung| matches!(rung, Evidence::Assumed { .. }))
    }
}
