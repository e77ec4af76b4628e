//! A recommendation for people: every number with its unit, its interval and a sentence.

use std::fmt::Write as _;

use super::judge::{MARGIN, Promise, Quantile, Recommendation, Regret};
use super::{Setting, World};
use crate::engine::{counted, one_or};
use crate::lab::fit::figures::three;
use crate::lab::fixed::{float, ufloat};
use crate::lab::report::decimal;
use crate::lab::stats::Estimate;
use crate::lab::theory;

/// What a loss is.
pub const LOSS: &str = "An oracle that starts on a right rung has 0. With the usual weights straying by 0.1 nats (about 10 %) adds 0.1, \
                        fifty reversals in 100 rounds add 0.1, ten points of bias past 5 % add 0.05, and settling only when all that \
                        may be spent is spent adds 1.";

/// What the page needs to know beside the recommendation.
#[derive(Clone, Debug)]
pub struct Page<'a> {
    /// Where settings were tried.
    pub worlds: &'a [World],
    /// Dollars for a million output tokens.
    pub price: Option<f64>,
    /// The seed of all luck.
    pub seed: u64,
    /// Fresh runs.
    pub fresh_runs: u32,
    /// The exact command that makes the recommendation again.
    pub command: String,
}

/// The page.
#[must_use]
pub fn render(page: &Page<'_>, told: &Recommendation) -> String {
    let mut text = format!("recommended: {}\n", flags(&told.chosen().setting));
    for sentence in sentences(page, told) {
        let _ = writeln!(text, "  {sentence}");
    }
    let _ =
        write!(text, "\nOn {} that had no part in the choice (95 % intervals):\n\n", counted(page.fresh_runs, "run"));
    table(&promised(told), &mut text);
    let _ = write!(text, "\nLoss by world (95 % intervals). {LOSS}\n\n");
    table(&worlds(page, told), &mut text);
    let _ = write!(
        text,
        "\nSettings that none of those tried beats in all three (on the scenarios as they are; 95 % intervals, over runs that the choice was \
         made by):\n\n"
    );
    table(&front(told), &mut text);
    text.push_str("\nIf the loss were weighed otherwise (differences in loss, paired by run, with 95 % intervals):\n");
    for line in reweighed(told) {
        let _ = writeln!(text, "  {line}");
    }
    if let Some(regret) = &told.regret {
        let _ = writeln!(text, "\n{}", regretted(regret, page.price));
    }
    let race = &told.race;
    let stages: Vec<String> = race
        .stages
        .iter()
        .map(|(settings, runs)| format!("{} to {}", counted(settings, "setting"), counted(runs, "run")))
        .collect();
    let _ = write!(
        text,
        "\nTried: {} of {}, each in {}; {} of a setting in a world in all, by stages: {}.\n",
        told.screened.settings.len(),
        counted(told.screened.all, "setting"),
        counted(page.worlds.len(), "world"),
        counted(race.cost, "run"),
        stages.join(", ")
    );
    for line in screened(told) {
        let _ = writeln!(text, "{line}");
    }
    let _ = writeln!(text, "Again: {}", page.command);
    text
}

/// What was not run, and what was run once for all windows and slacks.
#[must_use]
pub fn screened(told: &Recommendation) -> Vec<String> {
    let mut lines: Vec<String> = told.screened.left_out.iter().map(|line| format!("Left out: {line}.")).collect();
    let once: Vec<&str> = told.screened.once.iter().map(|law| law.name()).collect();
    if !once.is_empty() {
        lines.push(format!(
            "Run once, as no window and no slack made a difference to {} in any of these worlds: {}.",
            one_or(once.len(), "it", "them"),
            once.join(", ")
        ));
    }
    lines
}

/// A setting as flags.
#[must_use]
pub fn flags(setting: &Setting) -> String {
    let short = |micros: i64| decimal(micros).trim_end_matches('0').trim_end_matches('.').to_owned();
    let seconds = |millis: u64| short(i64::try_from(millis.saturating_mul(1000)).unwrap_or(i64::MAX));
    format!(
        "--law {} --over {}s --slack {} --rest {}s",
        setting.law,
        seconds(setting.over.count()),
        short(setting.slack.ppm().into()),
        seconds(setting.rest.count())
    )
}

/// Why, and what it promises.
#[must_use]
pub fn sentences(page: &Page<'_>, told: &Recommendation) -> Vec<String> {
    let chosen = told.chosen();
    let mut all = Vec::new();
    all.push(if told.best == chosen.setting && told.as_good <= 1 {
        format!(
            "It has the least loss of all that were tried, and on the runs that the choice was made by no other came within {} of it.",
            three(ufloat(MARGIN.unsigned_abs()) / 1e6)
        )
    } else if told.best == chosen.setting {
        format!(
            "It has the least loss of all that were tried; {} of those left cannot be told from it.",
            told.as_good.saturating_sub(1)
        )
    } else {
        format!(
            "It is the simplest of {} settings that cannot be told from the best of all that were tried, {}.",
            told.as_good,
            flags(&told.best)
        )
    });
    if !told.limits_kept {
        all.push(
            "No setting settles in 95 % of its runs and stays off the ends of the ladder in 95 % of its rounds: this is the least \
             bad one."
                .to_owned(),
        );
    }
    all.push(format!(
        "It holds a right rung in {} % of rounds, turns round {} times in 100 rounds, settles after {} rounds and {} tokens{}, \
         and spends {} % of its tokens on wrong efforts.",
        about(&chosen.on_rung, 100.0, 1),
        about(&chosen.reversals, 1.0, 1),
        about(&chosen.settle_rounds, 1.0, 1),
        thousands(&chosen.settle_tokens),
        if chosen.unsettled.mean > 0.0 {
            format!(" (never, in {} % of runs)", about(&chosen.unsettled, 100.0, 1))
        } else {
            String::new()
        },
        about(&chosen.off_tokens, 100.0, 1)
    ));
    if let [Some(half), Some(most)] = chosen.settle_within {
        all.push(format!(
            "Half of the runs settle within {} tokens, and nine of ten within {}.",
            within(half),
            within(most)
        ));
    }
    for world in page.worlds.iter().filter(|world| world.home) {
        all.push(aimed(world));
        all.extend(target(world));
    }
    all
}

/// What the target is, and which rung is nearest.
fn aimed(world: &World) -> String {
    let (scenario, juice) = (&world.scenario, world.scenario.governor.juice);
    let derived = scenario.derived_at(juice);
    let word = scenario.ladder.efforts().get(derived.nearest).map_or("", |effort| effort.word());
    format!(
        "{}: the target is {} output tokens per turn; {word}, which makes {:.0}, is nearest.",
        scenario.name,
        decimal(i64::try_from(juice.micros()).unwrap_or(i64::MAX)).trim_end_matches('0').trim_end_matches('.'),
        derived.means[derived.nearest]
    )
}

/// A warning where the target lies off the ladder or between two rungs.
fn target(world: &World) -> Option<String> {
    let (scenario, juice) = (&world.scenario, world.scenario.governor.juice);
    let derived = scenario.derived_at(juice);
    let aim = ufloat(juice.micros()) / 1e6;
    let near = derived.means[derived.nearest];
    let word = scenario.ladder.efforts().get(derived.nearest).map_or("", |effort| effort.word());
    if !world.reachable {
        let side = if aim > near { "above" } else { "below" };
        return Some(format!(
            "{}: the target of {} lies {side} the whole ladder; --snap takes {}, which {word} makes.",
            scenario.name,
            three(aim),
            three(near)
        ));
    }
    let phase = derived.phase.map_or(0.0, f64::abs);
    let lost =
        derived.legal_slack.and_then(|legal| theory::infeasible_share(0.15, (1.0 + legal.lo) / (1.0 - legal.lo)));
    (phase > 0.35).then(|| {
        format!(
            "{}: the target of {} lies about half way between two rungs, as {} % of targets here do at a slack of 15 %: the \
             nearest rung is {:+.0} % off for good; --snap takes {}, which {word} makes.",
            scenario.name,
            three(aim),
            three(100.0 * lost.unwrap_or(0.0)),
            100.0 * (near / aim - 1.0),
            three(near)
        )
    })
}

fn about(estimate: &Estimate, scale: f64, decimals: usize) -> String {
    let mean = estimate.mean * scale;
    match estimate.interval {
        Some(interval) => {
            format!("{mean:.decimals$} ({:.decimals$} to {:.decimals$})", interval.lo * scale, interval.hi * scale)
        }
        None => format!("{mean:.decimals$}"),
    }
}

fn half(estimate: &Estimate, scale: f64, decimals: usize) -> String {
    let half = estimate.interval.map_or(0.0, |interval| (interval.hi - interval.lo) / 2.0 * scale);
    format!("{:.decimals$} +- {half:.decimals$}", estimate.mean * scale)
}

fn thousands(estimate: &Estimate) -> String {
    match estimate.interval {
        Some(interval) => format!("{} ({} to {})", tokens(estimate.mean), tokens(interval.lo), tokens(interval.hi)),
        None => tokens(estimate.mean),
    }
}

/// A count of tokens that can be read.
fn tokens(count: f64) -> String {
    match count.abs() {
        size if size >= 1e6 => format!("{:.2} million", count / 1e6),
        size if size >= 1e4 => format!("{:.0} thousand", count / 1e3),
        _ => format!("{count:.0}"),
    }
}

fn within(quantile: Quantile) -> String {
    let (value, interval) = quantile;
    let of = |value: i64| tokens(float(value.into()));
    match interval {
        Some((low, high)) => format!("{} ({} to {})", of(value), of(low), of(high)),
        None => of(value),
    }
}

/// Rows of the settings on fresh runs, names and units first.
#[must_use]
pub fn promised(told: &Recommendation) -> Vec<Vec<String>> {
    let names =
        ["", "law", "over", "slack", "on rung", "reversals", "settle", "until then", "off rung", "loss", "worse by"];
    let units = ["", "", "s", "%", "% rounds", "/100", "rounds", "ktok", "% tok", "", "loss, paired"];
    let row = |promise: &Promise| {
        let setting = promise.setting;
        vec![
            promise.who.to_owned(),
            setting.law.name().to_owned(),
            (setting.over.count() / 1000).to_string(),
            format!("{}", f64::from(setting.slack.ppm()) / 1e4),
            half(&promise.on_rung, 100.0, 1),
            half(&promise.reversals, 1.0, 1),
            half(&promise.settle_rounds, 1.0, 1),
            half(&promise.settle_tokens, 1e-3, 0),
            half(&promise.off_tokens, 100.0, 1),
            half(&promise.objective, 1.0, 3),
            promise.worse.as_ref().map_or_else(|| "-".to_owned(), |worse| half(worse, 1.0, 3)),
        ]
    };
    let head = [names.map(str::to_owned).to_vec(), units.map(str::to_owned).to_vec()];
    head.into_iter().chain(told.promises.iter().map(row)).collect()
}

/// Rows of losses by world, names first.
#[must_use]
pub fn worlds(page: &Page<'_>, told: &Recommendation) -> Vec<Vec<String>> {
    let mut head = vec!["world".to_owned()];
    head.extend(told.promises.iter().map(|promise| promise.who.to_owned()));
    let row = |(at, world): (usize, &World)| {
        let mut row = vec![world.name.clone()];
        row.extend(told.promises.iter().map(|promise| half(&promise.by_world[at], 1.0, 3)));
        row
    };
    std::iter::once(head).chain(page.worlds.iter().enumerate().map(row)).collect()
}

/// Rows of the trade-offs, names and units first.
#[must_use]
pub fn front(told: &Recommendation) -> Vec<Vec<String>> {
    const MOST: usize = 12;
    let names = ["law", "over", "slack", "excess", "reversals", "until settled", "on rung"];
    let units = ["", "s", "%", "nats", "/100", "ktok", "% rounds"];
    let row = |(setting, trade): &(Setting, super::race::Trade)| {
        vec![
            setting.law.name().to_owned(),
            (setting.over.count() / 1000).to_string(),
            format!("{}", f64::from(setting.slack.ppm()) / 1e4),
            half(&trade.excess, 1.0, 3),
            half(&trade.reversals, 1.0, 1),
            half(&trade.settle_tokens, 1e-3, 0),
            half(&trade.on_rung, 100.0, 1),
        ]
    };
    let head = [names.map(str::to_owned).to_vec(), units.map(str::to_owned).to_vec()];
    head.into_iter().chain(told.front.iter().take(MOST).map(row)).collect()
}

/// What the choice would be under other weights, a line each.
#[must_use]
pub fn reweighed(told: &Recommendation) -> Vec<String> {
    let line = |other: &super::judge::Reweighed| match &other.worse {
        None => format!("{}: the same", other.change),
        Some(worse) => {
            format!("{}: {}; the recommended is worse by {}", other.change, flags(&other.best), about(worse, 1.0, 3))
        }
    };
    told.reweighed.iter().map(line).collect()
}

/// What the settings in use cost beyond those recommended.
#[must_use]
pub fn regretted(regret: &Regret, price: Option<f64>) -> String {
    let waste = regret.tokens;
    let none = waste.interval.is_some_and(|interval| interval.covers(0.0));
    if none {
        return format!(
            "Your settings in use waste no more than these, as far as {} runs can tell: {} tokens of a budget of {}.",
            waste.n,
            thousands(&waste),
            tokens(ufloat(regret.budget))
        );
    }
    let money = price.map(|price| {
        let dollars = |tokens: f64| format!("{:.2}", tokens / 1e6 * price);
        match waste.interval {
            Some(interval) => {
                format!(", {} USD ({} to {})", dollars(waste.mean), dollars(interval.lo), dollars(interval.hi))
            }
            None => format!(", {} USD", dollars(waste.mean)),
        }
    });
    format!(
        "Of a budget of {} output tokens your settings in use spend {} more on wrong efforts than these{}, which takes {} hours \
         of the agent.",
        tokens(ufloat(regret.budget)),
        thousands(&waste),
        money.unwrap_or_default(),
        about(&regret.seconds, 1.0 / 3600.0, 1)
    )
}

/// Columns padded to their widest: the first to the left, the rest to the right.
fn table(rows: &[Vec<String>], text: &mut String) {
    let columns = rows.first().map_or(0, Vec::len);
    let width = |column: usize| rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max();
    let widths: Vec<usize> = (0..columns).map(|column| width(column).unwrap_or(0)).collect();
    for row in rows {
        let mut line = String::from("  ");
        for (column, (cell, &width)) in row.iter().zip(&widths).enumerate() {
            let _ = if column == 0 { write!(line, "{cell:<width$}") } else { write!(line, "  {cell:>width$}") };
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
}
