//! The Gemini CLI: its chat logs, and what it prints as JSON.
//!
//! | module | holds |
//! |---|---|
//! | [`chat`] | `session-*.jsonl`, and the older `session-*.json` |
//! | [`print`](mod@print) | stdout: `-o stream-json`, `-o json` |
//!
//! Only the chat log tells call by call. The program's `output` excludes thoughts, which are added here; its input
//! includes what was read from the cache, which is taken off.
//!
//! Effort is a budget of thinking tokens in the settings, and is in no log.

pub mod chat;
pub mod print;
