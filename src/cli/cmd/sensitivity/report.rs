//! What a result hangs on as a picture, and as a page of HTML.

use super::{Found, SHARES, SIZES, order, ranges, unit};
use crate::engine::counted;
use crate::lab::page::{Page, Section, Table};
use crate::lab::plot::{Bar, BarRow, Bars};
use crate::lab::result::VERSION;
use crate::lab::sensitivity::factors::{Asked, FACTORS, RESULTS};
use crate::lab::sensitivity::{Effect, Index};

/// The first result, the share of rounds on right rungs, as bars.
pub(super) fn bars(asked: &Asked<'_>, found: &Found) -> Bars {
    let facts = vec![
        asked.scenario.name.clone(),
        found.footing(asked),
        format!("{} of {} each", counted(asked.runs, "run"), counted(asked.rounds, "round")),
        format!("seed {}", asked.seed),
    ];
    let row = |at: usize, values: Vec<Bar>| BarRow { label: FACTORS[at].to_owned(), values, ..BarRow::default() };
    let title = format!("What the share of rounds on a right rung hangs on, with {}", asked.law);
    match found {
        Found::Effects(found) => {
            let effects = found.first().map_or(&[][..], Vec::as_slice);
            let of = |at: usize| {
                let Effect { size, half, .. } = effects[at];
                row(at, vec![Bar::new(100.0 * size, Some((100.0 * (size - half), 100.0 * (size + half))))])
            };
            let places = if effects.is_empty() { vec![] } else { order(|at| effects[at].size) };
            Bars {
                title,
                facts,
                note: "The mean size of what moving a factor across its whole range does; 95 % intervals over trajectories.".to_owned(),
                x: "points of rounds".to_owned(),
                names: vec!["size".to_owned()],
                decimals: 1,
                rows: places.into_iter().map(of).collect(),
                ..Bars::default()
            }
        }
        Found::Indices(found) => {
            let indices = found.first().map_or(&[][..], Vec::as_slice);
            let of = |at: usize| {
                let Index { first, first_interval: f, total, total_interval: t } = indices[at];
                row(at, vec![Bar::new(first, Some((f.lo, f.hi))), Bar::new(total, Some((t.lo, t.hi)))])
            };
            let places = if indices.is_empty() { vec![] } else { order(|at| indices[at].total) };
            Bars {
                title,
                facts,
                note: "First: what would go if this factor were known. Total: what would be left if all others were."
                    .to_owned(),
                x: "share of the variance".to_owned(),
                names: vec!["first order".to_owned(), "total".to_owned()],
                decimals: 2,
                rows: places.into_iter().map(of).collect(),
                ..Bars::default()
            }
        }
    }
}

/// The page: the picture, and a table of each result.
pub(super) fn page(asked: &Asked<'_>, found: &Found, picture: String, command: String) -> Page {
    let (said, points) = (if let Found::Effects(_) = found { SIZES } else { SHARES }, asked.points);
    let on_rung = found.said(0, points).join(" ");
    let tables = RESULTS.into_iter().enumerate().map(|(at, metric)| {
        let (name, unit, scale) = unit(metric);
        let (table, text) = (table(found, at, unit, scale), found.said(at, points));
        Section { heading: name.to_owned(), table, text, ..Section::default() }
    });
    let moved = Section {
        heading: "What was moved".to_owned(),
        text: ranges().map(|(name, range, what)| format!("{name}, {range}: {what}.")).collect(),
        ..Section::default()
    };
    let pictured = Section { heading: "Picture".to_owned(), pictures: vec![picture], ..Section::default() };
    Page {
        title: format!("What {} hangs on, {}", asked.law, asked.scenario.name),
        facts: format!(
            "flyball {VERSION} · {} by {} · {} of {} at each point · seed {} · 95 % intervals",
            found.method(),
            found.footing(asked),
            counted(asked.runs, "run"),
            counted(asked.rounds, "round"),
            asked.seed
        ),
        lead: vec![
            format!("The share of rounds on a right rung, with {}. {on_rung}", asked.law),
            format!("In the tables, {said}."),
        ],
        sections: std::iter::once(pictured).chain(tables).chain([moved]).collect(),
        command,
    }
}

/// A row a factor, the largest first.
fn table(found: &Found, result: usize, unit: &str, scale: f64) -> Option<Table> {
    let (columns, rows): (Vec<(&str, &str)>, Vec<Vec<String>>) = match found {
        Found::Effects(found) => {
            let effects = found.get(result)?;
            let row = |at: usize| {
                let Effect { size, half, mean, spread } = effects[at];
                let size = format!("{:.2} +- {:.2}", size * scale, half * scale);
                vec![FACTORS[at].to_owned(), size, format!("{:.2}", mean * scale), format!("{:.2}", spread * scale)]
            };
            let rows = order(|at| effects[at].size).into_iter().map(row).collect();
            (vec![("factor", ""), ("size", unit), ("mean", unit), ("spread", unit)], rows)
        }
        Found::Indices(found) => {
            let indices = found.get(result)?;
            let row = |at: usize| {
                let Index { first, first_interval: f, total, total_interval: t } = indices[at];
                vec![
                    FACTORS[at].to_owned(),
                    format!("{first:.2} ({:.2} to {:.2})", f.lo, f.hi),
                    format!("{total:.2} ({:.2} to {:.2})", t.lo, t.hi),
                ]
            };
            let rows = order(|at| indices[at].total).into_iter().map(row).collect();
            (vec![("factor", ""), ("first", "share of variance"), ("total", "share of variance")], rows)
        }
    };
    let columns = columns.iter().map(|(name, unit)| ((*name).to_owned(), (*unit).to_owned())).collect();
    Some(Table { columns, rows, marked: vec![] })
}
