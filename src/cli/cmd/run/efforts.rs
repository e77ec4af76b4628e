//! The ladder of a real agent: what the person says, else what is known of the model, without words that would not take hold.

use crate::agents::adapter::AgentKind;
use crate::agents::adapter::ladders::{AS_OF, Fate, ladder_for, ladders_of};
use crate::cli::error::Outcome;
use crate::cli::output::warn;
use crate::cli::settings::gather::{Gathered, Origin, Value};
use crate::cli::settings::typed;

/// Fills in the ladder and the effort to start at; says whether no effort can be asked for.
///
/// # Errors
/// A ladder that cannot be read.
pub fn fill_in(settings: &mut Gathered, kind: AgentKind) -> Outcome<bool> {
    let model = settings.get("agent.model").text.clone();
    let known = ladder_for(kind, &model);
    let words = known.map_or_else(|| common(kind), |known| known.words.to_vec());
    let what = match known {
        Some(_) => format!("known of {kind} {model}, {AS_OF}"),
        None => format!("common to the models known of {kind}, {AS_OF}"),
    };
    settings.follows("agent.ladder", &words.join(","), &what);
    let default = known.and_then(|known| known.default).filter(|word| words.contains(word));
    settings.follows("agent.effort", default.unwrap_or_default(), &what);
    let effort = settings.get("agent.effort").text.clone();
    if settings.get("agent.ladder").text.is_empty() && !effort.is_empty() {
        // without a ladder the one effort that is asked for is all of it
        settings.replace("agent.ladder", Value { text: effort, origin: Origin::From("agent.effort".to_owned()) });
    }
    let given = typed::read(settings, "agent.ladder", typed::list)?;
    let fate = |word: &str| known.and_then(|known| known.fate(word));
    let holds: Vec<&str> = given.iter().map(String::as_str).filter(|word| fate(word).is_none()).collect();
    for (word, fate) in given.iter().filter_map(|word| Some((word, fate(word)?))) {
        let why = match fate {
            Fate::Becomes(other) => format!("{kind} sends {other} in its place"),
            Fate::Ignored => format!("{kind} passes over it"),
            Fate::Dropped => format!("{kind} sends no effort at all for it"),
            Fate::Refused => format!("{kind} refuses it"),
        };
        warn(&format!("effort {word} leaves the ladder of {model}: {why} ({AS_OF})"));
    }
    if holds.len() < given.len() && !holds.is_empty() {
        let origin = settings.get("agent.ladder").origin.clone();
        settings.replace("agent.ladder", Value { text: holds.join(","), origin });
    }
    Ok(settings.get("agent.ladder").text.is_empty())
}

/// The words that all known models of a program take, hardest first.
fn common(kind: AgentKind) -> Vec<&'static str> {
    let mut ladders = ladders_of(kind).map(|known| known.words).filter(|words| words.len() > 1);
    let first = ladders.next().unwrap_or_default();
    let rest: Vec<_> = ladders.collect();
    first.iter().copied().filter(|word| rest.iter().all(|words| words.contains(word))).collect()
}
