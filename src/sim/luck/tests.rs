//! What a run of the simulated agent owes to its model, and what it owes to nobody: the order of calls.

use super::*;
use crate::engine::Ratio;
use crate::sim::{AgentSpec, Component, Moves, Outliers, RungModel, Size, Step};

fn base() -> AgentSpec {
    AgentSpec::geometric(500.0, 1.6, 6).unwrap()
}

fn model(change: impl FnOnce(&mut AgentSpec)) -> AgentModel {
    let mut spec = base();
    change(&mut spec);
    AgentModel::new(spec).unwrap()
}

/// One of everything.
fn busy() -> AgentSpec {
    let mut spec = base();
    let part = |weight, mu, sigma| Component { weight, mu, sigma };
    spec.rungs[1].size = Size::gamma(2000.0, 1.5).unwrap();
    spec.rungs[2].size = Size::mixture(part(0.42, 5.16, 0.46), part(0.58, 6.14, 1.3), Moves::Wide).unwrap();
    spec.rungs[3].size = Size::empirical(vec![10.0, 300.0, 4000.0]).unwrap();
    spec.rungs[2].shift = Some((-0.5, 0.5));
    spec.rungs[4].turns_factor = 1.7;
    spec.rungs[5].seconds_factor = 0.5;
    spec.turn.outliers = Some(Outliers { share: 0.1, factor: 8.0 });
    spec.session = crate::sim::SessionModel { tau: 0.3, rho: 0.5, trend: 1.0 };
    spec.drift.walk = 0.05;
    spec.drift.steps = vec![Step { round: 4, level: 1.6 }];
    spec.faults.empty = 0.1;
    spec.faults.truncated = 0.3;
    spec.accounting = Accounting::Partial { phi: Ratio::from_ppm(50_000), correction: Correction::AtRoundEnd };
    spec
}

fn realised(luck: &mut Luck<'_>, rung: usize, round: u32) -> RoundDraw {
    let mut out = RoundDraw::default();
    luck.realise(rung, round, &mut out);
    out
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / f64::from(u32::try_from(values.len()).unwrap())
}

/// Mean, and its standard error for independent values.
fn mean_and_error(values: &[f64]) -> (f64, f64) {
    let centre = mean(values);
    let squares: Vec<f64> = values.iter().map(|value| (value - centre).powi(2)).collect();
    (centre, (mean(&squares) / f64::from(u32::try_from(values.len()).unwrap())).sqrt())
}

fn correlation(pairs: &[(f64, f64)]) -> f64 {
    let (x, y): (Vec<f64>, Vec<f64>) = pairs.iter().copied().unzip();
    let (mx, my) = (mean(&x), mean(&y));
    let product = |f: &dyn Fn(&(f64, f64)) -> f64| pairs.iter().map(f).sum::<f64>();
    let covariance = product(&|(x, y)| (x - mx) * (y - my));
    covariance / (product(&|(x, _)| (x - mx).powi(2)) * product(&|(_, y)| (y - my).powi(2))).sqrt()
}

#[test]
fn a_round_is_no_matter_of_order() {
    let model = AgentModel::new(busy()).unwrap();
    let mut forward = model.luck(9, 4, 12);
    let all: Vec<Vec<RoundDraw>> =
        (0..12).map(|round| (0..6).map(|rung| realised(&mut forward, rung, round)).collect()).collect();
    let mut again = model.luck(1, 1, 12);
    assert_ne!(realised(&mut again, 5, 11), all[11][5]);
    again.restart(9, 4, 12);
    for (round, rung) in [(11, 5), (3, 0), (11, 2), (0, 1), (3, 4), (3, 3), (7, 5), (11, 5)] {
        let place = usize::try_from(round).unwrap();
        assert_eq!(realised(&mut again, rung, round), all[place][rung], "round {round} rung {rung}");
    }
    let longer = model.luck(9, 4, 500);
    assert_eq!(longer.ln_mean(2, 11).to_bits(), forward.ln_mean(2, 11).to_bits());
    assert_ne!(realised(&mut model.luck(9, 5, 12), 0, 3), all[3][0]);
    assert_ne!(realised(&mut model.luck(8, 4, 12), 0, 3), all[3][0]);
}

#[test]
fn one_change_moves_no_other_number() {
    let plain = AgentModel::new(base()).unwrap();
    let mut before = plain.luck(5, 0, 30);
    let longest = model(|spec| spec.rungs[3].turns_factor = 3.0);
    let mixed = model(|spec| {
        spec.rungs.push(RungModel::new(Size::gamma(300.0, 1.0).unwrap()));
        spec.rungs[0].size = Size::empirical(vec![1.0, 9.0]).unwrap();
        spec.turn.outliers = Some(Outliers { share: 0.0, factor: 8.0 });
        spec.drift.steps = vec![Step { round: 20, level: 2.0 }];
        spec.faults.outages = vec![25..=26];
    });
    let (mut long, mut mix) = (longest.luck(5, 0, 30), mixed.luck(5, 0, 30));
    for round in 0..20 {
        let known = realised(&mut before, 2, round);
        assert_eq!(realised(&mut long, 2, round), known);
        assert_eq!(realised(&mut mix, 2, round), known);
        let (short, more) = (realised(&mut before, 3, round), realised(&mut long, 3, round));
        assert!(more.tokens.len() > short.tokens.len());
        assert_eq!(more.tokens[..short.tokens.len()], short.tokens);
        assert_eq!(more.millis[..short.millis.len()], short.millis);
    }
    assert_ne!(realised(&mut before, 2, 21), realised(&mut mix, 2, 21));
    assert!(realised(&mut mix, 2, 25).tokens.is_empty() && realised(&mut mix, 2, 26).tokens.is_empty());
    assert_eq!(realised(&mut mix, 2, 25).closing, Closing::None);
}

#[test]
fn the_numbers_stay() {
    let model = AgentModel::new(busy()).unwrap();
    let mut luck = model.luck(0x1234_5678_9abc_def0, 42, 8);
    let got: Vec<(usize, u32, u32, u64, u64)> = (0..6)
        .map(|rung| {
            let draw = realised(&mut luck, rung, 5);
            let time = draw.millis.iter().map(|millis| u64::from(*millis)).sum();
            (draw.tokens.len(), draw.tokens[0], draw.millis[1], draw.total(), time)
        })
        .collect();
    assert_eq!(got, PINNED);
    let leaning = kinds(0.7);
    let draw = realised(&mut leaning.luck(0x1234_5678_9abc_def0, 42, 8), 1, 5);
    assert_eq!(draw.tokens[..8], LEANING);
}

/// By rung: turns, tokens of the first, milliseconds of the second, tokens and milliseconds in all.
const LEANING: [u32; 8] = [9187, 16, 22, 21, 22, 8465, 7314, 18];

const PINNED: [(usize, u32, u32, u64, u64); 6] = [
    (20, 8696, 32300, 351_747, 5_324_266),
    (20, 106, 36829, 226_656, 3_537_252),
    (20, 1299, 27629, 45_734, 952_652),
    (20, 2660, 27129, 63_918, 1_212_424),
    (34, 1313, 27758, 63_144, 1_390_920),
    (20, 829, 14000, 33_546, 628_883),
];

#[test]
fn tokens_and_times_follow_their_means() {
    let model = model(|spec| {
        spec.turns.cv = 0.0;
        spec.session.tau = 0.0;
        spec.turn.outliers = Some(Outliers { share: 0.02, factor: 8.0 });
        spec.rungs[1].seconds_factor = 2.0;
    });
    let mut luck = model.luck(3, 0, 10_000);
    let (mut tokens, mut waits, mut out) = (Vec::new(), Vec::new(), RoundDraw::default());
    for round in 0..10_000 {
        luck.realise(1, round, &mut out);
        assert_eq!(out.tokens.len(), 20);
        for (size, millis) in out.tokens.iter().zip(&out.millis) {
            tokens.push(f64::from(*size));
            waits.push(f64::from(*millis) - f64::from(*size) / 0.07);
        }
    }
    let ((size, size_error), (wait, wait_error)) = (mean_and_error(&tokens), mean_and_error(&waits));
    let expected = libm::exp(luck.ln_mean(1, 0));
    assert!((expected / (500.0 * 1.6_f64.powi(4) * 1.14) - 1.0).abs() < 1e-12);
    assert!((size - expected).abs() < 4.0 * size_error, "{size} for {expected}");
    assert!((wait - 28_000.0).abs() < 4.0 * wait_error, "{wait}");
}

#[test]
fn a_session_effect_has_mean_one_and_its_correlation() {
    let model = model(|spec| {
        spec.rungs = vec![RungModel::new(Size::lognormal(1e6, 0.0).unwrap())];
        spec.session = crate::sim::SessionModel { tau: 0.5, rho: 0.6, trend: 0.0 };
        spec.turns.cv = 0.0;
    });
    let (mut first, mut logs) = (Vec::new(), Vec::new());
    for run in 0..20_000 {
        let mut luck = model.luck(6, run, 3);
        let effects = [0, 1, 2].map(|round| f64::from(realised(&mut luck, 0, round).tokens[0]) / 1e6);
        first.push(effects[2]);
        logs.push(effects.map(libm::log));
    }
    let (effect, error) = mean_and_error(&first);
    assert!((effect - 1.0).abs() < 4.0 * error, "{effect} +- {error}");
    let (log, error) = mean_and_error(&logs.iter().map(|log| log[2]).collect::<Vec<_>>());
    assert!((log + 0.125).abs() < 4.0 * error && (error * 20_000_f64.sqrt() - 0.5).abs() < 0.012, "{log}");
    let lag = |lag: usize| correlation(&logs.iter().map(|log| (log[0], log[lag])).collect::<Vec<_>>());
    assert!((lag(1) - 0.6).abs() < 0.02 && (lag(2) - 0.36).abs() < 0.025, "{} {}", lag(1), lag(2));
}

#[test]
fn turns_lean_on_the_turn_before() {
    let model = model(|spec| {
        spec.turn.rho = 0.4;
        spec.turns.cv = 0.0;
        spec.session.tau = 0.0;
    });
    let mut luck = model.luck(8, 0, 4000);
    let (mut near, mut far, mut ends) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..4000 {
        let logs: Vec<f64> =
            realised(&mut luck, 0, round).tokens.iter().map(|tokens| libm::log(f64::from(*tokens))).collect();
        near.extend(logs.windows(2).map(|pair| (pair[0], pair[1])));
        far.extend(logs.windows(3).map(|pair| (pair[0], pair[2])));
        ends.push((logs[0], logs[19]));
    }
    assert!((correlation(&near) - 0.4).abs() < 0.015, "{}", correlation(&near));
    assert!((correlation(&far) - 0.16).abs() < 0.015, "{}", correlation(&far));
    assert!(correlation(&ends).abs() < 0.06, "{}", correlation(&ends));
    // First and last turns are as wide as without it: sd of ln size is sqrt(ln 2) at a cv of 1.
    let (first, last): (Vec<f64>, Vec<f64>) = ends.into_iter().unzip();
    for logs in [first, last] {
        let sd = mean_and_error(&logs).1 * 4000_f64.sqrt();
        assert!((sd / libm::log(2.0).sqrt() - 1.0).abs() < 0.04, "{sd}");
    }
}

/// Two rungs of two kinds, a third of turns narrow at the one and two thirds at the other.
fn kinds(kind_rho: f64) -> AgentModel {
    let part = |weight, mu| Component { weight, mu, sigma: 0.1 };
    let size = |narrow: f64| Size::mixture(part(narrow, 3.0), part(1.0 - narrow, 9.0), Moves::Wide).unwrap();
    model(|spec| {
        spec.rungs = vec![RungModel::new(size(1.0 / 3.0)), RungModel::new(size(2.0 / 3.0))];
        spec.turn.kind_rho = kind_rho;
        spec.turns.cv = 0.0;
        spec.session.tau = 0.0;
    })
}

#[test]
fn kinds_lean_on_the_kind_before_and_keep_their_shares() {
    for kind_rho in [0.8, -0.5] {
        let model = kinds(kind_rho);
        let mut luck = model.luck(8, 0, 6000);
        let (mut narrow, mut both, mut next_but_one) = ([0.0; 2], 0.0, 0.0);
        for round in 0..6000 {
            let [hard, soft] = [0, 1].map(|rung| {
                let is_narrow = |tokens: &u32| *tokens < 403;
                realised(&mut luck, rung, round).tokens.iter().map(is_narrow).collect::<Vec<bool>>()
            });
            // one normal stands behind both: what is narrow where few are is narrow where many are
            assert!(hard.iter().zip(&soft).all(|(hard, soft)| *soft || !hard));
            let count = |hits: usize| f64::from(u32::try_from(hits).unwrap());
            narrow[0] += count(hard.iter().filter(|narrow| **narrow).count()) / 120_000.0;
            narrow[1] += count(soft.iter().filter(|narrow| **narrow).count()) / 120_000.0;
            both += count(hard.windows(2).filter(|pair| pair[0] && pair[1]).count()) / 114_000.0;
            next_but_one += count(hard.windows(3).filter(|all| all[0] && all[2]).count()) / 108_000.0;
        }
        assert!((narrow[0] - 1.0 / 3.0).abs() < 0.01 && (narrow[1] - 2.0 / 3.0).abs() < 0.01, "{narrow:?}");
        let edge = normal::inverse_cdf(1.0 / 3.0);
        for (lag, seen) in [(kind_rho, both), (kind_rho * kind_rho, next_but_one)] {
            let expected = normal::both_below(edge, lag);
            assert!((seen - expected).abs() < 0.008, "{kind_rho}: {seen} for {expected}");
        }
    }
}

#[test]
fn kinds_that_do_not_lean_are_those_of_the_uniforms_and_others_move_nothing_else() {
    let (plain, leaning) = (kinds(0.0), kinds(0.9));
    let (mut plain, mut leaning) = (plain.luck(3, 1, 40), leaning.luck(3, 1, 40));
    let mut changed = 0;
    for round in 0..40 {
        let (before, after) = (realised(&mut plain, 0, round), realised(&mut leaning, 0, round));
        let uniforms = (0..20).map(|turn| Noise::new(3, 1).uniform(Channel::Component, round, turn));
        assert!(uniforms.zip(&before.tokens).all(|(uniform, tokens)| (uniform < 1.0 / 3.0) == (*tokens < 403)));
        // the first turn has none before it
        assert_eq!(before.tokens[0], after.tokens[0]);
        for (before, after) in before.tokens.iter().zip(&after.tokens) {
            changed += u32::from(before != after);
            assert!(before == after || (*before < 403) != (*after < 403), "sizes within a kind stay");
        }
    }
    assert!(changed > 100, "{changed}");
}

/// Expected count: the sum over the counts of the chance of each, from the lognormal's own distribution.
#[test]
fn turn_counts_have_the_mean_of_a_clipped_lognormal() {
    for (average, cv, min, max) in [(20.0, 0.5, 2, 120), (5.0, 0.3, 2, 30), (4.0, 2.0, 3, 9)] {
        let model = model(|spec| spec.turns = crate::sim::TurnCount { mean: average, cv, min, max: Some(max) });
        let sigma = log_sigma(cv);
        let below =
            |count: u32| normal::cdf((libm::log((f64::from(count) + 0.5) / average) + sigma * sigma / 2.0) / sigma);
        let expected = f64::from(min) + (min..max).map(|count| 1.0 - below(count)).sum::<f64>();
        let luck = model.luck(10, 0, 40_000);
        let counts: Vec<f64> = (0..40_000).map(|round| f64::from(luck.turns(0, round))).collect();
        let (got, error) = mean_and_error(&counts);
        assert!((got - expected).abs() < 4.0 * error, "{got} for {expected}");
        assert!(counts.iter().all(|count| (f64::from(min)..=f64::from(max)).contains(count)));
    }
    let constant = model(|spec| spec.turns.cv = 0.0);
    assert!((0..50).all(|round| constant.luck(1, 0, 50).turns(3, round) == 20));
}

#[test]
fn a_trend_rises_as_told_and_keeps_the_mean() {
    let model = model(|spec| {
        spec.rungs = vec![RungModel::new(Size::lognormal(1e6, 0.0).unwrap())];
        spec.session = crate::sim::SessionModel { tau: 0.0, rho: 0.0, trend: 1.0 };
        spec.faults.truncated = 0.5;
    });
    let mut luck = model.luck(2, 0, 40);
    for round in 0..40 {
        let (tokens, planned) = (realised(&mut luck, 0, round).tokens, luck.counts(0, round).0);
        let turns = f64::from(planned);
        let factor = |turn: u32| libm::exp((f64::from(turn) + 0.5) / turns);
        let average = (0..planned).map(factor).sum::<f64>() / turns;
        for (turn, tokens) in (0..).zip(&tokens) {
            assert!((f64::from(*tokens) - 1e6 * factor(turn) / average).abs() < 0.51, "{turn} of {planned}");
        }
    }
}

#[test]
fn levels_are_absolute_and_add_to_ramp_and_walk() {
    let steps = vec![Step { round: 60, level: 1.6 }, Step { round: 130, level: 0.625 }];
    let stepped = model(|spec| spec.drift.steps = steps);
    let luck = stepped.luck(1, 0, 200);
    let level = |round| luck.ln_mean(3, round) - luck.ln_mean(3, 0);
    for (round, known) in [(59, 0.0), (60, libm::log(1.6)), (129, libm::log(1.6)), (130, libm::log(0.625))] {
        assert!((level(round) - known).abs() < 1e-12, "{round}");
    }
    let ramped = model(|spec| spec.drift.ramp_per_100 = 1.0);
    let luck = ramped.luck(1, 0, 200);
    assert!((luck.ln_mean(0, 150) - luck.ln_mean(0, 0) - 1.5).abs() < 1e-12);
    let walking = model(|spec| spec.drift.walk = 0.05);
    let luck = walking.luck(1, 0, 20_000);
    let steps: Vec<f64> = (1..20_000).map(|round| luck.ln_mean(0, round) - luck.ln_mean(0, round - 1)).collect();
    let (step, error) = mean_and_error(&steps);
    assert!(step.abs() < 4.0 * error && (error * 19_999_f64.sqrt() - 0.05).abs() < 0.001);
    assert!((luck.ln_mean(5, 0) - libm::log(500.0)).abs() < 1e-15);
}

#[test]
fn an_assumed_ladder_lies_at_one_share_of_its_shifts() {
    let model = model(|spec| {
        spec.rungs[1].shift = Some((-0.2, 0.2));
        spec.rungs[4].shift = Some((0.0, 1.0));
    });
    let mut shares = Vec::new();
    for run in 0..4000 {
        let luck = model.luck(4, run, 1);
        let shift = |rung: usize| luck.ln_mean(rung, 0) - libm::log(model.spec().rungs[rung].size.mean());
        assert!(shift(0).abs() < 1e-12);
        assert!((shift(1) - (0.4 * shift(4) - 0.2)).abs() < 1e-12);
        shares.push(shift(4));
    }
    let (share, error) = mean_and_error(&shares);
    assert!((share - 0.5).abs() < 4.0 * error && (error * 4000_f64.sqrt() - (1.0_f64 / 12.0).sqrt()).abs() < 0.01);
}

#[test]
fn faults_come_at_their_rates() {
    let model = model(|spec| {
        spec.faults.empty = 0.25;
        spec.faults.truncated = 0.4;
        spec.turns.cv = 0.0;
    });
    let luck = model.luck(12, 0, 40_000);
    let mut counts = [0_u32; 21];
    for round in 0..40_000 {
        counts[usize::try_from(luck.turns(2, round)).unwrap()] += 1;
    }
    let near = |count: u32, chance: f64| {
        (f64::from(count) - 40_000.0 * chance).abs() < 4.5 * (40_000.0 * chance * (1.0 - chance)).sqrt()
    };
    assert!(near(counts[0], 0.25), "{counts:?}");
    assert!(counts[1..20].iter().all(|count| near(*count, 0.75 * 0.4 / 20.0)), "{counts:?}");
    assert!(near(counts[20], 0.75 * (0.6 + 0.4 / 20.0)), "{counts:?}");
}

#[test]
fn what_is_reported_adds_up() {
    let with = |accounting| model(|spec| spec.accounting = accounting);
    let plain = realised(&mut with(Accounting::Final).luck(1, 0, 1), 2, 0);
    assert_eq!((plain.landed.clone(), plain.closing), (plain.tokens.clone(), Closing::None));
    let partial = |ppm, correction| {
        let accounting = Accounting::Partial { phi: Ratio::from_ppm(ppm), correction };
        realised(&mut with(accounting).luck(1, 0, 1), 2, 0)
    };
    let lump = partial(50_000, Correction::AtRoundEnd);
    assert_eq!(lump.tokens, plain.tokens);
    assert!(lump.landed.iter().zip(&lump.tokens).all(|(part, whole)| *part == (whole * 5 + 50) / 100));
    let landed: u64 = lump.landed.iter().map(|tokens| u64::from(*tokens)).sum();
    assert_eq!(lump.closing, Closing::Lump(plain.total() - landed));
    assert_eq!(partial(1_000_000, Correction::AtRoundEnd).closing, Closing::None);
    let spread = partial(50_000, Correction::Spread);
    assert_eq!((spread.landed, spread.closing), (lump.landed, Closing::Total(plain.total())));
    let total = realised(&mut with(Accounting::RoundTotalOnly).luck(1, 0, 1), 2, 0);
    assert!(total.landed.len() == total.tokens.len() && total.landed.iter().all(|tokens| *tokens == 0));
    assert_eq!(total.closing, Closing::Total(plain.total()));
}

#[test]
fn buffers_are_kept() {
    let model = AgentModel::new(busy()).unwrap();
    let mut luck = model.luck(1, 0, 50);
    let mut out = RoundDraw::default();
    let room = |luck: &Luck<'_>, out: &RoundDraw| {
        [luck.normals.capacity(), luck.sizes.capacity(), luck.rounds.capacity(), out.tokens.capacity()]
    };
    let mut sweep = |luck: &mut Luck<'_>| {
        for (round, rung) in (0..50).flat_map(|round| (0..6).map(move |rung| (round, rung))) {
            luck.realise(rung, round, &mut out);
        }
        room(luck, &out)
    };
    let warm = sweep(&mut luck);
    luck.restart(1, 0, 50);
    assert_eq!(sweep(&mut luck), warm);
}
