//! Any program: its argv is the person's own, word for word, with what is asked for put in.
//!
//! The words of an ask are also in its environment, see [`ASKED`].

use super::{Ask, AskError, Capabilities, CommandSpec, EffortBy, PromptBy};

/// The variables that hold the model, the effort and the session that are asked for. They are no names of settings: a flyball that
/// the program starts would take those for its own.
pub const ASKED: [&str; 3] = ["FLYBALL_ASKED_MODEL", "FLYBALL_ASKED_EFFORT", "FLYBALL_ASKED_SESSION"];

pub(super) const CAPABILITIES: Capabilities = Capabilities {
    live_turns: false,
    closing_total: false,
    effort: EffortBy::Template,
    confirms_effort: false,
    caps_turns: false,
    caps_cost: false,
    tested: &[],
    safe: "what the command may do is the command's own affair",
    skip: "what the command may do is the command's own affair",
    keys: &[],
    login: None,
};

/// What a word of a template may name in braces; whatever else stands in braces is the program's own.
pub const PLACEHOLDERS: [&str; 4] = ["model", "effort", "session", "prompt_file"];

/// Fills a template in.
pub(super) fn template(ask: &Ask<'_>, unset: &[&'static str]) -> Result<CommandSpec, AskError> {
    let words = ask.template.unwrap_or(ask.program);
    if words.first().is_none_or(String::is_empty) {
        return Err(AskError::NoCommand);
    }
    let file = ask.prompt_file();
    let path = file.to_string_lossy();
    let values = [ask.model, ask.effort, Some(ask.session), Some(path.as_ref())];
    let given: Vec<(&'static str, Option<&str>)> = PLACEHOLDERS.into_iter().zip(values).collect();
    let mut argv = Vec::with_capacity(words.len() + ask.extra.len());
    for word in words {
        argv.push(fill(word, &given)?);
    }
    argv.extend_from_slice(ask.extra);
    let by_file = words.iter().any(|word| word.contains("{prompt_file}"));
    let prompt = if by_file { PromptBy::File(file.clone()) } else { PromptBy::Stdin };
    let mut spec =
        CommandSpec { argv, set: Vec::new(), unset: unset.to_vec(), files: Vec::new(), links: Vec::new(), prompt };
    for (name, value) in ASKED.into_iter().zip([ask.model, ask.effort, Some(ask.session)]) {
        if let Some(value) = value {
            spec.set(name, value);
        }
    }
    Ok(spec)
}

/// One word; what is put in is not looked at again.
fn fill(word: &str, given: &[(&'static str, Option<&str>)]) -> Result<String, AskError> {
    let (mut filled, mut rest) = (String::with_capacity(word.len()), word);
    while let Some(at) = rest.find('{') {
        filled.push_str(&rest[..at]);
        rest = &rest[at..];
        let named = given.iter().find_map(|&(name, value)| {
            let after = rest.strip_prefix('{')?.strip_prefix(name)?.strip_prefix('}')?;
            Some((name, value, after))
        });
        match named {
            Some((name, value, after)) => {
                filled.push_str(value.ok_or(AskError::Missing(name))?);
                rest = after;
            }
            None => {
                filled.push('{');
                rest = &rest[1..];
            }
        }
    }
    filled.push_str(rest);
    Ok(filled)
}
