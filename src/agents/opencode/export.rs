//! What `opencode export` writes: one document, `{"info": ..., "messages": [{"info": ..., "parts": [...]}, ...]}`.
//!
//! A call is a message of the role `assistant`. It takes the whole document or the pieces that
//! [`document`](super::super::document) makes of it, `info` first, as the program writes it.
//!
//! `completed` includes the time of the tools: the answer ended when the first of its tools began. `variant`
//! is the effort, and only there when one was set. A message whose counts are all zero was not measured: a call of
//! unknown count, or, where it failed before a step began, an error and no call.
//!
//! Source: public exports of 1.2.20 to 1.2.26, the program's own database of 1.18.33 against a scripted server.

use super::super::book::{Book, Key, Row, watched};
use super::super::loose::{Held, List, Price, Text, Time, object, read_line};
use super::super::{Format, Log};
use super::{Error, State, Tokens, id, version_beside};

object! {
    struct Span {
        created: Time = "created",
        completed: Time = "completed",
    }
    /// Of a session, or of a message.
    struct Info {
        id: Text<'a> = "id",
        session: Text<'a> = "sessionID",
        parent: Text<'a> = "parentID",
        version: Text<'a> = "version",
        role: Text<'a> = "role",
        model: Text<'a> = "modelID",
        variant: Text<'a> = "variant",
        tokens: Held<Tokens<'a>> = "tokens",
        cost: Price = "cost",
        time: Held<Span<'a>> = "time",
        error: Held<Error<'a>> = "error",
    }
    struct Part {
        kind: Text<'a> = "type",
        state: Held<State<'a>> = "state",
    }
    struct Message {
        info: Held<Info<'a>> = "info",
        parts: List<Part<'a>> = "parts",
    }
    struct Document {
        info: Held<Info<'a>> = "info",
        messages: List<Message<'a>> = "messages",
    }
}

/// Takes a document, or its pieces in order.
#[derive(Debug, Default)]
pub struct Reader {
    session: Option<String>,
    /// Reasoning is counted beside the output, as far as the version or a message told.
    beside: Option<bool>,
    book: Book,
}

impl Reader {
    watched!(Format::OpencodeExport);

    /// Takes the document or a piece of it; says whether it could be read.
    pub fn line(&mut self, line: &str) -> bool {
        read_line!(Document<'_>, line, self.book.health, |document| {
            if let Some(info) = &document.info.0 {
                self.header(info);
            }
            document.messages.0.iter().for_each(|message| self.message(message));
        })
    }

    fn header(&mut self, info: &Info<'_>) {
        self.book.version(info.version.get());
        self.beside = version_beside(info.version.word()).or(self.beside);
        self.book.session(id(&info.parent, "ses"));
        self.book.session(id(&info.id, "ses"));
        self.session = id(&info.id, "ses").map(str::to_owned);
    }

    fn message(&mut self, message: &Message<'_>) {
        let info = message.info.clone().or_empty();
        let time = info.time.clone().or_empty();
        self.book.saw(time.created.0);
        self.book.saw(time.completed.0);
        if message.parts.0.iter().any(|part| part.kind.word() == "compaction") {
            self.book.health.compactions += 1;
        }
        if info.role.word() != "assistant" {
            return;
        }
        let tokens = info.tokens.clone().or_empty();
        self.beside = tokens.beside().or(self.beside);
        let usage = tokens.counts(self.beside.unwrap_or(true), info.cost);
        let nothing = usage.is_nothing();
        if let Some(error) = &info.error.0 {
            self.book.health.error(&error.kind());
            let began = message.parts.0.iter().any(|part| part.kind.word() == "step-start");
            if nothing && !began && error.name.word() != "MessageAbortedError" {
                self.book.health.synthetic += 1;
                return;
            }
        }
        let tools = message.parts.0.iter().filter(|part| part.kind.word() == "tool");
        let began = tools.filter_map(|part| part.state.0.as_ref().and_then(State::began)).min();
        let session = id(&info.session, "ses").or(self.session.as_deref()).map(str::to_owned);
        self.book.row(&Row {
            key: id(&info.id, "msg").map_or(Key::Own, Key::Message),
            session: session.as_deref(),
            start: time.created.0,
            end: began.filter(|&began| time.created.0 <= Some(began)).or(time.completed.0),
            model: info.model.get(),
            effort: info.variant.get(),
            usage,
            last: !nothing,
            side: false,
        });
    }

    /// Closes the document.
    #[must_use]
    pub fn finish(self) -> Log {
        self.book.close(Format::OpencodeExport)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agents::document::Pieces;
    use crate::engine::Grade;
    use proptest::prelude::*;
    use serde_json::{Value, json};

    const AT: u64 = 1_796_053_725_000;

    fn tokens(all: Option<u64>, output: u64, reasoning: u64) -> Value {
        json!({"total": all, "input": 100, "output": output, "reasoning": reasoning, "cache": {"read": 900, "write": 0}})
    }

    fn message(id: &str, tokens: &Value, parts: &Value) -> Value {
        json!({"info": {"role": "assistant", "id": id, "sessionID": "ses_1", "modelID": "m", "variant": "high", "tokens": tokens,
                        "cost": 0.25, "time": {"created": AT, "completed": AT + 9000}}, "parts": parts})
    }

    fn document(version: &str, messages: &[Value]) -> String {
        json!({"info": {"id": "ses_1", "parentID": "ses_0", "version": version}, "messages": messages}).to_string()
    }

    fn read(text: &str) -> Log {
        let mut reader = Reader::default();
        assert!(reader.line(text));
        reader.finish()
    }

    fn outputs(log: &Log) -> Vec<(u64, Grade)> {
        log.turns.iter().map(|turn| (turn.record.output.count(), turn.record.grade)).collect()
    }

    #[test]
    fn reasoning_is_added_where_the_total_or_the_version_says_that_it_is_beside() {
        let one = |version: &str, all, output, reasoning| {
            outputs(&read(&document(version, &[message("msg_1", &tokens(all, output, reasoning), &json!([]))])))[0].0
        };
        assert_eq!(one("1.2.20", Some(1050), 50, 20), 50);
        assert_eq!(one("1.18.33", Some(1070), 50, 20), 70);
        assert_eq!(one("1.2.20", Some(1070), 50, 20), 70, "the total knows better than the version");
        assert_eq!(one("1.18.33", Some(1050), 50, 20), 50);
        assert_eq!(one("1.18.33", None, 50, 20), 70);
        assert_eq!(one("1.3.15", None, 50, 20), 50);
        assert_eq!(one("1.18.33", Some(1), 50, 20), 70, "a total that fits nothing decides nothing");
    }

    #[test]
    fn an_answer_ends_where_its_first_tool_begins() {
        let tool = |start: u64| json!({"type": "tool", "state": {"time": {"start": AT + start, "end": AT + 8000}}});
        let log = read(&document(
            "1.2.20",
            &[message("msg_1", &tokens(None, 5, 0), &json!([tool(3000), tool(2000), tool(4000)]))],
        ));
        let record = &log.turns[0].record;
        assert_eq!((record.start.unwrap().millis(), record.end.millis()), (AT, AT + 2000));
        assert_eq!((record.model.as_deref(), record.effort_confirmed.as_deref()), (Some("m"), Some("high")));
        assert_eq!((record.cost.unwrap().count(), record.cache_read.unwrap().count()), (250_000, 900));
        assert!(log.lineage.contains("ses_0") && !log.forked);
    }

    #[test]
    fn what_was_not_measured_is_unknown_and_a_request_that_failed_is_no_call() {
        let zero = json!({"input": 0, "output": 0, "reasoning": 0, "cache": {"read": 0, "write": 0}});
        let mut failed = message("msg_2", &zero, &json!([]));
        failed["info"]["error"] = json!({"name": "APIError", "data": {"statusCode": 400}});
        let mut garbled = message("msg_3", &zero, &json!([{"type": "step-start"}]));
        garbled["info"]["error"] = json!({"name": "UnknownError", "data": {}});
        let mut aborted = message("msg_4", &zero, &json!([]));
        aborted["info"]["error"] = json!({"name": "MessageAbortedError"});
        let log = read(&document("1.18.0", &[message("msg_1", &zero, &json!([])), failed, garbled, aborted]));
        assert_eq!(outputs(&log), [(0, Grade::Unknown); 3]);
        assert_eq!((log.health.errors, log.health.synthetic, log.health.error_kinds["400"]), (3, 1, 1));
    }

    #[test]
    fn redacted_ids_do_not_fall_together() {
        let mut text = document(
            "1.2.21",
            &[
                message("REDACTED", &tokens(None, 5, 0), &json!([])),
                message("REDACTED", &tokens(None, 6, 0), &json!([])),
            ],
        );
        text = text.replace("ses_0", "REDACTED");
        let log = read(&text);
        assert_eq!(outputs(&log), [(5, Grade::Known), (6, Grade::Known)]);
        assert_eq!(log.lineage.len(), 1);
    }

    proptest! {
        #[test]
        fn pieces_give_what_the_whole_gives(outputs in prop::collection::vec((0_u64..500, 0_u64..50, any::<bool>()), 0..8), cut in 1_usize..200) {
            let messages: Vec<Value> = outputs.iter().enumerate().map(|(nth, &(output, reasoning, total))| {
                message(&format!("msg_{nth}"), &tokens(total.then_some(1000 + output), output, reasoning), &json!([{"type": "text", "text": "a\"]}"}]))
            }).collect();
            let text = document("1.18.33", &messages);
            let mut reader = Reader::default();
            let mut pieces = Pieces::with_limit(1 << 20);
            let marks: Vec<char> = text.chars().collect();
            for part in marks.chunks(cut) {
                pieces.push(&part.iter().collect::<String>(), &mut |piece| assert!(reader.line(piece)));
            }
            prop_assert!(pieces.is_done());
            prop_assert_eq!(reader.finish(), read(&text));
        }

        #[test]
        fn damaged_documents_never_make_it_panic(at in 0_usize..600, mark in any::<char>()) {
            let text = document("1.18.33", &[message("msg_1", &tokens(Some(3), 1, 1), &json!([]))]);
            let text: String = text.chars().enumerate().map(|(nth, own)| if nth == at { mark } else { own }).collect();
            let mut reader = Reader::default();
            let _ = reader.line(&text);
            let _ = reader.finish();
        }
    }
}
