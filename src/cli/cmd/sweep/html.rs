//! A sweep as a page of HTML: the choice, every cell, the pictures.

use crate::engine::counted;
use crate::lab::fixed::from_micros;
use crate::lab::metric::Metric;
use crate::lab::page::{Page, Section, Table};
use crate::lab::report::choice::flags;
use crate::lab::result::{CellResult, Figure, SweepResult, VERSION};

/// The columns: name, unit, metric, what a unit of it is in millionths, decimals.
const COLUMNS: [(&str, &str, Metric, f64, usize); 7] = [
    ("on rung", "% rounds", Metric::OnRung, 1e-4, 1),
    ("reversals", "/100", Metric::Reversals, 1e-6, 1),
    ("moves", "/100", Metric::Moves, 1e-6, 1),
    ("settle", "rounds", Metric::SettleRounds, 1e-6, 1),
    ("until then", "Mtok", Metric::SettleTokens, 1e-12, 2),
    ("off rung", "% tok", Metric::OffTokens, 1e-4, 1),
    ("straying", "nats", Metric::ExcessLog, 1e-6, 3),
];

/// The page; `command` makes it again, and `missed` says where a precision was not reached.
pub(super) fn page(result: &SweepResult, pictures: Vec<String>, command: String, missed: Option<&str>) -> Page {
    let mut lead: Vec<String> = missed.iter().map(|missed| format!("Of these figures, {missed}.")).collect();
    for chosen in &result.chosen {
        let flags = result.cell(chosen.cell).map(flags).unwrap_or_default();
        let juice = from_micros(i64::try_from(chosen.juice.micros()).unwrap_or(i64::MAX));
        lead.push(format!("For a target of {juice} tokens per turn: {flags}."));
        lead.push(chosen.why.clone());
    }
    let runs = result.runs_done.unwrap_or(result.runs);
    Page {
        title: format!("Settings tried on {}", result.scenario),
        facts: format!(
            "flyball {VERSION} · {} · {} of {} each · seed {} · 95 % intervals",
            counted(result.cells.len(), "cell"),
            counted(runs, "run"),
            counted(result.rounds, "round"),
            result.seed
        ),
        lead,
        sections: vec![
            Section { heading: "Pictures".to_owned(), pictures, ..Section::default() },
            Section {
                heading: "All cells".to_owned(),
                text: vec![format!(
                    "Right is within {} % of the target or nearest to it; settled is {} right rounds in a row. Each figure with half \
                     the width of its interval. A starred row is recommended. Straying is how far answers are from the target \
                     beyond what the best rungs would be, root mean square, in nats: 0.1 is about 10 %. Loss is what is minimised: straying, \
                     half of what the mean is off beyond 5 %, a fifth of the reversals per round, and what is spent before settling; it has \
                     no unit. Names sort.",
                    f64::from(result.band.ppm()) / 1e4,
                    result.hold
                )],
                table: Some(table(result)),
                ..Section::default()
            },
        ],
        command,
    }
}

fn table(result: &SweepResult) -> Table {
    let settings = [("law", ""), ("juice", "tok/turn"), ("over", "s"), ("slack", "%"), ("rest", "s")];
    let names = settings.into_iter().chain(COLUMNS.iter().map(|column| (column.0, column.1))).chain([("loss", "")]);
    Table {
        columns: names.map(|(name, unit)| (name.to_owned(), unit.to_owned())).collect(),
        rows: result.cells.iter().map(row).collect(),
        marked: result.chosen.iter().map(|chosen| chosen.cell).collect(),
    }
}

fn row(of: &CellResult) -> Vec<String> {
    let cell = &of.cell;
    let seconds =
        |millis: u64| format!("{}", from_micros(i64::try_from(millis.saturating_mul(1000)).unwrap_or(i64::MAX)));
    let mut row = vec![
        cell.law.name().to_owned(),
        format!("{}", from_micros(i64::try_from(cell.juice.micros()).unwrap_or(i64::MAX))),
        seconds(cell.over.count()),
        format!("{}", f64::from(cell.slack.ppm()) / 1e4),
        seconds(cell.rest.count()),
    ];
    row.extend(COLUMNS.iter().map(|(_, _, metric, unit, decimals)| told(of.figure(*metric), *unit, *decimals)));
    row.push(told(of.loss, 1e-6, 3));
    row
}

fn told(figure: Option<Figure>, unit: f64, decimals: usize) -> String {
    let Some(Figure { mean, interval }) = figure else { return "-".to_owned() };
    let scaled = |micros: i64| from_micros(micros) * 1e6 * unit;
    match interval {
        Some((lo, hi)) => format!("{:.decimals$} +- {:.decimals$}", scaled(mean), scaled(hi.saturating_sub(lo)) / 2.0),
        None => format!("{:.decimals$}", scaled(mean)),
    }
}
