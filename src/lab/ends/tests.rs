//! Exact laws of how runs end, through the machine itself, and caps that were not there against caps that were.

use super::*;
use crate::engine::{LawKind, Limits, Millis};
use crate::lab::grid::Axes;
use crate::lab::scenario::Scenario;
use crate::lab::sweep::{CONFIDENCE, Engine, Finished, Job, sweep};
use crate::sim::{LimitSpec, OutcomeModel, OutcomeSpec, Span};
use std::num::{NonZeroU32, NonZeroU64};
use std::sync::atomic::AtomicBool;

/// A scenario of short rounds with these outcomes.
fn scenario(spec: OutcomeSpec, limits: Limits) -> Scenario {
    let mut scenario = Scenario::load(include_str!("../../../scenarios/s06-short-rounds.toml"), "x.toml").unwrap();
    scenario.outcome = Some(OutcomeModel::new(spec, scenario.agent.rungs()).unwrap());
    scenario.controls.limits = limits;
    scenario
}

fn swept(scenario: &Scenario, runs: u32, rounds: u32, threads: usize) -> Finished {
    let axes = Axes { law: Some(vec![LawKind::Fixed]), over: Some(vec![Millis::from_secs(300)]), ..Axes::default() };
    let slack = vec![scenario.governor.slack];
    let grid = scenario.grid(Axes { slack: Some(slack), ..axes }).unwrap();
    let job = Job { scenario, grid: &grid, runs, rounds, seed: 4, threads, engine: Engine::Tables };
    assert_eq!(job.engine(), Engine::Machine);
    sweep(&job, &AtomicBool::new(false), &|_| {}).unwrap()
}

fn figures(scenario: &Scenario, runs: u32, rounds: u32) -> EndFigures {
    swept(scenario, runs, rounds, 0).ends[0].figures(CONFIDENCE).unwrap()
}

/// Chi-square of counts against a law's shares of `runs`.
fn chi_square(counts: &[u64], shares: &[f64], runs: u32) -> f64 {
    let part = |(count, share): (&u64, &f64)| {
        let expected = share * f64::from(runs);
        (ufloat(*count) - expected).powi(2) / expected
    };
    counts.iter().zip(shares).map(part).sum()
}

#[test]
fn rounds_until_done_are_geometric() {
    let (chance, runs, rounds) = (0.25, 6_000, 60);
    let spec = OutcomeSpec { done: chance, ..OutcomeSpec::default() };
    let finished = swept(&scenario(spec, Limits::default()), runs, rounds, 0);
    let tally = &finished.ends[0];
    // 0.75 ^ 60 = 3e-8: none is left over
    assert_eq!(tally.stops[place(Control::OraclePassed)], u64::from(runs));
    let mean = tally.figures(CONFIDENCE).unwrap().done_rounds.unwrap().mean.mean;
    // 1 / p, with standard error sqrt(1 - p) / p / sqrt(runs)
    let error = (1.0_f64 - chance).sqrt() / chance / f64::from(runs).sqrt();
    assert!((float(mean.into()) / 1e6 - 1.0 / chance).abs() <= 4.0 * error, "{mean}");
    let mut counts = [0_u64; 16];
    for micros in &tally.done_rounds.values {
        let round = usize::try_from(micros / ONE).unwrap();
        counts[(round - 1).min(15)] += 1;
    }
    let mut shares: Vec<f64> = (0..15).map(|round| chance * (1.0 - chance).powi(round)).collect();
    shares.push((1.0 - chance).powi(15));
    // 15 degrees of freedom: above 44.3 once in 10 000
    let distance = chi_square(&counts, &shares, runs);
    assert!(distance < 44.3, "{distance}: {counts:?}");
}

#[test]
fn tokens_until_done_are_exponential_on_one_rung() {
    // one turn of a constant size, so that a round is so many tokens, and the rounds are geometric with 1 - exp(-size / mean)
    let text = include_str!("../../../scenarios/s06-short-rounds.toml");
    let mut lines: Vec<String> = text.lines().map(|line| line.replace("cv = 1.0", "cv = 0")).collect();
    lines.iter_mut().filter(|line| line.starts_with("tau")).for_each(|line| "tau = 0".clone_into(line));
    lines.push("[outcome]\nfinish = [1e4, 1e4, 1e4, 1e4, 1e4, 1e4]\n".to_owned());
    let scenario = Scenario::load(&lines.join("\n"), "x.toml").unwrap();
    let figures = figures(&scenario, 2_000, 100);
    assert_eq!(figures.done().count, 2_000);
    let tokens = figures.done_tokens.unwrap();
    // the round in which it ends is counted whole: the mean is 10 000 and about half a round, 800 x 5 / 2, more
    let (mean, round) = (tokens.mean.mean / ONE, 4_000);
    assert!((10_000 + round / 2 - 700..10_000 + round / 2 + 700).contains(&mean), "{mean}");
}

#[test]
fn a_streak_of_failures_takes_as_long_as_it_must() {
    // rounds until n failures in a row: (q^-n - 1) / (1 - q), q the chance of a failure; all of them fail before a turn
    let (chance, streak, runs) = (0.5_f64, 3, 3_000);
    let spec = OutcomeSpec { failed: chance, early: 1.0, ..OutcomeSpec::default() };
    let limits = Limits { agent_failures: NonZeroU32::new(streak), ..Limits::default() };
    let figures = figures(&scenario(spec, limits), runs, 250);
    assert_eq!(figures.stopped_by(Control::AgentFailures).count, u64::from(runs));
    let expected = (chance.powi(-3) - 1.0) / (1.0 - chance);
    // the variance is (1 - (2n + 1) p q^n - q^(2n + 1)) / (p q^n)^2 of n in a row with chance q, p = 1 - q (Feller, volume 1, XIII.7)
    let (p, qn) = (1.0 - chance, chance.powi(3));
    let variance = 1.0 / (p * qn).powi(2) - 7.0 / (p * qn) - chance / (p * p);
    let error = (variance / f64::from(runs)).sqrt();
    let mean = float(figures.rounds.unwrap().mean.mean.into()) / 1e6;
    assert!((expected - 14.0).abs() < 1e-12 && (mean - expected).abs() <= 4.0 * error, "{mean} +- {error}");
}

#[test]
fn rounds_without_progress_and_the_same_error_stop_after_so_many() {
    let still = OutcomeSpec { unchanged: 1.0, ..OutcomeSpec::default() };
    let limits = Limits { no_progress: NonZeroU32::new(4), ..Limits::default() };
    let ends = figures(&scenario(still, limits), 20, 50);
    assert_eq!(ends.stopped_by(Control::NoProgress).count, 20);
    assert_eq!(ends.rounds.unwrap().p90, 4 * ONE);
    let same = OutcomeSpec { same_error: Some(1.0), ..OutcomeSpec::default() };
    let limits = Limits { same_error: NonZeroU32::new(5), ..Limits::default() };
    let ends = figures(&scenario(same, limits), 20, 50);
    assert_eq!(ends.stopped_by(Control::SameError).count, 20);
    assert_eq!((ends.rounds.unwrap().p10, ends.rounds.unwrap().p90), (5 * ONE, 5 * ONE));
}

#[test]
fn each_answer_and_rule_has_its_control() {
    let only = |spec: OutcomeSpec, control: Control| {
        let ends = figures(&scenario(spec, Limits::default()), 10, 20);
        assert_eq!((ends.stopped_by(control).count, ends.rounds.unwrap().p90), (10, ONE), "{control}");
    };
    only(OutcomeSpec { done: 1.0, ..OutcomeSpec::default() }, Control::OraclePassed);
    only(OutcomeSpec { blocked: 1.0, ..OutcomeSpec::default() }, Control::Blocked);
    only(OutcomeSpec { oracle_error: 1.0, ..OutcomeSpec::default() }, Control::OracleError);
    only(OutcomeSpec { kill_on: 1.0, done: 1.0, ..OutcomeSpec::default() }, Control::KillOn);
}

#[test]
fn limits_are_waited_out_in_the_world_s_own_time() {
    let lasts = Span { mean: 1000.0, cv: 0.0 };
    let limit = |told| Some(LimitSpec { chance: 1.0, lasts, told });
    let told = OutcomeSpec { limit: limit(1.0), ..OutcomeSpec::default() };
    let finished = swept(&scenario(told, Limits::default()), 5, 10, 1);
    let secs = finished.tallies[0].summary(crate::lab::metric::Metric::Secs, CONFIDENCE).unwrap().mean;
    assert!(secs > 9_000.0, "nine limits of 1000 s were waited out: {secs}");
    // where it is not told when it ends, rounds are refused until it does: after 60 s, 120 s, 240 s and 480 s at the least
    let hidden = OutcomeSpec { limit: limit(0.0), ..OutcomeSpec::default() };
    let limits = Limits { limited: NonZeroU32::new(4), ..Limits::default() };
    let ends = figures(&scenario(hidden, limits), 5, 50);
    assert_eq!((ends.stopped_by(Control::Limit).count, ends.rounds.unwrap().p50), (5, 4 * ONE));
    // and a wait that is too long is none
    let told = OutcomeSpec { limit: limit(1.0), ..OutcomeSpec::default() };
    let limits = Limits { limit_wait: Some(Millis::from_secs(999)), ..Limits::default() };
    let ends = figures(&scenario(told, limits), 5, 50);
    assert_eq!((ends.stopped_by(Control::Limit).count, ends.rounds.unwrap().p50), (5, ONE));
}

#[test]
fn a_cap_that_was_not_there_is_the_cap_that_was() {
    let spec = || OutcomeSpec { done: 0.05, finish: vec![4e5; 6], failed: 0.1, early: 0.5, ..OutcomeSpec::default() };
    let free = figures(&scenario(spec(), Limits::default()), 300, 40);
    assert_eq!(free.caps.iter().map(|cap| cap.rounds).collect::<Vec<_>>(), [1, 2, 5, 10, 20, 40]);
    for cap in &free.caps {
        let limits = Limits { rounds: NonZeroU64::new(cap.rounds.into()), ..Limits::default() };
        let finished = swept(&scenario(spec(), limits), 300, 40, 0);
        let capped = finished.ends[0].figures(CONFIDENCE).unwrap();
        assert_eq!(capped.done(), cap.done, "{}", cap.rounds);
        let tokens = finished.tallies[0].summary(crate::lab::metric::Metric::Tokens, CONFIDENCE).map(Figure::from);
        assert_eq!((tokens, capped.tokens_per_done), (cap.tokens, cap.tokens_per_done), "{}", cap.rounds);
        let whole = free.caps.last().unwrap().tokens.unwrap().mean;
        assert!((whole - cap.tokens.unwrap().mean - cap.saved.unwrap().mean).abs() <= 1, "{}", cap.rounds);
    }
    // with 1 - p left after each round, of which N are left under a cap of N
    let geometric = OutcomeSpec { done: 0.1, ..OutcomeSpec::default() };
    let ends = figures(&scenario(geometric, Limits::default()), 4_000, 30);
    for cap in &ends.caps {
        let law = 1.0 - 0.9_f64.powi(i32::try_from(cap.rounds).unwrap());
        let error = (law * (1.0 - law) / 4000.0).sqrt();
        assert!((float(cap.done.share.mean.into()) / 1e6 - law).abs() <= 4.0 * error, "{}", cap.rounds);
    }
}

#[test]
fn cost_and_caps_on_it_are_counted_by_price() {
    let mut priced = scenario(OutcomeSpec::default(), Limits::default());
    (priced.usage.input, priced.usage.input_price, priced.usage.output_price) =
        (crate::engine::Tokens::new(2_000), 500_000, 10_000_000);
    let finished = swept(&priced, 3, 10, 1);
    let of = |metric| finished.tallies[0].summary(metric, CONFIDENCE).unwrap().mean;
    let tokens = of(crate::lab::metric::Metric::Tokens);
    let turns = float(finished.ends[0].cost.all.sum()) / 1e6 * 1e6 - tokens * 10.0 * 3.0;
    // 0.001 USD of input a turn
    assert!(turns > 0.0 && (turns / 1000.0).fract().abs() < 1e-6, "{turns}");
    let limits = Limits { cost: Some(MicroUsd::new(30_000)), ..Limits::default() };
    priced.controls.limits = limits;
    let ends = swept(&priced, 3, 50, 1).ends[0].figures(CONFIDENCE).unwrap();
    assert_eq!(ends.stopped_by(Control::Cost).count, 3);
    assert!(ends.cost.unwrap().mean >= 30_000);
}

#[test]
fn neither_threads_nor_the_order_of_runs_change_a_digit() {
    let spec = OutcomeSpec { done: 0.1, failed: 0.2, early: 0.5, unchanged: 0.3, ..OutcomeSpec::default() };
    let limits = Limits { no_progress: NonZeroU32::new(3), agent_failures: NonZeroU32::new(3), ..Limits::default() };
    let scenario = scenario(spec, limits);
    let one = swept(&scenario, 60, 40, 1);
    for threads in [2, 5] {
        let more = swept(&scenario, 60, 40, threads);
        assert!(one.losses == more.losses && one.tallies == more.tallies, "{threads}");
        assert_eq!(one.ends[0].figures(CONFIDENCE), more.ends[0].figures(CONFIDENCE), "{threads}");
    }
}
