//! How fast logs are read: beside a bare pass that skips every value, and what it costs in memory of its own.
//!
//! The logs are those of the tests, with filler where their text was taken out (text is most of a real log), many times over
//! with ids of their own. Both passes get the same pieces from memory and run in turns; the figure is the ratio of the
//! medians. The gate is half the rate of the bare pass, on one core.
//!
//! Measured on two cores that others used too, before them in the queue: 634 MB/s beside 1020 (0.62) on session files of Claude Code, 662
//! beside 814 (0.81) on rollouts of Codex; as stripped 0.61 and 0.64.
//!
//! `cargo bench --bench logs`
#![expect(clippy::print_stdout, clippy::unwrap_used, reason = "a bench talks, and its data are in the tree")]
#![expect(clippy::disallowed_methods, reason = "it measures time")]

use std::fs;
use std::hint::black_box;
use std::path::Path;
use std::time::Instant;

use flyball::agents::LogReader;
use flyball::agents::lines::Lines;
use serde::de::IgnoredAny;

const MEGABYTES: usize = 48;
const PIECE: usize = 1 << 18;
const ROUNDS: usize = 9;

/// A log of about so many megabytes: `text` bytes of filler for each that was taken out.
fn log(folder: &str, ids: &str, filled: bool) -> Vec<u8> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/logs").join(folder);
    let mut files: Vec<_> = fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let block: String = files.iter().map(|file| fs::read_to_string(file).unwrap()).collect();
    let block = if filled { fill(&block) } else { block };
    let mut bytes = Vec::with_capacity(MEGABYTES << 20);
    let mut copy = 0_u32;
    while bytes.len() < MEGABYTES << 20 {
        bytes.extend(block.replace(ids, &format!("{ids}{copy}x")).bytes());
        copy += 1;
    }
    bytes
}

/// Puts text back where it says `[stripped N chars]`.
fn fill(text: &str) -> String {
    const FILLER: &str = "Lorem ipsum dolor sit amet, \\\"consectetur\\\" adipiscing elit.\\n";
    let mut filled = String::with_capacity(4 * text.len());
    let mut parts = text.split("[stripped ");
    filled.push_str(parts.next().unwrap_or(""));
    for part in parts {
        let (chars, rest) = part.split_once(" chars]").unwrap_or(("0", part));
        let chars: usize = chars.parse().unwrap_or(0);
        (0..chars / FILLER.len()).for_each(|_| filled.push_str(FILLER));
        filled.push_str(rest);
    }
    filled
}

fn bare(bytes: &[u8]) -> u64 {
    let (mut lines, mut seen) = (Lines::new(), 0);
    for piece in bytes.chunks(PIECE) {
        lines.push(piece, &mut |line| seen += u64::from(serde_json::from_str::<IgnoredAny>(line).is_ok()));
    }
    seen
}

fn read(bytes: &[u8]) -> u64 {
    let mut reader = LogReader::new();
    for piece in bytes.chunks(PIECE) {
        reader.push(piece);
    }
    reader.finish().map_or(0, |log| log.health.lines)
}

/// Megabytes a second of each, medians of runs in turns.
fn rates(bytes: &[u8]) -> [f64; 2] {
    let mut times = [Vec::new(), Vec::new()];
    for _ in 0..ROUNDS {
        for (pass, times) in [bare, read].iter().zip(&mut times) {
            let start = Instant::now();
            black_box(pass(black_box(bytes)));
            times.push(start.elapsed().as_secs_f64());
        }
    }
    times.map(|mut times| {
        times.sort_by(f64::total_cmp);
        f64::from(u32::try_from(bytes.len()).unwrap()) / 1e6 / times[ROUNDS / 2]
    })
}

fn main() {
    println!("{:<34} {:>10} {:>10} {:>8}  gate", "log", "bare MB/s", "read MB/s", "ratio");
    for (folder, ids) in [("claude-code-session", "\"msg_"), ("codex-rollout", "\"ordinal")] {
        for (filled, how) in [(true, "text put back"), (false, "as stripped")] {
            let bytes = log(folder, ids, filled);
            let [bare, read] = rates(&bytes);
            let gate = if filled {
                format!(">= 0.5  {}", if read >= 0.5 * bare { "met" } else { "MISSED" })
            } else {
                "-".to_owned()
            };
            println!("{:<34} {bare:>10.0} {read:>10.0} {:>8.2}  {gate}", format!("{folder}, {how}"), read / bare);
        }
    }
}
