//! A comparison as a picture's data.

use super::Report;
use super::compare::{Compared, Group, Range};
use crate::engine::counted;
use crate::lab::plot::{Caption, Num, Validate, ValidateFigure, ValidateGroup};

/// The picture of a report.
#[must_use]
pub fn picture(report: &Report) -> Validate {
    let sessions: usize = report.groups.iter().map(|group| group.sessions).sum();
    let [real, simulated] = report.window_cv;
    let cv = |range: Range| range.mean.map_or_else(|| "unknown".to_owned(), |mean| format!("{mean:.2}"));
    let folds = report
        .folds
        .map(|folds| format!("Each of {folds} folds is set beside a fit to the others. "))
        .unwrap_or_default();
    Validate {
        caption: Caption {
            title: format!(
                "{} at constant effort: the window's mean varies by {} as recorded, {} as simulated",
                report.model,
                cv(real),
                cv(simulated)
            ),
            scenario: report.scenario.clone(),
            law: String::from("fixed"),
            runs: report.settings.samples.into(),
            rounds: sessions as u64,
            seed: report.settings.seed,
            note: format!("{folds}A recorded interval is over samples of its sessions, drawn with replacement."),
            command: String::new(),
        },
        over_ms: report.settings.over.count(),
        groups: report.groups.iter().map(group).collect(),
    }
}

fn group(group: &Group) -> ValidateGroup {
    let assumed = if group.assumed { ", a rung that stands where a prior puts it" } else { "" };
    let culprit = group.culprit().map(|culprit| format!("; furthest out: {}", culprit.word())).unwrap_or_default();
    ValidateGroup {
        name: group.effort.clone(),
        told: format!(
            "{}: {}, {}{assumed}{culprit}",
            group.verdict.word(),
            counted(group.sessions, "session"),
            counted(group.turns, "turn")
        ),
        real: group.spread.real.iter().copied().map(Num::from).collect(),
        simulated: group.spread.simulated.iter().map(|three| three.map(Num::from)).collect(),
        figures: group.figures.iter().map(figure).collect(),
    }
}

fn figure(figure: &Compared) -> ValidateFigure {
    let three = |range: Range| [range.mean, range.lo, range.hi].map(Num::from);
    let place = |value: Option<f64>| Num::from(value.and_then(|value| figure.scaled(value)));
    ValidateFigure {
        name: figure.statistic.told().to_owned(),
        real: three(figure.real),
        simulated: three(figure.simulated),
        place: [figure.real.mean, figure.real.lo, figure.real.hi].map(place),
        apart: figure.apart(),
    }
}
