//! The tables of a survey and of a calibration, for people: each number with its interval, and the counts beside it.

use comfy_table::{CellAlignment, ContentArrangement, Table, presets};

use crate::engine::counted;
use crate::lab::fit::calls::Group;
use crate::lab::fit::figures::{EffortFigures, Figure, three};
use crate::lab::fit::ladder::Origin;
use crate::lab::fit::{Asked, Calibration, Figures};

/// Stands beside a count of sessions that the intervals of a row do not rest on.
const BLOCKS: &str = "*";
const BLOCKS_NOTE: &str =
    "* too few sessions to draw: intervals are from blocks of calls, without what differs from session to session\n";

/// What there is, by model and effort.
pub(super) fn survey(groups: &[Group], figures: &[EffortFigures], asked: &Asked) -> String {
    let mut sizes = Vec::new();
    let mut fits = Vec::new();
    for (group, own) in groups.iter().zip(figures) {
        let name = [group.model.clone(), group.effort.clone().unwrap_or_else(|| "unset".to_owned())];
        let share = |at: usize| if group.known > 0 { three(group.percentiles[at]) } else { "-".to_owned() };
        let mut row = name.to_vec();
        row.extend([sessions(group, Some(own)), group.calls.to_string(), group.known.to_string()]);
        row.extend(["mean", "median", "p90", "cv"].map(|figure| number(Some(own), figure)));
        row.push(if group.known > 1 { three(group.cv) } else { dash() });
        row.extend([0, 1, 3, 5, 6].map(share));
        sizes.push(row);
        let Some(families) = group.families else { continue };
        let mut row = name.to_vec();
        row.push(group.known.to_string());
        row.extend([families.ks_lognormal, families.ks_gamma, families.ks_mixture, families.ad_mixture].map(three));
        let mixture = families.mixture;
        row.push(format!("{:.2} / {:.2}", families.lognormal.mu, families.lognormal.sigma));
        row.push(format!("{:.2}/{:.2}", mixture.weight, 1.0 - mixture.weight));
        row.push(format!("{:.2}/{:.2}", mixture.narrow.mu, mixture.wide.mu));
        row.push(format!("{:.2}/{:.2}", mixture.narrow.sigma, mixture.wide.sigma));
        row.extend(["lag_one", "lag_two", "trend", "session_share"].map(|figure| number(Some(own), figure)));
        fits.push(row);
    }
    let head = [
        "model",
        "effort",
        "sessions",
        "calls",
        "known",
        "mean",
        "median",
        "p90",
        "cv",
        "sample cv",
        "p5",
        "p25",
        "p75",
        "p95",
        "p99",
    ];
    let mut text = format!("output tokens per call\n\n{}", plain(&head, &sizes, 2));
    if !fits.is_empty() {
        let head = [
            "model",
            "effort",
            "known",
            "KS lognormal",
            "KS gamma",
            "KS mixture",
            "AD mixture",
            "lognormal",
            "weights",
            "mu",
            "sigma",
            "AC1 ln",
            "AC2 ln",
            "trend",
            "session share",
        ];
        text += &format!("\nwhat fits, and what lasts from call to call\n\n{}", plain(&head, &fits, 2));
    }
    text += &format!("\n95 % intervals in brackets, from {} draws of sessions, seed {}\n", asked.resamples, asked.seed);
    text + if figures.iter().any(|own| own.blocks) { BLOCKS_NOTE } else { "" }
}

/// What was fitted, by effort, and how well.
pub(super) fn calibration(fit: &Calibration, figures: &Figures) -> String {
    let mut rows = Vec::new();
    for rung in &fit.rungs {
        let group = fit.groups.iter().find(|group| group.effort.as_deref() == Some(rung.effort.as_str()));
        let own = figures.effort(&rung.effort);
        let families = group.and_then(|group| group.families).filter(|_| rung.is_measured());
        let distances = families.map(|families| [families.ks_lognormal, families.ks_gamma, families.ks_mixture]);
        let mut row = vec![rung.effort.clone()];
        row.push(group.map_or_else(dash, |group| sessions(group, own)));
        row.push(group.map_or_else(dash, |group| group.known.to_string()));
        row.push(format!("{:.0}", rung.sizes.mean()));
        row.extend(["mean", "median", "p90", "cv"].map(|figure| number(own, figure)));
        row.extend(distances.map_or_else(|| [dash(), dash(), dash()], |all| all.map(|ks| format!("{ks:.3}"))));
        row.push(match &rung.origin {
            Origin::Measured(_) => "measured".to_owned(),
            Origin::Assumed { from, shift, .. } => format!("assumed, from {from}, within {shift:.2} in ln"),
        });
        rows.push(row);
    }
    let head = [
        "effort",
        "sessions",
        "calls",
        "scenario",
        "mean",
        "median",
        "p90",
        "cv",
        "KS lognormal",
        "KS gamma",
        "KS mixture",
        "from",
    ];
    let model = |name: &str| figures.of_model(name).map_or_else(dash, Figure::told);
    let blocks = figures.blocks || figures.efforts.iter().any(|own| own.blocks);
    format!(
        "{}: {} in {}; output tokens per call by effort, hardest first\n\n{}\n\
         turns: {} per session, cv {}; lag-one correlation {}; trend {}\n\
         sessions: sd of ln size {}, share {}; without output {}\n\
         time: {} s overhead, {} tokens per second, {} s in tools\n\
         requests that failed: {}; calls of unknown size: {}\n\
         target: {} tokens per turn\n\
         95 % intervals in brackets, from {} draws of {} {}, seed {}\n{}",
        fit.model,
        counted(fit.calls, "call"),
        counted(fit.sessions, "session"),
        plain(&head, &rows, 1),
        model("turns_mean"),
        model("turns_cv"),
        model("lag_one"),
        model("trend"),
        model("session_sd"),
        model("session_share"),
        model("empty_rounds"),
        model("overhead"),
        model("speed"),
        model("tool"),
        model("failed_requests"),
        model("unknown_sizes"),
        fit.targets[1],
        figures.resamples,
        figures.units,
        if figures.blocks { "blocks of calls" } else { "sessions" },
        figures.seed,
        if blocks { BLOCKS_NOTE } else { "" },
    )
}

fn dash() -> String {
    "-".to_owned()
}

fn sessions(group: &Group, own: Option<&EffortFigures>) -> String {
    format!("{}{}", group.sessions, if own.is_some_and(|own| own.blocks) { BLOCKS } else { "" })
}

fn number(own: Option<&EffortFigures>, name: &str) -> String {
    let figure = own.and_then(|own| own.figures.iter().find(|figure| figure.name == name));
    figure.map_or_else(dash, Figure::told)
}

/// A table without lines; the first `names` columns to the left, the others but words to the right.
fn plain(head: &[&str], rows: &[Vec<String>], names: usize) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(head.to_vec());
    for row in rows {
        table.add_row(row.clone());
    }
    for (at, name) in head.iter().enumerate().skip(names) {
        if let Some(column) = table.column_mut(at).filter(|_| *name != "from") {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table.lines().map(|line| format!("{}\n", line.trim_end())).collect()
}
