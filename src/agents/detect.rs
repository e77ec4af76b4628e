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
    /// A session file of pi.
    PiSession,
    /// What `pi -p --mode json` prints.
    PiJson,
    /// What `opencode export` writes.
    OpencodeExport,
    /// What `opencode run --format json` prints.
    OpencodeJson,
    /// An event log of the Copilot CLI, or what it prints.
    CopilotCli,
    /// A chat log of the Gemini CLI.
    GeminiChat,
    /// What the Gemini CLI prints as JSON.
    GeminiJson,
    /// A trace of this program.
    Flyball,
}

impl Format {
    /// All of them.
    pub const ALL: [Self; 12] = [
        Self::ClaudeSession,
        Self::ClaudeStream,
        Self::CodexRollout,
        Self::CodexExec,
        Self::PiSession,
        Self::PiJson,
        Self::OpencodeExport,
        Self::OpencodeJson,
        Self::CopilotCli,
        Self::GeminiChat,
        Self::GeminiJson,
        Self::Flyball,
    ];

    /// The stable name of the format.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::ClaudeSession => "claude-code-session",
            Self::ClaudeStream => "claude-code-stream-json",
            Self::CodexRollout => "codex-rollout",
            Self::CodexExec => "codex-exec",
            Self::PiSession => "pi-session",
            Self::PiJson => "pi-json",
            Self::OpencodeExport => "opencode-export",
            Self::OpencodeJson => "opencode-json",
            Self::CopilotCli => "copilot-cli",
            Self::GeminiChat => "gemini-chat",
            Self::GeminiJson => "gemini-json",
            Self::Flyball => "flyball-trace",
        }
    }
}

/// A log that is known and not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum OtherLog {
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

/// Looks at one line, at a whole document, or at a piece of one ([`document`](super::document)).
///
/// ```
/// use flyball::agents::detect::{Format, Seen, look};
/// let line = serde_json::json!({"timestamp": "2026-06-18T07:41:33.518Z", "type": "session_meta", "payload": {}});
/// assert_eq!(look(&line), Seen::Format(Format::CodexRollout));
/// ```
#[must_use]
pub fn look(line: &Value) -> Seen {
    let has = |key: &str| line.get(key).is_some();
    let kind = text(line, "type");
    if let Some(format) = document(line) {
        return Seen::Format(format);
    }
    if text(line, "format") == "flyball-trace" {
        return Seen::Format(Format::Flyball);
    }
    if has("total_cost_usd") && has("session_id") && has("modelUsage") {
        return Seen::Format(Format::ClaudeStream);
    }
    if kind.is_empty() {
        let gemini = has("sessionId") && has("projectHash") || line.pointer("/$set/lastUpdated").is_some();
        return if gemini { Seen::Format(Format::GeminiChat) } else { Seen::Nothing };
    }
    if has("v") && has("agent") && has("cli_version") {
        Seen::Other(OtherLog::EntireTranscript)
    } else if has("qwen_code_version") || line.pointer("/message/parts").is_some() && has("parentUuid") {
        Seen::Other(OtherLog::Qwen)
    } else if has("payload") && has("timestamp") {
        Seen::Format(Format::CodexRollout)
    } else if has("session_id") && CLAUDE_STREAM.contains(&kind) {
        Seen::Format(Format::ClaudeStream)
    } else if has("sessionId") || has("parentUuid") {
        Seen::Format(Format::ClaudeSession)
    } else {
        others(line, kind).map_or(Seen::Nothing, Seen::Format)
    }
}

fn text<'a>(line: &'a Value, key: &str) -> &'a str {
    line.get(key).and_then(Value::as_str).unwrap_or("")
}

/// Documents, known by one of their members.
fn document(line: &Value) -> Option<Format> {
    let object = |value: &Value, key: &str| value.get(key).is_some_and(Value::is_object);
    if object(line, "stats") && line.pointer("/stats/models").is_some_and(Value::is_object) {
        return Some(Format::GeminiJson);
    }
    let messages = line.get("messages").and_then(Value::as_array)?;
    let first = messages.first();
    if object(line, "info") || first.is_some_and(|message| message.pointer("/info/role").is_some()) {
        return Some(Format::OpencodeExport);
    }
    let chat = |message: &Value| {
        matches!(text(message, "type"), "user" | "gemini" | "info" | "error" | "warning")
            && message.get("id").is_some()
            && message.get("content").is_some()
    };
    (line.get("sessionId").is_some() && line.get("projectHash").is_some() || first.is_some_and(chat))
        .then_some(Format::GeminiChat)
}

/// Lines of programs that name the type of a line, in the order of how much else they must have.
fn others(line: &Value, kind: &str) -> Option<Format> {
    let has = |key: &str| line.get(key).is_some();
    let role = line.pointer("/message/role").is_some();
    Some(match kind {
        "session" if has("id") && has("cwd") => Format::PiSession,
        "message" if role => Format::PiSession,
        "message_start" | "message_end" | "turn_end" if role => Format::PiJson,
        "message_update" if has("assistantMessageEvent") => Format::PiJson,
        "agent_start" | "turn_start" => Format::PiJson,
        "gemini" if has("id") && has("content") => Format::GeminiChat,
        "init" if has("session_id") && has("model") => Format::GeminiJson,
        _ if has("data") && has("id") && (kind.contains('.') || kind == "abort") => Format::CopilotCli,
        _ if has("sessionID") => Format::OpencodeJson,
        _ if CODEX_EXEC.contains(&kind) => Format::CodexExec,
        _ => return None,
    })
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
            (json!({"type": "session", "id": "i", "cwd": "/", "provider": "p"}), Seen::Format(Format::PiSession)),
            (json!({"type": "message", "message": {"role": "user"}}), Seen::Format(Format::PiSession)),
            (json!({"type": "message_end", "message": {"role": "user"}}), Seen::Format(Format::PiJson)),
            (json!({"type": "message", "role": "user", "content": "x"}), Seen::Nothing),
            (json!({"type": "session.start", "data": {"sessionId": "s"}, "id": "i"}), Seen::Format(Format::CopilotCli)),
            (json!({"info": {}, "messages": []}), Seen::Format(Format::OpencodeExport)),
            (json!({"messages": [{"info": {"role": "user"}, "parts": []}]}), Seen::Format(Format::OpencodeExport)),
            (json!({"info": {"id": "x"}}), Seen::Nothing),
            (json!({"type": "step_finish", "sessionID": "s", "part": {}}), Seen::Format(Format::OpencodeJson)),
            (json!({"sessionId": "s", "projectHash": "h", "kind": "main"}), Seen::Format(Format::GeminiChat)),
            (json!({"sessionId": "s", "projectHash": "h", "messages": []}), Seen::Format(Format::GeminiChat)),
            (json!({"messages": [{"id": "a", "type": "user", "content": ""}]}), Seen::Format(Format::GeminiChat)),
            (json!({"messages": [{"role": "user", "content": ""}]}), Seen::Nothing),
            (json!({"$set": {"lastUpdated": "t"}}), Seen::Format(Format::GeminiChat)),
            (json!({"id": "a", "type": "gemini", "content": ""}), Seen::Format(Format::GeminiChat)),
            (json!({"type": "init", "session_id": "s", "model": "m"}), Seen::Format(Format::GeminiJson)),
            (json!({"type": "result", "status": "success", "stats": {"models": {}}}), Seen::Format(Format::GeminiJson)),
            (json!({"stats": {"models": {}}}), Seen::Format(Format::GeminiJson)),
            (json!({"format": "flyball-trace", "version": 1}), Seen::Format(Format::Flyball)),
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
