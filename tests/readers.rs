//! The readers of pi, opencode, the Copilot and the Gemini CLI, and of own traces: public logs against their manifest, our
//! own runs against the script that the model server answered from, and a trace against what was written into it.
#![cfg(feature = "agents")]
#![expect(clippy::unwrap_used, reason = "a test that cannot read its data has failed")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use flyball::agents::{Format, Joined, Log, LogReader, join};
use flyball::engine::Grade;

fn data(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(path)
}

fn read(path: &str, piece: usize) -> Log {
    let bytes = fs::read(data(path)).unwrap();
    let mut reader = LogReader::new();
    for part in bytes.chunks(piece) {
        reader.push(part);
    }
    reader.finish().unwrap_or_else(|why| panic!("{path}: {why}"))
}

fn log(path: &str) -> Log {
    read(path, 1 << 16)
}

fn run(path: &str) -> Log {
    log(&format!("logs/runs/{path}"))
}

/// Calls, known calls, output of the latter, output of all, sums laid.
fn counts(log: &Log) -> [u64; 4] {
    let known: Vec<u64> =
        log.calls().filter(|turn| turn.record.grade == Grade::Known).map(|turn| turn.record.output.count()).collect();
    let all = join(std::slice::from_ref(log)).turns.iter().map(|turn| turn.output.count()).sum();
    let number = |count: usize| u64::try_from(count).unwrap();
    [number(log.calls().count()), number(known.len()), known.iter().sum(), all]
}

/// Calls, output, sessions, calls and sums met again.
fn sums(joined: &Joined) -> [u64; 4] {
    let calls = joined.turns.iter().filter(|turn| turn.counts_as_turn).count();
    let output = joined.turns.iter().map(|turn| turn.output.count()).sum();
    [u64::try_from(calls).unwrap(), output, joined.sessions, joined.health.duplicates]
}

/// Rows of the manifest: name of the column to its text. No text before the note has a comma in it.
fn manifest() -> Vec<BTreeMap<String, String>> {
    let text = fs::read_to_string(data("logs/MANIFEST-OTHERS.csv")).unwrap();
    let mut lines = text.lines().map(|line| line.splitn(15, ',').map(str::to_owned).collect::<Vec<_>>());
    let head = lines.next().unwrap();
    lines.map(|row| head.iter().cloned().zip(row).collect()).collect()
}

#[test]
fn each_public_log_has_the_calls_that_the_manifest_expects() {
    let rows = manifest();
    assert_eq!(rows.len(), 5);
    for row in rows {
        let log = log(&format!("logs/{}", row["file"]));
        let file = &row["file"];
        let [calls, known, output, _] = counts(&log).map(|count| count.to_string());
        assert_eq!(log.format.name(), row["format"], "{file}");
        assert_eq!(
            [&calls, &known, &output],
            ["turns", "turns_with_final_usage", "output_tokens"].map(|key| &row[key]),
            "{file}"
        );
        let (mut models, mut efforts) = (BTreeMap::<String, u64>::new(), BTreeMap::<String, u64>::new());
        for turn in &log.turns {
            *models.entry(turn.record.model.as_deref().unwrap_or("unset").to_owned()).or_default() += 1;
            *efforts.entry(turn.record.effort_confirmed.as_deref().unwrap_or("unset").to_owned()).or_default() += 1;
            assert_eq!(turn.record.session.as_deref(), Some(row["session"].as_str()));
            assert!(turn.record.start.is_some_and(|start| start <= turn.record.end), "{file}: a call without a start");
        }
        for (key, seen) in [("models", models), ("efforts", efforts)] {
            let pairs = row[key].split(' ').map(|pair| pair.split_once(':').unwrap());
            let expected: BTreeMap<String, u64> =
                pairs.map(|(word, n)| (word.to_owned(), n.parse().unwrap())).collect();
            assert_eq!(seen, expected, "{file} {key}");
        }
        let health = &log.health;
        assert_eq!(
            (health.lost_lines(), health.unknown_types, health.bad_numbers, health.bad_times),
            (0, 0, 0, 0),
            "{file}"
        );
    }
}

#[test]
fn checkpoints_of_one_session_add_nothing() {
    let joined = join(&[log("logs/copilot-cli/agentv-06.jsonl"), log("logs/copilot-cli/agentv-07.jsonl")]);
    assert_eq!(sums(&joined), [56, 41_776, 1, 49]);
    let copilot = log("logs/copilot-cli/agentv-01.jsonl").stated.unwrap();
    assert_eq!((copilot.counted.count(), copilot.stated.count()), (461, 461));
}

#[test]
fn each_run_has_the_calls_of_its_script() {
    for (path, format, expected) in [
        // a tool call of 120 and an answer of 33, of which 30 and 11 are thoughts where they come beside
        ("pi/success.jsonl", Format::PiJson, [2, 2, 153, 153]),
        ("pi/success.session.jsonl", Format::PiSession, [2, 2, 153, 153]),
        ("opencode/success.jsonl", Format::OpencodeJson, [2, 2, 153, 153]),
        ("opencode/success.export.json", Format::OpencodeExport, [2, 2, 153, 153]),
        ("copilot/success.jsonl", Format::CopilotCli, [2, 0, 0, 0]),
        ("copilot/success.session.jsonl", Format::CopilotCli, [2, 2, 153, 153]),
        ("gemini/success.jsonl", Format::GeminiJson, [0, 0, 0, 194]),
        ("gemini/success-json.json", Format::GeminiJson, [0, 0, 0, 194]),
        ("gemini/success.session.jsonl", Format::GeminiChat, [2, 2, 194, 194]),
        // an answer that broke off, then one of 9
        ("pi/stream-drop-then-ok.jsonl", Format::PiJson, [2, 1, 9, 9]),
        ("pi/stream-drop-then-ok.session.jsonl", Format::PiSession, [2, 1, 9, 9]),
        // a tool call of 50, then a signal in the answer after it
        ("pi/sigterm-second-turn.jsonl", Format::PiJson, [2, 1, 50, 50]),
        ("pi/sigterm-second-turn.session.jsonl", Format::PiSession, [2, 1, 50, 50]),
        ("copilot/sigterm-mid-tool.session.jsonl", Format::CopilotCli, [1, 1, 50, 50]),
        // a refusal of 12
        ("pi/refusal.jsonl", Format::PiJson, [1, 1, 12, 12]),
        ("opencode/refusal.jsonl", Format::OpencodeJson, [1, 1, 12, 12]),
        // answers that broke off again and again: 20 were printed before the program was killed, of 77 each in four tries
        ("opencode/stream-drop.jsonl", Format::OpencodeJson, [20, 0, 0, 0]),
        ("gemini/stream-drop.jsonl", Format::GeminiJson, [0, 0, 0, 308]),
        ("gemini/stream-drop.session.jsonl", Format::GeminiChat, [0, 0, 0, 0]),
    ] {
        let log = run(path);
        assert_eq!((log.format, counts(&log)), (format, expected), "{path}");
        assert_eq!((log.health.lost_lines(), log.health.unknown_types, log.health.bad_numbers), (0, 0, 0), "{path}");
    }
}

#[test]
fn what_a_run_printed_and_what_it_wrote_down_tell_the_same_calls() {
    for (paths, expected) in [
        (["pi/success.jsonl", "pi/success.session.jsonl"], [2, 153, 1, 2]),
        (["pi/stream-drop-then-ok.jsonl", "pi/stream-drop-then-ok.session.jsonl"], [2, 9, 1, 2]),
        (["pi/sigterm-second-turn.jsonl", "pi/sigterm-second-turn.session.jsonl"], [2, 50, 1, 2]),
        (["opencode/success.jsonl", "opencode/success.export.json"], [2, 153, 1, 2]),
        (["copilot/success.jsonl", "copilot/success.session.jsonl"], [2, 153, 1, 2]),
        (["copilot/sigterm-mid-tool.jsonl", "copilot/sigterm-mid-tool.session.jsonl"], [1, 50, 1, 1]),
        (["gemini/success.jsonl", "gemini/success.session.jsonl"], [2, 194, 1, 1]),
        (["gemini/success-json.json", "gemini/success-json.session.jsonl"], [2, 194, 1, 1]),
        (["gemini/stream-drop.jsonl", "gemini/stream-drop.session.jsonl"], [0, 308, 1, 0]),
    ] {
        let logs = paths.map(run);
        assert_eq!(sums(&join(&logs)), expected, "{paths:?}");
        let [first, second] = logs;
        assert_eq!(sums(&join(&[second, first])), expected, "{paths:?} in the other order");
    }
}

#[test]
fn efforts_models_and_times_are_those_of_the_run() {
    for (path, model, effort) in [
        ("pi/success.session.jsonl", "claude-opus-4-6", Some("high")),
        ("opencode/success.export.json", "chat-x", Some("high")),
        ("copilot/success.session.jsonl", "claude-opus-4-6", Some("high")),
        ("gemini/success.session.jsonl", "gemini-2.5-pro", None),
    ] {
        for turn in &run(path).turns {
            let record = &turn.record;
            assert_eq!((record.model.as_deref(), record.effort_confirmed.as_deref()), (Some(model), effort), "{path}");
            assert!(record.end.since(record.start.unwrap()).count() < 2000, "{path}: the script answers at once");
        }
    }
    // 1500 of input and 900 from the cache, whichever way the program counts them
    for path in ["pi/success.session.jsonl", "copilot/success.session.jsonl"] {
        assert_eq!(run(path).turns.at(0).record.input.unwrap().count(), 1500, "{path}");
    }
    for path in ["opencode/success.export.json", "gemini/success.session.jsonl"] {
        let record = &run(path).turns.at(0).record;
        assert_eq!((record.input.unwrap().count(), record.cache_read.unwrap().count()), (600, 900), "{path}");
    }
}

#[test]
fn where_the_bytes_are_cut_makes_no_difference() {
    for path in [
        "logs/pi-session/pimono-01.jsonl",
        "logs/copilot-cli/agentv-06.jsonl",
        "logs/runs/opencode/success.export.json",
        "logs/runs/gemini/success-json.json",
        "logs/runs/gemini/success.session.jsonl",
    ] {
        assert_eq!(read(path, 997), read(path, 1 << 20), "{path}");
    }
}

#[test]
#[cfg(feature = "lab")]
fn an_own_trace_gives_back_the_turns_that_were_written() {
    use flyball::trace::{self, Record};

    let path = "trace/v1.jsonl";
    let written = trace::read(fs::File::open(data(path)).map(std::io::BufReader::new).unwrap()).unwrap();
    let mut effort = String::new();
    let mut expected = Vec::new();
    for line in &written.lines {
        if let Record::Spawn { effort: asked, .. } = &line.record {
            effort.clone_from(asked);
        }
        if let Record::Turned(turn) = &line.record {
            let record = turn.record();
            expected.push((record.round, record.start, record.end, record.output, record.grade, effort.clone()));
        }
    }
    let log = log(path);
    assert_eq!((log.format, log.health.unknown_types, log.health.lost_lines()), (Format::Flyball, 0, 0));
    let joined = join(&[log.clone(), log]);
    let seen = joined.turns.iter().map(|turn| {
        let effort = turn.effort_confirmed.as_deref().unwrap_or_default().to_owned();
        (turn.round, turn.start, turn.end, turn.output, turn.grade, effort)
    });
    assert_eq!(seen.collect::<Vec<_>>(), expected);
}
