//! The readers against logs of real agents: the counts of each file, and each call once over all of them.
#![cfg(feature = "agents")]
#![expect(clippy::unwrap_used, reason = "a test that cannot read its data has failed")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use flyball::agents::{Joined, Log, LogReader, join};
use flyball::engine::Grade;

fn data() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/logs")
}

fn read(file: &str, piece: usize) -> Log {
    let bytes = fs::read(data().join(file)).unwrap();
    let mut reader = LogReader::new();
    for part in bytes.chunks(piece) {
        reader.push(part);
    }
    reader.finish().unwrap()
}

/// Rows of the manifest: name of the column to its text. No text before the note has a comma in it.
fn manifest() -> Vec<BTreeMap<String, String>> {
    let text = fs::read_to_string(data().join("MANIFEST.csv")).unwrap();
    let mut lines = text.lines().map(|line| line.splitn(15, ',').map(str::to_owned).collect::<Vec<_>>());
    let head = lines.next().unwrap();
    lines.map(|row| head.iter().cloned().zip(row).collect()).collect()
}

fn all() -> Joined {
    let logs: Vec<Log> = manifest().iter().map(|row| read(&row["file"], 1 << 16)).collect();
    join(&logs)
}

#[test]
fn each_file_has_the_calls_that_the_manifest_expects() {
    let rows = manifest();
    assert_eq!(rows.len(), 17);
    for row in rows {
        let log = read(&row["file"], 1 << 16);
        let known: Vec<_> = log.calls().filter(|turn| turn.record.grade == Grade::Known).collect();
        let output: u64 = known.iter().map(|turn| turn.record.output.count()).sum();
        let seen = [log.calls().count().to_string(), known.len().to_string(), output.to_string()];
        assert_eq!(
            seen,
            ["turns", "turns_with_final_usage", "output_tokens"].map(|key| row[key].clone()),
            "{}",
            row["file"]
        );

        let mut models: BTreeMap<String, u64> = BTreeMap::new();
        let mut efforts: BTreeMap<String, u64> = BTreeMap::new();
        for turn in &log.turns {
            *models.entry(turn.record.model.as_deref().unwrap_or("unset").to_owned()).or_default() += 1;
            *efforts.entry(turn.record.effort_confirmed.as_deref().unwrap_or("unset").to_owned()).or_default() += 1;
            assert_eq!(turn.record.session.as_deref(), Some(row["session"].as_str()));
        }
        for (key, seen) in [("models", models), ("efforts", efforts)] {
            let expected: BTreeMap<String, u64> = row[key]
                .split(' ')
                .map(|pair| pair.split_once(':').unwrap())
                .map(|(word, n)| (word.to_owned(), n.parse().unwrap()))
                .collect();
            assert_eq!(seen, expected, "{} {key}", row["file"]);
        }
        assert_eq!(
            (log.health.lost_lines(), log.health.unknown_types, log.health.bad_numbers, log.health.bad_times),
            (0, 0, 0, 0)
        );
    }
}

#[test]
fn where_the_bytes_are_cut_makes_no_difference() {
    for file in ["claude-code-session/omp-24.jsonl", "codex-rollout/agentv-07.jsonl"] {
        assert_eq!(read(file, 977), read(file, 1 << 20));
    }
}

#[test]
fn checkpoints_and_forks_add_nothing() {
    let joined = all();
    let calls = |model: &str, effort: Option<&str>| {
        let mine = joined
            .turns
            .iter()
            .filter(|turn| turn.model.as_deref() == Some(model) && turn.effort_confirmed.as_deref() == effort);
        (mine.clone().count(), mine.map(|turn| turn.round).collect::<std::collections::BTreeSet<_>>().len())
    };
    assert_eq!(calls("claude-sonnet-5", Some("high")), (522, 6));
    assert_eq!(calls("claude-sonnet-5", Some("medium")), (12, 1));
    assert_eq!(calls("gpt-5.5", Some("medium")), (139, 2));
    assert_eq!(calls("gpt-5.5", Some("high")), (259, 3));
    assert_eq!(calls("gpt-5.5", Some("xhigh")), (288, 4));
    // 16 of the fork, 70 and 40 of the checkpoints.
    assert_eq!(joined.health.duplicates, 126);
    assert_eq!(joined.sessions, 14);
}

#[test]
fn the_order_of_the_files_makes_no_difference() {
    let mut logs: Vec<Log> = manifest().iter().map(|row| read(&row["file"], 1 << 16)).collect();
    let forward = join(&logs);
    logs.reverse();
    assert_eq!(forward.turns, join(&logs).turns);
}

#[test]
fn times_are_plausible() {
    let joined = all();
    let mut seconds: Vec<u64> =
        joined.turns.iter().filter_map(|turn| Some(turn.end.since(turn.start?).count())).collect();
    seconds.sort_unstable();
    assert!(
        seconds.len() * 100 >= joined.turns.len() * 99,
        "{} of {} calls have a start",
        seconds.len(),
        joined.turns.len()
    );
    // 2026, and half of all answers between 4 and 12 seconds.
    assert!(joined.turns.iter().all(|turn| (1_767_225_600_000..1_798_761_600_000).contains(&turn.end.millis())));
    assert!((4_000..12_000).contains(&seconds[seconds.len() / 2]), "median {} ms", seconds[seconds.len() / 2]);
}
