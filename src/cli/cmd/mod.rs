//! The commands, one a file.

pub mod calibrate;
pub mod common;
pub mod conform;
pub mod ledger;
pub mod simulate;
pub mod sweep;
