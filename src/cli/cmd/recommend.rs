//! `flyball recommend`: settings one can defend, from scenarios or from logs.

mod given;
mod report;

use std::path::Path;

use self::given::{Given, given};
use super::common;
use crate::cli::args::{Recommend, ShortFormat};
use crate::cli::error::{Failure, Outcome};
use crate::cli::exit::Exit;
use crate::cli::input;
use crate::cli::output::{self, Folder};
use crate::engine::Tokens;
use crate::lab::axis::{self, OVER, SLACK};
use crate::lab::bounds::{self, MAX_RUNS};
use crate::lab::choose::Weights;
use crate::lab::grid::Axes;
use crate::lab::page;
use crate::lab::recommend::doubt::warnings;
use crate::lab::recommend::judge::{Recommendation, Request, recommend};
use crate::lab::recommend::perturb::worlds;
use crate::lab::recommend::text::{self, Page};
use crate::lab::recommend::{World, yaml};
use crate::lab::result::VERSION;
use crate::lab::scenario::{GovernorSettings, Scenario, ScenarioError};
use crate::lab::settings::Settings;

/// Recommends.
///
/// # Errors
/// A scenario, log, settings file, flag or folder at fault.
pub fn run(args: &Recommend) -> Outcome {
    let current = args.current.as_deref().map(in_use).transpose()?;
    let Given { scenarios, aims, made } = given(args, current.as_ref())?;
    let first = scenarios.first().ok_or_else(|| Failure::said("there is no scenario to recommend for"))?;
    let price = args.price.as_deref().map(|text| common::read("--price", text, common::price)).transpose()?;
    let weights =
        args.weights.as_deref().map_or(Ok(Weights::default()), |text| common::read("--weights", text, weights))?;
    let runs = |flag, value| bounds::count(flag, Some(value), 1, MAX_RUNS).map_err(Failure::usage);
    let all: Vec<World> = scenarios.iter().flat_map(|scenario| worlds(scenario, !args.as_is)).collect();
    let request = Request {
        worlds: &all,
        axes: axes(args)?,
        rest: current.map_or(first.governor.rest, |current| current.governor.rest),
        current,
        race_runs: runs("--race", args.race)?,
        fresh_runs: runs("--runs", args.runs)?,
        seed: args.seed.unwrap_or(first.plan.seed),
        weights,
    };
    let place = args.out.clone().unwrap_or_else(|| Path::new("out").join(format!("recommend-{}", first.name)));
    let folder = output::results(&place, args.html.as_deref())?;
    scenarios.iter().for_each(common::out_of_order);
    let bar = output::stages();
    let told = recommend(&request, &|stage| bar.set_message(stage.to_string()));
    bar.finish_and_clear();
    let told = told.map_err(Failure::usage)?.ok_or_else(|| Failure::said("there is no setting to try"))?;
    let page = Page {
        worlds: &all,
        aims: &aims,
        snapped: args.snap,
        price,
        seed: request.seed,
        fresh_runs: request.fresh_runs,
        command: command(args, request.seed),
    };
    match args.format {
        ShortFormat::Table => output::print(text::render(&page, &told).as_bytes())?,
        ShortFormat::Json => output::print(format!("{}\n", report::object(&page, &told)).as_bytes())?,
    }
    write(&folder, first, current.as_ref(), &page, &told, made.as_deref())?;
    if let Some(file) = &args.html {
        let html = page::html(&report::page(&page, &told, &scenarios));
        output::write_whole(file, |out| out.write_all(html.as_bytes()))?;
        output::say(&format!("wrote {}", file.display()));
    }
    Ok(Exit::Success)
}

/// The settings in use.
fn in_use(path: &Path) -> Outcome<Settings> {
    let text = input::text(input::SETTINGS, path, input::SHORT)?;
    let file = path.display().to_string();
    let is_toml = path.extension().is_some_and(|ending| ending == "toml");
    let read = if is_toml {
        Settings::load(&text, &file)
    } else {
        yaml::read(&text).map_err(|error| ScenarioError::Faulty { file, problems: error.problems })
    };
    read.map_err(|error| input::faulty(input::SETTINGS, path, error))
}

fn axes(args: &Recommend) -> Outcome<Axes> {
    let law = (!args.law.is_empty()).then(|| args.law.join(","));
    Ok(Axes {
        law: law.map(|text| axis::laws("--law", &text)).transpose().map_err(Failure::usage)?,
        over: common::list(&OVER, "--over", &args.over)?,
        slack: common::list(&SLACK, "--slack", &args.slack)?,
        ..Axes::default()
    })
}

/// `excess=1,reversals=0.4`: what is left out weighs what it usually does.
fn weights(text: &str) -> Result<Weights, String> {
    let mut weights = Weights::default();
    for item in text.split(',') {
        let (name, value) = item.split_once('=').ok_or_else(|| format!("{item:?} is no name=weight"))?;
        let value = axis::millionths(value.trim()).map_err(|fault| format!("{item}: {fault}"))?;
        let value = i64::try_from(value).ok().filter(|value| *value <= 1_000_000_000);
        let value = value.ok_or_else(|| format!("{item}: it must be at most 1000"))?;
        match name.trim() {
            "excess" => weights.excess = value,
            "bias" => weights.bias = value,
            "reversals" => weights.reversals = value,
            "settle" => weights.settle = value,
            other => return Err(format!("{other:?} is no part of the loss: excess, bias, reversals, settle")),
        }
    }
    if [weights.excess, weights.bias, weights.reversals, weights.settle] == [0; 4] {
        return Err(
            "all of it weighs nothing, so that no setting is better than another: let a part weigh more than 0"
                .to_owned(),
        );
    }
    Ok(weights)
}

/// Settings for the real loop and for the original, and the scenario made of logs.
fn write(
    folder: &Folder,
    first: &Scenario,
    current: Option<&Settings>,
    page: &Page<'_>,
    told: &Recommendation,
    made: Option<&str>,
) -> Outcome<()> {
    let setting = told.chosen().setting;
    let budget = current.map_or(Settings::default().governor.budget, |current| current.governor.budget);
    let settings = Settings {
        governor: GovernorSettings {
            law: setting.law,
            juice: first.governor.juice,
            over: setting.over,
            slack: setting.slack,
            rest: setting.rest,
            budget: budget.filter(|budget| *budget > Tokens::ZERO),
            tuning: first.governor.tuning.only(setting.law),
        },
    };
    let mut about = vec![format!("recommended by flyball {VERSION} for {}", first.name)];
    about.extend(warnings(page, told).iter().map(|warning| format!("warning: {warning}")));
    about.extend(text::sentences(page, told));
    about.push(format!("again: {}", page.command));
    let about = about.join("\n");
    folder.write("flyball.toml", |out| out.write_all(settings.to_toml(&about).as_bytes()))?;
    folder.write("juice.yaml", |out| out.write_all(original(settings, told, &about).as_bytes()))?;
    if let Some(text) = made {
        folder.write(&format!("{}.toml", first.name), |out| out.write_all(text.as_bytes()))?;
    }
    output::say(&format!("wrote flyball.toml and juice.yaml to {}", folder.path().display()));
    Ok(())
}

/// Settings for the original: those recommended where it can run them, else the best of its own, and what it loses by that.
fn original(mut settings: Settings, told: &Recommendation, about: &str) -> String {
    let (best, own) = (told.chosen(), told.original());
    let mut about = about.to_owned();
    if own.setting != best.setting {
        about = format!(
            "{about}\nThe original cannot run that: it has one law, and forgets after 300 s. These are the best of its own settings: \
             {:.1} % of rounds on a right rung where the recommended has {:.1} %.",
            100.0 * own.on_rung.mean,
            100.0 * best.on_rung.mean
        );
        let governor = &mut settings.governor;
        (governor.law, governor.over, governor.slack) = (own.setting.law, own.setting.over, own.setting.slack);
    }
    yaml::write(&settings, &about)
}

/// The exact command that makes the recommendation again.
fn command(args: &Recommend, seed: u64) -> String {
    let mut words = vec!["flyball recommend".to_owned()];
    words.extend(args.paths.iter().map(|path| common::quoted(&path.display().to_string())));
    let mut flag = |name: &str, value: Option<String>| {
        words.extend(value.map(|value| format!("{name} {}", common::quoted(&value))))
    };
    let joined = |list: &[String]| (!list.is_empty()).then(|| list.join(","));
    flag("--current", args.current.as_ref().map(|path| path.display().to_string()));
    flag("--juice", args.juice.clone());
    flag("--law", joined(&args.law));
    flag("--over", joined(&args.over));
    flag("--slack", joined(&args.slack));
    flag("--weights", args.weights.clone());
    flag("--price", args.price.clone());
    flag("--model", args.model.clone());
    flag("--effort", joined(&args.effort));
    flag("--rounds", args.rounds.map(|rounds| rounds.to_string()));
    flag("--runs", Some(args.runs.to_string()));
    flag("--race", Some(args.race.to_string()));
    flag("--seed", Some(seed.to_string()));
    flag("--out", args.out.as_ref().map(|path| path.display().to_string()));
    flag("--html", args.html.as_ref().map(|path| path.display().to_string()));
    flag("--format", (args.format == ShortFormat::Json).then(|| "json".to_owned()));
    words.extend(args.snap.then(|| "--snap".to_owned()));
    words.extend(args.as_is.then(|| "--as-is".to_owned()));
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_are_read_and_faults_named() {
        let read = weights("reversals=0.4, settle=2").unwrap();
        assert_eq!((read.reversals, read.settle, read.excess), (400_000, 2_000_000, Weights::default().excess));
        for (text, want) in [
            ("reversals", "no name=weight"),
            ("speed=1", "no part"),
            ("bias=-1", "bias=-1"),
            ("bias=2000", "at most"),
            ("excess=0,bias=0,reversals=0,settle=0", "weighs nothing"),
        ] {
            assert!(weights(text).unwrap_err().contains(want), "{text}");
        }
    }
}
