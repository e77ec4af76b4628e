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
