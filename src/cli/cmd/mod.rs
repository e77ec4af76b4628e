//! The commands, one a file.

pub mod common;
pub mod conform;
pub mod sweep;
