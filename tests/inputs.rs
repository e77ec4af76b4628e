//! Input files of the real binary: what is no file, marks that nobody sees, and the one form in which faults are told.
#![cfg(feature = "cli")]
#![expect(clippy::unwrap_used, reason = "a test that cannot run the binary has failed")]

use std::fs;
use std::path::Path;
use std::time::Duration;

use assert_cmd::Command;
use tempfile::TempDir;

/// What a command came to.
struct Came {
    code: i32,
    out: String,
    err: String,
}

fn flyball(dir: &Path, args: &[&str]) -> Came {
    let mut command = Command::cargo_bin("flyball").unwrap();
    command.current_dir(dir).env_remove("FLYBALL_THREADS").env_remove("CLICOLOR_FORCE").env("HOME", dir);
    let output = command.args(args).timeout(Duration::from_secs(120)).output().unwrap();
    // one that had to be ended has no code of its own
    Came {
        code: output.status.code().unwrap_or(-1),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

fn typical() -> String {
    root("scenarios/s02-typical.toml")
}

fn root(path: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path).display().to_string()
}

/// A command that takes a file, with the file's name last or after a flag.
fn takers(file: &str) -> Vec<Vec<String>> {
    let typical = typical();
    let all: [&[&str]; 15] = [
        &["recommend", file],
        &["recommend", &typical, "--current", file],
        &["calibrate", file],
        &["ledger", file],
        &["validate", &typical, file],
        &["validate", file, &typical],
        &["replay", file],
        &["replay", &typical, "--config", file],
        &["pilot", file],
        &["explain", file],
        &["sweep", file],
        &["gate", file],
        &["conform", file],
        &["run", "--agent", "sim", "--settings", file, "task"],
        &["run", "--agent", "sim", "--prompt-file", file],
    ];
    all.iter().map(|args| args.iter().map(|&arg| arg.to_owned()).collect()).collect()
}

#[cfg(unix)]
#[test]
fn a_device_is_refused_by_every_command_that_takes_a_file() {
    let dir = TempDir::new().unwrap();
    for args in takers("/dev/zero") {
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let came = flyball(dir.path(), &args);
        assert_eq!(came.code, 2, "{args:?}: {}", came.err);
        assert!(
            came.err.contains("/dev/zero") && came.err.contains("neither a file nor a pipe"),
            "{args:?}: {}",
            came.err
        );
        assert!(came.err.contains("hint: "), "{args:?}: {}", came.err);
    }
}

#[cfg(unix)]
#[test]
fn a_pipe_in_a_folder_of_logs_is_not_waited_for() {
    let dir = TempDir::new().unwrap();
    let logs = dir.path().join("logs");
    fs::create_dir(&logs).unwrap();
    fs::copy(root("tests/fuzz/corpus/codex-rollout/usual"), logs.join("one.jsonl")).unwrap();
    assert!(std::process::Command::new("mkfifo").arg(logs.join("two.jsonl")).status().unwrap().success());
    std::os::unix::fs::symlink("/dev/zero", logs.join("three.jsonl")).unwrap();
    let came = flyball(dir.path(), &["ledger", "logs"]);
    assert_eq!(came.code, 0, "{}", came.err);
}

#[cfg(unix)]
#[test]
fn a_log_that_cannot_be_read_is_named_with_its_folder() {
    let dir = TempDir::new().unwrap();
    let logs = dir.path().join("logs");
    fs::create_dir(&logs).unwrap();
    fs::copy(root("tests/fuzz/corpus/codex-rollout/usual"), logs.join("one.jsonl")).unwrap();
    std::os::unix::fs::symlink("nowhere", logs.join("two.jsonl")).unwrap();
    let came = flyball(dir.path(), &["ledger", "logs"]);
    assert_eq!(came.code, 0, "{}", came.err);
    assert!(came.err.contains("warning: logs/two.jsonl: No such file"), "{}", came.err);
}

#[test]
fn what_cannot_be_read_is_told_in_one_form() {
    let dir = TempDir::new().unwrap();
    fs::create_dir(dir.path().join("folder.toml")).unwrap();
    fs::write(dir.path().join("binary.toml"), b"\xff\xfe\x00").unwrap();
    let typical = typical();
    for (file, why) in
        [("nosuch.toml", "No such file"), ("folder.toml", "it is a folder"), ("binary.toml", "it is no text: line 1")]
    {
        for (args, what) in [
            (&["recommend", &typical, "--current", file][..], "settings"),
            (&["replay", &typical, "--config", file], "settings"),
            (&["run", "--agent", "sim", "--settings", file, "task"], "settings"),
            (&["explain", file], "scenario"),
            (&["gate", file], "suite"),
            (&["run", "--agent", "sim", "--prompt-file", file], "task"),
        ] {
            let came = flyball(dir.path(), args);
            assert_eq!((came.code, came.out.as_str()), (2, ""), "{args:?}: {}", came.err);
            let want = format!("error: cannot read the {what} {file}\n  {why}");
            assert!(came.err.starts_with(&want) && came.err.contains("\nhint: "), "{args:?}: {}", came.err);
        }
    }
}

#[test]
fn a_byte_order_mark_changes_nothing() {
    let dir = TempDir::new().unwrap();
    let marked = |from: &str, to: &str| {
        let text = fs::read_to_string(from).unwrap();
        fs::write(dir.path().join(to), format!("\u{feff}{text}")).unwrap();
    };
    fs::write(dir.path().join("plain.yaml"), "juice: 2000\r\n").unwrap();
    marked(&dir.path().join("plain.yaml").display().to_string(), "juice.yaml");
    marked(&typical(), "s02-typical.toml");
    marked(&root("tests/data/conformance/sample.jsonl"), "sample.jsonl");
    for args in [
        &[
            "recommend",
            "s02-typical.toml",
            "--current",
            "juice.yaml",
            "--law",
            "reset",
            "--over",
            "300",
            "--slack",
            "0.3",
            "--runs",
            "2",
            "--race",
            "2",
            "--rounds",
            "20",
        ][..],
        &["conform", "sample.jsonl", "--original"],
        &["run", "--agent", "sim", "--settings", "juice.yaml", "--print-config", "--project", "."],
    ] {
        let came = flyball(dir.path(), args);
        assert_eq!(came.code, 0, "{args:?}: {}", came.err);
    }
}

#[test]
fn settings_of_the_original_that_say_nothing_or_twice_are_refused() {
    let dir = TempDir::new().unwrap();
    let typical = typical();
    for (text, words) in [
        ("", "  it is empty\n"),
        ("# juice: 5\n", "juice.yaml:1: there is no setting in it"),
        ("juice: 2000\njuice: 3000\n", "juice.yaml:2: juice: "),
        ("jucie: 2000\n", "juice.yaml:1: jucie: "),
        ("juice: 1\nslack: wide\n", "juice.yaml:2: slack: "),
    ] {
        fs::write(dir.path().join("juice.yaml"), text).unwrap();
        for args in [
            &["recommend", &typical, "--current", "juice.yaml"][..],
            &["run", "--agent", "sim", "--settings", "juice.yaml", "task"],
        ] {
            let came = flyball(dir.path(), args);
            let words = if text.is_empty() && args[0] == "run" { "juice.yaml:1: there is no setting" } else { words };
            assert_eq!(came.code, 2, "{text:?} {args:?}: {}", came.err);
            assert!(came.err.contains(words), "{text:?} {args:?}: {}", came.err);
        }
    }
}

/// The numbers of a suite that its baseline was made with; the baseline and its report stand beside.
fn gate_with(dir: &Path, rounds: u64, runs: u64) {
    let text = format!(
        "format = 1\nscenarios = [{:?}]\nlaws = [\"reset\", \"fixed\"]\nruns = {runs}\nrounds = {rounds}\nseed = 1\n\
         settings = [{{ over = 300, slack = 0.15 }}, {{ over = \"1h\", slack = 0.3 }}]\n",
        root("scenarios/s06-short-rounds.toml")
    );
    fs::write(dir.join("suite.toml"), text).unwrap();
}

#[test]
fn a_baseline_of_other_numbers_or_with_a_damage_is_told_in_one_sentence() {
    let dir = TempDir::new().unwrap();
    gate_with(dir.path(), 30, 4);
    let gate = || flyball(dir.path(), &["gate", "suite.toml"]);
    assert_eq!(flyball(dir.path(), &["gate", "suite.toml", "--write"]).code, 0);
    assert_eq!(gate().code, 0);
    let sound = fs::read_to_string(dir.path().join("baseline.jsonl")).unwrap();
    for (rounds, runs, words) in [
        (31, 4, "it was made with rounds 30, and the suite has rounds 31"),
        (30, 5, "it was made with runs 4, and the suite has runs 5"),
    ] {
        gate_with(dir.path(), rounds, runs);
        let came = gate();
        assert_eq!((came.code, came.out.as_str()), (2, ""), "{}", came.err);
        assert!(came.err.contains(words), "{}", came.err);
    }
    gate_with(dir.path(), 30, 4);
    let damaged = sound.replacen("\"slack_ppm\":150000", "\"slack_ppm\":\"x\"", 1);
    let doubled = format!("{sound}{}\n", sound.lines().nth(1).unwrap());
    let head = |from: &str, to: &str| sound.replacen(from, to, 1);
    for (text, words) in [
        (head("\"seed\":1", "\"seed\":7"), "it was made with seed 7, and the suite has seed 1"),
        (head("\"runs\":4", "\"runs\":1"), "line 2: runs: it has 4, and line 1 says 1"),
        (damaged, "slack_ppm: it must be a whole number, or null\n"),
        (doubled, "stands on line 2 already"),
    ] {
        assert_ne!(text, sound);
        fs::write(dir.path().join("baseline.jsonl"), text).unwrap();
        let came = gate();
        assert_eq!((came.code, came.out.as_str()), (2, ""), "{words}: {}", came.err);
        assert!(came.err.contains(words) && came.err.contains("hint: "), "{words}: {}", came.err);
    }
}

#[test]
fn a_gate_compares_as_much_on_every_seed() {
    let dir = TempDir::new().unwrap();
    gate_with(dir.path(), 30, 4);
    assert_eq!(flyball(dir.path(), &["gate", "suite.toml", "--write"]).code, 0);
    for seed in ["1", "2", "3"] {
        let came = flyball(dir.path(), &["gate", "suite.toml", "--seed", seed]);
        assert_eq!(came.code, 0, "{}{}", came.out, came.err);
        let (settings, _) = came.out.split_once(" settings of laws on scenarios as they were").unwrap();
        // two laws with two settings each: on the scenario, without its noise, and on each script
        let count: u64 = settings.rsplit(' ').next().unwrap().parse().unwrap();
        assert_eq!(count % 4, 0, "{}", came.out);
    }
}

#[test]
fn a_flag_that_is_not_there_gets_no_misleading_tip_and_threads_are_named() {
    let dir = TempDir::new().unwrap();
    let unknown = flyball(dir.path(), &["recommend", "a.toml", "--budget", "5"]);
    assert_eq!(unknown.code, 2);
    assert!(
        unknown.err.contains("unexpected argument '--budget'") && !unknown.err.contains("-- --budget"),
        "{}",
        unknown.err
    );
    let near = flyball(dir.path(), &["recommend", "a.toml", "--wieghts", "5"]);
    assert!(near.err.contains("'--weights'"), "{}", near.err);
    assert!(flyball(dir.path(), &["recommend", "--help"]).out.contains("FLYBALL_THREADS"));
}
