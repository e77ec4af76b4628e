//! Scenario files, good and bad.

use std::fmt::Write as _;
use std::path::Path;

use proptest::prelude::*;

use super::*;
use crate::engine::laws::{LawKind, Tuning};
use crate::engine::{Millis, Ratio, Target, Tokens};
use crate::lab::grid::Axes;
use crate::sim::{Accounting, Component, Correction, Moves, Outliers, Size, Span, Step};

/// A file that says everything that can be said.
const FULL: &str = r#"format = 1
name = "full"
about = "Everything at once."

[governor]
law = "reset"
juice = 1618.8
over = "5m"
slack = 0.3
rest = "1500ms"
budget = 0.5

[plan]
start = "high"
rounds = 120
runs = 40
seed = 18446744073709551615

[sweep]
law = ["reference", "fixed"]
juice = [2048, "1000:2000:500"]
over = [60, "300s"]
slack = [0.15, "0.2:0.4:0.1"]
rest = ["5s"]

[evaluate]
band = 0.1
hold = 5

[[rung]]
effort = "max"
size = { dist = "mixture", effort_moves = "wide", narrow = { weight = 0.42, mu = 5.16, sigma = 0.46 }, wide = { weight = 0.58, mu = 6.14, sigma = 1.30 } }
assumed = "effort-worth"
shift = [-0.15, 0.25]

[[rung]]
effort = "high"
size = { dist = "lognormal", mean = 1000.5, cv = 0.9 }
turns_factor = 1.5
seconds_factor = 0.5
measured = { sessions = 8, calls = 1009, ks_mixture = 0.025, ks_lognormal = 0.085 }

[[rung]]
effort = "low"
size = { dist = "empirical", quantiles = [0, 100, 100, 900.5] }
measured = { sessions = 1, calls = 2 }

[[rung]]
effort = "off"
size = { dist = "lognormal", mean = 30, cv = 0 }

[prior.effort-worth]
source = "A study of what an effort is worth."

[turn]
rho = 0.25
kind_rho = 0.5
outliers = { share = 0.02, factor = 8 }

[session]
tau = 0.2
rho = -0.5
trend = 1.0

[turns]
mean = 20
cv = 0.5
min = 2
max = 90

[time]
overhead = { mean = 6.0, cv = 0.5 }
tool = { mean = 8.0, cv = 1.5 }
tokens_per_second = 70

[drift]
steps = [{ round = 60, level = 1.6 }, { round = 130, level = 0.625 }]
ramp_per_100 = -0.5
walk = 0.05

[faults]
empty = 0.25
truncated = 0.125
outages = [[10, 12], [20, 20]]

[accounting]
mode = "partial"
phi = 0.05
correction = "spread"
"#;

fn full() -> Scenario {
    Scenario::load(FULL, "full.toml").unwrap()
}

fn fault(text: &str) -> String {
    Scenario::load(text, "bad.toml").unwrap_err().to_string()
}

/// The fault that the full file has once `old` is replaced: one line, told at the line that holds `anchor`.
fn the_fault(old: &str, new: &str, anchor: &str) -> String {
    let text = FULL.replacen(old, new, 1);
    assert_ne!(text, FULL, "{old:?} is not there");
    let error = fault(&text);
    assert_eq!(error.lines().count(), 1, "{old:?} -> {new:?}: {error}");
    let (line, rest) = error.strip_prefix("bad.toml:").unwrap().split_once(": ").unwrap();
    let told = text.lines().nth(line.parse::<usize>().unwrap() - 1).unwrap();
    assert!(told.contains(anchor), "{error}\nis told at {told:?}");
    rest.to_owned()
}

#[test]
fn the_head_of_a_full_file_arrives() {
    let s = full();
    assert_eq!((s.name.as_str(), s.about.as_str()), ("full", "Everything at once."));
    let governor = GovernorSettings {
        law: LawKind::Reset,
        juice: Target::from_micros(1_618_800_000),
        over: Millis::from_secs(300),
        slack: Ratio::from_ppm(300_000),
        rest: Millis::new(1500),
        budget: Some(Tokens::new(500_000)),
        tuning: Tuning::USUAL,
    };
    assert_eq!(s.governor, governor);
    assert_eq!((s.plan.start.index(), s.plan.rounds, s.plan.runs, s.plan.seed), (1, 120, 40, u64::MAX));
    let sweep = Axes {
        law: Some(vec![LawKind::Reference, LawKind::Fixed]),
        juice: Some([2048, 1000, 1500, 2000].map(Target::from_tokens).to_vec()),
        over: Some([60, 300].map(Millis::from_secs).to_vec()),
        slack: Some([150_000, 200_000, 300_000, 400_000].map(Ratio::from_ppm).to_vec()),
        rest: Some(vec![Millis::from_secs(5)]),
    };
    assert_eq!(s.sweep, sweep);
    assert_eq!(s.evaluate, Evaluate { band: Ratio::from_ppm(100_000), hold: 5 });
    assert_eq!(s.grid(Axes::default()).unwrap().len(), 2 * 4 * 2 * 4);
    let flags = Axes { law: Some(vec![LawKind::Reset]), juice: Some(vec![Target::from_tokens(7)]), ..Axes::default() };
    assert_eq!(s.grid(flags).unwrap().len(), 2 * 4);
}

#[test]
fn the_agent_of_a_full_file_arrives() {
    let s = full();
    let words: Vec<&str> = s.ladder.efforts().iter().map(|effort| effort.word()).collect();
    assert_eq!(words, ["max", "high", "low", "off"]);
    let spec = s.agent.spec();
    let narrow = Component { weight: 0.42, mu: 5.16, sigma: 0.46 };
    let wide = Component { weight: 0.58, mu: 6.14, sigma: 1.30 };
    let sizes = [
        Size::mixture(narrow, wide, Moves::Wide),
        Size::lognormal(1000.5, 0.9),
        Size::empirical(vec![0.0, 100.0, 100.0, 900.5]),
        Size::lognormal(30.0, 0.0),
    ];
    for (rung, size) in spec.rungs.iter().zip(sizes) {
        assert_eq!(rung.size, size.unwrap());
    }
    let factors: Vec<_> = spec.rungs.iter().map(|rung| (rung.turns_factor, rung.seconds_factor, rung.shift)).collect();
    assert_eq!(factors, [(1.0, 1.0, Some((-0.15, 0.25))), (1.5, 0.5, None), (1.0, 1.0, None), (1.0, 1.0, None)]);
    assert_eq!(
        (spec.turn.rho, spec.turn.kind_rho, spec.turn.outliers),
        (0.25, 0.5, Some(Outliers { share: 0.02, factor: 8.0 }))
    );
    assert_eq!((spec.session.tau, spec.session.rho, spec.session.trend), (0.2, -0.5, 1.0));
    assert_eq!((spec.turns.mean, spec.turns.cv, spec.turns.min, spec.turns.max), (20.0, 0.5, 2, Some(90)));
    assert_eq!(spec.time.overhead, Span { mean: 6.0, cv: 0.5 });
    assert_eq!((spec.time.tool, spec.time.tokens_per_second), (Span { mean: 8.0, cv: 1.5 }, 70.0));
    assert_eq!(spec.drift.steps, [Step { round: 60, level: 1.6 }, Step { round: 130, level: 0.625 }]);
    assert_eq!((spec.drift.ramp_per_100, spec.drift.walk), (-0.5, 0.05));
    assert_eq!((spec.faults.empty, spec.faults.truncated), (0.25, 0.125));
    assert_eq!(spec.faults.outages, [10..=12, 20..=20]);
    assert_eq!(spec.accounting, Accounting::Partial { phi: Ratio::from_ppm(50_000), correction: Correction::Spread });
}

#[test]
fn the_evidence_of_a_full_file_arrives() {
    let s = full();
    let measured =
        |sessions, calls, ks_mixture, ks_lognormal| Evidence::Measured { sessions, calls, ks_mixture, ks_lognormal };
    let expected = [
        Evidence::Assumed { prior: "effort-worth".to_owned(), shift: (-0.15, 0.25) },
        measured(8, 1009, Some(0.025), Some(0.085)),
        measured(1, 2, None, None),
        Evidence::Stated,
    ];
    assert_eq!(s.evidence, expected);
    assert!(s.has_assumed_rungs());
    assert_eq!(s.priors["effort-worth"], "A study of what an effort is worth.");
}

/// What stands, what is put there, what the message must hold.
const BAD: &[(&str, &str, &str)] = &[
    ("mean = 1000.5", "mean = -1000.5", "rung[1].size.mean: it must be above 0 and at most 1000000000, and is -1000.5"),
    ("mean = 1000.5", "mean = nan", "rung[1].size.mean: it must be a finite number, and is nan"),
    ("mean = 1000.5", "mean = inf", "rung[1].size.mean: it must be a finite number, and is inf"),
    ("mean = 1000.5", "mean = 1e999", "rung[1].size.mean: it must be a finite number, and is 1e999"),
    ("mean = 1000.5", "mean = \"big\"", "rung[1].size.mean: it must be a number, and is the text \"big\""),
    ("mean = 1000.5", "mean = 0x10", "rung[1].size.mean: it must be a number"),
    ("mean = 1000.5, cv", "meen = 1, mean = 1000.5, cv", "rung[1].size.meen: unknown key; did you mean `mean`?"),
    ("\"lognormal\", mean = 1000.5", "\"lognorm\", mean = 1000.5", "did you mean \"lognormal\"?"),
    ("mean = 1000.5", "quantiles = [1, 2], mean = 5", "rung[1].size.quantiles: it does not belong to this `dist`"),
    ("wide = { weight = 0.58", "wide = { weight = 0.48", "rung[0].size: the weights sum to 0.8"),
    ("[0, 100, 100, 900.5]", "[0, 100, 99, 900.5]", "rung[2].size.quantiles[2]: it is less than the one before it"),
    ("[0, 100, 100, 900.5]", "[1]", "rung[2].size.quantiles: it must have from 2 to"),
    ("[0, 100, 100, 900.5]", "[0, 0]", "rung[2].size.quantiles"),
    ("effort = \"low\"", "effort = \"max\"", "rung[2].effort: the rung \"max\" stands twice"),
    ("effort = \"low\"", "effort = \" \"", "rung[2].effort: it must not be empty"),
    ("effort = \"low\"", "effort = 3", "rung[2].effort: it must be a text in quotes, and is the number 3"),
    (
        "start = \"high\"",
        "start = \"hihg\"",
        "plan.start: \"hihg\" is no effort of this ladder; did you mean \"high\"?",
    ),
    ("rounds = 120", "rounds = 0", "plan.rounds: it must be from 1 to 100000, and is 0"),
    ("rounds = 120", "rounds = 1.5", "plan.rounds: it must be a whole number, and is the number 1.5"),
    ("rounds = 120", "roundss = 120 \nrounds = 1", "plan.roundss: unknown key; did you mean `rounds`?"),
    ("seed = 18446744073709551615", "seed = -1", "plan.seed"),
    ("seed = 18446744073709551615", "seed = 18446744073709551616", "plan.seed"),
    ("law = \"reset\"", "law = \"resett\"", "governor.law: \"resett\": no such law; did you mean `reset`?"),
    ("juice = 1618.8", "juice = 0", "governor.juice: \"0\": it must be above 0"),
    ("juice = 1618.8", "juice = nan", "governor.juice: \"nan\": it must be a finite number"),
    ("juice = 1618.8", "juice = 1.2345678", "governor.juice: \"1.2345678\": it has more than six decimals"),
    ("juice = 1618.8", "juice = true", "governor.juice: it must be a decimal number or a text in quotes"),
    ("over = \"5m\"", "over = \"5x\"", "governor.over: \"5x\": it is no duration"),
    ("over = \"5m\"", "over = inf", "governor.over: \"inf\": it is no duration"),
    ("over = \"5m\"", "over = 0", "governor.over: \"0\": it must be above 0"),
    ("slack = 0.3", "slack = 1.5", "governor.slack: \"1.5\": it must lie between 0 and 1"),
    ("budget = 0.5", "budget = -1", "governor.budget: \"-1\": it must not be below 0"),
    ("over = [60, \"300s\"]", "over = []", "sweep.over: the list is empty"),
    ("over = [60, \"300s\"]", "over = 60", "sweep.over: it must be a list"),
    ("\"0.2:0.4:0.1\"", "\"0.4:0.2:0.1\"", "sweep.slack[1]: \"0.4:0.2:0.1\": the range runs backwards"),
    ("[\"reference\", \"fixed\"]", "[\"fixd\"]", "sweep.law[0]: \"fixd\": no such law; did you mean `fixed`?"),
    ("hold = 5", "hold = 0", "evaluate.hold"),
    ("band = 0.1", "bnad = 0.1", "evaluate.bnad: unknown key; did you mean `band`?"),
    (
        "assumed = \"effort-worth\"",
        "assumed = \"effort-wroth\"",
        "rung[0].assumed: there is no table [prior.effort-wroth]; did you mean \"effort-worth\"?",
    ),
    ("shift = [-0.15, 0.25]", "shift = [0.25, -0.15]", "rung[0].shift: its first number must not be above"),
    ("shift = [-0.15, 0.25]", "shift = [0.25]", "rung[0].shift: it must be two numbers"),
    ("shift = [-0.15, 0.25]", "shift = [nan, 0.25]", "rung[0].shift[0]: it must be a finite number"),
    ("{ sessions = 1, calls = 2 }", "{ sessions = 0, calls = 2 }", "rung[2].measured.sessions"),
    ("share = 0.02", "share = 1.02", "turn.outliers.share: it must be at least 0 and at most 1, and is 1.02"),
    ("rho = -0.5", "rho = -1", "session.rho"),
    ("kind_rho = 0.5", "kind_rho = 1", "turn.kind_rho"),
    ("tau = 0.2", "tua = 0.2", "session.tua: unknown key; did you mean `tau`?"),
    ("tokens_per_second = 70", "tokens_per_second = 0", "time.tokens_per_second"),
    ("round = 130", "round = 60", "drift.steps[1]: its round is not after"),
    ("level = 0.625", "level = -1", "drift.steps[1].level"),
    ("[20, 20]", "[12, 20]", "faults.outages[1]: it begins before"),
    ("[20, 20]", "[20, 19]", "faults.outages[1]: its first round is after its last"),
    ("empty = 0.25", "empty = 25", "faults.empty"),
    ("mode = \"partial\"", "mode = \"Partial\"", "did you mean \"partial\"?"),
    ("format = 1", "format = 2", "format: this version of the format is not known here"),
    ("name = \"full\"", "name = \"\"", "name: it must not be empty"),
    ("[accounting]", "[acounting]", "acounting: unknown key; did you mean `accounting`?"),
];

#[test]
fn every_bad_value_names_its_line_and_key() {
    for &(old, new, expected) in BAD {
        let error = the_fault(old, new, new.lines().next().unwrap());
        assert!(error.contains(expected), "{old:?} -> {new:?}: {error}");
    }
}

#[test]
fn what_is_missing_is_told_at_its_table() {
    // What is taken away or changed, what for, where it is told, and how.
    let cases = [
        ("mean = 1000.5, ", "", "cv = 0.9", "rung[1].size.mean: it is missing"),
        ("effort = \"low\"\n", "", "[[rung]]", "rung[2].effort: it is missing"),
        ("phi = 0.05\n", "", "[accounting]", "accounting.phi: it is missing"),
        ("assumed = \"effort-worth\"\n", "", "shift = ", "rung[0].shift: it goes with `assumed` alone"),
        ("shift = [-0.15, 0.25]\n", "", "assumed = ", "rung[0].assumed: `shift` is missing"),
        ("source = \"A study of what an effort is worth.\"\n", "", "[prior.effort-worth]", "prior.effort-worth.source"),
        ("max = 90", "max = 1", "[turns]", "turns.min: it is 2, above the most turns of a round, 1"),
        ("mode = \"partial\"", "mode = \"final\"", "phi = ", "accounting.phi: it goes with mode"),
        ("\"lognormal\", mean = 30, cv = 0 ", "\"gamma\", mean = 30, cv = 1 ", "rho = 0.25", "turn.rho"),
        (
            "\"mixture\", effort_moves = \"wide\", narrow = { weight = 0.42, mu = 5.16, sigma = 0.46 }, wide = { weight = 0.58, mu = 6.14, sigma = 1.30 }",
            "\"lognormal\", mean = 300, cv = 1",
            "kind_rho = 0.5",
            "turn.kind_rho: turn.kind_rho needs a rung whose turns are of two kinds",
        ),
        ("format = 1\n", "", "correction", "format: it is missing"),
    ];
    for (old, new, anchor, expected) in cases {
        let text = FULL.replacen(old, new, 1);
        let errors = fault(&text);
        assert!(errors.contains(expected), "{old:?} -> {new:?}: {errors}");
        if !expected.starts_with("accounting.phi: it goes") {
            assert!(the_fault(old, new, anchor).starts_with(expected));
        }
    }
}

#[test]
fn every_fault_is_told_in_the_order_of_lines() {
    let text = FULL.replacen("cv = 0.9", "cv = -1", 1).replacen("hold = 5", "hold = 0", 1).replacen("phi", "fi", 1);
    let error = Scenario::load(&text, "bad.toml").unwrap_err();
    let keys: Vec<&str> = error.problems().iter().map(|problem| problem.key.as_str()).collect();
    assert_eq!(keys, ["evaluate.hold", "rung[1].size.cv", "accounting.phi", "accounting.fi"]);
    let hold = &error.problems()[0];
    assert_eq!(hold.column, 8);
}

#[test]
fn an_empty_ladder_is_refused() {
    let head = &FULL[..FULL.find("[[rung]]").unwrap()];
    let tail = &FULL[FULL.find("[prior.").unwrap()..];
    let none = fault(&format!("{head}{tail}"));
    assert!(none.contains(": rung: the ladder is empty: add a table [[rung]]"), "{none}");
    let empty = fault(&FULL.replacen("about", "rung = []\nabout", 1).replace("[[rung]]", "[[rungs]]"));
    assert!(empty.contains("bad.toml:3: rung: the ladder is empty"), "{empty}");
    let word = fault(&format!("rung = 5\n{head}{tail}"));
    assert!(word.contains("bad.toml:1: rung: it must be a list, and is the number 5"), "{word}");
}

#[test]
fn a_ladder_too_long_is_refused() {
    let mut text = FULL[..FULL.find("[prior.").unwrap()].to_owned();
    for index in 0..61 {
        write!(text, "[[rung]]\neffort = \"e{index}\"\nsize = {{ dist = \"gamma\", mean = 1, cv = 1 }}\n").unwrap();
    }
    text.push_str(&FULL[FULL.find("[prior.").unwrap()..].replace("rho = 0.25", "rho = 0"));
    let error = fault(&text);
    assert!(error.contains("rung[64].effort: 65 rungs"), "{error}");
}

#[test]
fn a_file_cut_anywhere_is_refused_or_whole() {
    // The last digit of the last number that must be there may be lost unseen; nothing before it.
    let needed = FULL.find("[drift]").unwrap();
    for end in 0..FULL.len() {
        match Scenario::load(&FULL[..end], "cut.toml") {
            Ok(_) => assert!(end + 3 >= needed, "cut at byte {end}"),
            Err(error) => {
                let lines = FULL[..end].lines().count().max(1);
                assert!(error.problems().iter().all(|p| (1..=lines).contains(&p.line)), "{end}: {error}");
            }
        }
    }
    let cut = fault(&FULL[..FULL.find("tokens_per_second").unwrap() + 8]);
    let line = FULL[..FULL.find("tokens_per_second").unwrap()].lines().count() + 1;
    assert!(cut.starts_with(&format!("bad.toml:{line}: time.tokens_p: this is no valid TOML")), "{cut}");
    assert!(cut.contains("the file ends here: is it complete?"), "{cut}");
    let without = fault(&FULL[..FULL.find("[time]").unwrap()]);
    assert!(without.contains("time: the file ends without the table [time]: add it"), "{without}");
}

#[test]
fn syntax_is_told_with_its_key() {
    let cases = [
        ("juice = 1618.8", "juice = 16.18.8", "governor.juice: this is no valid TOML"),
        ("juice = 1618.8", "juice 1618.8", "this is no valid TOML"),
        ("hold = 5", "hold = 5\nhold = 6", "evaluate.hold: this is no valid TOML: duplicate key"),
    ];
    for (old, new, expected) in cases {
        let error = the_fault(old, new, new.lines().last().unwrap());
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn a_flood_of_faults_is_cut_off() {
    let mut text = FULL.to_owned();
    for index in 0..100_000 {
        writeln!(text, "stray{index} = 1").unwrap();
    }
    assert_eq!(Scenario::load(&text, "flood.toml").unwrap_err().problems().len(), 50);
}

#[test]
fn a_key_that_is_missing_is_told_with_the_one_that_is_misspelt_and_after_it() {
    let text = FULL.replacen("juice =", "juise =", 1);
    let error = Scenario::load(&text, "full.toml").unwrap_err().to_string();
    let lines: Vec<&str> = error.lines().collect();
    let line = text.lines().position(|line| line.starts_with("juise")).unwrap() + 1;
    let want = [
        format!("full.toml:{line}: governor.juise: unknown key; did you mean `juice`?"),
        format!("full.toml:{line}: governor.juice: it is missing"),
    ];
    assert_eq!(lines, want);
}

#[test]
fn files_that_cannot_be_read_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        Scenario::read(&path).map_err(|error| error.to_string())
    };
    assert!(write("full.toml", FULL.as_bytes()).is_ok());
    let named = write("other.toml", FULL.as_bytes()).unwrap_err();
    assert!(
        named.contains("other.toml:2: name: \"full\" is not the file's name without its ending, \"other\""),
        "{named}"
    );
    assert!(write("bytes.toml", b"format = 1\n\xff").unwrap_err().contains("line 2 has bytes that are not UTF-8"));
    assert!(write("huge.toml", &vec![b'\n'; 1 << 21]).unwrap_err().contains("more than 1048576 bytes"));
    let log = write("log.toml", b"{\"type\":\"session\"}\n").unwrap_err();
    assert!(log.contains("log.toml:1: ") && log.contains("no valid TOML"), "{log}");
    let nowhere = Scenario::read(&folder.path().join("nowhere.toml")).unwrap_err();
    assert!(nowhere.to_string().contains("nowhere.toml: cannot read this scenario"), "{nowhere}");
    assert!(Scenario::read(folder.path()).is_err());
}

/// Rung means from soft to hard, target, start, and what differs from the base: sd of the log session effect, turns, cv.
type Row = (&'static str, Vec<f64>, f64, usize, f64, f64, f64);

fn geometric(soft: f64, ratio: f64, count: i32) -> Vec<f64> {
    (0..count).map(|l| soft * ratio.powi(l)).collect()
}

fn table() -> Vec<Row> {
    let base = || geometric(500.0, 1.6, 6);
    let public = || geometric(140.0, 1.5, 6);
    vec![
        ("s01-quiet", base(), 2048.0, 1, 0.1, 40.0, 0.6),
        ("s02-typical", base(), 2048.0, 1, 0.2, 20.0, 1.0),
        ("s03-mid-gap", base(), (1280.0_f64 * 2048.0).sqrt(), 1, 0.2, 20.0, 1.0),
        ("s04-coarse-mid-gap", geometric(300.0, 2.5, 5), 300.0 * 2.5_f64.sqrt().powi(5), 1, 0.2, 20.0, 1.0),
        ("s05-fine", geometric(700.0, 1.3, 8), 700.0 * 1.3_f64.powi(4), 1, 0.2, 20.0, 1.0),
        ("s06-short-rounds", base(), 2048.0, 1, 0.2, 5.0, 1.0),
        ("s07-long-rounds", base(), 2048.0, 1, 0.2, 60.0, 1.0),
        ("s08-heavy-tails", base(), 2048.0, 1, 0.2, 20.0, 1.5),
        ("s09-session-effects", base(), 2048.0, 1, 0.5, 20.0, 1.0),
        ("s10-load-step", base(), 2048.0, 1, 0.2, 20.0, 1.0),
        ("s11-ramp", base(), 2048.0, 3, 0.2, 20.0, 1.0),
        ("s12-unreachable", base(), 9000.0, 2, 0.2, 20.0, 1.0),
        ("s13-uneven-inverted", vec![400.0, 700.0, 1500.0, 1350.0, 2900.0, 4200.0], 1500.0, 0, 0.2, 20.0, 1.0),
        ("s14-flaky", base(), 2048.0, 1, 0.2, 20.0, 1.0),
        ("s15-trend", base(), 2048.0, 1, 0.2, 40.0, 1.0),
        ("s16-far-start", base(), 500.0 * 1.6_f64.powi(5), 0, 0.1, 40.0, 0.6),
        ("s17-public-log", public(), 472.5, 1, 0.3, 80.0, 1.8),
        ("s18a-lump-fed-typical", base(), 2048.0, 1, 0.2, 20.0, 1.0),
        ("s18b-lump-fed-public-log", public(), 472.5, 1, 0.3, 80.0, 1.8),
    ]
}

fn committed(name: &str) -> Scenario {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios").join(format!("{name}.toml"));
    Scenario::read(&path).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn every_committed_file_loads_under_its_name() {
    let mut names = Vec::new();
    for entry in std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios")).unwrap() {
        let name = entry.unwrap().path().file_stem().unwrap().to_str().unwrap().to_owned();
        let scenario = committed(&name);
        assert_eq!(scenario.name, name);
        scenario.grid(Axes::default()).unwrap();
        names.push(name);
    }
    for row in table() {
        assert!(names.iter().any(|name| name == row.0), "{} is missing", row.0);
    }
}

#[test]
fn the_canonical_scenarios_are_those_of_the_control_study() {
    for (name, means, juice, start, tau, turns, cv) in table() {
        let s = committed(name);
        let spec = s.agent.spec();
        let count = means.len();
        assert_eq!(spec.rungs.len(), count, "{name}");
        for (soft, mean) in means.iter().enumerate() {
            let hard = count - 1 - soft;
            assert_eq!(s.ladder.efforts()[hard].word(), format!("rung-{soft}"), "{name}");
            assert_eq!(spec.rungs[hard].size, Size::lognormal((mean * 1e6).round() / 1e6, cv).unwrap(), "{name}");
        }
        assert!((juice * 1e6 - crate::lab::fixed::ufloat(s.governor.juice.micros())).abs() <= 0.5, "{name}");
        assert_eq!(s.ladder.effort(s.plan.start).word(), format!("rung-{start}"), "{name}");
        assert_eq!((spec.session.tau, spec.turns.mean), (tau, turns), "{name}");
        let short = name == "s06-short-rounds";
        assert_eq!((spec.turns.cv, spec.turns.min), (if short { 0.3 } else { 0.5 }, 2), "{name}");
        assert!((f64::from(spec.turns.most()) - 6.0 * turns).abs() < 0.5, "{name}");
        let seconds = if short {
            (3.0, 3.0, 200.0)
        } else if cv > 1.6 {
            (1.0, 1.2, 150.0)
        } else {
            (6.0, 8.0, 70.0)
        };
        assert_eq!((spec.time.overhead.mean, spec.time.tool.mean, spec.time.tokens_per_second), seconds, "{name}");
        assert_eq!((spec.time.overhead.cv, spec.time.tool.cv), (0.5, 1.5), "{name}");
        assert_eq!((s.plan.rounds, s.governor.rest, s.governor.budget), (200, Millis::from_secs(5), None), "{name}");
        assert_eq!(
            (spec.turn.rho, spec.turn.kind_rho, spec.session.rho, spec.faults.truncated),
            (0.0, 0.0, 0.0, 0.0),
            "{name}"
        );
        special(name, &s);
        let cells: Vec<_> = s.grid(Axes::default()).unwrap().cells().collect();
        for (law, over, slack) in [(LawKind::Reference, 300, 150_000), (LawKind::Reset, 3600, 300_000)] {
            let (over, slack) = (Millis::from_secs(over), Ratio::from_ppm(slack));
            assert!(cells.iter().any(|c| c.law == law && c.over == over && c.slack == slack), "{name}");
        }
    }
}

/// What only single scenarios have, and no other.
fn special(name: &str, s: &Scenario) {
    let spec = s.agent.spec();
    let short = &name[..name.find('-').unwrap()];
    let outliers = (short == "s08").then_some(Outliers { share: 0.02, factor: 8.0 });
    let steps: &[Step] = match short {
        "s10" => &[Step { round: 60, level: 1.6 }, Step { round: 130, level: 0.625 }],
        _ => &[],
    };
    let lump = Accounting::Partial { phi: Ratio::from_ppm(50_000), correction: Correction::AtRoundEnd };
    let accounting = if short.starts_with("s18") { lump } else { Accounting::Final };
    assert_eq!((spec.turn.outliers, spec.drift.steps.as_slice(), spec.accounting), (outliers, steps, accounting));
    let only = |id: &str, value: f64| if short == id { value } else { 0.0 };
    assert_eq!((spec.drift.ramp_per_100, spec.session.trend), (only("s11", 1.0), only("s15", 1.0)), "{name}");
    assert_eq!((spec.faults.empty, spec.faults.outages.len()), (only("s14", 0.25), 0), "{name}");
    assert!(!s.has_assumed_rungs());
}

#[test]
fn derived_numbers_follow_the_formulas() {
    let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-6, "{a} is not {b}");
    let on = committed("s02-typical").derived();
    assert_eq!((on.nearest, on.means.len(), on.ratios.len()), (2, 6, 5));
    on.ratios.iter().for_each(|ratio| close(*ratio, 1.6));
    close(on.phase.unwrap(), 0.0);
    let legal = on.legal_slack.unwrap();
    close(legal.lo, 0.6 / 2.6);
    close(legal.hi, 0.375);
    close(on.turn_seconds, 14.0 + 2048.0 / 70.0);
    close(on.window_turns, 300.0 / on.turn_seconds);
    close(on.window_rounds, 300.0 / (20.0 * on.turn_seconds + 5.0));
    close(committed("s03-mid-gap").derived().phase.unwrap().abs(), 0.5);
    let beyond = committed("s12-unreachable").derived();
    assert_eq!(beyond.nearest, 0);
    assert!(beyond.phase.unwrap() > 0.5);
    close(committed("s08-heavy-tails").derived().means[5], 500.0 * 1.14);
    let below = committed("s02-typical").derived_at(Target::from_tokens(1900));
    close(below.phase.unwrap(), libm::log(1900.0 / 2048.0) / libm::log(1.6));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn no_change_of_bytes_panics(edits in prop::collection::vec((0..FULL.len(), any::<u8>(), 0..3_u8), 1..6)) {
        let mut bytes = FULL.as_bytes().to_vec();
        for (at, byte, kind) in edits {
            let at = at.min(bytes.len() - 1);
            match kind {
                0 => bytes[at] = byte,
                1 => bytes.insert(at, byte),
                _ => drop(bytes.remove(at)),
            }
        }
        let text = String::from_utf8_lossy(&bytes);
        if let Err(error) = Scenario::load(&text, "mutant.toml") {
            prop_assert!(!error.problems().is_empty());
            let lines = text.matches('\n').count() + 1;
            prop_assert!(error.problems().iter().all(|p| (1..=lines).contains(&p.line) && p.column > 0));
        }
    }

    #[test]
    fn no_text_panics(text in "\\PC{0,200}", keys in prop::collection::vec("(format = 1|rung|\\[|\\]|\"|=|\n|\\{|\\}|[a-z.]{1,9}|[-0-9e.]{1,6}){1,3}", 0..40)) {
        let _ = Scenario::load(&text, "any.toml");
        let _ = Scenario::load(&keys.concat(), "any.toml");
    }
}
