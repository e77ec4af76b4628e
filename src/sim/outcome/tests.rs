//! Chances as stated, streams of their own, and what follows from the path.

use super::*;

fn model(spec: OutcomeSpec) -> OutcomeModel {
    OutcomeModel::new(spec, 2).unwrap()
}

fn made(round: u32, turns: usize, tokens: u64) -> Made {
    Made { round, rung: 0, turns, tokens }
}

/// Rounds of runs 0 to `runs` - 1 in which `what` holds, of `rounds` each.
fn count(model: &OutcomeModel, runs: u32, rounds: u32, what: impl Fn(Fate, Left) -> bool) -> u32 {
    let mut hits = 0;
    for run in 0..runs {
        let mut fortune = model.fortune(11, run);
        for round in 0..rounds {
            let fate = fortune.fate(round, 20);
            let left = fortune.left(&made(round, fate.turns, 1000));
            hits += u32::from(what(fate, left));
        }
    }
    hits
}

/// Whether so many hits of so many tries fit a chance: within 4 standard deviations, which one test in 16 000 misses.
fn fits(hits: u32, tries: u32, chance: f64) -> bool {
    let (hits, tries) = (f64::from(hits), f64::from(tries));
    (hits - tries * chance).abs() <= 4.0 * (tries * chance * (1.0 - chance)).sqrt()
}

#[test]
fn every_chance_is_kept() {
    let tries = 40_000;
    let of = |spec: OutcomeSpec, what: fn(Fate, Left) -> bool| count(&model(spec), 200, 200, what);
    let failed = |spec| of(spec, |fate, _| fate.exit == RoundExit::Failed);
    assert!(fits(failed(OutcomeSpec { failed: 0.2, ..OutcomeSpec::default() }), tries, 0.2));
    let early = OutcomeSpec { failed: 0.2, early: 0.4, ..OutcomeSpec::default() };
    assert!(fits(of(early, |fate, _| fate.turns == 0), tries, 0.08));
    let late = OutcomeSpec { failed: 1.0, ..OutcomeSpec::default() };
    assert!(fits(of(late.clone(), |fate, _| fate.turns == 20), tries, 0.05), "after the last turn as after any");
    assert_eq!(of(late, |fate, _| fate.turns == 0), 0);
    let limit = LimitSpec { chance: 0.1, lasts: Span { mean: 60.0, cv: 0.0 }, told: 0.25 };
    let limited = OutcomeSpec { limit: Some(limit), ..OutcomeSpec::default() };
    assert!(fits(of(limited.clone(), |fate, _| fate.limit.is_some()), tries, 0.1));
    assert!(fits(of(limited.clone(), |fate, _| fate.limit.is_some_and(|limit| limit.told)), tries, 0.025));
    assert!(fits(of(limited, |fate, _| fate.limit.is_some() && fate.turns == 0), tries, 0.005));
    let answers = OutcomeSpec { done: 0.2, blocked: 0.25, oracle_error: 0.5, ..OutcomeSpec::default() };
    assert!(fits(of(answers.clone(), |_, left| left.answer == Answer::Error), tries, 0.5));
    assert!(fits(of(answers.clone(), |_, left| left.answer == Answer::Pass), tries, 0.1));
    assert!(fits(of(answers, |_, left| left.answer == Answer::Blocked), tries, 0.1));
    let hopeless = OutcomeSpec { done: 1.0, hopeless: 0.4, ..OutcomeSpec::default() };
    let runs = (0..4_000).filter(|run| {
        let model = model(hopeless.clone());
        model.fortune(11, *run).left(&made(7, 1, 1)).answer == Answer::Fail
    });
    assert!(fits(u32::try_from(runs.count()).unwrap(), 4_000, 0.4));
    assert!(fits(of(OutcomeSpec { kill_on: 0.3, ..OutcomeSpec::default() }, |_, left| left.kill_on), tries, 0.3));
}

#[test]
fn limits_last_as_long_as_stated() {
    let limit = LimitSpec { chance: 1.0, lasts: Span { mean: 3600.0, cv: 0.5 }, told: 1.0 };
    let model = model(OutcomeSpec { limit: Some(limit), ..OutcomeSpec::default() });
    let lasts = |run| model.fortune(3, run).fate(0, 20).limit.unwrap().lasts.count();
    let mean = f64::from(u32::try_from((0..20_000).map(lasts).sum::<u64>() / 20_000_000).unwrap());
    assert!((mean - 3600.0).abs() <= 4.0 * 1800.0 / 20_000.0_f64.sqrt() + 1.0, "{mean}");
}

#[test]
fn nothing_comes_of_nothing_that_is_said() {
    let model = model(OutcomeSpec::default());
    assert!(!model.has_oracle());
    let all = count(&model, 20, 100, |fate, left| {
        fate == Fate::whole(20) && left.answer == Answer::Fail && left.error.is_none() && !left.kill_on
    });
    assert_eq!(all, 2000);
}

#[test]
fn a_round_without_a_turn_changes_and_finishes_nothing() {
    let model = model(OutcomeSpec { done: 1.0, kill_on: 1.0, ..OutcomeSpec::default() });
    let mut fortune = model.fortune(1, 1);
    let found = fortune.found();
    let idle = fortune.left(&made(0, 0, 0));
    assert_eq!((idle.tree, idle.answer, idle.kill_on), (found, Answer::Fail, false));
    let worked = fortune.left(&made(1, 1, 1));
    assert!(worked.tree != idle.tree && worked.answer == Answer::Pass && worked.kill_on);
}

#[test]
fn streaks_are_as_long_as_chance_makes_them() {
    let chance = 0.6;
    let model = model(OutcomeSpec { unchanged: chance, same_error: Some(chance), ..OutcomeSpec::default() });
    let (mut same_tree, mut same_error) = (0, 0);
    for run in 0..100 {
        let mut fortune = model.fortune(5, run);
        let mut before: Option<Left> = None;
        for round in 0..=200 {
            let left = fortune.left(&made(round, 5, 1000));
            same_tree += u32::from(before.is_some_and(|before| before.tree == left.tree));
            same_error += u32::from(before.is_some_and(|before| before.error == left.error));
            before = Some(left);
        }
    }
    assert!(fits(same_tree, 20_000, chance) && fits(same_error, 20_000, chance), "{same_tree} {same_error}");
}

#[test]
fn chances_are_streams_of_their_own() {
    let plain = OutcomeSpec { done: 0.3, failed: 0.2, unchanged: 0.4, ..OutcomeSpec::default() };
    let limit = LimitSpec { chance: 1e-9, lasts: Span { mean: 1.0, cv: 1.0 }, told: 0.5 };
    let more = OutcomeSpec { kill_on: 0.5, same_error: Some(0.5), limit: Some(limit), ..plain.clone() };
    let (plain, more) = (model(plain), model(more));
    let (mut one, mut other) = (plain.fortune(9, 4), more.fortune(9, 4));
    for round in 0..500 {
        assert_eq!(one.fate(round, 20), other.fate(round, 20));
        let (one, other) = (one.left(&made(round, 3, 10)), other.left(&made(round, 3, 10)));
        assert_eq!((one.answer, one.tree), (other.answer, other.tree));
    }
}

#[test]
fn the_chance_to_finish_grows_with_tokens_and_rounds() {
    let spec = OutcomeSpec { done: 0.25, finish: vec![1e6, 4e6], ..OutcomeSpec::default() };
    let model = model(spec);
    let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-12, "{a} is not {b}");
    close(model.finishes(0, 0), 0.25);
    close(model.finishes(0, 1_000_000), 1.0 - 0.75 * libm::exp(-1.0));
    close(model.finishes(1, 1_000_000), 1.0 - 0.75 * libm::exp(-0.25));
    // two rounds of half the tokens are as good as one, where rounds by themselves finish nothing
    let tokens = self::model(OutcomeSpec { finish: vec![1e6, 4e6], ..OutcomeSpec::default() });
    close((1.0 - tokens.finishes(0, 500_000)).powi(2), 1.0 - tokens.finishes(0, 1_000_000));
}

#[test]
fn what_cannot_be_meant_is_refused_by_name() {
    let said = |spec: OutcomeSpec| OutcomeModel::new(spec, 2).unwrap_err().to_string();
    assert_eq!(
        said(OutcomeSpec { done: 1.5, ..OutcomeSpec::default() }),
        "outcome.done is 1.5, and must be from 0 to 1"
    );
    assert!(said(OutcomeSpec { same_error: Some(f64::NAN), ..OutcomeSpec::default() }).contains("same_error"));
    assert!(said(OutcomeSpec { finish: vec![1e6], ..OutcomeSpec::default() }).contains("each of the 2 rungs"));
    assert!(said(OutcomeSpec { finish: vec![1e6, 0.0], ..OutcomeSpec::default() }).contains("outcome.finish is 0"));
}
