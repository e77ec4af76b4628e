//! What is told beside results: of a ladder that is out of order, of a precision that was not reached, which laws there are, what a
//! sensitivity rests on.
#![cfg(feature = "cli")]
#![expect(clippy::unwrap_used, reason = "a test that cannot run the binary has failed")]

use std::fs;
use std::path::Path;

use assert_cmd::Command;
use tempfile::TempDir;

/// What a command says on stdout and on stderr.
fn flyball(dir: &Path, args: &[&str]) -> (String, String) {
    let output = Command::cargo_bin("flyball").unwrap().current_dir(dir).args(args).output().unwrap();
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap())
}

fn file(path: &str) -> String {
    format!("{}/{path}", env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn a_ladder_out_of_order_is_told_by_whatever_tries_settings_on_it() {
    let dir = TempDir::new().unwrap();
    let (down, swapped) = (file("gate/ladders/upside-down.toml"), file("gate/ladders/swapped.toml"));
    let few = ["--law", "reset", "--over", "300", "--slack", "0.3"];
    let sweep = |scenario: &str| [&["sweep", scenario, "--runs", "2", "--rounds", "20"], &few[..]].concat().join(" ");
    for (line, words) in [
        (sweep(&down), "upside-down: the ladder is upside down: rung-5"),
        (sweep(&swapped), "swapped: the ladder is not in order"),
        (format!("simulate {swapped} --rounds 10"), "swapped: the ladder is not in order"),
        (
            format!("recommend {swapped} {} --as-is --race 2 --runs 2 --rounds 20", few.join(" ")),
            "swapped: the ladder is not in order",
        ),
    ] {
        let (_, err) = flyball(dir.path(), &line.split(' ').collect::<Vec<_>>());
        assert!(err.contains(words) && err.contains("flyball pilot"), "{line}: {err}");
    }
    let typical = file("scenarios/s02-typical.toml");
    let (_, err) = flyball(dir.path(), &sweep(&typical).split(' ').collect::<Vec<_>>());
    assert!(!err.contains("the ladder is"), "{err}");
}

#[test]
fn the_help_of_what_takes_a_law_names_every_law() {
    let dir = TempDir::new().unwrap();
    for command in ["sweep", "explain", "simulate", "sensitivity", "replay"] {
        let help = flyball(dir.path(), &[command, "--help"]).0;
        let said: Vec<&str> = help.split(|letter: char| !letter.is_ascii_alphanumeric()).collect();
        for law in flyball::engine::LawKind::ALL {
            assert!(said.contains(&law.name()), "{command} {law}: {help}");
        }
    }
}

#[test]
fn a_precision_that_was_not_reached_is_told() {
    let dir = TempDir::new().unwrap();
    let typical = file("scenarios/s02-typical.toml");
    let few = [
        "sweep",
        &typical,
        "--law",
        "reset",
        "--over",
        "300",
        "--slack",
        "0.15,0.3",
        "--rounds",
        "30",
        "--html",
        "page.html",
    ];
    let of = |more: &[&str]| {
        let err = flyball(dir.path(), &[&few[..], more].concat()).1;
        (err, fs::read_to_string(dir.path().join("page.html")).unwrap())
    };
    let (err, page) = of(&["--precision", "0.0001", "--runs", "20"]);
    for said in [&err, &page] {
        assert!(said.contains("the precision that was asked for, 0.01 points, was not reached with 20 runs"), "{said}");
        assert!(said.contains("in 2 of 2 cells"), "{said}");
    }
    for enough in [&["--precision", "0.2", "--runs", "100"][..], &["--runs", "20"]] {
        let (err, page) = of(enough);
        assert!(!err.contains("was not reached") && !page.contains("was not reached"), "{err}");
    }
}

#[test]
fn a_sensitivity_says_what_was_moved_and_what_cannot_be_told() {
    let dir = TempDir::new().unwrap();
    let typical = file("scenarios/s02-typical.toml");
    let of = |more: &[&str]| {
        let few = ["sensitivity", &typical, "--runs", "1", "--rounds", "20", "--html", "page.html"];
        let out = flyball(dir.path(), &[&few[..], more].concat()).0;
        (out, fs::read_to_string(dir.path().join("page.html")).unwrap())
    };
    let (fixed, page) = of(&["--law", "fixed", "--points", "3"]);
    let on_rung = fixed.split("\non rung").nth(1).unwrap().split("\nreversals").next().unwrap();
    assert!(on_rung.contains("Nothing that was moved moves it."), "{fixed}");
    assert!(page.contains("Nothing that was moved moves it.") && !page.contains("hangs most on: gaps"));
    for words in ["gaps      0.5 to 2 times", "over      60 to 3600 s", "slack     0.05 to 0.5 of the target"] {
        assert!(fixed.contains(words), "{words}: {fixed}");
    }
    assert!(page.contains("over, 60 to 3600 s: the window"), "{page}");
    let (few, page) = of(&["--law", "reference", "--method", "sobol", "--points", "20"]);
    for said in [&few, &page] {
        assert!(said.contains("can be told from 0 with 20 points") && said.contains("raise --points"), "{said}");
    }
    let mut command = Command::cargo_bin("flyball").unwrap();
    let args = ["sensitivity", &typical, "--method", "sobol", "--points", "19"];
    let refused = command.current_dir(dir.path()).args(args).output().unwrap();
    let err = String::from_utf8(refused.stderr).unwrap();
    assert!(refused.status.code() == Some(2) && err.contains("--points: 19") && err.contains("from 20"), "{err}");
}
