//! What every reader must do with any bytes: no panic, no endless loop, the same wherever the bytes are cut, and no token out of nothing.

use flyball::agents::ledger::{Dedup, Ledger};
use flyball::agents::{Format, Log, LogReader, NotRead};
use flyball::engine::{Grade, Tokens};

/// A line that tells the format, to be put before the bytes.
#[must_use]
pub(crate) fn lead(format: Format) -> &'static str {
    match format {
        Format::ClaudeSession => r#"{"type":"summary","sessionId":"s","parentUuid":null}"#,
        Format::ClaudeStream => r#"{"type":"system","subtype":"init","session_id":"s"}"#,
        Format::CodexRollout => r#"{"timestamp":"2026-01-01T00:00:00Z","type":"session_meta","payload":{"id":"s"}}"#,
        Format::CodexExec => r#"{"type":"thread.started","thread_id":"s"}"#,
        Format::PiSession => r#"{"type":"session","id":"s","timestamp":"2026-01-01T00:00:00Z","cwd":"/"}"#,
        Format::PiJson => r#"{"type":"agent_start"}"#,
        Format::OpencodeExport => r#"{"info":{"id":"s","version":"1.2.20"},"messages":[]}"#,
        Format::OpencodeJson => r#"{"type":"step_start","timestamp":1785262846283,"sessionID":"s","part":{}}"#,
        Format::CopilotCli => {
            r#"{"type":"session.start","data":{"sessionId":"s"},"id":"i","timestamp":"2026-01-01T00:00:00Z"}"#
        }
        Format::GeminiChat => r#"{"sessionId":"s","projectHash":"h","startTime":"2026-01-01T00:00:00Z","kind":"main"}"#,
        Format::GeminiJson => r#"{"type":"init","timestamp":"2026-01-01T00:00:00Z","session_id":"s","model":"m"}"#,
        Format::Flyball => r#"{"format":"flyball-trace","version":1,"by":"flyball 0.1.0"}"#,
    }
}

fn read(bytes: &[u8], piece: usize) -> Result<Log, NotRead> {
    let mut reader = LogReader::new();
    bytes.chunks(piece).for_each(|piece| reader.push(piece));
    reader.finish()
}

/// Reads the bytes as they are, and after the format's lead.
pub(crate) fn check(format: Format, bytes: &[u8]) {
    hold(bytes);
    let led = [lead(format).as_bytes(), b"\n", bytes].concat();
    hold(&led);
}

fn hold(bytes: &[u8]) {
    let whole = read(bytes, usize::MAX);
    assert_eq!(whole, read(bytes, 7), "the cuts show");
    let Ok(log) = whole else { return };
    for turn in &log.turns {
        let record = &turn.record;
        assert!(record.grade != Grade::Unknown || record.output == Tokens::ZERO, "an unknown count is no count");
        assert!(record.start.is_none_or(|start| start <= record.end), "an answer ends after it began");
    }
    let alone = Ledger::of(core::slice::from_ref(&log), Dedup::All);
    assert_eq!(alone.doubled.turns, 0, "a log is no copy of itself");
    assert_eq!(alone.files[0].output(), alone.total.output());
    // where a log names its session, a copy of it adds nothing
    if log.turns.iter().all(|turn| turn.record.session.is_some()) && log.sums.iter().all(|sum| sum.session.is_some()) {
        let twice = Ledger::of(&[log.clone(), log], Dedup::All);
        assert_eq!(
            (twice.total.all, twice.total.unknown_turns),
            (alone.total.all, alone.total.unknown_turns),
            "a copy adds up"
        );
    }
}
