//! opencode: what `opencode export` writes, and what `opencode run --format json` prints.
//!
//! | module | holds |
//! |---|---|
//! | [`export`] | a session as one document |
//! | [`run`] | stdout of a run |
//!
//! Both name their calls by message id, so that a run's stdout and the export of its session count once. Input excludes the
//! cache. Output included reasoning up to 1.3.15 and excludes it since 1.3.16 (anomalyco/opencode 21047): then it is
//! added here. Which one holds is read from the stated total of a message where it decides, else from the version.
//!
//! The call that gives a new session its title is in neither, and subagents have sessions of their own. A session
//! that was forked inside opencode has its messages under new ids: such copies are not known again.

use super::book::Usage as Counts;
use super::loose::{Count, Held, Price, Text, object};
use crate::engine::Timestamp;

pub mod export;
pub mod run;

object! {
    pub(super) struct Cache {
        read: Count = "read",
        write: Count = "write",
    }
    pub(super) struct Tokens {
        all: Count = "total",
        input: Count = "input",
        output: Count = "output",
        reasoning: Count = "reasoning",
        cache: Held<Cache<'a>> = "cache",
    }
    pub(super) struct Failure {
        status: Count = "statusCode",
    }
    pub(super) struct Error {
        name: Text<'a> = "name",
        data: Held<Failure<'a>> = "data",
    }
    pub(super) struct Span {
        start: super::loose::Time = "start",
    }
    pub(super) struct State {
        time: Held<Span<'a>> = "time",
    }
}

impl State<'_> {
    /// When the tool began to run: the model had said all that it needs for it.
    fn began(&self) -> Option<Timestamp> {
        self.time.0.as_ref().and_then(|time| time.start.0)
    }
}

impl Tokens<'_> {
    /// Whether reasoning is counted beside the output, where the total tells.
    fn beside(&self) -> Option<bool> {
        let cache = self.cache.clone().or_empty();
        let parts = [self.input, self.output, cache.read, cache.write];
        let sum: u64 = parts.iter().filter_map(|part| part.get()).sum();
        let (all, reasoning) = (self.all.get()?, self.reasoning.get().filter(|&count| count > 0)?);
        match all.checked_sub(sum)? {
            0 => Some(false),
            more if more == reasoning => Some(true),
            _ => None,
        }
    }

    fn counts(&self, beside: bool, cost: Price) -> Counts {
        let cache = self.cache.clone().or_empty();
        let output = match (self.output, self.reasoning) {
            (Count::Of(output), Count::Of(reasoning)) if beside => Count::Of(output.saturating_add(reasoning)),
            (output, _) => output,
        };
        Counts {
            output,
            input: self.input,
            cache_read: cache.read,
            cache_write: cache.write,
            reasoning: self.reasoning,
            cost,
        }
    }
}

impl Error<'_> {
    /// The kind of the failure: the backend's status, else opencode's name for it.
    fn kind(&self) -> String {
        let status = self.data.0.as_ref().and_then(|data| data.status.get());
        status.map_or_else(|| self.name.word().to_owned(), |status| status.to_string())
    }
}

/// Whether a version counts reasoning beside the output; none where it is no version.
fn version_beside(version: &str) -> Option<bool> {
    let mut parts = version.split(['.', '-']).map(|part| part.parse::<u64>().ok());
    let version = [parts.next()??, parts.next()??, parts.next()??];
    Some(version >= [1, 3, 16])
}

/// The id, where it is one: redacted logs have the same word everywhere.
fn id<'a>(text: &'a Text<'_>, prefix: &str) -> Option<&'a str> {
    text.get().filter(|id| id.starts_with(prefix))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions() {
        for (version, beside) in [
            ("1.2.26", Some(false)),
            ("1.3.15", Some(false)),
            ("1.3.16", Some(true)),
            ("1.18.33", Some(true)),
            ("2.0.0-beta", Some(true)),
            ("0.15.8", Some(false)),
            ("local", None),
            ("", None),
            ("1.3", None),
        ] {
            assert_eq!(version_beside(version), beside, "{version}");
        }
    }
}
