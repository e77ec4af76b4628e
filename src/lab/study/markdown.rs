//! The study as a page of Markdown.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::{Entry, FAMILY_BOUND, FAMILY_RUNS, Family, Kind, Line, MemberRow, Row, SHOWN, Study};
use crate::engine::counted;
use crate::lab::fixed::{micros, ufloat};
use crate::lab::metric::Metric;
use crate::lab::stats::{Estimate, Moments, paired};
use crate::lab::sweep::CONFIDENCE;

/// How a metric is shown: its heading, what it is multiplied by, its decimals.
struct Shown(&'static str, f64, usize);

/// What is shown, and how.
const HOW: [(Metric, Shown); SHOWN.len()] = [
    (Metric::OnRung, Shown("on a right rung, % of rounds", 100.0, 1)),
    (Metric::Reversals, Shown("reversals per 100 rounds", 1.0, 1)),
    (Metric::SettleRounds, Shown("rounds to settle", 1.0, 1)),
    (Metric::ExcessLog, Shown("excess RMS error, nats", 1.0, 3)),
    (Metric::BlockErr, Shown("error of 20 rounds together, nats", 1.0, 3)),
    (Metric::OffTokens, Shown("tokens on wrong rungs, %", 100.0, 1)),
    (Metric::Bias, Shown("bias, %", 100.0, 1)),
    (Metric::SettleTokens, Shown("Mtok to settle", 1e-6, 2)),
    (Metric::Settled, Shown("runs that settled, %", 100.0, 1)),
    (Metric::Moves, Shown("moves per 100 rounds", 1.0, 1)),
];

const fn shown(metric: Metric) -> &'static Shown {
    let mut place = 0;
    while place + 1 < HOW.len() && HOW[place].0 as usize != metric as usize {
        place += 1;
    }
    &HOW[place].1
}

/// The page; `command` is what makes it again.
#[must_use]
pub fn render(study: &Study, command: &str) -> String {
    let mut page = String::new();
    let plan = &study.plan;
    let _ = writeln!(
        page,
        "# The laws, compared

Made by `{command}` with flyball {}: {} of {} of each law on each scenario, seed {}{}. +- is half the width of \
         the 95 % interval, over runs and never over rounds. All laws meet the same luck. \
         N is the bound of any law that is not told where on the ladder the target is, from the control study.\n",
        env!("CARGO_PKG_VERSION"),
        counted(plan.runs, "run"),
        counted(plan.rounds, "round"),
        plan.seed,
        if study.families.is_empty() {
            String::new()
        } else {
            format!("; random families of {}, {FAMILY_RUNS} runs each", counted(plan.loops, "loop"))
        }
    );
    settings(study, &mut page);
    let canonical: Vec<&Row> = study.rows.iter().filter(|row| matches!(row.kind, Kind::Canonical(..))).collect();
    if !canonical.is_empty() {
        means(study, &canonical, &mut page);
        for metric in [
            Metric::OnRung,
            Metric::Reversals,
            Metric::SettleRounds,
            Metric::SettleTokens,
            Metric::ExcessLog,
            Metric::BlockErr,
        ] {
            table(study, &canonical, metric, &mut page);
        }
    }
    let other: Vec<&Row> = study.rows.iter().filter(|row| row.kind == Kind::Other).collect();
    if !other.is_empty() {
        let _ = writeln!(page, "## Other scenarios\n");
        for metric in [Metric::OnRung, Metric::Reversals, Metric::BlockErr] {
            table(study, &other, metric, &mut page);
        }
    }
    fitted(study, &mut page);
    study.families.iter().for_each(|one| family(study, one, &mut page));
    page
}

fn settings(study: &Study, page: &mut String) {
    let _ = writeln!(page, "| law | over, s | slack |\n|---|--:|--:|");
    for Entry { name, over, slack, .. } in &study.entries {
        let _ = writeln!(page, "| {name} | {} | {} |", over.count() / 1000, f64::from(slack.ppm()) / 1e6);
    }
    page.push_str(
        "\nWhat else can be set stands as it does; a law that has no window or slack is not touched by them.\n\n",
    );
}

fn head(study: &Study, first: &str, page: &mut String) {
    let names: Vec<&str> = study.entries.iter().map(|entry| entry.name).collect();
    let _ = writeln!(page, "| {first} | {} |\n|---|{}", names.join(" | "), "--:|".repeat(names.len()));
}

/// A value with its half width.
fn cell(line: &Line, metric: Metric) -> String {
    let &Shown(_, factor, decimals) = shown(metric);
    let Some(estimate) = line.get(metric) else { return "-".to_owned() };
    let half = estimate.interval.map(|interval| (interval.hi - interval.lo) / 2.0 * factor);
    let half = half.map(|half| format!(" +-{half:.decimals$}")).unwrap_or_default();
    format!("{:.decimals$}{half}", estimate.mean * factor)
}

fn table(study: &Study, rows: &[&Row], metric: Metric, page: &mut String) {
    let &Shown(title, ..) = shown(metric);
    let _ = writeln!(page, "### By scenario: {title}\n");
    let bounded = metric == Metric::OnRung;
    head(study, if bounded { "scenario | N" } else { "scenario" }, page);
    if bounded {
        // one column more
        let line = page.trim_end().len();
        page.truncate(line);
        page.push_str("--:|\n");
    }
    for row in rows {
        let cells: Vec<String> = row.lines.iter().map(|line| cell(line, metric)).collect();
        let bound = match row.kind {
            Kind::Canonical(_, Some(bound)) if bounded => format!(" {:.1} |", f64::from(bound) / 1000.0),
            Kind::Canonical(..) | Kind::OnRung | Kind::MidGap | Kind::Other if bounded => " - |".to_owned(),
            Kind::Canonical(..) | Kind::OnRung | Kind::MidGap | Kind::Other => String::new(),
        };
        let _ = writeln!(page, "| {} |{bound} {} |", row.name, cells.join(" | "));
    }
    page.push('\n');
}

/// What a law came to over rows.
struct Over {
    /// The mean with its half width.
    mean: (f64, f64),
    /// The least with its half width, and whose it is.
    least: (f64, f64),
    where_least: usize,
}

/// The mean over rows, and the least.
fn over(rows: &[&Row], entry: usize, metric: Metric) -> Option<Over> {
    let estimates: Vec<_> = rows.iter().filter_map(|row| row.lines.get(entry)?.get(metric)).collect();
    let count = ufloat(estimates.len() as u64);
    let half = |one: &Estimate| one.interval.map_or(0.0, |span| (span.hi - span.lo) / 2.0);
    let mean = estimates.iter().map(|one| one.mean).sum::<f64>() / count;
    let squares = estimates.iter().map(|one| half(one) * half(one)).sum::<f64>();
    let (where_least, least) = estimates.iter().enumerate().min_by(|a, b| a.1.mean.total_cmp(&b.1.mean))?;
    Some(Over { mean: (mean, squares.sqrt() / count), least: (least.mean, half(least)), where_least })
}

/// A mean and half its interval, as a metric is shown.
fn pair((mean, half): (f64, f64), metric: Metric) -> String {
    let &Shown(_, factor, decimals) = shown(metric);
    format!("{:.decimals$} +-{:.decimals$}", mean * factor, half * factor)
}

/// The scenarios that a mean is over: as a stretch where it has all of them, else one by one.
fn names(rows: &[&Row], last: u32) -> String {
    let number = |row: &&Row| match row.kind {
        Kind::Canonical(number, _) => number,
        Kind::OnRung | Kind::MidGap | Kind::Other => 0,
    };
    let numbers: BTreeSet<u32> = rows.iter().map(number).collect();
    if (1..=last).all(|number| numbers.contains(&number)) {
        return format!("S01 to S{last}");
    }
    rows.iter().map(|row| row.name.as_str()).collect::<Vec<_>>().join(", ")
}

fn means(study: &Study, canonical: &[&Row], page: &mut String) {
    let mut before = 0;
    for last in [16, 18] {
        let up_to = |row: &&&Row| matches!(row.kind, Kind::Canonical(number, _) if number <= last);
        let rows: Vec<&Row> = canonical.iter().filter(up_to).copied().collect();
        // scenarios that are all past this place, or none past the one before: nothing, or the same again
        if rows.len() == before {
            continue;
        }
        before = rows.len();
        let _ = writeln!(page, "## Means over {}\n", names(&rows, last));
        let titles: Vec<&str> = SHOWN.iter().map(|metric| shown(*metric).0).collect();
        let _ = writeln!(page, "| law | worst | {} |\n|---|--:|{}", titles.join(" | "), "--:|".repeat(SHOWN.len()));
        for (place, entry) in study.entries.iter().enumerate() {
            let worst = over(&rows, place, Metric::OnRung).map_or_else(
                || "-".to_owned(),
                |one| format!("{} ({})", pair(one.least, Metric::OnRung), short(&rows[one.where_least].name)),
            );
            let value = |metric: &Metric| {
                over(&rows, place, *metric).map_or_else(|| "-".to_owned(), |one| pair(one.mean, *metric))
            };
            let _ = writeln!(page, "| {} | {worst} | {} |", entry.name, SHOWN.each_ref().map(value).join(" | "));
        }
        bound(&rows, page);
        page.push('\n');
    }
}

/// A scenario's name without what it is about.
fn short(name: &str) -> &str {
    name.split('-').next().unwrap_or(name)
}

/// The bound of any law, where all rows have one.
fn bound(rows: &[&Row], page: &mut String) {
    let bounds: Option<Vec<u32>> = rows
        .iter()
        .map(|row| match row.kind {
            Kind::Canonical(_, bound) => bound,
            Kind::OnRung | Kind::MidGap | Kind::Other => None,
        })
        .collect();
    let Some(bounds) = bounds.filter(|bounds| bounds.len() == 16) else { return };
    let (least, sum) = bounds.iter().fold((u32::MAX, 0), |(least, sum), one| (least.min(*one), sum + one));
    let (worst, mean) = (f64::from(least) / 1000.0, f64::from(sum) / 16_000.0);
    let _ = writeln!(page, "| bound N | {worst:.1} | {mean:.1} |{}", " - |".repeat(SHOWN.len() - 1));
}

fn fitted(study: &Study, page: &mut String) {
    let mut names: Vec<&str> = Vec::new();
    for row in study.rows.iter().filter(|row| matches!(row.kind, Kind::OnRung | Kind::MidGap)) {
        if !names.contains(&row.name.as_str()) {
            names.push(&row.name);
        }
    }
    if names.is_empty() {
        return;
    }
    page.push_str(
        "## Agents fitted to logs\n\nMeans over targets on each rung, and half way between neighbours; the assumed rungs lie \
         elsewhere in their prior in every run. on: % of rounds on a right rung; block: error of 20 rounds together, nats.\n\n",
    );
    head(study, "agent", page);
    for name in names {
        for (kind, what, metrics) in [
            (Kind::OnRung, "on rungs", [Metric::OnRung, Metric::SettleRounds, Metric::BlockErr, Metric::Bias]),
            (Kind::MidGap, "between", [Metric::OnRung, Metric::SettleRounds, Metric::BlockErr, Metric::Bias]),
        ] {
            let rows: Vec<&Row> = study.rows.iter().filter(|row| row.name == name && row.kind == kind).collect();
            for metric in metrics {
                let &Shown(title, ..) = shown(metric);
                let value =
                    |place| over(&rows, place, metric).map_or_else(|| "-".to_owned(), |one| pair(one.mean, metric));
                let cells: Vec<String> = (0..study.entries.len()).map(value).collect();
                let _ = writeln!(page, "| {name}, {what}: {title} | {} |", cells.join(" | "));
            }
        }
    }
    page.push('\n');
}

/// Mean and half width over members.
fn family_cell(members: &[&MemberRow], entry: usize, metric: Metric) -> String {
    let &Shown(_, factor, decimals) = shown(metric);
    let place = SHOWN.iter().position(|shown| *shown == metric).unwrap_or(0);
    let mut moments = Moments::default();
    members.iter().for_each(|member| moments.add(micros(member.means[entry][place])));
    let Some(estimate) = moments.estimate(CONFIDENCE) else { return "-".to_owned() };
    let half = estimate.interval.map_or(0.0, |span| (span.hi - span.lo) / 2.0);
    format!("{:.decimals$} +-{:.decimals$}", estimate.mean * factor, half * factor)
}

fn family(study: &Study, family: &Family, page: &mut String) {
    let Family { seed, members } = family;
    let _ = writeln!(
        page,
        "## Random family {seed}\n\n{} loops that nobody chose; a bound with the noise, the ladder and the drift known: {FAMILY_BOUND:.1}. \
         \"Against stride\": the paired difference of on-rung shares, points.\n\n| law | on-rung, all | static | drifting | worst tenth below | \
         reversals per 100 | rounds to settle | excess, nats | against stride |\n|---|--:|--:|--:|--:|--:|--:|--:|--:|",
        members.len()
    );
    let all: Vec<&MemberRow> = members.iter().collect();
    let (drifting, still): (Vec<&MemberRow>, Vec<&MemberRow>) = all.iter().partition(|member| member.drifts);
    let on = |entry: usize| -> Vec<i64> { all.iter().map(|member| micros(member.means[entry][0])).collect() };
    let stride = study.entries.iter().position(|entry| entry.name == "stride").map(on);
    for (place, entry) in study.entries.iter().enumerate() {
        let mut shares = on(place);
        let apart = stride.as_ref().and_then(|stride| paired(&shares, stride, CONFIDENCE)).map(|apart| {
            let half = apart.interval.map_or(0.0, |span| (span.hi - span.lo) / 2.0);
            format!("{:+.1} +-{:.1}", apart.mean * 100.0, half * 100.0)
        });
        shares.sort_unstable();
        let tenth = shares.get(shares.len() / 10).copied().unwrap_or(0);
        let _ = writeln!(
            page,
            "| {} | {} | {} | {} | {:.0} | {} | {} | {} | {} |",
            entry.name,
            family_cell(&all, place, Metric::OnRung),
            family_cell(&still, place, Metric::OnRung),
            family_cell(&drifting, place, Metric::OnRung),
            crate::lab::fixed::from_micros(tenth) * 100.0,
            family_cell(&all, place, Metric::Reversals),
            family_cell(&all, place, Metric::SettleRounds),
            family_cell(&all, place, Metric::ExcessLog),
            apart.unwrap_or_default()
        );
    }
    page.push('\n');
}
