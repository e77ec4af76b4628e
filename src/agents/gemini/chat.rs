//! Chat logs of the Gemini CLI: a header, then a message a line, and `$set` lines that change the header or
//! list messages anew; in older versions one document with all of it.
//!
//! A call is a message of the type `gemini`. Lines with the same id are updates of one message, the later ones with its
//! tools. It starts with the last message sent before it: a prompt or the results of tools. Answers that were blocked or broke off are not in
//! the log, and what they cost is in the printed total alone. Failed requests are messages of the type `error`, where they are kept.
//!
//! Source: runs of 0.61.0 against a scripted server.

use super::super::book::{Book, Key, Row, Usage as Counts, watched};
use super::super::loose::{Count, Held, List, Price, Text, Time, object, read_line};
use super::super::{Format, Log};
use crate::engine::Timestamp;

/// Types of messages that carry no usage; the header and its changes have none.
const QUIET: [&str; 3] = ["info", "warning", ""];

object! {
    struct Tokens {
        input: Count = "input",
        output: Count = "output",
        cached: Count = "cached",
        thoughts: Count = "thoughts",
    }
    struct Message {
        kind: Text<'a> = "type",
        id: Text<'a> = "id",
        time: Time = "timestamp",
        model: Text<'a> = "model",
        tokens: Held<Tokens<'a>> = "tokens",
    }
    struct Change {
        messages: List<Message<'a>> = "messages",
    }
    struct Line {
        session: Text<'a> = "sessionId",
        kind: Text<'a> = "type",
        id: Text<'a> = "id",
        time: Time = "timestamp",
        model: Text<'a> = "model",
        tokens: Held<Tokens<'a>> = "tokens",
        messages: List<Message<'a>> = "messages",
        change: Held<Change<'a>> = "$set",
    }
}

impl Tokens<'_> {
    fn counts(&self) -> Counts {
        let output = match (self.output, self.thoughts) {
            (Count::Of(output), Count::Of(thoughts)) => Count::Of(output.saturating_add(thoughts)),
            (output, _) => output,
        };
        let input = match (self.input, self.cached) {
            (Count::Of(input), Count::Of(cached)) => Count::Of(input.saturating_sub(cached)),
            (input, _) => input,
        };
        Counts {
            output,
            input,
            cache_read: self.cached,
            cache_write: Count::Absent,
            reasoning: self.thoughts,
            cost: Price::Absent,
        }
    }
}

/// Takes the lines of one file, or the pieces of one document, in order.
#[derive(Debug, Default)]
pub struct Reader {
    session: Option<String>,
    sent: Option<Timestamp>,
    book: Book,
}

impl Reader {
    watched!(Format::GeminiChat);

    /// Takes one line or piece; says whether it could be read.
    pub fn line(&mut self, line: &str) -> bool {
        read_line!(Line<'_>, line, self.book.health, |line| self.take(line))
    }

    fn take(&mut self, line: Line<'_>) {
        if let Some(session) = line.session.get() {
            self.book.session(Some(session));
            self.session = Some(session.to_owned());
        }
        let own = Message {
            kind: line.kind,
            id: line.id,
            time: line.time,
            model: line.model,
            tokens: line.tokens,
            ..Message::default()
        };
        let listed = line.messages.0.into_iter().chain(line.change.or_empty().messages.0);
        for message in listed.chain([own]) {
            self.message(&message);
        }
    }

    fn message(&mut self, message: &Message<'_>) {
        self.book.saw(message.time.0);
        match message.kind.word() {
            "user" => self.sent = message.time.0.or(self.sent),
            "gemini" => {
                let usage = message.tokens.0.as_ref().map(Tokens::counts).unwrap_or_default();
                self.book.row(&Row {
                    key: message.id.get().map_or(Key::Own, Key::Message),
                    session: self.session.as_deref(),
                    start: self.sent,
                    end: message.time.0,
                    model: message.model.get(),
                    effort: None,
                    usage,
                    last: !usage.is_nothing(),
                    side: false,
                });
            }
            "error" => self.book.health.error("error"),
            quiet if QUIET.contains(&quiet) => {}
            other => self.book.health.unknown(other),
        }
    }

    /// Closes the file.
    #[must_use]
    pub fn finish(self) -> Log {
        self.book.close(Format::GeminiChat)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::{Grade, Tokens};
    use proptest::prelude::*;
    use serde_json::{Value, json};

    fn message(kind: &str, id: &str, at: u32, tokens: &Value) -> Value {
        json!({"id": id, "timestamp": format!("2026-11-30T15:48:{at:02}Z"), "type": kind, "content": "", "tokens": tokens, "model": "g"})
    }

    fn tokens(output: u64, thoughts: u64) -> Value {
        json!({"input": 1500, "output": output, "cached": 900, "thoughts": thoughts, "tool": 0, "total": 1500 + output + thoughts})
    }

    fn read(lines: &[Value]) -> Log {
        let mut reader = Reader::default();
        for line in lines {
            assert!(reader.line(&line.to_string()));
        }
        reader.finish()
    }

    #[test]
    fn updates_are_one_call_thoughts_are_output_and_the_cache_is_not_input() {
        let header = json!({"sessionId": "s", "projectHash": "h", "kind": "main"});
        let answer = message("gemini", "a", 5, &tokens(120, 30));
        let lines = [
            header,
            json!({"$set": {"messages": [message("user", "c", 1, &Value::Null)], "lastUpdated": "t"}}),
            message("user", "u", 2, &Value::Null),
            message("gemini", "a", 5, &Value::Null),
            answer.clone(),
            message("info", "i", 6, &Value::Null),
            message("error", "e", 6, &Value::Null),
            message("user", "r", 7, &Value::Null),
            message("gemini", "b", 9, &Value::Null),
            json!({"$set": {"messages": [answer], "lastUpdated": "t"}}),
        ];
        let log = read(&lines);
        let seen: Vec<_> = log.turns.iter().map(|turn| (turn.record.output.count(), turn.record.grade)).collect();
        assert_eq!(seen, [(150, Grade::Known), (0, Grade::Unknown)]);
        let record = &log.turns[0].record;
        assert_eq!((record.input, record.cache_read), (Some(Tokens::new(600)), Some(Tokens::new(900))));
        assert_eq!((record.reasoning, record.session.as_deref()), (Some(Tokens::new(30)), Some("s")));
        assert_eq!(record.end.since(record.start.unwrap()).count(), 3000);
        assert_eq!((log.health.errors, log.health.unknown_types), (1, 0));
    }

    #[test]
    fn the_older_document_says_the_same() {
        let messages = [message("user", "u", 2, &Value::Null), message("gemini", "a", 5, &tokens(120, 30))];
        let new = read(&[json!({"sessionId": "s", "projectHash": "h"}), messages[0].clone(), messages[1].clone()]);
        let old = read(&[json!({"sessionId": "s", "projectHash": "h", "startTime": "t", "messages": messages})]);
        assert_eq!(old, new);
    }

    proptest! {
        #[test]
        fn damaged_lines_never_make_it_panic(at in 0_usize..250, mark in any::<char>()) {
            let text = message("gemini", "a", 5, &tokens(1, 2)).to_string();
            let text: String = text.chars().enumerate().map(|(nth, own)| if nth == at { mark } else { own }).collect();
            let mut reader = Reader::default();
            let _ = reader.line(&text);
            let _ = reader.finish();
        }
    }
}
