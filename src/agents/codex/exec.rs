//! What `codex exec --json` prints.
//!
//! It states no call and no model: only, when a run went well, its sum in `turn.completed` (a "turn" there is a whole run).
//! On a resumed thread that is the thread's sum so far. So its tokens are records that are no turns, known in
//! sum; the rollout file of the same thread has the calls, and where both are given the rollout stands. A run that failed or was killed
//! states nothing.
//!
//! Source: runs of 0.171.0 against a scripted server; of the sums on resumed threads, a report on gitmoot/gitmoot (661).

use super::super::book::{Book, Extent, Key, Total, watched};
use super::super::counter::Fall;
use super::super::loose::{Held, Text, object, read_line};
use super::super::{Format, Log};
use super::Usage;

/// Line types that carry no usage. An `error` may be a retry that will still succeed.
const QUIET: [&str; 4] = ["turn.started", "item.started", "item.updated", "item.completed"];

object! {
    struct Line {
        kind: Text<'a> = "type",
        thread: Text<'a> = "thread_id",
        usage: Held<Usage<'a>> = "usage",
    }
}

/// Takes the lines of one stream, in order.
#[derive(Debug, Default)]
pub struct Reader {
    thread: Option<String>,
    book: Book,
}

impl Reader {
    watched!(Format::CodexExec);

    /// Takes one line; says whether it could be read.
    pub fn line(&mut self, line: &str) -> bool {
        read_line!(Line<'_>, line, self.book.health, |line| self.take(&line))
    }

    fn take(&mut self, line: &Line<'_>) {
        match line.kind.word() {
            "thread.started" => {
                self.book.session(line.thread.get());
                self.thread = line.thread.get().map(str::to_owned).or(self.thread.take());
            }
            "turn.completed" => self.ended(line.usage.0.as_ref(), true),
            "turn.failed" => {
                self.book.health.error("turn.failed");
                self.ended(None, false);
            }
            "error" => self.book.health.error("error"),
            quiet if QUIET.contains(&quiet) => {}
            other => self.book.health.unknown(other),
        }
    }

    fn ended(&mut self, usage: Option<&Usage<'_>>, ok: bool) {
        let thread = self.thread.clone();
        self.book.total(&Total {
            session: thread.as_deref(),
            output: usage.map(|usage| (None, usage.output)).into_iter().collect(),
            extent: Extent::Running(Fall::Rebase),
            ok: Some(ok),
            result: true,
            key: usage.map_or(Key::Own, |usage| Key::Totals(usage.totals())),
            ..Total::default()
        });
    }

    /// Closes the stream.
    #[must_use]
    pub fn finish(self) -> Log {
        self.book.close(Format::CodexExec)
    }
}
