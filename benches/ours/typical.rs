//! The scenario that everything is measured on.

use std::error::Error;

use flyball::lab::scenario::Scenario;

/// Rounds of a run.
pub(crate) const ROUNDS: u32 = 200;

/// `scenarios/s02-typical.toml`.
pub(crate) fn scenario() -> Result<Scenario, Box<dyn Error>> {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios");
    Ok(Scenario::read(&folder.join("s02-typical.toml"))?)
}
