//! Output files and folders of the real binary are tried before the work that fills them.
#![cfg(feature = "cli")]
#![expect(clippy::unwrap_used, reason = "a test that cannot run the binary has failed")]

use std::fs;
use std::path::Path;

use assert_cmd::Command;
use tempfile::TempDir;

fn root(path: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path).display().to_string()
}

/// Exit code, stdout and stderr.
fn flyball(dir: &Path, args: &[&str]) -> (i32, String, String) {
    let mut command = Command::cargo_bin("flyball").unwrap();
    let output = command.current_dir(dir).env_remove("FLYBALL_THREADS").args(args).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

#[cfg(unix)]
#[test]
fn an_output_that_cannot_be_written_is_found_out_before_anything_else_is() {
    let dir = TempDir::new().unwrap();
    fs::create_dir(dir.path().join("folder")).unwrap();
    fs::write(dir.path().join("file"), "").unwrap();
    // in this folder and no device: what is written over by mistake is gone
    assert!(std::process::Command::new("mkfifo").arg(dir.path().join("pipe")).status().unwrap().success());
    let typical = root("scenarios/s02-typical.toml");
    let logs = root("tests/data/logs/codex-rollout");
    let gate = root("gate/suite.toml");
    for (html, why) in [
        ("nowhere/x.html", "No such file"),
        ("folder", "it is a folder"),
        ("file/x.html", "Not a directory"),
        ("pipe", "is no file"),
    ] {
        let words = format!("error: cannot write {html}\n  ");
        for args in [
            &[
                "sweep", &typical, "--law", "reset", "--over", "300", "--slack", "0.3", "--runs", "8", "--html", html,
                "--out", "out",
            ][..],
            &["recommend", &typical, "--law", "reset", "--runs", "2", "--race", "2", "--html", html, "--out", "out"],
            &["sensitivity", &typical, "--points", "2", "--runs", "1", "--html", html, "--plots", "out"],
            &["gate", &gate, "--html", html],
        ] {
            let (code, out, err) = flyball(dir.path(), args);
            assert_eq!((code, out.as_str()), (2, ""), "{args:?}: {err}");
            assert!(err.contains(&words) && err.contains(why) && err.contains("\nhint: "), "{args:?}: {err}");
            assert!(!dir.path().join("out").exists(), "{args:?}");
        }
    }
    // no log is read before, though it would be refused as well
    for (args, words) in [
        (&["calibrate", "nosuch", "-o", "folder/mine.toml", "--plots", "file"][..], "cannot write results to file"),
        (&["validate", &typical, "nosuch", "--plots", "file"], "cannot write results to file"),
        (&["calibrate", &logs, "-o", "file/mine.toml", "--plots", "out"], "file/mine.toml"),
        (&["simulate", &typical, "--out", "file"], "cannot write results to file"),
        (&["sweep", &typical, "--out", "file"], "cannot write results to file"),
    ] {
        let (code, out, err) = flyball(dir.path(), args);
        assert_eq!((code, out.as_str()), (2, ""), "{args:?}: {err}");
        assert!(err.contains(words), "{args:?}: {err}");
    }
    let mut left: Vec<_> = fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    left.sort();
    assert_eq!(left, ["file", "folder", "pipe"]);
    assert_eq!(fs::read_dir(dir.path().join("folder")).unwrap().count(), 0);
}

#[test]
fn a_page_may_stand_in_the_folder_that_is_made_for_results() {
    let dir = TempDir::new().unwrap();
    let typical = root("scenarios/s02-typical.toml");
    let args = [
        "sensitivity",
        &typical,
        "--points",
        "2",
        "--runs",
        "1",
        "--rounds",
        "10",
        "--plots",
        "out",
        "--html",
        "out/x.html",
    ];
    let (code, _, err) = flyball(dir.path(), &args);
    assert_eq!(code, 0, "{err}");
    assert!(dir.path().join("out/x.html").is_file());
}
