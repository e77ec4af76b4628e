//! flyball: the governor for agent loops, and the lab that tunes it before anyone pays for a call.
#![cfg_attr(not(any(test, feature = "sim", feature = "agents")), no_std)]

extern crate alloc;

pub mod engine;

#[cfg(feature = "sim")]
pub mod sim;

#[cfg(feature = "agents")]
pub mod agents;

#[cfg(feature = "lab")]
pub mod lab;
#[cfg(feature = "lab")]
pub mod trace;

#[cfg(feature = "cli")]
pub mod cli;
