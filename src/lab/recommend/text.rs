//! A recommendation for people: every number with its unit, its interval and a sentence.

use std::fmt::Write as _;

use super::aim::{Aim, aimed, tokens as target};
use super::doubt::warnings;
use super::judge::{MARGIN, Promise, Recommendation, Regret, Within};
use super::{Setting, World};
use crate::engine::{LawKind, counted, one_or};
use crate::lab::fit::figures::three;
use crate::lab::fixed::{float, ufloat};
use crate::lab::report::decimal;
use crate::lab::stats::Estimate;

/// What a loss is.
pub const LOSS: &str = "An oracle that starts on a right rung has 0. With the usual weights straying by 0.1 nats (about 10 %) adds 0.1, \
                        fifty reversals in 100 rounds add 0.1, ten points of bias past 5 % add 0.05, and settling only when all that \
                        may be spent is spent adds 1.";

/// What the page needs to know beside the recommendation.
#[derive(Clone, Debug)]
pub struct Page<'a> {
    /// Where settings were tried.
    pub worlds: &'a [World],
    /// Where the target of each scenario as it is comes from, in their order.
    pub aims: &'a [Aim],
    /// Whether targets were moved to the nearest rung.
    pub snapped: bool,
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
    let mut text = String::new();
    for warning in warnings(page, told) {
        let _ = writeln!(text, "warning: {warning}");
    }
    let _ = writeln!(text, "recommended: {}", flags(&told.chosen().setting));
    for sentence in sentences(page, told) {
        let _ = writeln!(text, "  {sentence}");
    }
    let _ = write!(text, "\n{}\n\n", measured(page));
    table(&promised(told), &mut text);
    let _ = write!(text, "\nLoss by world ({}). {LOSS}\n\n", intervals(page.fresh_runs));
    table(&worlds(page, told), &mut text);
    let _ = write!(text, "\n{FRONT}\n\n");
    table(&front(told), &mut text);
    text.push_str("\nIf the loss were weighed otherwise (differences in loss, paired by run, with 95 % intervals):\n");
    for line in reweighed(told) {
        let _ = writeln!(text, "  {line}");
    }
    if let Some(regretted) = regretted(told, page.price) {
        let _ = writeln!(text, "\n{regretted}");
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

/// What the trade-offs are.
pub const FRONT: &str = "Settings that none of those tried beats, by their means, in all three of straying, reversals and tokens before \
                         settling (on the scenarios as they are; a run that does not settle counts with all that it spends). 95 % intervals \
                         are over runs that the choice was made by, and so a little too good; settings that the race dropped early have fewer.";

/// What the promises rest on, and what their loss is.
#[must_use]
pub fn measured(page: &Page<'_>) -> String {
    let runs = page.fresh_runs;
    format!(
        "On {} that had no part in the choice ({}). Of each setting the loss is the mean over the worlds, and half of that in the \
         world that is worst, which stand below one by one; the rest is of the scenarios as they are. A run that does not settle counts with all its \
         rounds and tokens.",
        counted(runs, "run"),
        intervals(runs)
    )
}

/// Whether so many runs give intervals.
#[must_use]
pub const fn intervals(runs: u32) -> &'static str {
    if runs > 1 { "95 % intervals" } else { "without intervals, which one run does not give" }
}

/// How long runs are, where all are as long.
pub(super) fn rounds(page: &Page<'_>) -> String {
    let mut all: Vec<u32> =
        page.worlds.iter().filter(|world| world.home).map(|world| world.scenario.plan.rounds).collect();
    all.dedup();
    match all[..] {
        [rounds] => counted(rounds, "round").to_string(),
        _ => "rounds of their scenarios".to_owned(),
    }
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

/// Why, what it promises, and what for.
#[must_use]
pub fn sentences(page: &Page<'_>, told: &Recommendation) -> Vec<String> {
    let mut all = vec![why(told)];
    all.extend(better_untried(told));
    all.extend(promises(page, told.chosen()));
    all.extend(elsewhere(page, told.chosen()));
    all.extend(aimed(page));
    all.extend(told.own_target.map(|own| {
        format!(
            "The settings in use were measured at their own target of {}: what is a right effort is judged by each one's own target.",
            target(own)
        )
    }));
    all
}

fn why(told: &Recommendation) -> String {
    let chosen = told.chosen();
    let others = told.as_good.saturating_sub(1);
    if told.screened.settings.len() == 1 {
        "It is the only setting that was tried.".to_owned()
    } else if told.best == chosen.setting && others == 0 {
        format!(
            "It has the least loss of all that were tried, and on the runs that the choice was made by no other came within {} of it.",
            three(ufloat(MARGIN.unsigned_abs()) / 1e6)
        )
    } else if told.best == chosen.setting {
        format!("It has the least loss of all that were tried; {others} of those left cannot be told from it.")
    } else {
        format!(
            "It is the simplest of {} settings that cannot be told from the best of all that were tried, {}.",
            told.as_good,
            flags(&told.best)
        )
    }
}

/// Settings beside it that were not tried and are better for certain.
fn better_untried(told: &Recommendation) -> Vec<String> {
    let better = |promise: &&Promise| {
        let worse = promise.worse.and_then(|worse| worse.interval);
        worse.is_some_and(|worse| worse.hi < 0.0) && !told.screened.settings.contains(&promise.setting)
    };
    let say = |promise: &Promise| {
        let less = promise.worse.map(|worse| Estimate {
            mean: -worse.mean,
            interval: worse.interval.map(|of| crate::lab::stats::Interval { lo: -of.hi, hi: -of.lo }),
            ..worse
        });
        let name = match promise.who {
            "default law" => format!("The default law, {},", LawKind::DEFAULT),
            who => format!("What stands below as \"{who}\""),
        };
        format!(
            "{name} is better, with {} less of loss, and was not among those tried: {}.",
            less.map_or_else(String::new, |less| about(&less, 1.0, 3)),
            flags(&promise.setting)
        )
    };
    told.promises.iter().filter(better).map(say).collect()
}

/// How it does in the world that is worst for it, where there are worlds beside the scenarios as they are.
fn elsewhere(page: &Page<'_>, chosen: &Promise) -> Option<String> {
    let (at, share) = chosen.worst_world?;
    let world = page.worlds.get(at).filter(|world| !world.home)?;
    Some(format!(
        "That is of what was given as it is; of the agents that it might be, {} is the worst, with a right rung in {} % of rounds.",
        world.name,
        about(&share, 100.0, 1)
    ))
}

fn promises(page: &Page<'_>, chosen: &Promise) -> Vec<String> {
    let settles = || {
        format!(
            "settles after {} rounds and {} tokens",
            about(&chosen.settle_rounds, 1.0, 1),
            thousands(&chosen.settle_tokens)
        )
    };
    let settles = match chosen.unsettled.mean {
        none if none <= 0.0 => settles(),
        all if all >= 1.0 => format!("never settles within the {}", rounds(page)),
        _ => format!(
            "{} (runs that never do, {} % of them, count with all of theirs)",
            settles(),
            about(&chosen.unsettled, 100.0, 1)
        ),
    };
    let mut all = vec![format!(
        "It holds a right rung in {} % of rounds, turns round {} times in 100 rounds, {settles}, and spends {} % of its tokens on wrong \
         efforts.",
        about(&chosen.on_rung, 100.0, 1),
        about(&chosen.reversals, 1.0, 1),
        about(&chosen.off_tokens, 100.0, 1)
    )];
    let Some([half, most]) = chosen.settle_within else { return all };
    all.push(match (within(half), within(most)) {
        (Some(half), Some(most)) => {
            format!("Half of the runs settle within {half} tokens, and nine of ten within {most}.")
        }
        (Some(half), None) => format!(
            "Half of the runs settle within {half} tokens; more than 10 % never settle within the {}.",
            rounds(page)
        ),
        (None, _) => format!("More than 50 % of runs never settle within the {}.", rounds(page)),
    });
    all
}

pub(super) fn about(estimate: &Estimate, scale: f64, decimals: usize) -> String {
    let mean = fixed(estimate.mean * scale, decimals);
    match estimate.interval {
        Some(interval) => {
            format!("{mean} ({} to {})", fixed(interval.lo * scale, decimals), fixed(interval.hi * scale, decimals))
        }
        None => mean,
    }
}

/// With so many decimals; what rounds to nothing has no sign.
fn fixed(value: f64, decimals: usize) -> String {
    let text = format!("{value:.decimals$}");
    if text.trim_matches(['-', '0', '.']).is_empty() { text.trim_start_matches('-').to_owned() } else { text }
}

/// A mean and half the width of its interval; both ends of an interval that was held inside what can be, and so is wider to one
/// side; the mean alone where there is none.
fn half(estimate: &Estimate, scale: f64, decimals: usize) -> String {
    let Some(interval) = estimate.interval else { return fixed(estimate.mean * scale, decimals) };
    let half = (interval.hi - interval.lo) / 2.0 * scale;
    let aside = ((interval.hi + interval.lo) / 2.0 - estimate.mean) * scale;
    let (half, aside) = (fixed(half, decimals), fixed(aside, decimals));
    if aside.trim_matches(['-', '0', '.']).is_empty() {
        format!("{} +- {half}", fixed(estimate.mean * scale, decimals))
    } else {
        about(estimate, scale, decimals)
    }
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
        _ => fixed(count, 0),
    }
}

/// A quantile of tokens before settling; nothing where it lies among runs that never settled.
fn within(quantile: Within) -> Option<String> {
    let of = |value: i64| tokens(float(value.into()));
    let end = |end: Option<i64>| end.map_or_else(|| "never".to_owned(), of);
    let value = of(quantile.tokens?);
    Some(match quantile.interval {
        Some([low, high]) => format!("{value} ({} to {})", end(low), end(high)),
        None => value,
    })
}

/// Rows of the settings on fresh runs, names and units first.
#[must_use]
pub fn promised(told: &Recommendation) -> Vec<Vec<String>> {
    let names = [
        "",
        "law",
        "over",
        "slack",
        "on rung",
        "reversals",
        "settle",
        "unsettled",
        "until then",
        "off rung",
        "loss",
        "worse by",
    ];
    let units = ["", "", "s", "%", "% rounds", "/100", "rounds", "% runs", "ktok", "% tok", "", "loss, paired"];
    let settling = |promise: &Promise, value: &Estimate, scale: f64, decimals: usize| {
        if promise.unsettled.mean < 1.0 { half(value, scale, decimals) } else { "never".to_owned() }
    };
    let row = |promise: &Promise| {
        let setting = promise.setting;
        vec![
            promise.who.to_owned(),
            setting.law.name().to_owned(),
            (setting.over.count() / 1000).to_string(),
            format!("{}", f64::from(setting.slack.ppm()) / 1e4),
            half(&promise.on_rung, 100.0, 1),
            half(&promise.reversals, 1.0, 1),
            settling(promise, &promise.settle_rounds, 1.0, 1),
            about(&promise.unsettled, 100.0, 1),
            settling(promise, &promise.settle_tokens, 1e-3, 0),
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
    let names = ["law", "over", "slack", "runs", "excess", "reversals", "until settled", "on rung"];
    let units = ["", "s", "%", "", "nats", "/100", "ktok", "% rounds"];
    let row = |(setting, trade): &(Setting, super::race::Trade)| {
        vec![
            setting.law.name().to_owned(),
            (setting.over.count() / 1000).to_string(),
            format!("{}", f64::from(setting.slack.ppm()) / 1e4),
            trade.excess.n.to_string(),
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
        // what shows in no digit is no difference
        Some(worse) if fixed(worse.mean, 3) == fixed(0.0, 3) => {
            format!("{}: {}, which is as good as the recommended to a thousandth", other.change, flags(&other.best))
        }
        Some(worse) => {
            format!("{}: {}; the recommended is worse by {}", other.change, flags(&other.best), about(worse, 1.0, 3))
        }
    };
    told.reweighed.iter().map(line).collect()
}

/// Whether the settings in use are worse beyond luck, in what is minimised as well as in tokens: money is told of nothing less.
#[must_use]
pub fn beyond_luck(told: &Recommendation) -> bool {
    let worse = told.promises.iter().find(|promise| promise.who == "in use").and_then(|promise| promise.worse);
    let above = |of: &Estimate, least: f64| of.interval.is_some_and(|interval| interval.lo > least);
    let margin = ufloat(MARGIN.unsigned_abs()) / 1e6;
    told.regret.is_some_and(|regret| above(&regret.tokens, 0.0))
        && worse.is_some_and(|worse| above(&worse, 0.0) && worse.mean > margin)
}

/// What the settings in use cost beyond those recommended, where there are such.
#[must_use]
pub fn regretted(told: &Recommendation, price: Option<f64>) -> Option<String> {
    let Regret { budget, tokens: waste, seconds } = told.regret?;
    let of = budget.map_or_else(
        || "Of each million output tokens (your settings have no budget)".to_owned(),
        |budget| format!("Of a budget of {} output tokens", tokens(ufloat(budget))),
    );
    let runs = counted(waste.n, "run");
    if !beyond_luck(told) {
        return Some(match waste.interval {
            None => format!(
                "{of} your settings in use spend {} more on wrong efforts than these, on one run, which tells nothing of luck.",
                tokens(waste.mean)
            ),
            Some(interval) if interval.lo > 0.0 => format!(
                "{of} your settings in use spend {} more on wrong efforts than these; but their loss is not greater beyond luck, on {runs}, so that \
                 nothing is gained for certain.",
                thousands(&waste)
            ),
            Some(_) => format!(
                "{of} your settings in use waste no more than these, as far as {runs} can tell: {} tokens.",
                thousands(&waste)
            ),
        });
    }
    let money = price.map(|price| {
        let paid = |tokens: f64| dollars(tokens / 1e6 * price);
        match waste.interval {
            Some(interval) => format!(", {} USD ({} to {})", paid(waste.mean), paid(interval.lo), paid(interval.hi)),
            None => format!(", {} USD", paid(waste.mean)),
        }
    });
    Some(format!(
        "{of} your settings in use spend {} more on wrong efforts than these{}; an agent writes so many tokens in {} hours.",
        thousands(&waste),
        money.unwrap_or_default(),
        about(&seconds, 1.0 / 3600.0, 1)
    ))
}

/// Dollars, those past a million in millions.
fn dollars(amount: f64) -> String {
    if amount.abs() >= 1e6 { format!("{:.2} million", amount / 1e6) } else { fixed(amount, 2) }
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
