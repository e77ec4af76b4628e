//! `validate`, `replay` and `pilot` through the real binary, on committed logs and on runs of the simulator.
#![cfg(feature = "cli")]
#![expect(clippy::unwrap_used, reason = "a test that cannot run the binary has failed")]

use std::fs;
use std::path::{Path, PathBuf};

use assert_cmd::Command;
use flyball::engine::{Timestamp, Tokens, TurnRecord};
use flyball::lab::fit::{Options, calibrate};
use flyball::lab::pilot::plan;
use flyball::lab::scenario::Scenario;
use flyball::sim::RoundDraw;
use serde_json::Value;
use tempfile::TempDir;

fn root(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

fn named(path: &str) -> String {
    root(path).display().to_string()
}

/// Exit code, stdout and stderr.
fn flyball(dir: &Path, args: &[&str]) -> (i32, String, String) {
    let mut command = Command::cargo_bin("flyball").unwrap();
    let output = command.current_dir(dir).args(args).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

fn json(dir: &Path, args: &[&str]) -> Value {
    let (code, out, err) = flyball(dir, &[args, &["--format", "json"]].concat());
    assert_eq!(code, 0, "{err}");
    serde_json::from_str(&out).unwrap()
}

fn refused(dir: &Path, args: &[&str], told: &[&str]) {
    let (code, out, err) = flyball(dir, args);
    assert_eq!((code, out.as_str()), (2, ""), "{err}");
    for words in told {
        assert!(err.contains(words), "{words:?} in {err}");
    }
}

// --- validate

/// Each effort's verdict, and whether the intervals of the window's cv touch.
fn compared(report: &Value) -> Vec<(String, String, bool)> {
    let group = |group: &Value| {
        let apart = group["figures"]["window_cv"]["apart"].as_bool().unwrap();
        (group["effort"].as_str().unwrap().to_owned(), group["verdict"].as_str().unwrap().to_owned(), !apart)
    };
    report["groups"].as_array().unwrap().iter().map(group).collect()
}

#[test]
fn fits_to_some_sessions_predict_the_spread_of_the_others() {
    let dir = TempDir::new().unwrap();
    let sets = [
        ("scenarios/sonnet-5.toml", "tests/data/logs/claude-code-session", "3"),
        ("scenarios/gpt-5.5.toml", "tests/data/logs/codex-rollout", "3"),
    ];
    let mut groups = Vec::new();
    for (scenario, logs, folds) in sets {
        let report =
            json(dir.path(), &["validate", &named(scenario), &named(logs), "--folds", folds, "--samples", "200"]);
        for side in ["real", "simulated"] {
            for part in ["mean", "lo", "hi"] {
                assert!(report["window_cv"][side][part].is_number(), "{side}.{part}");
            }
        }
        assert!(["pass", "fail"].contains(&report["verdict"].as_str().unwrap()), "{report}");
        groups.extend(compared(&report));
    }
    let judged: Vec<_> = groups.iter().filter(|(_, verdict, _)| verdict != "too-little-data").collect();
    let touch = judged.iter().filter(|(_, _, touch)| *touch).count();
    assert!(judged.len() >= 2 && touch * 2 > judged.len(), "{groups:?}");
}

#[test]
fn a_picture_and_a_table_show_the_comparison() {
    let dir = TempDir::new().unwrap();
    let (scenario, logs) = (named("scenarios/sonnet-5.toml"), named("tests/data/logs/claude-code-session"));
    let (code, out, err) =
        flyball(dir.path(), &["validate", &scenario, &logs, "--samples", "50", "--over", "10m", "--plots", "there"]);
    assert_eq!(code, 0, "{err}");
    for words in ["claude-sonnet-5", "high: 5 sessions", "cv of the window mean", "verdict: ", "window 600 s"] {
        assert!(out.contains(words), "{words:?} in {out}");
    }
    assert!(fs::read_to_string(dir.path().join("there/validate.svg")).unwrap().starts_with("<svg"));
    assert!(fs::read(dir.path().join("there/validate.png")).unwrap().starts_with(b"\x89PNG"));
    let data: Value = serde_json::from_slice(&fs::read(dir.path().join("there/validate.json")).unwrap()).unwrap();
    assert_eq!((data["over_ms"].as_u64(), data["groups"].as_array().unwrap().len()), (Some(600_000), 2));
}

#[test]
fn too_few_sessions_are_said_and_are_no_error() {
    let dir = TempDir::new().unwrap();
    let log = named("tests/data/logs/claude-code-session/omp-22.jsonl");
    let scenario = named("scenarios/sonnet-5.toml");
    let report = json(dir.path(), &["validate", &scenario, &log, "--samples", "20"]);
    assert_eq!(report["verdict"], "too-little-data");
    assert_eq!((report["groups"][0]["sessions"].as_u64(), report["sessions_needed"].as_u64()), (Some(1), Some(4)));
    let (code, out, _) = flyball(dir.path(), &["validate", &scenario, &log, "--samples", "20"]);
    assert!(code == 0 && out.contains("verdict: too-little-data") && out.contains("takes 4"), "{out}");
    let folds = json(dir.path(), &["validate", &scenario, &log, "--samples", "20", "--folds", "5"]);
    assert_eq!(folds["verdict"], "too-little-data");
    assert!(folds["unfitted"][0].as_str().unwrap().contains("5 folds"), "{folds}");
}

#[test]
fn what_validate_cannot_use_is_named() {
    let dir = TempDir::new().unwrap();
    let (scenario, logs) = (named("scenarios/sonnet-5.toml"), named("tests/data/logs/claude-code-session"));
    refused(dir.path(), &["validate", &scenario], &["LOGS"]);
    refused(dir.path(), &["validate", "nobody.toml", &logs], &["nobody.toml"]);
    refused(dir.path(), &["validate", &scenario, &logs, "--over", "0"], &["--over"]);
    refused(dir.path(), &["validate", &scenario, &logs, "--folds", "0"], &["--folds"]);
    refused(dir.path(), &["validate", &scenario, &logs, "--folds", "1"], &["--folds 1", "two folds"]);
    refused(dir.path(), &["validate", &scenario, &logs, "--model", "gpt"], &["gpt", "claude-sonnet-5"]);
    refused(dir.path(), &["validate", &scenario, "nowhere.jsonl"], &["nowhere.jsonl"]);
}

// --- replay

/// A short run with its trace; the folder that it is in.
fn simulated(dir: &Path) -> PathBuf {
    let (code, _, err) = flyball(
        dir,
        &["simulate", &named("scenarios/s02-typical.toml"), "--rounds", "25", "--law", "reset", "--out", "run"],
    );
    assert_eq!(code, 0, "{err}");
    dir.join("run")
}

#[test]
fn a_run_is_decided_again_as_it_was_and_another_law_is_marked() {
    let dir = TempDir::new().unwrap();
    let run = simulated(dir.path());
    let run = run.to_str().unwrap();
    let again = json(dir.path(), &["replay", run]);
    let tape = &again["tapes"][0];
    assert_eq!(
        (tape["laws"][0].as_str(), tape["agree"].as_u64(), tape["decided"].as_u64()),
        (Some("reset"), Some(25), Some(25))
    );
    assert!(again["note"].as_str().unwrap().contains("do not react"));

    let two = json(dir.path(), &["replay", run, "--law", "reset,fixed"]);
    let rows = two["tapes"][0]["rows"].as_array().unwrap();
    let next = |row: &Value, law: usize| row["laws"][law]["next"].as_str().unwrap().to_owned();
    let differ = rows.iter().filter(|row| next(row, 0) != next(row, 1)).count();
    assert!(differ > 0 && two["tapes"][0]["differ"] == differ);
    assert!(rows.iter().all(|row| row["differs"].as_bool().unwrap() == (next(row, 0) != next(row, 1))));
    assert!(rows.iter().all(|row| row["effort"] == row["laws"][1]["next"]), "fixed stays where the round ran");

    let (code, out, _) = flyball(dir.path(), &["replay", run, "--law", "reset,fixed"]);
    let marked = out.lines().filter(|line| line.ends_with('*')).count();
    assert_eq!((code, marked), (0, differ), "{out}");
    for words in [format!("after {differ} of 25 rounds"), "do not react to what a law would have decided".to_owned()] {
        assert!(out.contains(&words), "{words:?} in {out}");
    }
}

#[test]
fn sessions_of_a_log_are_rounds_and_settings_come_from_flags_then_file_then_the_original() {
    let dir = TempDir::new().unwrap();
    let logs = named("tests/data/logs/claude-code-session");
    let plain = json(dir.path(), &["replay", &logs]);
    let tape = &plain["tapes"][0];
    assert_eq!((tape["name"].as_str(), tape["laws"][0].as_str()), (Some("claude-sonnet-5"), Some("reference")));
    assert_eq!((tape["juice_millionths"].as_u64(), tape["rows"].as_array().unwrap().len()), (Some(2_000_000_000), 6));
    let turns: u64 = tape["rows"].as_array().unwrap().iter().map(|row| row["turns"].as_u64().unwrap()).sum();
    assert_eq!(turns, 534);

    fs::write(dir.path().join("flyball.toml"), "[governor]\nlaw = \"reset\"\njuice = 600\nover = \"1h\"\n").unwrap();
    let config = json(dir.path(), &["replay", &logs, "--config", "flyball.toml", "--juice", "700"]);
    let tape = &config["tapes"][0];
    assert_eq!((tape["laws"][0].as_str(), tape["over_ms"].as_u64()), (Some("reset"), Some(3_600_000)));
    assert_eq!(tape["juice_millionths"].as_u64(), Some(700_000_000));

    let (code, out, _) = flyball(dir.path(), &["replay", &logs, "--every-turn", "--format", "csv"]);
    assert_eq!((code, out.lines().count()), (0, 1 + 6 + 534));
}

#[test]
fn what_replay_cannot_use_is_named() {
    let dir = TempDir::new().unwrap();
    let logs = named("tests/data/logs/claude-code-session");
    refused(dir.path(), &["replay"], &["LOG|RUN"]);
    refused(dir.path(), &["replay", &logs, "--law", "resset"], &["--law", "resset", "reset"]);
    refused(dir.path(), &["replay", &logs, "--config", "none.toml"], &["none.toml"]);
    refused(dir.path(), &["replay", &logs, "--effort", "max,low"], &["high", "max, low"]);
    refused(dir.path(), &["replay", &logs, "--law", "reset,reference,reset"], &["--law: reset stands twice"]);
    refused(dir.path(), &["replay", &logs, "--effort", "medium,high,xhigh"], &["hardest first", "xhigh,high,medium"]);
    refused(dir.path(), &["calibrate", &logs, "-o", "x.toml", "--effort", "low,high"], &["hardest first: high, low"]);
    refused(dir.path(), &["pilot", "--effort", "low,high"], &["hardest first: high, low"]);
    refused(dir.path(), &["pilot", "--effort", "high"], &["there is one: high"]);
    fs::write(dir.path().join("bad.toml"), "[governor]\nslak = 0.2\n").unwrap();
    refused(dir.path(), &["replay", &logs, "--config", "bad.toml"], &["bad.toml:2", "slak", "slack"]);
    fs::write(dir.path().join("broken.jsonl"), "{\"format\":\"flyball-trace\",\"version\":99}\n").unwrap();
    refused(dir.path(), &["replay", "broken.jsonl"], &["broken.jsonl", "version 99"]);
}

// --- pilot

#[test]
fn a_pilot_says_what_to_run_and_what_it_costs() {
    let dir = TempDir::new().unwrap();
    let scenario = named("scenarios/gpt-5.5.toml");
    let pilot = json(dir.path(), &["pilot", &scenario, "--price", "10"]);
    let rungs = pilot["rungs"].as_array().unwrap();
    let schedule = pilot["schedule"].as_array().unwrap();
    assert_eq!((rungs.len(), schedule.len() as u64), (4, pilot["rounds"].as_u64().unwrap()));
    for rung in rungs {
        let rounds = schedule.iter().filter(|effort| **effort == rung["effort"]).count() as u64;
        assert!(rung["half_width"].as_f64().unwrap() <= 0.1 && rung["rounds"].as_u64() == Some(rounds), "{rung}");
    }
    let tokens = pilot["tokens"].as_f64().unwrap();
    assert!((pilot["usd"].as_f64().unwrap() - tokens / 1e5).abs() < 1e-3);
    let (code, out, _) = flyball(dir.path(), &["pilot", &scenario, "--precision", "0.2", "--price", "10"]);
    for words in ["to within 20 %", "USD", "in all ", "order, in blocks", "xhigh"] {
        assert!(code == 0 && out.contains(words), "{words:?} in {out}");
    }
    let fewer = json(dir.path(), &["pilot", &scenario, "--precision", "0.2"]);
    assert!(fewer["rounds"].as_u64() < pilot["rounds"].as_u64() && fewer["usd"].is_null());
    let prior = json(dir.path(), &["pilot", "--model", "claude-opus-5"]);
    assert_eq!(prior["rungs"].as_array().unwrap().len(), 5);
    assert_eq!(prior["rungs"][0]["assumed"], true);

    refused(dir.path(), &["pilot"], &["nothing to plan by", "--model"]);
    refused(dir.path(), &["pilot", &scenario, "--precision", "0"], &["precision"]);
    refused(dir.path(), &["pilot", &scenario, "--price", "cheap"], &["--price"]);
    refused(dir.path(), &["pilot", "--effort", "ultra"], &["ultra"]);
    refused(dir.path(), &["pilot", "--model", "gemini-9"], &["gemini-9", "--effort"]);
}

/// The plan is run by the simulated agent, and what its logs would say is fitted: each rung's mean is found again.
#[test]
fn calibrate_reads_a_pilot_back() {
    let text = fs::read_to_string(root("scenarios/gpt-5.5.toml")).unwrap();
    let scenario = Scenario::load(&text, "gpt-5.5.toml").unwrap();
    let pilot = plan(&scenario, 0.1, 1).unwrap();
    let order: Vec<usize> = pilot.blocks.concat();
    let mut luck = scenario.agent.luck(3, 0, u32::try_from(order.len()).unwrap());
    let (mut draw, mut now, mut records) = (RoundDraw::default(), 0, Vec::new());
    for (round, &rung) in (0_u32..).zip(&order) {
        luck.realise(rung, round, &mut draw);
        for (&tokens, &millis) in draw.tokens.iter().zip(&draw.millis) {
            let start = now;
            now += u64::from(millis);
            records.push(TurnRecord {
                start: Some(Timestamp::from_millis(start)),
                model: Some("gpt-5.5".into()),
                effort_confirmed: Some(scenario.ladder.efforts()[rung].word().into()),
                session: Some(format!("s{round}").into()),
                ..TurnRecord::new(u64::from(round) + 1, Timestamp::from_millis(now), Tokens::new(tokens.into()), "test")
            });
        }
    }
    let fit = calibrate(&records, &Options::default()).unwrap();
    for (rung, plan) in pilot.rungs.iter().enumerate() {
        let group = fit.groups.iter().find(|group| group.effort.as_deref() == Some(plan.effort.as_str())).unwrap();
        assert_eq!(group.sessions, u64::from(plan.rounds));
        let off = group.mean / libm::exp(luck.ln_mean(rung, 0)) - 1.0;
        assert!(off.abs() < 1.5 * plan.half_width, "{} {off}", plan.effort);
    }
}

#[test]
fn threads_that_are_none_are_refused_by_every_command() {
    let dir = TempDir::new().unwrap();
    for command in [&["pilot", "--effort", "high,low"][..], &["ledger", "."], &["sweep", "x.toml"]] {
        let mut program = Command::cargo_bin("flyball").unwrap();
        let output = program.current_dir(dir.path()).env("FLYBALL_THREADS", "0x").args(command).output().unwrap();
        let err = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.code() == Some(2) && err.contains("FLYBALL_THREADS"), "{command:?}: {err}");
    }
}

#[test]
fn a_scenario_of_another_model_is_told() {
    let dir = TempDir::new().unwrap();
    let of = |scenario: &str| {
        json(dir.path(), &["validate", &named(scenario), &named("tests/data/logs/codex-rollout"), "--samples", "20"])["notes"]
            .to_string()
    };
    assert!(of("scenarios/sonnet-5.toml").contains("fitted to claude-sonnet-5, and these are turns of gpt-5.5"));
    assert!(!of("scenarios/gpt-5.5.toml").contains("fitted to"));
}
