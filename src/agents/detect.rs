//! Which program wrote this: told by what a line looks like, never by a file's name.
//!
//! It says nothing of whether the rest of the file is sound. Shapes are those of public logs and of the programs
//! themselves; a shape that it does not know is [`Seen::Nothing`], and the caller looks at the next line.

use serde_json::Value;

/// A format that is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Format {
    /// A session file of Claude Code, or of one of its subagents.
    ClaudeSession,
    /// What `claude -p --output-format stream-json` (or `json`) prints.
    ClaudeStream,
    /// A rollout file of Codex.
    CodexRollout,
    /// What `codex exec --json` prints.
    CodexExec,
}

impl Format {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::ClaudeSession, Self::ClaudeStream, Self::CodexRollout, Self::CodexExec];

    /// The stable name of the format.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::ClaudeSession => "claude-code-session",
            Self::ClaudeStream => "claude-code-stream-json",
            Self::CodexRollout => "codex-rollout",
            Self::CodexExec => "codex-exec",
        }
    }
}

/// A log that is known and not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum OtherLog {
    /// A session file of pi, or what it prints.
    Pi,
    /// An event log of the Copilot CLI.
    Copilot,
    /// An export of opencode, or another document that holds a whole session.
    OpencodeExport,
    /// What `opencode run --format json` prints.
    OpencodeRun,
    /// The compact transcript of Entire.
    EntireTranscript,
    /// A log or output of the Qwen CLI, which looks like Claude's.
    Qwen,
}

impl OtherLog {
    /// What it is, to go after "this is".
    #[must_use]
    pub const fn what(self) -> &'static str {
        match self {
            Self::Pi => "a session of pi",
            Self::Copilot => "an event log of the Copilot CLI",
            Self::OpencodeExport => "a session export of opencode",
            Self::OpencodeRun => "the output of opencode run",
            Self::EntireTranscript => "a compact transcript of Entire; the full.jsonl beside it is the agent's own log",
            Self::Qwen => "a log of the Qwen CLI, which looks like Claude's and counts by block instead of by message",
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
    let text = |key: &str| line.get(key).and_then(Value::as_str).unwrap_or("");
    let kind = text("type");
    if line.get("info").is_some_and(Value::is_object) && line.get("messages").is_some_and(Value::is_array) {
        return Seen::Other(OtherLog::OpencodeExport);
    }
    if has("total_cost_usd") && has("session_id") && has("modelUsage") {
        return Seen::Format(Format::ClaudeStream);
    }
    if kind.is_empty() {
        Seen::Nothing
    } else if has("v") && has("agent") && has("cli_version") {
        Seen::Other(OtherLog::EntireTranscript)
    } else if has("qwen_code_version") || line.pointer("/message/parts").is_some() && has("parentUuid") {
        Seen::Other(OtherLog::Qwen)
    } else if has("payload") && has("timestamp") {
        Seen::Format(Format::CodexRollout)
    } else if has("session_id") && CLAUDE_STREAM.contains(&kind) {
        Seen::Format(Format::ClaudeStream)
    } else if has("sessionId") || has("parentUuid") {
        Seen::Format(Format::ClaudeSession)
    } else if kind == "session" && has("id") && has("cwd") {
        Seen::Other(OtherLog::Pi)
    } else if has("data") && has("id") && kind.contains('.') {
        Seen::Other(OtherLog::Copilot)
    } else if has("sessionID") {
        Seen::Other(OtherLog::OpencodeRun)
    } else if CODEX_EXEC.contains(&kind) {
        Seen::Format(Format::CodexExec)
    } else {
        Seen::Nothing
    }
}

const CLAUDE_STREAM: [&str; 6] = ["system", "assistant", "user", "result", "rate_limit_event", "stream_event"];
const CODEX_EXEC: [&str; 7] = [
    "thread.started",
    "turn.started",
    "turn.completed",
    "turn.failed",
    "item.started",
    "item.updated",
    "item.completed",
];

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
            (json!({"type": "assistant", "session_id": "s", "message": {}}), Seen::Format(Format::ClaudeStream)),
            (json!({"type": "result", "session_id": "s", "usage": {}}), Seen::Format(Format::ClaudeStream)),
            (json!({"type": "system", "subtype": "init", "session_id": "s"}), Seen::Format(Format::ClaudeStream)),
            (json!({"timestamp": "t", "type": "event_msg", "payload": {}}), Seen::Format(Format::CodexRollout)),
            (json!({"type": "thread.started", "thread_id": "t"}), Seen::Format(Format::CodexExec)),
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
