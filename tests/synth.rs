//! Logs that were made up are read again: scenario, records, log, reader, records.
#![cfg(all(feature = "agents", feature = "lab"))]
#![expect(clippy::unwrap_used, reason = "a test that cannot make its data has failed")]

use flyball::agents::{Log, LogReader};
use flyball::engine::{Grade, Timestamp, Tokens, TurnRecord};
use flyball::lab::synth::{Design, Format, Session, sessions};
use flyball::sim::{AgentModel, AgentSpec};

const EFFORTS: [&str; 3] = ["high", "medium", "low"];

fn made(seed: u64) -> Vec<Session> {
    let mut spec = AgentSpec::geometric(200.0, 2.0, 3).unwrap();
    spec.faults.empty = 0.1;
    let agent = AgentModel::new(spec).unwrap();
    let design = Design { agent: &agent, model: "claude-sonnet-5", efforts: &EFFORTS, seed, run: 0 };
    sessions(&design, &[0, 1, 2, 2, 1, 0, 0, 1, 2])
}

fn read(text: &str) -> Log {
    let mut reader = LogReader::new();
    for piece in text.as_bytes().chunks(777) {
        reader.push(piece);
    }
    reader.finish().unwrap()
}

/// Formats that state each call in full, and that are read.
const WHOLE: [Format; 5] =
    [Format::ClaudeSession, Format::CodexRollout, Format::CopilotEvents, Format::OpencodeExport, Format::PiSession];

/// What a call says that every format carries: times and size; model, effort and session.
type Core<'r> = (Option<Timestamp>, Timestamp, Tokens, Grade, [Option<&'r str>; 3]);

fn core(record: &TurnRecord) -> Core<'_> {
    let words = [record.model.as_deref(), record.effort_confirmed.as_deref(), record.session.as_deref()];
    // opencode's ids say what they are of
    let words = words.map(|word| word.map(|word| word.trim_start_matches("ses_")));
    (record.start, record.end, record.output, record.grade, words)
}

#[test]
fn session_files_and_rollouts_come_back_as_they_were() {
    for format in WHOLE {
        for session in made(5) {
            let log = read(&format.write(&session));
            let records: Vec<TurnRecord> = log.turns.iter().map(|turn| turn.record).collect();
            let got: Vec<_> = records.iter().map(core).collect();
            assert_eq!(got, session.calls.iter().map(core).collect::<Vec<_>>(), "{format:?}");
            assert_eq!(
                (log.health.lost_lines(), log.health.unknown_types, log.health.bad_times),
                (0, 0, 0),
                "{format:?}"
            );
            let repeats = matches!(format, Format::ClaudeSession | Format::CodexRollout);
            assert_eq!(repeats && session.calls.len() > 7, log.health.repeats > 0, "{format:?}: {:?}", log.health);
        }
    }
}

#[test]
fn efforts_that_change_and_counts_that_are_unknown_come_back() {
    let mut session = made(6).into_iter().find(|session| session.calls.len() > 10).unwrap();
    for record in &mut session.calls[5..] {
        record.effort_confirmed = Some("low".into());
    }
    session.calls[3].grade = Grade::Unknown;
    session.calls[3].output = Tokens::ZERO;
    session.calls.push(TurnRecord { counts_as_turn: false, ..session.calls[4].clone() });
    let turns = session.calls.len() - 1;
    for format in WHOLE {
        let log = read(&format.write(&session));
        let records: Vec<TurnRecord> = log.turns.iter().map(|turn| turn.record).collect();
        let got: Vec<_> = records.iter().map(core).collect();
        assert_eq!(got, session.calls[..turns].iter().map(core).collect::<Vec<_>>(), "{format:?}");
        assert_eq!(log.health.placeholders, 1, "{format:?}");
    }
}

#[test]
fn every_line_is_an_object_and_the_same_session_makes_the_same_bytes() {
    for format in Format::ALL {
        for session in made(7) {
            let text = format.write(&session);
            assert!(text.ends_with('\n') && text == format.write(&session));
            let lines: Vec<&str> = if format == Format::OpencodeExport { vec![&text] } else { text.lines().collect() };
            for line in lines {
                assert!(serde_json::from_str::<serde_json::Value>(line).unwrap().is_object(), "{format:?}: {line}");
            }
        }
    }
}

#[test]
fn a_stream_tells_its_total_at_its_end_alone() {
    let session = made(8).remove(0);
    let text = Format::ClaudeStream.write(&session);
    let lines: Vec<serde_json::Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let total: u64 = session.calls.iter().map(|call| call.output.count()).sum();
    let (result, calls) = lines.split_last().unwrap();
    assert_eq!(result["usage"]["output_tokens"], total);
    assert_eq!(result["modelUsage"]["claude-sonnet-5"]["outputTokens"], total);
    assert!(
        calls
            .iter()
            .all(|line| line["type"] != "assistant" || line["message"]["usage"]["output_tokens"].as_u64() <= Some(8))
    );
    assert!(calls.iter().all(|line| line["type"] != "assistant" || line["timestamp"].is_null()));
}

#[test]
fn an_export_and_an_event_log_hold_each_call_with_its_times_and_size() {
    let millis = |moment: Timestamp| moment.millis();
    for session in made(9) {
        let document: serde_json::Value = serde_json::from_str(&Format::OpencodeExport.write(&session)).unwrap();
        let messages = document["messages"].as_array().unwrap();
        assert_eq!(messages.len(), session.calls.len() + 1, "the prompt, and each call");
        for (message, call) in messages[1..].iter().zip(&session.calls) {
            let (info, tool) = (&message["info"], &message["parts"][1]["state"]["time"]["start"]);
            let ended = tool.as_u64().or(info["time"]["completed"].as_u64()).unwrap();
            let got = (info["time"]["created"].as_u64(), ended, info["tokens"]["output"].as_u64());
            assert_eq!(got, (call.start.map(millis), millis(call.end), Some(call.output.count())));
            assert_eq!(info["variant"].as_str(), call.effort_confirmed.as_deref());
        }
        let events = Format::CopilotEvents.write(&session);
        let events: Vec<serde_json::Value> = events.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let sizes = events.iter().filter(|event| event["type"] == "assistant.message");
        let sizes: Vec<u64> = sizes.map(|event| event["data"]["outputTokens"].as_u64().unwrap()).collect();
        assert_eq!(sizes, session.calls.iter().map(|call| call.output.count()).collect::<Vec<_>>());
        let metrics = &events.last().unwrap()["data"]["modelMetrics"]["claude-sonnet-5"]["usage"]["outputTokens"];
        assert_eq!(metrics.as_u64().unwrap_or(0), sizes.iter().sum::<u64>());
    }
}

#[test]
fn a_stream_comes_to_its_total() {
    for session in made(10) {
        let log = read(&Format::ClaudeStream.write(&session));
        let billed: u64 = session.calls.iter().map(|call| call.output.count()).sum();
        let joined = flyball::agents::join(&[log]);
        let counted: u64 = joined.turns.iter().map(|record| record.output.count()).sum();
        assert_eq!(counted, billed, "{:?}", joined.turns);
        assert_eq!(joined.turns.iter().filter(|record| record.counts_as_turn).count(), session.calls.len());
    }
}
