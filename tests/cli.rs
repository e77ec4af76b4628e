//! The real binary, end to end: what a person types, and what comes back on stdout, stderr, disk and as exit code.
#![cfg(feature = "cli")]
#![expect(clippy::unwrap_used, reason = "a test that cannot run the binary has failed")]

use std::fs;
use std::path::{Path, PathBuf};

use assert_cmd::Command;
use serde_json::Value;
use tempfile::TempDir;

fn root(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

fn scenario(name: &str) -> String {
    root(&format!("scenarios/{name}.toml")).display().to_string()
}

fn typical() -> String {
    scenario("s02-typical")
}

/// What a command came to.
struct Came {
    code: i32,
    out: String,
    err: String,
}

fn flyball(dir: &Path, args: &[&str]) -> Came {
    fed(dir, args, "")
}

fn fed(dir: &Path, args: &[&str], stdin: &str) -> Came {
    let mut command = Command::cargo_bin("flyball").unwrap();
    command.current_dir(dir).env_remove("FLYBALL_THREADS").env_remove("CLICOLOR_FORCE");
    let output = command.args(args).write_stdin(stdin).output().unwrap();
    Came {
        code: output.status.code().unwrap(),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

/// A small sweep: four cells of a few short runs, with these flags more.
fn small(dir: &Path, more: &[&str]) -> Came {
    let scenario = typical();
    let few = ["sweep", &scenario, "--over", "300,1h", "--slack", "0.15,0.3", "--law", "reset"];
    flyball(dir, &[&few[..], &["--runs", "8", "--rounds", "30"], more].concat())
}

fn names(dir: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

// --- sweep

#[test]
fn a_sweep_prints_json_of_the_promised_shape() {
    let dir = TempDir::new().unwrap();
    let came = small(dir.path(), &["--format", "json"]);
    assert_eq!(came.code, 0, "{}", came.err);
    let json: Value = serde_json::from_str(&came.out).unwrap();
    for key in ["version", "scenario", "seed", "runs", "rounds", "cells", "chosen"] {
        assert!(!json[key].is_null(), "{key}");
    }
    assert_eq!((json["scenario"].as_str(), json["runs"].as_u64()), (Some("s02-typical"), Some(8)));
    let cells = json["cells"].as_array().unwrap();
    assert_eq!(cells.len(), 4);
    for cell in cells {
        for key in ["law", "juice", "over_s", "slack", "rest_s"] {
            assert!(!cell[key].is_null(), "{key}");
        }
        for key in ["on_rung", "reversals", "moves", "settle_rounds", "off_tokens"] {
            for part in ["mean", "lo", "hi"] {
                assert!(cell[key][part].is_number(), "{key}.{part}");
            }
        }
    }
    let axes: Vec<(f64, f64)> =
        cells.iter().map(|cell| (cell["over_s"].as_f64().unwrap(), cell["slack"].as_f64().unwrap())).collect();
    assert_eq!(axes, [(300.0, 0.15), (300.0, 0.3), (3600.0, 0.15), (3600.0, 0.3)]);
    assert_eq!(json["chosen"].as_array().unwrap().len(), 1);
    assert_eq!(fs::read_to_string(dir.path().join("out/s02-typical/result.json")).unwrap(), came.out);
}

#[test]
fn a_sweep_writes_its_files_and_pictures_and_nothing_else() {
    let dir = TempDir::new().unwrap();
    let came = small(dir.path(), &["--law", "reference", "--out", "there/deep"]);
    assert_eq!(came.code, 0, "{}", came.err);
    let out = dir.path().join("there/deep");
    let mut expected = ["flyball.toml", "result.csv", "result.json"].map(str::to_owned).to_vec();
    for picture in ["burn", "false-moves", "forest", "heat-reference", "heat-reset", "occupancy", "returns", "settle"] {
        expected.extend(["json", "png", "svg"].map(|ending| format!("{picture}.{ending}")));
    }
    expected.sort();
    assert_eq!(names(&out), expected);
    assert!(fs::read(out.join("settle.png")).unwrap().starts_with(b"\x89PNG"));
    assert!(fs::read_to_string(out.join("burn.svg")).unwrap().starts_with("<svg"));
    let heat: Value = serde_json::from_slice(&fs::read(out.join("heat-reset.json")).unwrap()).unwrap();
    assert_eq!(heat["over_ms"], serde_json::json!([300_000, 3_600_000]));
    assert_eq!(names(dir.path()), ["there"], "nothing is written elsewhere");
}

#[test]
fn engines_and_threads_come_to_the_same_bytes() {
    let dir = TempDir::new().unwrap();
    let with = |more: &[&str]| {
        let came = small(dir.path(), &[&["--format", "json"], more].concat());
        assert_eq!(came.code, 0, "{}", came.err);
        came.out
    };
    let plain = with(&[]);
    assert_eq!(with(&["--engine", "machine"]), plain);
    for threads in ["1", "2", "5"] {
        assert_eq!(with(&["--threads", threads]), plain, "{threads} threads");
    }
    assert_ne!(with(&["--seed", "2"]), plain);
}

#[test]
fn the_csv_has_a_row_a_cell_under_the_same_names() {
    let dir = TempDir::new().unwrap();
    let came = small(dir.path(), &["--format", "csv"]);
    let mut reader = csv::Reader::from_reader(came.out.as_bytes());
    let head = reader.headers().unwrap().clone();
    for name in ["law", "juice", "over_s", "slack", "rest_s"] {
        assert!(head.iter().any(|column| column == name), "{name} in {head:?}");
    }
    for name in ["on_rung", "reversals", "moves", "settle_rounds", "off_tokens"] {
        assert!(head.iter().any(|column| column.starts_with(name)), "{name} in {head:?}");
    }
    assert_eq!(reader.records().map(Result::unwrap).count(), 4);
    assert_eq!(fs::read_to_string(dir.path().join("out/s02-typical/result.csv")).unwrap(), came.out);
}

#[test]
fn the_table_recommends_a_cell_and_says_why() {
    let dir = TempDir::new().unwrap();
    let came = small(dir.path(), &["--rows", "2", "--juice", "2048,1600,9000"]);
    for text in ["on rung", "recommended for juice 2048: --law reset --over ", "runner-up: ", "least loss", "not shown"]
    {
        assert!(came.out.contains(text), "{text:?} is missing:\n{}", came.out);
    }
    assert!(came.err.contains("juice 1600 lies between two rungs"), "{}", came.err);
    assert!(came.err.contains("juice 9000 lies above the ladder"), "{}", came.err);
    assert!(!came.err.contains("juice 2048 lies between"), "{}", came.err);
    assert!(!came.err.contains('\u{1b}'), "no colour off a terminal: {:?}", came.err);
}

#[test]
fn lists_ranges_and_durations_make_the_grid() {
    let dir = TempDir::new().unwrap();
    let scenario = typical();
    let axes = ["--law", "fixed,reference", "--juice", "1000,2048.5", "--over", "300,5m,300s,0.5h", "--rest", "0"];
    let few = ["sweep", &scenario, "--runs", "2", "--rounds", "5", "--format", "json"];
    let came = flyball(dir.path(), &[&few[..], &axes, &["--slack", "0.1:0.3:0.1", "--slack", "0.5"]].concat());
    assert_eq!(came.code, 0, "{}", came.err);
    let json: Value = serde_json::from_str(&came.out).unwrap();
    let mut seen = Vec::new();
    for key in ["law", "juice", "over_s", "slack", "rest_s"] {
        let mut values: Vec<String> =
            json["cells"].as_array().unwrap().iter().map(|cell| cell[key].to_string()).collect();
        values.sort();
        values.dedup();
        seen.push(values.len());
    }
    assert_eq!(seen, [2, 2, 2, 4, 1], "300, 5m and 300s are one value");
    assert_eq!(json["cells"].as_array().unwrap().len(), 32);
}

// --- bad input

/// A scenario with one text replaced by another.
fn spoilt(dir: &Path, from: &str, to: &str) -> String {
    let text = fs::read_to_string(typical()).unwrap();
    assert!(text.contains(from), "{from:?} is not in the scenario");
    let path = dir.join("s02-typical.toml");
    fs::write(&path, text.replacen(from, to, 1)).unwrap();
    path.display().to_string()
}

#[test]
fn a_faulty_scenario_is_named_by_file_line_and_key() {
    let rungs = fs::read_to_string(typical()).unwrap();
    let first = rungs.find("[[rung]]").unwrap();
    let last = rungs.find("[session]").unwrap();
    let line = |text: &str| rungs[..rungs.find(text).unwrap()].lines().count() + 1;
    let cases = [
        ("mean = 2048", "mean = -2048", "mean", Some(line("mean = 2048") - 1)),
        ("mean = 2048", "mean = nan", "mean", Some(line("mean = 2048") - 1)),
        (&rungs[first..last], "", "rung", None),
        ("effort = \"rung-4\"", "effort = \"rung-5\"", "effort", Some(line("effort = \"rung-4\""))),
        ("tau = 0.2", "tua = 0.2", "session.tua", Some(line("tau = 0.2"))),
        (&rungs[last..], "[turns]\nmean = ", "turns", None),
    ];
    for (from, to, key, line) in cases {
        let dir = TempDir::new().unwrap();
        let file = spoilt(dir.path(), from, to);
        for command in ["sweep", "simulate"] {
            let came = flyball(dir.path(), &[command, &file]);
            assert_eq!((came.code, came.out.as_str()), (2, ""), "{to}: {}", came.err);
            let place = line.map_or_else(|| format!("{file}:"), |line| format!("{file}:{line}:"));
            assert!(came.err.contains(&place) && came.err.contains(key), "{to}: {place} {key}: {}", came.err);
            assert_eq!(names(dir.path()), ["s02-typical.toml"], "nothing is written");
        }
    }
    let dir = TempDir::new().unwrap();
    assert!(
        flyball(dir.path(), &["sweep", &spoilt(dir.path(), "tau = ", "tua = ")]).err.contains("did you mean `tau`")
    );
}

#[test]
fn a_log_or_nothing_at_all_is_no_scenario() {
    let dir = TempDir::new().unwrap();
    let log = root("tests/data/conformance/sample.jsonl").display().to_string();
    for file in [log.as_str(), "nowhere.toml", "."] {
        let came = flyball(dir.path(), &["sweep", file]);
        assert_eq!((came.code, came.out.as_str()), (2, ""), "{}", came.err);
        assert!(came.err.contains(file), "{}", came.err);
    }
    assert_eq!(names(dir.path()), Vec::<String>::new());
}

#[test]
fn an_out_folder_that_cannot_be_is_found_before_the_sweep() {
    let dir = TempDir::new().unwrap();
    fs::write(dir.path().join("taken"), b"a file").unwrap();
    for out in ["taken", "taken/below"] {
        // so many runs that a sweep which looked afterwards would never come back
        let came = flyball(dir.path(), &["sweep", &typical(), "--out", out, "--runs", "2000000"]);
        assert_eq!((came.code, came.out.as_str()), (2, ""), "{}", came.err);
        assert!(came.err.contains(out) && came.err.contains("hint: "), "{}", came.err);
        let came = flyball(dir.path(), &["simulate", &typical(), "--out", out]);
        assert_eq!(came.code, 2, "{}", came.err);
    }
    assert_eq!(fs::read(dir.path().join("taken")).unwrap(), b"a file");
    assert_eq!(names(dir.path()), ["taken"]);
}

#[test]
fn a_file_that_cannot_be_replaced_leaves_no_half_of_it() {
    let dir = TempDir::new().unwrap();
    let out = dir.path().join("out/s02-typical");
    fs::create_dir_all(out.join("result.json/in-the-way")).unwrap();
    let came = small(dir.path(), &["--format", "csv"]);
    assert_eq!(came.code, 2);
    assert!(came.err.contains("result.json"), "{}", came.err);
    assert_eq!(came.out.lines().count(), 5, "the report is printed all the same: {}", came.out);
    assert_eq!(names(&out), ["result.json"]);
}

#[test]
fn flags_out_of_bounds_are_refused_by_name() {
    let dir = TempDir::new().unwrap();
    let cases: [(&[&str], &str); 14] = [
        (&["--runs", "0"], "--runs: 0"),
        (&["--rounds", "0"], "--rounds: 0"),
        (&["--threads", "0"], "--threads: 0"),
        (&["--runs", "99999999999"], "--runs: 99999999999"),
        (&["--threads", "100000"], "--threads: 100000"),
        (&["--runs", "-3"], "--runs"),
        (&["--rounds", "100000", "--threads", "1000"], "GiB"),
        (&["--slack", "-0.1"], "--slack: \"-0.1\""),
        (&["--slack", "1.5"], "--slack: \"1.5\""),
        (&["--juice", "nan"], "--juice: \"nan\""),
        (&["--over", "0"], "--over: \"0\""),
        (&["--over", "1:2"], "--over: \"1:2\""),
        (&["--law", "refrence"], "did you mean `reference`"),
        (&["--engine", "steam"], "steam"),
    ];
    for (flags, text) in cases {
        let came = flyball(dir.path(), &[&["sweep", &typical()], flags].concat());
        assert_eq!((came.code, came.out.as_str()), (2, ""), "{flags:?}: {}", came.err);
        assert!(came.err.contains(text), "{flags:?}: {}", came.err);
    }
    assert_eq!(names(dir.path()), Vec::<String>::new());
}

#[test]
fn a_reader_that_goes_away_is_no_failure() {
    let dir = TempDir::new().unwrap();
    let mut child = std::process::Command::new(assert_cmd::cargo::cargo_bin("flyball"))
        .args(["conform", &root("tests/data/conformance/sample.jsonl").display().to_string()])
        .current_dir(dir.path())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stderr.len()), (Some(0), 0));
}

// --- simulate

#[test]
fn a_simulation_writes_its_trace_and_picture_and_tells_each_round() {
    let dir = TempDir::new().unwrap();
    let args = ["simulate", &typical(), "--rounds", "12", "--law", "reset", "--over", "1h", "--slack", "0.3"];
    let came = flyball(dir.path(), &args);
    assert_eq!(came.code, 0, "{}", came.err);
    let out = dir.path().join("out/s02-typical");
    let written = ["still.json", "still.png", "still.svg", "trace.json", "trace.jsonl", "trace.png", "trace.svg"];
    assert_eq!(names(&out), written);
    let text = fs::read_to_string(out.join("trace.jsonl")).unwrap();
    let trace = flyball::trace::read(text.as_bytes()).unwrap();
    assert_eq!((trace.header.setup.law.as_str(), trace.header.setup.over_ms), ("reset", 3_600_000));
    let decided = trace.lines.iter().filter(|line| matches!(line.record, flyball::trace::Record::Decided { .. }));
    assert_eq!(decided.count(), 12);
    for text in ["round", "reading", "why", "spent", "rung-1", "stopped by rounds"] {
        assert!(came.out.contains(text), "{text:?} is missing:\n{}", came.out);
    }
    let again = flyball(dir.path(), &args);
    assert_eq!(again.out, came.out);
    assert_eq!(fs::read_to_string(out.join("trace.jsonl")).unwrap(), text, "the same bytes again");
}

#[test]
fn a_simulation_as_json_agrees_with_its_trace() {
    let dir = TempDir::new().unwrap();
    let came = flyball(dir.path(), &["simulate", &typical(), "--rounds", "9", "--run", "4", "--format", "json"]);
    assert_eq!(came.code, 0, "{}", came.err);
    let json: Value = serde_json::from_str(&came.out).unwrap();
    let rounds = json["rounds"].as_array().unwrap();
    assert_eq!((rounds.len(), json["stop"].as_str(), json["run"].as_u64()), (9, Some("rounds"), Some(4)));
    let text = fs::read_to_string(dir.path().join("out/s02-typical/trace.jsonl")).unwrap();
    let decided: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .filter(|line| line["kind"] == "decided")
        .collect();
    for (round, line) in rounds.iter().zip(&decided) {
        assert_eq!((&round["rung"], &round["next"]), (&line["from"], &line["to"]));
        assert_eq!((&round["reading"], &round["why"]), (&line["mean"], &line["why"]));
    }
}

#[test]
fn a_simulation_takes_single_values_only() {
    let dir = TempDir::new().unwrap();
    for flags in [["--over", "300,600"], ["--slack", "0.1:0.3:0.1"], ["--law", "fixed,reset"], ["--rounds", "0"]] {
        let came = flyball(dir.path(), &["simulate", &typical(), flags[0], flags[1]]);
        assert_eq!((came.code, came.out.as_str()), (2, ""), "{flags:?}");
        assert!(came.err.contains(flags[0]), "{}", came.err);
    }
}

// --- conform

fn sample() -> String {
    root("tests/data/conformance/sample.jsonl").display().to_string()
}

#[test]
fn the_recorded_sample_conforms_both_ways() {
    let dir = TempDir::new().unwrap();
    let came = flyball(dir.path(), &["conform", &sample(), "--original", "--skip-tag", "float-window"]);
    assert_eq!((came.code, came.out.as_str()), (0, "46 runs: 45 agree, 0 explained, 0 differ, 1 skipped\n"));
    let came = flyball(dir.path(), &["conform", &sample()]);
    assert_eq!(came.code, 0);
    let last = came.out.lines().last().unwrap();
    assert!(last.starts_with("46 runs: ") && last.ends_with(", 0 differ, 0 skipped"), "{last}");
    assert!(came.out.contains("explained by memory: "), "{}", came.out);
}

#[test]
fn a_difference_is_told_with_run_round_expected_and_got() {
    let dir = TempDir::new().unwrap();
    let text = fs::read_to_string(sample()).unwrap();
    let line = text.lines().next().unwrap().replacen("\"effort_next\":\"high\"", "\"effort_next\":\"low\"", 1);
    let came = fed(dir.path(), &["conform", "-"], &format!("{line}\n\n"));
    assert_eq!(came.code, 1, "{}", came.err);
    let lines: Vec<&str> = came.out.lines().collect();
    assert_eq!(lines[0], "s-climb: round 1: next: expected low, got high");
    assert_eq!(lines.last(), Some(&"1 run: 0 agree, 0 explained, 1 differ, 0 skipped"));
}

#[test]
fn what_is_no_recording_is_named_by_file_and_line() {
    let dir = TempDir::new().unwrap();
    let text = fs::read_to_string(sample()).unwrap();
    let first = text.lines().next().unwrap();
    let cases = [
        (format!("{first}\n{{\"id\":1}}\n"), "stdin:2"),
        (format!("{first}\n{}", &first[..200]), "stdin:2"),
        ("\n\nhello\n".to_owned(), "stdin:3"),
        (first.replacen("[\"max\",", "[\"max\",\"max\",", 1), "stdin:1"),
        (String::new(), "stdin: there is no recorded run"),
    ];
    for (input, place) in cases {
        let came = fed(dir.path(), &["conform", "-"], &input);
        assert_eq!(came.code, 2, "{place}: {}", came.err);
        assert!(came.err.contains(place), "{place}: {}", came.err);
    }
    let came = flyball(dir.path(), &["conform", "nowhere.jsonl"]);
    assert_eq!(came.code, 2);
    assert!(came.err.contains("nowhere.jsonl"), "{}", came.err);
}

// --- calibrate

fn logs(path: &str) -> String {
    root("tests/data/logs").join(path).display().to_string()
}

#[test]
fn logs_become_a_scenario_that_can_be_swept() {
    let dir = TempDir::new().unwrap();
    let came = flyball(dir.path(), &["calibrate", &logs("codex-rollout"), "--model", "gpt-5.5", "-o", "mine.toml"]);
    assert_eq!(came.code, 0, "{}", came.err);
    for text in ["medium", "measured", "assumed", "KS mixture", "tokens per second"] {
        assert!(came.out.contains(text), "{text:?} is missing:\n{}", came.out);
    }
    let text = fs::read_to_string(dir.path().join("mine.toml")).unwrap();
    assert!(text.contains("name = \"mine\"") && text.contains("assumed = "), "{text}");
    assert_eq!(names(dir.path()), ["mine.toml"]);
    let few = ["--runs", "3", "--rounds", "8", "--over", "1h", "--slack", "0.3"];
    let came = flyball(dir.path(), &[&["sweep", "mine.toml"][..], &few].concat());
    assert_eq!(came.code, 0, "{}", came.err);
    let came = flyball(dir.path(), &["calibrate", &logs("codex-rollout"), "--model", "gpt-5.5", "-o", "-"]);
    assert_eq!(came.code, 0, "{}", came.err);
    assert!(came.out.contains("[[rung]]") && came.err.contains("KS mixture"), "{}", came.out);
}

#[test]
fn logs_of_another_kind_empty_ones_and_broken_ones_are_named() {
    let dir = TempDir::new().unwrap();
    let put = |name: &str, text: &str| fs::write(dir.path().join(name), text).unwrap();
    put("empty.jsonl", "");
    put("stream.jsonl", "{\"type\":\"system\",\"subtype\":\"init\",\"session_id\":\"s\"}\n");
    put("text.jsonl", "hello\n");
    put("kept.toml", "as it was");
    for file in ["empty.jsonl", "stream.jsonl", "text.jsonl", "nowhere.jsonl", "."] {
        let came = flyball(dir.path(), &["calibrate", file, "-o", "kept.toml", "--force"]);
        assert_eq!((came.code, came.out.as_str()), (2, ""), "{file}: {}", came.err);
        assert!(came.err.contains(if file == "." { "stream.jsonl" } else { file }), "{file}: {}", came.err);
        assert_eq!(fs::read_to_string(dir.path().join("kept.toml")).unwrap(), "as it was");
    }
    assert_eq!(names(dir.path()).len(), 4, "nothing is left behind");
    let good = logs("codex-rollout");
    let came = flyball(dir.path(), &["calibrate", &good, "stream.jsonl", "--model", "gpt-5.5", "-o", "new.toml"]);
    assert_eq!(came.code, 0, "{}", came.err);
    assert!(came.err.contains("stream.jsonl") && came.err.contains("warning: "), "{}", came.err);
}

#[test]
fn a_scenario_is_not_written_to_a_place_that_cannot_be() {
    let dir = TempDir::new().unwrap();
    let good = logs("codex-rollout");
    for output in ["nowhere/mine.toml", "mine.txt", "."] {
        let came = flyball(dir.path(), &["calibrate", &good, "--model", "gpt-5.5", "-o", output]);
        assert_eq!(came.code, 2, "{output}: {}", came.err);
        assert!(came.err.contains(output), "{output}: {}", came.err);
    }
    assert_eq!(names(dir.path()), Vec::<String>::new());
}

// --- help

#[test]
fn help_and_version_are_on_stdout_and_a_wrong_word_is_not() {
    let dir = TempDir::new().unwrap();
    let came = flyball(dir.path(), &["--version"]);
    assert_eq!((came.code, came.out.as_str()), (0, concat!("flyball ", env!("CARGO_PKG_VERSION"), "\n")));
    for command in ["sweep", "simulate", "conform", "calibrate"] {
        let came = flyball(dir.path(), &[command, "--help"]);
        assert_eq!(came.code, 0);
        assert!(came.out.contains("Examples:"), "{command}");
    }
    assert!(flyball(dir.path(), &["--help"]).out.contains("Exit codes: 0 done"));
    assert_eq!(flyball(dir.path(), &[]).code, 2);
    let came = flyball(dir.path(), &["swep"]);
    assert_eq!((came.code, came.out.as_str()), (2, ""));
    assert!(came.err.contains("sweep"), "{}", came.err);
}

#[test]
fn a_study_is_a_page_that_says_how_to_make_it_again() {
    let dir = TempDir::new().unwrap();
    let args = ["study", &scenario("s01-quiet"), "--runs", "3", "--loops", "4", "--rounds", "30", "--seed", "7"];
    let came = flyball(dir.path(), &args);
    assert_eq!(came.code, 0, "{}", came.err);
    assert!(came.out.starts_with("# The laws, compared"), "{}", came.out);
    assert!(
        came.out.contains("--runs 3 --family 7 --loops 4 --rounds 30 --seed 7")
            && came.out.contains("| s01-quiet | 99.4 |")
    );
    assert_eq!(came.out, flyball(dir.path(), &[&args[..], &["--threads", "1"]].concat()).out);
    assert_eq!(flyball(dir.path(), &["study", "--runs", "0"]).code, 2);
}

// --- Ctrl-C

/// Starts a command, sends it one Ctrl-C once it listens, and waits for its end.
#[cfg(target_os = "linux")]
fn interrupted(dir: &Path, args: &[&str]) -> Came {
    use rustix::process::{Pid, Signal, kill_process};
    use std::process::{Command, Stdio};
    let mut command = Command::new(env!("CARGO_BIN_EXE_flyball"));
    command.args(args).current_dir(dir).env_remove("FLYBALL_THREADS");
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let status = format!("/proc/{}/status", child.id());
    let listens = |status: &str| {
        let mask = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
        u64::from_str_radix(mask.unwrap_or("0").trim(), 16).unwrap() >> (Signal::INT.as_raw() - 1) & 1 == 1
    };
    while !listens(&fs::read_to_string(&status).unwrap_or_default()) {
        assert!(child.try_wait().unwrap().is_none(), "it ended before it listened");
        std::thread::yield_now();
    }
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    let output = child.wait_with_output().unwrap();
    Came {
        code: output.status.code().unwrap_or(-1),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

#[test]
#[cfg(target_os = "linux")]
fn ctrl_c_ends_a_sweep_after_the_runs_in_progress_and_a_simulation_at_once() {
    let dir = TempDir::new().unwrap();
    let few = ["sweep", &typical(), "--law", "reset", "--over", "300", "--slack", "0.15"];
    let came = interrupted(dir.path(), &[&few[..], &["--runs", "5000000", "--rounds", "30"]].concat());
    assert_eq!(came.code, 130, "{}", came.err);
    assert!(came.err.contains("interrupted: finishing") && came.err.contains("incomplete: "), "{}", came.err);
    let came = interrupted(dir.path(), &["simulate", &typical(), "--rounds", "100000"]);
    assert_eq!((came.code, &*came.out, &*came.err), (130, "", ""));
    let came = interrupted(dir.path(), &["recommend", &typical()]);
    assert!((came.code, &*came.out) == (130, "") && came.err.contains("interrupted: stopped at once"), "{}", came.err);
}
