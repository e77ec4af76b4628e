//! The texts of settings, read: every fault names the setting, its origin and what would be right.

use std::num::{NonZeroU32, NonZeroU64};

use super::gather::Gathered;
use crate::agents::adapter::{AgentKind, Permissions};
use crate::cli::error::{Failure, Outcome};
use crate::engine::{LawKind, Limits, MicroUsd, Millis, Ratio, Target, Tokens};
use crate::lab::axis::{self, JUICE, OVER, REST, SLACK};

/// Which agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which {
    /// A real one.
    Real(AgentKind),
    /// The simulated one, through a process of its own.
    Sim,
}

/// The settings, read.
#[derive(Clone, Debug)]
pub struct Typed {
    /// The law.
    pub law: LawKind,
    /// The target.
    pub juice: Target,
    /// The window.
    pub over: Millis,
    /// Half the width of the band.
    pub slack: Ratio,
    /// The pause between rounds.
    pub rest: Millis,
    /// The caps.
    pub limits: Limits,
    /// The share of a cap at which to warn.
    pub warn: Ratio,
    /// The pause where a backend's limit does not say when it ends.
    pub limit_backoff: Millis,
    /// The pause after a failed round.
    pub backoff: Millis,
    /// How long a round that was told to end may take.
    pub grace: Millis,
    /// How long an agent may go on after its result.
    pub after_result: Millis,
    /// What the agent may do unasked.
    pub permissions: Permissions,
    /// Stands for the program's name.
    pub program: Vec<String>,
    /// The whole argv.
    pub argv: Option<Vec<String>>,
    /// Further arguments.
    pub arguments: Vec<String>,
    /// The ladder, where somebody says it.
    pub ladder: Vec<String>,
    /// Requests of one call, for programs that take it.
    pub call_turns: Option<u64>,
    /// Cost of one call, for programs that take it.
    pub call_cost: Option<u64>,
    /// A loop that cannot end by itself is wanted.
    pub unlimited: bool,
}

/// Which agent the settings name.
///
/// # Errors
/// A name that no agent has, or none.
pub fn which(gathered: &Gathered) -> Outcome<Which> {
    let named = |text: &str| match text {
        "" => Err("no agent is named; try --agent sim, which needs no account".to_owned()),
        "sim" => Ok(Which::Sim),
        text => text.parse().map(Which::Real).map_err(|error| format!("{error}, sim")),
    };
    read(gathered, "agent.kind", named)
}

/// Reads one setting.
///
/// # Errors
/// Its fault, with its name and origin.
pub fn read<T>(gathered: &Gathered, full: &str, parse: impl Fn(&str) -> Result<T, String>) -> Outcome<T> {
    let value = gathered.get(full);
    parse(value.text.trim())
        .map_err(|why| Failure::said(format!("{full} = {:?} ({}): {why}", value.text, value.origin)))
}

impl Typed {
    /// Reads all of them.
    ///
    /// # Errors
    /// The first fault.
    pub fn read(all: &Gathered) -> Outcome<Self> {
        let limits = Limits {
            rounds: read(all, "controls.rounds", maybe(at_least_one))?.and_then(NonZeroU64::new),
            budget: read(all, "governor.budget", none_at_zero(axis_millionths))?.map(Tokens::new),
            tokens: read(all, "controls.tokens", maybe(none_at_zero(axis_millionths)))?.flatten().map(Tokens::new),
            cost: read(all, "controls.cost", maybe(none_at_zero(axis_millionths)))?.flatten().map(MicroUsd::new),
            wall: read(all, "controls.wall", maybe(some_time))?,
            round_wall: read(all, "controls.round", maybe(some_time))?,
            inactivity: read(all, "controls.inactivity", maybe(some_time))?,
            requests: read(all, "controls.requests", maybe(at_least_one))?.and_then(NonZeroU64::new),
            agent_failures: failures(all)?,
            no_progress: no_progress(all)?.and_then(NonZeroU32::new),
            same_error: read(all, "controls.same_error", maybe(few))?.and_then(NonZeroU32::new),
            limit_wait: read(all, "controls.limit_wait", maybe(axis::duration))?,
            limited: read(all, "controls.limit_rounds", maybe(few))?.and_then(NonZeroU32::new),
        };
        Ok(Self {
            law: read(all, "governor.law", axis::law)?,
            juice: read(all, "governor.juice", |text| JUICE.value(text))?,
            over: read(all, "governor.over", |text| OVER.value(text))?,
            slack: read(all, "governor.slack", |text| SLACK.value(text))?,
            rest: read(all, "governor.rest", |text| REST.value(text))?,
            limits,
            warn: read(all, "controls.warn", |text| SLACK.value(text))?,
            limit_backoff: read(all, "controls.limit_backoff", axis::duration)?,
            backoff: read(all, "controls.backoff", axis::duration)?,
            grace: read(all, "controls.grace", axis::duration)?,
            after_result: read(all, "controls.after_result", axis::duration)?,
            permissions: read(all, "agent.permissions", |text| match text {
                "safe" => Ok(Permissions::Safe),
                "skip" => Ok(Permissions::Skip),
                _ => Err("it must be safe or skip".to_owned()),
            })?,
            program: read(all, "agent.program", words)?,
            argv: Some(read(all, "agent.argv", words)?).filter(|argv| !argv.is_empty()),
            arguments: read(all, "agent.arguments", words)?,
            ladder: read(all, "agent.ladder", list)?,
            call_turns: read(all, "controls.call_turns", maybe(at_least_one))?,
            call_cost: read(all, "controls.call_cost", maybe(some_cost))?,
            unlimited: read(all, "controls.unlimited", flag)?,
        })
    }
}

/// Failed rounds in a row that stop the loop.
fn failures(all: &Gathered) -> Outcome<Option<NonZeroU32>> {
    let stops = read(all, "controls.on_agent_error", |text| match text {
        "go-on" => Ok(false),
        "stop" => Ok(true),
        _ => Err("it must be go-on or stop".to_owned()),
    })?;
    let most = read(all, "controls.failures", maybe(few))?.and_then(NonZeroU32::new);
    Ok(if stops { Some(NonZeroU32::MIN) } else { most })
}

/// Rounds that may change nothing: where something says whether the task is done, 3 unless somebody says otherwise.
fn no_progress(all: &Gathered) -> Outcome<Option<u32>> {
    let asked = ["oracle.run", "oracle.checks", "gate.features"].iter().any(|name| !all.get(name).text.is_empty());
    read(all, "controls.no_progress", |text| match text {
        "" => Ok(asked.then_some(3)),
        text => maybe(few)(text),
    })
}

/// What may be `none`.
pub fn maybe<T>(parse: impl Fn(&str) -> Result<T, String>) -> impl Fn(&str) -> Result<Option<T>, String> {
    move |text| {
        if text == "none" {
            Ok(None)
        } else {
            parse(text).map(Some).map_err(|why| format!("{why}; `none` is no limit"))
        }
    }
}

/// True or false.
///
/// # Errors
/// Anything else.
pub fn flag(text: &str) -> Result<bool, String> {
    text.parse().map_err(|_| "it must be true or false".to_owned())
}

fn none_at_zero(parse: impl Fn(&str) -> Result<u64, String>) -> impl Fn(&str) -> Result<Option<u64>, String> {
    move |text| Ok(Some(parse(text)?).filter(|&count| count > 0))
}

/// A decimal number in millionths: millions of tokens to the token, dollars to the millionth.
fn axis_millionths(text: &str) -> Result<u64, String> {
    axis::millionths(text).map_err(|fault| fault.to_string())
}

/// A cap on time: one of nothing would end what it caps before it began.
///
/// # Errors
/// What it must be, for people.
pub fn some_time(text: &str) -> Result<Millis, String> {
    axis::duration(text)
        .and_then(|time| if time == Millis::ZERO { Err("it must be above 0".to_owned()) } else { Ok(time) })
}

/// A cap on cost that a program is given, and may take for none where it is 0.
fn some_cost(text: &str) -> Result<u64, String> {
    axis_millionths(text).and_then(|cost| if cost == 0 { Err("it must be above 0".to_owned()) } else { Ok(cost) })
}

fn at_least_one(text: &str) -> Result<u64, String> {
    match text.parse() {
        Ok(0) => Err("it must be at least 1".to_owned()),
        Ok(count) => Ok(count),
        Err(_) => Err("it must be a whole number, at least 1".to_owned()),
    }
}

fn few(text: &str) -> Result<u32, String> {
    at_least_one(text).and_then(|count| u32::try_from(count).map_err(|_| "it is too large".to_owned()))
}

/// Words: a JSON list, or one word.
///
/// # Errors
/// A list that is no list of texts.
pub fn words(text: &str) -> Result<Vec<String>, String> {
    if text.starts_with('[') {
        return serde_json::from_str(text).map_err(|error| format!("it must be a list of texts: {error}"));
    }
    Ok(if text.is_empty() { Vec::new() } else { vec![text.to_owned()] })
}

/// Words: a JSON list, or words with commas between.
///
/// # Errors
/// A list that is no list of texts.
pub fn list(text: &str) -> Result<Vec<String>, String> {
    if text.starts_with('[') {
        return words(text);
    }
    let parts = text.split(',').map(str::trim).filter(|word| !word.is_empty());
    Ok(parts.map(str::to_owned).collect())
}
