//! The gate catches mistakes inside the laws that estimate: each law is written a second time ([`second`]), once soundly and once
//! with each mistake, and put through the gate in the product's place.

use flyball::engine::laws::Tuning;
use flyball::engine::{Law, LawKind};
use flyball::lab::gate::{Kind, Suite, compare, run};
use flyball::lab::grid::Cell;
use flyball::lab::scenario::Scenario;

use super::scenarios;

#[path = "second/mod.rs"]
mod second;

use second::{SLIPS, Second, Slip, Subject};

/// The usual scenario with its text changed.
fn changed(name: &str, change: impl FnOnce(String) -> String) -> Scenario {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios/s02-typical.toml");
    let text = std::fs::read_to_string(path).unwrap().replace("s02-typical", name);
    Scenario::load(&change(text), &format!("{name}.toml")).unwrap()
}

/// A ladder upside down.
fn upside_down() -> Scenario {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("gate/ladders/upside-down.toml");
    Scenario::read(&path).unwrap()
}

/// The load comes to four times what it was, and back, and again.
fn jumps() -> Scenario {
    let steps =
        [(30, "4.0"), (60, "0.25"), (90, "4.0")].map(|(at, level)| format!("{{ round = {at}, level = {level} }}"));
    changed("jumps", |text| format!("{text}\n[drift]\nsteps = [{}]\n", steps.join(", ")))
}

/// Worlds in which each part of the law has something to do.
fn worlds(subject: Subject) -> Vec<Scenario> {
    let (names, own): (&[&str], Vec<Scenario>) = match subject {
        Subject::Confirm => (&["s02-typical", "s06-short-rounds", "s14-flaky"], vec![]),
        Subject::Integral => (&["s02-typical", "s12-unreachable"], vec![]),
        Subject::Cusum => (&["s02-typical", "s10-load-step"], vec![]),
        Subject::Evidence => (&["s02-typical", "s09-session-effects", "s10-load-step"], vec![]),
        Subject::Stride => (&["s04-coarse-mid-gap", "s11-ramp", "s18a-lump-fed-typical"], vec![upside_down(), jumps()]),
        Subject::Stride3 => (&["s02-typical", "s04-coarse-mid-gap", "s10-load-step", "s11-ramp"], vec![jumps()]),
        Subject::Model => (&["s02-typical", "s04-coarse-mid-gap", "s10-load-step", "s11-ramp"], vec![]),
        Subject::Hybrid => (&["s02-typical", "s04-coarse-mid-gap"], vec![]),
        Subject::Dither => (&["s03-mid-gap", "s04-coarse-mid-gap"], vec![]),
    };
    scenarios(names).into_iter().chain(own).collect()
}

/// A window and a slack, where the law has use for them: at `confirm` a short window, over which a row is soon broken.
fn suite(subject: Subject) -> Suite {
    let over = if subject == Subject::Confirm { "120s" } else { "1h" };
    // what is only seen in means needs more of them
    let runs = match subject {
        Subject::Confirm => 48,
        Subject::Stride | Subject::Stride3 => 24,
        Subject::Integral | Subject::Cusum | Subject::Evidence => 12,
        Subject::Model | Subject::Hybrid | Subject::Dither => 12,
    };
    Suite::load(
        &format!(
            "format = 1\nscenarios = [\"of this test\"]\nlaws = [\"{}\"]\nruns = {runs}\nrounds = 120\nseed = 1\n\
         settings = [{{ over = \"{over}\", slack = 0.15 }}]\n",
            subject.law()
        ),
        "suite.toml",
    )
    .unwrap()
}

/// The product's own law.
fn sound(subject: Subject, cell: &Cell) -> Box<dyn Law> {
    let mut tuning = Tuning::USUAL;
    if subject == Subject::Dither {
        tuning.set(LawKind::Stride, "dither", 1_000_000).unwrap();
    }
    Box::new(cell.law.set(&tuning))
}

#[test]
fn a_law_written_a_second_time_decides_as_the_first() {
    for subject in Subject::ALL {
        let (suite, worlds) = (suite(subject), worlds(subject));
        for seed in [1, 2] {
            let first = run(&suite, &worlds, seed, &|cell| sound(subject, cell)).unwrap();
            let second = run(&suite, &worlds, seed, &|_| Box::new(Second::new(subject, None))).unwrap();
            let findings = compare(&first, &second).findings;
            assert!(findings.is_empty(), "{subject:?}: {findings:#?}");
        }
    }
}

/// Each with a seed of its own, none of them the baseline's.
#[test]
fn every_mistake_in_a_law_that_estimates_is_caught_on_other_seeds() {
    let (mut by_luck_alone, mut through) = (0, Vec::new());
    for subject in Subject::ALL {
        let (suite, worlds) = (suite(subject), worlds(subject));
        let baseline = run(&suite, &worlds, suite.seed, &|cell| sound(subject, cell)).unwrap();
        let mut planted = 0;
        for (seed, (_, slip)) in (2000..).zip(SLIPS.iter().filter(|(of, _)| *of == subject)) {
            let now = run(&suite, &worlds, seed, &|_| Box::new(Second::new(subject, Some(*slip)))).unwrap();
            let verdict = compare(&baseline, &now);
            assert!(!verdict.same_luck && verdict.seed == seed);
            if verdict.findings.is_empty() {
                through.push((subject, *slip));
            }
            let told = verdict.findings.iter().any(|finding| finding.kind == Kind::Mean);
            by_luck_alone += usize::from(told);
            planted += 1;
        }
        assert!(planted >= 3, "{subject:?}");
    }
    assert!(through.is_empty(), "not caught: {through:?}");
    assert!(2 * by_luck_alone > SLIPS.len(), "{by_luck_alone}: the noisy rows see next to nothing");
}

/// The suite that is committed, with one law.
fn shipped(law: LawKind) -> (Suite, Vec<Scenario>) {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("gate");
    let text = std::fs::read_to_string(folder.join("suite.toml")).unwrap();
    let suite = Suite { laws: vec![law], ..Suite::load(&text, "suite.toml").unwrap() };
    let scenarios = suite.scenarios.iter().map(|path| Scenario::read(&folder.join(path)).unwrap()).collect();
    (suite, scenarios)
}

/// All but one: a rate that is forgotten costs less than the luck of so few runs, and is seen on the baseline's own luck alone, where every
/// run must be the same. `dither` is off in all its scenarios, so that mistakes in it have no row there.
#[test]
fn the_committed_suite_catches_them_too() {
    let mut through = Vec::new();
    for subject in Subject::ALL.into_iter().filter(|subject| *subject != Subject::Dither) {
        let (suite, worlds) = shipped(subject.law());
        let baseline = run(&suite, &worlds, suite.seed, &|cell| sound(subject, cell)).unwrap();
        for (seed, (_, slip)) in (3000..).zip(SLIPS.iter().filter(|(of, _)| *of == subject)) {
            let now = run(&suite, &worlds, seed, &|_| Box::new(Second::new(subject, Some(*slip)))).unwrap();
            if compare(&baseline, &now).findings.is_empty() {
                through.push((subject, *slip));
            }
        }
    }
    assert_eq!(through, [(Subject::Stride3, Slip::RateForgotten)]);
    let (suite, worlds) = shipped(LawKind::Stride3);
    let of = |slip| run(&suite, &worlds, suite.seed, &|_| Box::new(Second::new(Subject::Stride3, slip))).unwrap();
    assert!(!compare(&of(None), &of(Some(Slip::RateForgotten))).findings.is_empty());
}
