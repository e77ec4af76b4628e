//! The committed scenarios are what the fits make of the committed logs, to the byte.
#![cfg(all(feature = "agents", feature = "lab"))]
#![expect(clippy::unwrap_used, reason = "a test that cannot read its data has failed")]

use std::fs;
use std::path::Path;

use flyball::agents::{LogReader, join};
use flyball::engine::TurnRecord;
use flyball::lab::fit::{Asked, Calibration, Figures, Options, calibrate, figures, survey};
use flyball::lab::grid::Axes;
use flyball::lab::scenario::{Evidence, Scenario};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn records(folder: &str) -> Vec<TurnRecord> {
    let mut files: Vec<_> =
        fs::read_dir(root().join("tests/data/logs").join(folder)).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let logs: Vec<_> = files
        .iter()
        .map(|file| {
            let mut reader = LogReader::new();
            reader.push(&fs::read(file).unwrap());
            reader.finish().unwrap()
        })
        .collect();
    join(&logs).turns
}

fn made(folder: &str, model: &str, source: &str) -> Calibration {
    let options = Options { model: Some(model.to_owned()), source: source.to_owned(), ..Options::default() };
    calibrate(&records(folder), &options).unwrap()
}

fn sonnet() -> Calibration {
    made("claude-code-session", "claude-sonnet-5", "public logs of JanDeDobbeleer/oh-my-posh (MIT)")
}

fn gpt() -> Calibration {
    made("codex-rollout", "gpt-5.5", "public logs of EntityProcess/agentv (MIT)")
}

/// The intervals of a fit of these logs.
fn intervals(folder: &str, fit: &Calibration) -> Figures {
    figures(&records(folder), fit, &Asked::default())
}

/// With `FLYBALL_BLESS` set the files are written anew, to be looked at before they are committed.
#[test]
fn the_committed_scenarios_are_what_comes_out() {
    for (fit, logs, file) in [
        (sonnet(), "claude-code-session", "scenarios/sonnet-5.toml"),
        (gpt(), "codex-rollout", "scenarios/gpt-5.5.toml"),
    ] {
        let (path, text) = (root().join(file), fit.to_toml_with(&intervals(logs, &fit)));
        if std::env::var_os("FLYBALL_BLESS").is_some() {
            fs::write(&path, &text).unwrap();
        }
        assert_eq!(text, fs::read_to_string(&path).unwrap(), "{file}");
        let bare = |text: &str| text.lines().filter(|line| !line.starts_with('#')).collect::<Vec<_>>().join("\n");
        assert_eq!(bare(&text), bare(&fit.to_toml()), "intervals are comments and change no number");
        assert_eq!(format!("{}.toml", fit.name), path.file_name().unwrap().to_str().unwrap());
    }
}

#[test]
fn two_lognormals_fit_no_worse_than_one_and_well() {
    let groups = [survey(&records("claude-code-session")), survey(&records("codex-rollout"))].concat();
    let fitted: Vec<_> = groups.iter().filter_map(|group| Some((group, group.families?))).collect();
    assert_eq!(fitted.len(), 4);
    for (group, families) in fitted {
        assert!(families.ks_mixture <= families.ks_lognormal, "{group:?}");
        assert!(families.ks_mixture < 0.06, "{group:?}");
        let mean = families.mixture.mean();
        assert!((mean / group.mean - 1.0).abs() < 0.15, "the fitted mean {mean} against {}", group.mean);
    }
}

#[test]
fn measured_rungs_are_those_of_the_logs_and_the_others_say_that_they_are_assumed() {
    let shown =
        |fit: &Calibration| fit.rungs.iter().map(|rung| (rung.effort.clone(), rung.is_measured())).collect::<Vec<_>>();
    let expected =
        |words: &[(&str, bool)]| words.iter().map(|&(word, measured)| (word.to_owned(), measured)).collect::<Vec<_>>();
    assert_eq!(
        shown(&sonnet()),
        expected(&[("max", false), ("xhigh", false), ("high", true), ("medium", false), ("low", false)])
    );
    assert_eq!(shown(&gpt()), expected(&[("xhigh", true), ("high", true), ("medium", true), ("low", false)]));
}

#[test]
fn the_scenarios_load_and_their_targets_lie_inside_the_ladder() {
    for fit in [sonnet(), gpt()] {
        let scenario = Scenario::load(&fit.to_toml(), &fit.name).unwrap();
        assert!(scenario.grid(Axes::default()).unwrap().len() >= 200);
        for (rung, evidence) in fit.rungs.iter().zip(&scenario.evidence) {
            assert_eq!(rung.is_measured(), matches!(evidence, Evidence::Measured { .. }), "{}", rung.effort);
        }
        let means = scenario.derived().means;
        for (rung, mean) in fit.rungs.iter().zip(&means) {
            assert!((rung.sizes.mean() / mean - 1.0).abs() < 0.005, "{}: {mean}", rung.effort);
        }
        let (low, high) = means.iter().fold((f64::MAX, 0.0_f64), |(low, high), &mean| (low.min(mean), high.max(mean)));
        for target in fit.targets {
            let target = f64::from(u32::try_from(target).unwrap());
            assert!(low < target && target < high, "{target} in {means:?}");
        }
    }
}

#[test]
fn intervals_hold_their_numbers_and_come_with_a_count() {
    for (fit, logs) in [(sonnet(), "claude-code-session"), (gpt(), "codex-rollout")] {
        let found = intervals(logs, &fit);
        assert!(found.units >= 5 && !found.blocks);
        for rung in fit.rungs.iter().filter(|rung| rung.is_measured()) {
            let own = found.effort(&rung.effort).unwrap();
            assert_eq!(own.blocks, own.sessions < 5, "{own:?}");
            for name in ["mean", "median", "p90", "cv", "narrow_weight", "wide_mu"] {
                let figure = found.of_effort(&rung.effort, name).unwrap();
                let interval = figure.interval.unwrap();
                assert!(interval.covers(figure.value) && interval.lo < interval.hi, "{figure:?}");
            }
        }
        for name in ["session_sd", "turns_mean", "overhead", "speed", "tool"] {
            assert!(found.of_model(name).unwrap().interval.is_some(), "{name}");
        }
        assert_eq!(found, intervals(logs, &fit), "the same draws come to the same numbers");
    }
}

#[cfg(feature = "cli")]
mod command {
    use super::root;
    use assert_cmd::Command;
    use serde_json::Value;
    use std::fs;
    use std::path::Path;
    use tempfile::TempDir;

    fn flyball(dir: &Path, args: &[&str]) -> (i32, String, String) {
        let logs = root().join("tests/data/logs/codex-rollout").display().to_string();
        let mut command = Command::new(env!("CARGO_BIN_EXE_flyball"));
        let came =
            command.current_dir(dir).args(["calibrate", &logs, "--resamples", "40"]).args(args).output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        (came.status.code().unwrap(), text(came.stdout), text(came.stderr))
    }

    #[test]
    fn a_survey_has_every_model_and_effort_and_writes_nothing() {
        let dir = TempDir::new().unwrap();
        let (code, out, err) = flyball(dir.path(), &[]);
        assert_eq!(code, 0, "{err}");
        for text in ["gpt-5.5", "gpt-5.3-codex-spark", "xhigh", "KS mixture", "session share", "seed"] {
            assert!(out.contains(text), "{text:?} is missing:\n{out}");
        }
        let (_, json, _) = flyball(dir.path(), &["--format", "json"]);
        let value: Value = serde_json::from_str(&json).unwrap();
        let groups = value["groups"].as_array().unwrap();
        assert_eq!(groups.len(), 4);
        for group in groups.iter().filter(|group| group["families"].is_object()) {
            let ks = |family: &str| group["families"][family]["ks"].as_f64().unwrap();
            assert!(ks("mixture") <= ks("lognormal"), "{group}");
        }
        let (_, csv, _) = flyball(dir.path(), &["--format", "csv", "--model", "gpt-5.5"]);
        assert_eq!(csv.lines().count(), 4, "{csv}");
        assert_eq!(flyball(dir.path(), &["--model", "gpt-7"]).0, 2);
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
    }

    #[test]
    fn json_of_a_calibration_has_it_and_pictures_go_where_they_are_told() {
        let dir = TempDir::new().unwrap();
        let (code, out, err) = flyball(dir.path(), &["-o", "mine.toml", "--format", "json", "--plots", "shown"]);
        assert_eq!(code, 0, "{err}");
        let value: Value = serde_json::from_str(&out).unwrap();
        assert_eq!(value["calibration"]["name"], "mine");
        let speed = &value["calibration"]["figures"]["speed"];
        assert!(speed["lo"].as_f64().unwrap() < speed["value"].as_f64().unwrap(), "{speed}");
        let mut names: Vec<String> = fs::read_dir(dir.path().join("shown"))
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        let expected = ["density", "qq", "time", "windows"]
            .iter()
            .flat_map(|name| ["json", "png", "svg"].map(|end| format!("{name}.{end}")));
        assert_eq!(names, expected.collect::<Vec<_>>());
    }

    #[test]
    fn a_file_that_is_not_ours_is_kept_unless_forced() {
        let dir = TempDir::new().unwrap();
        fs::write(dir.path().join("mine.toml"), "format = 1\n").unwrap();
        let (code, _, err) = flyball(dir.path(), &["-o", "mine.toml"]);
        assert_eq!(code, 2);
        assert!(err.contains("mine.toml") && err.contains("--force"), "{err}");
        assert_eq!(fs::read_to_string(dir.path().join("mine.toml")).unwrap(), "format = 1\n");
        assert_eq!(flyball(dir.path(), &["-o", "mine.toml", "--force"]).0, 0);
        let made = fs::read_to_string(dir.path().join("mine.toml")).unwrap();
        assert_eq!(flyball(dir.path(), &["-o", "mine.toml"]).0, 0, "its own file is made again");
        assert_eq!(fs::read_to_string(dir.path().join("mine.toml")).unwrap(), made);
        let (code, _, err) = flyball(dir.path(), &["-o", "-", "--format", "json"]);
        assert!(code == 2 && err.contains("-o -"), "{err}");
    }
}
