//! What no number can be is refused before anything is done, by every flag of every command, in words that say what would be right.
//!
//! The flags are those of the help itself, so that a new one is looked at too.
#![cfg(feature = "cli")]
#![expect(clippy::unwrap_used, reason = "a test that cannot run the binary has failed")]

use std::process::Command;
use std::thread;

use tempfile::TempDir;

const TYPICAL: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/scenarios/s02-typical.toml");
const GPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/scenarios/gpt-5.5.toml");
const LOGS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/logs/codex-rollout");
const SUITE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/gate/suite.toml");

/// A command with what it needs, and the flags that refuse 0 as well.
struct Of {
    words: &'static [&'static str],
    above_zero: &'static [&'static str],
}

const COMMANDS: &[Of] = &[
    Of {
        words: &["sweep", TYPICAL],
        above_zero: &["--juice", "--over", "--runs", "--rounds", "--threads", "--precision"],
    },
    Of { words: &["recommend", TYPICAL], above_zero: &["--juice", "--over", "--runs", "--race", "--rounds"] },
    Of { words: &["explain", TYPICAL], above_zero: &["--juice", "--over"] },
    Of { words: &["simulate", TYPICAL], above_zero: &["--juice", "--over", "--rounds"] },
    Of { words: &["sensitivity", TYPICAL], above_zero: &["--points", "--runs", "--rounds"] },
    Of { words: &["gate", SUITE], above_zero: &[] },
    Of { words: &["calibrate", LOGS], above_zero: &["--resamples"] },
    Of { words: &["validate", GPT, LOGS], above_zero: &["--over", "--folds", "--turns", "--samples"] },
    Of { words: &["replay", LOGS], above_zero: &["--juice", "--over"] },
    Of { words: &["pilot", TYPICAL], above_zero: &["--precision"] },
    Of {
        words: &["run", "--agent", "sim", "a task"],
        above_zero: &[
            "--juice",
            "--over",
            "--max-rounds",
            "--limit-rounds",
            "--no-progress",
            "--same-error",
            "--oracle-timeout",
            "--oracle-blocked",
            "--prompt-limit",
            "--max-wall",
            "--round-cap",
            "--inactivity",
            "--max-requests",
            "--max-failures",
            "--call-turns",
            "--call-cost",
            "--speed",
        ],
    },
    Of { words: &["status"], above_zero: &[] },
    Of { words: &["study", TYPICAL], above_zero: &["--runs", "--rounds", "--threads"] },
];

/// What a flag of this kind, as the help calls it, cannot be; nothing where it is no number.
fn never(flag: &str, kind: &str) -> &'static [&'static str] {
    match kind {
        "N" | "K" | "FACTOR" | "BYTES" | "CODE" => &["-1", "1.5", "nan", "18446744073709551616"],
        "TIME" | "SHARE" | "TOKENS" | "USD" | "MILLIONS" => &["-1", "nan", "inf", "1e999"],
        "LIST" if ["--juice", "--over", "--slack", "--rest"].contains(&flag) => &["-1", "nan", "inf", "1e999"],
        _ => &[],
    }
}

fn flyball(dir: &TempDir, words: &[&str]) -> (Option<i32>, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_flyball"));
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("FLYBALL_")) {
        command.env_remove(name);
    }
    let came = command.args(words).current_dir(dir.path()).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (came.status.code(), text(&came.stdout), text(&came.stderr))
}

/// The flags of a command with their kinds.
fn flags(dir: &TempDir, name: &str) -> Vec<(String, String)> {
    let (_, help, _) = flyball(dir, &[name, "--help"]);
    let flag = |line: &str| {
        let (flag, rest) = line[line.find("--")?..].split_once(" <")?;
        Some((flag.to_owned(), rest.split_once('>')?.0.to_owned()))
    };
    help.lines().filter(|line| line.trim_start().starts_with('-')).filter_map(flag).collect()
}

/// How many values of one command were refused.
fn refused(of: &Of) -> usize {
    let dir = TempDir::new().unwrap();
    let mut looked = 0;
    for (flag, kind) in flags(&dir, of.words[0]) {
        let zero: &[&str] = if of.above_zero.contains(&&*flag) { &["0"] } else { &[] };
        for value in never(&flag, &kind).iter().chain(zero) {
            let given = format!("{flag}={value}");
            let words: Vec<&str> = [of.words[0], &given].into_iter().chain(of.words[1..].iter().copied()).collect();
            let (code, out, err) = flyball(&dir, &words);
            assert_eq!((code, &*out), (Some(2), ""), "{words:?}\n{err}");
            let says = ["it must", "it is too large", "it is no duration", "is no name=weight"]
                .iter()
                .any(|words| err.contains(words));
            assert!(says && err.contains(&*flag), "{words:?}\n{err}");
            looked += 1;
        }
    }
    let made = std::fs::read_dir(dir.path()).unwrap().count();
    assert_eq!(made, 0, "{}: something was done before", of.words[0]);
    let known = |flag: &&str| flags(&dir, of.words[0]).iter().any(|(own, _)| own == flag);
    assert!(of.above_zero.iter().all(known), "{}", of.words[0]);
    looked
}

#[test]
fn what_no_number_can_be_is_refused_by_every_flag_in_words() {
    let looked: usize = thread::scope(|scope| {
        let all: Vec<_> = COMMANDS.iter().map(|of| scope.spawn(|| refused(of))).collect();
        all.into_iter().map(|one| one.join().unwrap()).sum()
    });
    assert!(looked > 300, "{looked}: the help was not read");
}
