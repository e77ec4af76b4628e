//! Input files of the commands: opened and read in one place, with one form of error.
//!
//! What may be read is said by [`file`](mod@file); what a text means is for whoever asked. Agents' logs are found and read by
//! [`logs`](super::logs), which opens them here too.

use std::fmt::Display;
use std::fs::File;
use std::path::Path;

use super::error::{Failure, Outcome};
use crate::lab::scenario::{Scenario, ScenarioError, file};

/// The most bytes of a text that is read whole.
const MOST: u64 = 64 << 20;

/// A text that people write: settings, a suite.
pub const SHORT: Kind = Kind { most: Scenario::MAX_BYTES, empty: false };
/// One that programs write, or that may say nothing.
pub const LONG: Kind = Kind { most: MOST, empty: true };

/// How a text is read.
#[derive(Clone, Copy, Debug)]
pub struct Kind {
    most: u64,
    empty: bool,
}

/// What a file is to a command.
#[derive(Clone, Copy, Debug)]
pub struct Role {
    /// What it is called.
    pub name: &'static str,
    /// What to do where it cannot be read.
    pub hint: &'static str,
}

/// Settings of a loop.
pub const SETTINGS: Role =
    Role { name: "settings", hint: "name a settings file: a flyball.toml, or the original's juice.yaml" };

/// Opens a file.
///
/// # Errors
/// What was attempted, why it cannot be, and what to do.
pub fn open(role: Role, path: &Path) -> Outcome<File> {
    file::open(path).map_err(|error| unread(role, path, error))
}

/// Reads a text, without a byte order mark.
///
/// # Errors
/// As [`open`]; a text that is too large, none, or empty where it must say something.
pub fn text(role: Role, path: &Path, kind: Kind) -> Outcome<String> {
    let text = file::text(path, kind.most).map_err(|error| unread(role, path, error))?;
    if !kind.empty && text.trim().is_empty() {
        return Err(unread(role, path, "it is empty"));
    }
    Ok(text)
}

/// That a file cannot be read.
pub fn unread(role: Role, path: &Path, why: impl Display) -> Failure {
    Failure::said(why).while_(format!("cannot read the {} {}", role.name, path.display())).hint(role.hint)
}

/// That a file was read, and what is wrong in it.
#[must_use]
pub fn faulty(role: Role, path: &Path, error: ScenarioError) -> Failure {
    match error {
        ScenarioError::Unreadable { why, .. } => unread(role, path, why),
        error @ ScenarioError::Faulty { .. } => {
            Failure::usage(error).while_(format!("cannot use the {} {}", role.name, path.display()))
        }
    }
}
