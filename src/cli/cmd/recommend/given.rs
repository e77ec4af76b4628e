//! The agents that settings are recommended for: scenarios as named, and one made of logs, all at the target asked for.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::agents::join;
use crate::cli::args::Recommend;
use crate::cli::cmd::common;
use crate::cli::error::{Failure, Outcome};
use crate::cli::logs;
use crate::cli::output::hint;
use crate::engine::{Target, TurnRecord, counted};
use crate::lab::axis::JUICE;
use crate::lab::bounds::{self, MAX_ROUNDS};
use crate::lab::fit::{Asked, Options, calibrate, figures};
use crate::lab::fixed::micros;
use crate::lab::recommend::aim::Aim;
use crate::lab::scenario::Scenario;
use crate::lab::settings::Settings;

/// What settings are recommended for.
pub(super) struct Given {
    /// The scenarios.
    pub(super) scenarios: Vec<Scenario>,
    /// Where the target of each comes from.
    pub(super) aims: Vec<Aim>,
    /// The text of the scenario made of logs.
    pub(super) made: Option<String>,
}

/// Reads it.
///
/// # Errors
/// A scenario, log or flag at fault.
pub(super) fn given(args: &Recommend, current: Option<&Settings>) -> Outcome<Given> {
    let is_scenario = |path: &&PathBuf| path.extension().is_some_and(|ending| ending == "toml");
    let named: Vec<PathBuf> = args.paths.iter().filter(|path| !is_scenario(path)).cloned().collect();
    if named.is_empty() {
        of_logs_alone(args)?;
    }
    let mut scenarios: Vec<Scenario> = once(args.paths.iter().filter(is_scenario))
        .into_iter()
        .map(|path| common::scenario(path))
        .collect::<Outcome<_>>()?;
    let mut aims = vec![Aim::Stated; scenarios.len()];
    let mut made = None;
    if !named.is_empty() {
        let (scenario, text) = of_logs(args, &named)?;
        scenarios.push(scenario);
        aims.push(Aim::Logs);
        made = Some(text);
    }
    let asked =
        args.juice.as_deref().map(|text| common::read("--juice", text, |text| JUICE.value(text))).transpose()?;
    let used = current.map(|current| (current.governor.juice, Aim::InUse));
    let aimed = asked.map(|juice| (juice, Aim::Asked)).or(used);
    for (scenario, aim) in scenarios.iter_mut().zip(&mut aims) {
        let rounds = bounds::count("--rounds", args.rounds, scenario.plan.rounds, MAX_ROUNDS);
        scenario.plan.rounds = rounds.map_err(Failure::usage)?;
        if let Some((juice, from)) = aimed {
            (scenario.governor.juice, *aim) = (juice, from);
        }
        // a run that its budget ends is not a run of the law: what a budget buys is told by shares
        scenario.governor.budget = None;
        if args.snap {
            snap(scenario);
        }
    }
    Ok(Given { scenarios, aims, made })
}

/// Flags that only logs have a meaning for.
fn of_logs_alone(args: &Recommend) -> Outcome<()> {
    let flag = match (&args.model, args.effort.is_empty()) {
        (Some(_), _) => "--model",
        (None, false) => "--effort",
        (None, true) => return Ok(()),
    };
    Err(Failure::said(format!("{flag}: it chooses among logs, and there are only scenarios here"))
        .hint("leave it out, or name logs or folders of logs beside the scenarios"))
}

/// Each file once, in the order in which they are named first.
fn once<'a>(paths: impl Iterator<Item = &'a PathBuf>) -> Vec<&'a PathBuf> {
    let mut seen = Vec::new();
    let mut kept = Vec::new();
    for path in paths {
        let place = path.canonicalize().unwrap_or_else(|_| path.clone());
        if seen.contains(&place) {
            hint(&format!("{} is named twice, and counts once", path.display()));
        } else {
            seen.push(place);
            kept.push(path);
        }
    }
    kept
}

/// Moves the target to the mean of the nearest rung, in whole tokens, or tenths where there are fewer than a hundred.
fn snap(scenario: &mut Scenario) {
    let derived = scenario.derived();
    let mean = derived.means[derived.nearest];
    let grain = if mean < 100.0 { 10.0 } else { 1.0 };
    let near = (mean * grain).round() / grain;
    scenario.governor.juice = Target::from_micros(micros(near).unsigned_abs().max(1));
    hint(&format!("{}: the target is {near}, the mean of the nearest rung", scenario.name));
}

fn of_logs(args: &Recommend, named: &[PathBuf]) -> Outcome<(Scenario, String)> {
    let logs = logs::load(named)?;
    let joined = join(&logs);
    logs::warn_of(&joined.health);
    let options = Options { model: args.model.clone(), efforts: args.effort.clone(), ..Options::default() };
    let failed = |error| {
        Failure::usage(error)
            .while_("cannot make a scenario of these logs")
            .hint("look at them with `flyball calibrate`, which says what there is and what is missing")
    };
    let fit = calibrate(&joined.turns, &options).map_err(failed)?;
    let asked = Asked { failed: joined.health.errors, ..Asked::default() };
    let text = fit.to_toml_with(&figures(&joined.turns, &fit, &asked));
    let scenario = Scenario::load(&text, &fit.name).map_err(Failure::internal)?;
    hint(&format!(
        "{}: fitted to {} of {} in {}",
        fit.name,
        counted(fit.calls, "call"),
        fit.model,
        counted(fit.sessions, "session")
    ));
    if let Some(others) = others(&joined.turns, &fit.model) {
        hint(&others);
    }
    Ok((scenario, text))
}

/// Which calls of the logs the fit does not rest on, being of other models.
fn others(turns: &[TurnRecord], model: &str) -> Option<String> {
    let mut calls: BTreeMap<&str, u64> = BTreeMap::new();
    for turn in turns.iter().filter(|turn| turn.counts_as_turn) {
        *calls.entry(turn.model.as_deref().unwrap_or("unnamed")).or_default() += 1;
    }
    calls.remove(model);
    let each: Vec<String> =
        calls.iter().map(|(model, calls)| format!("{} of {model}", counted(calls, "call"))).collect();
    (!each.is_empty()).then(|| format!("left out, being of other models: {}; --model takes another", each.join(", ")))
}
