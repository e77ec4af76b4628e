//! flyball: the governor for agent loops, and the lab that tunes it before anyone pays for a call.
//!
//! A loop runs a coding agent in a fresh session every round. The governor holds the size of an answer steady: it reads
//! the average output tokens per model turn and moves the agent's *effort* along a ladder, one decision a round. The same
//! loop runs against a simulated agent, thousands of times, so that target, window, slack and law are chosen by evidence.
//! It is named after the flyball governor of the steam engine.
//!
//! # Layers
//!
//! | module | feature | holds |
//! |---|---|---|
//! | [`engine`] | none | facts in, orders out: the loop, the meter, the band, the laws; `no_std` with `alloc` |
//! | `sim` | `sim` | the simulated agent, its noise, and the world that drives the engine's machine |
//! | `agents` | `agents` | readers of real agents' logs: bytes in, turn records out |
//! | `trace` | `lab` | the record of a run: facts and decisions, one a line |
//! | `lab` | `lab` | scenarios, sweeps, metrics, fits, reports; pictures with `plots` |
//! | `cli` | `cli` (default) | the command line |
//!
//! Each uses those above it alone, which is a test; `_architecture` has the arrows and how a round and a sweep go, and
//! `_decisions` why things are as they are.
//!
//! # Features
//!
//! Features only add: none of them changes a number or a default.
//!
//! | feature | adds | brings in |
//! |---|---|---|
//! | none | the engine | `libm` |
//! | `sim` | the simulated agent | nothing more |
//! | `agents` | readers of logs | `serde`, `serde_json` |
//! | `lab` | `sim`, and the lab | `rayon`, `serde`, `serde_json`, `toml`, `csv`, `strsim`, `thiserror`, `sha2` |
//! | `plots` | `lab`, and pictures | `resvg` |
//! | `cli` | all of it, and the binary | `clap` and what a terminal needs |
//!
//! To govern a loop of your own, depend on the engine alone:
//!
//! ```toml
//! flyball = { version = "0.1", default-features = false }
//! ```
//!
//! # Example
//!
//! The heart of it: a law, a band and a window, told of turns and asked after a round. For the whole loop, with limits
//! and state that outlives a process, see [`engine::machine`] and the example `embed`.
//!
//! ```
//! use flyball::engine::laws::Reference;
//! use flyball::engine::{
//!     Band, Governor, Ladder, Millis, Over, Ratio, Target, Timestamp, Tokens, TurnRecord, Why,
//! };
//!
//! let ladder = Ladder::new(["max", "high", "low"]).unwrap();
//! let band = Band::new(Target::from_tokens(1000), Ratio::from_ppm(150_000)).unwrap();
//! let mut governor = Governor::new(Reference, band, Over::new(Millis::from_secs(300)), ladder.rungs());
//!
//! governor.begin(ladder.start(None, "low").rung);
//! for secs in [20, 40, 60] {
//!     let at = Timestamp::EPOCH.after(Millis::from_secs(secs));
//!     governor.report(&TurnRecord::new(1, at, Tokens::new(400), "example"));
//! }
//! let verdict = governor.read(Timestamp::from_millis(60_000), Tokens::new(1200), None);
//! assert_eq!(verdict.decision.why, Why::BelowBand);
//! assert_eq!(ladder.effort(verdict.to).word(), "high");
//! ```
#![cfg_attr(not(any(test, feature = "sim", feature = "agents")), no_std)]

extern crate alloc;

pub mod engine;

#[cfg(feature = "sim")]
pub mod sim;

#[cfg(feature = "agents")]
pub mod agents;

#[cfg(feature = "lab")]
pub mod lab;
#[cfg(feature = "run")]
pub mod run;
#[cfg(any(feature = "lab", feature = "run"))]
pub mod trace;

#[cfg(feature = "cli")]
pub mod cli;

#[cfg(all(doc, feature = "cli"))]
pub mod _architecture {
    #![doc = include_str!("ARCHITECTURE.md")]
}

#[cfg(all(doc, feature = "cli"))]
pub mod _controls {
    #![doc = include_str!("CONTROLS.md")]
}

/// The laws: what each does, remembers and has to set, why, and how it did in the committed study.
#[cfg(all(doc, feature = "cli"))]
pub mod _laws {
    #![doc = include_str!("LAWS.md")]
}

/// Decision records: context, choice, consequence, and what would change our mind.
#[cfg(all(doc, feature = "cli"))]
pub mod _decisions {
    pub mod _0001_milliseconds {
        #![doc = include_str!("decisions/0001-milliseconds.md")]
    }
    pub mod _0002_exact_band {
        #![doc = include_str!("decisions/0002-exact-band.md")]
    }
    pub mod _0003_settlement {
        #![doc = include_str!("decisions/0003-settlement.md")]
    }
    pub mod _0004_windows_past_300_seconds {
        #![doc = include_str!("decisions/0004-windows-past-300-seconds.md")]
    }
    pub mod _0005_noise_by_address {
        #![doc = include_str!("decisions/0005-noise-by-address.md")]
    }
    pub mod _0006_tables_and_machine {
        #![doc = include_str!("decisions/0006-tables-and-machine.md")]
    }
    pub mod _0007_exit_codes {
        #![doc = include_str!("decisions/0007-exit-codes.md")]
    }
    pub mod _0008_value_changes {
        #![doc = include_str!("decisions/0008-value-changes.md")]
    }
    pub mod _0009_assumed_rungs {
        #![doc = include_str!("decisions/0009-assumed-rungs.md")]
    }
    pub mod _0010_law_decides {
        #![doc = include_str!("decisions/0010-law-decides.md")]
    }
    pub mod _0011_what_scenarios_leave_out {
        #![doc = include_str!("decisions/0011-what-scenarios-leave-out.md")]
    }
    pub mod _0012_one_ledger {
        #![doc = include_str!("decisions/0012-one-ledger.md")]
    }
    pub mod _0013_default_law {
        #![doc = include_str!("decisions/0013-default-law.md")]
    }
    pub mod _0014_the_real_loop {
        #![doc = include_str!("decisions/0014-the-real-loop.md")]
    }
    pub mod _0015_a_limit_is_a_control {
        #![doc = include_str!("decisions/0015-a-limit-is-a-control.md")]
    }
    pub mod _0016_done_before_caps {
        #![doc = include_str!("decisions/0016-done-before-caps.md")]
    }
    pub mod _0017_what_decides_is_protected {
        #![doc = include_str!("decisions/0017-what-decides-is-protected.md")]
    }
    pub mod _0018_where_progress_lies {
        #![doc = include_str!("decisions/0018-where-progress-lies.md")]
    }
    pub mod _0019_what_is_kept_is_redacted {
        #![doc = include_str!("decisions/0019-what-is-kept-is-redacted.md")]
    }
}

/// The README's example is a test.
#[cfg(all(doctest, feature = "cli"))]
#[doc = include_str!("../README.md")]
pub struct Readme;
