//! One JSON document over many lines, taken apart while it is read.
//!
//! Some programs write a session as one document, `{"info": ..., "messages": [...]}`. It may be larger than anybody wants
//! to hold. [`Pieces`] hands over each member of the document as soon as it is complete, as an object of that one member:
//! `{"info": ...}`; of a member that is a list, each element: `{"messages": [...]}` with one element. Memory is that of
//! one piece. Put together again, the pieces are the document.
//!
//! It checks the outermost level alone; what is inside of a piece is for whoever parses it. It knows no format.

/// Where in the document it stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Place {
    /// Before the document.
    #[default]
    Open,
    /// Before a key; whether the document may end here.
    Key(bool),
    /// Inside a key.
    InKey,
    /// Between a key and its colon.
    Colon,
    /// Before a member's value.
    Value,
    /// Before an element of a list; whether the list may end here.
    Element(bool),
    /// Inside a value or an element.
    Within,
    /// After an element.
    AfterElement,
    /// After a member.
    AfterMember,
    /// After the document.
    Done,
    /// This is no document.
    Broken,
}

/// What a byte of a value means.
enum Step {
    On,
    Last,
    Past,
    Bad,
}

/// Takes a document apart.
///
/// ```
/// use flyball::agents::document::Pieces;
/// let (mut pieces, mut seen) = (Pieces::with_limit(100), Vec::new());
/// for part in ["{\"a\": {\"b\"", ": 1}, \"c\": [2", ", \"x]\"]}"] {
///     pieces.push(part, &mut |piece| seen.push(piece.to_owned()));
/// }
/// assert_eq!(seen, [r#"{"a":{"b": 1}}"#, r#"{"c":[2]}"#, r#"{"c":["x]"]}"#]);
/// assert!(pieces.is_done());
/// ```
#[derive(Clone, Debug)]
pub struct Pieces {
    place: Place,
    /// Brackets open inside the value.
    depth: u64,
    quoted: bool,
    escaped: bool,
    /// The member is a list.
    list: bool,
    /// `{"key":`.
    head: String,
    piece: String,
    limit: usize,
    skipping: bool,
    skipped: u64,
}

impl Pieces {
    /// Takes apart a document whose pieces are kept up to `limit` bytes.
    #[must_use]
    pub const fn with_limit(limit: usize) -> Self {
        Self {
            place: Place::Open,
            depth: 0,
            quoted: false,
            escaped: false,
            list: false,
            head: String::new(),
            piece: String::new(),
            limit,
            skipping: false,
            skipped: 0,
        }
    }

    /// The document is complete.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.place == Place::Done
    }

    /// This is no JSON document, or there is something after it.
    #[must_use]
    pub fn is_broken(&self) -> bool {
        self.place == Place::Broken
    }

    /// Pieces that were passed over because they were too long.
    #[must_use]
    pub const fn skipped(&self) -> u64 {
        self.skipped
    }

    /// Takes a part of the document, and hands each piece that is now complete to `each`.
    pub fn push(&mut self, part: &str, each: &mut impl FnMut(&str)) {
        let bytes = part.as_bytes();
        let (mut at, mut from) = (0, 0);
        while let Some(&byte) = bytes.get(at) {
            match self.place {
                Place::Within => match self.within(byte) {
                    Step::On => {}
                    Step::Last => {
                        self.keep(&part[from..=at]);
                        self.close(each);
                    }
                    Step::Past => {
                        self.keep(&part[from..at]);
                        self.close(each);
                        continue;
                    }
                    Step::Bad => self.place = Place::Broken,
                },
                Place::InKey => match self.within(byte) {
                    Step::On => {}
                    Step::Last => {
                        self.head.push_str(&part[from..=at]);
                        self.head.push(':');
                        self.place = Place::Colon;
                    }
                    Step::Past | Step::Bad => self.place = Place::Broken,
                },
                Place::Broken => return,
                _ if byte.is_ascii_whitespace() => {}
                Place::Value if byte == b'[' => {
                    self.list = true;
                    self.place = Place::Element(true);
                }
                Place::Element(true) if byte == b']' => {
                    self.begin();
                    self.close(each);
                    self.place = Place::AfterMember;
                }
                Place::Value | Place::Element(_) if !matches!(byte, b',' | b':' | b']' | b'}') => {
                    self.begin();
                    from = at;
                    continue;
                }
                Place::Key(_) if byte == b'"' => {
                    self.head.clear();
                    self.head.push('{');
                    self.list = false;
                    (self.depth, self.quoted, self.escaped) = (0, true, false);
                    self.place = Place::InKey;
                    from = at;
                }
                place @ (Place::Open
                | Place::Key(_)
                | Place::Colon
                | Place::Value
                | Place::Element(_)
                | Place::AfterElement
                | Place::AfterMember
                | Place::Done) => self.place = Self::between(place, byte),
            }
            at += 1;
        }
        if self.place == Place::Within {
            self.keep(&part[from..]);
        } else if self.place == Place::InKey {
            self.head.push_str(&part[from..]);
            if self.head.len() > self.limit {
                self.place = Place::Broken;
            }
        }
    }

    /// Where a mark between values leads.
    const fn between(place: Place, mark: u8) -> Place {
        match (place, mark) {
            (Place::Open, b'{') => Place::Key(true),
            (Place::Key(true), b'}') | (Place::AfterMember, b'}') => Place::Done,
            (Place::Colon, b':') => Place::Value,
            (Place::AfterElement, b',') => Place::Element(false),
            (Place::AfterElement, b']') => Place::AfterMember,
            (Place::AfterMember, b',') => Place::Key(false),
            _ => Place::Broken,
        }
    }

    fn begin(&mut self) {
        (self.depth, self.quoted, self.escaped) = (0, false, false);
        self.piece.clear();
        self.piece.push_str(&self.head);
        if self.list {
            self.piece.push('[');
        }
        self.place = Place::Within;
    }

    /// A byte inside a value: whether the value goes on, ends with it, or has ended before it.
    const fn within(&mut self, byte: u8) -> Step {
        if self.quoted {
            if self.escaped {
                self.escaped = false;
            } else if byte == b'\\' {
                self.escaped = true;
            } else if byte == b'"' {
                self.quoted = false;
                if self.depth == 0 {
                    return Step::Last;
                }
            } else if byte < b' ' {
                return Step::Bad;
            }
            return Step::On;
        }
        match byte {
            b'"' => self.quoted = true,
            b'{' | b'[' => self.depth += 1,
            b'}' | b']' | b',' | b' ' | b'\t' | b'\r' | b'\n' if self.depth == 0 => return Step::Past,
            b'}' | b']' => {
                self.depth -= 1;
                if self.depth == 0 {
                    return Step::Last;
                }
            }
            _ => {}
        }
        Step::On
    }

    fn keep(&mut self, part: &str) {
        if self.piece.len() + part.len() > self.limit {
            self.skipping = true;
            self.piece = String::new();
        } else if !self.skipping {
            self.piece.push_str(part);
        }
    }

    fn close(&mut self, each: &mut impl FnMut(&str)) {
        if core::mem::take(&mut self.skipping) {
            self.skipped += 1;
        } else {
            self.piece.push_str(if self.list { "]}" } else { "}" });
            each(&self.piece);
        }
        self.piece.clear();
        self.place = if self.list { Place::AfterElement } else { Place::AfterMember };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::{Map, Value};

    fn apart(limit: usize, parts: &[&str]) -> (Vec<String>, Pieces) {
        let (mut pieces, mut seen) = (Pieces::with_limit(limit), Vec::new());
        for part in parts {
            pieces.push(part, &mut |piece| seen.push(piece.to_owned()));
        }
        (seen, pieces)
    }

    fn together(pieces: &[String]) -> Value {
        let mut whole = Map::new();
        for piece in pieces {
            let Value::Object(piece) = serde_json::from_str(piece).unwrap() else { panic!("no object: {piece}") };
            for (key, value) in piece {
                match (whole.get_mut(&key), value) {
                    (Some(Value::Array(list)), Value::Array(more)) => list.extend(more),
                    (_, value) => drop(whole.insert(key, value)),
                }
            }
        }
        Value::Object(whole)
    }

    #[test]
    fn empty_things_and_marks_in_text() {
        let (seen, pieces) = apart(100, &[" {\"a\\\"}\":[ ],\n\"b\":\"[\\\\\" , \"c\":-1.5e3}\n"]);
        assert_eq!(seen, ["{\"a\\\"}\":[]}", "{\"b\":\"[\\\\\"}", "{\"c\":-1.5e3}"]);
        assert!(pieces.is_done() && !pieces.is_broken());
        assert!(apart(100, &["{}"]).1.is_done());
    }

    #[test]
    fn lines_of_objects_are_no_document() {
        for text in [
            "{\"a\":1}\n{",
            "{\"a\n",
            "[1]",
            "{\"a\":[1\n{",
            "{\"a\":[1,]",
            "{,",
            "{\"a\":1,}",
            "{1",
            "{\"a\",",
            "{} x",
        ] {
            assert!(apart(100, &[text]).1.is_broken(), "{text}");
        }
    }

    #[test]
    fn a_piece_that_is_too_long_is_left_out_and_takes_no_memory() {
        let long = "x".repeat(1000);
        let text = format!("{{\"a\":[1,\"{long}\",2],\"b\":{{\"c\":\"{long}\"}},\"d\":3}}");
        let (seen, pieces) = apart(50, &[&text]);
        assert_eq!(seen, ["{\"a\":[1]}", "{\"a\":[2]}", "{\"d\":3}"]);
        assert_eq!((pieces.skipped(), pieces.is_done()), (2, true));
        assert!(pieces.piece.capacity() < 200, "kept {}", pieces.piece.capacity());
        let mut endless = Pieces::with_limit(50);
        endless.push("{\"", &mut |_| {});
        for _ in 0..1000 {
            endless.push(&long, &mut |_| panic!("no piece ends here"));
        }
        assert!(endless.is_broken() && endless.head.capacity() < 3000);
    }

    fn json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            "[\\PC\"\\\\{}\\[\\],:\n\t]{0,12}".prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 40, 6, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
                prop::collection::btree_map("[a-z\"\\\\é]{0,5}", inner, 0..6)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn the_pieces_are_the_document_wherever_it_is_cut(
            members in prop::collection::btree_map("[a-z\"\\\\é]{0,5}", json(), 0..6), pretty in any::<bool>(), cut in 1_usize..40,
        ) {
            let whole = Value::Object(members.into_iter().collect());
            let text = if pretty { serde_json::to_string_pretty(&whole) } else { serde_json::to_string(&whole) }.unwrap();
            let marks: Vec<char> = text.chars().collect();
            let parts: Vec<String> = marks.chunks(cut).map(|part| part.iter().collect()).collect();
            let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
            let (seen, pieces) = apart(1 << 20, &parts);
            prop_assert!(pieces.is_done());
            prop_assert_eq!(together(&seen), whole);
            prop_assert_eq!(&seen, &apart(1 << 20, &[&text]).0);
        }

        #[test]
        fn no_text_makes_it_panic(text in "[{}\\[\\]\":,\\\\ a1\né]{0,60}", limit in 0_usize..20) {
            let (_, pieces) = apart(limit, &[&text]);
            prop_assert!(pieces.piece.len() <= limit + text.len());
        }
    }
}
