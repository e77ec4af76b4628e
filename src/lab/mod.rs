//! The lab: scenarios, sweeps, metrics, fits and reports.
//!
//! It is not the governor: it drives the engine's own machine and laws through simulated runs and says how they did.

#[cfg(feature = "plots")]
pub mod plot;
