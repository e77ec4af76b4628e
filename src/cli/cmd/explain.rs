//! `flyball explain`: what a scenario and its settings come to, before anything is simulated.

use super::common;
use crate::cli::args::{Explain, ShortFormat};
use crate::cli::error::{Failure, Outcome};
use crate::cli::exit::Exit;
use crate::cli::output;
use crate::lab::explain::{Explanation, explain, text};
use crate::lab::result::VERSION;

/// Explains.
///
/// # Errors
/// A scenario or flag at fault.
pub fn run(args: &Explain) -> Outcome {
    let scenario = common::scenario(&args.scenario)?;
    let cell = common::cell(&args.one, scenario.base())?;
    let told = explain(&scenario, &cell).map_err(Failure::usage)?;
    match args.format {
        ShortFormat::Table => output::print(text::render(&told).as_bytes())?,
        ShortFormat::Json => output::print(&object(&told)?)?,
    }
    Ok(Exit::Success)
}

fn object(told: &Explanation) -> Outcome<Vec<u8>> {
    let mut value = serde_json::to_value(told).map_err(Failure::internal)?;
    if let Some(object) = value.as_object_mut() {
        object.insert("version".to_owned(), VERSION.into());
        object.insert("sentences".to_owned(), text::sentences(told).into());
    }
    let mut bytes = serde_json::to_vec_pretty(&value).map_err(Failure::internal)?;
    bytes.push(b'\n');
    Ok(bytes)
}
