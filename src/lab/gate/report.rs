//! The report of a gate as Markdown, made so that its diff reviews a change: one row a line, in an order that never
//! changes, without times or places.

use std::fmt::Write as _;

use super::{Counts, Held, Key, Merged, Row, Rows, Verdict};
use crate::engine::{counted, one_or};
use crate::lab::fixed::ufloat;
use crate::lab::page::{Page, Section, Table};
use crate::lab::stats::{CONFIDENCE, student};

/// The report.
#[must_use]
pub fn markdown(rows: &Rows) -> String {
    let mut text = format!(
        "# Gate\n\nMade by `flyball gate --write`; make it again rather than change it here. {} of {} a row, seed {}, \
         with 95 % intervals; rates per 100 rounds. Under *without noise* and *script* stand rungs from the hardest, 0: `2x40` is \
         forty rounds on rung 2, `=` stays, `!` would go past an end.\n",
        counted(rows.runs, "run"),
        counted(rows.rounds, "round"),
        rows.seed
    );
    for group in rows.rows.chunk_by(|one, next| one.key.scenario == next.key.scenario) {
        let Some(first) = group.first() else { continue };
        let _ = write!(text, "\n## {}\n\n", first.key.scenario);
        text.push_str(match first.held {
            Held::Runs(_) => {
                "| law | over | slack | on rung % | reversals | moves | pinned | settle, rounds | Mtok |\n\
                 |---|--:|--:|--:|--:|--:|--:|--:|--:|\n"
            }
            Held::Path(_) => "| law | over | slack | path |\n|---|--:|--:|---|\n",
        });
        group.iter().for_each(|row| text.push_str(&line(row, rows.rounds)));
    }
    text
}

/// The report and its verdict as a page.
#[must_use]
pub fn page(rows: &Rows, verdict: &Verdict) -> Page {
    let findings = verdict.findings.iter().map(|finding| vec![name(&finding.key), finding.what.clone()]);
    let changed = Table {
        columns: vec![("row".to_owned(), String::new()), ("what changed".to_owned(), String::new())],
        rows: findings.collect(),
        marked: vec![],
    };
    let mut sections = Vec::new();
    if !verdict.findings.is_empty() {
        sections.push(Section { heading: "Changed".to_owned(), table: Some(changed), ..Section::default() });
    }
    for group in rows.rows.chunk_by(|one, next| one.key.scenario == next.key.scenario) {
        let Some(first) = group.first() else { continue };
        let marked = |row: &Row| verdict.findings.iter().any(|finding| finding.key == row.key);
        let table = Table {
            columns: columns(&first.held),
            rows: group.iter().map(|row| cells(row, rows.rounds)).collect(),
            marked: (0..group.len()).filter(|&at| marked(&group[at])).collect(),
        };
        sections.push(Section { heading: first.key.scenario.clone(), table: Some(table), ..Section::default() });
    }
    let summary = if verdict.findings.is_empty() { "Nothing changed." } else { "Something changed." };
    Page {
        title: "Gate".to_owned(),
        facts: format!(
            "{} of {} a row · seed {} · 95 % intervals",
            counted(rows.runs, "run"),
            counted(rows.rounds, "round"),
            rows.seed
        ),
        lead: vec![
            summary.to_owned(),
            format!(
                "{} in {}; {} not as in the baseline. In a row of any window and slack these made no difference on this luck.",
                settings(verdict),
                counted(verdict.rows, "row"),
                one_or(verdict.findings.len(), "1 is", &format!("{} are", verdict.findings.len()))
            ),
        ]
        .into_iter()
        .chain(verdict.merged.iter().map(|merged| format!("{}: {}.", name(&merged.key), told(merged))))
        .collect(),
        sections,
        command: format!("flyball gate --seed {}", rows.seed),
    }
}

fn columns(held: &Held) -> Vec<(String, String)> {
    let runs = [
        ("on rung", "%"),
        ("reversals", "/100"),
        ("moves", "/100"),
        ("pinned", "/100"),
        ("settle", "rounds"),
        ("tokens", "millions"),
    ];
    let rest: &[(&str, &str)] = if matches!(held, Held::Runs(_)) { &runs } else { &[("path", "")] };
    let head = [("law", ""), ("over", ""), ("slack", "")];
    head.iter().chain(rest).map(|(name, unit)| ((*name).to_owned(), (*unit).to_owned())).collect()
}

/// A row's cells, as in the Markdown.
fn cells(row: &Row, rounds: u32) -> Vec<String> {
    let line = line(row, rounds);
    line.trim().trim_matches('|').split('|').map(|cell| cell.trim().trim_matches('`').to_owned()).collect()
}

fn line(row: &Row, rounds: u32) -> String {
    let head = format!("| {} | {} | {} |", row.key.law, over(&row.key), slack(&row.key));
    match &row.held {
        Held::Path(path) => format!("{head} `{path}` |\n"),
        Held::Runs(runs) => {
            let per = 100.0 / f64::from(rounds.max(1));
            let of = |place: usize, scale: f64, decimals: usize| figure(runs, place, scale, decimals);
            format!(
                "{head} {} | {} | {} | {} | {} | {} |\n",
                of(0, per, 1),
                of(2, per, 1),
                of(1, per, 1),
                of(3, per, 1),
                of(4, 1.0, 1),
                of(5, 1e-6, 2)
            )
        }
    }
}

fn figure(runs: &[Counts], place: usize, scale: f64, decimals: usize) -> String {
    let n = ufloat(runs.len() as u64);
    let values: Vec<f64> = runs.iter().map(|run| ufloat(run.all()[place]) * scale).collect();
    let mean = values.iter().sum::<f64>() / n;
    let spread = values.iter().map(|value| (value - mean) * (value - mean)).sum::<f64>() / (n - 1.0).max(1.0);
    let half = student(runs.len() as u64, CONFIDENCE).map_or(0.0, |t| t * (spread / n).sqrt());
    format!("{mean:.decimals$} ± {half:.decimals$}")
}

fn over(key: &Key) -> String {
    key.over.map_or_else(|| "any".to_owned(), |over| format!("{} s", over.count() / 1000))
}

fn slack(key: &Key) -> String {
    key.slack.map_or_else(|| "any".to_owned(), |slack| format!("{} %", f64::from(slack.ppm()) / 1e4))
}

/// A row's name for people.
#[must_use]
pub fn name(key: &Key) -> String {
    match (key.over, key.slack) {
        (Some(_), Some(_)) => format!("{}, {} over {} slack {}", key.scenario, key.law, over(key), slack(key)),
        _ => format!("{}, {}", key.scenario, key.law),
    }
}

/// What a comparison came to, for people: a line a change.
#[must_use]
pub fn verdict(verdict: &Verdict) -> String {
    let how = if verdict.same_luck { "every integer" } else { "paths exactly, means by intervals" };
    let mut text = String::new();
    for merged in &verdict.merged {
        let _ = writeln!(text, "{} (seed {}): {}", name(&merged.key), verdict.seed, told(merged));
    }
    let (settings, rows) = (settings(verdict), counted(verdict.rows, "row"));
    if verdict.findings.is_empty() {
        let were = one_or(verdict.settings, "it was", "they were");
        let _ = writeln!(text, "gate: {settings} as {were}, in {rows}, seed {}; compared {how}", verdict.seed);
        return text;
    }
    for finding in &verdict.findings {
        let _ = writeln!(text, "{} (seed {}): {}", name(&finding.key), verdict.seed, finding.what);
    }
    let _ = writeln!(text, "gate: {} of {rows} changed, of {settings}; compared {how}", verdict.findings.len());
    text
}

/// What was compared, which is the same on every seed.
fn settings(verdict: &Verdict) -> String {
    format!("{} of laws on scenarios", counted(verdict.settings, "setting"))
}

/// That one row was compared with several, and is no less compared for that.
fn told(merged: &Merged) -> String {
    let Merged { now, rows, .. } = merged;
    if *now {
        format!(
            "its settings came to the same on this luck; the one row was compared with each of the {rows} of the baseline"
        )
    } else {
        format!("its settings came to the same in the baseline; each of the {rows} rows was compared with that one")
    }
}
