//! The settings of the real loop, from wherever they come: flag beats environment, environment beats the project's file, that beats the user's own
//! file, and that beats what is usual.
//!
//! | module | holds |
//! |---|---|
//! | [`caps`] | caps over several runs, in the units of settings |
//! | [`keys`] | every setting with its names and what it is where nobody says |
//! | [`gather`] | each setting's text and where it comes from |
//! | [`juice`] | the original's `juice.yaml` |
//! | [`typed`] | the texts, read |
//!
//! Texts are kept as they were given, so that what is printed and recorded is what was said.

pub mod caps;
pub mod gather;
pub mod juice;
pub mod keys;
pub mod typed;

pub use gather::{Gathered, Origin, Value};
pub use typed::Typed;
