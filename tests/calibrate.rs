//! The committed scenarios are what the fits make of the committed logs, to the byte.
#![cfg(all(feature = "agents", feature = "lab"))]
#![expect(clippy::unwrap_used, reason = "a test that cannot read its data has failed")]

use std::fs;
use std::path::Path;

use flyball::agents::{LogReader, join};
use flyball::engine::TurnRecord;
use flyball::lab::fit::{Calibration, Options, calibrate, survey};
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

/// With `FLYBALL_BLESS` set the files are written anew, to be looked at before they are committed.
#[test]
fn the_committed_scenarios_are_what_comes_out() {
    for (fit, file) in [(sonnet(), "scenarios/sonnet-5.toml"), (gpt(), "scenarios/gpt-5.5.toml")] {
        let path = root().join(file);
        if std::env::var_os("FLYBALL_BLESS").is_some() {
            fs::write(&path, fit.to_toml()).unwrap();
        }
        assert_eq!(fit.to_toml(), fs::read_to_string(&path).unwrap(), "{file}");
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
