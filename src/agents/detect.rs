//! Which program wrote this: told by what a line looks like, never by a file's name.
//!
//! It says nothing of whether the rest of the file is sound. Shapes are those of public logs and of the programs
//! themselves; a shape that it does not know is [`Seen::Nothing`], and the caller looks at the next line.

use serde_json::Value;

use super::json::text;

/// A format that is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Format {
    /// A session file of Claude Code.
    ClaudeSession,
    /// A rollout file of Codex.
    CodexRollout,
}

impl Format {
    /// The stable name of the format.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::ClaudeSession => super::claude::SOURCE,
            Self::CodexRollout => super::codex::SOURCE,
        }
    }
}

/// A log that is known and not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum OtherLog {
    /// What `claude -p --output-format stream-json` prints.
    ClaudeStream,
    /// What `codex exec --json` prints.
    CodexExec,
    /// A session file of pi.
    Pi,
    /// An event log of the Copilot CLI.
    Copilot,
    /// An export of opencode, or another document that holds a whole session.
    OpencodeExport,
    /// What `opencode run --format json` prints.
    OpencodeRun,
    /// The compact transcript of Entire.
    EntireTranscript,
}

impl OtherLog {
    /// What it is, to go after "this is".
    #[must_use]
    pub const fn what(self) -> &'static str {
        match self {
            Self::ClaudeStream => {
                "the stream-json output of claude -p, whose counts per call are start values; its session file has the real ones"
            }
            Self::CodexExec => {
                "the output of codex exec --json, which has no counts per call; its rollout file has them"
            }
            Self::Pi => "a session file of pi",
            Self::Copilot => "an event log of the Copilot CLI",
            Self::OpencodeExport => "a session export of opencode",
            Self::OpencodeRun => "the output of opencode run",
            Self::EntireTranscript => "a compact transcript of Entire; the full.jsonl beside it is the agent's own log",
        }
    }
}

/// What a line tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seen {
    /// The log is of a format that is read.
    Format(Format),
    /// The log is of a kind that is not read.
    Other(OtherLog),
    /// Not enough to tell.
    Nothing,
}

/// Looks at one line.
///
/// ```
/// use flyball::agents::detect::{Format, Seen, look};
/// let line = serde_json::json!({"timestamp": "2026-06-18T07:41:33.518Z", "type": "session_meta", "payload": {}});
/// assert_eq!(look(&line), Seen::Format(Format::CodexRollout));
/// ```
#[must_use]
pub fn look(line: &Value) -> Seen {
    let has = |key: &str| line.get(key).is_some();
    if line.get("info").is_some_and(Value::is_object) && line.get("messages").is_some_and(Value::is_array) {
        return Seen::Other(OtherLog::OpencodeExport);
    }
    let Some(kind) = text(line, "type") else { return Seen::Nothing };
    if has("v") && has("agent") && has("cli_version") {
        Seen::Other(OtherLog::EntireTranscript)
    } else if has("payload") && has("timestamp") {
        Seen::Format(Format::CodexRollout)
    } else if has("session_id") && CLAUDE_STREAM.contains(&kind) {
        Seen::Other(OtherLog::ClaudeStream)
    } else if has("sessionId") || has("parentUuid") {
        Seen::Format(Format::ClaudeSession)
    } else if kind == "session" && has("id") && has("cwd") {
        Seen::Other(OtherLog::Pi)
    } else if has("data") && has("id") && kind.contains('.') {
        Seen::Other(OtherLog::Copilot)
    } else if has("sessionID") {
        Seen::Other(OtherLog::OpencodeRun)
    } else if CODEX_EXEC.contains(&kind) {
        Seen::Other(OtherLog::CodexExec)
    } else {
        Seen::Nothing
    }
}

const CLAUDE_STREAM: [&str; 6] = ["system", "assistant", "user", "result", "rate_limit_event", "stream_event"];
const CODEX_EXEC: [&str; 6] =
    ["thread.started", "turn.started", "turn.completed", "turn.failed", "item.started", "item.completed"];

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn each_shape_is_known() {
        let claude = Seen::Format(Format::ClaudeSession);
        for (line, seen) in [
            (json!({"type": "mode", "mode": "normal", "sessionId": "s"}), claude),
            (json!({"type": "assistant", "sessionId": "s", "message": {}}), claude),
            (json!({"type": "assistant", "session_id": "s", "message": {}}), Seen::Other(OtherLog::ClaudeStream)),
            (json!({"type": "result", "session_id": "s", "usage": {}}), Seen::Other(OtherLog::ClaudeStream)),
            (json!({"type": "system", "subtype": "init", "session_id": "s"}), Seen::Other(OtherLog::ClaudeStream)),
            (json!({"timestamp": "t", "type": "event_msg", "payload": {}}), Seen::Format(Format::CodexRollout)),
            (json!({"type": "thread.started", "thread_id": "t"}), Seen::Other(OtherLog::CodexExec)),
            (json!({"type": "session", "id": "i", "cwd": "/", "provider": "p"}), Seen::Other(OtherLog::Pi)),
            (json!({"type": "session.start", "data": {"sessionId": "s"}, "id": "i"}), Seen::Other(OtherLog::Copilot)),
            (json!({"info": {}, "messages": []}), Seen::Other(OtherLog::OpencodeExport)),
            (json!({"type": "step_finish", "sessionID": "s", "part": {}}), Seen::Other(OtherLog::OpencodeRun)),
            (
                json!({"v": 1, "agent": "claude", "cli_version": "1", "type": "user"}),
                Seen::Other(OtherLog::EntireTranscript),
            ),
            (json!({"type": "file-history-snapshot", "messageId": "m"}), Seen::Nothing),
            (json!({"v": 1}), Seen::Nothing),
            (json!([1, 2]), Seen::Nothing),
            (json!(null), Seen::Nothing),
        ] {
            assert_eq!(look(&line), seen, "{line}");
        }
    }
}
