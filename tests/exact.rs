//! The simulator against exact theory: with gamma turns, and a window of exactly one round, the rungs visited are a
//! birth-death chain whose occupancy, moves, reversals and hitting times are known to any digit.
#![cfg(feature = "lab")]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use flyball::engine::{AnyLaw, Band, LawKind, Millis, Over, Ratio, Rungs, Target};
use flyball::lab::passage::{Passage, Ways};
use flyball::lab::runlog::RunLog;
use flyball::lab::scenario::Scenario;
use flyball::lab::sweep::{Governed, Scratch, Tables};
use flyball::lab::theory::{Chain, lognormal_tails, reading_variance};
use flyball::sim::{AgentModel, AgentSpec, RoundDraw, RungModel, Size, TurnCount};

/// One check: n turns of coefficient of variation c, slack, ratio, rungs, and where the target lies, in rungs.
struct Check {
    name: &'static str,
    turns: u32,
    cv: f64,
    slack: f64,
    ratio: f64,
    rungs: usize,
    aim: f64,
}

const CHECKS: [Check; 5] = [
    Check { name: "C1", turns: 10, cv: 1.0, slack: 0.15, ratio: 1.6, rungs: 6, aim: 3.0 },
    Check { name: "C2", turns: 20, cv: 1.0, slack: 0.15, ratio: 1.6, rungs: 6, aim: 3.5 },
    Check { name: "C3", turns: 5, cv: 1.5, slack: 0.3, ratio: 2.0, rungs: 5, aim: 2.25 },
    Check { name: "C4", turns: 40, cv: 0.6, slack: 0.15, ratio: 1.3, rungs: 8, aim: 4.0 },
    Check { name: "C5", turns: 60, cv: 0.6, slack: 0.25, ratio: 1.6, rungs: 6, aim: 3.0 },
];

/// Seconds of each turn; no speed, no tools.
const TURN: u64 = 10;
/// Rounds left out before occupancy is counted.
const BURN_IN: usize = 20;
const ROUNDS: u32 = 220;
const RUNS: u32 = 500;

impl Check {
    /// Ascending means.
    fn means(&self) -> Vec<f64> {
        (0..self.rungs).map(|rung| 500.0 * self.ratio.powi(i32::try_from(rung).unwrap())).collect()
    }

    fn target(&self) -> f64 {
        500.0 * libm::pow(self.ratio, self.aim)
    }

    fn scenario(&self) -> Scenario {
        let rung = |(rung, mean): (usize, f64)| {
            let cv = self.cv;
            format!(
                "[[rung]]\neffort = \"rung-{rung}\"\nsize = {{ dist = \"gamma\", mean = {mean:.6}, cv = {cv:?} }}\n"
            )
        };
        let rungs: String = self.means().into_iter().enumerate().rev().map(rung).collect();
        let text = format!(
            "format = 1\nname = \"check\"\nabout = \"Exact.\"\n[governor]\nlaw = \"reference\"\njuice = {juice:.6}\n\
             over = \"{over}s\"\nslack = {slack:?}\nrest = \"5s\"\nbudget = 0\n[plan]\nstart = \"rung-0\"\nrounds = {ROUNDS}\n\
             runs = {RUNS}\nseed = 1\n{rungs}[session]\ntau = 0.0\n[turns]\nmean = {turns}\ncv = 0.0\nmin = 1\n[time]\n\
             overhead = {{ mean = {TURN}, cv = 0.0 }}\ntool = {{ mean = 0.0, cv = 0.0 }}\ntokens_per_second = 1e9\n",
            juice = self.target(),
            over = u64::from(self.turns - 1) * TURN,
            slack = self.slack,
            turns = self.turns,
        );
        Scenario::load(&text, "check.toml").unwrap()
    }
}

/// Mean and standard error over runs.
#[derive(Default)]
struct Mean {
    values: Vec<f64>,
}

impl Mean {
    /// As [`compare`](Self::compare), for what scatters as much as its mean.
    fn about(&self, exact: f64, what: &str) {
        #[expect(clippy::cast_precision_loss, reason = "a few hundred runs")]
        let n = self.values.len() as f64;
        let mean = self.values.iter().sum::<f64>() / n;
        let error = (self.values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (n - 1.0) / n).sqrt();
        assert!((mean - exact).abs() <= 4.5 * error + 1e-3 * exact, "{what}: {mean:.4} +- {error:.4} for {exact:.4}");
        assert!(error < 0.08 * exact.max(1.0), "{what}: {error} is too blunt a check");
    }

    fn compare(&self, exact: f64, what: &str) {
        #[expect(clippy::cast_precision_loss, reason = "a few hundred runs")]
        let n = self.values.len() as f64;
        let mean = self.values.iter().sum::<f64>() / n;
        let variance = self.values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (n - 1.0);
        let error = (variance / n).sqrt();
        // what rounding to whole tokens may do, beside 4.5 standard errors: one in 150,000 of luck, and seeds are fixed
        assert!((mean - exact).abs() <= 4.5 * error + 2e-4, "{what}: {mean:.5} +- {error:.5} for exactly {exact:.5}");
        assert!(error < 0.012 * exact.max(1.0), "{what}: {error} is too blunt a check");
    }
}

/// What all runs of a check came to: occupancy by ascending rung, moves and reversals per round, rounds to hit.
struct Seen {
    occupancy: Vec<Mean>,
    moves: Mean,
    reversals: Mean,
    hit: Mean,
}

fn simulate(check: &Check, law: LawKind) -> Seen {
    let scenario = check.scenario();
    let band = Band::new(scenario.governor.juice, scenario.governor.slack).unwrap();
    let cell = Governed {
        band: &band,
        seen: &band,
        over: Over::new(scenario.governor.over),
        rest: scenario.governor.rest,
        budget: None,
        start: scenario.plan.start,
    };
    let (mut tables, mut scratch, mut log) = (Tables::default(), Scratch::default(), RunLog::default());
    let mut luck = scenario.agent.luck(3, 0, ROUNDS);
    let mut seen = Seen {
        occupancy: (0..check.rungs).map(|_| Mean::default()).collect(),
        moves: Mean::default(),
        reversals: Mean::default(),
        hit: Mean::default(),
    };
    let near = nearest(check);
    for run in 0..RUNS {
        luck.restart(3, run, ROUNDS);
        tables.fill(&mut luck, check.rungs, false);
        tables.govern(&cell, law.build(), &mut scratch, &mut log);
        let ascending: Vec<i64> = log.rung.iter().map(|&rung| check.rungs as i64 - 1 - i64::from(rung)).collect();
        let late = &ascending[BURN_IN..];
        #[expect(clippy::cast_precision_loss, reason = "a few hundred rounds")]
        let share = |count: usize| count as f64 / late.len() as f64;
        for (rung, mean) in seen.occupancy.iter_mut().enumerate() {
            mean.values.push(share(late.iter().filter(|&&at| at == rung as i64).count()));
        }
        let (mut last, mut moves, mut reversals) = (0, 0, 0);
        for (round, pair) in ascending.windows(2).enumerate() {
            let step = pair[1] - pair[0];
            if step != 0 {
                moves += usize::from(round + 1 >= BURN_IN);
                reversals += usize::from(round + 1 >= BURN_IN && step == -last);
                last = step;
            }
        }
        seen.moves.values.push(share(moves));
        seen.reversals.values.push(share(reversals));
        let hit = ascending.iter().position(|&at| at == near as i64).unwrap();
        #[expect(clippy::cast_precision_loss, reason = "a few rounds")]
        seen.hit.values.push(hit as f64);
    }
    seen
}

/// The ascending rung nearest the target.
fn nearest(check: &Check) -> usize {
    let error = |mean: f64| libm::log(mean / check.target()).abs();
    let means = check.means();
    (0..check.rungs).min_by(|&a, &b| error(means[a]).total_cmp(&error(means[b]))).unwrap()
}

#[test]
fn occupancy_moves_reversals_and_hits_are_exact() {
    for check in &CHECKS {
        let chain =
            Chain::gamma(&check.means(), f64::from(check.turns), check.cv, check.target(), check.slack).unwrap();
        let seen = simulate(check, LawKind::Reference);
        for (rung, (seen, exact)) in seen.occupancy.iter().zip(chain.stationary().unwrap()).enumerate() {
            if exact > 1e-3 {
                seen.compare(exact, &format!("{} pi_{rung}", check.name));
            }
        }
        seen.moves.compare(chain.moves().unwrap(), &format!("{} moves", check.name));
        // where a run has less than a move or two, the direction before its first is still that of the approach
        if chain.moves().unwrap() > 0.05 {
            seen.reversals.compare(chain.reversals().unwrap(), &format!("{} reversals", check.name));
        }
        let hit = chain.hitting(0, nearest(check)).unwrap();
        seen.hit.compare(hit, &format!("{} hit", check.name));
    }
}

/// The shares of the table engine's runs, rung by rung, for two laws.
fn paths(check: &Check, law: &AnyLaw, over: Millis) -> Vec<Vec<u8>> {
    let scenario = check.scenario();
    let band = Band::new(scenario.governor.juice, scenario.governor.slack).unwrap();
    let start = scenario.plan.start;
    let cell =
        Governed { band: &band, seen: &band, over: Over::new(over), rest: scenario.governor.rest, budget: None, start };
    let (mut tables, mut scratch, mut log) = (Tables::default(), Scratch::default(), RunLog::default());
    let mut all = Vec::new();
    for run in 0..20 {
        tables.fill(&mut scenario.agent.luck(5, run, ROUNDS), check.rungs, false);
        tables.govern(&cell, law.clone(), &mut scratch, &mut log);
        all.push(log.rung.clone());
    }
    all
}

#[test]
fn reset_is_reference_where_no_window_outlasts_a_round() {
    for check in &CHECKS {
        let round = u64::from(check.turns) * TURN;
        for over in [TURN, round / 2, round] {
            let over = Millis::from_secs(over);
            assert!(paths(check, &LawKind::Reset.build(), over) == paths(check, &LawKind::Reference.build(), over));
        }
    }
    // and is another law where it does: else the check above could not fail
    let long = Millis::from_secs(3600);
    assert!(paths(&CHECKS[0], &LawKind::Reset.build(), long) != paths(&CHECKS[0], &LawKind::Reference.build(), long));
}

#[test]
fn scaling_means_and_target_alike_leaves_the_path_alone() {
    // no time is spent on tokens; whole tokens are finer beside larger means, hence a few rounds may differ
    let (small, mut large) = (CHECKS[0].scenario(), CHECKS[0].scenario());
    let spec = large.agent.spec().clone();
    let scaled = spec.rungs.iter().rev().zip(CHECKS[0].means());
    let rungs: Vec<_> = scaled.map(|(_, mean)| RungModel::new(Size::gamma(64.0 * mean, 1.0).unwrap())).rev().collect();
    large.agent = AgentModel::new(AgentSpec { rungs, ..spec }).unwrap();
    let path = |scenario: &Scenario, target: Target| {
        let band = Band::new(target, Ratio::from_ppm(150_000)).unwrap();
        let start = Rungs::new(6).unwrap().rung(5).unwrap();
        let cell = Governed {
            band: &band,
            seen: &band,
            over: Over::new(Millis::from_secs(90)),
            rest: Millis::from_secs(5),
            budget: None,
            start,
        };
        let (mut tables, mut log) = (Tables::default(), RunLog::default());
        tables.fill(&mut scenario.agent.luck(1, 0, 200), 6, false);
        tables.govern(&cell, LawKind::Reference.build(), &mut Scratch::default(), &mut log);
        log.rung
    };
    let (a, b) = (path(&small, Target::from_tokens(2048)), path(&large, Target::from_tokens(2048 * 64)));
    let same = a.iter().zip(&b).filter(|(a, b)| a == b).count();
    assert!(same >= 190, "{same} of 200 rounds alike");
}

/// Rounds and tokens before the first so many right rounds in a row, from both ends of the ladder, against the exact
/// passage: the tokens of a round go with the way that it goes, which is what makes this more than the chain.
#[test]
fn rounds_and_tokens_to_settle_are_exact() {
    const HORIZON: u32 = 150;
    for (check, hold) in CHECKS.iter().zip([2, 2, 2, 5, 10]) {
        let scenario = check.scenario();
        let (means, target) = (check.means(), check.target());
        let right: Vec<bool> = (0..check.rungs).map(|rung| rung == nearest(check)).collect();
        let ways = |mean: &f64| Ways::gamma(f64::from(check.turns), check.cv, *mean, target, check.slack);
        let passage = Passage::new(means.iter().map(ways).collect()).unwrap();
        let exact = (passage.rounds().before(&right, hold).unwrap(), passage.before(&right, hold).unwrap());
        let band = Band::new(scenario.governor.juice, scenario.governor.slack).unwrap();
        let (mut tables, mut scratch, mut log) = (Tables::default(), Scratch::default(), RunLog::default());
        let mut seen: [(Mean, Mean); 2] = Default::default();
        let starts = [0, check.rungs - 1];
        for run in 0..RUNS {
            tables.fill(&mut scenario.agent.luck(11, run, HORIZON), check.rungs, false);
            for (start, (rounds, tokens)) in starts.iter().zip(&mut seen) {
                let cell = Governed {
                    band: &band,
                    seen: &band,
                    over: Over::new(scenario.governor.over),
                    rest: scenario.governor.rest,
                    budget: None,
                    start: Rungs::new(check.rungs).unwrap().rung(check.rungs - 1 - start).unwrap(),
                };
                tables.govern(&cell, LawKind::Reference.build(), &mut scratch, &mut log);
                let fine: Vec<bool> = log.rung.iter().map(|&rung| right[check.rungs - 1 - usize::from(rung)]).collect();
                let begins = fine.windows(hold as usize).position(|row| row.iter().all(|fine| *fine)).unwrap();
                #[expect(clippy::cast_precision_loss, reason = "far below 2^53")]
                let (counted, spent) = (begins as f64, log.tokens[begins] as f64 / 1e4);
                rounds.values.push(counted);
                tokens.values.push(spent);
            }
        }
        for (start, (rounds, tokens)) in starts.into_iter().zip(seen) {
            let name = |what: &str| format!("{} from {start}: {what} to settle", check.name);
            rounds.about(exact.0[start], &name("rounds"));
            tokens.about(exact.1[start] / 1e4, &name("tokens"));
        }
    }
}

/// C7: how often a reading of lognormal turns of one session leaves the band, drawn, against the closed form of Fenton and
/// Wilkinson, which the control study found exact to .02.
#[test]
fn readings_of_lognormal_turns_leave_the_band_as_the_closed_form_says() {
    let mut farthest: f64 = 0.0;
    for turns in [5.0, 20.0, 60.0] {
        for (cv, tau) in [0.6, 1.0, 1.5].iter().flat_map(|cv| [0.0, 0.2, 0.5].map(|tau| (*cv, tau))) {
            let mut spec = AgentSpec::new(vec![RungModel::new(Size::lognormal(20_000.0, cv).unwrap())]);
            spec.turns = TurnCount { mean: turns, cv: 0.0, ..TurnCount::default() };
            spec.session.tau = tau;
            let model = AgentModel::new(spec).unwrap();
            let rounds = 12_000;
            let mut luck = model.luck(11, 0, rounds);
            let (mut below, mut above, mut draw) = (0, 0, RoundDraw::default());
            for round in 0..rounds {
                luck.realise(0, round, &mut draw);
                let mean: f64 = draw.tokens.iter().map(|tokens| f64::from(*tokens)).sum::<f64>() / turns;
                let over = mean / libm::exp(luck.ln_mean(0, round));
                below += u32::from(over < 0.85);
                above += u32::from(over > 1.15);
            }
            let told = lognormal_tails(0.0, 0.15, reading_variance(cv, turns, tau));
            for (drawn, told) in [(below, told.0), (above, told.1)] {
                let drawn = f64::from(drawn) / f64::from(rounds);
                let luck = (drawn * (1.0 - drawn) / f64::from(rounds)).sqrt();
                let off = (drawn - told).abs();
                assert!(off < 0.02 + 4.0 * luck, "{turns} turns, cv {cv}, tau {tau}: {drawn} for {told}");
                farthest = farthest.max(off);
            }
        }
    }
    assert!(farthest > 0.005, "an approximation that is exact is none: {farthest}");
}
