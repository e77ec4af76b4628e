//! Claude Code: its session files, and what `claude -p --output-format stream-json` prints.
//!
//! | module | holds |
//! |---|---|
//! | [`session`] | `<session>.jsonl`, and the `agent-*.jsonl` of subagents |
//! | [`stream`] | stdout of a run |
//!
//! Both name their calls by the backend's message id, so a run's stdout and its session file, given together, count once.
//! Output includes thinking. Input excludes what was read from and written to the cache.

use super::book::Usage as Counts;
use super::loose::{Count, Held, Text, object};

pub mod session;
pub mod stream;

object! {
    pub(super) struct Details {
        thinking: Count = "thinking_tokens",
    }
    /// The backend's usage. Its `iterations` repeats the counts and is not read.
    pub(super) struct Usage {
        output: Count = "output_tokens",
        input: Count = "input_tokens",
        cache_read: Count = "cache_read_input_tokens",
        cache_write: Count = "cache_creation_input_tokens",
        details: Held<Details<'a>> = "output_tokens_details",
    }
    pub(super) struct Message {
        id: Text<'a> = "id",
        model: Text<'a> = "model",
        stop: Text<'a> = "stop_reason",
        usage: Held<Usage<'a>> = "usage",
    }
}

impl Usage<'_> {
    fn counts(&self) -> Counts {
        Counts {
            output: self.output,
            input: self.input,
            cache_read: self.cache_read,
            cache_write: self.cache_write,
            reasoning: self.details.0.as_ref().map_or(Count::Absent, |details| details.thinking),
            ..Counts::default()
        }
    }
}

/// The model of messages that the program made up itself: no call.
const SYNTHETIC: &str = "<synthetic>";
