//! The commands, one a file.

pub mod calibrate;
pub mod common;
pub mod conform;
pub mod explain;
pub mod gate;
pub mod ledger;
pub mod pilot;
pub mod recommend;
pub mod replay;
pub mod sensitivity;
pub mod simulate;
pub mod sweep;
pub mod validate;
