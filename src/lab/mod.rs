//! The lab: scenarios, sweeps, metrics, fits and reports.
//!
//! It is not the governor: it drives the engine's own machine and laws through simulated runs and says how they did.

pub mod advice;
pub mod axis;
pub mod bounds;
pub mod choose;
pub mod conform;
pub mod ends;
pub mod explain;
pub mod family;
pub mod fit;
pub mod fixed;
pub mod gate;
pub mod grid;
pub mod metric;
pub mod page;
pub mod passage;
#[cfg(feature = "plots")]
pub mod pictures;
pub mod pilot;
#[cfg(feature = "plots")]
pub mod plot;
pub mod recommend;
pub mod recorded;
pub mod replay;
pub mod report;
pub mod result;
pub mod runlog;
pub mod scenario;
pub mod score;
pub mod sensitivity;
pub mod settings;
pub mod simulate;
pub mod special;
pub mod stats;
pub mod study;
pub mod survival;
pub mod sweep;
pub mod synth;
pub mod tally;
pub mod theory;
pub mod trial;
pub mod truth;
pub mod validate;
