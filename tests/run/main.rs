//! `flyball run`, attacked from outside: the real binary, real processes, real signals. Agents are small shell scripts that speak pi's
//! lines, or `flyball fake-agent`.
//!
//! | module | attacks with |
//! |---|---|
//! | [`agents`] | agents that misbehave |
//! | [`signals`] | Ctrl-C, TERM, HUP, Ctrl-Z, a second runner |
//! | [`places`] | disks, folders and prompts |
//! | [`kills`] | SIGKILL at any moment |
//! | [`cheats`] | agents that cheat |
//! | [`controls`] | each control, and each two at once |
//! | [`record`] | torn pages, links, keys, shared caps |
//! | [`reports`] | what users of other runners reported |
//! | [`resume`] | what another start takes up |
//! | [`export`] | folders that hold something, links, runs that go on; also `init` |
//! | [`settings`] | settings that contradict, fail or lack |
//!
//! Nothing here waits for a time to pass: it waits for something to be seen, with a bound that is an error.
#![cfg(all(unix, feature = "cli"))]
#![expect(clippy::unwrap_used, reason = "a test may fail by panicking")]

mod agents;
mod cheats;
mod controls;
mod export;
mod kills;
mod places;
mod record;
mod reports;
mod resume;
mod settings;
mod signals;
mod world;
