//! Codex: its rollout files, and what `codex exec --json` prints.
//!
//! | module | holds |
//! |---|---|
//! | [`rollout`] | `rollout-<time>-<thread>.jsonl` |
//! | [`exec`] | stdout of a run |
//!
//! Output includes reasoning, and input what was read from the cache: the cached part is taken off the input here.

use super::book::Usage as Counts;
use super::loose::{Count, MAX_TOTAL, object};

pub mod exec;
pub mod rollout;

object! {
    /// Usage of a call, of a turn, or of a thread.
    pub(super) struct Usage {
        input: Count = "input_tokens",
        cached: Count = "cached_input_tokens",
        cache_write: Count = "cache_write_input_tokens",
        output: Count = "output_tokens",
        reasoning: Count = "reasoning_output_tokens",
        all: Count = "total_tokens",
    }
}

impl Usage<'_> {
    fn counts(&self) -> Counts {
        let input = match (self.input, self.cached) {
            (Count::Of(input), Count::Of(cached)) => Count::Of(input.saturating_sub(cached)),
            (input, _) => input,
        };
        Counts {
            output: self.output,
            input,
            cache_read: self.cached,
            cache_write: self.cache_write,
            reasoning: self.reasoning,
            ..Counts::default()
        }
    }

    /// Running totals as a key: what is not stated counts as zero, so that no single field decides.
    fn totals(&self) -> [u64; 5] {
        [self.input, self.cached, self.output, self.reasoning, self.all]
            .map(|count| count.within(MAX_TOTAL).get().unwrap_or(0))
    }

    /// How many of its numbers were refused.
    fn bad(&self) -> u64 {
        let all = [self.input, self.cached, self.output, self.reasoning, self.all];
        all.iter().map(|&count| u64::from(count == Count::Bad)).sum()
    }
}
