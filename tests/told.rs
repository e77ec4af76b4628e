//! What is told beside results: of a ladder that is out of order, of a precision that was not reached, which laws there are, what a
//! sensitivity rests on.
#![cfg(feature = "cli")]
#![expect(clippy::unwrap_used, reason = "a test that cannot run the binary has failed")]

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
