//! The settings of the real loop, from wherever they come: flag beats environment, environment beats file, file beats what is usual.
//!
//! | module | holds |
//! |---|---|
//! | [`keys`] | every setting with its names and what it is where nobody says |
//! | [`gather`] | each setting's text and where it comes from |
//! | [`juice`] | the original's `juice.yaml` |
//! | [`typed`] | the texts, read |
//!
//! Texts are kept as they were given, so that what is printed and recorded is what was said.

pub mod gather;
pub mod juice;
pub mod keys;
pub mod typed;

pub use gather::{Gathered, Origin, Value};
pub use typed::Typed;
