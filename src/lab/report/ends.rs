//! How runs ended, for people: which controls stopped them, what was spent until done, and what caps on rounds would have come to.
//!
//! Of the chosen cell of each target. Numbers are rounded half away from zero, in integers.

use std::fmt::Write as _;

use super::table::{hundredths, tenths, trimmed};
use crate::engine::{Control, one_or};
use crate::lab::ends::{CapFigures, EndFigures, SampleFigures};
use crate::lab::result::{Figure, SweepResult};

/// What is said of the path, and how the runs of the chosen cells ended; nothing where runs do not hang on their path.
#[must_use]
pub fn render(result: &SweepResult) -> String {
    let mut text = String::new();
    if !result.hangs_on_the_path() {
        return text;
    }
    text.push_str(
        "\nWhat comes of a run hangs on its path here, which running totals cannot follow: the loop machine ran every cell, all on the same\n\
         luck. Cells are chosen by how they hold the target, not by what is done.\n",
    );
    for chosen in &result.chosen {
        let Some(cell) = result.cells.get(chosen.cell) else { continue };
        let Some(ends) = &cell.ends else { continue };
        let _ = writeln!(text, "\nHow the runs of the chosen cell at juice {} ended", trimmed(chosen.juice.micros()));
        stops(ends, &mut text);
        spent(ends, &mut text);
        caps(ends, &mut text);
    }
    text
}

fn stops(ends: &EndFigures, text: &mut String) {
    for (control, share) in ends.stops.iter().filter(|(_, share)| share.count > 0) {
        let runs = one_or(share.count, "run ", "runs");
        let _ = writeln!(text, "  {control:<15} {:>7} {runs}  {} %", share.count, percent(share.share));
    }
}

fn spent(ends: &EndFigures, text: &mut String) {
    let mut line = |what: &str, sample: Option<SampleFigures>, show: &dyn Fn(i64) -> String| {
        let Some(SampleFigures { mean, p10, p50, p90 }) = sample else { return };
        let (p10, p50, p90) = (show(p10), show(p50), show(p90));
        let _ = writeln!(text, "  {what:<21} {:>9}   half of runs {p50}, eight in ten {p10} to {p90}", show(mean.mean));
    };
    let priced = ends.cost.is_some_and(|cost| cost.mean > 0);
    line("rounds until the stop", ends.rounds, &rounds);
    line("rounds until done", ends.done_rounds, &rounds);
    line("Mtok until done", ends.done_tokens, &millions);
    line("USD until done", ends.done_cost.filter(|_| priced), &dollars);
}

fn caps(ends: &EndFigures, text: &mut String) {
    if ends.done().count == 0 {
        text.push_str("  no run was done, so a cap on rounds would have lost nothing\n");
        return;
    }
    let priced = ends.cost.is_some_and(|cost| cost.mean > 0);
    let unit = if priced { "USD" } else { "Mtok" };
    let _ = writeln!(
        text,
        "\n  A cap on rounds would have come to\n  {:>8}  {:>22}  {:>8}  {:>7}  {:>6}  {:>14}",
        "rounds",
        "done, % of runs",
        "Mtok/run",
        "saved %",
        "lost %",
        format!("{unit} a done run")
    );
    let whole = ends.caps.last();
    for cap in &ends.caps {
        let _ = writeln!(text, "  {}", row(cap, whole, priced));
    }
}

fn row(cap: &CapFigures, whole: Option<&CapFigures>, priced: bool) -> String {
    let mean = |figure: Option<Figure>| figure.map_or(0, |figure| figure.mean);
    let all = whole.map_or(0, |whole| mean(whole.tokens));
    let saved = if all > 0 { share_of(mean(cap.saved), all) } else { 0 };
    let lost = whole.map_or(0, |whole| whole.done.share.mean.saturating_sub(cap.done.share.mean));
    let each =
        if priced { cap.cost_per_done.map(|f| dollars(f.mean)) } else { cap.tokens_per_done.map(|f| millions(f.mean)) };
    format!(
        "{:>8}  {:>22}  {:>8}  {:>7}  {:>6}  {:>14}",
        cap.rounds,
        percent(cap.done.share),
        millions(mean(cap.tokens)),
        tenths(saved, 1000),
        tenths(lost, 1000),
        each.unwrap_or_else(|| "-".to_owned())
    )
}

/// `part` of `whole` in millionths.
fn share_of(part: i64, whole: i64) -> i64 {
    i64::try_from(i128::from(part) * 1_000_000 / i128::from(whole)).unwrap_or(0)
}

/// A share with its interval, in per cent.
fn percent(share: Figure) -> String {
    let mean = tenths(share.mean, 1000);
    match share.interval {
        Some((lo, hi)) => format!("{mean} ({} to {})", tenths(lo, 1000), tenths(hi, 1000)),
        None => mean,
    }
}

fn rounds(micros: i64) -> String {
    tenths(micros, 100_000)
}

fn millions(micros: i64) -> String {
    hundredths(micros, 10_000_000_000)
}

fn dollars(micros: i64) -> String {
    hundredths(micros, 10_000)
}

/// The names of a control's column: with underscores, as the metrics'.
pub(super) fn column(control: Control) -> String {
    format!("stop_{}", control.name().replace('-', "_"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lab::report::table::tests::{ending, result};

    #[test]
    fn a_result_without_paths_says_nothing_of_them() {
        assert_eq!(render(&result()), "");
    }

    #[test]
    fn controls_spending_and_caps_stand_there() {
        let text = render(&ending());
        for part in [
            "the loop machine ran every cell",
            "  oracle-passed         2 runs  66.7 (20.8 to 93.9) %",
            "  rounds                1 run   33.3 (6.1 to 79.2) %",
            "rounds until done           2.0   half of runs 1.0, eight in ten 1.0 to 3.0",
            "       1      33.3 (6.1 to 79.2)      1.00     62.5    33.3            3.00",
            "       4     66.7 (20.8 to 93.9)",
        ] {
            assert!(text.contains(part), "{part:?} is not in:\n{text}");
        }
    }
}
