//! The commands, one a file.

pub mod calibrate;
pub mod common;
pub mod conform;
pub mod simulate;
pub mod sweep;
