//! A trace says what happened, can be read back, and its facts give its orders again.
#![cfg(feature = "lab")]
#![expect(clippy::unwrap_used, reason = "a test that cannot read its own trace has failed")]

use std::num::NonZeroU64;

use flyball::engine::{
    Answer, Band, Caps, Checkpoint, Control, Effort, Event, Fingerprint, Governor, Grade, Input, Ladder, LawKind,
    LawState, Limits, Machine, MicroUsd, Millis, Output, Over, Plan, Ratio, RoundExit, Rows, StopRequest, Streak,
    Target, Timestamp, Tokens, TraceSink, TurnRecord, Urgency, Waiting,
};
use flyball::lab::scenario::Scenario;
use flyball::lab::simulate::{Once, simulate};
use flyball::trace::{Header, Record, Setup, Trace, TraceError, Word, Writer, read};

const SAMPLE: &str = include_str!("data/trace/v1.jsonl");

fn setup() -> Setup {
    Setup {
        ladder: ["max", "high", "low"].map(str::to_owned).to_vec(),
        configured: "high".to_owned(),
        law: "reference".to_owned(),
        juice_millionths: 2_048_000_000,
        over_ms: 300_000,
        slack_ppm: 150_000,
        rest_ms: 5000,
        budget_tokens: Some(10_000_000),
        rounds: None,
        set: std::collections::BTreeMap::new(),
    }
}

fn turn() -> TurnRecord {
    let word = |word: &str| Some(word.into());
    TurnRecord {
        id: word("m1"),
        session: word("s1"),
        start: Some(Timestamp::from_millis(3)),
        model: word("model"),
        effort_asked: word("high"),
        effort_confirmed: word("low"),
        input: Some(Tokens::new(1)),
        cache_read: Some(Tokens::new(2)),
        cache_write: Some(Tokens::new(3)),
        reasoning: Some(Tokens::new(4)),
        cost: Some(MicroUsd::new(u64::MAX)),
        grade: Grade::Estimated,
        ..TurnRecord::new(7, Timestamp::from_millis(9), Tokens::new(u64::MAX), "sim")
    }
}

fn inputs() -> Vec<Input> {
    let print = Fingerprint(std::array::from_fn(|place| u8::try_from(place * 8).unwrap()));
    let mut all = vec![
        Input::Persisted { seq: 1 },
        Input::Spawned { round: 2 },
        Input::Turned { turn: turn() },
        Input::Turned { turn: TurnRecord::new(1, Timestamp::EPOCH, Tokens::ZERO, "sim") },
        Input::Settled { round: 3, total: Tokens::new(9), turns: vec![("m1".into(), Tokens::new(5))] },
        Input::Settled { round: 3, total: Tokens::new(9), turns: vec![] },
        Input::Progress { round: 4, tree: Some(print), error: None },
        Input::Progress { round: 4, tree: None, error: Some(print) },
        Input::LimitUntil { until: Timestamp::from_millis(77) },
        Input::Shared { left: Caps::default() },
        Input::Shared {
            left: Caps {
                budget: Some(Tokens::new(1)),
                tokens: Some(Tokens::new(2)),
                cost: Some(MicroUsd::new(3)),
                wall: Some(Millis::new(4)),
                rounds: Some(5),
            },
        },
        Input::Woke,
        Input::Heard { round: 4 },
        Input::Refused { round: 4, effort: Effort::new("max"), got: None },
        Input::Refused { round: 4, effort: Effort::new("max"), got: Some(Effort::new("high")) },
    ];
    all.extend([RoundExit::Done, RoundExit::Failed, RoundExit::Cut].map(|exit| Input::Ended { round: 5, exit }));
    let answers = [Answer::Pass, Answer::Fail, Answer::Blocked, Answer::Error];
    all.extend(answers.map(|answer| Input::Verified { round: 6, answer }));
    let requests =
        [StopRequest::End, StopRequest::Kill, StopRequest::GiveUp, StopRequest::KillOn, StopRequest::Requests];
    all.extend(requests.map(Input::Asked));
    all
}

fn outputs() -> Vec<Output> {
    let mut law = LawState::default();
    law.set("sum", u64::MAX);
    let full = Checkpoint {
        rounds: 3,
        output: Some(Tokens::new(0)),
        effort: Some(Effort::new("high")),
        tokens: Tokens::new(8),
        cost: MicroUsd::new(9),
        law,
        rows: Rows {
            failures: 1,
            limited: 2,
            tree: Streak { last: Some(Fingerprint([7; 32])), length: 3 },
            error: Streak { last: Some(Fingerprint([9; 32])), length: 4 },
        },
    };
    let mut all = vec![
        Output::Persist { seq: 1, checkpoint: Checkpoint::default() },
        Output::Persist { seq: 2, checkpoint: full },
        Output::Spawn { round: 1, effort: Effort::new("swarmhigh") },
        Output::Terminate { round: 1, how: Urgency::Gently },
        Output::Terminate { round: 1, how: Urgency::Now },
        Output::Verify { round: 1 },
    ];
    let waits = [
        Waiting::Disk,
        Waiting::Start,
        Waiting::Turns,
        Waiting::End,
        Waiting::Answer,
        Waiting::Rest,
        Waiting::Backoff,
        Waiting::Limit,
    ];
    all.extend(waits.map(|why| Output::Wait { until: None, why }));
    all.push(Output::Wait { until: Some(Timestamp::from_millis(4)), why: Waiting::Rest });
    all.extend(Control::ALL.map(Output::Stop));
    all
}

fn written(chained: bool, records: &[Record]) -> String {
    let mut writer = Writer::new(Vec::new(), &Header { chained, ..Header::new(setup()) }).unwrap();
    for (at, record) in (0..).zip(records) {
        writer.write(Timestamp::from_millis(at), record.clone()).unwrap();
    }
    String::from_utf8(writer.finish().unwrap()).unwrap()
}

fn every_record() -> Vec<Record> {
    let (inputs, outputs) = (inputs(), outputs());
    let made = inputs.iter().map(Record::of_input).chain(outputs.iter().map(Record::of_output));
    let decided = |side: Option<&str>| {
        let side =
            side.map_or(String::new(), |side| format!(r#""side":"{side}","mean":{{"total_tokens":9,"turns":2}},"#));
        let rest = r#""round":1,"from":"high","to":"max","why":"below-band","cutoff_ms":3,"pinned":false"#;
        serde_json::from_str(&format!(r#"{{"kind":"decided",{side}{rest}}}"#)).unwrap()
    };
    let laid = Record::Laid { round: 1, added_tokens: 2, surplus_tokens: 3, homeless_tokens: 4 };
    let texts = [
        r#"{"kind":"opened","kept":{"rounds":3,"all_tokens":8,"cost_micro_usd":9},"found_tokens":5}"#,
        r#"{"kind":"group","round":1,"process":{"pid":7,"began_ticks":1,"boot":"b"}}"#,
        r#"{"kind":"agent","round":1,"version":"1","model":"m","asked":"max","confirmed":"high","coverage_ppm":9}"#,
        r#"{"kind":"note","text":"said once"}"#,
    ];
    let runners = texts.map(|text| serde_json::from_str(text).unwrap());
    let more = [Record::Absorbed {}, laid, decided(None), decided(Some("below")), decided(Some("within"))];
    made.chain(more).chain(runners).collect()
}

#[test]
fn every_event_reads_back_as_it_was_written() {
    let records = every_record();
    for chained in [false, true] {
        let text = written(chained, &records);
        let trace = read(text.as_bytes()).unwrap();
        assert_eq!((trace.unknown_kinds, trace.unknown_keys, trace.torn), (0, 0, false));
        let back: Vec<Record> = trace.lines.into_iter().map(|line| line.record).collect();
        assert_eq!(back, records);
        let kinds: Vec<String> = text
            .lines()
            .skip(1)
            .map(|line| {
                let value: serde_json::Value = serde_json::from_str(line).unwrap();
                value["kind"].as_str().unwrap().to_owned()
            })
            .collect();
        assert!(Record::KINDS.iter().all(|kind| kinds.iter().any(|seen| seen == kind)), "a kind is missing");
    }
    let engine: Vec<Input> = records.iter().filter_map(Record::input).collect();
    assert_eq!(engine, inputs());
    let engine: Vec<Output> = records.iter().filter_map(Record::output).collect();
    assert_eq!(engine, outputs());
}

#[test]
fn words_are_the_engine_s_own() {
    for control in Control::ALL {
        assert_eq!(serde_json::to_value(Word(control)).unwrap(), control.name());
    }
    for grade in [Grade::Known, Grade::Estimated, Grade::Unknown] {
        assert_eq!(serde_json::to_value(Word(grade)).unwrap(), grade.word());
    }
    for output in outputs() {
        if let Output::Wait { why, .. } = output {
            assert_eq!(serde_json::to_value(Word(why)).unwrap(), why.word());
        }
    }
}

/// A machine set up as a header says.
fn machine(setup: &Setup) -> Machine<flyball::engine::AnyLaw> {
    let ladder = Ladder::new(setup.ladder.iter().map(String::as_str)).unwrap();
    let band = Band::new(Target::from_micros(setup.juice_millionths), Ratio::from_ppm(setup.slack_ppm)).unwrap();
    let law = setup.law.parse::<LawKind>().unwrap().build();
    let governor = Governor::new(law, band, Over::new(Millis::new(setup.over_ms)), ladder.rungs());
    let mut plan = Plan::new(ladder, &setup.configured);
    plan.rest = Millis::new(setup.rest_ms);
    plan.limits = Limits {
        budget: setup.budget_tokens.map(Tokens::new),
        rounds: setup.rounds.and_then(NonZeroU64::new),
        ..Limits::default()
    };
    Machine::new(plan, governor, Checkpoint::default())
}

/// Tells the facts of a trace to a fresh machine: what it then orders and decides, beside what the trace says.
fn replayed(trace: &Trace) -> (Vec<Record>, Vec<Record>) {
    let mut machine = machine(&trace.header.setup);
    let ladder = Ladder::new(trace.header.setup.ladder.iter().map(String::as_str)).unwrap();
    let mut got = Vec::new();
    let mut sink = |_: Timestamp, event: Event<'_>| {
        if !matches!(event, Event::Fact(_)) {
            got.push(Record::of(&event, &ladder));
        }
    };
    for line in &trace.lines {
        if let Some(input) = line.record.input() {
            machine.handle(Timestamp::from_millis(line.at_ms), input, &mut sink);
        } else if line.record.output().is_some() {
            machine.poll(&mut sink);
        }
    }
    let told = trace.lines.iter().filter(|line| line.record.input().is_none());
    (got, told.map(|line| line.record.clone()).collect())
}

fn simulated(law: LawKind, scenario: &str) -> String {
    let scenario = Scenario::load(scenario, "a.toml").unwrap();
    let cell = flyball::lab::grid::Cell { law, ..scenario.base() };
    let setup = Setup {
        ladder: scenario.ladder.efforts().iter().map(|effort| effort.word().to_owned()).collect(),
        configured: scenario.ladder.effort(scenario.plan.start).word().to_owned(),
        law: law.name().to_owned(),
        juice_millionths: cell.juice.micros(),
        over_ms: cell.over.count(),
        slack_ppm: cell.slack.ppm(),
        rest_ms: cell.rest.count(),
        budget_tokens: scenario.governor.budget.map(Tokens::count),
        rounds: Some(12),
        set: std::collections::BTreeMap::new(),
    };
    let mut writer = Writer::new(Vec::new(), &Header { chained: true, ..Header::new(setup) }).unwrap();
    simulate(&Once { scenario: &scenario, cell, run: 2, rounds: 12, seed: 5 }, &mut writer).unwrap();
    String::from_utf8(writer.finish().unwrap()).unwrap()
}

#[test]
fn the_facts_of_a_trace_give_its_orders_again() {
    let scenarios = [
        include_str!("../scenarios/s02-typical.toml"),
        include_str!("../scenarios/s14-flaky.toml"),
        include_str!("../scenarios/s18a-lump-fed-typical.toml"),
    ];
    for scenario in scenarios {
        for law in LawKind::ALL {
            let trace = read(simulated(law, scenario).as_bytes()).unwrap();
            let (got, told) = replayed(&trace);
            assert!(told.len() > 60, "{}", told.len());
            assert_eq!(got, told);
        }
    }
    let mut trace = read(simulated(LawKind::Reference, scenarios[0]).as_bytes()).unwrap();
    trace.header.setup.slack_ppm = 10_000;
    let (got, told) = replayed(&trace);
    assert_ne!(got, told, "another machine does not give the same");
}

#[test]
fn an_old_trace_still_reads() {
    let trace = read(SAMPLE.as_bytes()).unwrap();
    assert_eq!((trace.header.version, trace.header.chained), (1, true));
    assert_eq!((trace.unknown_kinds, trace.unknown_keys), (0, 0));
    let (got, told) = replayed(&trace);
    assert_eq!(got, told);
    assert_eq!(told.last(), Some(&Record::Stop { control: Word(Control::Rounds) }));
}

#[test]
fn what_is_not_known_is_passed_over_and_counted() {
    let mut lines: Vec<String> = written(false, &[Record::Woke {}]).lines().map(str::to_owned).collect();
    lines.push(r#"{"at_ms":9,"kind":"sang","song":"x"}"#.to_owned());
    lines.push(String::new());
    lines.push(r#"{"at_ms":10,"kind":"spawned","round":1,"pid":7,"host":{"a":1},"nothing":null}"#.to_owned());
    let trace = read(lines.join("\n").as_bytes()).unwrap();
    assert_eq!((trace.lines.len(), trace.unknown_kinds, trace.unknown_keys), (2, 1, 2));
    assert_eq!(trace.lines[1].record, Record::Spawned { round: 1 });
}

#[test]
fn what_is_wrong_is_named_by_its_line() {
    let good = written(false, &[Record::Woke {}, Record::Spawned { round: 1 }]);
    let fault = |text: &str| read(text.as_bytes()).unwrap_err().to_string();
    assert!(fault("").starts_with("line 1: this is no trace"));
    assert!(fault("{\"type\":\"session\"}\n").contains("does not say \"format\":\"flyball-trace\""));
    assert!(fault(&good.replacen("\"version\":1", "\"version\":2", 1)).contains("version 2"));
    assert!(fault(&good.replacen("\"round\":1", "\"round\":-1", 1)).starts_with("line 3: "));
    assert!(fault(&good.replacen("\"kind\":\"woke\"", "\"kid\":1", 1)).starts_with("line 2: it has no `kind`"));
    assert!(fault(&good.replacen("{\"at_ms\":0", "{\"at_ms\":", 1)).starts_with("line 2: "));
}

#[test]
fn a_last_line_that_was_cut_off_is_left_out() {
    let good = written(false, &[Record::Woke {}, Record::Spawned { round: 1 }]);
    for cut in 1..20 {
        let trace = read(&good.as_bytes()[..good.len() - 1 - cut]).unwrap();
        assert_eq!((trace.lines.len(), trace.torn), (1, true), "{cut}");
    }
    let trace = read(good.trim_end().as_bytes()).unwrap();
    assert_eq!((trace.lines.len(), trace.torn), (2, false), "only its end is missing");
}

#[test]
fn a_broken_chain_is_found_where_it_breaks() {
    let good = written(true, &every_record());
    let lines: Vec<&str> = good.lines().collect();
    let broken = |lines: &[&str]| {
        let read = read(lines.join("\n").as_bytes());
        if let Err(TraceError::Chain { line }) = read { Some(line) } else { None }
    };
    assert_eq!(broken(&lines), None);
    let changed = lines[2].replace("\"at_ms\":1", "\"at_ms\":2");
    assert_ne!(changed, lines[2]);
    let with = |place: usize, line: &'static str| [&lines[..place], &[line], &lines[place..]].concat();
    assert_eq!(broken(&[&lines[..2], &[changed.as_str()], &lines[3..]].concat()), Some(4));
    assert_eq!(broken(&[&lines[..4], &lines[5..]].concat()), Some(5), "one is lost");
    assert_eq!(broken(&with(6, r#"{"at_ms":5,"kind":"woke"}"#)), Some(7), "one is added");
}

#[test]
fn a_writer_keeps_its_first_fault() {
    struct Full(usize);
    impl std::io::Write for Full {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0 = self.0.checked_sub(bytes.len()).ok_or_else(|| std::io::Error::other("the disk is full"))?;
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let mut writer = Writer::new(Full(400), &Header::new(setup())).unwrap();
    for _ in 0..100 {
        writer.note(Timestamp::EPOCH, Event::Fact(&Input::Woke));
    }
    assert_eq!(writer.finish().err().unwrap().to_string(), "the disk is full");
}
