//! Oracles, kill-on, gates, trees and git over real programs: `/bin/sh`, `git`, files in folders of their own.
//!
//! Whatever a check leaves behind is ended with everything below this process, so these tests run one after another.
#![cfg(feature = "run")]
#![expect(clippy::unwrap_used, reason = "a test may fail by panicking")]

mod features;
mod git;
mod judge;
mod kill;
mod list;
mod oracle;
mod program;
mod protect;
mod tree;
mod world;
