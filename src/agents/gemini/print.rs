//! What the Gemini CLI prints: the lines of `-o stream-json`, or the one object of `-o json`.
//!
//! There is no call in it, only the sums by model at the end of the run, failed and repeated tries included. The object shows
//! thoughts; the lines do not, and output is what the total has beyond the input. The sum is a record that is no turn, and is
//! dropped where the chat log of the session is given too and has calls. After a signal there is no sum.
//!
//! Source: runs of 0.61.0 against a scripted server.

use super::super::book::{Book, Total, watched};
use super::super::loose::{Count, Held, Named, Text, Time, object, read_line};
use super::super::{Format, Log};
use crate::engine::Timestamp;

/// Line types that carry no usage.
const QUIET: [&str; 4] = ["init", "message", "tool_use", "tool_result"];

object! {
    struct Tokens {
        candidates: Count = "candidates",
        thoughts: Count = "thoughts",
    }
    struct Model {
        all: Count = "total_tokens",
        input: Count = "input_tokens",
        output: Count = "output_tokens",
        tokens: Held<Tokens<'a>> = "tokens",
    }
    struct Stats {
        models: Named<'a, Model<'a>> = "models",
    }
    struct Error {
        kind: Text<'a> = "type",
    }
    struct Line {
        kind: Text<'a> = "type",
        time: Time = "timestamp",
        session: Text<'a> = "session_id",
        status: Text<'a> = "status",
        severity: Text<'a> = "severity",
        error: Held<Error<'a>> = "error",
        stats: Held<Stats<'a>> = "stats",
    }
}

impl Model<'_> {
    /// Output with thoughts.
    fn output(&self) -> Count {
        if let Some(tokens) = &self.tokens.0 {
            let thoughts = tokens.thoughts.get().unwrap_or(0);
            return tokens
                .candidates
                .get()
                .map_or(tokens.candidates, |count| Count::Of(count.saturating_add(thoughts)));
        }
        match (self.all, self.input, self.output) {
            (Count::Of(all), Count::Of(input), Count::Of(output)) => Count::Of(all.saturating_sub(input).max(output)),
            (_, _, output) => output,
        }
    }
}

/// What the object says, as far as it was read.
#[derive(Debug)]
struct Document {
    sums: Vec<(String, Count)>,
    failed: bool,
}

/// Takes the lines of one stream, or the pieces of one object, in order.
#[derive(Debug, Default)]
pub struct Reader {
    session: Option<String>,
    document: Option<Document>,
    book: Book,
}

impl Reader {
    watched!(Format::GeminiJson);

    /// Takes one line or piece; says whether it could be read.
    pub fn line(&mut self, line: &str) -> bool {
        read_line!(Line<'_>, line, self.book.health, |line| self.take(&line))
    }

    fn take(&mut self, line: &Line<'_>) {
        self.book.saw(line.time.0);
        if let Some(session) = line.session.get() {
            self.book.session(Some(session));
            self.session = Some(session.to_owned());
        }
        match line.kind.word() {
            "result" => {
                let failed = line.error.0.is_some() || line.status.get().is_some_and(|status| status != "success");
                self.failure(line);
                self.total(&sums(line), line.time.0, !failed);
            }
            "error" if line.severity.get().is_none_or(|severity| severity == "error") => {
                self.book.health.error("error")
            }
            "error" => {}
            "" => self.document(line),
            quiet if QUIET.contains(&quiet) => {}
            other => self.book.health.unknown(other),
        }
    }

    fn document(&mut self, line: &Line<'_>) {
        self.failure(line);
        let document = self.document.get_or_insert(Document { sums: Vec::new(), failed: false });
        document.failed |= line.error.0.is_some();
        document.sums.extend(sums(line));
    }

    fn failure(&mut self, line: &Line<'_>) {
        if let Some(error) = &line.error.0 {
            self.book.health.error(error.kind.word());
        }
    }

    fn total(&mut self, sums: &[(String, Count)], time: Option<Timestamp>, ok: bool) {
        let session = self.session.clone();
        self.book.total(&Total {
            session: session.as_deref(),
            time,
            output: sums.iter().map(|(model, output)| (Some(model.as_str()), *output)).collect(),
            ok: Some(ok),
            result: true,
            ..Total::default()
        });
    }

    /// Closes the stream.
    #[must_use]
    pub fn finish(mut self) -> Log {
        if let Some(document) = self.document.take() {
            self.total(&document.sums, None, !document.failed);
        }
        self.book.close(Format::GeminiJson)
    }
}

fn sums(line: &Line<'_>) -> Vec<(String, Count)> {
    let models = line.stats.0.iter().flat_map(|stats| &stats.models.0);
    models.map(|(model, sum)| (model.to_string(), sum.output())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agents::{gemini::chat, join};
    use proptest::prelude::*;
    use serde_json::{Value, json};

    fn read(lines: &[Value]) -> Log {
        let mut reader = Reader::default();
        for line in lines {
            assert!(reader.line(&line.to_string()));
        }
        reader.finish()
    }

    fn result(status: &str) -> Value {
        let sums = json!({"total_tokens": 4094, "input_tokens": 3900, "output_tokens": 153});
        json!({"type": "result", "timestamp": "2026-11-30T15:48:55Z", "status": status,
               "stats": {"total_tokens": 4094, "models": {"g": sums}}})
    }

    fn init() -> Value {
        json!({"type": "init", "timestamp": "2026-11-30T15:48:54Z", "session_id": "s", "model": "g"})
    }

    #[test]
    fn the_sum_is_what_the_total_has_beyond_the_input() {
        let log = read(&[init(), result("success")]);
        let [sum] = &log.sums[..] else { panic!("one sum, not {:?}", log.sums) };
        assert_eq!((sum.output.count(), sum.calls.len(), log.turns.len()), (194, 0, 0));
        assert_eq!((sum.session.as_deref(), sum.model.as_deref()), (Some("s"), Some("g")));
        assert_eq!((log.results, log.closings[0].ok), (1, Some(true)));
        assert_eq!(read(&[init(), result("error")]).closings[0].ok, Some(false));
    }

    #[test]
    fn the_object_shows_thoughts_and_may_come_in_pieces() {
        let stats =
            json!({"models": {"g": {"tokens": {"prompt": 3900, "candidates": 153, "thoughts": 41, "total": 4094}}}});
        let error = json!({"type": "FatalTurnLimitedError", "message": "m"});
        let whole = read(&[json!({"session_id": "s", "response": "r", "stats": stats, "error": error})]);
        assert_eq!((whole.sums[0].output.count(), whole.closings[0].ok), (194, Some(false)));
        assert_eq!(whole.health.error_kinds["FatalTurnLimitedError"], 1);
        let pieces =
            [json!({"session_id": "s"}), json!({"response": "r"}), json!({"stats": stats}), json!({"error": error})];
        assert_eq!(read(&pieces), whole);
    }

    #[test]
    fn beside_the_chat_log_the_sum_is_dropped() {
        let mut chat = chat::Reader::default();
        for line in [
            json!({"sessionId": "s", "projectHash": "h"}),
            json!({"id": "a", "type": "gemini", "timestamp": "2026-11-30T15:48:55Z", "tokens": {"input": 1, "output": 153, "thoughts": 41}}),
        ] {
            assert!(chat.line(&line.to_string()));
        }
        let joined = join(&[read(&[init(), result("success")]), chat.finish()]);
        let seen: Vec<_> = joined.turns.iter().map(|turn| turn.output.count()).collect();
        assert_eq!(seen, [194]);
    }

    proptest! {
        #[test]
        fn damaged_lines_never_make_it_panic(at in 0_usize..250, mark in any::<char>()) {
            let text = result("success").to_string();
            let text: String = text.chars().enumerate().map(|(nth, own)| if nth == at { mark } else { own }).collect();
            let mut reader = Reader::default();
            let _ = reader.line(&text);
            let _ = reader.finish();
        }
    }
}
