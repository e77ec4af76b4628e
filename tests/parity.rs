//! One seed through the simulator's own world and through `flyball run --agent sim`, which is a real process, a real pipe, a program's
//! lines and their reader: the same decisions, the same totals, the same stop.
#![cfg(feature = "cli")]
#![expect(clippy::unwrap_used, reason = "a test may fail by panicking")]

use std::fs;
use std::path::Path;
use std::process::Command;

use flyball::engine::{Control, Ladder, Timestamp};
use flyball::lab::scenario::Scenario;
use flyball::lab::simulate::{Once, simulate};
use flyball::trace::{Record, Trace, read};
use tempfile::TempDir;

const ROUNDS: u32 = 25;
const SEED: u64 = 11;
const RUN: u32 = 3;

/// What is compared: the decisions, output and what stopped the loop.
#[derive(Debug, PartialEq, Eq)]
struct Came {
    decided: Vec<Record>,
    output: u64,
    stop: Control,
}

fn came_of(trace: &Trace) -> Came {
    let records = || trace.lines.iter().map(|line| &line.record);
    let decided = records().filter(|record| matches!(record, Record::Decided { .. })).cloned().collect();
    let output = records().filter_map(Record::adds).map(|added| added.output.count());
    let stop = records().find_map(|record| if let Record::Stop { control } = record { Some(control.0) } else { None });
    Came { decided, output: output.sum(), stop: stop.unwrap() }
}

/// The scenario as a file with this accounting, and this many tokens to spend.
fn scenario(folder: &Path, source: &str, accounting: &str, budget: Option<u64>) -> (Scenario, String) {
    let name = Path::new(source).file_stem().unwrap().to_str().unwrap();
    let text = fs::read_to_string(source).unwrap();
    let text = text.split("[accounting]").next().unwrap().to_owned() + &format!("\n[accounting]\n{accounting}\n");
    let path = folder.join(format!("{name}.toml"));
    fs::write(&path, &text).unwrap();
    let mut scenario = Scenario::read(&path).unwrap();
    scenario.governor.budget = budget.map(flyball::engine::Tokens::new);
    (scenario, path.display().to_string())
}

fn in_the_world(scenario: &Scenario) -> Came {
    let once = Once { scenario, cell: scenario.base(), run: RUN, rounds: ROUNDS, seed: SEED };
    let ladder: Ladder = scenario.ladder.clone();
    let mut lines = Vec::new();
    let mut sink = |at: Timestamp, event: flyball::engine::Event<'_>| {
        lines.push(flyball::trace::Line { at_ms: at.millis(), record: Record::of(&event, &ladder), prev: None });
    };
    simulate(&once, &mut sink).unwrap();
    let setup = flyball::trace::Setup {
        ladder: Vec::new(),
        configured: String::new(),
        law: String::new(),
        juice_millionths: 1,
        over_ms: 1,
        slack_ppm: 1,
        rest_ms: 1,
        budget_tokens: None,
        rounds: None,
        set: std::collections::BTreeMap::new(),
    };
    let header = flyball::trace::Header::new(setup);
    came_of(&Trace { header, lines, unknown_kinds: 0, unknown_keys: 0, torn: false })
}

fn through_a_pipe(folder: &Path, file: &str, wire: &str, law: &str, budget: Option<u64>) -> Came {
    let project = folder.join("project");
    fs::create_dir_all(&project).unwrap();
    let budget = format!("{}e-6", budget.unwrap_or(0));
    let ran = Command::new(env!("CARGO_BIN_EXE_flyball"))
        // nothing of the tester's own settings
        .env("XDG_CONFIG_HOME", folder)
        .args(["run", "--agent", "sim", "--scenario", file, "--wire", wire, "--fresh", "--quiet"])
        .args(["--seed", &SEED.to_string(), "--run", &RUN.to_string(), "--max-rounds", &ROUNDS.to_string()])
        .args([
            "--budget",
            &budget,
            "--inactivity",
            "none",
            "--round-cap",
            "none",
            "--max-requests",
            "none",
            "--max-failures",
            "none",
        ])
        .args(["--law", law, "--backoff", "0s", "--project"])
        .arg(&project)
        .arg("a task")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&ran.stderr).into_owned();
    assert_eq!(ran.status.code(), Some(1), "{said}");
    let runs = fs::read_dir(project.join(".flyball/runs")).unwrap();
    let run = runs.map(|entry| entry.unwrap().path()).max().unwrap();
    let journal = fs::read(run.join("journal.jsonl")).unwrap();
    let trace = read(&journal[..]).unwrap();
    assert!(!trace.torn && trace.unknown_kinds == 0 && trace.unknown_keys == 0);
    came_of(&trace)
}

fn compare(source: &str, accounting: &str, wires: &[&str], budget: Option<u64>) {
    let folder = TempDir::new().unwrap();
    let (scenario, file) = scenario(folder.path(), source, accounting, budget);
    let world = in_the_world(&scenario);
    assert!(world.decided.len() > 3 && world.output > 0);
    for wire in wires {
        let pipe = through_a_pipe(folder.path(), &file, wire, scenario.governor.law.name(), budget);
        for (index, (pipe, world)) in pipe.decided.iter().zip(&world.decided).enumerate() {
            assert_eq!(pipe, world, "{wire}: decision {index}");
        }
        assert_eq!(pipe, world, "{wire}");
    }
}

#[test]
fn counts_that_are_final_as_they_land() {
    compare("scenarios/s02-typical.toml", "mode = \"final\"", &["claude", "codex", "pi", "opencode"], None);
}

#[test]
fn one_total_as_the_round_ends() {
    compare("scenarios/s02-typical.toml", "mode = \"round-total-only\"", &["claude-result-only"], None);
}

#[test]
fn a_budget_stops_both_at_the_same_round() {
    compare("scenarios/s02-typical.toml", "mode = \"final\"", &["claude", "codex"], Some(200_000));
}

#[test]
fn a_law_that_estimates() {
    let folder = TempDir::new().unwrap();
    let (mut scenario, file) = scenario(folder.path(), "scenarios/s09-session-effects.toml", "mode = \"final\"", None);
    scenario.governor.law = flyball::engine::LawKind::Stride;
    let pipe = through_a_pipe(folder.path(), &file, "claude", "stride", None);
    assert_eq!(pipe, in_the_world(&scenario));
}

#[test]
fn a_fitted_agent_with_sessions_and_heavy_tails() {
    compare("scenarios/sonnet-5.toml", "mode = \"final\"", &["claude", "pi"], None);
}

#[test]
fn rounds_without_a_turn_and_rounds_cut_short() {
    compare("scenarios/s14-flaky.toml", "mode = \"final\"", &["claude", "codex", "pi", "opencode"], None);
}
