//! The commands, one a file.

pub mod calibrate;
pub mod common;
pub mod conform;
pub mod doctor;
pub mod fake_agent;
pub mod ledger;
pub mod pilot;
pub mod replay;
pub mod run;
pub mod runs;
pub mod simulate;
pub mod study;
pub mod sweep;
pub mod validate;
