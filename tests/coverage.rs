//! Do the intervals of a calibration hold the truth as often as they say?
//!
//! A known agent of three rungs is simulated, twelve sessions of about forty turns at each, written as session files, read again
//! and fitted; over a hundred such sets the 95 % intervals of each number must hold the truth at least 88 times. A truth is that of
//! the agent as it is told: sizes over all sessions, so with the session effect in them. One number is known to hold it less often: `rho`, how sizes
//! within a kind lean on each other, in 83 sets, because its interval takes the effect of each session for known.
#![cfg(all(feature = "agents", feature = "lab"))]
#![expect(clippy::unwrap_used, reason = "a test that cannot make its data has failed")]

use std::fmt::Write;

use flyball::agents::{LogReader, join};
use flyball::engine::TurnRecord;
use flyball::lab::fit::figures::Figure;
use flyball::lab::fit::{Asked, Figures, Options, calibrate, figures};
use flyball::lab::synth::{Design, Format, sessions};
use flyball::sim::{AgentModel, AgentSpec, Component, Moves, RungModel, Size, Span, TurnCount, normal};

const EFFORTS: [&str; 3] = ["high", "medium", "low"];
const SESSIONS: usize = 12;
const TAU: f64 = 0.3;
const RHO: f64 = 0.2;
const KIND_RHO: f64 = 0.6;
const TURNS: f64 = 40.0;
const SPEED: f64 = 80.0;

/// Narrow and wide of each rung: like what public logs show.
const RUNGS: [[Component; 2]; 3] = [
    [Component { weight: 0.3, mu: 4.7, sigma: 0.35 }, Component { weight: 0.7, mu: 6.4, sigma: 0.85 }],
    [Component { weight: 0.35, mu: 4.7, sigma: 0.35 }, Component { weight: 0.65, mu: 6.1, sigma: 0.8 }],
    [Component { weight: 0.4, mu: 4.7, sigma: 0.35 }, Component { weight: 0.6, mu: 5.8, sigma: 0.8 }],
];

fn agent() -> AgentModel {
    let rung = |[narrow, wide]: [Component; 2]| RungModel::new(Size::mixture(narrow, wide, Moves::Wide).unwrap());
    let mut spec = AgentSpec::new(RUNGS.into_iter().map(rung).collect());
    spec.session.tau = TAU;
    (spec.turn.rho, spec.turn.kind_rho) = (RHO, KIND_RHO);
    spec.turns = TurnCount { mean: TURNS, cv: 0.5, min: 2, max: None };
    spec.time.overhead = Span { mean: 3.0, cv: 0.5 };
    spec.time.tool = Span { mean: 6.0, cv: 1.5 };
    spec.time.tokens_per_second = SPEED;
    AgentModel::new(spec).unwrap()
}

/// Mean, cv, median and 90 % quantile of a rung's sizes over all sessions.
fn sizes(rung: [Component; 2]) -> [f64; 4] {
    let kinds = rung.map(|kind| Component {
        mu: kind.mu - TAU * TAU / 2.0,
        sigma: (kind.sigma * kind.sigma + TAU * TAU).sqrt(),
        ..kind
    });
    let moment =
        |k: f64| kinds.iter().map(|c| c.weight * libm::exp(k * c.mu + k * k * c.sigma * c.sigma / 2.0)).sum::<f64>();
    let quantile = |share: f64| {
        let (mut low, mut high) = (0.0, 20.0);
        for _ in 0..60 {
            let middle = 0.5 * (low + high);
            let below: f64 = kinds.iter().map(|c| c.weight * normal::cdf((middle - c.mu) / c.sigma)).sum();
            if below < share { low = middle } else { high = middle }
        }
        libm::exp(low)
    };
    let mean = moment(1.0);
    [mean, (moment(2.0) / (mean * mean) - 1.0).sqrt(), quantile(0.5), quantile(0.9)]
}

/// What the numbers ought to be: effort where it is one of an effort's, name, truth.
fn truths() -> Vec<(Option<&'static str>, &'static str, f64)> {
    let mut truths = Vec::new();
    for (effort, rung) in EFFORTS.into_iter().zip(RUNGS) {
        let [mean, cv, median, p90] = sizes(rung);
        truths.extend(
            [("mean", mean), ("cv", cv), ("median", median), ("p90", p90)]
                .map(|(name, truth)| (Some(effort), name, truth)),
        );
    }
    let model = [
        ("session_sd", TAU),
        ("rho", RHO),
        ("kind_rho", KIND_RHO),
        ("turns_mean", TURNS),
        ("turns_cv", 0.5),
        ("overhead", 3.0),
        ("speed", SPEED),
        ("tool", 6.0),
    ];
    truths.extend(model.map(|(name, truth)| (None, name, truth)));
    truths
}

/// One set of logs, through the writer and the reader.
fn records(agent: &AgentModel, run: u32) -> Vec<TurnRecord> {
    let design = Design { agent, model: "claude-sonnet-5", efforts: &EFFORTS, seed: 2026, run };
    let rungs: Vec<usize> = (0..SESSIONS * EFFORTS.len()).map(|at| at % EFFORTS.len()).collect();
    let logs: Vec<_> = sessions(&design, &rungs)
        .iter()
        .map(|session| {
            let mut reader = LogReader::new();
            reader.push(Format::ClaudeSession.write(session).as_bytes());
            reader.finish().unwrap()
        })
        .collect();
    join(&logs).turns
}

fn fitted(agent: &AgentModel, run: u32) -> Figures {
    let records = records(agent, run);
    let efforts = EFFORTS.map(str::to_owned).to_vec();
    let fit = calibrate(&records, &Options { efforts, ..Options::default() }).unwrap();
    figures(&records, &fit, &Asked::default())
}

fn number<'f>(figures: &'f Figures, effort: Option<&str>, name: &str) -> &'f Figure {
    match effort {
        Some(effort) => figures.of_effort(effort, name).unwrap(),
        None => figures.of_model(name).unwrap(),
    }
}

/// A line for each number, and how often its interval held the truth.
fn study(repetitions: u32) -> (String, Vec<(String, u32)>) {
    let agent = agent();
    let all: Vec<Figures> = (0..repetitions).map(|run| fitted(&agent, run)).collect();
    let (mut text, mut held) = (String::new(), Vec::new());
    for (effort, name, truth) in truths() {
        let own = || all.iter().map(|figures| number(figures, effort, name));
        let [mut low, mut high, mut hits] = [0_u32; 3];
        let (mut sum, mut width) = (0.0, 0.0);
        for figure in own() {
            let interval = figure.interval.unwrap();
            low += u32::from(truth < interval.lo);
            high += u32::from(interval.hi < truth);
            hits += u32::from(interval.covers(truth));
            sum += figure.value;
            width += interval.hi - interval.lo;
        }
        let n = f64::from(repetitions);
        let name = format!("{} {name}", effort.unwrap_or("model"));
        writeln!(
            text,
            "{name:20} truth {truth:9.4} mean {:9.4} width {:9.4} held {hits:3}, below {low}, above {high}",
            sum / n,
            width / n
        )
        .unwrap();
        held.push((name, hits));
    }
    (text, held)
}

#[test]
#[ignore = "slow: a hundred calibrations, each with its intervals"]
fn intervals_hold_the_truth() {
    let (text, held) = study(100);
    let least = |name: &str| if name == "model rho" { 80 } else { 88 };
    assert!(held.iter().all(|(name, hits)| *hits >= least(name)), "{text}");
}

#[test]
fn a_few_intervals_hold_the_truth() {
    let (text, held) = study(6);
    assert!(held.iter().all(|(_, hits)| *hits >= 4), "{text}");
    assert!(
        held.iter().map(|(_, hits)| hits).sum::<u32>() * 10 >= u32::try_from(held.len() * 6 * 8).unwrap(),
        "{text}"
    );
}
