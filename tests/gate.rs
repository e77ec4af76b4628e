//! The gate catches mistakes in laws on luck that its baseline never saw, and lets unchanged laws through.
//!
//! Each mistake is a law of this file's own, wrapped about a sound one: none of them is in the product.
#![cfg(feature = "lab")]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]
#![expect(clippy::wildcard_enum_match_arm, reason = "a mistake leaves alone all that it does not name")]

use flyball::engine::{AnyLaw, Band, Decision, Law, LawKind, Memory, Ratio, Reading, Rung, Sums, Target, Tokens, Why};
use flyball::lab::gate::{Kind, Rows, Suite, compare, run};
use flyball::lab::grid::Cell;
use flyball::lab::scenario::Scenario;

#[path = "gate/slips.rs"]
mod slips;

/// Names the mistakes, and lists them.
macro_rules! mistakes {
    ($($name:ident),* $(,)?) => {
        /// What can go wrong when a law is written or changed.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        enum Mistake {
            $($name),*
        }
        use Mistake::{$($name),*};
        const MISTAKES: &[Mistake] = &[$($name),*];
    };
}

mistakes! {
    LowEdgeOutside,
    HighEdgeOutside,
    NoSlackBelow,
    NoSlackAbove,
    SlackDoubled,
    SlackHalved,
    TargetTenthHigh,
    TargetTenthLow,
    SignFlipped,
    SignFlippedBelow,
    SignFlippedAbove,
    ZeroMeanMoves,
    NoTurnsMove,
    NoTurnsSoften,
    TwoRungs,
    NeverHardest,
    NeverSoftest,
    WrapsAtHardest,
    WrapsAtSoftest,
    JumpsToHardest,
    JumpsToSoftest,
    MemoryOther,
    OneTurnLess,
    OneTurnMore,
    RoundOnly,
    WholeLife,
    MeanRoundedDown,
    MeanRoundedUp,
    HoldsAfterMove,
    EverySecondRound,
    FewTurnsIgnored,
    StopsAfterFifty,
    RoundLate,
    DriftsHome,
    OnlyHarder,
    OnlySofter,
}

/// A law with a mistake in it.
struct Wrong {
    law: AnyLaw,
    slack: Ratio,
    mistake: Mistake,
    rounds: u64,
    moved: bool,
    before: Option<Decision>,
    turns: u64,
}

impl Wrong {
    /// The band with other numbers than it was given.
    fn band(&self, reading: &Reading<'_>) -> Band {
        let (juice, slack) = (reading.band.target().micros(), self.slack.ppm());
        let of = |juice: u64, slack: u32| Band::new(Target::from_micros(juice), Ratio::from_ppm(slack)).unwrap();
        let edges = |low: (u32, bool), high: (u32, bool)| {
            let edge = |by: i64, (slack, inside): (u32, bool)| {
                let share = u128::from((1_000_000 + by * i64::from(slack)).unsigned_abs());
                flyball::engine::Edge::new(u128::from(juice) * share, 1_000_000_000_000, inside).unwrap()
            };
            Band::with_edges(Target::from_micros(juice), edge(-1, low), edge(1, high)).unwrap()
        };
        match self.mistake {
            LowEdgeOutside => edges((slack, false), (slack, true)),
            HighEdgeOutside => edges((slack, true), (slack, false)),
            NoSlackBelow => edges((0, true), (slack, true)),
            NoSlackAbove => edges((slack, true), (0, true)),
            SlackDoubled => of(juice, (slack * 2).max(100_000)),
            SlackHalved => of(juice, if slack == 0 { 50_000 } else { slack / 2 }),
            TargetTenthHigh => of(juice + juice / 10, slack),
            TargetTenthLow => of(juice - juice / 10, slack),
            _ => *reading.band,
        }
    }

    /// The window with other sums than it has.
    fn window(&self, reading: &Reading<'_>) -> Sums {
        let Sums { turns, output } = reading.window;
        let whole = |mean: u64| Sums { turns, output: Tokens::new(mean * turns) };
        match self.mistake {
            OneTurnLess if turns > 1 => Sums { turns: turns - 1, output },
            OneTurnMore if turns > 0 => Sums { turns: turns + 1, output },
            RoundOnly => Sums { turns: reading.round.turns, output: reading.round.output },
            WholeLife => Sums { turns: self.turns, output: if self.turns > 0 { reading.spent } else { output } },
            MeanRoundedDown if turns > 0 => whole(output.count() / turns),
            MeanRoundedUp if turns > 0 => whole(output.count().div_ceil(turns)),
            FewTurnsIgnored if turns < 3 => Sums::default(),
            _ => reading.window,
        }
    }

    fn spoil(&mut self, sound: Decision, reading: &Reading<'_>) -> Decision {
        let (here, last) = (reading.rung.index(), reading.rungs.count() - 1);
        let rung = |at: usize| reading.rungs.rung(at.min(last)).unwrap_or_default();
        let to = reading.rungs.clamp(sound.to).index();
        let go = |at: usize| Decision { to: rung(at), ..sound };
        let flipped = || go((2 * here).saturating_sub(to));
        let (harder, softer) = (to < here, to > here);
        let pinned = to == here && sound.why.asks_to_move();
        match self.mistake {
            SignFlipped => flipped(),
            SignFlippedBelow if harder => flipped(),
            SignFlippedAbove if softer => flipped(),
            ZeroMeanMoves if sound.why == Why::ZeroMean => go(here.saturating_sub(1)),
            NoTurnsMove if sound.why == Why::NoTurns => go(here.saturating_sub(1)),
            NoTurnsSoften if sound.why == Why::NoTurns => go(here + 1),
            TwoRungs if harder => go(to.saturating_sub(1)),
            TwoRungs if softer => go(to + 1),
            NeverHardest if to == 0 => go(here.min(1)),
            NeverSoftest if to == last => go(here),
            WrapsAtHardest if here == 0 && pinned => go(last),
            WrapsAtSoftest if here == last && pinned => go(0),
            JumpsToHardest if harder => go(0),
            JumpsToSoftest if softer => go(last),
            HoldsAfterMove if self.moved => go(here),
            EverySecondRound if self.rounds.is_multiple_of(2) => go(here),
            StopsAfterFifty if self.rounds > 50 => go(here),
            RoundLate => {
                self.before.map_or_else(|| go(here), |before| Decision { to: reading.rungs.clamp(before.to), ..before })
            }
            DriftsHome if to == here => {
                go(if here > last / 2 { here - 1 } else { here + usize::from(here < last / 2) })
            }
            OnlyHarder if softer => go(here),
            OnlySofter if harder => go(here),
            _ => sound,
        }
    }
}

impl Law for Wrong {
    fn name(&self) -> &'static str {
        self.law.name()
    }
    fn decide(&mut self, reading: &Reading<'_>) -> Decision {
        self.rounds += 1;
        self.turns += reading.round.turns;
        let (band, window) = (self.band(reading), self.window(reading));
        let sound = self.law.decide(&Reading { band: &band, window, ..*reading });
        let spoilt = self.spoil(sound, reading);
        self.before = Some(sound);
        self.moved = spoilt.to != reading.rung;
        spoilt
    }
    fn memory(&self) -> Memory {
        match (self.mistake, self.law.memory()) {
            (MemoryOther, Memory::Sliding) => Memory::SinceMove,
            (MemoryOther, Memory::SinceMove) => Memory::Sliding,
            (_, memory) => memory,
        }
    }
    fn reads_logs(&self) -> bool {
        self.law.reads_logs()
    }
}

fn scenarios(names: &[&str]) -> Vec<Scenario> {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios");
    names.iter().map(|name| Scenario::read(&folder.join(format!("{name}.toml"))).unwrap()).collect()
}

/// A small suite, so that many can be run.
fn small(laws: &str) -> Suite {
    let text = format!(
        "format = 1\nscenarios = [\"of this test\"]\nlaws = [{laws}]\nruns = 12\nrounds = 80\nseed = 1\n\
         settings = [{{ over = \"300s\", slack = 0.15 }}, {{ over = \"1h\", slack = 0.3 }}]\n"
    );
    Suite::load(&text, "suite.toml").unwrap()
}

fn sound(cell: &Cell) -> Box<dyn Law> {
    Box::new(cell.law.build())
}

fn wrong(cell: &Cell, mistake: Mistake) -> Box<dyn Law> {
    let (law, slack) = (cell.law.build(), cell.slack);
    Box::new(Wrong { law, slack, mistake, rounds: 0, moved: false, before: None, turns: 0 })
}

/// A mistake that cannot show in a law: one that is about the window's own memory is none in a law that has the other.
#[test]
fn every_planted_mistake_is_caught_on_other_seeds() {
    let all = scenarios(&["s02-typical", "s06-short-rounds", "s12-unreachable", "s14-flaky"]);
    let mut by_luck_alone = 0;
    for (law, name) in [(LawKind::Reference, "\"reference\""), (LawKind::Reset, "\"reset\"")] {
        let suite = small(name);
        let baseline = run(&suite, &all, suite.seed, &sound).unwrap();
        for (seed, mistake) in (1000..).zip(MISTAKES.iter().copied()) {
            let now = run(&suite, &all, seed, &|cell| wrong(cell, mistake)).unwrap();
            let verdict = compare(&baseline, &now);
            assert!(!verdict.same_luck && verdict.seed == seed);
            assert!(!verdict.findings.is_empty(), "{law}: {mistake:?} went through");
            by_luck_alone += usize::from(verdict.findings.iter().any(|finding| finding.kind == Kind::Mean));
        }
        let unchanged = compare(&baseline, &run(&suite, &all, 999, &sound).unwrap());
        assert!(unchanged.findings.is_empty(), "{:?}", unchanged.findings);
    }
    assert!(by_luck_alone >= MISTAKES.len(), "{by_luck_alone}: the noisy rows see next to nothing");
}

/// On the baseline's own luck every mistake shows in the integers of runs, or in a path; the row, the size and the run are told.
#[test]
fn on_its_own_seed_the_gate_is_exact() {
    let all = scenarios(&["s02-typical"]);
    let suite = small("\"reference\", \"reset\"");
    let baseline = run(&suite, &all, suite.seed, &sound).unwrap();
    assert_eq!(compare(&baseline, &run(&suite, &all, suite.seed, &sound).unwrap()).findings, []);
    let verdict = compare(&baseline, &run(&suite, &all, suite.seed, &|cell| wrong(cell, OneTurnLess)).unwrap());
    let row = verdict.findings.iter().find(|finding| finding.key.scenario == "s02-typical").unwrap();
    assert_eq!(row.kind, Kind::Exact);
    for word in ["of 12 runs differ", "right ", "the first is run 0"] {
        assert!(row.what.contains(word), "{}", row.what);
    }
}

#[test]
fn a_baseline_reads_back_and_a_row_that_is_gone_is_told() {
    let all = scenarios(&["s01-quiet"]);
    let mut rows = run(&small("\"reset\", \"fixed\""), &all, 1, &sound).unwrap();
    let mut bytes = Vec::new();
    flyball::lab::gate::write(&rows, &mut bytes).unwrap();
    let back: Rows = flyball::lab::gate::read(std::str::from_utf8(&bytes).unwrap()).unwrap();
    assert_eq!(back, rows);
    // neither window nor slack means anything to a law that never moves
    let fixed: Vec<_> = rows.rows.iter().filter(|row| row.key.law == LawKind::Fixed).collect();
    assert!(!fixed.is_empty() && fixed.iter().all(|row| row.key.over.is_none() && row.key.slack.is_none()));
    let gone = rows.rows.remove(0);
    for (before, now) in [(&back, &rows), (&rows, &back)] {
        let verdict = compare(before, now);
        assert_eq!((verdict.findings.len(), verdict.findings[0].kind), (1, Kind::Missing));
        assert_eq!(verdict.findings[0].key, gone.key);
    }
    for text in [
        "",
        "{}",
        "{\"gate\":2,\"seed\":1,\"runs\":1,\"rounds\":1}",
        "{\"gate\":1,\"seed\":1,\"runs\":1,\"rounds\":1}\n{}",
    ] {
        assert!(flyball::lab::gate::read(text).is_err(), "{text:?}");
    }
}

/// The whole suite, unchanged, on a hundred other seeds.
#[test]
#[ignore = "slow: a hundred runs of the whole suite"]
fn unchanged_laws_pass_on_a_hundred_other_seeds() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("gate");
    let suite = Suite::load(&std::fs::read_to_string(folder.join("suite.toml")).unwrap(), "suite.toml").unwrap();
    let all: Vec<Scenario> = suite.scenarios.iter().map(|path| Scenario::read(&folder.join(path)).unwrap()).collect();
    let baseline = run(&suite, &all, suite.seed, &sound).unwrap();
    let alarms: Vec<u64> = (2..102)
        .filter(|&seed| {
            let findings = compare(&baseline, &run(&suite, &all, seed, &sound).unwrap()).findings;
            !findings.is_empty()
        })
        .collect();
    assert!(alarms.len() <= 1, "false alarms on seeds {alarms:?}");
}

/// A rung for the harder of two is the smaller place, which the spoiling above rests on.
#[test]
fn harder_is_the_smaller_place() {
    assert_eq!(Rung::default().softer().index(), 1);
}
