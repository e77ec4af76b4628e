//! The commands, one a file.

pub mod calibrate;
pub mod common;
pub mod conform;
pub mod doctor;
pub mod explain;
pub mod export;
pub mod fake_agent;
pub mod gate;
pub mod init;
pub mod ledger;
pub mod pilot;
pub mod recommend;
pub mod replay;
pub mod run;
pub mod runs;
pub mod sensitivity;
pub mod simulate;
pub mod study;
pub mod sweep;
pub mod validate;
pub mod watch;
