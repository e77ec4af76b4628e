//! The pictures of a calibration: how well sizes fit, what seconds they take, and what a window sees, real and simulated.
//!
//! It draws nothing and opens nothing: it makes the data of [`Chart`]s. Only measured rungs have panels.

use super::calls::{Group, Sessions};
use super::families::Families;
use super::numeric::{float, len, quantile, sorted};
use super::windows::{OVER, Ratios};
use super::{Calibration, calls};
use crate::engine::{Grade, TurnRecord, counted};
use crate::lab::plot::{Chart, ChartDots, ChartLine, ChartPanel, Scale};
use crate::lab::scenario::Scenario;
use crate::lab::synth::{Design, sessions};

/// The most dots of a cloud.
const DOTS: usize = 1500;
/// Ranks of a quantile plot, points of a curve.
const POINTS: u32 = 120;
/// Sessions that are simulated for each rung.
const SIMULATED: usize = 60;

/// All four, by the names of their files.
#[must_use]
pub fn pictures(records: &[TurnRecord], fit: &Calibration, scenario: &Scenario) -> [(&'static str, Chart); 4] {
    [
        ("qq", qq(records, fit)),
        ("density", density(records, fit)),
        ("time", time(records, fit)),
        ("windows", windows(records, fit, scenario)),
    ]
}

/// A measured rung: its group, its families, and its positive sizes as ln tokens, rising.
type Rung<'a> = (&'a Group, Families, Vec<f64>);

fn rungs<'a>(records: &[TurnRecord], fit: &'a Calibration) -> Vec<Rung<'a>> {
    let measured = fit.rungs.iter().filter(|rung| rung.is_measured());
    let group = |effort: &str| fit.groups.iter().find(|group| group.effort.as_deref() == Some(effort));
    let logs = |effort: &str| {
        let own = calls::calls(records).filter(|record| {
            calls::model_of(record) == fit.model
                && calls::effort_of(record) == Some(effort)
                && record.grade == Grade::Known
        });
        sorted(
            own.map(|record| record.output.count())
                .filter(|size| *size > 0)
                .map(|size| libm::log(float(size)))
                .collect(),
        )
    };
    measured
        .filter_map(|rung| Some((group(&rung.effort)?, group(&rung.effort)?.families?, logs(&rung.effort))))
        .collect()
}

fn facts(fit: &Calibration) -> Vec<String> {
    vec![
        fit.model.clone(),
        format!("{} in {}", counted(fit.calls, "call"), counted(fit.sessions, "session")),
        fit.source.clone(),
    ]
}

fn panel(group: &Group, told: String) -> ChartPanel {
    let effort = group.effort.clone().unwrap_or_default();
    ChartPanel {
        name: format!("{effort}: {}, {}", counted(group.known, "call"), counted(group.sessions, "session")),
        told,
        ..ChartPanel::default()
    }
}

/// The families by what is drawn of them: name, distribution of ln tokens, density.
type Family = (&'static str, Box<dyn Fn(f64) -> f64>, Box<dyn Fn(f64) -> f64>);

fn families(families: Families) -> [Family; 3] {
    let Families { mixture, lognormal, gamma, .. } = families;
    [
        (
            "two lognormals",
            Box::new(move |log| mixture.cdf_of_log(log)),
            Box::new(move |log| mixture.density_of_log(log)),
        ),
        (
            "one lognormal",
            Box::new(move |log| lognormal.cdf_of_log(log)),
            Box::new(move |log| lognormal.density_of_log(log)),
        ),
        ("gamma", Box::new(move |log| gamma.cdf(libm::exp(log))), Box::new(move |log| gamma.density_of_log(log))),
    ]
}

fn distances(families: &Families) -> String {
    format!("KS {:.3}, {:.3}, {:.3}", families.ks_mixture, families.ks_lognormal, families.ks_gamma)
}

/// Quantiles of the fits against those of the sizes: a fit that holds lies on the diagonal.
fn qq(records: &[TurnRecord], fit: &Calibration) -> Chart {
    let panels = rungs(records, fit).into_iter().map(|(group, fitted, logs)| {
        let mut panel = panel(group, distances(&fitted));
        let (low, high) = (libm::exp(quantile(&logs, 0.0)), libm::exp(quantile(&logs, 1.0)));
        panel.lines.push(ChartLine::new("what is observed", 9, false, [(low, low), (high, high)]));
        for (colour, (name, cdf, _)) in (0_u8..).zip(families(fitted)) {
            let share = |at: u32| (f64::from(at) + 0.5) / f64::from(POINTS);
            let point = |at: u32| (libm::exp(solve(&cdf, share(at))), libm::exp(quantile(&logs, share(at))));
            let points: Vec<(f64, f64)> = (0..POINTS).map(point).collect();
            if colour == 0 {
                panel.dots.push(ChartDots::new(name, colour, points));
            } else {
                panel.lines.push(ChartLine::new(name, colour, true, points));
            }
        }
        panel
    });
    Chart {
        title: format!("How well sizes of {} fit", fit.model),
        facts: facts(fit),
        note: "Each dot is a rank: across, the size that the fit has there; up, the size observed. Lines are the same of simpler fits. KS: the largest distance between the \
               distributions, of two lognormals, one, and a gamma."
            .to_owned(),
        x: "fitted, output tokens per call".to_owned(),
        y: "observed, output tokens per call".to_owned(),
        x_scale: Scale::Log,
        y_scale: Scale::Log,
        panels: panels.collect(),
    }
}

/// Where a distribution of ln tokens reaches a share.
fn solve(cdf: impl Fn(f64) -> f64, share: f64) -> f64 {
    let (mut low, mut high) = (-5.0, 25.0);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if cdf(middle) < share { low = middle } else { high = middle }
    }
    0.5 * (low + high)
}

/// Sizes as a histogram, and the fits over it.
fn density(records: &[TurnRecord], fit: &Calibration) -> Chart {
    const BINS: u32 = 32;
    let panels = rungs(records, fit).into_iter().map(|(group, fitted, logs)| {
        let mut panel = panel(group, distances(&fitted));
        let (low, high) = (quantile(&logs, 0.0) - 0.01, quantile(&logs, 1.0) + 0.01);
        let wide = (high - low) / f64::from(BINS);
        let mut outline = vec![(libm::exp(low), 0.0)];
        for bin in 0..BINS {
            let (from, to) = (low + wide * f64::from(bin), low + wide * f64::from(bin + 1));
            let inside = logs.partition_point(|log| *log < to) - logs.partition_point(|log| *log < from);
            let share = len(&vec![(); inside]) / len(&logs) / wide;
            outline.extend([(libm::exp(from), share), (libm::exp(to), share)]);
        }
        outline.push((libm::exp(high), 0.0));
        panel.lines.push(ChartLine::new("observed", 9, false, outline));
        for (colour, (name, _, density)) in (0_u8..).zip(families(fitted)) {
            let at = |point: u32| low + (high - low) * f64::from(point) / f64::from(POINTS);
            let points: Vec<(f64, f64)> =
                (0..=POINTS).map(|point| (libm::exp(at(point)), density(at(point)))).collect();
            panel.lines.push(ChartLine::new(name, colour, colour > 0, points));
        }
        panel
    });
    Chart {
        title: format!("Sizes of {} and what is fitted to them", fit.model),
        facts: facts(fit),
        note: "KS: the largest distance between the distributions, of two lognormals, one, and a gamma.".to_owned(),
        x: "output tokens per call".to_owned(),
        y: "share of calls per e-fold".to_owned(),
        x_scale: Scale::Log,
        y_scale: Scale::Linear,
        panels: panels.collect(),
    }
}

/// Seconds of a call against its size, with the robust line.
fn time(records: &[TurnRecord], fit: &Calibration) -> Chart {
    let sessions = Sessions::of(records, &fit.model);
    let taken = |call: &calls::Call<'_>| {
        let seconds = float(call.end.checked_sub(call.start?)?) / 1000.0;
        Some((float(call.output.filter(|&output| output > 0)?), seconds.max(0.01)))
    };
    let mut points: Vec<(f64, f64)> = sessions.calls().filter_map(taken).collect();
    points.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    let thin = points.len().div_ceil(DOTS).max(1);
    let ends = points.first().zip(points.last()).map_or((1.0, 10.0), |(low, high)| (low.0, high.0));
    let timing = &fit.timing;
    let at =
        |point: u32| libm::exp(libm::log(ends.0) + libm::log(ends.1 / ends.0) * f64::from(point) / f64::from(POINTS));
    let line = |extra: f64| -> Vec<(f64, f64)> {
        (0..=POINTS).map(|point| (at(point), (extra + at(point) / timing.speed).max(0.01))).collect()
    };
    let panel = ChartPanel {
        name: format!("{} with a start", counted(timing.calls, "call")),
        told: format!(
            "{:.1} s and {:.0} tokens per second; mean overhead {:.1} s",
            timing.intercept, timing.speed, timing.overhead
        ),
        lines: vec![
            ChartLine::new("robust line", 1, false, line(timing.intercept)),
            ChartLine::new("with the mean overhead", 2, true, line(timing.overhead)),
        ],
        dots: vec![ChartDots::new("a call", 0, points.into_iter().step_by(thin))],
    };
    Chart {
        title: format!("Seconds that a call of {} takes", fit.model),
        facts: facts(fit),
        note: if thin > 1 { format!("Every {thin}th call is drawn.") } else { String::new() },
        x: "output tokens of the call".to_owned(),
        y: "seconds from request to answer".to_owned(),
        x_scale: Scale::Log,
        y_scale: Scale::Log,
        panels: vec![panel],
    }
}

/// The mean of a window over the session's own, in the logs and in the simulated agent.
fn windows(records: &[TurnRecord], fit: &Calibration, scenario: &Scenario) -> Chart {
    let words: Vec<&str> = fit.rungs.iter().map(|rung| rung.effort.as_str()).collect();
    let seed = scenario.plan.seed;
    let panels = (0_usize..).zip(&fit.rungs).filter(|(_, rung)| rung.is_measured()).filter_map(|(place, rung)| {
        let group = fit.groups.iter().find(|group| group.effort.as_deref() == Some(rung.effort.as_str()))?;
        let design = Design { agent: &scenario.agent, model: &fit.model, efforts: &words, seed, run: 0 };
        let made: Vec<TurnRecord> =
            sessions(&design, &[place; SIMULATED]).into_iter().flat_map(|session| session.calls).collect();
        let real = Ratios::of(records, &fit.model, &rung.effort, OVER);
        let simulated = Ratios::of(&made, &fit.model, &rung.effort, OVER);
        let told = format!(
            "sd {:.2} and {:.2}; off by more than 15 %: {:.0} and {:.0} %",
            real.spread(),
            simulated.spread(),
            100.0 * real.off(0.15),
            100.0 * simulated.off(0.15)
        );
        let mut panel = panel(group, told);
        panel.lines.push(ChartLine::new("15 % off", 9, true, [(0.85, 0.0), (0.85, 1.0)]));
        panel.lines.push(ChartLine::new("15 % off", 9, true, [(1.15, 0.0), (1.15, 1.0)]));
        for (name, colour, ratios) in [("in the logs", 0, &real), ("simulated", 1, &simulated)] {
            let share = |at: u32| f64::from(at) / f64::from(POINTS);
            let points: Vec<(f64, f64)> = (0..=POINTS).map(|at| (quantile(&ratios.0, share(at)), share(at))).collect();
            panel.lines.push(ChartLine::new(
                name,
                colour,
                colour > 0,
                if ratios.0.is_empty() { Vec::new() } else { points },
            ));
        }
        Some(panel)
    });
    Chart {
        title: format!("What a window of {} s sees of {} at one effort", OVER / 1000, fit.model),
        facts: [facts(fit), vec![format!("{SIMULATED} simulated sessions a rung"), format!("seed {seed}")]].concat(),
        note: "The mean size of the calls of the last 300 s over the mean of the session, at each answer of sessions of thirty calls or more. \
               Numbers: logs first, then simulated."
            .to_owned(),
        x: "window mean over session mean".to_owned(),
        y: "share of answers at or below".to_owned(),
        x_scale: Scale::Log,
        y_scale: Scale::Linear,
        panels: panels.collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lab::fit::tests::made;
    use crate::lab::fit::{Options, calibrate};

    #[test]
    fn every_measured_rung_has_its_panels_and_all_can_be_drawn() {
        let mut records = made("high", 4, 60, 400);
        records.extend(made("low", 3, 60, 200).into_iter().map(|record| TurnRecord {
            round: record.round + 10,
            session: Some(format!("t{}", record.round).into()),
            ..record
        }));
        let fit = calibrate(&records, &Options::default()).unwrap();
        let scenario = Scenario::load(&fit.to_toml(), "made.toml").unwrap();
        for (name, chart) in pictures(&records, &fit, &scenario) {
            assert_eq!(chart.panels.len(), if name == "time" { 1 } else { 2 }, "{name}");
            assert!(chart.panels.iter().all(|panel| panel.lines.iter().all(|line| line.points.len() > 1)), "{name}");
            let svg = chart.svg();
            for words in [&chart.title, &chart.x, &chart.y, &chart.panels[0].name] {
                assert!(svg.contains(words.as_str()), "{name}: {words}");
            }
        }
    }

    #[test]
    fn a_share_is_found_where_the_distribution_has_it() {
        assert!((solve(|x| (x / 10.0).clamp(0.0, 1.0), 0.25) - 2.5).abs() < 1e-9);
    }
}
