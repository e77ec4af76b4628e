//! Whole comparisons: of an agent with itself, with another one, and with too little.

use super::compare::Standing;
use super::measure::Assumption;
use super::*;
use crate::engine::{Timestamp, Tokens};
use crate::sim::RoundDraw;

fn typical() -> Scenario {
    Scenario::load(include_str!("../../../scenarios/sonnet-5.toml"), "sonnet-5.toml").unwrap()
}

fn settings() -> Settings {
    Settings { samples: 100, ..Settings::default() }
}

/// Sessions that this agent makes at this rung, as logs would show them: the tool time is a gap.
fn made(scenario: &Scenario, rung: usize, sessions: u32, seed: u64) -> Vec<TurnRecord> {
    let mut luck = scenario.agent.luck(seed, 0, sessions);
    let (mut draw, mut records) = (RoundDraw::default(), Vec::new());
    for session in 0..sessions {
        luck.realise(rung, session, &mut draw);
        let mut now = u64::from(session) * 100_000_000;
        for (tokens, millis) in draw.tokens.iter().zip(&draw.millis) {
            let answer = u64::from(*tokens) * 1000 / 91;
            let start = now + u64::from(*millis).saturating_sub(answer);
            now += u64::from(*millis);
            let mut record = TurnRecord::new(
                u64::from(session) + 1,
                Timestamp::from_millis(now),
                Tokens::new((*tokens).into()),
                "test",
            );
            record.model = Some("claude-sonnet-5".into());
            record.effort_confirmed = Some(scenario.ladder.efforts()[rung].word().into());
            record.start = Some(Timestamp::from_millis(start.min(now)));
            records.push(record);
        }
    }
    records
}

#[test]
fn an_agent_passes_against_itself() {
    let scenario = typical();
    let report = validate(&made(&scenario, 2, 24, 5), &scenario, &settings()).unwrap();
    assert_eq!((report.model.as_str(), report.verdict), ("claude-sonnet-5", Verdict::Pass), "{:#?}", report.groups);
    let [real, simulated] = report.window_cv;
    assert!(real.lo < simulated.hi && simulated.lo < real.hi, "{real:?} {simulated:?}");
    assert!(real.mean > real.lo && real.mean < real.hi);
    assert_eq!(report.groups.len(), 1);
    assert_eq!(report.groups[0].spread.real.len(), report.groups[0].spread.simulated.len());
    assert_eq!(report, validate(&made(&scenario, 2, 24, 5), &scenario, &settings()).unwrap(), "the same again");
}

#[test]
fn what_does_not_fit_is_named() {
    let scenario = typical();
    let fails = |change: &dyn Fn(&mut TurnRecord)| {
        let mut records = made(&scenario, 2, 24, 5);
        records.iter_mut().for_each(change);
        let report = validate(&records, &scenario, &settings()).unwrap();
        assert_eq!(report.verdict, Verdict::Fail);
        let failing = report.groups[0].standings.iter().filter(|(_, standing)| *standing == Standing::Fails);
        (failing.map(|(assumption, _)| *assumption).collect::<Vec<_>>(), report)
    };
    let (sizes, report) = fails(&|record| record.output = Tokens::new(record.output.count() * 3));
    assert!(sizes.contains(&Assumption::Size) && !sizes.contains(&Assumption::Gaps), "{sizes:?}");
    assert_eq!(report.groups[0].culprit(), Some(Assumption::Size));
    let stretched = |time: Timestamp| Timestamp::from_millis(time.millis() * 3);
    let (slow, _) = fails(&|record| {
        record.end = stretched(record.end);
        record.start = record.start.map(stretched);
    });
    assert!(
        slow.contains(&Assumption::Time) && slow.contains(&Assumption::Gaps) && !slow.contains(&Assumption::Size),
        "{slow:?}"
    );
    let (apart, _) = fails(&|record| record.output = Tokens::new(record.output.count() * (1 << (record.round % 3))));
    assert!(apart.contains(&Assumption::Session), "{apart:?}");
}

#[test]
fn memory_that_is_not_in_the_model_is_named() {
    let scenario = typical();
    let mut records = made(&scenario, 2, 24, 5);
    // the sizes of each session in order: long runs of small ones and of large ones
    for session in records.chunk_by_mut(|a, b| a.round == b.round) {
        let mut sizes: Vec<Tokens> = session.iter().map(|record| record.output).collect();
        sizes.sort_unstable();
        session.iter_mut().zip(sizes).for_each(|(record, size)| record.output = size);
    }
    let report = validate(&records, &scenario, &settings()).unwrap();
    assert_eq!(report.verdict, Verdict::Fail);
    let group = &report.groups[0];
    let off = group.figure(Statistic::Off50).unwrap();
    assert!(off.real.mean > off.simulated.mean, "{off:?}");
    assert!(group.standings.contains(&(Assumption::Memory, Standing::Fails)), "{:?}", group.standings);
    assert!(group.standings.contains(&(Assumption::Size, Standing::Holds)), "{:?}", group.standings);
}

#[test]
fn too_few_sessions_are_no_verdict() {
    let scenario = typical();
    let all = made(&scenario, 2, 24, 5);
    let long: Vec<&[TurnRecord]> =
        all.chunk_by(|a, b| a.round == b.round).filter(|session| session.len() >= 30).collect();
    for sessions in [0, 1, 3] {
        let mut records = long[..sessions].concat();
        records.extend_from_slice(&long[9][..7]);
        // a lone session and a short one at other efforts have no interval, and take none away
        for (at, (effort, turns)) in (50..).zip([("low", 30), ("max", 9)]) {
            records.extend(long[8][..turns].iter().cloned().map(|record| TurnRecord {
                round: at,
                effort_confirmed: Some(effort.into()),
                ..record
            }));
        }
        let report = validate(&records, &scenario, &settings()).unwrap();
        assert_eq!(report.verdict, Verdict::TooLittleData, "{sessions}");
        let found: Vec<(&str, usize)> =
            report.groups.iter().map(|group| (group.effort.as_str(), group.sessions)).collect();
        assert_eq!(found, [("max", 0), ("high", sessions), ("low", 1)]);
        assert!(report.groups.iter().all(|group| group.verdict == Verdict::TooLittleData));
        assert!(report.window_cv[0].mean.is_some(), "{:?}", report.window_cv);
        assert_eq!(report.window_cv[0].lo.is_some(), sessions > 1, "{:?}", report.window_cv);
    }
    assert!(matches!(validate(&[], &scenario, &settings()), Err(ValidateError::Model(ModelError::Nothing))));
}

#[test]
fn efforts_off_the_ladder_and_unsaid_are_told() {
    let scenario = typical();
    let mut records = made(&scenario, 2, 8, 5);
    let last = records.len() - 1;
    records[0].effort_confirmed = None;
    records[last].effort_confirmed = Some("ultra".into());
    let report = validate(&records, &scenario, &settings()).unwrap();
    let told = report.notes.join("\n");
    assert!(told.contains("ultra") && told.contains("1 of"), "{told}");
}

#[test]
fn folds_leave_out_what_they_predict() {
    let scenario = typical();
    let records = made(&scenario, 2, 12, 5);
    let report = cross_validate(&records, &scenario, &settings(), 3).unwrap();
    assert_eq!((report.folds, report.groups[0].sessions >= 8), (Some(3), true));
    assert_eq!(report.verdict, Verdict::Pass, "{:#?}", report.groups[0].figures);
    for folds in [0, 1] {
        let error = cross_validate(&records, &scenario, &settings(), folds).unwrap_err();
        assert!(matches!(error, ValidateError::Folds(_)), "{error}");
    }
}

#[test]
fn folds_that_cannot_be_fitted_are_too_little_data() {
    let scenario = typical();
    let records = made(&scenario, 2, 12, 5);
    let report = cross_validate(&records, &scenario, &settings(), 13).unwrap();
    assert_eq!((report.verdict, report.groups[0].verdict), (Verdict::TooLittleData, Verdict::TooLittleData));
    assert!(report.unfitted[0].contains("there are 12"), "{:?}", report.unfitted);
    let cv = report.window_cv;
    assert!(cv[0].mean.is_some() && cv[1] == Range::default(), "the recorded side is shown alone: {cv:?}");
    assert!(report.groups[0].spread.simulated.is_empty());

    // two sessions of this model: beside the long one there is next to nothing
    let long = records.chunk_by(|a, b| a.round == b.round).find(|session| session.len() >= 40).unwrap();
    let mut two = long[..40].to_vec();
    two.extend(long[..5].iter().cloned().map(|record| TurnRecord { round: 99, ..record }));
    let report = cross_validate(&two, &scenario, &settings(), 2).unwrap();
    assert_eq!((report.verdict, report.unfitted.len()), (Verdict::TooLittleData, 1), "{report:?}");
}

#[test]
fn folds_are_dealt_by_size_and_never_predict_themselves() {
    let scenario = typical();
    let records = made(&scenario, 2, 9, 5);
    let dealt = deal(&records, "claude-sonnet-5", 3);
    let turns = |session: u64| records.iter().filter(|record| record.round == session).count();
    for fold in 0..3 {
        let own: Vec<u64> = dealt.iter().filter(|(_, at)| **at == fold).map(|(session, _)| *session).collect();
        assert_eq!(own.len(), 3, "{dealt:?}");
        let longest = own.iter().map(|session| turns(*session)).max().unwrap();
        let longer = dealt.keys().filter(|session| turns(**session) > longest).count();
        assert!(longer < 3, "each fold has one of the three longest");
        let others = beside(&records, &dealt, fold);
        assert!(others.iter().all(|record| !own.contains(&record.round)));
        let held: usize = own.iter().map(|session| turns(*session)).sum();
        assert_eq!(others.len() + held, records.len());
    }
    let samples = gather(&records, "claude-sonnet-5", &settings(), &|session| Some(dealt[&session] as usize));
    let stretches = &samples["high"].stretches;
    assert!(!stretches.is_empty());
    assert!(stretches.iter().all(|(stretch, agent)| dealt[&stretch.session] as usize == *agent));
}
