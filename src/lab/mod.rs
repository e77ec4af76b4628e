//! The lab: scenarios, sweeps, metrics, fits and reports.
//!
//! It is not the governor: it drives the engine's own machine and laws through simulated runs and says how they did.

pub mod choose;
pub mod fixed;
pub mod metric;
pub mod runlog;
pub mod score;
pub mod special;
pub mod stats;
pub mod survival;
pub mod tally;
pub mod theory;
pub mod truth;
