//! What the commands share: scenarios from files, axes from flags, folders for results, the words of a decision.

use std::cmp::Ordering;
use std::path::{Path, PathBuf};

use comfy_table::Table;

use crate::cli::args::{Axes as AxisFlags, One};
use crate::cli::error::{Failure, Outcome};
use crate::cli::input::{self, Role};
use crate::cli::output::{Folder, hint};
use crate::engine::{Answer, Ladder, Mean, Ratio, Side, Target, Verdict};
use crate::lab::advice::{advice, disorder};
use crate::lab::axis::{self, Axis, AxisError, JUICE, OVER, REST, SLACK};
use crate::lab::bounds::MAX_THREADS;
use crate::lab::fixed::ufloat;
use crate::lab::grid::{Axes, Cell};
use crate::lab::plot::png;
use crate::lab::scenario::Scenario;

/// Reads a scenario.
///
/// # Errors
/// Its faults, each with file, line and key.
pub fn scenario(path: &Path) -> Outcome<Scenario> {
    const SCENARIO: Role = Role { name: "scenario", hint: "name a scenario file, such as scenarios/s02-typical.toml" };
    Scenario::read(path).map_err(|error| input::faulty(SCENARIO, path, error))
}

/// How many threads the environment asks for.
///
/// # Errors
/// `FLYBALL_THREADS` that is no count from 1 to [`MAX_THREADS`].
pub fn threads() -> Outcome<Option<u64>> {
    let Some(text) = std::env::var_os("FLYBALL_THREADS").filter(|text| !text.is_empty()) else { return Ok(None) };
    let count = text.to_str().and_then(|text| text.trim().parse::<u64>().ok());
    match count.filter(|count| (1..=MAX_THREADS).contains(count)) {
        Some(count) => Ok(Some(count)),
        None => Err(Failure::said(format!(
            "FLYBALL_THREADS: {:?}: it must be from 1 to {MAX_THREADS}",
            text.to_string_lossy()
        ))),
    }
}

/// Sets how many threads there are, where the environment says, whatever the command does with them.
///
/// # Errors
/// As [`threads`].
pub fn set_threads() -> Outcome<()> {
    if let Some(count) = threads()?.and_then(|count| usize::try_from(count).ok()) {
        // once a process, so that there is nothing to be told of a second time
        let _ = rayon::ThreadPoolBuilder::new().num_threads(count).build_global();
    }
    Ok(())
}

/// The folder that results go to where no flag says.
#[must_use]
pub fn out(given: Option<&PathBuf>, scenario: &Scenario) -> PathBuf {
    given.cloned().unwrap_or_else(|| Path::new("out").join(&scenario.name))
}

/// The axes that flags name.
///
/// # Errors
/// The flag and the item at fault.
pub fn axes(flags: &AxisFlags) -> Outcome<Axes> {
    let law = (!flags.law.is_empty()).then(|| axis::laws("--law", &flags.law.join(","))).transpose();
    Ok(Axes {
        law: law.map_err(wrong)?,
        juice: list(&JUICE, "--juice", &flags.juice)?,
        over: list(&OVER, "--over", &flags.over)?,
        slack: list(&SLACK, "--slack", &flags.slack)?,
        rest: list(&REST, "--rest", &flags.rest)?,
    })
}

/// A word of a command line as a shell takes it.
pub fn quoted(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=,:~+".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', "'\\''"))
    }
}

/// One setting: flags over the scenario's.
///
/// # Errors
/// The flag at fault.
pub fn cell(args: &One, base: Cell) -> Outcome<Cell> {
    fn one<T>(flag: &str, given: Option<&String>, default: T, read: impl Fn(&str) -> Result<T, String>) -> Outcome<T> {
        given.map_or(Ok(default), |text| {
            let wrong = |why| AxisError { origin: flag.to_owned(), item: text.clone(), why };
            read(text)
                .map_err(|why| Failure::usage(wrong(why)).hint("this command takes a single value; sweep takes lists"))
        })
    }
    Ok(Cell {
        law: one("--law", args.law.as_ref(), base.law, axis::law)?,
        juice: one("--juice", args.juice.as_ref(), base.juice, |text| JUICE.value(text))?,
        over: one("--over", args.over.as_ref(), base.over, |text| OVER.value(text))?,
        slack: one("--slack", args.slack.as_ref(), base.slack, |text| SLACK.value(text))?,
        rest: one("--rest", args.rest.as_ref(), base.rest, |text| REST.value(text))?,
    })
}

/// A list of one axis, where a flag names it.
///
/// # Errors
/// The flag and the item at fault.
pub fn list<T>(axis: &Axis<T>, flag: &str, given: &[String]) -> Outcome<Option<Vec<T>>> {
    (!given.is_empty()).then(|| axis.list(flag, &given.join(","))).transpose().map_err(wrong)
}

fn wrong(error: AxisError) -> Failure {
    Failure::usage(error).hint("a list is values and ranges with commas between, such as 300,5m,1h or 0.15:0.4:0.05")
}

/// Dollars for a million tokens.
///
/// # Errors
/// What is wrong with it, for people.
pub fn price(text: &str) -> Result<f64, String> {
    let price = text.trim().parse().ok().filter(|price| (0.0..=1e6).contains(price));
    price.ok_or_else(|| "it must be US dollars for a million output tokens, from 0 to 1000000".to_owned())
}

/// How well something is to be known, a share.
///
/// # Errors
/// What is wrong with it, for people.
pub fn precision(text: &str) -> Result<Ratio, String> {
    match SLACK.value(text)? {
        share if share.ppm() == 0 => Err("it must be above 0: no number of runs or rounds tells exactly".to_owned()),
        share => Ok(share),
    }
}

/// The value of a flag.
///
/// # Errors
/// The flag and what is wrong with it.
pub fn read<T>(flag: &str, text: &str, value: impl Fn(&str) -> Result<T, String>) -> Outcome<T> {
    let wrong = |why| AxisError { origin: flag.to_owned(), item: text.to_owned(), why };
    value(text).map_err(|why| Failure::usage(wrong(why)))
}

/// Says beforehand what is odd about the ladder and the targets.
pub fn advise(scenario: &Scenario, juices: &[Target]) {
    const MOST: usize = 5;
    out_of_order(scenario);
    let all: Vec<String> = juices.iter().filter_map(|juice| advice(scenario, *juice)).collect();
    all.iter().take(MOST).for_each(|text| hint(text));
    if all.len() > MOST {
        hint(&format!("{} more targets lie off the ladder or between two rungs", all.len() - MOST));
    }
}

/// Says beforehand where a harder effort makes no more than a softer one.
pub fn out_of_order(scenario: &Scenario) {
    disorder(scenario).iter().for_each(|text| hint(&format!("{}: {text}", scenario.name)));
}

/// A table's lines, without the blanks at their ends.
#[must_use]
pub fn lines(table: &Table) -> String {
    table.lines().map(|line| format!("{}\n", line.trim_end())).collect()
}

/// What a decision does, in a word or two.
#[must_use]
pub fn then(ladder: &Ladder, verdict: &Verdict) -> String {
    match verdict.to.cmp(&verdict.from) {
        Ordering::Less => format!("harder: {}", ladder.effort(verdict.to)),
        Ordering::Greater => format!("softer: {}", ladder.effort(verdict.to)),
        Ordering::Equal if verdict.pinned => "pinned".to_owned(),
        Ordering::Equal => "stays".to_owned(),
    }
}

/// Where a reading lay, in a word.
#[must_use]
pub const fn side(side: Side) -> &'static str {
    match side {
        Side::Below => "below",
        Side::Within => "within",
        Side::Above => "above",
    }
}

/// What an oracle answered, in a word.
#[must_use]
pub const fn answer(answer: Answer) -> &'static str {
    match answer {
        Answer::Pass => "done",
        Answer::Fail => "not done",
        Answer::Blocked => "blocked",
        Answer::Error => "oracle broken",
    }
}

/// A reading in whole tokens per turn.
#[must_use]
pub fn whole(mean: Option<Mean>) -> String {
    let tokens = |mean: Mean| ufloat(mean.total().count()) / ufloat(mean.turns());
    mean.map_or_else(|| "-".to_owned(), |mean| format!("{:.0}", tokens(mean)))
}

/// Writes a picture as `NAME.svg`, `NAME.png` and its data as `NAME.json`.
///
/// # Errors
/// A file that cannot be written, or a picture too large for a PNG.
pub fn picture(folder: &Folder, name: &str, svg: &str, data: &impl serde::Serialize) -> Outcome<()> {
    let mut json = serde_json::to_vec_pretty(data).map_err(Failure::internal)?;
    json.push(b'\n');
    folder.write(&format!("{name}.json"), |out| out.write_all(&json))?;
    folder.write(&format!("{name}.svg"), |out| out.write_all(svg.as_bytes()))?;
    let bytes = png(svg).map_err(|error| Failure::usage(error).while_(format!("cannot make {name}.png")))?;
    folder.write(&format!("{name}.png"), |out| out.write_all(&bytes))
}
