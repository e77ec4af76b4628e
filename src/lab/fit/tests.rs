//! Whole calibrations of made records: what comes out, and why nothing does.

use super::*;
use crate::engine::{Grade, Timestamp, Tokens};
use proptest::prelude::*;

/// A call of known size that took a second.
pub(super) fn record(model: &str, effort: &str, session: u64, end: u64, output: u64) -> TurnRecord {
    let mut record = TurnRecord::new(session, Timestamp::from_millis(end), Tokens::new(output), "test");
    record.model = Some(model.into());
    record.effort_confirmed = Some(effort.into());
    record.session = Some(format!("s{session}").into());
    record.start = Some(Timestamp::from_millis(end.saturating_sub(1000)));
    record
}

/// Sessions of `calls` calls at one effort, sizes spread over a decade around `size`, 50 tokens a second after 2 s.
pub(super) fn made(effort: &str, sessions: u64, calls: u64, size: u64) -> Vec<TurnRecord> {
    let mut records = Vec::new();
    for session in 1..=sessions {
        let mut now = 1_000_000 * session;
        for at in 0..calls {
            let output = size / 4 + (at * 7919 + session * 104_729) % 100 * ((at * 31 + session) % 17) * size / 800;
            let start = now;
            now += 2000 + output * 20;
            let mut record = record("claude-sonnet-5", effort, session, now, output);
            record.start = Some(Timestamp::from_millis(start));
            records.push(record);
            now += 3000;
        }
    }
    records
}

fn options() -> Options {
    Options::default()
}

#[test]
fn one_measured_rung_makes_a_whole_ladder() {
    let mut records = made("high", 4, 40, 400);
    records.extend(made("low", 1, 10, 100).into_iter().map(|record| TurnRecord {
        round: 9,
        session: Some("s9".into()),
        ..record
    }));
    let fit = calibrate(&records, &options()).unwrap();
    assert_eq!((fit.name.as_str(), fit.start.as_str(), fit.calls), ("sonnet-5", "high", 170));
    let measured: Vec<bool> = fit.rungs.iter().map(RungFit::is_measured).collect();
    assert_eq!(measured, [false, false, true, false, false]);
    assert!(matches!(&fit.rungs[4].origin, Origin::Assumed { from, seen: 10, .. } if from == "high"));
    assert!((fit.timing.speed - 50.0).abs() < 0.1 && (fit.timing.tool - 3.0).abs() < 1e-9, "{:?}", fit.timing);
    let means: Vec<f64> = fit.rungs.iter().map(|rung| rung.sizes.mean()).collect();
    let [soft, middle, hard] = fit.targets.map(numeric::float);
    assert!(means[4] < soft && soft < middle && middle < hard && hard < means[0], "{means:?} {:?}", fit.targets);

    let text = fit.to_toml();
    let table: toml::Table = toml::from_str(&text).unwrap();
    let rungs = table["rung"].as_array().unwrap();
    for rung in rungs {
        let size = &rung["size"];
        let weights = ["narrow", "wide"].map(|part| size[part]["weight"].as_float().unwrap());
        assert!((weights[0] + weights[1] - 1.0).abs() < 1e-9);
    }
    assert!(rungs[2].get("measured").is_some() && rungs[2].get("assumed").is_none());
    assert!(rungs[0].get("measured").is_none() && table["prior"].get(rungs[0]["assumed"].as_str().unwrap()).is_some());
    let axes = table["sweep"].as_table().unwrap().values().map(|axis| axis.as_array().unwrap().len());
    assert_eq!(axes.product::<usize>(), 216);
}

#[test]
fn the_order_of_the_records_makes_no_difference() {
    let records = made("high", 4, 40, 400);
    let reversed: Vec<_> = records.iter().rev().cloned().collect();
    assert_eq!(calibrate(&records, &options()).unwrap().to_toml(), calibrate(&reversed, &options()).unwrap().to_toml());
}

#[test]
fn too_little_is_refused_and_says_what_is_missing() {
    assert_eq!(calibrate(&[], &options()), Err(FitError::NoCalls));
    let few = calibrate(&made("high", 1, 29, 400), &options()).unwrap_err();
    assert!(matches!(&few, FitError::TooFew { calls: 29, .. }) && few.to_string().contains("at least 30"), "{few}");
    assert!(calibrate(&made("high", 1, 30, 400), &options()).is_ok());

    let mut patchy = made("high", 4, 40, 400);
    for record in &mut patchy[..17] {
        record.grade = Grade::Unknown;
    }
    assert!(matches!(calibrate(&patchy, &options()), Err(FitError::Coverage { known: 143, calls: 160, .. })));
    patchy[0].grade = Grade::Known;
    assert!(calibrate(&patchy, &options()).is_ok());

    let mut silent = made("high", 4, 40, 400);
    for record in &mut silent {
        record.effort_confirmed = None;
    }
    assert!(matches!(calibrate(&silent, &options()), Err(FitError::NoEffort { calls: 160, .. })));
    for record in &mut silent {
        record.effort_asked = Some("high".into());
        record.start = None;
    }
    assert!(matches!(calibrate(&silent, &options()), Err(FitError::NoTimes { .. })));
}

#[test]
fn models_and_ladders_must_be_clear() {
    let mut records = made("high", 4, 40, 400);
    let ask = |records: &[TurnRecord], model: Option<&str>, efforts: &[&str]| {
        let efforts = efforts.iter().map(|&word| word.to_owned()).collect();
        calibrate(records, &Options { model: model.map(str::to_owned), efforts, ..options() })
    };
    for (at, record) in records.iter_mut().enumerate().take(60) {
        record.model = Some(if at % 2 == 0 { "claude-opus-5" } else { "gemini-9" }.into());
    }
    assert_eq!(ask(&records, None, &[]).unwrap().model, "claude-sonnet-5");
    assert_eq!(ask(&records, Some("opus"), &[]).unwrap().model, "claude-opus-5");
    assert!(matches!(ask(&records, Some("claude"), &[]), Err(FitError::Model { seen, .. }) if seen.len() == 3));
    assert!(matches!(ask(&records, Some("gemini-9"), &[]), Err(FitError::NoLadder { .. })));
    assert_eq!(ask(&records, Some("gemini-9"), &["high", "low"]).unwrap().rungs.len(), 2);
    assert!(matches!(ask(&records, None, &["ultra", "high"]), Err(FitError::NoPrior { effort }) if effort == "ultra"));
    assert!(matches!(ask(&records, None, &["high", "high"]), Err(FitError::Ladder { .. })));
    assert!(matches!(ask(&records, None, &["high"]), Err(FitError::Ladder { .. })));
    let named = calibrate(&records, &Options { name: Some("../x".into()), ..options() });
    assert!(matches!(named, Err(FitError::Name { .. })));
}

#[test]
fn the_session_effect_is_taken_off_the_sizes_and_the_mean_kept() {
    let mut records = made("high", 6, 40, 400);
    for record in &mut records {
        record.output = Tokens::new(record.output.count() * (1 << (record.round % 3)));
    }
    let fit = calibrate(&records, &options()).unwrap();
    let raw = fit.groups[0].families.unwrap().mixture;
    let sizes = fit.rungs[2].sizes;
    assert!(fit.tau > 0.3 && sizes.wide.sigma < raw.wide.sigma, "{fit:?}");
    assert!((sizes.mean() / raw.mean() - 1.0).abs() < 1e-9);
}

proptest! {
    #[test]
    fn no_records_make_it_panic(
        rows in proptest::collection::vec((0_u64..3, any::<u64>(), any::<u64>(), 0_u8..4, 0_u8..3), 0..120),
    ) {
        let records: Vec<TurnRecord> = rows.into_iter().map(|(session, end, output, effort, grade)| {
            let effort = ["high", "low", "xhigh", "odd"][usize::from(effort)];
            let mut record = record("gpt-5.5", effort, session, end, output);
            record.grade = [Grade::Known, Grade::Known, Grade::Estimated][usize::from(grade)];
            record
        }).collect();
        if let Ok(fit) = calibrate(&records, &options()) {
            prop_assert!(toml::from_str::<toml::Table>(&fit.to_toml()).is_ok());
        }
    }
}
