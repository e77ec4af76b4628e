//! Hand-made runs with known scores, and a slow reference written from the definitions.

use proptest::prelude::*;

use super::reference::Slow;
use super::*;
use crate::engine::Ratio;
use crate::lab::truth::EVALUATION_BAND;

/// Hardest first; the target is on rung 2.
const MEANS: [f64; 5] = [2500.0, 1600.0, 1000.0, 625.0, 390.0];

fn scoring() -> Scoring {
    Scoring::new(Target::from_tokens(1000))
}

fn truth_of(means: &[f64], rounds: usize) -> Truth {
    let mut truth = Truth::default();
    truth.fill(rounds, means.len(), scoring().target, EVALUATION_BAND, |rung, _| libm::log(means[rung])).unwrap();
    truth
}

/// Rounds of ten turns at the mean of their rung, 100 s each, then 5 s of rest.
fn log_of(rungs: &[u8]) -> RunLog {
    let mut log = RunLog::default();
    log.begin(count(rungs.len()), None);
    let mut now = 7_000;
    for &rung in rungs {
        log.push(rung, Seen::Inside, now, whole(MEANS[usize::from(rung)]).unsigned_abs() * 10, 10);
        now += 105_000;
    }
    log.finish(now - 5_000);
    log
}

fn scored(log: &RunLog) -> RunScore {
    score(log, &truth_of(&MEANS, log.rounds()), &scoring()).unwrap()
}

fn of(rungs: &[u8]) -> RunScore {
    scored(&log_of(rungs))
}

fn value(score: &RunScore, metric: Metric) -> f64 {
    score.value(metric).unwrap()
}

#[track_caller]
fn expect(score: &RunScore, wanted: &[(Metric, f64)]) {
    for &(metric, want) in wanted {
        let got = score.value(metric);
        assert!(got.is_some_and(|got| (got - want).abs() < 1.5e-6), "{}: {got:?}, not {want}", metric.name());
    }
}

#[test]
fn a_run_on_the_best_rung_is_perfect() {
    use Metric::*;
    let score = of(&[2; 40]);
    expect(
        &score,
        &[
            (OnRung, 1.0),
            (InBandTrue, 1.0),
            (Feasible, 1.0),
            (InBandMeasured, 1.0),
            (RmsLog, 0.0),
            (ExcessLog, 0.0),
            (BlockErr, 0.0),
            (Bias, 0.0),
            (Moves, 0.0),
            (Reversals, 0.0),
            (Pinned, 0.0),
            (HitRounds, 0.0),
            (Settled, 1.0),
            (SettleRounds, 0.0),
            (SettleTokens, 0.0),
            (SettleSecs, 0.0),
            (Retain, 40.0),
            (Overshoot, 0.0),
            (OffTokens, 0.0),
            (Tokens, 400_000.0),
            (FalseMove, 0.0),
            (LimitCycle, 0.0),
            (Chatter, 0.0),
            (Rounds, 40.0),
            (Secs, 40.0 * 105.0 - 5.0),
        ],
    );
    assert_eq!(score.micros(BudgetOver), None);
    assert_eq!((score.settling, score.at_best, score.left_best), (Settling { settled: Some(0), at_risk: 31 }, 39, 0));
}

#[test]
fn a_late_arrival_counts_what_came_before() {
    use Metric::*;
    let mut rungs = vec![4, 3, 3];
    rungs.extend([2; 10]);
    rungs.extend([1, 2, 2]);
    let score = of(&rungs);
    let off = 3900.0 + 2.0 * 6250.0;
    expect(
        &score,
        &[
            (OnRung, 12.0 / 16.0),
            (HitRounds, 3.0),
            (SettleRounds, 3.0),
            (SettleTokens, off),
            (SettleSecs, 3.0 * 105.0),
            (Retain, 6.0),
            (OffTokens, (off + 16_000.0) / (off + 16_000.0 + 120_000.0)),
            (Moves, 400.0 / 16.0),
            (Reversals, 100.0 / 16.0),
            (Overshoot, 1.0),
            (OvershootLog, libm::log(1.6)),
            (FalseMove, 1.0 / 11.0),
        ],
    );
}

#[test]
fn settling_must_end_inside_the_run() {
    let held = |rounds: usize| {
        let mut rungs = vec![3, 3];
        rungs.extend(vec![2; rounds]);
        of(&rungs)
    };
    let (settled, not) = (held(10), held(9));
    assert_eq!(settled.settling, Settling { settled: Some(2), at_risk: 3 });
    assert_eq!(not.settling, Settling { settled: None, at_risk: 2 });
    expect(&not, &[(Metric::Settled, 0.0), (Metric::SettleRounds, 11.0), (Metric::HitRounds, 2.0)]);
    expect(
        &not,
        &[(Metric::SettleTokens, value(&not, Metric::Tokens)), (Metric::SettleSecs, value(&not, Metric::Secs))],
    );
    assert_eq!(not.micros(Metric::Retain), None);
}

#[test]
fn a_run_that_never_hits_is_held_at_its_end() {
    let score = of(&[0; 12]);
    expect(
        &score,
        &[
            (Metric::HitRounds, 12.0),
            (Metric::OnRung, 0.0),
            (Metric::OffTokens, 1.0),
            (Metric::Overshoot, 0.0),
            (Metric::RmsLog, libm::log(2.5)),
            (Metric::ExcessLog, libm::log(2.5)),
        ],
    );
    assert_eq!((score.micros(Metric::FalseMove), score.at_best), (None, 0));
}

#[test]
fn one_rung_settles_at_once_and_never_moves() {
    let mut log = log_of(&[0; 12]);
    log.pinned = 12;
    let score = score(&log, &truth_of(&[400.0], 12), &scoring()).unwrap();
    expect(
        &score,
        &[(Metric::SettleRounds, 0.0), (Metric::Moves, 0.0), (Metric::OnRung, 1.0), (Metric::Pinned, 100.0)],
    );
    expect(&score, &[(Metric::Feasible, 0.0), (Metric::ExcessLog, 0.0)]);
    assert_eq!(score.micros(Metric::InBandTrue), None);
}

#[test]
fn a_run_without_a_round_has_nothing_but_totals() {
    let mut log = RunLog::default();
    log.begin(200, Some(5));
    log.finish(0);
    let score = scored(&log);
    let present: Vec<_> = Metric::ALL.into_iter().filter(|&metric| score.micros(metric).is_some()).collect();
    assert_eq!(present, [Metric::Tokens, Metric::BudgetOver, Metric::Rounds, Metric::Secs]);
    assert_eq!(score.settling, Settling { settled: None, at_risk: 0 });
}

#[test]
fn empty_rounds_keep_their_rung_and_have_no_reading_of_their_own() {
    let mut log = RunLog::default();
    log.begin(4, None);
    let rounds = [
        (1, Seen::Outside, 16_000, 10),
        (2, Seen::Outside, 0, 0),
        (2, Seen::Nothing, 0, 0),
        (2, Seen::Inside, 10_000, 10),
    ];
    for (k, (rung, seen, tokens, turns)) in (0_u64..).zip(rounds) {
        log.push(rung, seen, k * 1000, tokens, turns);
    }
    log.finish(4000);
    let score = scored(&log);
    expect(&score, &[(Metric::OnRung, 0.75), (Metric::InBandMeasured, 1.0 / 3.0), (Metric::OffTokens, 16.0 / 26.0)]);
    log.seen.fill(Seen::Nothing);
    assert_eq!(scored(&log).micros(Metric::InBandMeasured), None);
}

#[test]
fn a_run_without_a_turn_has_no_bias_and_no_off_tokens() {
    let mut log = log_of(&[1; 50]);
    log.tokens.fill(0);
    let silent = scored(&log);
    expect(&silent, &[(Metric::Bias, -1.0), (Metric::BlockErr, libm::log(200_000.0))]);
    log.turns.fill(0);
    let score = scored(&log);
    for metric in [Metric::Bias, Metric::BlockErr, Metric::OffTokens] {
        assert_eq!(score.micros(metric), None, "{}", metric.name());
    }
}

#[test]
fn holds_do_not_hide_a_reversal_and_do_not_make_one() {
    for (rungs, reversals) in [
        (&[2, 1, 1, 1, 2, 2, 3, 3, 2, 2][..], 2.0),
        (&[4, 3, 3, 2, 2, 1, 1, 0, 0, 0], 0.0),
        (&[0, 4, 0, 4, 0, 4, 0, 4, 0, 4], 8.0),
        (&[2, 2, 2, 2, 2, 2, 2, 2, 2, 1], 0.0),
    ] {
        expect(&of(rungs), &[(Metric::Reversals, 10.0 * reversals)]);
    }
    // nine changes, divided by ten rounds
    expect(&of(&[0, 4, 0, 4, 0, 4, 0, 4, 0, 4]), &[(Metric::Moves, 90.0)]);
}

#[test]
fn overshoot_is_past_the_far_side_and_only_after_the_hit() {
    // from the soft side: two past towards the hard end; what lies on the near side is no overshoot
    expect(&of(&[4, 3, 2, 1, 0, 1, 2, 4]), &[(Metric::Overshoot, 2.0), (Metric::OvershootLog, libm::log(2.5))]);
    expect(&of(&[0, 2, 4, 2]), &[(Metric::Overshoot, 2.0)]);
    expect(&of(&[0, 2, 1, 0]), &[(Metric::Overshoot, 0.0)]);
    expect(&of(&[2, 0, 4]), &[(Metric::Overshoot, 0.0)]);
}

#[test]
fn a_budget_ends_the_run_and_its_excess_is_counted() {
    let mut log = log_of(&[3, 2, 2]);
    (log.planned, log.budget) = (200, Some(20_000));
    let score = scored(&log);
    expect(&score, &[(Metric::BudgetOver, 6250.0), (Metric::Rounds, 3.0), (Metric::SettleRounds, 3.0)]);
    assert_eq!(score.settling.at_risk, 0);
    log.budget = Some(26_251);
    expect(&scored(&log), &[(Metric::BudgetOver, 0.0)]);
}

#[test]
fn blocks_slide_by_five_after_twenty_rounds() {
    // 41 rounds: blocks 20..40 and, at 25, none; the burn-in is far off and does not count
    let mut rungs = vec![0; 20];
    rungs.extend([2; 20]);
    rungs.push(1);
    expect(&of(&rungs), &[(Metric::BlockErr, 0.0), (Metric::Bias, 0.6 / 21.0)]);
    rungs.extend([1; 4]);
    let second = libm::log(1.0 + 0.6 * 5.0 / 20.0);
    expect(&of(&rungs), &[(Metric::BlockErr, (second * second / 2.0).sqrt())]);
    let short = of(&[2; 39]);
    assert_eq!((short.micros(Metric::BlockErr), short.micros(Metric::Bias)), (None, Some(0)));
    assert_eq!(of(&[2; 20]).micros(Metric::Bias), None);
}

#[test]
fn cycles_are_told_from_chatter() {
    let of_halves = |halves: &[usize], low: u8, high: u8| {
        let rungs: Vec<_> = halves
            .iter()
            .enumerate()
            .flat_map(|(place, &half)| vec![if place % 2 == 0 { low } else { high }; half])
            .collect();
        let score = of(&rungs);
        (value(&score, Metric::LimitCycle), value(&score, Metric::Chatter))
    };
    assert_eq!(of_halves(&[2; 12], 2, 3), (1.0, 0.0)); // regular
    let uneven = [1, 6, 1, 1, 9, 1, 2, 1, 7, 1, 1, 4];
    assert_eq!(of_halves(&uneven, 2, 3), (0.0, 1.0)); // irregular, one rung
    assert_eq!(of_halves(&uneven, 1, 3), (1.0, 0.0)); // irregular, wide
    // eleven stretches make ten changes, nine reversals, eight half periods; ten make seven
    assert_eq!(of_halves(&[2; 11], 2, 3), (1.0, 0.0));
    assert_eq!(of_halves(&[2; 10], 2, 3), (0.0, 0.0));
}

/// Nine half periods of mean 10: a standard deviation of 3.317 is regular, one of 3.335 is not. Ten with a mean swing of
/// 1.5 are wide, with 1.4 they are not.
#[test]
fn the_edges_of_a_cycle() {
    let nine = |squares| Turning { reversals: 10, halves: 90, squares, swings: 9, ..Turning::default() }.verdict();
    assert_eq!((nine(988), nine(989)), ((true, false), (false, true)));
    let ten = |swings| Turning { reversals: 11, halves: 50, squares: 900, swings, ..Turning::default() }.verdict();
    assert_eq!((ten(15), ten(14)), ((true, false), (false, true)));
}

#[test]
fn settling_again_is_counted_from_the_disturbance_and_ends_before_the_next() {
    let mut rungs = vec![2; 10];
    rungs.extend([1, 1]);
    rungs.extend([2; 12]);
    let log = log_of(&rungs);
    let truth = truth_of(&MEANS, 24);
    let again = |from, until| settling_from(&log, &truth, 10, from, until).unwrap();
    assert_eq!(again(0, 24), Settling { settled: Some(0), at_risk: 15 });
    assert_eq!(again(10, 24), Settling { settled: Some(2), at_risk: 5 });
    assert_eq!(again(13, 99), Settling { settled: Some(0), at_risk: 2 });
    assert_eq!(again(10, 21), Settling { settled: None, at_risk: 2 });
    assert_eq!(again(30, 40), Settling { settled: None, at_risk: 0 });
}

#[test]
fn what_does_not_belong_together_is_refused() {
    let log = log_of(&[2, 2]);
    assert_eq!(score(&log, &truth_of(&MEANS, 1), &scoring()), Err(LogError::Truth));
    assert_eq!(score(&log, &truth_of(&MEANS[..2], 2), &scoring()), Err(LogError::Rung));
    assert_eq!(score(&log, &Truth::default(), &scoring()), Err(LogError::Rung));
    assert_eq!(settling_from(&log, &truth_of(&MEANS, 1), 10, 0, 2), Err(LogError::Truth));
}

type Round = (u8, u8, u64, u64, u64, i32);

fn any_rounds() -> impl Strategy<Value = (usize, Vec<Round>)> {
    (1_usize..7).prop_flat_map(|rungs| {
        let top = u8::try_from(rungs).unwrap();
        // a walk is more telling than independent rungs: half of the rounds keep the rung of the one before
        let round = (0..2 * top, 0_u8..3, 1_u64..60_000, 0_u64..30, 0_u64..900_000, -3_i32..4);
        (Just(rungs), prop::collection::vec(round, 0..90))
    })
}

proptest! {
    #[test]
    fn every_metric_is_that_of_the_definitions(
        (rungs, rounds) in any_rounds(), pinned in 0_u32..5, budget in prop::option::of(0_u64..2_000_000),
        hold in 1_u32..13, burn_in in 0_u32..25, block in 1_u32..22, block_step in 1_u32..7
    ) {
        let mut log = RunLog::default();
        log.begin(200, budget);
        let (mut rung, mut now, mut level) = (0, 3_000, 0);
        let mut ln = Vec::new();
        for &(pick, seen, tokens, turns, span, drift) in &rounds {
            rung = if usize::from(pick) < rungs { pick } else { rung };
            let seen = [Seen::Nothing, Seen::Inside, Seen::Outside][usize::from(seen)];
            log.push(rung, seen, now, if turns > 0 { tokens } else { 0 }, turns);
            now += span;
            level = (level + drift / 3).clamp(-4, 4);
            ln.push((0..rungs).map(|l| libm::log(3000.0) - 0.2 * f64::from(u8::try_from(l).unwrap()) - 0.11 * f64::from(level)).collect::<Vec<f64>>());
        }
        log.finish(now);
        log.pinned = pinned;
        let s = Scoring { target: Target::from_micros(2_345_678_901), hold, burn_in, block, block_step };
        let mut truth = Truth::default();
        truth.fill(rounds.len() + 2, rungs, s.target, EVALUATION_BAND, |l, k| ln[k.min(ln.len().max(1) - 1)..].first().map_or(1.0, |row| row[l])).unwrap();
        let got = score(&log, &truth, &s).unwrap();
        let slow = Slow { log: &log, ln: &ln, s: &s };
        for metric in Metric::ALL {
            let want = slow.metric(metric);
            let got = got.value(metric);
            let close = match (got, want) {
                (Some(got), Some(want)) => (got - want).abs() <= 2.1e-6 + 1e-12 * want.abs(),
                (None, None) => true,
                _ => false,
            };
            prop_assert!(close, "{}: {:?}, not {:?}", metric.name(), got, want);
        }
        prop_assert!(got.micros(Metric::ExcessLog).is_none_or(|excess| excess >= 0));
        let whole_run = settling_from(&log, &truth, hold, 0, usize::MAX).unwrap();
        prop_assert_eq!(whole_run, got.settling);
    }

    #[test]
    fn an_oracle_has_no_excess_and_is_always_on(levels in prop::collection::vec(-2.0_f64..2.0, 1..60), rungs in 1_usize..9) {
        let mut truth = Truth::default();
        truth.fill(levels.len(), rungs, Target::from_tokens(1000), Ratio::from_ppm(150_000), |l, k| 8.0 - 0.4 * f64::from(u8::try_from(l).unwrap()) + levels[k]).unwrap();
        let mut log = RunLog::default();
        log.begin(60, None);
        for k in 0..levels.len() {
            log.push(truth.best(k), Seen::Nothing, 0, 1, 1);
        }
        log.finish(0);
        let score = score(&log, &truth, &scoring()).unwrap();
        prop_assert_eq!((score.micros(Metric::OnRung), score.micros(Metric::ExcessLog)), (Some(ONE), Some(0)));
    }
}
